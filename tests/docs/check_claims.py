#!/usr/bin/env python3
"""Checks that the commands which docs/results/claims.md gives for each claim can be run.

    check_claims.py BUILD [ROOT]

BUILD is a build directory, whose tests ctest lists, or a file in which `ctest --show-only=json-v1` was kept. Every row
needs a command in its last column. Of these, each alternative of a ctest -R must be the name of a test or a part of
one, bench/run must have the work that is named, and a script must exist; so must every file that a row names.

Prints every violation as "file:line: sentence". Exit code 0: none, 1: some.
"""
import pathlib
import re
import sys

from check_papers import list_tests

PAGE = "docs/results/claims.md"
QUOTED = re.compile(r"`([^`]+)`")
COMMAND = re.compile(r"^(?:ctest|bench/run|scripts/|tests/)")
FILE = re.compile(r"[\w.-]+/[\w./-]+\.\w+")


def cells_of(line):
    """A bar with a backslash before it belongs to its cell."""
    return [cell.replace("\\|", "|").strip() for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]


def alternatives(expression):
    """What a | stands between, outside of brackets."""
    depth, found = 0, [""]
    for letter in expression:
        depth += (letter == "(") - (letter == ")")
        if letter == "|" and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return found


def check_command(root, command, tests):
    words = [word.strip("'") for word in command.split()]
    if words[0] == "ctest" and "-R" not in words[:-1]:
        yield f"{command} names no test"
    elif words[0] == "ctest":
        for expression in alternatives(words[words.index("-R") + 1]):
            if not any(re.search(expression, test) for test in tests):
                yield f"no test is called {expression}"
    elif not (root / words[0]).is_file():
        yield f"there is no {words[0]}"
    elif words[0] == "bench/run" and f'"{words[1]}"' not in (root / words[0]).read_text():
        yield f"bench/run has no {words[1]}"


def check(root, tests):
    """Yields (line, sentence) for everything that is wrong."""
    rows = 0
    for number, line in enumerate((root / PAGE).read_text().splitlines(), 1):
        cells = cells_of(line) if line.startswith("|") and not line.startswith("|---") else []
        if not cells or cells[-1] == "command":
            continue
        rows += 1
        commands = [quoted for quoted in QUOTED.findall(cells[-1]) if COMMAND.match(quoted)]
        if not commands:
            yield number, f'"{cells[0]}" has no command'
        for command in commands:
            yield from ((number, problem) for problem in check_command(root, command, tests))
        for name in (name for cell in cells[:-1] for name in QUOTED.findall(cell)):
            if FILE.fullmatch(name) and not (root / name).exists():
                yield number, f"there is no file {name}"
    if rows == 0 or not tests:
        yield 1, "there are no claims on the page, or ctest lists no tests"


def main():
    root = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else pathlib.Path(__file__).parents[2]).resolve()
    found = list(check(root, list_tests(pathlib.Path(sys.argv[1]))))
    for number, problem in found:
        print(f"{PAGE}:{number}: {problem}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
