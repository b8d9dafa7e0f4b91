#!/usr/bin/env python3
"""What is stored, compared with what was stored when recorded.txt was made.

    digest.py PROGRAM [--mpiexec PATH --ranks N] [--test | --record]

PROGRAM is make_digest_stores: it makes a fixed set of stores in a scratch folder. Every file of them is compared
with recorded.txt by its SHA-256; a difference names the store and the file. --test damages the stores and looks
whether that is noticed.

recorded.txt was made once, before the code was moved, and is not made anew: when the API changes, PROGRAM is
ported, and stores the same. --record is how it was made. Seven lines are newer, the documents of groups that copies
finish: they keep their consolidated metadata now. So are those that tell of seals, since version 2 of the manifest has
the checksums of chunks in its pages, and small pages in the seal itself: seals, the documents and commit records that
name them, and one job that copies a sealed array. No line of an array that is not sealed is among them. Bytes of gzip
are libdeflate's now, which writes others than zlib did; only lines with ~ are among those. A line is

    = <SHA-256, the first 32 digits> <store>/<file>    or
    ~ <SHA-256, the first 32 digits> <store>/<file>    where the bytes are a compressor's, or tell of such bytes

Compressors of other versions write other bytes. recorded.txt names the versions; with others, only the lines
with = are compared, and the names of the files of the rest. Directories without files are not looked at: they are no
objects.

Two files of an interrupted copy are reduced to what is the same in every run, see reduce_job and reduce_finished. Of
the first, the job, only the words that say what is copied are compared: when recorded.txt was made the plan stood
behind them as it was in memory, and now there stands what it is made from. Open steps are compared without their
checksums, see reduce_open.
Locks (__parapet/lock) are left out: they say which job came last.
"""

import argparse
import contextlib
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "harness"))
from crc32c import crc32c  # noqa: E402
RECORDED = HERE / "recorded.txt"
DIGITS = 32
SHOWN = 20

# What is made on one rank only: the work units of a copy are dealt out to the ranks, so that the order of chunks
# within its shards, its journals and its plan depend on their number, and a process that is killed leaves a log per
# rank.
ALONE = ("abandoned_", "compressed_copies", "compressed_foreign", "compressed_source", "copies", "copy_source",
         "interrupted_", "resumed")


def is_lock(path):
    return path.parts[-2:] == ("__parapet", "lock")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("--mpiexec", help="the launcher")
    parser.add_argument("--ranks", type=int, default=0, help="0: one process without MPI")
    parser.add_argument("--test", action="store_true", help="damages the stores, to see that it is noticed")
    parser.add_argument("--record", action="store_true", help="writes recorded.txt; it is there already")
    return parser.parse_args()


def run(arguments, *words):
    command = [str(arguments.program.resolve()), *words]
    if arguments.ranks > 0 and words[0] != "libraries":
        command = [arguments.mpiexec, "-n", str(arguments.ranks), *command]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PARAPET_")}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"digest: {' '.join(command)} ended with {done.returncode}")
    return done.stdout


@contextlib.contextmanager
def made_stores(arguments):
    place = os.environ.get("TMPDIR") or ("/dev/shm" if os.access("/dev/shm", os.W_OK) else ".")
    with tempfile.TemporaryDirectory(prefix="parapet-digest-", dir=place) as folder:
        run(arguments, "ranks" if arguments.ranks > 0 else "alone", folder, str(HERE.parent / "conformance"))
        yield Path(folder)


def reduce_job(data):
    """What is copied, in words.

    The version of the source's objects is of inodes and times. When recorded.txt was made the size of the plan stood
    in the first line, because the plan stood behind the words, in binary: the place where it was is filled again. What
    stands there now, what the plan is made from, depends on what was measured and has a test of its own."""
    words, found, rest = data.partition(b"\n\nranks: ")
    words, count = re.subn(rb"(?m)^(stored objects of the source: )[0-9a-f]{16}$", rb"\1version", words)
    words, first = re.subn(rb"\A(copy by parapet [^\n]*)$", rb"\1 (size)", words, flags=re.MULTILINE)
    if not found or count != 1 or first != 1 or not re.search(rb"\nplan: [0-9a-f]{64}\ncrc32c: [0-9a-f]{8}\n\Z", rest):
        sys.exit("digest: the job of a copy does not look like one")
    return words


def reduce_finished(data):
    """The arrays of a group that are complete, each behind the version of its source: of inodes and times."""
    return re.sub(rb"(?m)^[0-9a-f]{16} ", b"version ", data)


def reduce_open(data):
    """Open steps of a series, without the checksum behind every piece: it is younger than recorded.txt. A checksum is
    a CRC-32C of the piece and of its place, and the same with all bits turned."""
    kept, start, end = b"", 0, 0
    while end + 8 <= len(data):
        found, turned = (int.from_bytes(data[at:at + 4], "little") for at in (end, end + 4))
        if found ^ turned == 0xFFFFFFFF and found == crc32c(data[start:end] + start.to_bytes(8, "little")):
            kept += data[start:end]
            start = end = end + 8
        else:
            end += 1
    if start != len(data):
        sys.exit("digest: an open step has a piece without a checksum")
    return kept


def digest(data):
    return hashlib.sha256(data).hexdigest()[:DIGITS]


def describe(name, data):
    """Yields the (name, mark, digest) that stand for a file."""
    depends = name.startswith("compressed_") and not (name.endswith("/zarr.json") and b'"sealed"' not in data)
    mark = "~" if depends else "="
    if name.endswith("/__parapet/copy/job"):
        data = reduce_job(data)
    if name.endswith("/__parapet/changes"):
        return  # what a series was about to do when its job was abandoned: younger than recorded.txt
    if name.endswith("/__parapet/copy/finished"):
        data = reduce_finished(data)
    if re.search("/__parapet/open/[0-9]+$", name):
        data = reduce_open(data)
    yield name, mark, digest(data)


def survey(folder):
    """name -> (mark, digest) of everything below folder."""
    found = {}
    for path in sorted(path for path in folder.rglob("*") if (path.is_file() or path.is_symlink()) and not is_lock(path)):
        for name, mark, value in describe(path.relative_to(folder).as_posix(), path.read_bytes()):
            found[name] = (mark, value)
    return found


def read_recorded():
    libraries, recorded = [], {}
    for line in RECORDED.read_text().splitlines():
        if line.startswith("library "):
            libraries.append(line.removeprefix("library "))
        elif line and not line.startswith("#"):
            mark, value, name = line.split(" ", 2)
            recorded[name] = (mark, value)
    return libraries, recorded


def record(libraries, found):
    head = ["# Made once, by digest.py --record, before the code was moved. Not to be made anew: see digest.py."]
    head += [f"library {library}" for library in libraries]
    lines = [f"{mark} {value} {name}" for name, (mark, value) in sorted(found.items())]
    RECORDED.write_text("\n".join(head + lines) + "\n")
    print(f"recorded {len(lines)} digests")


def is_alone(name):
    return name.startswith(ALONE)


def without_plans(recorded):
    """Leaves out the plans as they were in memory: they are not stored any more, see reduce_job."""
    return {name: value for name, value in recorded.items() if ":plan-of-" not in name}


def compare(recorded, found, has_same_libraries):
    """Yields one sentence for each difference."""
    for name in sorted(recorded.keys() | found.keys()):
        store, _, file = name.partition("/")
        if name not in found:
            yield f"{store}: {file} is missing"
        elif name not in recorded:
            yield f"{store}: {file} is new"
        elif recorded[name][0] == "~" and not has_same_libraries:
            continue
        elif recorded[name][1] != found[name][1]:
            yield f"{store}: {file} differs: {recorded[name][1]} was recorded, {found[name][1]} is stored"


def check(arguments, found, libraries):
    were, recorded = read_recorded()
    if arguments.ranks > 0:
        recorded = {name: value for name, value in recorded.items() if not is_alone(name)}
    if were != libraries:
        skipped = sum(mark == "~" for mark, _ in recorded.values())
        print(f"skipped: the bytes of {skipped} files depend on the compressors; recorded with {', '.join(were)}, "
              f"but here is {', '.join(libraries)}")
    recorded = without_plans(recorded)
    count = sum(mark == "=" or were == libraries for mark, _ in recorded.values())
    return list(compare(recorded, found, were == libraries)), count


def damage(folder):
    """Changes one byte, removes a file, adds one, and forgets a whole store; returns what must be said of it."""
    changed = folder / "series/rows/u/c/1/0/0"
    data = bytearray(changed.read_bytes())
    data[len(data) // 2] ^= 1
    changed.write_bytes(data)
    (folder / "checkpoints/two/__parapet/commits/00000003").unlink()
    (folder / "types/bool/sharded/c/7").write_bytes(b"")
    shutil.rmtree(folder / "elided")
    job = folder / "interrupted_late/two/__parapet/copy/job"
    job.write_bytes(job.read_bytes().replace(b"source array: a", b"source array: b"))
    return {"series": "rows/u/c/1/0/0 differs", "checkpoints": "two/__parapet/commits/00000003 is missing",
            "types": "bool/sharded/c/7 is new", "elided": "zarr.json is missing",
            "interrupted_late": "two/__parapet/copy/job differs"}


def test(arguments, folder, libraries):
    expected = damage(folder)
    problems, _ = check(arguments, survey(folder), libraries)
    for store, words in expected.items():
        if not any(problem.startswith(f"{store}: {words}") for problem in problems):
            sys.exit(f"digest: nobody noticed that in {store}, {words}")
    others = [problem for problem in problems if problem.split(":")[0] not in expected]
    if others:
        sys.exit("digest: more than what was damaged: " + others[0])
    print(f"{len(problems)} differences, all of them made here")


def main():
    arguments = parse_arguments()
    libraries = run(arguments, "libraries").splitlines()
    with made_stores(arguments) as folder:
        if arguments.test:
            test(arguments, folder, libraries)
            return
        found = survey(folder)
    if arguments.record:
        record(libraries, found)
        return
    problems, count = check(arguments, found, libraries)
    for problem in problems[:SHOWN]:
        print(problem)
    if problems:
        sys.exit(f"digest: {len(problems)} of {count} files are not stored as they were; {RECORDED} is not made anew")
    print(f"{count} files are stored as they were")


if __name__ == "__main__":
    main()
