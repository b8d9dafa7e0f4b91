#!/usr/bin/env python3
"""Checks that figures which documents repeat are on the page that recorded them.

    check_figures.py [ROOT]

What a document repeats is between two lines of their own:

    <!-- figures: docs/results/benchmarks.md -->
    | a table | 1,835 |
    <!-- end of figures -->

Every number between them must be on the page named, and a date 2026-11-19 as such; commas in numbers count for nothing.
README.md must have such a block; other pages may. check_papers.py uses figures_of, too.
Prints every violation as "file:line: sentence". Exit code 0: none, 1: some.
"""
import pathlib
import re
import sys

PAGES = ["README.md", "docs/guide/*.md", "docs/design/*.md", "docs/results/*.md"]
BEGIN = re.compile(r"^<!-- figures: (\S+) -->$")
END = "<!-- end of figures -->"
LINK = re.compile(r"\]\([^)]*\)")
FIGURE = re.compile(r"(?<![\w.,])x?(\d{4}-\d\d-\d\d|\d+(?:,\d{3})*(?:\.\d+)?)")  # x3.11 is 3.11 times


def figures_of(text):
    """Every number of a text, without its commas, and every date."""
    return {found.replace(",", "") for found in FIGURE.findall(text)}


def check_block(root, source, lines):
    """Yields (line, sentence) for the numbered lines of a block."""
    if not (root / source).is_file():
        yield lines[0][0] - 1, f"there is no page {source}"
        return
    recorded = figures_of((root / source).read_text())
    for number, line in lines:
        for figure in sorted(figures_of(LINK.sub("]", line)) - recorded):
            yield number, f"{figure} is not on {source}"


def check_page(root, text):
    source, block = None, []
    for number, line in enumerate(text.splitlines(), 1):
        begun = BEGIN.match(line)
        if begun and source is None:
            source, block = begun[1], []
        elif begun:
            yield number, "a block of figures begins within another one"
        elif line == END and source is not None:
            yield from check_block(root, source, block or [(number, "")])
            source = None
        elif line == END:
            yield number, "a block of figures ends that has not begun"
        else:
            block.append((number, line))
    if source is not None:
        yield len(text.splitlines()), f"the block of figures of {source} does not end"


def check(root):
    """Yields (file, line, sentence) for everything that is wrong."""
    for path in (path for pages in PAGES for path in sorted(root.glob(pages))):
        for number, problem in check_page(root, path.read_text()):
            yield path.relative_to(root), number, problem
    if not any(BEGIN.match(line) for line in (root / "README.md").read_text().splitlines()):
        yield "README.md", 1, "it has no block of figures"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()
    found = list(check(root))
    for path, number, problem in found:
        print(f"{path}:{number}: {problem}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
