#!/usr/bin/env python3
"""Checks lists and counts of the documents that follow from the sources.

    check_lists.py [ROOT]

  - The verbs that work on all ranks of a launcher: is_parallel and parallel_flags in tool/cmd_*.c. The pages of VERBS
    have a sentence "`a`, `b` and `c --flag` work on all ranks", or "use all ranks", with exactly these.
  - What a job can do in the tests of two jobs: enum operation in tests/harness/race.h. Where the pages of OPERATIONS
    speak of "18 operations", "18 things" or "171 pairs", these are their numbers, and each page speaks of them.

Prints every violation as "file:line: sentence". Exit code 0: none, 1: some.
"""
import pathlib
import re
import sys

VERBS = ["docs/guide/tool.md", "docs/guide/cluster.md", "docs/man/parapet.1"]
OPERATIONS = ["docs/guide/jobs.md", "docs/design/locks.md", "tests/README.md"]
SENTENCE = re.compile(r"([^.]*?)\s+(?:work\s+on|use)\s+all\s+ranks")
QUOTED = re.compile(r"`([^`]+)`")
NAME = re.compile(r'\.name = "([^"]+)"')
COUNT = re.compile(r"(\d+) (?:operations|things)\b")
PAIRS = re.compile(r"(\d+) pairs\b")


def parallel_verbs(root):
    """The verbs, and verbs with an option, that the tool runs on all ranks."""
    for path in sorted((root / "tool").glob("cmd_*.c")):
        source = path.read_text()
        name = NAME.search(source)
        if name and re.search(r"\.is_parallel = true", source):
            yield name[1]
        flags = re.search(r"\.parallel_flags = ([\w |]+)", source)
        for flag in re.findall(r"\w+", flags[1]) if flags else ():
            option = re.search(rf'{flag}, [^,]+, "([^"]+)"', source)
            yield f"{name[1]} --{option[1]}"


def plain(path):
    """The text of a page; of a manual page with .Cm as backquotes, and a full stop for every other macro."""
    text = path.read_text()
    if path.suffix != ".1":
        return text
    text = re.sub(r"^\.Cm (.*?)(?: ([.,;]))?$", r"`\1`\2", text.replace(" Fl -", " --"), flags=re.MULTILINE)
    return re.sub(r"^\.\w.*$", ".", text, flags=re.MULTILINE)


def check_verbs(root):
    wanted = set(parallel_verbs(root))
    for name in VERBS:
        text = plain(root / name)
        found = SENTENCE.search(text)
        if not found:
            yield name, 1, "it does not say which verbs work on all ranks"
            continue
        listed = set(" ".join(words.split()) for words in QUOTED.findall(found[1]))
        number = text.count("\n", 0, found.end(1)) + 1
        for verb in sorted(wanted ^ listed):
            problem = "works on all ranks, and is not listed" if verb in wanted else "does not work on all ranks"
            yield name, number, f'"{verb}" {problem}'


def check_operations(root):
    listed = re.search(r"typedef enum operation \{(.*?)\}", (root / "tests/harness/race.h").read_text(), re.DOTALL)[1]
    count = len(re.findall(r"\bOP_\w+", listed))
    for name in OPERATIONS:
        text, is_named = (root / name).read_text(), False
        for pattern, wanted in ((COUNT, count), (PAIRS, count * (count + 1) // 2)):
            for found in pattern.finditer(text):
                is_named = True
                if int(found[1]) != wanted:
                    yield name, text.count("\n", 0, found.start()) + 1, f"{found[0]}: there are {wanted}"
        if not is_named:
            yield name, 1, f"it does not say that there are {count} operations"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()
    found = [*check_verbs(root), *check_operations(root)]
    for path, number, problem in found:
        print(f"{path}:{number}: {problem}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
