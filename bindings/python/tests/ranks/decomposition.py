"""Random decompositions: what ranks write with any cut, memory and order of bytes is what one process writes.

    decomposition.py CASES [SEED]      a random seed is printed
"""
import random
import sys

import numpy
from harness import comm, folder, rank, size, tree

import parapet

TYPES = ("i1", "u2", "i4", "i8", "f2", "f4", "f8", "c8", "c16", "bool", "M8[s]", "m8[ms]", "V3")


def random_cut(source, shape):
    """Boxes that tile the shape: it is halved again and again, at random."""
    boxes = [((0,) * len(shape), tuple(shape))]
    for _ in range(source.randint(0, 3 * size)):
        start, count = boxes.pop(source.randrange(len(boxes)))
        dimension = source.randrange(len(shape)) if shape else 0
        if not shape or count[dimension] < 2:
            boxes.append((start, count))
            continue
        at = source.randint(1, count[dimension] - 1)
        low, high, moved = list(count), list(count), list(start)
        low[dimension], high[dimension], moved[dimension] = at, count[dimension] - at, start[dimension] + at
        boxes += [(start, tuple(low)), (tuple(moved), tuple(high))]
    return boxes


def random_memory(source, box_count, dtype):
    """An array of this shape whose memory is in a random order, with gaps, or reversed."""
    order = source.sample(range(len(box_count)), len(box_count))
    gap = source.choice([0, 0, 1, 3])
    wide = numpy.zeros([box_count[d] + gap for d in order], dtype)
    narrow = wide[tuple(slice(0, box_count[d]) for d in order) or (Ellipsis,)].transpose(numpy.argsort(order))
    return narrow[tuple(slice(None, None, source.choice([1, -1])) for _ in box_count) or (Ellipsis,)]


def random_field(source, shape, dtype):
    generator = numpy.random.default_rng(source.randrange(1 << 30))
    count = int(numpy.prod(shape, dtype=int))
    if dtype.kind == "b":
        return generator.integers(0, 2, shape).astype(bool)
    return numpy.frombuffer(generator.bytes(count * dtype.itemsize) or b"", dtype, count).reshape(shape)


def within(start, count):
    return tuple(slice(a, a + n) for a, n in zip(start, count)) or (Ellipsis,)


def make_case(source):
    shape = tuple(source.randint(1, 24) for _ in range(source.randint(0, 4)))
    dtype = numpy.dtype(source.choice(TYPES))
    chunks = tuple(source.randint(1, extent) for extent in shape)
    shards = source.choice(["auto", None, tuple(c * source.randint(1, 4) for c in chunks)])
    spec = {"shape": shape, "dtype": dtype, "chunks": chunks, "shards": shards,
            "codec": source.choice(["none", "zstd:1", "gzip:1", "blosc:lz4:5:shuffle"]), "overwrite": True}
    return spec, random_field(source, shape, dtype)


def same(found, expected):
    return found.shape == expected.shape and found.tobytes() == expected.tobytes()


def run_case(source, where, stores):
    """Every rank draws the same numbers, and takes its own boxes."""
    spec, field = make_case(source)
    array = stores[0].create_array("x", **spec)
    parts = []
    for number, (start, count) in enumerate(random_cut(source, spec["shape"])):
        memory = random_memory(source, count, spec["dtype"])
        memory[...] = field[within(start, count)]
        if source.randrange(size) == rank:
            parts.append(parapet.Part(memory, start))
    array.write_parts(parts)
    wanted = [parapet.Part(random_memory(source, count, spec["dtype"]), start) for start, count in
              random_cut(source, spec["shape"])]
    array.read_parts(wanted[rank % len(wanted):])
    assert all(same(part.data, field[within(part.start, part.count)]) for part in wanted[rank % len(wanted):]), spec
    array.close()
    if rank == 0:
        alone = stores[1].create_array("x", **spec)
        alone[...] = field
        assert same(numpy.asarray(alone[...]), field), spec
        alone.close()
        assert tree(f"{where}/ranks/x") == tree(f"{where}/alone/x"), spec


def main():
    seed = comm.bcast(int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 30))
    source = random.Random(seed)
    if rank == 0:
        print(f"{sys.argv[1]} cases with the seed {seed} on {size} ranks", flush=True)
    with folder() as where:
        stores = [parapet.open(f"{where}/ranks", "a", comm, durability="leave"),
                  parapet.open(f"{where}/alone", "a", durability="leave") if rank == 0 else None]
        for case in range(int(sys.argv[1])):
            try:
                run_case(source, where, stores)
            except BaseException as error:
                print(f"rank {rank}, case {case} of seed {seed}: {error!r}", flush=True)
                comm.Abort(1)
        for store in stores:
            if store is not None:
                store.close()


if __name__ == "__main__":
    main()
