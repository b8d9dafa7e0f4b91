"""One job of the copy benchmark that needs Python: making a source, copying as a peer does, checking a copy.

    python copying_peer.py ACTION CASE SOURCE TARGET

CASE is a JSON object: shape, type, names, chunks and shards of the source; chunks of the target and the order of its
dimensions; codec, field, and memory in bytes. The process is the peer: its time and memory are taken from outside.
Libraries are imported where they are used, since the peers live in two environments that cannot be one (rechunker
needs zarr below 3).
"""
import json
import os
import random
import shutil
import sys

import numpy as np

BOXES = 64
THREADS = 2


# What is stored

def linear_index(shape, start, count, kind):
    index = np.zeros((1,) * len(shape), kind)
    stride = 1
    for d in reversed(range(len(shape))):
        along = np.arange(start[d], start[d] + count[d], dtype=kind) * kind(stride)
        index = index + along.reshape([-1 if i == d else 1 for i in range(len(shape))])
        stride *= shape[d]
    return index


def climate(shape, start, count):
    """A smooth field in steps of 1/64 with noise in its last bits, as rounded model output has it."""
    time, level, lat, lon = (np.arange(s, s + c, dtype=np.float32) for s, c in zip(start, count))
    wave = 5 * np.sin(time[:, None] / 24 + lon[None, :] / 57)
    across = 280 + 30 * np.cos((lat - 90) / 57)
    smooth = (across[None, None, :, None] - 6 * level[None, :, None, None]) + wave[:, None, None, :]
    noise = (linear_index(shape, start, count, np.uint32) * np.uint32(2654435761)) >> np.uint32(28)
    return ((np.round(smooth * 64) + noise) / 64).astype(np.float32)


def values(case, start, count):
    """What the source holds in a box. Elements differ from their neighbours, so that none can be taken for another."""
    if case["field"] == "climate":
        return climate(case["shape"], start, count)
    return linear_index(case["shape"], start, count, np.float64)


def slabs(case):
    """The source in whole rows of shards: a start and a value each."""
    for first in range(0, case["shape"][0], case["shards"][0]):
        start = [first] + [0] * (len(case["shape"]) - 1)
        count = [min(case["shards"][0], case["shape"][0] - first)] + case["shape"][1:]
        yield first, values(case, start, count)


def zstd_level(case):
    return None if case["codec"] == "none" else int(case["codec"].split(":")[1])


def target_shape(case):
    return [case["shape"][d] for d in case["order"]]


def is_permuted(case):
    return case["order"] != sorted(case["order"])


# Sources

def source_zarr3(case, _, target):
    import zarr
    level = zstd_level(case)
    array = zarr.create_array(target, shape=case["shape"], chunks=case["chunks"], shards=case["shards"],
                              dtype=case["type"], dimension_names=case["names"], filters=None,
                              compressors=None if level is None else [zarr.codecs.ZstdCodec(level=level)])
    for first, slab in slabs(case):
        array[first:first + slab.shape[0]] = slab


def source_zarr2(case, _, target):
    """A file for each chunk, which all Python peers read best."""
    import zarr
    from numcodecs import Zstd
    level = zstd_level(case)
    array = zarr.open(target, mode="w", shape=case["shape"], chunks=case["chunks"], dtype=case["type"], zarr_version=2,
                      compressor=None if level is None else Zstd(level))
    for first, slab in slabs(case):
        array[first:first + slab.shape[0]] = slab


def source_hdf5(case, _, target):
    """HDF5 that is also netCDF-4: every dimension is a scale without values."""
    import h5py
    more = {} if zstd_level(case) is None else {"compression": "gzip", "compression_opts": 1}
    with h5py.File(target, "w", rdcc_nbytes=64 << 20, track_order=True) as file:
        data = file.create_dataset("data", shape=case["shape"], chunks=tuple(case["chunks"]), dtype=case["type"],
                                   **more)
        for d, name in enumerate(case["names"]):
            scale = file.create_dataset(name, shape=(case["shape"][d],), dtype=">f4")
            scale.make_scale("This is a netCDF dimension but not a netCDF variable. %9d" % case["shape"][d])
            data.dims[d].attach_scale(scale)
        for first, slab in slabs(case):
            data[first:first + slab.shape[0]] = slab


# Peers

def dask_copy(case, source, target):
    """As its manual has it: rechunk, then to_zarr, on threads. Nothing bounds the memory."""
    import dask
    import dask.array
    import zarr
    level = zstd_level(case)
    copy = zarr.create_array(target, shape=target_shape(case), chunks=case["target"], dtype=case["type"], filters=None,
                             compressors=None if level is None else [zarr.codecs.ZstdCodec(level=level)])
    with dask.config.set(scheduler="threads", num_workers=THREADS):
        array = dask.array.from_zarr(source)
        if is_permuted(case):
            array = array.transpose(case["order"])
        array.rechunk(case["target"]).to_zarr(copy)


def tensorstore_open(case, source, target):
    import tensorstore
    context = tensorstore.Context({"data_copy_concurrency": {"limit": THREADS}, "file_io_concurrency": {"limit": 4},
                                   "cache_pool": {"total_bytes_limit": case["memory"] // 2}})
    level = zstd_level(case)
    codecs = [{"name": "bytes", "configuration": {"endian": "little"}}]
    if level is not None:
        codecs.append({"name": "zstd", "configuration": {"level": level}})
    array = tensorstore.open({"driver": "zarr", "kvstore": {"driver": "file", "path": source + "/"}},
                             context=context, open=True).result()
    copy = tensorstore.open({"driver": "zarr3", "kvstore": {"driver": "file", "path": target + "/"},
                             "metadata": {"shape": target_shape(case), "data_type": case["type"], "fill_value": 0,
                                          "chunk_grid": {"name": "regular",
                                                         "configuration": {"chunk_shape": case["target"]}},
                                          "codecs": codecs}}, context=context, create=True).result()
    return array.transpose(case["order"]), copy


def batches(case):
    """Boxes of whole target chunks within half the memory, as long along the last dimensions as they can be."""
    shape, room = target_shape(case), case["memory"] // 2 // np.dtype(case["type"]).itemsize
    box = list(case["target"])
    for d in reversed(range(len(box))):
        others = int(np.prod(box)) // box[d]
        box[d] = min(max(room // others // box[d] * box[d], box[d]), shape[d])
    for place in np.ndindex(*(-(-shape[d] // box[d]) for d in range(len(box)))):
        yield tuple(slice(place[d] * box[d], min((place[d] + 1) * box[d], shape[d])) for d in range(len(box)))


def tensorstore_copy(case, source, target):
    """In one call. The limit of its cache does not bound what is being written."""
    array, copy = tensorstore_open(case, source, target)
    copy.write(array).result()


def tensorstore_batches(case, source, target):
    """A batch after the other, which bounds the memory and reads source chunks again and again."""
    array, copy = tensorstore_open(case, source, target)
    for box in batches(case):
        copy[box].write(array[box]).result()


def rechunker_copy(case, source, target):
    """max_mem is per task, and as many run as there are threads."""
    import zarr
    from numcodecs import Zstd
    from rechunker import rechunk
    level = zstd_level(case)
    options = {"compressor": None if level is None else Zstd(level)}
    plan = rechunk(zarr.open(source, mode="r"), target_chunks=tuple(case["target"]), max_mem=case["memory"] // THREADS,
                   target_store=target, target_options=options, temp_store=target + ".temporary", temp_options=options)
    plan.execute(scheduler="threads", num_workers=THREADS)
    shutil.rmtree(target + ".temporary", ignore_errors=True)


# Checking

def boxes(case):
    """Random boxes of the target, and the two corners."""
    shape = target_shape(case)
    dice = random.Random(4)
    most = [max(1, min(extent, round((1 << 18) ** (1 / len(shape))))) for extent in shape]
    yield [0] * len(shape), [1] * len(shape)
    yield [extent - 1 for extent in shape], [1] * len(shape)
    for _ in range(BOXES):
        count = [dice.randint(1, extent) for extent in most]
        yield [dice.randint(0, shape[d] - count[d]) for d in range(len(shape))], count


def check(case, _, target):
    if os.path.isdir(target):
        import zarr
        found = zarr.open_array(target, mode="r")
    else:
        import h5py
        found = h5py.File(target, "r")["data"]
    if list(found.shape) != target_shape(case) or list(found.chunks) != list(case["target"]):
        sys.exit(f"bench: {target} has shape {found.shape} and chunks {found.chunks}")
    for start, count in boxes(case):
        place = {d: position for position, d in enumerate(case["order"])}
        in_source = [[box[place[d]] for d in range(len(start))] for box in (start, count)]
        expected = values(case, *in_source).transpose(case["order"])
        box = tuple(slice(s, s + c) for s, c in zip(start, count))
        if not np.array_equal(found[box], expected):
            sys.exit(f"bench: {target} differs from the source in the box of {count} at {start}")


ACTIONS = {"source-zarr3": source_zarr3, "source-zarr2": source_zarr2, "source-hdf5": source_hdf5, "dask": dask_copy,
           "tensorstore": tensorstore_copy, "tensorstore-batches": tensorstore_batches, "rechunker": rechunker_copy,
           "check": check}

if __name__ == "__main__":
    ACTIONS[sys.argv[1]](json.loads(sys.argv[2]), sys.argv[3], sys.argv[4])
