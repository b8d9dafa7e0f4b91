"""A file system that is full in the middle of a checkpoint: the same error on all ranks soon, the checkpoints before
are restored, and when there is room again the next attempt succeeds and nothing is left over.

    test_checkpoint_full.py CHECKPOINT_RANKS MPIEXEC STEPS [tmpfs|ext4]

On a tmpfs of 2 MiB, or on an ext4 of 64 MiB on a loop device. Needs the right to mount; exits with 77 without it.
"""

import contextlib
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "harness"))
from checkpoint_ledger import Ledger  # noqa: E402
from kill_bed import RANKS, Bed, told  # noqa: E402
import machine  # noqa: E402

TMPFS_SIZE, EXT4_SIZE = 2 << 20, 64 << 20
ONE = 288 << 10  # what a checkpoint takes, at least
SOON = 5.0


def fill(path, leave):
    """A file of our own takes all but so many bytes; what is free is counted in pages or blocks. What the file system
    needs to keep track of the file may take some of the rest."""
    free = os.statvfs(path.parent).f_bavail * os.statvfs(path.parent).f_frsize
    with open(path, "wb", buffering=0) as file:
        file.write(bytes(max(0, free - leave)))
        os.fsync(file)


def make(ledger):
    out, errors = ledger.bed.run(RANKS, "make", str(ledger.bed.folder), ledger.next_tag(), "1")
    assert told(out), errors
    return told(out)[0]


def run_step(ledger, store, leave, choose, slowest):
    filler = store / "filler"
    fill(filler, leave)
    first = make(ledger)
    filler.unlink()
    problems = [] if first["same"] else ["the ranks returned different things"]
    if first["status"] != "PARAPET_ERR_NO_SPACE":
        problems.append(f"with {leave} bytes left it returned {first['status']}")
    if first["seconds"] > SOON:
        problems.append(f"it took {first['seconds']} s")
    problems += [sentence for _, sentence in ledger.verify(choose)]
    again = make(ledger)
    if again["status"] != "PARAPET_OK":
        problems.append(f"with room again it returned {again['status']}")
    problems += [sentence for _, sentence in ledger.verify(choose)]
    problems += [f"{name} was left" for name in ledger.strays()]
    return problems, max(slowest, first["seconds"])


def run(program, mpiexec, steps, folder):
    ledger, choose, violations, slowest = Ledger(Bed(program, mpiexec, folder)), random.Random(1), 0, 0.0
    for _ in range(2):
        assert make(ledger)["status"] == "PARAPET_OK"
    for step in range(steps):
        leave = ONE * step // steps
        problems, slowest = run_step(ledger, folder / "store", leave, choose, slowest)
        violations += len(problems)
        for problem in problems:
            print(f"VIOLATION: {leave} bytes left: {problem}", flush=True)
    print(json.dumps({"test": "full disk", "points": steps, "violations": violations, "slowest_s": slowest,
                      "hangs": ledger.bed.hangs}))
    return 1 if violations or ledger.bed.hangs else 0


@contextlib.contextmanager
def mounted_tmpfs(store):
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={TMPFS_SIZE}", "parapet-test", store]).returncode != 0:
        machine.skip("mounting a small file system is not permitted here")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", store], check=True)


@contextlib.contextmanager
def mounted_ext4(store):
    machine.enter(False)
    image = store.parent / "image"
    machine.make_file_system(image, EXT4_SIZE)
    machine.mount(image, store)
    try:
        yield
    finally:
        machine.unmount(store)


def main():
    program, mpiexec, steps = sys.argv[1], sys.argv[2], int(sys.argv[3])
    mounted = mounted_ext4 if sys.argv[4:] == ["ext4"] else mounted_tmpfs
    with tempfile.TemporaryDirectory(prefix="parapet-full-") as folder:
        store = Path(folder) / "store"
        store.mkdir()
        with mounted(store):
            return run(program, mpiexec, steps, Path(folder))


if __name__ == "__main__":
    sys.exit(main())
