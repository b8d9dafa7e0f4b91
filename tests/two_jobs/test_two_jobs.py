#!/usr/bin/env python3
"""Two jobs on one store, each under a launcher of its own, do something at the same time: all pairs of operations.

    test_two_jobs.py PROGRAM MPIEXEC RACES DANGEROUS KILLS STRIDE

RACES of every pair; of those that are known to be dangerous, DANGEROUS; and KILLS of every STRIDE-th ordered pair, each of a second
job that is killed at some instant and whose place is then taken. Prints a table: how often both jobs were told what. Fails if what
happened cannot be explained by one call after the other, if work is lost, or if somebody waits for ever. One process says
what is wrong: two_jobs.c. PARAPET_TEST_SEED sets the seed."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading

RANKS = 2
NAMES = ["create", "write shards", "write chunks", "resize", "attribute", "consolidate", "seal", "overwrite", "copy", "resume copy",
         "append", "open series", "commit", "restore", "gc", "check", "read", "rm"]
DANGEROUS = [("create", "create"), ("create", "overwrite"), ("write shards", "write shards"), ("write chunks", "write chunks"),
             ("write chunks", "resize"), ("write chunks", "seal"), ("write chunks", "overwrite"), ("write chunks", "gc"),
             ("resize", "read"), ("attribute", "attribute"), ("attribute", "consolidate"), ("consolidate", "append"),
             ("consolidate", "commit"), ("overwrite", "overwrite"), ("overwrite", "read"), ("copy", "copy"),
             ("resume copy", "resume copy"), ("append", "append"), ("commit", "commit"), ("commit", "gc")]
PATIENCE = 14000


class Bed:
    def __init__(self, program, launcher):
        self.command = [launcher, "-n", str(RANKS), program]
        self.seed = os.environ.get("PARAPET_TEST_SEED", "20261116")
        self.failed = False

    def start(self, folder, job, *words):
        return subprocess.Popen(self.command + [str(folder), str(job), *map(str, words)], stdout=subprocess.PIPE,
                                stdin=subprocess.DEVNULL, text=True)

    def end(self, process, is_shown=True):
        """Shows what it prints as it comes: long forms run for hours. A launcher that does not end is one failure more."""
        def give_up():
            print("a job does not end", flush=True)
            self.failed = True
            process.terminate()

        timer = threading.Timer(PATIENCE, give_up)
        timer.start()
        for line in process.stdout:
            print(line if is_shown else "", end="", flush=True)
        process.wait()
        timer.cancel()

    def race(self, *words):
        """Both jobs to their end; the first prints the lines of the table."""
        folder = pathlib.Path(tempfile.mkdtemp(prefix="parapet-two-jobs-"))
        second = self.start(folder, 1, *words)
        first = self.start(folder, 0, *words)
        self.end(first)
        if first.returncode != 0:
            second.terminate()
        self.end(second)
        self.failed = self.failed or first.returncode != 0 or second.returncode != 0
        shutil.rmtree(folder)

    def kill(self, number, pair):
        """One race in which the second job is killed. The first one judges when nothing of it is left."""
        folder = pathlib.Path(tempfile.mkdtemp(prefix="parapet-two-jobs-"))
        words = [number, self.seed, *pair, "kill"]
        first, second = self.start(folder, 0, *words), self.start(folder, 1, *words)
        self.end(second, is_shown=False)
        (folder / "gone").touch()
        self.end(first)
        self.failed = self.failed or first.returncode != 0
        shutil.rmtree(folder)


def main():
    bed = Bed(sys.argv[1], sys.argv[2])
    races, dangerous, kills, stride = map(int, sys.argv[3:7])
    print(f"seed {bed.seed}\n\n| one job | the other | told |\n|---|---|---|", flush=True)
    bed.race(races, bed.seed)
    for pair in DANGEROUS if dangerous else []:
        bed.race(dangerous, bed.seed, *map(NAMES.index, pair))
    pairs = [(first, second) for first in range(len(NAMES)) for second in range(len(NAMES))][::stride]
    for pair in pairs:
        for number in range(kills):
            bed.kill(number, pair)
        print(f"\n{kills} kills of {NAMES[pair[1]]} beside {NAMES[pair[0]]}" if kills > 1 else "", end="", flush=True)
    print(f"\n{kills} kills of each of {len(pairs)} pairs")
    return 1 if bed.failed else 0


if __name__ == "__main__":
    sys.exit(main())
