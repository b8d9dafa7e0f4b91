"""Copies that are killed at random moments, one rank, all of them or the launcher, and resumed on other numbers of
ranks: the result is that of an uninterrupted copy, nothing is left, and what a journal tells of is not done again.

    test_copy_kill.py COPY_RANKS MPIEXEC MOMENTS [SEED]
"""

import json
import os
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "harness"))
import copy_files  # noqa: E402
from kill_bed import Bed  # noqa: E402

KINDS = ["alone", "two", "together", "unsharded", "group"]
RANKS = 4
RESUMING = [1, 2, 3, 7]


def arrays_of(kind, target):
    names = ["first", "second", "third"] if kind == "group" else [""]
    return [target / "copy" / name for name in names]


def plans_of(text):
    plans, decoder, at = [], json.JSONDecoder(), 0
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        plan, at = decoder.raw_decode(text, at)
        plans.append(plan)
    return plans


class Subject:
    """One kind of copy: its plan, its duration, what an uninterrupted one leaves."""

    def __init__(self, bed, kind):
        self.bed, self.kind, self.plans = bed, kind, {}
        start = time.monotonic()
        out, errors = bed.run(RANKS, "copy", kind, str(bed.folder), "reference")
        assert json.loads(out)["status"] == "PARAPET_OK", errors
        self.seconds = time.monotonic() - start
        self.wanted = copy_files.stored(bed.folder / "reference")
        shutil.rmtree(bed.folder / "reference")


    def plan_of(self, number, ranks):
        """The plan of an array for so many ranks, which may differ from that for others."""
        if ranks not in self.plans:
            self.plans[ranks] = plans_of(self.bed.run(ranks, "plan", self.kind, str(self.bed.folder))[0])
        return self.plans[ranks][number]


def check_result(told, errors, expected, was_complete):
    if was_complete and told["status"] == "PARAPET_ERR_EXISTS":
        return
    assert told["status"] == "PARAPET_OK", f"resuming returned {told['status']}: {errors}"
    seen = told["templates_resumed"], told["chunks_written"]
    assert seen == expected, f"(templates resumed, chunks written) is {seen} instead of {expected}"


def run_moment(bed, subject, choose, figures):
    target = bed.folder / "target"
    shutil.rmtree(target, ignore_errors=True)
    ranks, workers, words = RANKS, 0, ["copy", subject.kind, str(bed.folder), "target"]
    planned_for = {}  # array: how many ranks the run had that has planned it
    was_complete = False
    for interruption in range(choose.choice([1, 1, 2, 3])):
        how = choose.choice(["one rank", "all ranks", "launcher"])
        delay = choose.uniform(0.1, subject.seconds * 0.95) / (interruption + 1)
        figures["story"].append(f"{how} of {ranks} after {delay:.3f} s")
        if not bed.interrupt(ranks, delay, how, choose, *words, *(["resume"] if interruption else [])):
            out, errors = bed.answer
            # A copy that was complete cannot be resumed; whether it was is judged below.
            is_over = out and json.loads(out)["status"] in ["PARAPET_OK", "PARAPET_ERR_EXISTS"]
            assert is_over, f"ended before its kill: {out} {errors}"
            break
        figures["kills"] += 1
        workers += ranks
        # Resuming what is complete is refused, also after a refusal that was killed and has left an empty list.
        was_complete = was_complete or copy_files.difference(subject.wanted, copy_files.stored(target)) is None
        arrays = list(arrays_of(subject.kind, target))
        for array in arrays:
            if (array / "__parapet/copy/job").exists():
                planned_for.setdefault(array, ranks)
        ranks = choose.choice(RESUMING)
        expected = [copy_files.work_left(array, subject.plan_of(number, planned_for.get(array, ranks)), workers)
                    for number, array in enumerate(arrays)]
        figures["templates"] += sum(resumed for resumed, _ in expected)
    else:
        figures["complete"] += was_complete
        figures["story"].append(f"resumed on {ranks}")
        out, errors = bed.run(ranks, *words, "resume", "verify")
        assert out, f"no answer: {errors}"
        check_result(json.loads(out), errors, tuple(map(sum, zip(*expected))), was_complete)
    problem = copy_files.difference(subject.wanted, copy_files.stored(target))
    assert problem is None, problem


def main():
    program, mpiexec, moments = sys.argv[1], sys.argv[2], int(sys.argv[3])
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else int(os.environ.get("PARAPET_TEST_SEED", 20261115))
    choose, violations = random.Random(seed), 0
    figures = {"kills": 0, "templates": 0, "complete": 0}
    print(f"seed {seed}", flush=True)
    place = os.environ.get("TMPDIR") or ("/dev/shm" if os.access("/dev/shm", os.W_OK) else ".")
    with tempfile.TemporaryDirectory(prefix="parapet-kill-", dir=place) as folder:
        bed = Bed(program, mpiexec, Path(folder))
        _, errors = bed.run(1, "make", folder)
        assert (bed.folder / "source/g/third/zarr.json").exists(), errors
        subjects = [Subject(bed, kind) for kind in KINDS]
        print(", ".join(f"{one.kind} {one.seconds:.2f} s" for one in subjects), flush=True)
        for moment in range(moments):
            subject = subjects[moment % len(subjects)]
            figures["story"] = [subject.kind]
            try:
                run_moment(bed, subject, choose, figures)
            except (AssertionError, ValueError) as failure:
                violations += 1
                print(f"VIOLATION at moment {moment} ({'; '.join(figures['story'])}): {failure}", flush=True)
    print(f"{moments} moments, {figures['kills']} kills, {figures['complete']} when all was done; "
          f"{figures['templates']} templates were not done again; all ranks gone after at most {bed.slowest_end:.2f} s; "
          f"{violations} violations, {bed.hangs} hangs")
    return 1 if violations or bed.hangs else 0


if __name__ == "__main__":
    sys.exit(main())
