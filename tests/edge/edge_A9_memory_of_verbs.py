#!/usr/bin/env python3
"""Verbs that read elements keep to --max-mem: what they take beyond what the tool takes to look at the same array."""
import os
import subprocess
import tempfile

import peers
from peers import numpy, zarr

SLACK = 3 << 20

# The peak of a process counts that of the program it was before: the parent is a small one.
MEASURE = """
import os, sys
pid = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, '/dev/null', os.O_WRONLY, 0)])
_, status, usage = os.wait4(pid, 0)
open(sys.argv[1], 'w').write(f'{usage.ru_maxrss << 10} {os.waitstatus_to_exitcode(status)}')
"""


def peak(folder, *words):
    """Of resident memory, the exit code and the error message."""
    tool = os.path.abspath(peers.TOOL)
    done = subprocess.run(["/usr/bin/python3", "-I", "-S", "-c", MEASURE, f"{folder}/peak", tool, *map(str, words)],
                          stderr=subprocess.PIPE, text=True, check=True)
    with open(f"{folder}/peak", encoding="ascii") as file:
        taken, code = map(int, file.read().split())
    return taken, code, done.stderr


def main():
    with tempfile.TemporaryDirectory(prefix="parapet-edge-") as folder:
        path = f"{folder}/a.zarr"
        array = zarr.create_array(path, shape=(48, 512, 512), chunks=(1, 512, 512), shards=(8, 512, 512), dtype="f4")
        for start in range(0, 48, 8):
            array[start:start + 8] = numpy.random.default_rng(start).random((8, 512, 512), "f4")
        least, _, _ = peak(folder, "info", path)
        for limit, *words in ((8, "stats", path), (8, "dump", "--format", "csv", "--region", "0:12,:,:", path),
                              (16, "diff", "--quiet", path, path)):
            taken, code, text = peak(folder, *words, "--max-mem", f"{limit}MiB")
            print(f"{words[0]}: {(taken - least) / 2**20:.1f} MiB beyond info, of {limit}")
            peers.expect(f"{words}: {code} {text}", code == 0)
            peers.expect(f"{words}: {taken - least} bytes", taken - least <= (limit << 20) + SLACK)


main()
raise SystemExit(1 if peers.problems else 0)
