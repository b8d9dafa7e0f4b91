"""Appends that are killed, one rank or the launcher: at the calls that change the storage, before them and in the middle
of writes, and at random moments. In between, every array that a reader opens has the old or a new length and all its
values, and consolidated metadata, if there is any, gives all arrays the same length. An append that is not complete is
told, and nothing builds on it. The same command then completes, in half of the cases after the collector has put it
right, on another number of ranks, to what it makes when nothing is killed. Jobs beside an append that is stopped in its
midst are told that the target is busy.

    test_append_kill.py PARAPET MPIEXEC MAKE_PART CALLS MOMENTS SHIM

Kills at CALLS calls, spread evenly, or at "all", and at MOMENTS random moments."""

import json
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "harness"))
import kill_bed  # noqa: E402
from kill_bed import Bed, call_points, count_calls, place_of_tests, run_at_call  # noqa: E402

WIDTH = 40
PARTS = [(0, 30), (30, 25), (55, 60)]
LENGTHS = {first + steps for first, steps in PARTS}
AFTERWARDS = [1, 2, 3]
GROWING = ["t", "time"]


class Appending:
    def __init__(self, bed, tool, make_part, choose):
        self.bed, self.tool, self.choose = bed, tool, choose
        self.store, self.kept, self.reference = (bed.folder / name for name in ("store", "kept", "reference"))
        self.kills = self.unfinished = self.completed = self.undone = self.collected = 0
        self.is_consolidated = True
        for first, steps in PARTS:
            subprocess.run([make_part, str(first), str(steps), "hours", str(WIDTH)], cwd=bed.folder, check=True)
        self.parts = [str(bed.folder / f"part-{first:02}.nc") for first, _ in PARTS]
        self.run("append", "-q", "-c", "8,16", "-s", "16,32", self.parts[0], str(self.store))
        self.run("consolidate", str(self.store))
        shutil.copytree(self.store, self.kept)
        self.words = ["append", *self.parts[1:], str(self.store)]
        self.run(*self.words)
        self.store.rename(self.reference)

    def run(self, *words):
        done = subprocess.run([self.tool, *words], capture_output=True)
        assert done.returncode == 0, f"parapet {' '.join(words)}: {done.stderr.decode()}"
        return done.stdout

    def begin_anew(self):
        """In turn with consolidated metadata and without."""
        shutil.rmtree(self.store, ignore_errors=True)
        shutil.copytree(self.kept, self.store)
        self.is_consolidated = not self.is_consolidated
        if not self.is_consolidated:
            group = json.loads((self.store / "zarr.json").read_text())
            del group["consolidated_metadata"]
            (self.store / "zarr.json").write_text(json.dumps(group))

    def values(self, name, length):
        width = WIDTH if name == "t" else 1
        data = self.run("dump", "--format", "binary", str(self.store / name))
        assert data == struct.pack(f"<{width * length}i", *range(width * length)), f"{name} has other values"

    def look(self):
        """As readers see it while nobody repairs anything; returns whether there is something to repair."""
        is_unfinished = (self.store / "__parapet/change").exists()
        group = json.loads((self.store / "zarr.json").read_text())
        shown = group.get("consolidated_metadata", {}).get("metadata", {})
        lengths = {name: json.loads((self.store / name / "zarr.json").read_text())["shape"][0] for name in GROWING}
        for name, length in lengths.items():
            assert length in LENGTHS, f"{name} has the length {length}"
            self.values(name, length)
        seen = {shown[name]["shape"][0] for name in GROWING} if shown else set(lengths.values())
        assert len(seen) == 1 or (is_unfinished and not shown), f"readers are shown {seen}"
        return is_unfinished

    def refused(self, word, *words):
        done = subprocess.run([self.tool, *words], capture_output=True, text=True)
        assert done.returncode == 1 and word in done.stderr, f"parapet {' '.join(words)}: {done.stderr}"

    def leave_unfinished(self):
        """Everybody is told, and nothing builds on it."""
        store, copy = str(self.store), str(self.bed.folder / "copy")
        self.unfinished += 1
        told = subprocess.run([self.tool, "ls", store], capture_output=True, text=True).stderr
        assert "unfinished append" in told, f"ls says nothing of it: {told}"
        assert subprocess.run([self.tool, "check", store], capture_output=True).returncode == 3, "check calls it sound"
        self.refused("was interrupted", "consolidate", store)
        self.refused("was interrupted", "copy", "-q", store, copy)

    def beside(self):
        """An append that is under way is no damage, and nothing to be put right."""
        store = str(self.store)
        for words in (["check", store], ["check", str(self.store / "t")], ["ls", store], ["info", str(self.store / "t")]):
            done = subprocess.run([self.tool, *words], capture_output=True, text=True)
            said = f"parapet {' '.join(words)}: {done.returncode} {done.stdout}{done.stderr}"
            assert done.returncode == 0 and "another job is appending to it" in done.stderr, said
        self.refused("appending", "gc", "-n", store)

    def collect(self):
        """Without a source: all arrays are longer, or none is."""
        self.run("gc", str(self.store))
        self.collected += 1
        assert not self.look(), "the collector has left it"

    def keys(self, store):
        return sorted(str(path.relative_to(store)) for path in store.rglob("*")
                      if path.is_file() and path.name != "lock")

    def complete(self):
        out, errors = self.bed.run(self.choose.choice(AFTERWARDS), *self.words)
        lines = [line for line in out.splitlines() if line.startswith(str(self.bed.folder))]
        assert len(lines) == len(self.parts) - 1, f"it was not completed: {out}{errors}"
        self.completed += "is complete now" in errors
        self.undone += "is removed" in errors
        self.run("diff", str(self.reference), str(self.store))
        self.run("gc", str(self.store))  # temporary objects, as after every kill
        self.run("check", "--strict", str(self.store))
        assert self.keys(self.store) == self.keys(self.reference), "other files"
        if self.is_consolidated:
            assert (self.store / "zarr.json").read_bytes() == (self.reference / "zarr.json").read_bytes(), "other metadata"

    def survive(self, story):
        self.kills += 1
        try:
            if self.look():
                self.leave_unfinished()
                if self.kills % 2 == 0:
                    self.collect()
            self.complete()
        except AssertionError as problem:
            print(f"VIOLATION ({story}): {problem}", flush=True)
            return False
        return True


def stop_in_the_midst(work):
    """An append that is stopped while its mark is there; None: it was too fast."""
    work.begin_anew()
    process = subprocess.Popen([work.tool, *work.words],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    mark = work.store / "__parapet/change"
    while process.poll() is None and not mark.exists():
        time.sleep(0.0002)
    if process.poll() is None:
        os.kill(process.pid, signal.SIGSTOP)
        if mark.exists():
            return process
        os.kill(process.pid, signal.SIGCONT)
    process.communicate()
    return None


def meet(work):
    """Two appends at the same time: the second is refused, and the first ends as if it had been alone."""
    for _ in range(50):
        process = stop_in_the_midst(work)
        if process is not None:
            for words in (work.words, ["consolidate", str(work.store)], ["gc", str(work.store)],
                          ["rm", "-q", str(work.store / "t")], ["copy", "-q", str(work.store), str(work.bed.folder / "no")]):
                work.refused("appending", *words)
            work.beside()
            os.kill(process.pid, signal.SIGCONT)
            assert process.wait() == 0, process.stderr.read()
            work.complete()
            return
    raise AssertionError("no append could be stopped in its midst")


def kill_at_calls(work, shim, wanted):
    kill_bed.RANKS = 2
    work.begin_anew()
    points = call_points(count_calls(work.bed, shim, work.words), 1, ["self", "launcher"])
    stride = 1 if wanted == "all" else max(1, len(points) // int(wanted)) if int(wanted) else len(points) + 1
    good = 0
    for point in points[::stride] if wanted != "0" else []:
        work.begin_anew()
        good += work.survive(run_at_call(work.bed, shim, point, work.words))
    return good


def kill_somewhen(work, wanted):
    work.begin_anew()
    start = time.monotonic()
    work.bed.run(2, *work.words)
    seconds = time.monotonic() - start
    good = 0
    for _ in range(wanted):
        work.begin_anew()
        delay = work.choose.uniform(0, seconds)
        work.bed.interrupt(2, delay, "launcher", work.choose, *work.words)
        good += work.survive(f"launcher after {delay:.3f} s")
    return good


def main():
    tool, mpiexec, make_part, calls, moments, shim = sys.argv[1:]
    seed = int(os.environ.get("PARAPET_SEED", random.randrange(2**32)))
    folder = Path(tempfile.mkdtemp(prefix="parapet-append-", dir=place_of_tests()))
    try:
        bed = Bed(tool, mpiexec, folder)
        work = Appending(bed, tool, make_part, random.Random(seed))
        meet(work)
        good = (kill_at_calls(work, shim, calls) if shim != "none" else 0) + kill_somewhen(work, int(moments))
        print(json.dumps({"test": "kill: append", "kills": work.kills, "violations": work.kills - good,
                          "left_unfinished": work.unfinished, "completed": work.completed, "undone": work.undone,
                          "collected": work.collected,
                          "hangs": bed.hangs, "seed": seed}))
        return 0 if good == work.kills and not bed.hangs else 1
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())
