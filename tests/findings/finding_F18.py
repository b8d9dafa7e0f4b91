#!/usr/bin/env python3
"""A rank that stops before parapet_store_open, and never goes on, is missed by the others.

    finding_F18.py PROGRAM
"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

RANKS, PATIENCE_S = 3, 120


def end(processes):
    for process in processes:
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            pass


def main():
    folder = tempfile.mkdtemp()
    run = subprocess.Popen([os.environ["MPIEXEC"], "-n", str(RANKS), sys.argv[1], folder + "/s.zarr"],
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    processes, answers = [], []
    patience = threading.Timer(PATIENCE_S, lambda: end(processes))
    patience.start()
    for line in run.stdout:
        print(line, end="")
        words = line.split()
        if words[:1] == ["process"]:
            processes.append(int(words[1]))
        if words[:1] == ["rank"]:
            answers.append((words[2], line))
        if len(answers) == RANKS - 1:
            end(processes)
    patience.cancel()
    run.wait()
    shutil.rmtree(folder, ignore_errors=True)
    is_right = len(answers) == RANKS - 1 and all(
        status == "PARAPET_ERR_TIMEOUT" and "deadline_seconds" in line for status, line in answers)
    return 0 if is_right else 1


sys.exit(main())
