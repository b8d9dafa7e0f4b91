#!/usr/bin/env python3
"""`parapet copy` between Parapet and other Zarr implementations.

Random arrays that zarr-python, TensorStore and Parapet wrote, arrays with chunks that are not stored, and whole
hierarchies are copied into other chunks, shards, codecs, orders and regions, on one rank and on three. zarr-python,
TensorStore, zarrita and xarray read the copies, and NumPy says what they must find.
"""

import argparse
import contextlib
import os
import random
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, help="the program parapet")
    parser.add_argument("--driver", required=True, help="the program driver.c")
    parser.add_argument("--mpiexec", default="mpiexec", help="starts several ranks")
    parser.add_argument("--python", help="Python that has the other readers; default $PARAPET_VENV or build/venv")
    node_modules = os.environ.get("PARAPET_NODE_MODULES", ROOT / "build/node/node_modules")
    parser.add_argument("--node-modules", default=node_modules,
                        help="where zarrita is; default $PARAPET_NODE_MODULES or build/node/node_modules")
    parser.add_argument("--seed", type=int, help="repeats a run; default: a new one, which is printed")
    parser.add_argument("--arrays", type=int, default=40, help="random arrays of each writer; default 40")
    parser.add_argument("--only", help="names of cases, with commas: z003,hole2")
    parser.add_argument("--keep", type=Path, help="work in this new directory and leave it there")
    return parser.parse_args()


def skip(problem):
    """A machine without the other readers tells nothing about Parapet: 77, as ctest is told."""
    print(f"copy: {problem}; scripts/setup --peers installs it")
    sys.exit(77)


def enter_python(arguments):
    """Starts again under the Python that has the other readers."""
    folder = os.environ.get("PARAPET_VENV", ROOT / "build/venv")
    python = Path(arguments.python or Path(folder) / "bin/python3")
    if not python.exists():
        skip(f"there is no {python}, which has the other readers")
    if os.environ.get("PARAPET_INTEROP_PYTHON") != str(python):
        os.environ["PARAPET_INTEROP_PYTHON"] = str(python)
        os.execv(python, [str(python), *sys.argv])
    if not Path(arguments.node_modules, "zarrita").exists():
        skip(f"zarrita is not in {arguments.node_modules}")


def run(arguments):
    import copy_arrays
    import copy_codecs
    import copy_holes
    import copy_refusals
    import copy_trees

    arguments.seed = arguments.seed if arguments.seed is not None else random.SystemRandom().randrange(2**32)
    print(f"seed {arguments.seed}; repeat with --seed {arguments.seed} [--only CASE]", flush=True)
    failures = []
    began = time.monotonic()
    with contextlib.ExitStack() as stack:
        folder = arguments.keep or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="parapet-copy-")))
        folder.mkdir(exist_ok=True)
        for module in (copy_codecs, copy_arrays, copy_holes, copy_trees, copy_refusals):
            failures += module.run(arguments, folder)
    print(f"{time.monotonic() - began:.0f} s")
    if failures:
        print(f"{len(failures)} failures; repeat with --seed {arguments.seed} --only {','.join(failures[:10])}")
    return 1 if failures else 0


if __name__ == "__main__":
    given = parse_arguments()
    enter_python(given)
    sys.dont_write_bytecode = True
    sys.exit(run(given))
