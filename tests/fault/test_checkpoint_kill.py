"""Checkpoints that are killed, one rank, all of them or the launcher: at random moments, and at the calls that change
the storage, before them and in the middle of writes. What was acknowledged is restored on other numbers of ranks, bit
for bit; the checkpoint in the making is absent or whole.

    test_checkpoint_kill.py CHECKPOINT_RANKS MPIEXEC MOMENTS STRIDE SHIM [HDF5_RANKS]

Kills at MOMENTS random moments and at every STRIDE-th call (0: none). With HDF5_RANKS, parallel HDF5 is treated in the
same way, and its figures are printed beside ours.
"""

import json
import os
import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "harness"))
from checkpoint_ledger import Base, Ledger  # noqa: E402
from kill_bed import RANKS, Bed, call_points, count_calls, kill_somewhen, place_of_tests, run_at_call, told  # noqa: E402

COLLECTED_AFTER = 10
PROGRESS_AFTER = 100


class Figures:
    def __init__(self, name):
        self.name, self.kills, self.calls, self.old, self.new = name, 0, 0, 0, 0
        self.problems = {"lost": 0, "silently wrong": 0}

    def add(self, kind, sentence, story):
        self.problems[kind] = self.problems.get(kind, 0) + 1
        if self.name == "parapet":
            print(f"VIOLATION ({story}): {kind}: {sentence}", flush=True)

    def text(self, seed, hangs):
        return json.dumps({"test": f"kill: {self.name}", "kills": self.kills, "calls": self.calls, **self.problems,
                           "restored_old": self.old, "restored_new": self.new, "hangs": hangs, "seed": seed})


# ---- Ours ----


def judge(ledger, choose, figures, story):
    """What is restored; then a job goes on with it."""
    acknowledged = ledger.known[-1] if ledger.known else None
    for kind, sentence in ledger.verify(choose):
        figures.add(kind, sentence, story)
    figures.old += ledger.known[-1] == acknowledged
    figures.new += ledger.known[-1] != acknowledged


def go_on(ledger, choose, figures, story):
    out, errors = ledger.bed.run(choose.choice([2, 4]), "make", str(ledger.bed.folder), ledger.next_tag(), "1")
    if "PARAPET_OK" not in out:
        figures.add("lost", f"the next checkpoint failed: {errors}", story)
    judge(ledger, choose, figures, story + ", after the next checkpoint")
    for name in ledger.strays():
        figures.add("stray", f"{name} was left", story)


def kill_ours(ledger, moments, choose, figures):
    for moment in range(moments):
        words = ["make", str(ledger.bed.folder), ledger.next_tag(100000), "100000"]
        story = f"moment {moment}: " + kill_somewhen(ledger.bed, choose, words)
        figures.kills += 1
        ledger.read()
        judge(ledger, choose, figures, story)
        if moment % COLLECTED_AFTER == COLLECTED_AFTER - 1:
            go_on(ledger, choose, figures, story)
        if moment % PROGRESS_AFTER == PROGRESS_AFTER - 1:
            print(f"{moment + 1} of {moments} moments", flush=True)


def kill_ours_at_calls(ledger, base, shim, stride, choose, figures):
    words = ["make", str(ledger.bed.folder), ledger.next_tag(), "1"]
    base.restore()
    counts = count_calls(ledger.bed, shim, words)
    print(f"calls and writes of one checkpoint, by rank: {counts}", flush=True)
    points = call_points(counts, stride, ["self", "all", "launcher"])
    for number, point in enumerate(points):
        base.restore()
        story = run_at_call(ledger.bed, shim, point, words)
        figures.calls += 1
        ledger.read()
        judge(ledger, choose, figures, story)
        if number % COLLECTED_AFTER == 0:
            go_on(ledger, choose, figures, story)
        if number % PROGRESS_AFTER == PROGRESS_AFTER - 1:
            print(f"{number + 1} of {len(points)} calls", flush=True)


# ---- Parallel HDF5 ----


class Hdf5:
    def __init__(self, bed, mode):
        self.bed, self.mode, self.tag = bed, mode, 0
        (bed.folder / "store").mkdir(exist_ok=True)

    def words(self, count, mode=None):
        tag, self.tag = self.tag + 1, self.tag + count
        return [mode or self.mode, str(self.bed.folder), str(tag), str(count)]

    def begin_anew(self):
        (self.bed.folder / "notes").unlink(missing_ok=True)
        out, errors = self.bed.run(RANKS, *self.words(1, "truncate"))
        assert "saved" in out, errors

    def states(self, word):
        lines = (self.bed.folder / "notes").read_text().splitlines()
        return [int(line.split()[2]) for line in lines if line.startswith(word)]

    def judge(self, figures):
        out, _ = self.bed.run(1, "verify", str(self.bed.folder))
        seen = (told(out) or [{"status": "unreadable"}])[0]
        if seen["status"] != "readable":
            figures.add("lost", "", "")
        elif seen["wrong"] or seen["tag"] not in (self.states("done")[-1], self.states("begin")[-1]):
            figures.add("silently wrong", "", "")
        else:
            figures.old += seen["tag"] != self.states("begin")[-1]
            figures.new += seen["tag"] == self.states("begin")[-1]


def kill_hdf5(subject, moments, shim, stride, choose, figures):
    for _ in range(moments):
        subject.begin_anew()
        kill_somewhen(subject.bed, choose, subject.words(100000))
        figures.kills += 1
        subject.judge(figures)
    if not stride:
        return
    subject.begin_anew()
    counts = count_calls(subject.bed, shim, subject.words(1))
    print(f"calls and writes of HDF5, {subject.mode}, by rank: {counts}", flush=True)
    for point in call_points(counts, stride, ["self", "all"]):
        subject.begin_anew()
        run_at_call(subject.bed, shim, point, subject.words(1))
        figures.calls += 1
        subject.judge(figures)


def run_hdf5(program, mpiexec, place, moments, shim, stride, seed):
    lines = []
    for mode in ("truncate", "overwrite"):
        with tempfile.TemporaryDirectory(prefix="parapet-kill-", dir=place) as folder:
            bed, figures = Bed(program, mpiexec, Path(folder)), Figures(f"HDF5, {mode}")
            kill_hdf5(Hdf5(bed, mode), min(moments, 100), shim, stride, random.Random(seed), figures)
            lines.append(figures.text(seed, bed.hangs))
    return lines


def main():
    program, mpiexec, moments, stride, shim = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
    seed = int(os.environ.get("PARAPET_TEST_SEED", 20261115))
    choose, figures = random.Random(seed), Figures("parapet")
    place = place_of_tests()
    print(f"seed {seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="parapet-kill-", dir=place) as folder:
        bed = Bed(program, mpiexec, Path(folder))
        ledger = Ledger(bed)
        base = Base(ledger)
        if moments:
            kill_ours(ledger, moments, choose, figures)
        if stride:
            kill_ours_at_calls(ledger, base, shim, stride, choose, figures)
    lines = [figures.text(seed, bed.hangs)]
    print(f"all ranks were gone after at most {bed.slowest_end:.2f} s; {ledger.ahead} times a generation was there "
          "that had not been acknowledged", flush=True)
    if len(sys.argv) > 6:
        lines += run_hdf5(sys.argv[6], mpiexec, place, moments, shim, stride, seed)
    print("\n".join(lines))
    return 1 if bed.hangs or any(figures.problems.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
