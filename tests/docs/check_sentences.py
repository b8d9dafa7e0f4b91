#!/usr/bin/env python3
"""Checks that the sentences which a page explains are sentences of the library or the tool.

    check_sentences.py ROOT PAGE

A sentence is a heading of the page in backquotes: ### `there is an array at "..." already`. Three dots stand for what
differs. Everything between them must be in one text of the sources below src/ or tool/. Every status of the header must
be named on the page, too. Prints every violation as "file:line: sentence". Exit code 0: none, 1: some.
"""
import pathlib
import re
import sys

LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"(?:\s*PRI\w+)?\s*')
CONVERSION = re.compile(r"%[-+ #0]*[\d.*]*(?:ll|z|t|l|h)?[a-zA-Z]|%$")
HEADING = re.compile(r"^#+ `(.+)`$")
STATUS = re.compile(r"^ {4}(PARAPET_ERR_\w+) =", re.MULTILINE)


def texts_of(source):
    """The texts of a source, each as its pieces between conversions; texts that follow each other are one."""
    end, joined = None, ""
    for found in LITERAL.finditer(source):
        if found.start() != end and joined:
            yield joined
            joined = ""
        joined += found[1].replace('\\"', '"')
        end = found.end()
    yield joined


def read_texts(root):
    """All texts, with a line break where something is filled in: no sentence has one."""
    sources = [path for folder in ("src", "tool") for path in sorted((root / folder).rglob("*.[ch]"))]
    return [CONVERSION.sub("\n", text) for path in sources for text in texts_of(path.read_text())]


def check(root, page):
    """Yields (line, sentence) for everything that is wrong with a page."""
    texts = read_texts(root)
    words = page.read_text()
    for number, line in enumerate(words.splitlines(), 1):
        found = HEADING.match(line)
        for piece in found[1].split("...") if found else ():
            if not any(piece in text for text in texts):
                yield number, f'neither the library nor the tool says "{piece}"'
    for status in STATUS.findall((root / "include/parapet.h").read_text()):
        if status not in words:
            yield 1, f"{status} is not on the page"


def main():
    if len(sys.argv) != 3:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    mistakes = list(check(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])))
    for number, sentence in mistakes:
        print(f"{sys.argv[2]}:{number}: {sentence}")
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
