#!/usr/bin/env python3
"""What a Python program must not do with a store, or does at its end: each case in a process of its own.

    calls_python.py CASE...        the cases whose names begin so; none: the table of every method x places

A case ends well if it prints what is expected, without a signal and within the time.
"""
import os
import signal
import subprocess
import sys

SECONDS = 60
BEGIN = """
import faulthandler; faulthandler.enable()
import gc, os, signal, sys, threading, time
import numpy as np, parapet
N = 1 << 20
data = np.arange(N, dtype="f8")
slow = "progress" in sys.argv
def watch(done, total): time.sleep(.001)
s = parapet.open(f"memory:{os.getpid()}", "a", progress=watch if slow else None)
a = s.create_array("x", shape=(N,), dtype="f8", chunks=(1 << 13,), shards=(1 << 16,), codec="zstd:1")
def on_threads(count, run):
    failures = []
    def call(i):
        try: run(i)
        except BaseException as failure: failures.append(failure)
    threads = [threading.Thread(target=call, args=(i,)) for i in range(count)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    return failures
def verify():
    print("whole" if np.array_equal(a.read(), data) else "NOT WHOLE")
"""
# name: what it does, and what it prints.
CASES = {
    "A5_ends_while_a_request_runs": ("r = a.start_write(data, 0); print('end')", "end"),
    "A5_fails_while_a_request_runs": ("""
r = a.start_write(data, 0); print('end', flush=True)
signal.signal(signal.SIGALRM, signal.SIG_DFL); sys.excepthook = lambda *e: None
try: raise ValueError('a bug of the program')
except ValueError: sys.exit(0)""", "end"),
    "A5_ends_while_a_request_runs_that_nobody_has": ("a.start_write(data.copy(), 0); print('end')", "end"),
    "A5_ends_on_a_thread_that_starts_requests": ("""
def run():
    while True: a.start_write(data, 0).wait()
threading.Thread(target=run, daemon=True).start(); time.sleep(.05); print('end')""", "end"),
    "A5_child_ends": ("""
r = a.start_write(data, 0); child = os.fork()
if child == 0: signal.alarm(20); sys.exit(0)
print(os.waitpid(child, 0)[1]); r.wait(); verify(); s.close()""", "0\nwhole"),
    "A5_child_waits": ("""
r = a.start_write(data, 0); child = os.fork()
if child == 0:
    signal.alarm(20)
    try: r.wait(); print('waited', flush=True)
    except parapet.ArgumentError as e: print('forked' in str(e), flush=True)
    except BaseException as e: print(repr(e), flush=True)
    os._exit(0)
print(os.waitpid(child, 0)[1]); r.wait(); verify(); s.close()""", "True\n0\nwhole"),
    "A5_child_tests_and_writes": ("""
r = a.start_write(data, 0); child = os.fork()
if child == 0:
    signal.alarm(20)
    for call in (r.test, lambda: a.write(data, 0), lambda: a.shape and a.attrs.asdict(), lambda: s.statistics()):
        try: call(); print('let in', flush=True)
        except parapet.ArgumentError as e: print('forked' in str(e), flush=True)
    os._exit(0)
print(os.waitpid(child, 0)[1]); r.wait(); verify(); s.close()""", "True\nTrue\nTrue\nTrue\n0\nwhole"),
    "A5_idle_child_reads": ("""
a.write(data, 0); child = os.fork()
if child == 0:
    signal.alarm(20)
    print(float(a[7]), float(a.read_local(5, 1)[0]), flush=True); sys.exit(0)
print(os.waitpid(child, 0)[1]); verify(); s.close()""", "7.0 5.0\n0\nwhole"),
    "A7_writes_on_four_threads": ("""
fs = on_threads(4, lambda i: [a.write(data[i * N // 4:(i + 1) * N // 4], i * N // 4) for _ in range(20)])
print(all(isinstance(f, parapet.ArgumentError) and 'another thread' in str(f) for f in fs)); a.write(data, 0); verify(); s.close()""",
                                  "True\nwhole"),
    "A8_closes_an_array_beside_local_reads": ("""
a.write(data, 0); n = [0]
def run(i):
    while True: a.read_local((0,), (1000,)); n[0] += 1
threading.Timer(.1, a.close).start()
fs = on_threads(4, run); print(len(fs), all(isinstance(f, parapet.ArgumentError) and 'close' in str(f) for f in fs), n[0] > 0); s.close()""",
                                              "4 True True"),
    "A8_closes_the_store_beside_local_reads": ("""
a.write(data, 0)
def run(i):
    while True: a.read_local((0,), (1000,))
threading.Timer(.1, s.close).start()
fs = on_threads(4, run); print(len(fs), all(isinstance(f, parapet.ArgumentError) and 'close' in str(f) for f in fs))""", "4 True"),
    "A8_closes_one_array_on_four_threads": ("""
fs = on_threads(4, lambda i: a.close()); print(fs); s.close()""", "[]"),
    "A10_collect_that_fails_says_why": ("""
try: s.collect()
except parapet.ArgumentError as e: print('are open' in str(e))
a.close(); print(s.collect(), list(s)); s.close()""", "True\n[] ['x']"),
    "requests_are_waited_for_by_four_threads": ("""
r = a.start_write(data, 0); fs = on_threads(4, lambda i: r.wait())
print(all(isinstance(f, parapet.ArgumentError) and 'closed' in str(f) for f in fs), r.is_waited_for); verify(); s.close()""",
                                                "True True\nwhole"),
}


def run(code, *arguments):
    """What it printed, and how it ended."""
    try:
        done = subprocess.run([sys.executable, "-W", "ignore", "-c", BEGIN + code, *arguments], capture_output=True,
                              text=True, errors="replace", timeout=SECONDS)
    except subprocess.TimeoutExpired as late:
        return (late.stdout or b"").decode(), "hangs"
    if done.returncode < 0:
        return done.stdout, signal.Signals(-done.returncode).name
    return done.stdout, "" if done.returncode == 0 else f"ends with {done.returncode}: {done.stderr[-400:]}"


def check(name):
    code, wanted = CASES[name]
    problems = []
    for arguments in ((), ("progress",)):
        printed, how = run(code, *arguments)
        if how or printed.strip() != wanted:
            problems.append(f"{name} {' '.join(arguments)}: {how or 'ends well'}, but prints {printed.strip()!r} instead of {wanted!r}")
    return problems


# ---- Every method, in every place ----

# What a method is called with, where it needs something.
ARGUMENTS = {
    "write": "(data, 0)", "write_parts": "([])", "read_parts": "([])", "read_parts_local": "([])",
    "read_local": "(0, 10)", "read": "(0, 10)", "start_write": "(data, 0)", "start_read": "(0, 10)", "start_write_parts": "([])",
    "start_read_parts": "([])", "write_points": "(np.zeros((1, 1), 'i8'), np.zeros(1))", "read_points": "(np.zeros((1, 1), 'i8'))",
    "read_points_local": "(np.zeros((1, 1), 'i8'))", "write_runs": "([0], np.zeros(1))", "read_runs": "([0])",
    "read_runs_local": "([0])", "resize": "((N,))", "open_array": "('x')",
    "open_group": "('g')", "create_group": "('made')", "create_array": "('new', shape=(4,), dtype='f4')",
    "create_arrays": "({'many': parapet.ArraySpec((4,), 'f4')})", "open_arrays": "(['x'])", "remove": "('g', recursive=True)",
    "put": "({'u': item})", "set_attribute": "('note', 1)", "start": "({'u': item})", "get": "('u')", "get_parts": "({})",
    "append": "(9, {'u': np.zeros(4)})", "start_append": "(9, {'u': np.zeros(4)})", "check": "('survey')", "values": "()",
}
OBJECTS = {"Store": "s", "Array": "a", "Group": "g", "Checkpoint": "c", "Restore": "r", "Series": "h", "Request": "q"}
# Of a class, not of an object; what is no call; those of the classes that they are; what needs a datatype of MPI.
LEFT_OUT = {"create", "open", "repair", "clear", "pop", "popitem", "setdefault", "update", "view_parts"}
MANY = """
g = s.create_group("g"); item = parapet.CheckpointItem(parapet.ArraySpec((4,), "f8"), np.ones(4))
with parapet.Checkpoint(s, "k") as c: c.put({"u": item})
r = parapet.Restore(s, "k"); c = parapet.Checkpoint(s, "l")
h = parapet.Series.create(s, "h", {"u": parapet.ArraySpec((0, 4), "f8", dimension_names=("time", "x"))})
b = s.create_array("b", shape=(16,), dtype="f8"); q = b.start_write(np.ones(16), 0)
while not q.test(): time.sleep(.001)
def call(where):
    try: CALL; print(where, "works", flush=True)
    except parapet.ParapetError as e: print(where, e.status.replace("PARAPET_ERR_", "").lower() if e.status else type(e).__name__, "callback" in str(e), flush=True)
    except (TypeError, ValueError, AttributeError, KeyError) as e: print(where, type(e).__name__, str(e)[:80], flush=True)
"""
IN_PLACES = {
    "callback": "went = []\ndef f(done, total):\n    if not went: went.append(1); call('callback')\ns._session.progress.replace(f); b.write(np.ones(16), 0); s._session.progress.replace(None)",
    "thread": "went = []\ndef f(done, total):\n    if not went: went.append(1); on_threads(1, lambda i: call('thread'))\ns._session.progress.replace(f); b.write(np.ones(16), 0); s._session.progress.replace(None)",
    "closed": "s.close(); call('closed')",
    "forked": "child = os.fork()\nif child == 0:\n    signal.alarm(20); call('forked'); os._exit(0)\nif os.waitpid(child, 0)[1]: print('forked CRASH')",
}


def run_forked(code):
    """As run, without starting an interpreter: nothing of parapet has been used before."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(writing, 1)
        os.dup2(writing, 2)
        signal.alarm(SECONDS)
        try:
            exec(compile(BEGIN + code, "case", "exec"), {"__name__": "case"})
        except BaseException as failure:
            print(f"ends with {failure!r}", flush=True)
            os._exit(1)
        sys.stdout.flush()
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, errors="replace") as pipe:
        printed = pipe.read()
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        return printed, signal.Signals(os.WTERMSIG(status)).name
    return printed, "" if status == 0 else "ends badly"


def methods():
    """(class, name, the call) of everything public."""
    import inspect

    import parapet
    for kind, one in OBJECTS.items():
        for name, what in inspect.getmembers(getattr(parapet, kind)):
            if name.startswith("_") or name in LEFT_OUT:
                continue
            if isinstance(what, property):
                yield kind, name, f"{one}.{name}"
            elif callable(what):
                yield kind, name, f"{one}.{name}{ARGUMENTS.get(name, '()')}"
        if kind in ("Store", "Group"):
            yield kind, "__iter__", f"list({one})"
            yield kind, "__getitem__", f"{one}['x']"
            yield kind, "attrs[]", f"{one}.attrs.__setitem__('n', 1)"
        if kind == "Array":
            yield kind, "__getitem__", "a[0:5]"
            yield kind, "__setitem__", "a.__setitem__(slice(0, 5), 1.0)"
            yield kind, "attrs[]", "a.attrs.__setitem__('n', 1)"


def table():
    problems = []
    rows = list(methods())
    print(f"### Python: {len(rows)} methods and properties\n\n| | " + " | ".join(IN_PLACES) + " |\n|---" + "|---" * len(IN_PLACES) + "|")
    for kind, name, call in rows:
        cells = []
        for place, code in IN_PLACES.items():
            printed, how = run_forked(MANY.replace("CALL", call) + code)
            words = printed.split()
            cell = how.split(":")[0] or (words[1] if len(words) > 1 and words[0] == place else "nothing")
            if how or cell == "nothing" or cell.startswith("CRASH"):
                problems.append(f"{kind}.{name} in place {place}: {how} {printed[-200:]}")
            cells.append(cell)
            if place == "callback" and cell == "argument" and words[2:] != ["True"]:
                problems.append(f"{kind}.{name} in place {place}: its message says nothing of callbacks")
        if cells[0] == "works" and cells[2] != "works" and name != "test":
            problems.append(f"{kind}.{name} in place callback: is let in")
        print(f"| `{kind}.{name}` | " + " | ".join(cells) + " |", flush=True)
    print()
    return problems


def main():
    names = [name for name in CASES if any(name.startswith(word) for word in sys.argv[1:])]
    problems = [problem for name in names for problem in check(name)] if sys.argv[1:] else table()
    if sys.argv[1:]:
        print(f"{len(names)} cases")
        problems += [] if names else ["there are no such cases"]
    for problem in problems:
        print(f"problem: {problem}")
    print(f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
