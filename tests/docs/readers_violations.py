"""Plants one violation of every rule in a small tree and demands that check_readers finds it: the checker can fail.

    readers_violations.py CHECK_READERS
"""
import pathlib
import subprocess
import sys
import tempfile

TREE = {
    "README.md": "# A\n\nxarray and TensorStore open it.\nGDAL 3.10 reads it; this is not tested here.\n\n"
                 "| | A | `ncdump` |\n|---|---|---|\n| opens | yes | no |\n",
    "include/a.h": "/* xarray reads it,\n * and others, too. GDAL is a library. */\nint a;\n",
    "docs/guide/a.md": "# A\n\n- Write it with h5py.\n- xarray\n  reads it.\n",
    "docs/man/a.1": ".Sh A\nIt reads\n.Pa a .\n.Pp\nGDAL is a library.\n",
    "docs/a.svg": "<svg><!-- GDAL --><text>xarray</text></svg>\n",
    "tests/README.md": "| `interop/` | do others read it? | xarray, TensorStore, zarrita |\n",
    "tests/interop/tried.py": "TRIED = {\n    'xarray': ('xarray', 'xarray.open('),\n"
                              "    'TensorStore': ('tensorstore', 'tensorstore.open('),\n"
                              "    'zarrita': ('zarrita', 'zarr.open('),\n}\n",
    "tests/interop/readers.py": "xarray.open('a')\ntensorstore.open('a')\n",
    "tests/interop/read.mjs": "zarr.open('a')\n",
    "scripts/requirements-peers.txt": "xarray==1.2\ntensorstore==0.1\n",
    "scripts/setup": "zarrita_version=0.7.5\n",
}

# What of the tree is other, and what must be said. None: nothing.
CASES = [
    ({}, None),
    ({"README.md": "# A\n\nxarray and GDAL\nopen it.\n"}, "README.md:3: GDAL is named as a reader"),
    ({"README.md": "# A\n\n| | A |\n|---|---|\n| napari opens it | yes |\n"}, "README.md:5: napari is named"),
    ({"README.md": "It is not tested. GDAL reads it.\n"}, "README.md:1: GDAL is named as a reader"),
    ({"include/a.h": "/* A.\n * It is read by xarray,\n * gdal and h5py. */\n"}, "include/a.h:2: GDAL is named"),
    ({"include/a.h": "/* A.\n * It is read by xarray,\n * gdal and h5py. */\n"}, "include/a.h:2: h5py is named"),
    ({"docs/guide/a.md": "# A\n\n- xarray\n- neuroglancer\n  can read it\n"}, "a.md:4: neuroglancer is named"),
    ({"docs/man/a.1": ".Sh A\nWhat\n.Pa a\nIt is opened\nby QGIS .\n"}, "docs/man/a.1:2: QGIS is named"),
    ({"docs/a.svg": "<svg>\n<text>xarray, GDAL</text></svg>\n"}, "docs/a.svg:2: GDAL is named"),
    ({"tests/README.md": "\n| `interop/` | xarray, GDAL |\n"}, "tests/README.md:2: GDAL is named"),
    ({"tests/interop/readers.py": "xarray.open('a')\n"}, "no test of tests/interop has tensorstore.open("),
    ({"tests/interop/read.mjs": ""}, "no test of tests/interop has zarr.open(, which is to try zarrita"),
    ({"scripts/requirements-peers.txt": "xarray>=1.2\ntensorstore==0.1\n"}, "no version of xarray is pinned"),
    ({"scripts/setup": ""}, "no version of zarrita is pinned"),
    ({"tests/interop/tried.py": "OTHER = {}\n"}, "TRIED is not there, or empty"),
    ({"tests/interop/tried.py": "TRIED = {'xarray': ('xarray', 'xarray.open(')}\n"}, "TensorStore is named as a reader"),
]


def check(checker, changes, expected):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (TREE | changes).items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        run = subprocess.run([sys.executable, checker, folder], capture_output=True, text=True)
    if expected is None:
        return run.returncode == 0 and run.stdout == "", run.stdout + run.stderr
    return run.returncode == 1 and expected in run.stdout, run.stdout + run.stderr


def main():
    failed = 0
    for number, (changes, expected) in enumerate(CASES):
        is_right, said = check(sys.argv[1], changes, expected)
        if not is_right:
            print(f"case {number}: expected {expected!r}, but it said:\n{said}")
            failed += 1
    print(f"{len(CASES) - failed} of {len(CASES)} cases")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
