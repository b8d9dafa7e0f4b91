#!/usr/bin/env python3
"""Every public function has a manual page that renders, with what its comment says.

    check_function_pages.py ROOT
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

DECLARED = re.compile(r"^PARAPET_API\s+[^;(]*?\b(parapet_\w+)\(", re.M)
PLANTED = "/* No scope. */\nPARAPET_API int parapet_planted(void);\n"
BARE = "PARAPET_API int parapet_planted(void);\n"


def make(root, folder, *headers):
    return subprocess.run([sys.executable, root / "scripts" / "function_pages", folder, *headers],
                          capture_output=True, text=True)


def problems_of(page):
    text = page.read_text()
    if "\n.Sh DESCRIPTION\n.Pp" in text or re.search(r"^\.Nd \S", text, re.M) is None:
        yield f"{page.name} says nothing"
    if shutil.which("mandoc") is None:
        return
    lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", page], capture_output=True, text=True)
    if lint.stdout:
        yield lint.stdout
    shown = subprocess.run(["mandoc", "-T", "ascii", page], capture_output=True, text=True)
    if page.stem not in re.sub(".\\x08", "", shown.stdout):
        yield f"{page.name} does not show its function"


def check_pages(root, folder):
    headers = sorted((root / "include").glob("*.h"))
    wanted = {name for header in headers for name in DECLARED.findall(header.read_text())}
    done = make(root, folder, *headers)
    if done.returncode != 0:
        return [done.stderr]
    pages = sorted(folder.glob("*.3"))
    found = [f"{name} has no page, or a page no function" for name in wanted ^ {page.stem for page in pages}]
    return found + [problem for page in pages for problem in problems_of(page)]


def check_refusals(root, folder):
    """Functions without a comment, or whose comment does not say who calls them."""
    for words in (PLANTED, BARE):
        header = folder / "planted.h"
        header.write_text(words)
        if make(root, folder / "pages", header).returncode == 0:
            yield f"not refused: {words}"


def main(root):
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        problems = check_pages(root, folder / "man3") + list(check_refusals(root, folder))
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
