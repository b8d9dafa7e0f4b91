#!/usr/bin/env python3
"""Checks that a program which the documents name as a reader of stores is really tried as one.

    check_readers.py [ROOT]

tests/interop/tried.py lists the readers that are tried. Each of them needs its call in a file of tests/interop, and a
version that is pinned in scripts/requirements-peers.txt (package==1.2) or scripts/setup (package_version=1.2).
KNOWN lists other programs that read Zarr, or might be thought to. Demanded of README, header, guide and manual pages:

  - no sentence, or cell of a table, has one of these names and a word such as "reads" or "opens", unless it says
    "not tested" in these words;
  - no picture has one of these names at all, nor does the row of interop/ in tests/README.md.

Prints every violation as "file:line: sentence". Exit code 0: none, 1: some.
"""
import ast
import pathlib
import re
import sys

PAGES = ["README.md", "include/*.h", "docs/README.md", "docs/guide/*.md", "docs/man/*", "pyproject.toml",
         "CITATION.cff", "bindings/python/parapet/*.py"]
PICTURES = ["docs/*.svg", "docs/guide/*.svg"]
# Programs that read Zarr, or files like it, and are no peers that only write.
KNOWN = ["xarray", "zarr-python", "TensorStore", "zarrita", "dask", "GDAL", "rasterio", "rioxarray", "QGIS", "napari",
         "neuroglancer", "numcodecs", "ncdump", "netCDF-C", "netCDF4-python", "NCZarr", "h5py", "Zarr.jl", "zarrs",
         "zarr-java", "JZarr", "N5", "z5py", "zarr.js", "zarr-js", "cubed", "kerchunk", "VirtualiZarr", "Icechunk",
         "ParaView", "VisIt", "MATLAB", "Panoply", "ncview", "CDO", "NCO", "Iris", "Fiji", "ITK", "Vizarr", "WEBKNOSSOS",
         "Julia", "Bio-Formats"]
READS = re.compile(r"\b(?:open|opens|opened|opening|read|reads|readable|load|loads|loaded|understands?)\b", re.IGNORECASE)
EXEMPT = re.compile(r"\bnot (?:been )?tested\b|\buntested\b", re.IGNORECASE)
# What separates sentences: their end, cells of a table, an item of a list, a heading, an empty line, and what begins a
# paragraph of a manual page.
END = re.compile(r"(?<=[.!?])\s+(?=\S)|\||\n\s*\n|\n(?=\s*[-*] )|\n(?=#)|^```.*$|"
                 r"^\.(?:Sh|Ss|Pp|It|Bl|El|Bd|Ed|Nd)\b.*$", re.MULTILINE)
LEADERS = re.compile(r"^(?:\s*/?\*+/?| *#:?)(?= |$)", re.MULTILINE)
TEXT = re.compile(r">([^<>]+)<")


def name_pattern(name):
    """The name as it is written here; abbreviations in small letters too, as in the name of a package."""
    words = "|".join(map(re.escape, {name, name.lower() if name.isupper() else name}))
    return re.compile(rf"(?<![\w./-])(?:{words})(?![\w-]|\.\w)")


def read_tried(root):
    """name: (package, call), of TRIED in tests/interop/tried.py."""
    module = ast.parse((root / "tests/interop/tried.py").read_text())
    for node in module.body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "TRIED":
            return ast.literal_eval(node.value)
    return {}


def check_tried(root, tried):
    sources = [path.read_text() for path in sorted((root / "tests/interop").iterdir())
               if path.suffix in (".py", ".mjs") and path.name != "tried.py"]
    pins = "".join((root / "scripts" / name).read_text() for name in ("requirements-peers.txt", "setup"))
    for name, (package, call) in tried.items():
        if not any(call in source for source in sources):
            yield "tests/interop/tried.py", 1, f"no test of tests/interop has {call}, which is to try {name}"
        if not re.search(rf"^{re.escape(package)}(?:==|_version=)\d", pins, re.MULTILINE):
            yield "tests/interop/tried.py", 1, f"no version of {package} is pinned, so nobody knows which {name} is tried"


def sentences(text):
    """(line, sentence) of all of a text, the marks of comments left out."""
    text = LEADERS.sub(lambda found: " " * len(found[0]), text)
    begin = 0
    for start, end in [*(found.span() for found in END.finditer(text)), (len(text), len(text))]:
        sentence = text[begin:start]
        blank = len(sentence) - len(sentence.lstrip(" \n|*-"))
        yield text.count("\n", 0, begin + blank) + 1, " ".join(sentence.split())
        begin = end


def check_page(path, text, untried):
    for line, sentence in sentences(text):
        if READS.search(sentence) and not EXEMPT.search(sentence):
            for name in untried:
                if name_pattern(name).search(sentence):
                    yield path, line, f"{name} is named as a reader, but tests/interop does not try it: {sentence[:90]}"


def check_names(path, line, text, untried):
    for name in untried:
        if name_pattern(name).search(text):
            yield path, line, f"{name} is named, but tests/interop does not try it"


def check(root):
    """Yields (file, line, sentence) for everything that is wrong."""
    tried = read_tried(root)
    untried = [name for name in KNOWN if name not in tried]
    yield from check_tried(root, tried)
    if not tried:
        yield "tests/interop/tried.py", 1, "TRIED is not there, or empty"
    for path in (path for pages in PAGES for path in sorted(root.glob(pages)) if path.is_file()):
        yield from check_page(path.relative_to(root), path.read_text(), untried)
    for path in (path for pictures in PICTURES for path in sorted(root.glob(pictures))):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            yield from check_names(path.relative_to(root), number, " ".join(TEXT.findall(line)), untried)
    for number, line in enumerate((root / "tests/README.md").read_text().splitlines(), 1):
        if line.startswith("| `interop/`"):
            yield from check_names("tests/README.md", number, line, untried)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()
    found = list(check(root))
    for path, number, problem in found:
        print(f"{path}:{number}: {problem}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
