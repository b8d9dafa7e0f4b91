"""Runs a program under the launcher and kills it: one rank, all of them, or the launcher. Every rank of the program
leaves a file in FOLDER/pids that is named after its process number."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

PATIENCE = 60


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
        self.hangs, self.slowest_end = 0, 0.0
        (folder / "pids").mkdir()

    def pids(self):
        return [int(name) for name in os.listdir(self.folder / "pids")]

    def start(self, ranks, *words):
        for pid in self.pids():
            (self.folder / "pids" / str(pid)).unlink()
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
        """Whether it was killed before its end."""
        process = self.start(ranks, *words)
        time.sleep(delay)
        if process.poll() is not None:
            self.end(process, time.monotonic())
            return False
        since = time.monotonic()
        self.kill(process, how, choose)
        self.end(process, since)
        self.slowest_end = max(self.slowest_end, time.monotonic() - since)
        return True
