"""Runs a program under the launcher and kills it: one rank, all of them, or the launcher. Every rank of the program
leaves a file in FOLDER/pids that is named after its process number, and notes in FOLDER/notes what it begins. Kills
are at random moments, or at the calls that change FOLDER/store, through kill_shim.c."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

PATIENCE = 60
RANKS = 4
VICTIMS = ["one rank", "all ranks", "launcher"]
LONGEST = 0.6  # seconds from what a job begins first to its kill


def place_of_tests():
    return os.environ.get("TMPDIR") or ("/dev/shm" if os.access("/dev/shm", os.W_OK) else ".")


def told(out):
    """The lines of JSON in what a program printed: launchers print among it."""
    return [json.loads(line) for line in out.splitlines() if line.startswith("{")]


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


class Bed:
    def __init__(self, program, mpiexec, folder):
        self.program, self.mpiexec, self.folder = program, mpiexec, folder
        self.settings = {}  # environment of the ranks, and not of the launcher
        self.hangs, self.slowest_end, self.answer = 0, 0.0, ("", "")
        (folder / "pids").mkdir()

    def pids(self):
        return [int(name) for name in os.listdir(self.folder / "pids")]

    def start(self, ranks, *words):
        for pid in self.pids():
            (self.folder / "pids" / str(pid)).unlink()
        (self.folder / "watched").unlink(missing_ok=True)
        settings = ["env", *(f"{name}={value}" for name, value in self.settings.items())] if self.settings else []
        command = [self.mpiexec, "-n", str(ranks), *settings, self.program, *words]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   start_new_session=True)
        (self.folder / "launcher").write_text(str(process.pid))
        return process

    def end(self, process, since):
        """Waits until the launcher and all ranks are gone."""
        try:
            out, errors = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            out, errors = "", "the launcher hangs"
            self.hangs += 1
            process.kill()
        gone = 0
        while gone < 5:
            gone = 0 if any(map(is_alive, self.pids())) else gone + 1
            if time.monotonic() - since > PATIENCE:
                self.hangs += 1
                for pid in filter(is_alive, self.pids()):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.02)
        return out, errors

    def run(self, ranks, *words):
        out, errors = self.end(self.start(ranks, *words), time.monotonic())
        return out, errors

    def kill(self, process, how, choose):
        pids = [pid for pid in self.pids() if is_alive(pid)]
        if how == "launcher" or not pids:
            process.kill()
        else:
            for pid in [choose.choice(pids)] if how == "one rank" else pids:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass

    def interrupt(self, ranks, delay, how, choose, *words):
        """Whether it was killed before its end; otherwise self.answer is what it has printed, to both streams."""
        process = self.start(ranks, *words)
        time.sleep(delay)
        if process.poll() is not None:
            self.answer = self.end(process, time.monotonic())
            return False
        since = time.monotonic()
        self.kill(process, how, choose)
        self.end(process, since)
        self.slowest_end = max(self.slowest_end, time.monotonic() - since)
        return True


# ---- At random moments, and at calls ----


def size_of(path):
    return path.stat().st_size if path.exists() else 0


def wait_for_notes(bed, process, length):
    """Until the job has begun something; False: it has ended before."""
    while process.poll() is None:
        if size_of(bed.folder / "notes") > length:
            return True
        time.sleep(0.002)
    return False


def kill_somewhen(bed, choose, words):
    """Lets a job that goes on for ever work for a moment, and kills it."""
    length = size_of(bed.folder / "notes")
    process = bed.start(RANKS, *words)
    has_begun = wait_for_notes(bed, process, length)
    delay, how = choose.uniform(0, LONGEST), choose.choice(VICTIMS)
    time.sleep(delay)
    since = time.monotonic()
    bed.kill(process, how, choose)
    out, errors = bed.end(process, since)
    bed.slowest_end = max(bed.slowest_end, time.monotonic() - since)
    assert has_begun, f"the job came to nothing: {errors}"
    return f"{how} after {delay:.3f} s"


def shim_settings(bed, shim, rank, at, is_torn, victim):
    return {"LD_PRELOAD": shim, "PARAPET_SHIM_FOLDER": bed.folder, "PARAPET_SHIM_RANK": rank,
            "PARAPET_SHIM_KILL": at, "PARAPET_SHIM_TORN": int(is_torn), "PARAPET_SHIM_VICTIM": victim}


def count_calls(bed, shim, words):
    """Of each rank, in a run that is not killed: (calls, writes)."""
    bed.settings = shim_settings(bed, shim, 0, -1, False, "self")
    _, errors = bed.run(RANKS, *words)
    bed.settings = {}
    counts = []
    for rank in range(RANKS):
        report = dict(line.split(maxsplit=1) for line in (bed.folder / f"report.{rank}").read_text().splitlines())
        counts.append((int(report["calls"]), int(report["writes"])))
    assert sum(calls for calls, _ in counts) > 0, errors
    return counts


def call_points(counts, stride, victims):
    """(rank, number, is_torn, victim): every stride-th of all."""
    points = []
    for victim in victims:
        for is_torn in (False, True):
            for rank, (calls, writes) in enumerate(counts):
                points += [(rank, at, is_torn, victim) for at in range(writes if is_torn else calls)]
    return points[::stride]


def run_at_call(bed, shim, point, words):
    bed.settings = shim_settings(bed, shim, *point)
    bed.end(bed.start(RANKS, *words), time.monotonic())
    bed.settings = {}
    rank, at, is_torn, victim = point
    return f"{victim}, at {'write' if is_torn else 'call'} {at} of rank {rank}{', torn' if is_torn else ''}"
