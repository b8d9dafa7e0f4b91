"""Series that are killed, one rank, all of them or the launcher: at random moments, and at the calls that change the
storage, before them and in the middle of writes; with rows of one step, rows that are kept in memory, and rows that
are staged because they are eight times memory_bytes. Every step that was acknowledged is there bit for bit, those
beyond it are whole or absent, consolidated metadata gives all arrays the same steps, the next job goes on from there
on another number of ranks, and leaves nothing behind.

    test_series_kill.py SERIES_RANKS PARAPET MPIEXEC MOMENTS CALLS SHIM [FORM]

For each form, or only that one: kills at MOMENTS random moments and at CALLS calls, spread evenly, or at "all"."""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "harness"))
from kill_bed import RANKS, Bed, call_points, count_calls, kill_somewhen, place_of_tests, run_at_call, told  # noqa: E402

FORMS = ["single", "memory", "staged"]
ARRAYS = ["u", "v", "w", "energy", "time"]
VERIFYING, CONTINUING = [1, 2, 3], [2, 3, 4]
MOST_STEPS = {"single": 300, "memory": 300, "staged": 45}  # then the series begins anew
BASE_STEPS = 3  # a series that is opened in mid-row,
CALL_STEPS = {"single": 2, "memory": 9, "staged": 9}  # flushed, filled to its end, and closed in the next row
PROGRESS_AFTER = 100


class Figures:
    def __init__(self):
        self.kills = self.calls = self.ahead = self.made_anew = 0
        self.problems = {"lost": 0, "silently wrong": 0, "inconsistent": 0, "stray": 0}

    def text(self, form, seed, bed):
        return json.dumps({"test": f"kill: series, {form}", "kills": self.kills, "calls": self.calls, **self.problems,
                           "not_acknowledged_but_there": self.ahead, "made_anew": self.made_anew, "hangs": bed.hangs,
                           "slowest_end_s": round(bed.slowest_end, 2), "seed": seed})


class Series:
    """The series of one form, what its jobs have noted, and whether the two go together."""

    def __init__(self, bed, tool, form, choose):
        self.bed, self.tool, self.form, self.choose = bed, tool, form, choose
        self.store, self.notes, self.kept = bed.folder / "store", bed.folder / "notes", bed.folder / "base"
        self.figures, self.story = Figures(), ""
        self.steps = 0  # as last seen

    def words(self, action, count):
        return [action, str(self.bed.folder), self.form, str(count)]

    def begin_anew(self):
        shutil.rmtree(self.store, ignore_errors=True)
        self.notes.unlink(missing_ok=True)
        self.steps = 0

    def add(self, kind, sentence):
        self.figures.problems[kind] += 1
        print(f"VIOLATION ({self.form}, {self.story}): {kind}: {sentence}", flush=True)

    def noted(self, word):
        """The most steps that were begun, or acknowledged; None: it did not come to that."""
        lines = self.notes.read_text().splitlines() if self.notes.exists() else []
        return max((int(line.split()[1]) for line in lines if line.startswith(word)), default=None)

    def committed(self):
        """As a reader of consolidated metadata sees it; None: there is no series yet."""
        path = self.store / "run/zarr.json"
        document = json.loads(path.read_text()) if path.exists() else {"attributes": {}}
        steps = document["attributes"].get("_parapet", {}).get("series", {}).get("steps")
        if steps is None:
            return None
        seen = {name: found["shape"][0] for name, found in document["consolidated_metadata"]["metadata"].items()}
        if seen != dict.fromkeys(ARRAYS, steps):
            self.add("inconsistent", f"{steps} steps are committed, and consolidated metadata has {seen}")
        return steps

    def check_rows(self, rows, least, most, errors):
        if [row["array"] for row in rows] != ARRAYS:
            self.add("lost", f"arrays cannot be read: {rows}: {errors}")
        for row in rows:
            if row["status"] != "PARAPET_OK" or row["steps"] < least:
                self.add("lost", f"of {least} steps: {row}: {errors}")
            elif row["wrong"] or row["steps"] > most:
                self.add("silently wrong", f"of {least} to {most} steps: {row}")

    def judge(self):
        """After a kill, before anything is put right. A single array may be ahead of the group."""
        steps, begun, acknowledged = self.committed(), self.noted("begin"), self.noted("done")
        if steps is None:
            self.steps = 0
            if acknowledged is not None:
                self.add("lost", f"{acknowledged} steps were acknowledged, and there is no series")
            return
        if steps < (acknowledged or 0):
            self.add("lost", f"{acknowledged} steps were acknowledged, and {steps} are there")
        self.figures.ahead += steps > (acknowledged or 0)
        self.steps = steps
        out, errors = self.bed.run(self.choose.choice(VERIFYING), "verify", str(self.bed.folder), self.form)
        self.check_rows(told(out), steps, begun, errors)

    def go_on(self):
        """Exactly what was committed is there for the next job."""
        count = self.choose.randint(1, 12)
        out, errors = self.bed.run(self.choose.choice(CONTINUING), *self.words("continue", count))
        made, *rows = told(out) or [None]
        expected, self.steps = self.steps + count, self.steps + count
        if made != {"made": expected} or self.committed() != expected:
            self.add("lost", f"going on by {count} steps to {expected}: {made}: {errors}")
        self.check_rows(rows, expected, expected, errors)
        self.check_strays()

    def run_tool(self, *words):
        return subprocess.run([self.tool, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def check_strays(self):
        """Logs are gone with the series that was closed; what else a kill leaves, the collector removes."""
        for name in (self.store / "run/__parapet").glob("open/*"):
            self.add("stray", f"{name} was left")
        collected = self.run_tool("gc", str(self.store))
        checked = self.run_tool("check", "--strict", str(self.store))
        for run in (collected, checked):
            if run.returncode != 0:
                self.add("stray", f"{' '.join(run.args[1:-1])}: {run.stdout}")
        for name in self.store.rglob("__parapet/**/*"):
            if name.is_file() and name.name != "lock":
                self.add("stray", f"{name} was left")
        for name in self.store.rglob("*.tmp"):
            self.add("stray", f"{name} was left")


def kill_at_moments(series, moments):
    for moment in range(moments):
        if series.steps > MOST_STEPS[series.form]:
            series.begin_anew()
            series.figures.made_anew += 1
        story = kill_somewhen(series.bed, series.choose, series.words("make", 100000))
        series.story = f"moment {moment}: {story}"
        series.figures.kills += 1
        series.judge()
        series.go_on()
        if moment % PROGRESS_AFTER == PROGRESS_AFTER - 1:
            print(f"{series.form}: {moment + 1} of {moments} moments", flush=True)


def spread(points, count):
    return points if count == "all" else points[::-(-len(points) // int(count))]


def kill_at_calls(series, shim, count):
    words = series.words("make", CALL_STEPS[series.form])
    series.begin_anew()
    out, errors = series.bed.run(RANKS, *series.words("make", BASE_STEPS))
    assert "made" in out, errors
    shutil.copytree(series.store, series.kept)
    counts = count_calls(series.bed, shim, words)
    print(f"{series.form}: calls and writes of {CALL_STEPS[series.form]} steps, by rank: {counts}", flush=True)
    points = spread(call_points(counts, 1, ["self", "all", "launcher"]), count)
    for number, point in enumerate(points):
        series.begin_anew()
        shutil.copytree(series.kept, series.store)
        series.notes.write_text(f"begin {BASE_STEPS}\ndone {BASE_STEPS}\n")
        series.story = run_at_call(series.bed, shim, point, words)
        series.figures.calls += 1
        series.judge()
        series.go_on()
        if number % PROGRESS_AFTER == PROGRESS_AFTER - 1:
            print(f"{series.form}: {number + 1} of {len(points)} calls", flush=True)


def run_form(form, program, tool, mpiexec, moments, calls, shim):
    """(figures as text, whether all is well)."""
    seed = int(os.environ.get("PARAPET_TEST_SEED", 20261115))
    with tempfile.TemporaryDirectory(prefix="parapet-kill-", dir=place_of_tests()) as folder:
        bed = Bed(program, mpiexec, Path(folder))
        series = Series(bed, tool, form, random.Random(f"{seed} {form}"))
        kill_at_moments(series, moments)
        if calls != "0":
            kill_at_calls(series, shim, calls)
        return series.figures.text(form, seed, bed), not bed.hangs and not any(series.figures.problems.values())


def main():
    program, tool, mpiexec, moments, calls, shim = sys.argv[1:7]
    results = [run_form(form, program, tool, mpiexec, int(moments), calls, shim)
               for form in sys.argv[7:] or FORMS]
    print("\n".join(text for text, _ in results))
    return 0 if all(is_well for _, is_well in results) else 1


if __name__ == "__main__":
    sys.exit(main())
