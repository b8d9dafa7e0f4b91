"""Every verb has its source and its page of the manual, with the options of its help; nothing else has. Help fits on a
terminal of 80 columns.

    check_manual.py TOOL ROOT
"""
import pathlib
import re
import shutil
import subprocess
import sys

VERB = re.compile(r"^  ((?:[a-z]+ )?[a-z]+)  +[A-Z]")
COLUMNS = 80
HELP_OPTION = re.compile(r"^  (?:-([a-zA-Z])(?:, | )|    )(?:--([a-z-]+))?")


def run(tool, *words):
    return subprocess.run([tool, *words], capture_output=True, text=True, check=True).stdout


def verbs_of(tool):
    """The names that the help lists: "ls", "plan copy"."""
    return [match.group(1) for match in map(VERB.match, run(tool, "--help").splitlines()) if match]


def help_options(text):
    """The options that a help text lists, as "-c" and "--chunks"."""
    found = set()
    for line in text.split("Options:\n")[1].split("\n\n")[0].splitlines():
        letter, name = HELP_OPTION.match(line).groups()
        found |= {f"-{letter}"} if letter else set()
        found |= {f"--{name}"} if name else set()
    return found


def page_options(text):
    """The options that a page has an item for: .It Fl c , Fl -chunks Ar list"""
    items = [line for line in text.splitlines() if line.startswith(".It Fl ")]
    return {f"-{name}" for line in items for name in re.findall(r"Fl (-?[a-zA-Z][a-z-]*)", line)}


def too_wide(text):
    """The lines that an ordinary terminal would break."""
    return [line for line in text.splitlines() if len(line) > COLUMNS]


def check_verb(tool, root, verb, common):
    """What is wrong with the source, the page or the options of one verb."""
    page = root / "docs/man" / f"parapet-{verb.replace(' ', '-')}.1"
    if not (root / "tool" / f"cmd_{verb.replace(' ', '_')}.c").exists():
        yield f"{verb}: there is no tool/cmd_{verb.replace(' ', '_')}.c"
    if not page.exists():
        yield f"{verb}: there is no page {page.name}"
        return
    text = page.read_text()
    help_text = run(tool, "help", *verb.split())
    own, told = help_options(help_text) - common, page_options(text) - common
    yield from (f"{verb}: wider than {COLUMNS} columns: {line}" for line in too_wide(help_text))
    if own != told:
        yield f"{verb}: only the help has {sorted(own - told)}, only {page.name} has {sorted(told - own)}"
    summary = (root / "docs/man/parapet.1").read_text()
    if f".It Xr {page.stem} 1\n" not in summary:
        yield f"parapet.1 does not list {page.name} under Verbs, as .It Xr {page.stem} 1"
    if f".Xr {page.stem} 1 ,\n" not in summary.split(".Sh SEE ALSO\n")[1]:
        yield f"parapet.1 does not refer to {page.name} under SEE ALSO, as .Xr {page.stem} 1 ,"


def check_pages(root, verbs):
    """Pages and sources that belong to no verb, and pages that mandoc complains of."""
    names = {verb.replace(" ", "-") for verb in verbs}
    for page in sorted((root / "docs/man").glob("*.1")):
        if page.stem != "parapet" and page.stem.removeprefix("parapet-") not in names:
            yield f"{page.name}: there is no such verb"
        if shutil.which("mandoc"):
            done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", page], capture_output=True, text=True)
            yield from done.stdout.splitlines()
    for source in sorted((root / "tool").glob("cmd_*.c")):
        if source.stem.removeprefix("cmd_").replace("_", "-") not in names:
            yield f"tool/{source.name}: there is no such verb"


def main():
    tool, root = sys.argv[1], pathlib.Path(sys.argv[2])
    verbs = verbs_of(tool)
    common = page_options((root / "docs/man/parapet.1").read_text())
    problems = [problem for verb in verbs for problem in check_verb(tool, root, verb, common)]
    problems += check_pages(root, verbs)
    problems += [f"--help: wider than {COLUMNS} columns: {line}" for line in too_wide(run(tool, "--help"))]
    print(*problems, f"{len(verbs)} verbs", sep="\n")
    return 1 if problems or len(verbs) < 8 else 0


if __name__ == "__main__":
    sys.exit(main())
