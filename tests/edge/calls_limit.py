#!/usr/bin/env python3
"""calls_limit.py PROGRAM TOOL: what is written beyond ulimit -f fails with a sentence, and ends nothing by a signal.

PROGRAM is calls_limit, which writes through the library with threads and without, TOOL the tool.
"""
import os
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile

LIMITS_KIB = (1, 10, 100, 1000)


def run(command, kib):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (kib * 1024, kib * 1024))

    # Python has it ignored, and what it starts would, too.
    return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=60, preexec_fn=limit,
                          restore_signals=True)


def make_npy(path, count):
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({count},), }}"
    head += " " * (117 - len(head)) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        file.write(os.urandom(8 * count))


def main():
    program, tool = sys.argv[1:]
    assert signal.getsignal(signal.SIGXFSZ) == signal.SIG_IGN
    folder = tempfile.mkdtemp(prefix="parapet-edge-")
    problems = 0
    try:
        make_npy(f"{folder}/a.npy", 300_000)
        for number, kib in enumerate(LIMITS_KIB):
            subprocess.run([tool, "copy", "-q", f"{folder}/a.npy", f"{folder}/whole{number}.zarr"], check=True)
            for command in ([program, f"{folder}/p{number}.zarr"],
                            [tool, "copy", "-q", f"{folder}/a.npy", f"{folder}/n{number}.zarr"],
                            [tool, "copy", "-q", f"{folder}/whole{number}.zarr", f"{folder}/o{number}.npy"]):
                done = run(command, kib)
                said = done.stderr.strip().splitlines()[-1:] or [""]
                if done.returncode <= 0 or "File too large" not in done.stderr:
                    problems += 1
                    print(f"problem: {os.path.basename(command[0])} {' '.join(command[1:2])} at {kib} KiB: ends with "
                          f"{done.returncode}: {said[0]}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{3 * len(LIMITS_KIB)} runs, {problems} problems")
    return 1 if problems else 0


sys.exit(main())
