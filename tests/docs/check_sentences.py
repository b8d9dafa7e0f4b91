#!/usr/bin/env python3
"""Checks that error messages which documents quote are messages of the library or the tool.

    check_sentences.py ROOT

Quotes are, in README.md and in every page of docs/guide/ and docs/design/:

  - a heading in backquotes: ### `there is an array at "..." already`;
  - five words and more in backquotes, of which one is an English one such as "the" or "is", and which are no command;
  - a line of a block that begins with "parapet: ", where no <!-- prints --> stands before it: run_snippets.py compares
    such a block with what is printed;
  - every paragraph of a block ```text.

Three dots stand for what differs; a quote may also have it filled in: cannot write array "T". A message is divided at
": " and "; ". A part of it of three words or more must be a part of a text of the sources below src/, tool/, include/ or
bindings/python/ or of what tests/cli expects, or be what such a text becomes when something is filled in, or an error
of the system. FOREIGN lists messages of other programs. Every status of the header must be named in
docs/guide/troubleshooting.md, too.

Prints every violation as "file:line: sentence". Exit code 0: none, 1: some.
"""
import errno
import os
import pathlib
import re
import sys

PAGES = ["README.md", "docs/guide/*.md", "docs/design/*.md"]
SOURCES = ["src/**/*.[ch]", "tool/**/*.[ch]", "include/*.h", "bindings/python/parapet/*.py"]
EXPECTED = "tests/cli/*/expected"
STATUS_PAGE = "docs/guide/troubleshooting.md"
FOREIGN = ["Failed to decode fill_value"]  # xarray
ENGLISH = set("a an and are but by cannot has have in is it no not of or that the this to was with".split())
SYSTEM = {os.strerror(number) for number in errno.errorcode}

LITERAL = re.compile(r'[rf]?"((?:[^"\\\n]|\\.)*)"(\s*PRI\w+)?\s*')
CONVERSION = re.compile(r"%[-+#0]*[\d.*]*(?:ll|z|t|l|h)?[a-zA-Z]")
FIELD = re.compile(r"\{[^{}]*\}")
HEADING = re.compile(r"^#+ `(.+)`$")
QUOTE = re.compile(r"(?<!`)`([^`]+)`(?!`)")
COMMAND = re.compile(r"^(?:parapet|for|mpiexec|cmake|ctest|\$) | --|[=;|&]$")
STATUS = re.compile(r"^ {4}(PARAPET_ERR_\w+) =", re.MULTILINE)
FENCE = re.compile(r"^```(\w*)")


def texts_of(source):
    """The texts of a source; texts that follow each other are one."""
    end, joined = None, ""
    for found in LITERAL.finditer(source):
        if found.start() != end and joined:
            yield joined
            joined = ""
        joined += found[1].replace('\\"', '"').replace("\\n", "\n") + ("d" if found[2] else "")
        end = found.end()
    yield joined


class Sources:
    """What the sources can say."""

    def __init__(self, root):
        texts = set()
        for path in (path for pattern in SOURCES for path in sorted(root.glob(pattern))):
            fill = FIELD if path.suffix == ".py" else CONVERSION
            texts |= {fill.sub("\v", text) for text in texts_of(path.read_text())}
        texts |= {path.read_text() for path in sorted(root.glob(EXPECTED))}
        self.texts = sorted(texts)
        self.patterns = [pattern for text in self.texts for pattern in patterns_of(text)]

    def has_pieces(self, words):
        """Each piece between dots is a piece of some text between what is filled in."""
        pieces = [piece for piece in words.split("...") if piece]
        return all(any(piece in text for text in self.texts) for piece in pieces)

    def has_filled(self, words):
        """A quarter of the words and more are the text's own: else "... in ..." would be nearly everything."""
        least = len(words.split()) / 4
        return any(count >= least and pattern.fullmatch(words) for pattern, count in self.patterns)


def patterns_of(text):
    """How the parts of a text look when something is filled in; parts that are hardly more than that are none."""
    for part in re.split(r"[:;] |\n", text):
        count = len(re.findall(r"[A-Za-z]{2,}", part))
        if count >= 2:
            yield re.compile(".+".join(map(re.escape, part.split("\v")))), count


def is_part_known(sources, part):
    words = part.strip().removeprefix("... ").strip()
    if len(words.replace("...", " ").split()) < 3 or words in SYSTEM:
        return True
    return sources.has_pieces(words) or sources.has_filled(words)


def is_known(sources, quote):
    quote = " ".join(quote.split())
    if quote in FOREIGN or sources.has_pieces(quote):
        return True
    return all(is_part_known(sources, part) for part in re.split("[:;] ", quote))


def blocks_of(lines):
    """(first line, word behind the fence, lines) of every block; what is printed when a page is run is left out."""
    begun, is_printed = None, False
    for number, line in enumerate(lines, 1):
        fence = FENCE.match(line)
        if fence and begun is None:
            begun, kind, held = number, fence[1], []
            is_printed = number > 1 and lines[number - 2].startswith("<!-- prints")
        elif fence:
            if not is_printed:
                yield begun + 1, kind, held
            begun = None
        elif begun is not None:
            held.append(line)


def quotes_of_blocks(lines):
    for first, kind, held in blocks_of(lines):
        if kind == "text":
            for found in re.finditer(r"(?:[^\n]+\n?)+", "\n".join(held)):
                yield first + "\n".join(held).count("\n", 0, found.start()), found[0].strip()
        else:
            yield from ((first + i, line) for i, line in enumerate(held) if line.startswith("parapet: "))


def without_blocks(lines):
    """The lines, those of blocks empty."""
    is_inside = False
    for line in lines:
        is_fence = FENCE.match(line) is not None
        yield "" if is_inside or is_fence else line
        is_inside ^= is_fence


def is_message(quote):
    words = quote.split()
    return len(words) >= 5 and bool(ENGLISH & set(words)) and not COMMAND.search(quote)


def quotes_of_prose(lines):
    prose = list(without_blocks(lines))
    for number, line in enumerate(prose, 1):
        if HEADING.match(line):
            yield number, HEADING.match(line)[1]
    for paragraph in re.finditer(r"(?:[^\n]+\n?)+", "\n".join(prose)):
        first = "\n".join(prose).count("\n", 0, paragraph.start()) + 1
        for found in QUOTE.finditer(paragraph[0]):
            if is_message(found[1]) and not paragraph[0].startswith("#"):
                yield first + paragraph[0].count("\n", 0, found.start()), found[1]


def check(root, page, sources=None):
    """Yields (line, sentence) for every quote of a page that nothing says."""
    sources = sources or Sources(root)
    lines = page.read_text().splitlines()
    for number, quote in sorted([*quotes_of_prose(lines), *quotes_of_blocks(lines)]):
        if not is_known(sources, quote):
            yield number, f'neither the library nor the tool says "{" ".join(quote.split())}"'


def check_statuses(root):
    words = (root / STATUS_PAGE).read_text()
    for status in STATUS.findall((root / "include/parapet_status.h").read_text()):
        if status not in words:
            yield 1, f"{status} is not on the page"


def main():
    if len(sys.argv) != 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    root = pathlib.Path(sys.argv[1])
    sources = Sources(root)
    mistakes = [(STATUS_PAGE, *mistake) for mistake in check_statuses(root)]
    for page in (page for pages in PAGES for page in sorted(root.glob(pages))):
        mistakes += [(page.relative_to(root), *mistake) for mistake in check(root, page, sources)]
    for page, number, sentence in mistakes:
        print(f"{page}:{number}: {sentence}")
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
