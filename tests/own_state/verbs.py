#!/usr/bin/env python3
"""verbs.py SUBJECT TOOL MAKE_STORE COUNT: files that Parapet left for itself are changed at random, their checksums mended,
and then every verb that reads them runs: check, copy that goes on, gc, info, ls, opening a series. Each ends in a status
within two seconds of computing and 1 GiB, without a crash."""

import random
import re
import shutil
import struct
import sys
from pathlib import Path

from state import Failure, Programs, crc32c, mended_job, require, scratch

SEED = 7
MEMORY = 1 << 30
CPU_SECONDS = 2  # none needs a twentieth of it
NUMBERS = [0, 1, 2, 7, 255, 2**15, 2**31 - 1, 2**31, 2**32, 2**40, 2**62, 2**63 - 1, 2**63, 2**64 - 1]


def mutate_text(data, chance):
    """Other numbers, lines that are gone, doubled or cut."""
    choice = chance.randrange(4)
    numbers = list(re.finditer(rb"\d+", data))
    lines = data.splitlines(keepends=True)
    if choice == 0 and numbers:
        found = chance.choice(numbers)
        return data[:found.start()] + str(chance.choice(NUMBERS)).encode() + data[found.end():]
    if choice == 1 and lines:
        del lines[chance.randrange(len(lines))]
    elif choice == 2 and lines:
        lines.insert(chance.randrange(len(lines)), chance.choice(lines))
    else:
        return mutate_bytes(data, chance)
    return b"".join(lines)


def mutate_bytes(data, chance):
    data = bytearray(data)
    choice = chance.randrange(3)
    at = chance.randrange(len(data) + 1)
    if choice == 0:
        return bytes(data[:at])
    if choice == 1 and len(data) >= 8:
        at = chance.randrange(len(data) - 7) // 8 * 8
        data[at:at + 8] = struct.pack("<Q", chance.choice(NUMBERS))
        return bytes(data)
    data[at:at] = bytes(chance.randrange(256) for _ in range(chance.randrange(1, 40)))
    return bytes(data)


def change_job(data, chance):
    end = data.rfind(b"crc32c: ")
    return mended_job(mutate_text(data[:end], chance))


def change_commit(data, chance):
    text = mutate_text(data[:data.rfind(b"crc32c ")], chance)
    return text + b"crc32c %08x\n" % crc32c(text)


def change_journal(data, chance):
    payload = mutate_bytes(data[8:-4], chance)
    record = struct.pack("<Q", chance.choice([len(payload), len(payload), chance.choice(NUMBERS)])) + payload
    return record + struct.pack("<I", crc32c(record))


def change_sealed(data, chance):
    """Records that end in the CRC-32C of what is before it: heads and pages of manifests, finished work units."""
    body = mutate_bytes(data[:-4], chance)
    return body + struct.pack("<I", crc32c(body))


def change_mark(data, chance):
    found = re.search(rb'"_parapet": *\{.*?\}\s*\}', data, re.DOTALL)
    if not found:
        return mutate_text(data, chance)
    return data[:found.start()] + mutate_text(found[0], chance) + data[found.end():]


MUTATORS = [(r"/(copy/job|changes?)$", change_job), (r"/commits/", change_commit), (r"/lot-\d+$", change_journal),
            (r"/(done-\d+|seal)$|/manifest/\d+$", change_sealed), (r"zarr\.json$", change_mark),
            (r"/(finished-\d+|claim)$|/open/", mutate_bytes)]


def state_files(store):
    for path in sorted(store.rglob("*")):
        if path.is_file():
            name = path.relative_to(store).as_posix()
            for pattern, change in MUTATORS:
                if re.search(pattern, "/" + name):
                    yield path.relative_to(store), change
                    break


def make_stores(programs, make_store, folder):
    """name -> store and the verbs beside those that every store gets."""
    copy, two, series, checkpoint, sealed = (folder / f"{name}.zarr"
                                             for name in ("copy", "two", "series", "checkpoint", "sealed"))
    source = folder / "source.zarr"
    programs.must("source", source)
    programs.do("copy", source, copy, 30000, 1)
    programs.do("copy", source, two, 90000, 2)
    programs.must("series", series, 6)
    programs.must("abandon", series, 6)
    programs.run(make_store, "checkpoint", checkpoint, "restart", "1", "2")
    programs.run(make_store, "grid", sealed, "none", "4")
    programs.run(make_store, "seal", sealed, "data")
    return {copy: [("copy", source, copy, 0, 1)], two: [("copy", source, two, 0, 2)],
            series: [("repair", series, "refuse"), ("append", series, 1)], checkpoint: [], sealed: []}


def run_verbs(programs, store, verbs):
    limits = {"memory": MEMORY, "cpu_seconds": CPU_SECONDS}
    for words in (["ls", "-l"], ["info"], ["check", "-q"], ["check", "-q", "--restore-test"]):
        programs.run(programs.tool, *words, store, **limits)
    for verb in verbs:
        programs.do(*verb, **limits)
    programs.run(programs.tool, "gc", "-q", store, **limits)


def main():
    subject, tool, make_store, count = sys.argv[1:]
    programs, chance = Programs(subject, tool), random.Random(SEED)
    with scratch() as folder:
        stores = make_stores(programs, make_store, Path(folder))
        files = [(store, name, change) for store in stores for name, change in state_files(store)]
        require(len(files) > 10, "there are no files to change")
        for turn in range(int(count)):
            store, name, change = files[turn % len(files)]
            kept = store.with_suffix(".kept")
            shutil.copytree(store, kept)
            changed = change((store / name).read_bytes(), chance)
            (store / name).write_bytes(changed)
            try:
                run_verbs(programs, store, stores[store])
            except Failure as failure:
                (Path.cwd() / "verbs-found").write_bytes(changed)
                sys.exit(f"turn {turn}: {store.name}/{name} (kept in verbs-found): {failure}")
            shutil.rmtree(store)
            kept.rename(store)
    print(f"{count} changes of {len(files)} files")


if __name__ == "__main__":
    main()
