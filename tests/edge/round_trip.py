#!/usr/bin/env python3
"""Random files to Zarr and back, each judged by the library whose format it is: what a copy has is what netCDF4, h5py, NumPy
and xarray show of the file, and what is written is what they show of it again.

    tests/edge/round_trip.py [--kinds KIND=COUNT,...] [--seed N] [--only KIND:NUMBER]

Kinds: netcdf, hdf5 and numpy are files that are copied to a store, and the store, or an array of it, to a file again; zarr are
groups that are written to netCDF. --only repeats one of them, and keeps what it made. Exit code 0: no difference, 1: some, 77:
the libraries are not installed.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

import peers  # first: it starts the Python that has the others
import judge
import random_hdf5
import random_netcdf
import random_numpy
import random_zarr
from peers import numpy, zarr


def copy(*words):
    """What the tool says if it fails, and what of a file it leaves out."""
    code, text = peers.parapet("copy", *words)
    return (text or f"exit code {code}") if code != 0 else "", text


def copy_in(folder, path):
    """A file as a store; an error message is a difference."""
    problem, _ = copy("--quiet", path, folder / "store")
    return [f"copy: {problem}"] if problem else []


def export_group(folder, store):
    """A group as netCDF, which is refused only for what the guide says."""
    reasons = list(judge.why_netcdf_refuses(zarr.open_group(store, mode="r")))
    problem, left_out = copy(store, folder / "back.nc")
    if problem:
        judge.counts["exports refused, as they should be"] += bool(reasons)
        return [] if reasons else [f"export: {problem}"]
    if reasons:
        return [f"export: not refused, although {reasons}"]
    judge.counts["exports to netCDF"] += 1
    return list(judge.netcdf_export(store, folder / "back.nc", left_out))


def export_array(folder, store):
    """An array as .npy, if NumPy has its type there, and as bare elements."""
    array = zarr.open_array(store, mode="r")
    if array.dtype.kind in "OT":
        return []
    path, raw = folder / "back.npy", folder / "back.raw"
    problem, _ = copy("--quiet", "--overwrite", "--to", "raw", store, raw)
    if problem:
        return [f"export to raw: {problem}"]
    problem, _ = copy("--quiet", "--overwrite", store, path)
    has_type = array.dtype.kind in "biufc"
    if bool(problem) == has_type:
        return [f"export of {array.dtype} to npy: {problem or 'not refused'}"]
    judge.counts["exports to npy and raw"] += 1
    return list(judge.numpy_export(store, path if has_type else None, raw))


def arrays_below(store):
    return sorted(path.parent for path in store.rglob("zarr.json") if '"array"' in path.read_text())


def try_netcdf(rng, folder):
    what = random_netcdf.make(rng, folder / "file.nc")
    problems = copy_in(folder, folder / "file.nc")
    if not problems:
        problems = list(judge.netcdf_copy(folder / "file.nc", folder / "store"))
        problems += export_group(folder, folder / "store")
    return what, problems


def try_hdf5(rng, folder):
    what = random_hdf5.make(rng, folder / "file.h5")
    problems = copy_in(folder, folder / "file.h5")
    if not problems:
        problems = list(judge.hdf5_copy(folder / "file.h5", folder / "store"))
        problems += export_array(folder, random_netcdf.pick(rng, arrays_below(folder / "store")))
    return what, problems


def try_numpy(rng, folder):
    path, arrays = random_numpy.make(rng, folder, 0)
    problems = copy_in(folder, path)
    if not problems:
        problems = list(judge.numpy_copy(path, folder / "store", arrays))
        problems += export_array(folder, folder / "store" / random_netcdf.pick(rng, list(arrays)))
    return path.suffix, problems


def try_zarr(rng, folder):
    what = random_zarr.make(rng, folder / "store")
    return what, export_group(folder, folder / "store")


KINDS = {"netcdf": try_netcdf, "hdf5": try_hdf5, "numpy": try_numpy, "zarr": try_zarr}


def try_one(kind, number, options, above):
    """The problems of one file; what it made is kept if there are any."""
    folder = above / f"{kind}{number}"
    folder.mkdir()
    rng = numpy.random.default_rng([options.seed, list(KINDS).index(kind), number])
    try:
        what, problems = KINDS[kind](rng, folder)
    except Exception:  # a library does not read what the tool has written, or the test is wrong
        what, problems = "?", [traceback.format_exc()[-1200:]]
    judge.counts[f"{kind}: files"] += 1
    judge.counts[f"{kind}: files with differences"] += bool(problems)
    if not problems and not options.only:
        shutil.rmtree(folder)
    return [f"{kind}:{number} ({what}) {problem}"[:1500] for problem in problems]


# Where a library crashes, it is a problem like any other: so a process has few files.
FILES_OF_PROCESS = 25


def try_part(options, above):
    """What was counted, and the problems, for the process that started this one."""
    kind, first, end = options.part.split(":")
    problems = []
    for number in range(int(first), int(end)):
        problems += try_one(kind, number, options, above)
    print(json.dumps({"counts": judge.counts, "problems": problems}))


def start_part(kind, first, end, options, above):
    words = ["--part", f"{kind}:{first}:{end}", "--seed", str(options.seed), "--folder", str(above)]
    done = subprocess.run([sys.executable, __file__, *words], capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return json.loads(done.stdout.splitlines()[-1])
    return {"counts": {}, "problems": [f"{kind}:{first} to {end}: exit code {done.returncode}: {done.stderr[-1200:]}"]}


def try_all(options, above):
    parts = [(kind, first, min(first + FILES_OF_PROCESS, count), options, above)
             for kind, count in options.kinds.items() for first in range(0, count, FILES_OF_PROCESS)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for found in pool.map(start_part, *zip(*parts)):
            judge.counts.update(found["counts"])
            for problem in found["problems"]:
                peers.expect(problem, False)


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kinds", default="netcdf=30,numpy=10,hdf5=10,zarr=10")
    parser.add_argument("--seed", type=int, default=int(os.environ.get("PARAPET_TEST_SEED", random.randrange(2**31))))
    parser.add_argument("--only")
    parser.add_argument("--part", help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.kinds = {kind: int(count or 60) for kind, _, count in (each.partition("=") for each in options.kinds.split(","))}
    return options


def main():
    options = parse()
    if options.part:
        try_part(options, pathlib.Path(options.folder))
        return
    print(f"seed {options.seed}", flush=True)
    if not peers.has_helper():
        print("skipped: this build does not read HDF5")
        sys.exit(77)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="parapet-round-trip-"))
    start = time.monotonic()
    if options.only:
        kind, number = options.only.split(":")
        for problem in try_one(kind, int(number), options, folder):
            peers.expect(problem, False)
    else:
        try_all(options, folder)
    for what, count in sorted(judge.counts.items()):
        print(f"{what}: {count}")
    print(f"{sum(judge.counts[f'{kind}: files'] for kind in KINDS)} files, {len(peers.problems)} differences, "
          f"{time.monotonic() - start:.0f} s")
    if options.only:
        print(folder)
        sys.exit(bool(peers.problems))
    peers.finish(folder)


if __name__ == "__main__":
    main()
