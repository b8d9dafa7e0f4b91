"""SIGTERM and SIGINT to `parapet copy`, alone and under the launcher: it ends with the exit code of the signal
and prints the command that goes on with the copy; that command, as it was printed, completes it.

    test_copy_signal.py PARAPET COPY_RANKS MPIEXEC MOMENTS [SEED]
"""

import os
import random
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import copy_files

OPTIONS = ["--max-mem", "8MiB", "--unit", "256KiB", "--no-probe", "-c", "32,16,32", "--shards", "64,64,128",
           "--codec", "zstd:9"]
signal.signal(signal.SIGINT, signal.default_int_handler)  # a script's `command &` ignores it
PATIENCE_S = 120
# Of the long form alone, on a machine without other work. A batch system gives 30.
SECONDS_MOST, JUDGED_MOMENTS = 3, 100
MORE_MOMENTS = 10  # at most, if no signal came in time


def ranks_below(pid):
    """Processes of the tool among the descendants of a process, in the order of their numbers."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, rest = path.read_text().split("(", 1)[1].rsplit(")", 1)
        except (FileNotFoundError, ProcessLookupError):
            continue
        parents[int(path.parent.name)] = (int(rest.split()[1]), name)
    found = []
    for process, (parent, name) in parents.items():
        while parent in parents and parent != pid:
            parent = parents[parent][0]
        if parent == pid and name == "parapet":
            found.append(process)
    return sorted(found)


class Bed:
    def __init__(self, tool, mpiexec, folder):
        self.mpiexec, self.folder = mpiexec, folder
        (folder / "bin").mkdir()
        (folder / "bin/parapet").symlink_to(Path(tool).resolve())
        launcher = folder / "bin/mpiexec"  # no link: a launcher may look for its parts beside itself
        launcher.write_text(f'#!/bin/sh\nexec {shutil.which(mpiexec)} "$@"\n')
        launcher.chmod(0o755)
        version = subprocess.run([mpiexec, "--version"], capture_output=True, text=True, check=False).stdout
        # Open MPI's launcher, told to end, ends with 1 and passes nothing on that its ranks still say.
        self.is_launcher_silent = "Open MPI" in version or "OpenRTE" in version
        self.environment = dict(os.environ, PATH=f"{folder / 'bin'}:{os.environ['PATH']}")

    def start(self, ranks, target):
        command = ["parapet", "copy", *OPTIONS, "source/a", target]
        if ranks > 1:
            command = ["mpiexec", "-n", str(ranks), *command]
        return subprocess.Popen(command, cwd=self.folder, env=self.environment, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, start_new_session=True)

    def seconds(self, ranks, target):
        start = time.monotonic()
        process = self.start(ranks, target)
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
        return time.monotonic() - start


def send(process, ranks, whom, number, choose):
    targets = [process.pid]
    if ranks > 1 and whom != "the launcher":
        found = ranks_below(process.pid)
        targets = found if whom == "all ranks" else [choose.choice(found)] if found else []
    for pid in targets:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass
    return bool(targets)


def resume_command(errors):
    lines = errors.splitlines()
    at = next((i for i, line in enumerate(lines) if "resume with:" in line), None)
    assert at is not None, f"no command is printed: {errors!r}"
    return lines[at + 1].strip()


def run_moment(bed, wanted, ranks, seconds, choose, figures):
    """Sends a signal; True: it came in time, and all was as promised."""
    shutil.rmtree(bed.folder / "target.zarr", ignore_errors=True)
    number = choose.choice([signal.SIGTERM, signal.SIGTERM, signal.SIGINT])
    whom = choose.choice(["the launcher", "all ranks", "one rank"]) if ranks > 1 else "the process"
    delay = choose.uniform(0, 0.6) * seconds
    figures["story"] = f"{number.name} to {whom} of {ranks}, {delay:.2f} s after it began"
    process = bed.start(ranks, "target.zarr/a")
    while process.poll() is None and not (bed.folder / "target.zarr/a/__parapet/copy/job").exists():
        time.sleep(0.001)
    time.sleep(delay)
    if process.poll() is not None or not send(process, ranks, whom, number, choose):
        process.communicate()
        return False
    start = time.monotonic()
    try:
        _, errors = process.communicate(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        figures["hangs"] += 1
        process.kill()
        raise AssertionError(f"it did not end within {PATIENCE_S} s") from None
    took = time.monotonic() - start
    if process.returncode == 0:
        return False
    figures["slowest"] = max(figures["slowest"], took)
    assert took < SECONDS_MOST or not figures["is_judged"], f"it took {took:.1f} s to end"
    if whom == "the launcher" and bed.is_launcher_silent:
        if copy_files.difference(wanted, copy_files.stored(bed.folder / "target.zarr")) is None:
            return False  # it gave its ranks time enough
        command = shlex.join(["mpiexec", "-n", str(ranks), "parapet", "copy", "--resume", *OPTIONS, "source/a",
                              "target.zarr/a"])
    else:
        assert process.returncode == 128 + number, f"exit code {process.returncode}: {errors}"
        command = resume_command(errors)
    done = subprocess.run(command, shell=True, cwd=bed.folder, env=bed.environment, capture_output=True, text=True,
                          timeout=120)
    assert done.returncode == 0, f"{command}: exit code {done.returncode}: {done.stderr}"
    figures["resumed"] += "resumed" in done.stdout
    problem = copy_files.difference(wanted, copy_files.stored(bed.folder / "target.zarr"))
    assert problem is None, problem
    return True


def main():
    tool, copy_ranks, mpiexec, moments = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
    seed = int(sys.argv[5]) if len(sys.argv) > 5 else int(os.environ.get("PARAPET_TEST_SEED", 20261115))
    choose, violations, signals = random.Random(seed), 0, 0
    figures = {"hangs": 0, "slowest": 0.0, "resumed": 0, "is_judged": moments >= JUDGED_MOMENTS}
    print(f"seed {seed}", flush=True)
    place = os.environ.get("TMPDIR") or ("/dev/shm" if os.access("/dev/shm", os.W_OK) else ".")
    with tempfile.TemporaryDirectory(prefix="parapet-signal-", dir=place) as folder:
        bed = Bed(tool, mpiexec, Path(folder))
        (bed.folder / "pids").mkdir()
        subprocess.run([mpiexec, "-n", "1", copy_ranks, "make", folder], check=True, timeout=120)
        seconds = {ranks: bed.seconds(ranks, f"reference{ranks}.zarr/a") for ranks in (1, 4)}
        wanted = copy_files.stored(bed.folder / "reference1.zarr")
        assert copy_files.difference(wanted, copy_files.stored(bed.folder / "reference4.zarr")) is None
        for moment in range(moments + MORE_MOMENTS):
            if moment >= moments and (signals > 0 or violations > 0):
                break
            ranks = (1, 4)[moment % 2]
            try:
                most = seconds[ranks] if moment < moments else 0
                signals += run_moment(bed, wanted, ranks, most, choose, figures)
            except AssertionError as failure:
                violations += 1
                print(f"VIOLATION at moment {moment} ({figures['story']}): {failure}", flush=True)
    print(f"{moments} moments, {signals} interrupted, {figures['resumed']} with work done before, slowest end "
          f"{figures['slowest']:.2f} s; {violations} violations, {figures['hangs']} hangs")
    if moments >= 4 and signals == 0:
        print("no signal came in time")
        return 1
    return 1 if violations or figures["hangs"] else 0


if __name__ == "__main__":
    sys.exit(main())
