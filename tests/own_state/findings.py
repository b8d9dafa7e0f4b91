#!/usr/bin/env python3
"""findings.py SUBJECT TOOL NAME: damaged, hostile and foreign state of our own, one story after the other."""

import json
import re
import shutil
import struct
import sys
from pathlib import Path

from state import Failure, Programs, mended_job, require, scratch, survey

JOB = "a/__parapet/copy/job"
COPY_BYTES = 30000  # of 64 KiB: about half of a pass


def interrupted_copy(programs, folder, passes=1):
    """A copy that was cancelled on its way: source and target."""
    source, target = folder / "source.zarr", folder / "target.zarr"
    programs.must("source", source)
    code, said = programs.do("copy", source, target, COPY_BYTES, passes)
    require(code == 1 and "cancelled" in said, f"the copy was not interrupted: {said}")
    return source, target


def refuses(programs, source, target, what):
    """Taking the copy up is refused with a sentence, and nothing of it is lost."""
    before = survey(target)
    code, said = programs.do("copy", source, target, 0, 1)
    require(code == 1 and re.search("CORRUPT|ARGUMENT|FORMAT", said), f"{what}: {said or 'OK'}")
    after = survey(target)
    require(before.items() <= after.items(), f"{what}: {set(before) - set(after)} went")


def mutations_of_job(job):
    """(what, bytes) of jobs whose checksum is right and that are not ours."""
    lines = job[:job.rindex(b"crc32c: ")]
    words, inputs = lines.split(b"\n\n", 1)
    yield "no description", mended_job(b"\n\n" + inputs)
    yield "no inputs", mended_job(words + b"\n\n")
    yield "an old job with a plan in binary", words + b"\n\nplan:" + bytes(25496) + struct.pack("<I", 0)
    for name in re.findall(rb"(?m)^(\w+): \d+$", inputs):
        for value in (b"-1", b"", b"9223372036854775807", b"99999999999999999999", b"1e3", b"00"):
            changed = re.sub(rb"(?m)^(" + name + rb"): \d+$", rb"\1: " + value, lines)
            yield f"{name.decode()} = {value.decode()}", mended_job(changed)
    yield "another plan", mended_job(re.sub(rb"\nplan: [0-9a-f]{8}", b"\nplan: 00000000", lines))
    yield "a line more", mended_job(lines + b"more: 1\n")
    yield "a NUL", mended_job(lines.replace(b"\nranks", b"\0ranks"))
    yield "too long", mended_job(lines + b"x" * (1 << 20))


def finding_F2(programs, folder):
    source, target = interrupted_copy(programs, folder)
    job = (target / JOB).read_bytes()
    count = 0
    accepted = []
    for what, changed in mutations_of_job(job):
        (target / JOB).write_bytes(changed)
        kept = folder / "kept.zarr"
        shutil.copytree(target, kept)
        code, said = programs.do("copy", source, target, 0, 1)
        if code == 0:  # a number that changes nothing of the plan
            accepted.append(what)
            code, said = programs.run(programs.tool, "diff", "-q", source, target)
            require(code == 0, f"{what}: taken up, and copied something else: {said}")
        else:
            require(re.search("CORRUPT|ARGUMENT|FORMAT|MEMORY", said), f"{what}: {said}")
            require(survey(kept).items() <= survey(target).items(), f"{what}: something went")
        shutil.rmtree(target)
        kept.rename(target)
        count += 1
    require(not [what for what in accepted if not re.match(r"\w+ = \d+$", what)], f"accepted: {accepted}")
    for position in range(0, len(job), 7):
        flipped = bytearray(job)
        flipped[position] ^= 1 << position % 8
        (target / JOB).write_bytes(flipped)
        refuses(programs, source, target, f"a flipped bit in byte {position}")
        count += 1
    (target / JOB).write_bytes(job)
    programs.must("copy", source, target, 0, 1)
    code, said = programs.run(programs.tool, "diff", "-q", source, target)
    require(code == 0, f"the copy that was taken up is another: {said}")
    return f"{count} jobs that are not ours: {len(accepted)} mean the same, the rest is refused"


def finding_F3(programs, folder):
    source, target = interrupted_copy(programs, folder)
    state = target / "a/__parapet/copy/pass-0"
    claimed = 3 << 30
    for log in state.glob("done-*"):
        log.unlink()
    for number in range(4):
        with (state / f"lot-{number}").open("wb") as journal:
            journal.write(struct.pack("<Q", claimed - 12))
            journal.truncate(claimed)
    code, said = programs.do("copy", source, target, 0, 1, memory=1 << 30)
    require("MEMORY" not in said, f"memory was taken for what a record claims: {said}")
    if code == 0:
        code, said = programs.run(programs.tool, "diff", "-q", source, target)
        require(code == 0, f"the copy is another: {said}")
    return "journals that claim 3 GiB were passed over"


def finding_F9(programs, folder):
    """A bit that flips in the file of open steps is found when the row is written, and no step is committed."""
    piece_bytes = 4000 * 8 + 8  # with its checksum; a step has 10
    whole = folder / "whole.zarr"
    programs.must("staged", whole, -1)
    require(len(programs.must("values", whole).split()) == 4, "the row that nobody damaged is not there")
    for position in (0, 12345, piece_bytes - 8, piece_bytes - 1, piece_bytes, 25 * piece_bytes + 77):
        store = folder / f"{position}.zarr"
        code, said = programs.do("staged", store, position)
        require(code == 1 and "CORRUPT" in said and "checksum" in said, f"byte {position}: {said or 'OK'}")
        require(programs.must("values", store) == "", f"byte {position}: a step was committed")
    return "6 flipped bits in open steps were found"


def changed_documents(store, steps, is_consolidated):
    """What another program makes of a series when it appends: longer arrays, and more shards."""
    group = json.loads((store / "run/zarr.json").read_text())
    for name in ("u", "time"):
        path = store / "run" / name / "zarr.json"
        document = json.loads(path.read_text())
        document["shape"][0] = steps
        path.write_text(json.dumps(document))
        if is_consolidated:
            group["consolidated_metadata"]["metadata"][name]["shape"][0] = steps
    (store / "run/zarr.json").write_text(json.dumps(group))
    shutil.copytree(store / "run/u/c/1", store / "run/u/c/2")


def finding_F5(programs, folder):
    """Steps that another program appended stay until somebody decides."""
    for is_consolidated in (False, True):
        store = folder / f"series-{is_consolidated}.zarr"
        programs.must("series", store, 8)
        changed_documents(store, 12, is_consolidated)
        before = survey(store)
        for verb, *words in (("append", 0), ("repair", "refuse")):
            code, said = programs.do(verb, store, *words)
            require(code == 1 and "FORMAT" in said and "PARAPET_BEYOND_ADOPT" in said, f"{verb}: {said or 'OK'}")
            require(survey(store) == before, f"{verb}: something was changed")
        code, said = programs.run(programs.tool, "check", store)
        require(code == 4 and "12 steps" in said or "8 steps" in said, f"check: {said}")
        adopted, cut = folder / "adopted.zarr", folder / "cut.zarr"
        for target, choice, steps in ((adopted, "adopt", 12), (cut, "cut", 8)):
            shutil.copytree(store, target)
            programs.must("repair", target, choice)
            programs.must("append", target, 4)
            require(len(programs.must("values", target).split()) == steps + 4, f"{choice}: other steps")
            code, said = programs.run(programs.tool, "check", target)
            require(code == 0, f"{choice}, then check: {said}")
            shutil.rmtree(target)
    return "steps of another program were refused, adopted and cut off"


def structure_is_guarded(programs, store):
    """A field of an array's own document that is not what the group repeats is refused; attributes are anybody's."""
    path = store / "run/u/zarr.json"
    text = path.read_text()
    document = json.loads(text)
    for field, value in (("shape", [8, 101]), ("fill_value", 1.0), ("dimension_names", ["time", "y"])):
        path.write_text(json.dumps({**document, field: value}))
        before = survey(store)
        for verb, *words in (("append", 0), ("repair", "refuse"), ("repair", "cut")):
            code, said = programs.do(verb, store, *words)
            require(code == 1 and "FORMAT" in said and "run/u/zarr.json" in said, f"{field}, {verb}: {said or 'OK'}")
            require(survey(store) == before, f"{field}, {verb}: something was changed")
    path.write_text(json.dumps({**document, "dimension_names": ["time", "y"]}))
    programs.must("repair", store, "adopt")
    path.write_text(json.dumps({**document, "dimension_names": ["time", "y"], "attributes": {"units": "K"}}))
    programs.must("append", store, 0)
    path.write_text(text)
    programs.must("repair", store, "adopt")


def finding_F10(programs, folder):
    """A bit that flips in the group's document never leads to a removal."""
    store = folder / "series.zarr"
    programs.must("series", store, 8)
    path = store / "run/zarr.json"
    text = path.read_bytes()
    values, shards = programs.must("values", store), survey(store / "run/u/c")
    mark = re.search(rb'"_parapet": *\{.*?\}\s*\}', text, re.DOTALL)
    refused = 0
    for position in range(mark.start(), mark.end()):
        for bit in range(8):
            flipped = bytearray(text)
            flipped[position] ^= 1 << bit
            if bit != position % 8 and chr(text[position]) not in "0123456789":
                continue
            path.write_bytes(flipped)
            code, said = programs.do("append", store, 0)
            require(survey(store / "run/u/c") == shards, f"byte {position}, bit {bit}: shards went: {said or 'OK'}")
            if code == 1:
                refused += 1
                require(path.read_bytes() == flipped, f"byte {position}, bit {bit}: refused, but something was changed")
    path.write_bytes(text.replace(b'"steps": 8', b'"steps": 0'))
    code, said = programs.run(programs.tool, "check", store)
    require(code == 4 and "0 are committed" in said or "0 steps" in said, f"check: {said}")
    path.write_bytes(re.sub(rb'"arrays": *\[\s*"u"\s*\]', b'"arrays": ["u", "u"]', text))
    code, said = programs.do("append", store, 0)
    require(code == 1 and "twice" in said, f"an array twice: {said or 'OK'}")
    path.write_bytes(text)
    programs.must("append", store, 0)
    structure_is_guarded(programs, store)
    require(programs.must("values", store) == values, "the values are others")
    return f"{refused} flipped bits were refused, none removed anything"


def main():
    subject, tool, name = sys.argv[1:]
    programs = Programs(subject, tool)
    try:
        with scratch() as folder:
            print(globals()[name](programs, Path(folder)))
    except Failure as failure:
        sys.exit(f"{name}: {failure}")


if __name__ == "__main__":
    main()
