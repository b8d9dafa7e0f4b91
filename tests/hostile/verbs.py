#!/usr/bin/env python3
"""Every verb of the tool over every hostile store, made anew for each: an exit code that its help has, within ten seconds
of computing and a gigabyte, and no report of a sanitizer.

    verbs.py TOOL [--every N] [--only WORD] [--stores N]

Every Nth run, or those with the word in them, or all runs of N stores; prints what failed.

The verbs and what they take are those of `parapet help`, so a new one is in this test by itself. Two stores are those of
make_hostile.py, as the group and as the array in it, or groups with a coordinate of any length that a document can have.
"""
import argparse
import concurrent.futures
import itertools
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

import make_hostile as made

MEMORY, FILE_BYTES = 1 << 30, 64 << 20
PROCESSES = 2  # at a time
HANGS_SECONDS = 300  # on a machine that has other things to do
# What neither reads nor writes a store.
NOT_OF_STORES = {"selftest", "completion", "bench disks"}
# What takes as long as an array is, however little of it is stored: a second of it is looked at.
AS_LONG_AS_ARRAYS = {"dump"}
FLAGS = {"append": [[], ["--dry-run"]], "check": [[], ["--restore-test"]], "copy": [[], ["--overwrite"]],
         "rm": [["--recursive"]]}
SANITIZED = os.environ.get("PARAPET_TEST_SANITIZED", "") != ""
CPU_SECONDS = 60 if SANITIZED else 10  # large JSON takes them twenty times as long
REPORT = re.compile(r"ERROR: \w+Sanitizer|runtime error:")
LENGTHS = [0, 2**31, 2**40, 2**50, 2**60, 2**61 - 1, 2**61, 2**61 + 1, 2**61 + 100, 2**62, 2**63 - 1]


def coordinate(length, chunk, kind):
    """A group with a sparse coordinate of that length, as it might be appended to another."""
    def build(place):
        names = {"dimension_names": ["time"]}
        place.write("time/zarr.json", made.array_document(
            shape=[length], data_type=kind, chunk_grid=made.chunk_shape(chunk), **names))
    return build


def coordinates():
    texts = {"name": "null_terminated_bytes", "configuration": {"length_bytes": 2**20}}
    for length, shift in itertools.product(LENGTHS, (0, 10, 40, 61)):
        yield f"coordinate_{length}_{shift}", coordinate(length, 2**shift, "int64"), "time"
    for length in LENGTHS:
        yield f"texts_{length}", coordinate(length, 1, texts), "time"


def stores():
    """(name, what builds it, the array in it)"""
    for name, _, _, _, _, build in made.CASES:
        yield name, build, "a"
    yield from coordinates()


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def verbs(tool):
    """(verb, what it takes, its exit codes)"""
    names = re.findall(r"^  ([a-z]+(?: [a-z]+)?)  ", output_of(tool, "help").split("Verbs:")[1], re.M)
    for name in names:
        text = output_of(tool, "help", *name.split())
        takes = re.search(rf"^Usage: parapet {name} \[options\](.*)$", text, re.M)[1].split()
        codes = re.search(r"^Exit codes: (.*?)(?:\n\n|\Z)", text, re.M | re.S)[1]
        if name not in NOT_OF_STORES:
            yield name, len(takes), {int(code) for code in re.findall(r"(?:^|,)\s*(\d)\b", codes)}


def commands(verb, count, array):
    """The words of its runs: on the group and on the array, as the first of two and as the second."""
    for flags, path in itertools.product(FLAGS.get(verb, [[]]), ("", array)):
        words, store, other = [*verb.split(), *flags], f"store/{path}", f"innocent/{path}"
        if count < 2:
            yield [*words, *[store] * count]
        else:
            yield [*words, store, other]
            yield [*words, other, store]
    if count == 2:
        yield [*verb.split(), "store", "new"]


def limit(seconds):
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    if not SANITIZED:  # sanitizers reserve address space without end
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def judge(command, codes, folder):
    """What is wrong with a run, or None."""
    is_long = bool(AS_LONG_AS_ARRAYS & set(command))
    environment = {**os.environ, "ASAN_OPTIONS": "exitcode=99", "UBSAN_OPTIONS": "halt_on_error=1:exitcode=99"}
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              timeout=HANGS_SECONDS, env=environment, cwd=folder,
                              preexec_fn=lambda: limit(1 if is_long else CPU_SECONDS))
    except subprocess.TimeoutExpired:
        return "did not end"
    said = done.stderr.decode(errors="replace")
    if REPORT.search(said):
        return said
    if is_long and done.returncode == -signal.SIGXCPU:
        return None
    return None if done.returncode in codes else f"ended with {done.returncode}: {said[-300:]}"


def place_at(top, root):
    place = made.Place.__new__(made.Place)
    place.top, place.root, place.outside = str(top), str(root), str(top / "outside")
    os.makedirs(root)
    place.write("zarr.json", '{"zarr_format": 3, "node_type": "group", "attributes": {}}')
    return place


def make_stores(top, folder, build, array):
    """The hostile one, and one of which nothing is to be feared."""
    build(place_at(top, folder / "store"))
    innocent = place_at(top, folder / "innocent")
    if array == "time":
        coordinate(4, 4, "int64")(innocent)
    else:
        innocent.write("a/zarr.json", made.array_document())


def runs(tool, count):
    known, among = list(verbs(tool)), list(stores())
    few = min(count, len(among))
    for name, build, array in (among[i * len(among) // few] for i in range(few)):
        for verb, count, codes in known:
            for words in commands(verb, count, array):
                yield name, build, array, words, codes


def run_all(options, top):
    made.write_outside(str(top))

    def run(number, name, build, array, words, codes):
        folder = top / str(number)
        make_stores(top, folder, build, array)
        problem = judge([options.tool, *words], codes, folder)
        shutil.rmtree(folder, ignore_errors=True)
        return f"{name}: {' '.join(words)}", problem

    chosen = ((number, *each) for number, each in enumerate(runs(options.tool, options.stores))
              if number % options.every == 0 and options.only in f"{each[0]}: {' '.join(each[3])}")
    with concurrent.futures.ThreadPoolExecutor(PROCESSES) as pool:
        yield from pool.map(run, *zip(*chosen))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("tool")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--stores", type=int, default=sys.maxsize)
    options = parser.parse_args()
    made.gather_cases()
    count, problems, among = 0, 0, set()
    with tempfile.TemporaryDirectory(prefix="parapet-verbs-", dir=os.environ.get("TMPDIR")) as folder:
        for words, problem in run_all(options, pathlib.Path(folder)):
            count += 1
            among.add(words.split(":")[0])
            if problem:
                problems += 1
                print(f"{words}: {problem}", flush=True)
    print(f"{count} runs over {len(among)} stores, {problems} problems")
    return 1 if problems or not count else 0


if __name__ == "__main__":
    sys.exit(main())
