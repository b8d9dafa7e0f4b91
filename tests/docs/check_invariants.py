#!/usr/bin/env python3
"""Checks that the invariants of docs/design/change.md are cited where they are kept, and nothing else is.

    check_invariants.py [ROOT]

The page numbers them, "4. **One decider.** ... *Kept in* `file.c`, `file.c:function`.", and a comment of src/ cites
them, "(invariant 4 of docs/design/change.md)", "(invariants 2 and 5 of ...)". Demanded are:

  - every number that src/ cites is one of the page, and every one of the page is cited in some file;
  - the files that cite an invariant are those in which the page says that it is kept;
  - a function that is named is in its file.

Prints every violation as "file:line: sentence". Exit code 0: none, 1: some.
"""
import pathlib
import re
import sys

PAGE = "docs/design/change.md"
INVARIANT = re.compile(r"^(\d+)\. \*\*.*?(?=^\d+\. \*\*|\Z)", re.MULTILINE | re.DOTALL)
KEPT = re.compile(r"\*Kept\s+in\*([^*]+)")
PLACE = re.compile(r"`([^`:]+)(?::([^`]+))?`")
# Also where a comment of several lines breaks inside it, and however it puts the name of the page.
CITATION = re.compile(r"\binvariants?([\s*\d,]+(?:and[\s*\d]+)*)of[\s*]+docs/design/change\.md")


def line_of(text, match):
    return text.count("\n", 0, match.start()) + 1


def read_invariants(root):
    """{number: (line, [(file, function)])}"""
    text = (root / PAGE).read_text()
    start = text.index("## Invariants")
    end = text.find("\n## ", start)
    found = {}
    for match in INVARIANT.finditer(text, start, end if end >= 0 else len(text)):
        kept = KEPT.search(match.group())
        found[int(match.group(1))] = (line_of(text, match), PLACE.findall(kept.group(1)) if kept else [])
    return found


def read_citations(root):
    """[(path, line, number)]"""
    return [(path, line_of(text, match), int(number))
            for path in sorted((root / "src").rglob("*.[ch]")) for text in [path.read_text()]
            for match in CITATION.finditer(text) for number in re.findall(r"\d+", match.group(1))]


def find_places(root, line, places):
    """The files that the page names, and what is wrong with their names."""
    files, problems = set(), []
    for name, function in places:
        fits = [path for path in (root / "src").rglob(name.split("/")[-1]) if f"/{path.as_posix()}".endswith(f"/{name}")]
        if len(fits) != 1:
            problems.append((root / PAGE, line, f"{name} is {len(fits)} files of src/"))
        elif function and not re.search(rf"\b{re.escape(function)}\(", fits[0].read_text()):
            problems.append((root / PAGE, line, f"there is no {function} in {name}"))
        files.update(fits[:1])
    return files, problems


def check(root):
    invariants, citations = read_invariants(root), read_citations(root)
    if not invariants:
        yield root / PAGE, 1, "there are no invariants on the page"
    for path, line, number in citations:
        if number not in invariants:
            yield path, line, f"{PAGE} has no invariant {number}"
    for number, (line, places) in invariants.items():
        files, problems = find_places(root, line, places)
        yield from problems
        cited = {path: at for path, at, other in citations if other == number}
        if not cited:
            yield root / PAGE, line, f"invariant {number} is cited nowhere in src/"
        for path in sorted(files - set(cited)):
            yield path, 1, f"does not cite invariant {number}, which it keeps according to {PAGE}"
        for path in sorted(set(cited) - files):
            yield path, cited[path], f"{PAGE} does not say that invariant {number} is kept here"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()
    problems = list(check(root))
    for path, line, problem in problems:
        print(f"{path.relative_to(root)}:{line}: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
