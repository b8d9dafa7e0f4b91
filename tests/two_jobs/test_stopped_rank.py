#!/usr/bin/env python3
"""Rank 0 of a job is killed, with its launcher, while rank 1 is stopped in the middle of publishing. What rank 0 held is free,
but the next job may not enter: rank 1 would publish beside it. It is told so until rank 1 is gone; from then on nothing of
the old job appears.

    test_stopped_rank.py PROGRAM MPIEXEC"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PROGRAM, MPIEXEC = sys.argv[1:3]
PATIENCE = 120


def state_of(pid):
    """One letter, or None: it is gone."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return None


def parent_of(pid):
    return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])


def wait_for(what, is_true):
    end = time.monotonic() + PATIENCE
    while not is_true():
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.01)


def is_gone(pid):
    return state_of(pid) in (None, "Z")


def act(folder, *words):
    settings = {**os.environ, "PARAPET_WAIT_SECONDS": "1"}
    done = subprocess.run([PROGRAM, folder, *words], capture_output=True, text=True, timeout=PATIENCE, check=False, env=settings)
    return done.stdout


def stop_in_the_middle(folder):
    """The number of the rank that is left, stopped."""
    settings = {**os.environ, "PARAPET_DEADLINE_SECONDS": "2"}  # by a clock on which no time passes until rank 1 goes on
    launcher = subprocess.Popen([MPIEXEC, "-n", "2", PROGRAM, folder, "stop", "2"], env=settings, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for("a rank that stops", (folder / "stopped").exists)
    leader, stopped = [int((folder / f"pid.{rank}").read_text()) for rank in (0, 1)]
    wait_for("a rank that is stopped", lambda: state_of(stopped) == "T")
    # From the nearest to the farthest: one that is left alive would end the rank that is to stay.
    for pid in dict.fromkeys((parent_of(stopped), launcher.pid, leader)):
        os.kill(pid, signal.SIGKILL)
    launcher.wait()
    wait_for("the end of rank 0", lambda: is_gone(leader))
    wait_for("a rank that has stopped again", lambda: state_of(stopped) == "T")
    return stopped


def run(folder, last_signal):
    act(folder, "make")
    stopped = stop_in_the_middle(folder)
    try:
        before = act(folder, "read")
        told = act(folder, "write", "3")
        assert told.startswith("PARAPET_ERR_BUSY"), f"while rank 1 is stopped: {told}"
        assert act(folder, "read") == before, "who is refused has changed something"
    finally:
        (folder / "go on").touch()
        os.kill(stopped, last_signal)
    wait_for("the end of rank 1", lambda: is_gone(stopped))
    told = act(folder, "write", "3")
    assert told.startswith("PARAPET_OK"), f"after rank 1 has gone: {told}"
    values = act(folder, "read")
    assert values.startswith("3 3 3 3 PARAPET_OK"), f"what is left: {values}"


def main():
    for last_signal in (signal.SIGCONT, signal.SIGKILL):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="parapet-stopped-"))
        try:
            run(folder, last_signal)
        finally:
            shutil.rmtree(folder)
    return 0


sys.exit(main())
