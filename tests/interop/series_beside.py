#!/usr/bin/env python3
"""xarray reads a series beside the ranks that append to it.

    series_beside.py PROGRAM MPIEXEC [--steps N] [--ranks N]

PROGRAM is parallel_series. Every dataset that is opened meanwhile, in the way that xarray takes by default, must open
without an error or a warning, have the same number of steps in all variables, never fewer than the one before, and the
right values; what is there in the end is read whole by xarray and by zarr-python. Exit code 77: xarray is not there;
scripts/setup --peers installs it.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("u", "v", "w", "energy")
LEAST_MEMORY = 1 << 20


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="parallel_series")
    parser.add_argument("mpiexec", help="starts the ranks")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--ranks", type=int, default=4)
    return parser.parse_args()


def enter_python():
    """Starts again under the Python that has xarray."""
    python = Path(os.environ.get("PARAPET_VENV", ROOT / "build/venv")) / "bin/python3"
    if os.environ.get("PARAPET_INTEROP_PYTHON") == str(python):
        return
    if not python.exists():
        print(f"there is no {python}; scripts/setup --peers installs xarray")
        sys.exit(77)
    os.environ["PARAPET_INTEROP_PYTHON"] = str(python)
    os.execv(python, [str(python), *sys.argv])


def expected(name, steps, shape):
    """What the ranks append, for some steps."""
    import numpy

    element = numpy.arange(int(numpy.prod(shape)), dtype=numpy.int64).reshape(shape) % 997
    step = numpy.asarray(steps, dtype=numpy.int64).reshape((-1,) + (1,) * len(shape))
    return (4000000 * NAMES.index(name) + 1000 * step + element).astype(numpy.float32)


def check_steps(name, found, steps):
    import numpy

    if not numpy.array_equal(found, expected(name, steps, found.shape[1:])):
        raise ValueError(f"{name} has wrong values in steps {steps}")


def check_time(times):
    import numpy

    quarter = numpy.timedelta64(15, "m")
    if not numpy.array_equal(times, numpy.datetime64("2000-01-01", "ns") + numpy.arange(len(times)) * quarter):
        raise ValueError("the coordinate has wrong values")


def look(store, random):
    """Opens what is there now; the number of steps."""
    import xarray

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with xarray.open_zarr(store, chunks=None) as dataset:
            lengths = {name: dataset[name].sizes["time"] for name in (*NAMES, "time")}
            steps = lengths["time"]
            if len(set(lengths.values())) != 1:
                raise ValueError(f"variables differ in length: {lengths}")
            if dataset.attrs.get("Conventions") != "CF-1.10":
                raise ValueError(f"the attributes are {dataset.attrs}")
            if steps > 0:
                chosen = sorted({0, steps - 1, random.randrange(steps)})
                for name in NAMES:
                    check_steps(name, dataset[name].isel(time=chosen).values, chosen)
                check_time(dataset["time"].values)
            return steps


def is_made(store):
    """Whether the series is complete: from then on nothing may go wrong."""
    try:
        document = json.loads((store / "zarr.json").read_text())
    except FileNotFoundError:
        return False
    return "steps" in document.get("attributes", {}).get("_parapet", {}).get("series", {})


def read_whole(store, steps):
    import xarray
    import zarr

    with xarray.open_zarr(store, chunks=None) as dataset:
        if dataset.sizes["time"] != steps:
            raise ValueError(f"{dataset.sizes['time']} steps instead of {steps}")
        for name in NAMES:
            check_steps(name, dataset[name].values, range(steps))
            check_steps(name, zarr.open_array(store / name, mode="r")[...], range(steps))


def watch(arguments, folder, steps_per_row, memory_bytes):
    """One writer with a reader beside it."""
    import random

    store = Path(folder) / f"run-{steps_per_row}-{memory_bytes}.zarr"
    command = [arguments.mpiexec, "-n", str(arguments.ranks), arguments.program, "beside", str(store),
               str(arguments.steps), str(steps_per_row), str(memory_bytes)]
    choice = random.Random(steps_per_row)
    seen = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as writer:
        try:
            while writer.poll() is None:
                if is_made(store):
                    seen.append(look(store, choice))
        finally:
            output = writer.communicate(timeout=120)[0]
    if writer.returncode != 0:
        raise ValueError(f"the writer ended with {writer.returncode}: {output.strip()}")
    if seen != sorted(seen):
        raise ValueError(f"steps went away: {seen}")
    read_whole(store, arguments.steps)
    print(f"{arguments.steps} steps in rows of {steps_per_row}, {memory_bytes or 'enough'} bytes: opened {len(seen)} "
          f"times beside the writer, with {len(set(seen))} different numbers of steps", flush=True)
    return len(set(seen))


def main():
    arguments = parse_arguments()
    enter_python()
    sys.dont_write_bytecode = True
    import xarray  # noqa: F401, before the first writer starts, since it takes a second
    import zarr  # noqa: F401

    different = 0
    with tempfile.TemporaryDirectory(prefix="parapet-series-") as folder:
        for steps_per_row, memory_bytes in ((1, 0), (10, 0), (64, 0), (64, LEAST_MEMORY)):
            different += watch(arguments, folder, steps_per_row, memory_bytes)
    if different <= 4:
        print(f"only {different} states were seen: the reader was not beside the writer")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
