#!/usr/bin/env python3
"""Random jobs on one store, for as long as it is told, against a model of what was acknowledged.

    soak.py --program SOAK --tool PARAPET --shim SHIM|none --mpiexec MPIEXEC [--reader PYTHON] [--seconds N] [--seed N] [--keep FOLDER]

An episode is one job of 1 to 8 ranks, or two at the same time, each under a launcher of its own: a random script of
all operations of two_jobs. Each may be disturbed: one rank, all ranks or the launcher is killed, at a random moment or at a random
system call, or a system call fails, once or from then on. When nothing of them is left, a copy of the store is looked at: what it
holds must be explained by what the jobs were told (model.py); consolidated metadata must be what they repeat; `parapet check`
must find nothing but what killed jobs left over; gc must remove that and nothing else; zarr-python must read the same. The next episode goes
on with the store as it is; every few of them begin with a new one.

Prints the seed first, and every five minutes how far it is; SIGTERM and SIGINT end it after the episode. A violation keeps the store before and after, and the notes of the jobs, in FOLDER. The exit code is 1 if there was one."""

import argparse
import collections
import errno
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "harness"))
import kill_bed  # noqa: E402
import model  # noqa: E402

kill_bed.PATIENCE = 240  # of jobs that share two cores with others; whoever waits longer hangs
NAMES = ["create", "write shards", "write chunks", "resize", "attribute", "consolidate", "seal", "overwrite", "copy", "resume copy",
         "append", "open series", "commit", "restore", "gc", "check", "read", "rm"]
LONG, LONG_CHANCE = 400, 0.02  # operations of a job whose memory is watched, and how often there is one
STEPS_MOST = 300  # a series that has so many is begun anew
ERRORS = {errno.EIO: "PARAPET_ERR_IO", errno.ENOSPC: "PARAPET_ERR_NO_SPACE"}
OPTIONS = {"PARAPET_THREADS": ["1", "3"], "PARAPET_IO_THREAD": ["own", "none"], "PARAPET_OWNERS": ["in_turn", "nearest"],
           "PARAPET_TRANSPORT": ["direct", "messages"], "PARAPET_SERVERS": ["1", "2", "8"], "PARAPET_ELIDE_FILL": ["yes", "no"],
           "PARAPET_DIRECT_IO": ["choose", "never"], "PARAPET_WAIT_SECONDS": ["1", "5"]}


class Disturbance:
    """What happens to a job: drawn before it starts."""

    def __init__(self, choose, has_shim):
        self.kind = choose.choices(["none", "moment", "call", "error"], [35, 20, 25, 20] if has_shim else [60, 40, 0, 0])[0]
        self.victim = choose.choice(kill_bed.VICTIMS)
        self.delay = choose.uniform(0, choose.choice([0.02, 0.1, 0.5]))
        self.at = int(10 ** choose.uniform(0, 3))
        self.is_torn, self.is_forever = choose.random() < 0.2, choose.random() < 0.5
        self.error = choose.choice(list(ERRORS))

    def settings(self, rank):
        """The environment of the shim."""
        found = {"PARAPET_SHIM_RANK": rank}
        if self.kind == "call":
            found |= {"PARAPET_SHIM_KILL": self.at, "PARAPET_SHIM_TORN": int(self.is_torn),
                      "PARAPET_SHIM_VICTIM": {"one rank": "self", "all ranks": "all", "launcher": "launcher"}[self.victim]}
        if self.kind == "error":
            found |= {"PARAPET_SHIM_FAIL": self.at, "PARAPET_SHIM_ERROR": self.error, "PARAPET_SHIM_FOREVER": int(self.is_forever)}
        return found

    def __str__(self):
        return {"none": "undisturbed", "moment": f"{self.victim} killed after {self.delay:.3f} s",
                "call": f"{self.victim} killed at {'write' if self.is_torn else 'call'} {self.at}",
                "error": f"{errno.errorcode[self.error]} at call {self.at}{' and from then on' if self.is_forever else ''}"}[self.kind]


class Job:
    """One job under its launcher, watched by a thread."""

    def __init__(self, soak, number, choose, operations, is_long=False):
        self.soak, self.number, self.choose = soak, number, choose
        self.ranks, self.does = choose.randint(1, 8), Disturbance(choose, soak.options.shim != "none" and not is_long)
        self.does.kind = "none" if is_long else self.does.kind
        self.has_shim = soak.options.shim != "none" and not is_long  # what it watches takes memory
        self.folder = soak.folder / f"job{number}"
        self.folder.mkdir()
        self.bed = kill_bed.Bed(soak.options.program, soak.options.mpiexec, self.folder)
        self.options = {name: choose.choice(values) for name, values in OPTIONS.items() if choose.random() < 0.5}
        mask = sum(1 << NAMES.index(name) for name in operations)
        stopping = choose.choice([0, 0, 100])
        self.words = ["job", str(self.folder), str(soak.store), str(number), str(choose.getrandbits(60)),
                      str(soak.next_mark()), str(LONG if is_long else choose.randint(1, 16)), str(mask), str(stopping)]
        self.errors, self.code, self.gone, self.was_killed = "", None, 0.0, False

    def watch(self):
        rank = self.choose.randrange(self.ranks)
        self.bed.settings = dict(self.options)
        if self.has_shim:
            self.bed.settings |= {"LD_PRELOAD": self.soak.options.shim, "PARAPET_SHIM_FOLDER": self.folder,
                                  "PARAPET_SHIM_STORE": self.soak.store, **self.does.settings(rank)}
        process = self.bed.start(self.ranks, *self.words)
        if self.does.kind == "moment" and kill_bed.wait_for_notes(self.bed, process, 0):
            time.sleep(self.does.delay)
            if process.poll() is None:
                self.was_killed = True
                self.bed.kill(process, self.does.victim, self.choose)
        _, self.errors = self.bed.end(process, time.monotonic())
        self.code, self.gone = process.returncode, time.monotonic()

    def lines(self):
        path = self.folder / "notes"
        text = path.read_text() if path.exists() else ""
        return [json.loads(line) for line in text.split("\n")[:-1]]

    def injected(self):
        return (ERRORS[self.does.error],) if self.does.kind == "error" else ()

    def judge_alone(self):
        """What must hold whatever the other job did; whether it came to its end."""
        lines, has_ended = self.lines(), False
        if self.bed.hangs:
            raise model.Violation(f"job {self.number} hangs ({self.does})")
        for line in lines:
            has_ended = has_ended or "closed" in line
            if line.get("closed", 0) > 0:
                raise model.Violation(f"job {self.number} has left {line['closed']} descriptors open")
            if line.get("opened", "PARAPET_OK") not in ("PARAPET_OK", *self.injected()):
                raise model.Violation(f"job {self.number} cannot open the store: {line['sentence']}")
        if self.does.kind in ("none", "error") and not (has_ended and self.code == 0):
            raise model.Violation(f"job {self.number} ended with {self.code} ({self.does}): {self.errors[-2000:]}")
        if self.does.kind == "none":
            self.judge_flushes()
        self.judge_memory([line["kib"] for line in lines if "kib" in line])
        return has_ended

    def judge_memory(self, kib):
        if len(kib) < LONG:
            return
        growth = model.growth_of(kib)
        self.soak.growth = max(self.soak.growth, growth)
        if growth > model.GROWTH_KIB:
            raise model.Violation(f"job {self.number} grows by {growth:.0f} KiB")

    def judge_flushes(self):
        for path in sorted(self.folder.glob("report.*")):
            for line in path.read_text().splitlines():
                if line.startswith(("early", "unflushed")):
                    raise model.Violation(f"job {self.number}, {path.name}: not flushed in time: {line}")

    def __str__(self):
        return f"job {self.number}: {self.ranks} ranks, {self.does}, {self.options}"


class Reader:
    """zarr-python in a process of its own."""

    def __init__(self, python):
        self.words = [python, str(pathlib.Path(__file__).resolve().parent / "reader.py")] if python else None
        self.process = self.start()

    def start(self):
        return subprocess.Popen(self.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) if self.words else None

    def ask(self, store):
        """The answer, or "" if the process has died."""
        try:
            self.process.stdin.write(f"{store}\n")
            self.process.stdin.flush()
            return self.process.stdout.readline()
        except BrokenPipeError:
            return ""

    def compare(self, store, found):
        if self.process is None:
            return 0
        answer = self.ask(store)
        if not answer:
            print(f"zarr-python ended with {self.process.wait()}; another one is asked", flush=True)
            self.process = self.start()
            answer = self.ask(store)
        if not answer:
            raise model.Violation(f"zarr-python dies of it, with {self.process.wait()}")
        seen = json.loads(answer)
        if "problem" in seen:
            raise model.Violation(f"zarr-python cannot read it: {seen['problem']}")
        for name in ("a", "t"):
            ours = {key: value for key, value in found[name].items() if key != "sealed"} if found[name] else None
            if seen[name] != ours:
                raise model.Violation(f"zarr-python reads {name} as {seen[name]}, and we as {ours}")
        if seen["steps"] != [[step] for step in found["steps"]]:
            raise model.Violation(f"zarr-python reads the steps {seen['steps']}, and we {found['steps']}")
        return 1

    def close(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()


class Soak:
    def __init__(self, options):
        self.options, self.counts = options, collections.Counter()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="parapet-soak-", dir=options.place))
        self.store, self.mark, self.slowest, self.growth = self.folder / "store", 1000, 0.0, 0
        self.reader, self.world, self.told = Reader(options.reader), None, collections.Counter()
        self.begun, self.is_dirty, self.left = [False, False], False, 0

    def next_mark(self):
        self.mark += 1000
        return self.mark

    def run(self, *words, is_tool=False):
        done = subprocess.run([self.options.tool if is_tool else self.options.program, *map(str, words)], capture_output=True,
                              text=True, timeout=kill_bed.PATIENCE, check=False)
        return done.returncode, done.stdout, done.stderr.strip()

    # ---- Looking ----

    def look(self, store, may_leave, when):
        code, out, errors = self.run("look", store, int(may_leave))
        if code != 0:
            raise model.Violation(f"{when}: {errors or f'looking ended with {code}'}")
        return json.loads(out)

    def check(self, store, may_leave, when):
        code, out, errors = self.run("check", "-q", store, is_tool=True)
        if code != 0 and not (may_leave and code == 5):
            raise model.Violation(f"{when}, parapet check ends with {code}: {out} {errors}")

    def collect(self, store):
        code, _, errors = self.run("collect", store)
        if code != 0:
            raise model.Violation(f"gc: {errors}")
        left = [path for path in store.rglob("*") if re.fullmatch(r"tmp|.*\.tmp", path.name) and path.is_file()]
        if left:
            raise model.Violation(f"gc has left {left}")

    def examine(self):
        """What there is, by a copy of the store, so that it stays as the jobs left it."""
        copy = self.folder / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.store, copy)
        found = self.look(copy, self.is_dirty, "after the jobs")
        self.counts["compared with zarr-python"] += self.reader.compare(copy, found)
        self.check(copy, self.is_dirty, "after the jobs")
        if self.is_dirty:
            self.collect(copy)
            after = self.look(copy, False, "after gc")
            if after != found:
                raise model.Violation(f"gc has changed what was there: {found}, then {after}")
            self.check(copy, False, "after gc")
        return model.world_from(found)

    # ---- Episodes ----

    def renew(self, choose):
        shutil.rmtree(self.store, ignore_errors=True)
        code, out, errors = self.run("make", self.store, choose.getrandbits(60))
        if code != 0:
            raise model.Violation(f"a store cannot be made: {errors}")
        self.world = model.world_from(json.loads(out))
        self.begun, self.is_dirty, self.left = [self.world.a is None, False], self.world.a is None, choose.randint(3, 20)
        self.counts["stores"] += 1

    def draw_jobs(self, choose):
        """All operations, or a few of them, so that they meet."""
        for path in self.folder.glob("job?"):
            shutil.rmtree(path)
        if choose.random() < LONG_CHANCE:
            self.counts["long jobs"] += 1
            return [Job(self, 0, random.Random(choose.getrandbits(60)), NAMES, True)]
        operations = NAMES if choose.random() < 0.5 else choose.sample(NAMES, choose.randint(1, 5))
        return [Job(self, number, random.Random(choose.getrandbits(60)), operations)
                for number in range(choose.choices([1, 2], [30, 70])[0])]

    def run_jobs(self, jobs):
        threads = [threading.Thread(target=job.watch) for job in jobs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def circumstances(self, jobs, operations):
        for op in (op for ops in operations for op in ops):
            self.told[f"{op.does}, {op.status or 'killed'}".replace("PARAPET_", "").replace("ERR_", "")] += 1
            if op.does in model.COPIES and op.status not in ("PARAPET_OK", "PARAPET_ERR_EXISTS", "PARAPET_ERR_BUSY"):
                self.begun[op.source] = True
        for op in (op for ops in operations for op in ops):
            op.overwrites = self.begun[op.source]
        has_ended = [job.judge_alone() for job in jobs]
        self.counts["killed"] += has_ended.count(False)
        self.is_dirty = self.is_dirty or not all(has_ended) or any(job.injected() for job in jobs) or any(self.begun)
        errors = tuple(job.injected() for job in jobs) + ((),) * (2 - len(jobs))
        return model.Circumstances(errors, tuple(self.begun), self.is_dirty)

    def judge(self, jobs):
        operations = [model.operations_of(job.number, job.lines(), job.gone) for job in jobs] + [[]] * (2 - len(jobs))
        around = self.circumstances(jobs, operations)
        found = self.examine()
        model.Judge(self.world, operations, around).check(found)
        self.world = found
        self.counts["operations"] += sum(map(len, operations))
        self.counts["jobs"] += len(jobs)
        self.counts["ranks"] += sum(job.ranks for job in jobs)
        for job in jobs:
            self.counts[f"drawn for {job.does.kind}"] += 1

    def keep(self, episode, jobs, problem):
        pathlib.Path(self.options.keep).mkdir(parents=True, exist_ok=True)
        kept = pathlib.Path(self.options.keep) / f"seed-{self.options.seed}-episode-{episode}"
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(self.folder, kept, ignore_dangling_symlinks=True)
        text = "\n".join([problem, *map(str, jobs), f"the world before: {self.world and model.described(self.world)}"])
        (kept / "problem").write_text(text + "\n")
        print(f"episode {episode}: VIOLATION: {text}\n  kept: {kept}", flush=True)

    def episode(self, number):
        """Whether nothing was violated."""
        choose, jobs = random.Random(f"{self.options.seed} {number}"), []
        started = time.monotonic()
        try:
            if self.left == 0 or len(self.world.steps) > STEPS_MOST:
                self.renew(choose)
            self.left -= 1
            shutil.rmtree(self.folder / "before", ignore_errors=True)
            shutil.copytree(self.store, self.folder / "before")
            jobs = self.draw_jobs(choose)
            self.run_jobs(jobs)
            self.judge(jobs)
        except model.Violation as problem:
            self.keep(number, jobs, str(problem))
            self.left = 0
            return False
        except OverflowError:
            self.counts["episodes with too many worlds"] += 1
            self.left = 0
        finally:
            self.slowest = max(self.slowest, time.monotonic() - started)
        return True

    def report(self, violations, seconds):
        print(f"{seconds:.0f} s, {violations} violations; " + ", ".join(f"{count} {name}" for name, count in sorted(self.counts.items())) +
              f"; slowest episode {self.slowest:.1f} s, long jobs grew by {self.growth:.0f} KiB", flush=True)

    def finish(self):
        for name, count in sorted(self.told.items()):
            print(f"  {count:7} {name}")
        self.reader.close()
        shutil.rmtree(self.folder)


def python_of_readers():
    root = pathlib.Path(__file__).resolve().parent.parent.parent
    return str(pathlib.Path(os.environ.get("PARAPET_VENV", root / "build/venv")) / "bin/python3")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--program", "--tool", "--shim", "--mpiexec"):
        parser.add_argument(name, required=True)
    parser.add_argument("--reader", default=python_of_readers(), help="a Python that has zarr; default $PARAPET_VENV or build/venv")
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("PARAPET_TEST_SEED", "0")) or random.SystemRandom().getrandbits(32))
    parser.add_argument("--first", type=int, default=0, help="the number of the first episode")
    parser.add_argument("--place", default=kill_bed.place_of_tests(), help="where the store is")
    parser.add_argument("--keep", default=".", help="where the store of a violation is kept")
    parser.add_argument("--most", type=int, default=5, help="ends after so many violations")
    return parser.parse_args()


def main():
    options = parse()
    if not os.access(options.reader, os.X_OK):
        options.reader = ""
    print(f"seed {options.seed}, {options.seconds:.0f} s, zarr-python {'reads too' if options.reader else 'is not here'}", flush=True)
    soak, violations, started, number = Soak(options), 0, time.monotonic(), options.first
    reported, asked = started, []
    for number_of_signal in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number_of_signal, lambda *_: asked.append(True))
    while time.monotonic() - started < options.seconds and violations < options.most and not asked:
        soak.counts["episodes"] += 1
        violations += not soak.episode(number)
        number += 1
        if time.monotonic() - reported > 300:
            reported = time.monotonic()
            soak.report(violations, reported - started)
    soak.report(violations, time.monotonic() - started)
    soak.finish()
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
