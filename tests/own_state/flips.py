#!/usr/bin/env python3
"""flips.py SUBJECT TOOL MAKE_STORE LENGTH: one bit flips in a file of a group, a series, a copy under way or a
checkpoint, or in the mark of an append, and then everybody goes on. LENGTH is quick (some bits of every file) or soak (every bit).

What is read afterwards is either what it was, or somebody says that something is wrong: never another value with OK and
with a check that finds nothing (silent). And nothing that was whole goes away with OK (destructive)."""

import hashlib
import random
import shutil
import subprocess
import sys
from pathlib import Path

from state import IS_JUDGED, Failure, Programs, mended_job, require, scratch, survey

QUICK_FLIPS = 3 if IS_JUDGED else 1  # of each file; sanitizers make programs slow to start
SEED = 1
OWN = "__parapet/"


class Bed:
    """A store in its whole state, and what it is to be compared with."""

    def __init__(self, programs, make_store, folder):
        self.programs, self.make_store, self.folder = programs, make_store, folder
        self.store, self.whole = folder / "store.zarr", folder / "whole.zarr"
        self.is_kept = lambda name: OWN not in name

    def tool(self, *words):
        return self.programs.run(self.programs.tool, *words)

    def names(self):
        return survey(self.whole)

    def is_sound(self):
        return self.tool("check", "-q", self.store)[0] == 0

    def keep(self):
        shutil.copytree(self.store, self.whole)

    def bring_back(self):
        shutil.rmtree(self.store, ignore_errors=True)
        shutil.copytree(self.whole, self.store)


class Series(Bed):
    def make(self, steps=6, more=0):
        self.programs.must("series", self.store, steps)
        if more > 0:
            self.programs.must("abandon", self.store, more)
        self.truth = self.programs.must("values", self.store)
        self.keep()

    def is_silent(self):
        code, values = self.programs.do("values", self.store)
        return code == 0 and values != self.truth and self.is_sound()

    def go_on(self):
        return self.programs.do("append", self.store, 0)[0]


class OpenSeries(Series):
    def make(self):
        super().make(4, 6)


class Copy(Bed):
    passes = 1

    def make(self):
        self.source = self.folder / "source.zarr"
        self.programs.must("source", self.source)
        code, said = self.programs.do("copy", self.source, self.store, 30000 if self.passes == 1 else 90000, self.passes)
        require(code == 1 and "cancelled" in said, f"the copy was not interrupted: {said}")
        self.keep()

    def is_silent(self):
        return False  # nobody can see it yet

    def go_on(self):
        code = self.programs.do("copy", self.source, self.store, 0, self.passes)[0]
        if code == 0 and self.tool("diff", "-q", self.source, self.store)[0] != 0:
            require(not self.is_sound(), "silent: the copy is another, and nobody says so")
        return code


class CopyOfTwoPasses(Copy):
    passes = 2


class Checkpoint(Bed):
    def make(self):
        self.programs.run(self.make_store, "checkpoint", self.store, "restart", "1", "2")
        self.is_kept = lambda name: "/tmp/" not in name
        self.keep()

    def is_silent(self):
        return self.is_sound() and self.tool("diff", "-q", self.whole, self.store)[0] == 3

    def go_on(self):
        code = self.tool("info", self.store)[0]
        return max(code, self.tool("gc", "-q", self.store)[0])


class Sealed(Checkpoint):
    def make(self):
        self.programs.run(self.make_store, "grid", self.store, "none", "4")
        self.programs.run(self.make_store, "seal", self.store, "data")
        self.is_kept = lambda name: "/tmp/" not in name
        self.keep()


class Append(Bed):
    """One that was interrupted when one document of two told the new length; the bits of its record flip."""

    def make(self):
        make_part = str(Path(__file__).resolve().parent.parent / "harness/make_part")
        for first, steps in (("0", "3"), ("3", "2")):
            subprocess.run([make_part, first, steps, "hours"], cwd=self.folder, check=True)
        self.old = self.folder / "old.zarr"
        self.tool("append", "-q", self.folder / "part-00.nc", self.old)
        shutil.copytree(self.old, self.store)
        self.tool("append", "-q", self.folder / "part-03.nc", self.store)
        documents = [f"array: {name}\ndocument: {self.digest(name)}\n".encode() for name in ("t", "time")]
        shutil.copy(self.old / "time/zarr.json", self.store / "time/zarr.json")
        (self.store / "__parapet").mkdir(exist_ok=True)
        (self.store / "__parapet/change").write_bytes(mended_job(
            b"extend: time\nbefore: 3\nafter: 5\nid: 0123456789abcdef\n" + b"".join(documents)))
        self.keep()
        require(self.go_on() == 0 and not self.is_silent(), "the append is not undone")

    def digest(self, name):
        return hashlib.sha256((self.store / name / "zarr.json").read_bytes()).hexdigest()

    def names(self):
        return ["__parapet/change"]

    def is_silent(self):
        return self.is_sound() and self.tool("diff", "-q", self.old, self.store)[0] != 0

    def go_on(self):
        return self.tool("gc", "-q", self.store)[0]


def flips_of(path, is_quick, chance):
    bits = 8 * path.stat().st_size
    if not is_quick:
        return range(bits)
    return sorted(chance.sample(range(bits), min(bits, QUICK_FLIPS)))


def flip(path, bit):
    data = bytearray(path.read_bytes())
    data[bit // 8] ^= 1 << bit % 8
    path.write_bytes(data)


def try_flip(bed, name, bit):
    bed.bring_back()
    flip(bed.store / name, bit)
    require(not bed.is_silent(), "silent: other values, and nobody says so")
    before = survey(bed.store)
    code = bed.go_on()
    gone = {file for file in before.keys() - survey(bed.store).keys() if bed.is_kept(file)}
    require(not (code == 0 and gone), f"destructive: {sorted(gone)[:3]} went, OK")
    require(not bed.is_silent(), "silent after going on: other values, and nobody says so")


def try_all(bed, is_quick):
    chance = random.Random(SEED)
    count, problems = 0, []
    bed.make()
    for name in bed.names():
        for bit in flips_of(bed.whole / name, is_quick, chance):
            count += 1
            try:
                try_flip(bed, name, bit)
            except Failure as failure:
                problems.append(f"{name}, byte {bit // 8}, bit {bit % 8}: {failure}")
    return count, problems


def main():
    subject, tool, make_store, length = sys.argv[1:]
    total, found = 0, []
    for kind in (Series, OpenSeries, Copy, CopyOfTwoPasses, Checkpoint, Sealed, Append):
        with scratch() as folder:
            count, problems = try_all(kind(Programs(subject, tool), make_store, Path(folder)), length == "quick")
        print(f"{kind.__name__}: {count} flips, {len(problems)} problems", flush=True)
        total += count
        found += [f"{kind.__name__}: {problem}" for problem in problems]
    for problem in found[:20]:
        print(problem)
    if found:
        sys.exit(f"flips: {len(found)} of {total} flips were silent or destructive")


if __name__ == "__main__":
    main()
