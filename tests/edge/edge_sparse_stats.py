#!/usr/bin/env python3
"""Statistics of arrays of 2^50 elements, of which little is stored: at once, of all elements, and those of the parts that are
stored are NumPy's; on one rank and on three."""
import json
import os
import subprocess
import tempfile
import time

import peers
from peers import numpy, zarr

PATIENCE = 60


def stats(path, *words, ranks=0):
    launched = [os.environ["MPIEXEC"], "-n", str(ranks), os.environ["FLAVOUR_TOOL"]] if ranks else [peers.TOOL]
    start = time.monotonic()
    done = subprocess.run([*launched, "stats", "--json", *words, path], capture_output=True, text=True, timeout=PATIENCE, check=False)
    peers.expect(f"{words}, {ranks} ranks: {done.stderr}", done.returncode == 0)
    print(f"{path.rsplit('/', 1)[1]} {' '.join(words)}: {time.monotonic() - start:.2f} s on {ranks or 1} ranks")
    return json.loads(done.stdout) if done.returncode == 0 else None


def expect_same(what, found, values, filled, fill):
    """As of these values and so many fill values."""
    count = len(values) + filled
    mean = (values.sum() + filled * fill) / count
    deviation = numpy.sqrt((((values - mean) ** 2).sum() + filled * (fill - mean) ** 2) / count)
    if found is None:
        return
    expected = {"values": count, "min": min(values.min(), fill), "max": max(values.max(), fill), "mean": mean, "deviation": deviation}
    for key, value in expected.items():
        peers.expect(f"{what}: {key} {found.get(key)} instead of {value}", numpy.isclose(found.get(key), value, rtol=1e-6, atol=0))


def main():
    draw = numpy.random.default_rng(5)
    with tempfile.TemporaryDirectory(prefix="parapet-edge-") as folder:
        line = zarr.create_array(f"{folder}/line.zarr", shape=(2**50,), chunks=(4096,), shards=(2**20,), dtype="f8", fill_value=2.5)
        plane = zarr.create_array(f"{folder}/plane.zarr", shape=(2**25, 2**25), chunks=(64, 64), dtype="f4", fill_value=-1)
        dots = zarr.create_array(f"{folder}/dots.zarr", shape=(2**31,), chunks=(1,), dtype="f8", fill_value=2.5)
        dots[2**30] = 7.0
        values = draw.random(5000) * 1e6
        line[2**49 - 1000:2**49 + 4000] = values
        block = draw.random((70, 90)).astype("f4") * 100
        plane[10**6:10**6 + 70, 2**25 - 90:] = block
        for ranks in (0, 3):
            expect_same("line", stats(f"{folder}/line.zarr", ranks=ranks), values, 2**50 - 5000, 2.5)
            expect_same("dots", stats(f"{folder}/dots.zarr", ranks=ranks), numpy.array([7.0]), 2**31 - 1, 2.5)
            expect_same("plane", stats(f"{folder}/plane.zarr", ranks=ranks), block.ravel().astype("f8"), 2**50 - 6300, -1.0)
        expect_same("part", stats(f"{folder}/line.zarr", "--region", f"{2**48}:{2**49}"), values[:1000], 2**48 - 1000, 2.5)
        expect_same("nothing stored", stats(f"{folder}/line.zarr", "--region", f"0:{2**48}"), numpy.array([2.5]), 2**48 - 1, 2.5)


main()
raise SystemExit(1 if peers.problems else 0)
