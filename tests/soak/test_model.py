#!/usr/bin/env python3
"""The model of the soak notices: small histories that are right, and the same with something lost or wrong."""

import sys

import model
from model import Circumstances, Judge, Operation, Violation

EMPTY = (0,) * model.GROWN
START = model.World(model.Array(64, (1,) * 64 + (0,) * 32, False, 0, (0, 0)), None, (7,), ((1, 70),))
CLEAN = Circumstances()


def op(job, does, mark, begin, end, status="OK", **more):
    """Told PARAPET_<status>; None: killed."""
    flags = {name: int(name in more.get("flags", ())) for name in ("aged", "wide", "source", "stops")}
    one = Operation(job, {"does": does, "mark": mark, "at": begin, **flags})
    if status is None:
        one.end = end
    else:
        told = {"agreed": 1, "at": end, "alarms": 0, "strays": 0, "sentence": "", "values": [], "generation": 0, "marked": 0, "removed": 1, **more}
        one.tell({**told, "status": "PARAPET_OK" if status == "OK" else f"PARAPET_ERR_{status}"})
    return one


def filled(start, count, mark, array=START.a):
    values = list(array.values)
    values[start:start + count] = [mark] * count
    return array._replace(values=tuple(values))


def is_right(found, first, second=(), around=CLEAN):
    try:
        Judge(START, [list(first), list(second)], around).check(found)
    except Violation:
        return False
    return True


def histories():
    """(title, whether it is right, found, first job, second job, circumstances)"""
    write = op(0, "write shards", 5, 1, 2)
    new = START._replace(a=filled(0, 32, 5))
    torn = START._replace(a=filled(0, 16, 5))
    yield "a write", True, new, [write], [], CLEAN
    yield "a write that is lost", False, START, [write], [], CLEAN
    yield "a write of which one shard is lost", False, torn, [write], [], CLEAN
    yield "a write that was killed, not done", True, START, [op(0, "write shards", 5, 1, 2, None)], [], CLEAN
    yield "a write that was killed, half done", True, torn, [op(0, "write shards", 5, 1, 2, None)], [], CLEAN
    yield "half a shard", False, START._replace(a=filled(0, 8, 5)), [op(0, "write shards", 5, 1, 2, None)], [], CLEAN
    yield "a write that was refused, and is there", False, new, [op(0, "write shards", 5, 1, 2, "BUSY")], [op(1, "seal", 6, 1, 2)], CLEAN
    yield "busy, beside nobody", False, START, [op(0, "write shards", 5, 1, 2, "BUSY")], [], CLEAN
    yield "busy, behind a job that has ended", False, START, [op(0, "write shards", 5, 3, 4, "BUSY")], [op(1, "attribute", 6, 1, 2)], CLEAN
    yield "an error of the storage that nobody injected", False, START, [op(0, "seal", 5, 1, 2, "IO")], [], CLEAN
    yield "one that was injected", True, START, [op(0, "seal", 5, 1, 2, "IO")], [], Circumstances((("PARAPET_ERR_IO",), ()))
    yield "damage", False, START, [op(0, "read", 5, 1, 2, "CORRUPT")], [], Circumstances((("PARAPET_ERR_IO",), ()))
    yield "a false alarm", False, START, [op(0, "check", 5, 1, 2, alarms=1)], [], CLEAN
    yield "something left over by nobody", False, START, [op(0, "check", 5, 1, 2, strays=1)], [], CLEAN
    yield from orders()
    yield from others()


def orders():
    """Two writes of the same shards; a reader behind, beside and before them."""
    one, other = op(0, "write shards", 5, 1, 4, flags=("wide",)), op(1, "write shards", 6, 2, 3, flags=("wide",))
    fives, sixes = START._replace(a=filled(16, 32, 5)), START._replace(a=filled(16, 32, 6))
    mixed = START._replace(a=filled(32, 16, 6, filled(16, 16, 5)))
    yield "the one wins", True, fives, [one], [other], CLEAN
    yield "the other one wins", True, sixes, [one], [other], CLEAN
    yield "each wins a shard", False, mixed, [one], [other], CLEAN
    yield "what ended before comes last", False, sixes, [op(0, "write shards", 5, 4, 5, flags=("wide",))], [other], CLEAN
    old, new = list(START.a.values[:64]), list(sixes.a.values[:64])
    for begin, end, seen, is_good in ((1, 4, old, True), (1, 4, new, True), (4, 5, old, False), (4, 5, new, True), (0, 1, new, False),
                                      (1, 4, old[:32] + new[32:], True), (1, 4, old[:24] + new[24:], False)):
        yield f"a reader from {begin} to {end}", is_good, sixes, [op(0, "read", 9, begin, end, values=seen)], [other], CLEAN


def others():
    step = op(0, "append", 8, 1, 2)
    yield "a step", True, START._replace(steps=(7, 8)), [step], [], CLEAN
    yield "a step that is lost", False, START, [step], [], CLEAN
    yield "a step twice", False, START._replace(steps=(7, 8, 8)), [step], [], CLEAN
    commit = op(0, "commit", 90, 1, 2, generation=2)
    both = START._replace(generations=((2, 90), (1, 70)))
    yield "a generation", True, both, [commit], [], CLEAN
    yield "a generation that is lost", False, START, [commit], [], CLEAN
    yield "the one before it is lost", False, START._replace(generations=((2, 90),)), [commit], [], CLEAN
    yield "of another state", False, START._replace(generations=((2, 91), (1, 70))), [commit], [], CLEAN
    yield "a restore of an older one", False, both, [commit, op(0, "restore", 9, 3, 4, generation=1, marked=70)], [], CLEAN
    sealed = START._replace(a=START.a._replace(sealed=True))
    yield "a seal that is lost", False, START, [op(0, "seal", 5, 1, 2)], [], CLEAN
    yield "a seal", True, sealed, [op(0, "seal", 5, 1, 2)], [], CLEAN
    gone = START._replace(a=None)
    yield "replacing that was killed between", True, gone, [op(0, "overwrite", 5, 1, 2, None)], [], CLEAN
    yield "an array that is gone", False, gone, [op(0, "read", 5, 1, 2, values=[1] * 64)], [], CLEAN
    yield "an array that was removed", True, gone, [op(0, "rm", 5, 1, 2)], [], CLEAN
    yield "one that was removed, and is there", False, START, [op(0, "rm", 5, 1, 2)], [], CLEAN
    yield "one that was removed by two", False, gone, [op(0, "rm", 5, 1, 3)], [op(1, "rm", 6, 2, 4)], CLEAN
    yield "one that the other has removed", True, gone, [op(0, "rm", 5, 1, 3)], [op(1, "rm", 6, 2, 4, "NOT_FOUND")], CLEAN
    yield "one that nobody has removed", False, START, [op(0, "rm", 5, 1, 3, "NOT_FOUND")], [], CLEAN
    yield "remains of nobody", False, gone, [op(0, "rm", 5, 1, 2), op(0, "rm", 6, 3, 4, removed=0)], [], CLEAN
    yield "removing that was killed", True, gone, [op(0, "rm", 5, 1, 2, None)], [], CLEAN
    attributes = START._replace(a=START.a._replace(set=(5, 6)))
    pair = [op(0, "attribute", 5, 1, 3)], [op(1, "attribute", 6, 2, 4)]
    yield "two attributes", True, attributes, *pair, CLEAN
    yield "one of two attributes", False, START._replace(a=START.a._replace(set=(0, 6))), *pair, CLEAN
    copied = START._replace(t=model.target_of([START.a], 64))
    yield "a copy", True, copied, [op(0, "copy", 5, 1, 2, flags=("source",))], [], CLEAN
    wrong = START._replace(t=model.target_of([filled(0, 8, 2)], 64))
    yield "a copy with a wrong chunk", False, wrong, [op(0, "copy", 5, 1, 2, flags=("source",))], [], CLEAN


def growths():
    """Whether memory grows, of what is allocated after each of 400 operations."""
    flat = [5600 + (30 if number % 7 == 0 else 0) for number in range(400)]
    yield "messages that come and go", False, flat
    yield "a pool that is enlarged once", False, [kib + (150 if number > 170 else 0) for number, kib in enumerate(flat)]
    yield "half a KiB left by each", True, [kib + number // 2 for number, kib in enumerate(flat)]


def main():
    failures = [title for title, expected, kib in growths() if (model.growth_of(kib) > model.GROWTH_KIB) != expected]
    failures += [title for title, expected, found, *rest in histories() if is_right(found, *rest) != expected]
    for title in failures:
        print(f"judged wrongly: {title}")
    print(f"{sum(1 for _ in histories())} histories, {len(failures)} judged wrongly")
    return 1 if failures else 0


sys.exit(main())
