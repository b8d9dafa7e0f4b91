"""The heat equation of examples/07_heat_restart.c, killed at random moments and restarted on other numbers of ranks
until it is done: the final field, the checkpoint and the series are bit for bit those of an uninterrupted run.

    test_heat_restart.py HEAT PARAPET MPIEXEC RUNS [SEED]

Exit code 77: zarr-python and xarray are not there; scripts/setup --peers installs them.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STEPS, GRID, CHECKPOINT_EVERY, MAP_EVERY = 60, 48, 3, 1
SECONDS_PER_STEP = 0.1
RANKS, RESTARTING = 4, [1, 2, 3, 7]
KILLS_MOST = 6  # of one run; then it is left alone
PATIENCE = 120


def enter_python():
    """Starts again under the Python that has the other readers."""
    python = Path(os.environ.get("PARAPET_VENV", ROOT / "build/venv")) / "bin/python3"
    if os.environ.get("PARAPET_INTEROP_PYTHON") == str(python):
        return
    if not python.exists():
        print(f"there is no {python}; scripts/setup --peers installs zarr-python and xarray")
        sys.exit(77)
    os.environ["PARAPET_INTEROP_PYTHON"] = str(python)
    os.execv(python, [str(python), *sys.argv])


class Bed:
    def __init__(self, program, tool, mpiexec, folder):
        self.program, self.tool, self.mpiexec, self.folder = os.path.realpath(program), tool, mpiexec, folder
        self.stuck_launchers = 0
        self.seconds = 0.0  # that a run takes, where other work does not delay it

    def ranks_of(self, store):
        """Processes that run the program on this store: not the launcher, and nobody else's."""
        pids = []
        for place in Path("/proc").glob("[0-9]*"):
            try:
                words = (place / "cmdline").read_bytes().split(b"\0")
                if os.readlink(place / "exe") == self.program and os.fsencode(store) in words:
                    pids.append(int(place.name))
            except OSError:
                pass
        return pids

    def start(self, ranks, store):
        words = [str(number) for number in (STEPS, GRID, CHECKPOINT_EVERY, MAP_EVERY)]
        command = [self.mpiexec, "-n", str(ranks), self.program, str(store), *words]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                start_new_session=True)

    def end(self, process, store):
        """Waits until the launcher and all ranks are gone: two jobs at once would be another test."""
        since = time.monotonic()
        try:
            out, errors = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            assert not self.ranks_of(store), "ranks do not end"
            process.kill()  # seen with Open MPI, cause not known: all ranks are gone, mpiexec is not
            out, errors = process.communicate()
            self.stuck_launchers += 1
        gone = 0
        while gone < 5:  # a launcher that is killed at once may still have ranks on their way
            gone = 0 if self.ranks_of(store) else gone + 1
            assert time.monotonic() - since < 2 * PATIENCE, "ranks do not end"
            time.sleep(0.02)
        return out, errors

    def finish(self, ranks, store):
        """Runs to the end; returns the checksum."""
        process = self.start(ranks, store)
        out, errors = self.end(process, store)
        assert process.returncode == 0, f"exit code {process.returncode} on {ranks} ranks: {errors}"
        assert out.startswith(f"step {STEPS}, checksum "), out
        return out.split()[-1]

    def interrupt(self, ranks, store, delay, how, choose):
        """Whether it was killed before its end."""
        process, since = self.start(ranks, store), time.monotonic()
        while process.poll() is None and time.monotonic() - since < delay:
            time.sleep(0.005)
        if process.poll() is not None:
            self.seconds = min(self.seconds, time.monotonic() - since)
            _, errors = self.end(process, store)
            assert process.returncode == 0, f"exit code {process.returncode} on {ranks} ranks: {errors}"
            return False
        pids = self.ranks_of(store)
        if how == "one rank":
            pids = [choose.choice(pids)] if pids else []
        for pid in [process.pid] if how == "launcher" or not pids else pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.end(process, store)
        return True


def newest_generation(store):
    """(number, folder) of the checkpoint with the newest commit record; how many there are."""
    records = sorted((store / "restart/__parapet/commits").iterdir())
    lines = dict(line.split(" ", 1) for line in records[-1].read_text().splitlines() if not line.startswith("array"))
    return int(lines["generation"]), store / "restart" / lines["group"], len(records)


class Outcome:
    """What a finished run has left, as zarr-python and xarray see it."""

    def __init__(self, store, checksum):
        import xarray
        import zarr

        self.checksum = checksum
        self.generation, folder, self.generations = newest_generation(store)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            group = zarr.open_group(folder, mode="r", zarr_format=3)
            self.step, self.field = group.attrs["step"], group["temperature"][...]
            with xarray.open_zarr(store / "history") as dated:
                self.first_time, self.title = str(dated.time.values[0])[:10], dated.attrs["title"]
            with xarray.open_zarr(store / "history", decode_times=False) as maps:
                self.times, self.maps = maps.time.values, maps.temperature.values

    def check_itself(self):
        assert self.step == STEPS, f"the newest checkpoint is of step {self.step}"
        assert self.generations == 2, f"{self.generations} generations are kept"
        assert self.first_time == "2000-01-01" and self.title == "heat in a plate", "attributes are lost"
        expected = [step * SECONDS_PER_STEP for step in range(0, STEPS + 1, MAP_EVERY)]
        assert list(self.times) == expected, f"{len(self.times)} times in the series, not each of {len(expected)} once"

    def check_same(self, other):
        assert self.checksum == other.checksum, f"the checksum is {self.checksum}, not {other.checksum}"
        assert self.field.tobytes() == other.field.tobytes(), "the checkpoint differs"
        assert self.maps.shape == other.maps.shape, f"the maps are {self.maps.shape}, not {other.maps.shape}"
        assert self.maps.tobytes() == other.maps.tobytes(), "a map of the series differs"


def run_tool(bed, *words):
    done = subprocess.run([bed.tool, *map(str, words)], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, f"parapet {words[0]}: exit code {done.returncode}: {done.stdout}{done.stderr}"


def run_once(bed, reference, choose, figures):
    store = bed.folder / "run.zarr"
    shutil.rmtree(store, ignore_errors=True)
    ranks = RANKS
    for _ in range(KILLS_MOST):
        how = choose.choice(["one rank", "all ranks", "launcher"])
        delay = choose.uniform(0.05, 0.8 * bed.seconds)
        figures["story"].append(f"{how} of {ranks} after {delay:.2f} s")
        if not bed.interrupt(ranks, store, delay, how, choose):
            break
        figures["kills"] += 1
        ranks = choose.choice(RESTARTING)
    figures["story"].append(f"finished on {ranks}")
    outcome = Outcome(store, bed.finish(ranks, store))
    outcome.check_itself()
    outcome.check_same(reference)
    run_tool(bed, "gc", store)
    run_tool(bed, "check", store)


def main():
    enter_python()
    program, tool, mpiexec, runs = *sys.argv[1:4], int(sys.argv[4])
    seed = int(sys.argv[5]) if len(sys.argv) > 5 else int(os.environ.get("PARAPET_TEST_SEED", 20261115))
    choose, violations, figures = random.Random(seed), 0, {"kills": 0}
    print(f"seed {seed}", flush=True)
    place = os.environ.get("TMPDIR") or ("/dev/shm" if os.access("/dev/shm", os.W_OK) else ".")
    with tempfile.TemporaryDirectory(prefix="parapet-heat-", dir=place) as folder:
        bed = Bed(program, tool, mpiexec, Path(folder))
        since = time.monotonic()
        checksum = bed.finish(RANKS, bed.folder / "reference.zarr")
        bed.seconds = seconds = time.monotonic() - since
        reference = Outcome(bed.folder / "reference.zarr", checksum)
        reference.check_itself()
        run = 0
        while run < runs or (figures["kills"] < runs and run < 10 * runs):  # it may end before it is killed
            figures["story"] = []
            try:
                run_once(bed, reference, choose, figures)
            except (AssertionError, subprocess.TimeoutExpired) as failure:
                violations += 1
                print(f"VIOLATION in run {run} ({'; '.join(figures['story'])}): {failure}", flush=True)
            run += 1
    print(f"{run} runs of {STEPS} steps (uninterrupted: {seconds:.2f} s), {figures['kills']} kills; "
          f"{violations} violations, {bed.stuck_launchers} launchers stuck without ranks")
    return 1 if violations or figures["kills"] == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
