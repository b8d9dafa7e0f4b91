"""Random changes for a copy: the options of the tool, and what NumPy makes of the same changes."""

import dataclasses

import numpy

CODECS = ["none", "zstd:3", "zstd:0", "gzip:1", "blosc:lz4:5:shuffle", "blosc:zstd:1:bitshuffle",
          "blosc:blosclz:9:noshuffle", "blosc:zlib:3:shuffle", "blosc:lz4hc:2:shuffle"]


@dataclasses.dataclass
class Changes:
    """chunks, shards: None where they are not asked for; an extent of 0 is the whole dimension."""

    axes: list
    is_reversed: list
    region: list
    chunks: list = None
    shards: list = None
    is_unsharded: bool = False
    codec: str = None
    has_checksum: bool = True
    options: list = dataclasses.field(default_factory=list)
    memory: str = "16MiB"
    ranks: int = 1

    @property
    def moves_nothing(self):
        """Whether every element stays where it is."""
        return (not any(self.is_reversed) and self.axes == sorted(self.axes)
                and all(box is None for box in self.region))

    def apply(self, array):
        array = array[tuple(slice(*box) if box else slice(None) for box in self.region)]
        array = array.transpose(self.axes)
        return array[tuple(slice(None, None, -1 if flip else 1) for flip in self.is_reversed)]

    def names(self, names):
        return None if names is None else [names[axis] for axis in self.axes]

    def layout(self, shape):
        """What is asked for, in numbers: chunks and shards, or None."""
        def whole(extents):
            if extents is None:
                return None
            return [extent or max(length, 1) for extent, length in zip(extents, shape)]

        chunks, shards = whole(self.chunks), self.shards
        if shards is not None and chunks is not None:
            shards = [extent or -(-max(length, 1) // chunk) * chunk
                      for extent, length, chunk in zip(shards, shape, chunks)]
        return chunks, shards


def choose_region(chance, shape):
    region = []
    for length in shape:
        start = chance.randint(0, length)
        end = chance.randint(start, length)
        is_some = start < end or length == 0
        region.append((start, end) if is_some and chance.random() < 0.7 else None)
    return region


def is_plain(names):
    return names is not None and None not in names and len(set(names)) == len(names) and not any(
        mark in name for name in names for mark in " ,/=:-")


def region_text(chance, region, names):
    words = [":" if box is None else f"{box[0]}:{box[1]}" for box in region]
    if is_plain(names) and chance.random() < 0.5:
        named = [f"{name}={word}" for name, word in zip(names, words) if word != ":"]
        return ",".join(named) or ",".join(words)
    return ",".join(words)


def order_text(chance, changes, names):
    labels = names if is_plain(names) and chance.random() < 0.5 else [str(axis) for axis in range(len(changes.axes))]
    return ",".join(("-" if flip else "") + labels[axis] for axis, flip in zip(changes.axes, changes.is_reversed))


def list_text(chance, extents, names):
    if is_plain(names) and chance.random() < 0.3:
        return ",".join(f"{name}{chance.choice('/=')}{extent}" for name, extent in zip(names, extents))
    return chance.choice([",", "x"]).join(map(str, extents)) if 0 not in extents else ",".join(map(str, extents))


def choose_extents(chance, shape):
    chunks = [chance.randint(1, length + 2) for length in shape]
    while numpy.prod([-(-length // chunk) for length, chunk in zip(shape, chunks)]) > 200:
        d = chance.randrange(len(shape))
        chunks[d] = chunks[d] * 2 + 1
    return [0 if chance.random() < 0.15 else chunk for chunk in chunks]


def choose_layout(chance, changes, shape, names):
    if not shape:
        return
    if chance.random() < 0.7:
        changes.chunks = choose_extents(chance, shape)
        changes.options += ["-c", list_text(chance, changes.chunks, names)]
    kind = chance.choice(["as it is", "none", "listed", "listed", "auto"])
    if kind == "none":
        changes.is_unsharded = True
        changes.options += ["--shards", "none"]
    elif kind == "listed" and changes.chunks is not None:
        chunks, _ = changes.layout(shape)
        changes.shards = [0 if chance.random() < 0.2 else chunk * chance.choice([1, 1, 2, 3]) for chunk in chunks]
        changes.options += ["-s", list_text(chance, changes.shards, names)]
    elif kind == "auto":
        changes.options += ["-s", "auto"]


def choose(chance, shape, names):
    ndim = len(shape)
    changes = Changes(list(range(ndim)), [False] * ndim, [None] * ndim)
    if ndim and chance.random() < 0.4:
        changes.region = choose_region(chance, shape)
        changes.options.append("--region=" + region_text(chance, changes.region, names))
    if ndim and chance.random() < 0.5:
        chance.shuffle(changes.axes)
        changes.is_reversed = [chance.random() < 0.4 for _ in shape]
        changes.options.append("--order=" + order_text(chance, changes, names))
    after = changes.apply(numpy.empty(shape, "u1")).shape
    choose_layout(chance, changes, after, changes.names(names))
    if chance.random() < 0.6:
        changes.codec = chance.choice(CODECS)
        changes.options += ["--codec", changes.codec]
    if chance.random() < 0.3:
        changes.has_checksum = False
        changes.options.append("--no-checksum")
    changes.options += chance.choice([[], [], ["--passes", "2"], ["--reading", "chunks"], ["--threads", "2"]])
    changes.options += chance.choice([["--verify"], []])
    changes.memory = chance.choice(["1MiB", "4MiB", "16MiB"])
    changes.ranks = chance.choice([1, 1, 1, 3])
    return changes
