"""Arrays of which some chunks are not stored: in the copy, what nothing stored goes into is not stored either."""

import json
import random

import numpy
import tensorstore
import zarr

import copy_changes
import copy_readers
import copy_tool

ABSENT = 2**64 - 1
SHAPE, CHUNKS = (37, 26, 9), (7, 5, 4)
SHARDS = [14, 10, 8]
LAYOUTS = ["plain", "sharded", "sharded, index first", "v2"]
OPTIONS = [["--passes", "1"], ["--passes", "2"], ["--reading", "chunks"], ["--reading", "runs", "--passes", "2"], []]


def grid(shape, chunks):
    return numpy.ndindex(*(-(-length // chunk) for length, chunk in zip(shape, chunks)))


def box(cell, chunks, shape):
    return tuple(slice(i * chunk, min((i + 1) * chunk, length)) for i, chunk, length in zip(cell, chunks, shape))


def create_with_zarr_python(store, layout, fill, is_raw):
    keys = {"zarr_format": 2, "chunk_key_encoding": {"name": "v2", "separator": "/"}} if layout == "v2" else {}
    return zarr.create_array(store, shape=SHAPE, chunks=CHUNKS, dtype="int16", fill_value=fill,
                             compressors=None if is_raw else "auto", config={"write_empty_chunks": True}, **keys)


def create_with_tensorstore(store, layout, fill, is_raw):
    """zarr-python stores every chunk of a shard; TensorStore only those that are written."""
    little = {"name": "bytes", "configuration": {"endian": "little"}}
    inner = [little] if is_raw else [little, {"name": "gzip", "configuration": {"level": 1}}]
    sharding = {"chunk_shape": CHUNKS, "codecs": inner, "index_codecs": [little, {"name": "crc32c"}],
                "index_location": "start" if "first" in layout else "end"}
    metadata = {"shape": SHAPE, "data_type": "int16", "fill_value": fill,
                "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": SHARDS}},
                "codecs": [{"name": "sharding_indexed", "configuration": sharding}]}
    spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": store + "/"}, "metadata": metadata,
            "store_data_equal_to_fill_value": True}
    return tensorstore.open(spec, create=True).result()


def make_source(chance, folder, layout, is_raw):
    """Values, which of them are stored, and the fill value; some chunks that are stored hold nothing but that."""
    fill = chance.choice([-7, 0, 5])
    create = create_with_tensorstore if "sharded" in layout else create_with_zarr_python
    array = create(str(folder / "source.zarr"), layout, fill, is_raw)
    truth, stored = numpy.full(SHAPE, fill, "int16"), numpy.zeros(SHAPE, bool)
    cells = list(grid(SHAPE, CHUNKS))
    for cell in chance.sample(cells, chance.choice([1, 5, len(cells) // 4])):
        place = box(cell, CHUNKS, SHAPE)
        stored[place] = True
        if chance.random() < 0.8:
            truth[place] = numpy.arange(truth[place].size).reshape(truth[place].shape)
        array[place] = truth[place]
    return truth, stored, fill


def stored_chunks(target):
    """The chunks of a copy that are stored, read off its objects and their indexes, and its chunk shape."""
    document = json.loads((target / "zarr.json").read_text())
    shards = document["chunk_grid"]["configuration"]["chunk_shape"]
    names = [name for name in copy_tool.files_below(target) if name != "zarr.json"]
    separator = document["chunk_key_encoding"]["configuration"]["separator"]
    objects = {tuple(int(word) for word in name.removeprefix("c" + separator).split(separator)): target / name
               for name in names}
    if document["codecs"][0]["name"] != "sharding_indexed":
        return set(objects), shards
    chunks = document["codecs"][0]["configuration"]["chunk_shape"]
    counts = [shard // chunk for shard, chunk in zip(shards, chunks)]
    found = set()
    for cell, path in objects.items():
        index = path.read_bytes()[-16 * int(numpy.prod(counts)) - 4:-4]
        entries = numpy.frombuffer(index, "<u8").reshape(*counts, 2)
        inside = [place for place in numpy.ndindex(*counts) if entries[place][0] != ABSENT]
        copy_tool.require_equal("an object of a shard in which nothing is stored", inside == [], False)
        found |= {tuple(i * n + j for i, n, j in zip(cell, counts, place)) for place in inside}
    return found, chunks


def check(arguments, chance, folder, layout, changes):
    truth, stored, fill = make_source(chance, folder, layout, "runs" in changes.options)
    target = folder / "copy.zarr"
    copy_tool.copy(arguments, folder / "source.zarr", target, changes.options, changes.ranks)
    copy_tool.require_sound(arguments, target)
    expected, has_data = changes.apply(truth), changes.apply(stored)
    found, chunks = stored_chunks(target)
    wanted = {cell for cell in grid(expected.shape, chunks) if has_data[box(cell, chunks, has_data.shape)].any()}
    copy_tool.require_equal("stored chunks that should be absent", sorted(found - wanted)[:5], [])
    copy_tool.require_equal("absent chunks that should be stored", sorted(wanted - found)[:5], [])
    expected = numpy.ascontiguousarray(expected)
    for reader in copy_readers.READERS.values():
        reader(target, expected, numpy.int16(fill).tobytes(), {})
    if changes.moves_nothing:
        copy_tool.require_same(arguments, folder / "source.zarr", target)


def choose_changes(chance, number):
    changes = copy_changes.choose(chance, SHAPE, None)
    forced = {"--verify", "--passes", "--reading", "--threads", "1", "2", "chunks"}
    changes.options = [word for word in changes.options if word not in forced]
    changes.options += OPTIONS[number % len(OPTIONS)] + ["--max-mem", "16MiB", "--verify"]
    return changes


def run(arguments, folder):
    failures = []
    count = max(arguments.arrays // 2, len(LAYOUTS) * 3)
    for number in range(count):
        name = f"hole{number}"
        if not copy_tool.is_wanted(arguments, name):
            continue
        chance = random.Random(f"{arguments.seed}/copy/{name}")
        layout = list(LAYOUTS)[number % len(LAYOUTS)]
        changes = choose_changes(chance, number)
        (folder / name).mkdir()
        words = f"{layout}, copy on {changes.ranks} ranks: {' '.join(changes.options)}"
        copy_tool.attempt(failures, name, words, lambda: check(arguments, chance, folder / name, layout, changes))
    print(f"copies of arrays with chunks that are not stored: {count}; {len(failures)} failed", flush=True)
    return failures
