#!/usr/bin/env python3
"""Checks that what docs/design/papers.md names is there.

    check_papers.py BUILD [ROOT]

BUILD is a build directory, whose tests ctest lists, or a file in which `ctest --show-only=json-v1` was kept. The page
has one table for each paper, with the columns of COLUMNS, and below it notes, "- (a) ...". Demanded are:

  - every row has a file in the second column and a test in the third one, or a note that tells the reason;
  - every note of a row is below its table, is not empty, and belongs to some row;
  - every file in `backticks` exists, below src/ or the root; every test is one of ctest; every test_a__b is in tests/;
  - every link leads to a file, and behind # to a heading of it;
  - every number in the last column is on the page whose letter stands there, as [B]: a figure that was measured again
    is renewed here, too.

Prints every violation as "file:line: sentence". Exit code 0: none, 1: some.
"""
import functools
import json
import pathlib
import re
import subprocess
import sys

import check_figures

PAGE = "docs/design/papers.md"
COLUMNS = ["idea", "in Parapet", "test", "paper's figure", "ours"]
WIDEST = 120
NAME = re.compile(r"`([^`]+)`")
NOTE = re.compile(r"\(([a-z])\)")
LINK = re.compile(r"\]\(([^)]+)\)|^\[[^\]]+\]: (\S+)")
LETTER = re.compile(r"\[([A-Z])\]")
DEFINITION = re.compile(r"^\[([A-Z])\]: (\S+)", re.MULTILINE)


def list_tests(build):
    if build.is_file():
        text = build.read_text()
    else:
        command = ["ctest", "--test-dir", str(build), "--show-only=json-v1"]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {test["name"] for test in json.loads(text)["tests"]}


@functools.lru_cache(maxsize=None)
def functions(root):
    """The names of all test functions of all units."""
    found = set()
    for path in root.glob("tests/**/*.c"):
        found |= set(re.findall(r"\btest_\w+__\w+", path.read_text()))
    return found


def is_file_name(name):
    return "/" in name and re.fullmatch(r"[\w./-]+", name) is not None


def exists(root, name):
    return (root / name).exists() or (root / "src" / name).is_file()


def cells_of(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def sections(lines):
    """Each paper's numbered lines: from one heading of the second level to the next."""
    starts = [i for i, line in enumerate(lines) if line.startswith("## ")] + [len(lines)]
    for start, end in zip(starts, starts[1:]):
        yield [(number + 1, lines[number]) for number in range(start, end)]


def rows_of(section):
    return [(number, line) for number, line in section if line.startswith("|") and not line.startswith("|---")]


def notes_of(section):
    """letter: (line, text) of every "- (a) ..." with its continuation lines."""
    notes, letter = {}, None
    for number, line in section:
        begun = re.match(r"- \(([a-z])\)(.*)", line)
        if begun:
            letter = begun[1]
            notes[letter] = [number, begun[2].strip()]
        elif letter and line.startswith("  "):
            notes[letter][1] += " " + line.strip()
        else:
            letter = None
    return notes


def check_row(number, line, notes, tests):
    cells = cells_of(line)
    if len(cells) != len(COLUMNS) or "" in cells:
        yield number, f"a row needs {len(COLUMNS)} columns, none of them empty"
        return
    if len(line) > WIDEST:
        yield number, f"the row has {len(line)} columns of text, but {WIDEST} are the most"
    named = NAME.findall(cells[2])
    is_built = any(is_file_name(name) for name in NAME.findall(cells[1]))
    if not (is_built and named) and not NOTE.search(" ".join(cells[1:])):
        yield number, f'"{cells[0]}" has neither a file and a test nor a note with the reason'
    for name in named:
        if name not in tests:
            yield number, f"there is no test {name}"
    for letter in NOTE.findall(" ".join(cells[1:])):
        if letter not in notes:
            yield number, f"there is no note ({letter}) below the table"


def check_section(section, tests):
    rows, notes = rows_of(section), notes_of(section)
    if not rows or cells_of(rows[0][1]) != COLUMNS or len(rows) < 2:
        yield section[0][0], "a paper needs a table of ideas with the columns " + ", ".join(COLUMNS)
        return
    used = {letter for _, line in rows for letter in NOTE.findall(line)}
    for number, line in rows[1:]:
        yield from check_row(number, line, notes, tests)
    for letter, (number, text) in notes.items():
        if letter not in used:
            yield number, f"note ({letter}) belongs to no row"
        if not text:
            yield number, f"note ({letter}) is empty"


def anchors(path):
    """What a heading is called behind #."""
    for line in path.read_text().splitlines():
        if line.startswith("#"):
            words = re.sub(r"[^\w\- ]", "", line.lstrip("#").strip().lower())
            yield words.replace(" ", "-")


def check_link(page, target):
    if re.match(r"[a-z]+:", target):
        return None
    name, _, anchor = target.partition("#")
    path = page.parent / name if name else page
    if not path.exists():
        return f"the link {target} leads nowhere"
    if anchor and anchor not in anchors(path):
        return f"{name or 'this page'} has no heading for #{anchor}"
    return None


def check_names(root, page, lines):
    for number, line in enumerate(lines, 1):
        for name in NAME.findall(line):
            if is_file_name(name) and not exists(root, name):
                yield number, f"there is no file {name}"
            if re.fullmatch(r"test_\w+__\w+", name) and name not in functions(root):
                yield number, f"there is no test function {name}"
        problems = (check_link(page, a or b) for a, b in LINK.findall(line))
        yield from ((number, problem) for problem in problems if problem)


def check_figures_of_rows(page, lines):
    """Ours: what the page with the letter has recorded."""
    pages = {letter: page.parent / name for letter, name in DEFINITION.findall("\n".join(lines))}
    for number, line in enumerate(lines, 1):
        cell = cells_of(line)[-1] if line.startswith("|") else ""
        for letter in LETTER.findall(cell):
            if letter not in pages or not pages[letter].is_file():
                yield number, f"[{letter}] is no page"
                continue
            figures = check_figures.figures_of(NOTE.sub("", LETTER.sub("", cell)))
            for figure in sorted(figures - check_figures.figures_of(pages[letter].read_text())):
                yield number, f"{figure} is not on the page [{letter}]"


def main():
    root = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else pathlib.Path(__file__).parents[2]).resolve()
    page = root / PAGE
    lines = page.read_text().splitlines()
    tests = list_tests(pathlib.Path(sys.argv[1]))
    found = [*check_names(root, page, lines), *check_figures_of_rows(page, lines)]
    papers = list(sections(lines))
    for section in papers:
        found += check_section(section, tests)
    if not papers or not tests:
        found.append((1, "there are no papers on the page, or ctest lists no tests"))
    for number, problem in sorted(found):
        print(f"{PAGE}:{number}: {problem}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
