#!/usr/bin/env python3
"""Checks that every relative link of the documents leads somewhere.

    check_links.py ROOT

Looks at every *.md below ROOT but in build folders: links, images, references and HTML, outside of code. A link to a
heading must name one, by the anchor that GitHub gives it. Addresses of the web are not asked. Prints every link that
leads nowhere as "file:line: sentence". Exit code 0: none, 1: some.
"""
import pathlib
import re
import sys
import urllib.parse

SKIPPED = {"build", ".git", ".venv", "node_modules"}
LINK = re.compile(r"\]\(<?([^()<>\s]+(?:\([^()\s]*\)[^()<>\s]*)?)>?(?:\s+\"[^\"]*\")?\)")
REFERENCE = re.compile(r"^ {0,3}\[[^\]^]+\]:\s+<?(\S+?)>?(?:\s+\".*\")?$")
ATTRIBUTE = re.compile(r"<(?:a|img)\b[^>]*?\b(?:href|src)=\"([^\"]+)\"")
ANCHOR = re.compile(r"<[^>]+\b(?:id|name)=\"([^\"]+)\"")
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*\s*$")
FENCE = re.compile(r"^\s*(```+|~~~+)")
SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*:", re.IGNORECASE)


def prose(path):
    """Yields (line number, line) of what is no fenced block."""
    fence = None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        found = FENCE.match(line)
        if fence is None and found:
            fence = found[1]
        elif fence is not None:
            if line.strip() == fence:
                fence = None
        else:
            yield number, line


def slug(heading):
    """The anchor of a heading: words in lower case, joined by hyphens, without marks and punctuation."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    text = re.sub(r"[^\w\- ]", "", text.replace("`", "").lower())
    return text.replace(" ", "-")


def anchors(path):
    """All anchors of a page; a heading that comes again has a number behind it."""
    found, count = set(), {}
    for _, line in prose(path):
        found.update(ANCHOR.findall(line))
        heading = HEADING.match(line)
        if heading:
            name = slug(heading[1])
            number = count.get(name, 0)
            found.add(name if number == 0 else f"{name}-{number}")
            count[name] = number + 1
    return found


def links(path):
    """Yields (line number, target) of every link of a page."""
    for number, line in prose(path):
        if line.startswith("    ") and not line.lstrip().startswith(("-", "*", "|", "[", "1")):
            continue  # a block of code by its indentation
        line = re.sub(r"(`+).*?\1", "", line)
        for pattern in (LINK, REFERENCE, ATTRIBUTE):
            for target in pattern.findall(line):
                yield number, target


def find_mistake(path, target, root, known):
    """Why a link leads nowhere, or None."""
    name, _, anchor = urllib.parse.unquote(target).partition("#")
    place = path if name == "" else (root / name.lstrip("/") if name.startswith("/") else path.parent / name).resolve()
    if not place.exists():
        return f'"{target}" leads to nothing: there is no {name}'
    if root not in (place, *place.parents):
        return f'"{target}" leads out of the repository'
    if anchor and place.suffix == ".md":
        if place not in known:
            known[place] = anchors(place)
        if anchor not in known[place]:
            return f'"{target}" leads to no heading: {place.name} has none with the anchor {anchor}'
    return None


def check(root):
    """Yields (page, line, sentence) for every link that leads nowhere."""
    known = {}
    for path in sorted(root.rglob("*.md")):
        if SKIPPED & set(path.relative_to(root).parts):
            continue
        for number, target in links(path):
            mistake = None if SCHEME.match(target) or target.startswith("//") else find_mistake(path, target, root, known)
            if mistake is not None:
                yield path.relative_to(root), number, mistake


def main():
    if len(sys.argv) != 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    mistakes = list(check(pathlib.Path(sys.argv[1]).resolve()))
    for path, number, sentence in mistakes:
        print(f"{path}:{number}: {sentence}")
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
