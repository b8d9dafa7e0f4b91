#!/usr/bin/env python3
"""A job that is killed while it changes an array leaves owner records; gc removes those of processes that are gone."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import peers
from peers import zarr

CALLS = ("unlink,unlinkat", "fsync,fdatasync", "rename,renameat,renameat2", "link,linkat")
RECORDS = {**os.environ, "PARAPET_LOCKS": "record"}


def records(store):
    return sorted(str(path.relative_to(store)) for path in store.rglob("lock*"))


def kill_at(store, calls, number):
    """Whether attr was killed at this call."""
    done = subprocess.run(["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={calls}", "-e",
                           f"inject={calls}:signal=KILL:when={number}", peers.TOOL, "attr", "-s", "a=1", store / "u"],
                          capture_output=True, check=False, env=RECORDS)
    return done.returncode != 0


def main():
    if not shutil.which("strace"):
        print("skipped: there is no strace")
        sys.exit(77)
    left = 0
    with tempfile.TemporaryDirectory(prefix="parapet-edge-") as folder:
        store = pathlib.Path(folder) / "a.zarr"
        for calls in CALLS:
            for number in range(1, 100):
                shutil.rmtree(store, ignore_errors=True)
                zarr.open_group(store, mode="w", zarr_format=3).create_array("u", shape=(4,), dtype="i4")
                if not kill_at(store, calls, number):
                    break
                left += len(records(store)) > 0
                done = subprocess.run([peers.TOOL, "gc", store], capture_output=True, text=True, check=False, env=RECORDS)
                peers.expect(f"{calls} {number}: {done.stdout}{done.stderr}", done.returncode == 0)
                peers.expect(f"{calls} {number}: {records(store)}", not records(store))
    print(f"{left} killed jobs left records")
    peers.expect("no killed job has left records", left > 0)


main()
raise SystemExit(1 if peers.problems else 0)
