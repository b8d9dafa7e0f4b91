#!/usr/bin/env python3
"""A copy of a group beside appends to it: either its arrays belong together, or the copy says that they do not."""
import random
import subprocess
import tempfile

import peers
from peers import numpy, zarr

TRIALS, STEPS = 40, 6
NAMES = ("a/u", "b/u", "c/u", "time")


def make(path, first):
    group = zarr.open_group(path, mode="w", zarr_format=3)
    for name in NAMES:
        array = group.create_array(name, shape=(STEPS,), chunks=(2,), dtype="i8", dimension_names=("time",))
        array[:] = numpy.arange(first, first + STEPS)


def lengths(path):
    return {zarr.open_array(f"{path}/{name}", mode="r").shape[0] for name in NAMES}


def run(folder, number, draw):
    """What came of the copy: its exit code."""
    target, copy = f"{folder}/target{number}.zarr", f"{folder}/copy{number}.zarr"
    make(target, 0)
    appends = subprocess.Popen([peers.TOOL, "append", "--quiet", *(f"{folder}/source{k}.zarr" for k in range(3)), target],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    code, text = 0, ""
    for _ in range(draw.randrange(1, 4)):
        code, text = peers.parapet("copy", "--quiet", "--overwrite", target, copy)
    _, failed = appends.communicate()
    peers.expect(f"append {number}: {failed.decode()}", appends.returncode == 0)
    if code == 0:
        peers.expect(f"copy {number}: exit 0, lengths {lengths(copy)}", len(lengths(copy)) == 1)
    else:
        words = ("while its group was being copied", "is being changed by", "an append to", "since it was opened")
        peers.expect(f"copy {number}: {text}", any(each in text for each in words))
    return code


def main():
    draw = random.Random(20261119)
    with tempfile.TemporaryDirectory(prefix="parapet-edge-") as folder:
        for k in range(3):
            make(f"{folder}/source{k}.zarr", STEPS * (k + 1))
        codes = [run(folder, number, draw) for number in range(TRIALS)]
    print(f"{codes.count(0)} copies of {TRIALS} belong together, {TRIALS - codes.count(0)} say that they do not")


main()
raise SystemExit(1 if peers.problems else 0)
