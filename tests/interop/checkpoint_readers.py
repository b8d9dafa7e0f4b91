#!/usr/bin/env python3
"""Generations of a checkpoint, read by zarr-python, TensorStore and xarray: to them each is an ordinary group.

    checkpoint_readers.py MPIEXEC PROGRAM

PROGRAM is parallel_restart. Exit code 77: the other readers are not there; scripts/setup --peers installs them.
"""

import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# What test_restart.c puts.
PLANE, CUBE = (21, 34), (9, 10, 11)


def enter_python():
    """Starts again under the Python that has the other readers."""
    python = Path(os.environ.get("PARAPET_VENV", ROOT / "build/venv")) / "bin/python3"
    if os.environ.get("PARAPET_INTEROP_PYTHON") == str(python):
        return
    if not python.exists():
        print(f"there is no {python}; scripts/setup --peers installs the other readers")
        sys.exit(77)
    os.environ["PARAPET_INTEROP_PYTHON"] = str(python)
    os.execv(python, [str(python), *sys.argv])


def make_expected(generation):
    import numpy

    def values(shape):
        return numpy.arange(numpy.prod(shape)).reshape(shape) * 7 + generation * 10000

    return {"plane": values(PLANE) / 4, "cube": values(CUBE).astype("int32")}


def read_with_zarr(folder):
    import zarr

    group = zarr.open_group(folder, mode="r", zarr_format=3, use_consolidated=True)
    return {name: array[...] for name, array in group.arrays()}, group.attrs["step"]


def read_with_xarray(folder):
    import xarray

    with xarray.open_zarr(folder, consolidated=True, chunks=None) as dataset:
        if dataset["plane"].dims != ("y", "x") or dataset["cube"].dims != ("level", "row", "column"):
            raise ValueError(f"dimensions {dataset['plane'].dims} and {dataset['cube'].dims}")
        return {str(name): dataset[name].values for name in dataset}, dataset.attrs["step"]


def read_with_tensorstore(folder):
    import json

    import tensorstore

    def read(name):
        kvstore = {"driver": "file", "path": str(folder / name)}
        return tensorstore.open({"driver": "zarr3", "kvstore": kvstore}).result().read().result()

    step = json.loads((folder / "zarr.json").read_text())["attributes"]["step"]
    return {name: read(name) for name in ("plane", "cube")}, step


def check(read, folder, generation):
    """What is wrong with a generation, or None."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found, step = read(folder)
    except Exception as trouble:  # whatever a reader of others' data raises is a difference
        return f"{type(trouble).__name__}: {trouble}"
    expected = make_expected(generation)
    if step != generation:
        return f"step is {step}"
    if sorted(found) != sorted(expected):
        return f"arrays {sorted(found)}"
    for name, values in expected.items():
        if found[name].dtype != values.dtype or found[name].shape != values.shape:
            return f"{name} is {found[name].dtype} {found[name].shape}"
        if found[name].tobytes() != values.tobytes():
            return f"the values of {name} differ"
    return None


def check_records(group):
    """The commit records name the directories and the digests of what is in them."""
    import hashlib

    problems = []
    for record in sorted((group / "__parapet/commits").iterdir()):
        lines = dict(line.split(" ", 1) for line in record.read_text().splitlines() if not line.startswith("array "))
        folder = group / lines["group"]
        named = [(lines["document"], "zarr.json")]
        for line in record.read_text().splitlines():
            if line.startswith("array "):
                _, digest, name = line.split(" ", 2)
                named.append((digest, f"{name}/zarr.json"))
        problems += [f"{folder / key} is not what {record} says" for digest, key in named
                     if hashlib.sha256((folder / key).read_bytes()).hexdigest() != digest]
    return problems


def main():
    enter_python()
    mpiexec, program = sys.argv[1:3]
    readers = {"zarr-python": read_with_zarr, "xarray": read_with_xarray, "TensorStore": read_with_tensorstore}
    with tempfile.TemporaryDirectory(prefix="parapet-checkpoint-") as scratch:
        store = Path(scratch) / "store"
        subprocess.run([mpiexec, "-n", "8", program, "keep", str(store)], check=True)
        problems = check_records(store / "restart")
        for generation in (1, 2):
            folder = store / "restart" / f"g{generation:08}"
            for name, read in readers.items():
                problem = check(read, folder, generation)
                if problem:
                    problems.append(f"generation {generation}, {name}: {problem}")
    for problem in problems:
        print(problem)
    print(f"2 generations read by {', '.join(readers)}: {len(problems)} differ")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
