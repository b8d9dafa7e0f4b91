#!/usr/bin/env python3
"""Reads stores that parallel_decomposition has kept with zarr-python, and compares all values with the expected ones.

    read_with_zarr.py LEAST FOLDER...

Fails when there are less than LEAST stores. Exit code 77: zarr-python is not there; scripts/setup --peers installs it.
"""

import os
import shutil
import sys
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def enter_python():
    """Starts again under the Python that has zarr-python."""
    python = Path(os.environ.get("PARAPET_VENV", ROOT / "build/venv")) / "bin/python3"
    if os.environ.get("PARAPET_INTEROP_PYTHON") == str(python):
        return
    if not python.exists():
        print(f"there is no {python}; scripts/setup --peers installs zarr-python")
        sys.exit(77)
    os.environ["PARAPET_INTEROP_PYTHON"] = str(python)
    os.execv(python, [str(python), *sys.argv])


def array_below(store):
    """The one array of a store, at the root or in groups."""
    documents = [path for path in store.rglob("zarr.json") if '"node_type": "array"' in path.read_text()
                 or '"node_type":"array"' in path.read_text()]
    if len(documents) != 1:
        raise ValueError(f"{len(documents)} arrays instead of one")
    return documents[0].parent


def check(place):
    """What is wrong with a store, or None."""
    import numpy
    import zarr

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = zarr.open_array(array_below(place / "store"), mode="r", zarr_format=3)[...]
    except Exception as trouble:  # whatever a reader of others' data raises is a difference
        return f"{type(trouble).__name__}: {trouble}"
    expected = (place / "expected").read_bytes()
    if numpy.ascontiguousarray(found).tobytes() != expected:
        return "the values differ"
    return None


def main():
    enter_python()
    least, folders = int(sys.argv[1]), [Path(name) for name in sys.argv[2:]]
    places = sorted(path.parent for folder in folders for path in folder.glob("*/expected"))
    failures = 0
    for place in places:
        problem = check(place)
        if problem:
            failures += 1
            print(f"{place}: {problem}")
    print(f"{len(places)} stores read by zarr-python, {failures} differ")
    if failures == 0 and len(places) >= least:
        for folder in folders:
            shutil.rmtree(folder)
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(main())
