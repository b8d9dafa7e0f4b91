"""A flush that fails once, and would succeed if it were tried again: each flush of a checkpoint in turn, on each rank.
A commit that is acknowledged has all flushed after it was last changed; one that is not leaves the checkpoints before,
and the next attempt succeeds. Nothing is renamed into place before it is flushed. All of it once more with what a
killed job has left in the way.

    test_checkpoint_flush.py CHECKPOINT_RANKS MPIEXEC STRIDE SHIM
"""

import json
import os
import random
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "harness"))
from checkpoint_ledger import Base, Ledger  # noqa: E402
from kill_bed import RANKS, Bed, told  # noqa: E402

KILLED_AT = 40  # call of rank 0: shards are on their way, the commit is not


def read_reports(bed):
    """Of each rank: its flushes; and what any of them has to complain of."""
    flushes, complaints = [], []
    for rank in range(RANKS):
        lines = [line.split(maxsplit=1) for line in (bed.folder / f"report.{rank}").read_text().splitlines()]
        flushes.append(next(int(value) for word, value in lines if word == "flushes"))
        complaints += [(word, value) for word, value in lines if word in ("early", "unflushed")]
    return flushes, complaints


def run(ledger, shim, **settings):
    bed = ledger.bed
    for report in bed.folder.glob("report.*"):
        report.unlink()
    bed.settings = {"LD_PRELOAD": shim, "PARAPET_SHIM_FOLDER": bed.folder,
                    **{f"PARAPET_SHIM_{name}": value for name, value in settings.items()}}
    out, errors = bed.run(RANKS, "make", str(bed.folder), ledger.next_tag(), "1")
    bed.settings = {}
    return (told(out) or [{"status": errors, "same": True}])[0]


def leave_stray(ledger, base, shim):
    """From now on the base has a generation that was never committed."""
    base.restore()
    run(ledger, shim, RANK=0, KILL=KILLED_AT)
    assert len(list(base.store.glob("run/g*"))) > len(list(base.kept.glob("run/g*"))), "the job left nothing"
    shutil.rmtree(base.kept)
    shutil.copytree(base.store, base.kept)


def run_point(ledger, base, shim, point, choose):
    """Problems, and whether the commit was acknowledged."""
    base.restore()
    made = run(ledger, shim, RANK=point[0], FLUSH=point[1])
    _, complaints = read_reports(ledger.bed)
    problems = []
    if made["status"] == "PARAPET_OK":
        problems += [f"acknowledged, and {word} {path}" for word, path in complaints]
    elif made["status"] != "PARAPET_ERR_IO":
        problems.append(f"it returned {made['status']}")
    if not made["same"]:
        problems.append("the ranks returned different things")
    problems += [sentence for _, sentence in ledger.verify(choose)]
    out, errors = ledger.bed.run(RANKS, "make", str(ledger.bed.folder), ledger.next_tag(), "1")
    if "PARAPET_OK" not in out:
        problems.append(f"the next checkpoint failed: {errors}")
    problems += [sentence for _, sentence in ledger.verify(choose)]
    return problems, made["status"] == "PARAPET_OK"


def run_points(ledger, base, shim, stride, choose, figures):
    base.restore()
    assert run(ledger, shim)["status"] == "PARAPET_OK"
    flushes, complaints = read_reports(ledger.bed)
    print(f"flushes of one checkpoint, by rank: {flushes}", flush=True)
    figures["violations"] += len(complaints)
    for word, path in complaints:
        print(f"VIOLATION: without any fault: {word} {path}", flush=True)
    for rank, at in [(rank, at) for rank, count in enumerate(flushes) for at in range(count)][::stride]:
        problems, is_acknowledged = run_point(ledger, base, shim, (rank, at), choose)
        figures["points"] += 1
        figures["acknowledged"] += is_acknowledged
        figures["violations"] += len(problems)
        for problem in problems:
            print(f"VIOLATION: flush {at} of rank {rank}: {problem}", flush=True)


def main():
    program, mpiexec, stride, shim = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
    choose, figures = random.Random(1), {"points": 0, "acknowledged": 0, "violations": 0}
    place = os.environ.get("TMPDIR") or ("/dev/shm" if os.access("/dev/shm", os.W_OK) else ".")
    with tempfile.TemporaryDirectory(prefix="parapet-flush-", dir=place) as folder:
        ledger = Ledger(Bed(program, mpiexec, Path(folder)))
        base = Base(ledger)
        run_points(ledger, base, shim, stride, choose, figures)
        leave_stray(ledger, base, shim)
        run_points(ledger, base, shim, stride, choose, figures)
    print(json.dumps({"test": "a flush fails once", **figures, "hangs": ledger.bed.hangs}))
    return 1 if figures["violations"] or ledger.bed.hangs else 0


if __name__ == "__main__":
    sys.exit(main())
