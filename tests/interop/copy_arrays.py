"""Random arrays of three writers, copied with random changes."""

import collections
import dataclasses
import json
import random
from pathlib import Path

import numpy

import cases
import copy_changes
import copy_readers
import copy_tool
import foreign
import foreign_tensorstore
import foreign_zarr
import interop
import limits


@dataclasses.dataclass
class Source:
    """An array to copy, and its truth as plain bytes."""

    name: str
    writer: str
    words: str
    array: Path
    truth: numpy.ndarray
    fill: bytes
    names: list
    attributes: dict


def make_foreign(arguments, folder, prefix, module, failures):
    for number in range(arguments.arrays):
        name = f"{prefix}{number:03}"
        if not copy_tool.is_wanted(arguments, name):
            continue
        chance, case = foreign.start_case(f"{arguments.seed}/copy", prefix, number, folder)
        if not copy_tool.attempt(failures, name, "the writer fails", lambda: module.make_case(chance, number, case)):
            continue
        if any(limit.reader == "Parapet" and limit.applies(case) for limit in limits.LIMITS):
            continue
        yield Source(name, case.writer, case.words, case.store / case.path, case.truth, case.fill, case.names,
                     case.attributes)


def make_own(arguments, folder, failures):
    """Arrays that Parapet wrote, with shards, chunks left out, and seals."""
    names = [f"w{number:03}" for number in range(arguments.arrays)]
    made = [cases.make_case(f"{arguments.seed}/copy", number, folder) for number, name in enumerate(names)
            if copy_tool.is_wanted(arguments, name)]
    outcomes = interop.run_driver(arguments, [line for case in made for line in cases.write_script(case)])
    for case in made:
        if outcomes.get(case.name, "it was not reached") is not None:
            failures.append(case.name)
            print(f"FAILED {case.name}: Parapet cannot write it: {outcomes.get(case.name)}")
            continue
        data = case.data
        names = list(data.dimension_names) if data.shape else []
        yield Source(case.name, "Parapet", case.words, case.store / data.path, data.truth,
                     data.fill or bytes(data.size), names, data.attributes)


def load_json(path):
    return json.loads(path.read_text(encoding="utf-8"))


def stored_attributes(array):
    """As they stand in the document, without the seal."""
    if (array / "zarr.json").exists():
        attributes = load_json(array / "zarr.json").get("attributes", {})
    else:
        attributes = load_json(array / ".zattrs") if (array / ".zattrs").exists() else {}
    attributes.pop("_parapet", None)
    return json.dumps(attributes)


def chunk_codecs(document):
    sharding = document["codecs"][0]
    return sharding["configuration"]["codecs"] if sharding["name"] == "sharding_indexed" else document["codecs"]


def stored_layout(document):
    """The shapes of chunks and, if there are any, of shards."""
    outer = document["chunk_grid"]["configuration"]["chunk_shape"]
    if document["codecs"][0]["name"] != "sharding_indexed":
        return outer, None
    return document["codecs"][0]["configuration"]["chunk_shape"], outer


def require_layout(document, changes, shape):
    """What was asked for is what there is."""
    chunks, shards = stored_layout(document)
    wanted_chunks, wanted_shards = changes.layout(shape)
    if wanted_chunks is not None:
        copy_tool.require_equal("chunks", chunks, wanted_chunks)
    if wanted_shards is not None:
        copy_tool.require_equal("shards", shards, wanted_shards)
    if changes.is_unsharded:
        copy_tool.require_equal("shards", shards, None)
    if changes.codec is None:
        return
    name = changes.codec.split(":")[0]
    expected = ["bytes", *([] if name == "none" else [name]), *(["crc32c"] if changes.has_checksum else [])]
    copy_tool.require_equal("codecs", [codec["name"] for codec in chunk_codecs(document)], expected)


def check_document(source, target, changes, shape):
    document = load_json(target / "zarr.json")
    copy_tool.require_equal("shape", document["shape"], list(shape))
    if source.names is not None and shape:
        copy_tool.require_equal("dimension names", document.get("dimension_names"), changes.names(source.names))
    before = stored_attributes(source.array)
    copy_tool.require_equal("attributes, in their order", json.dumps(document.get("attributes", {})), before)
    if (source.array / "zarr.json").exists():
        copy_tool.require_equal("data_type", document["data_type"], load_json(source.array / "zarr.json")["data_type"])
    require_layout(document, changes, shape)


def copy_and_check(arguments, source, target, changes, report):
    expected = numpy.ascontiguousarray(changes.apply(source.truth)).reshape(changes.apply(source.truth).shape)
    copy_tool.copy_within(arguments, source.array, target, changes)
    check_document(source, target, changes, expected.shape)
    copy_tool.require_sound(arguments, target)
    if changes.moves_nothing:
        copy_tool.require_same(arguments, source.array, target)
    for reader, check in copy_readers.READERS.items():
        if copy_readers.knows(reader, target):
            check(target, expected, source.fill, source.attributes)
            report[reader] += 1


def all_sources(arguments, folder, failures):
    yield from make_foreign(arguments, folder, "z", foreign_zarr, failures)
    yield from make_foreign(arguments, folder, "t", foreign_tensorstore, failures)
    yield from make_own(arguments, folder, failures)


def run(arguments, folder):
    failures, copied, report = [], [], collections.Counter()
    folder = folder / "arrays"
    for source in all_sources(arguments, folder, failures):
        chance = random.Random(f"{arguments.seed}/copy/changes/{source.name}")
        changes = copy_changes.choose(chance, source.truth.shape, source.names)
        target = folder / source.name / "copy.zarr" / chance.choice(["", "a/b"])
        words = f"{source.words}\n    copy on {changes.ranks} ranks in {changes.memory}: {' '.join(changes.options)}"
        if copy_tool.attempt(failures, source.name, words,
                             lambda: copy_and_check(arguments, source, target, changes, report)):
            copied.append((source, target, changes, words))
            report[f"copies of arrays of {source.writer}"] += 1
    copy_readers.check_zarrita(arguments, folder, copied, failures, report)
    print("; ".join(f"{name}: {count}" for name, count in sorted(report.items())), flush=True)
    if not arguments.only and any(count < arguments.arrays // 2 for count in report.values()):
        failures.append("counts")
        print(f"FAILED counts: less than half of the arrays of a writer, or for a reader: {report}")
    return failures
