"""Times small reads of three libraries, which take turns. Started by bench/access.py.

    access_calls.py FOLDER STATE AMOUNT

STATE is "warm" or "cold", AMOUNT "all", or "quick" for a smaller array and fewer turns. Prints lines of "NAME
FIGURE...": microseconds of Parapet, zarr-python and TensorStore, medians, and the medians of the ratios of the other
two to Parapet.
"""
import os
import random
import statistics
import sys
import time

import numpy
import tensorstore
import zarr

import parapet

CHUNK, SHARD = 256, 1024
POINTS = 1000
LAYOUTS = {"plain": {"codec": "none", "checksum": False}, "zstd": {"codec": "zstd:3"}}


def drop_caches(folder):
    """Files that are not in use leave the page cache."""
    for parent, _, names in os.walk(folder):
        for name in names:
            descriptor = os.open(os.path.join(parent, name), os.O_RDONLY)
            os.fsync(descriptor)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(descriptor)


def make_array(store, name, edge):
    """Elements that zstd makes about half as long."""
    array = store.create_array(name, shape=(edge, edge), dtype="f8", chunks=(CHUNK, CHUNK), shards=(SHARD, SHARD),
                               overwrite=True, **LAYOUTS[name])
    data = numpy.random.default_rng(1).integers(0, 1 << 24, (edge, edge)).astype("f8")
    array.write(data)
    return array, data


def open_others(path):
    zarr.config.set({"threading.max_workers": 1, "async.concurrency": 1})
    context = {"data_copy_concurrency": {"limit": 1}, "file_io_concurrency": {"limit": 1},
               "cache_pool": {"total_bytes_limit": 0}}
    third = tensorstore.open({"driver": "zarr3", "kvstore": {"driver": "file", "path": path + "/"}, "context": context},
                             open=True).result()
    return zarr.open_array(path, mode="r"), third


def box_reads(edge, count):
    """Draws a place, and reads the box there with each library."""
    def draw(random_numbers):
        return tuple(random_numbers.randrange(edge - extent + 1) for extent in count)

    def index(start):
        return tuple(slice(first, first + extent) for first, extent in zip(start, count))

    return draw, index, [lambda a, start: a.read_local(start, count), lambda a, start: a[index(start)],
                         lambda a, start: a[index(start)].read().result()]


def point_reads(edge):
    """The same of elements from all over the array."""
    def draw(random_numbers):
        return numpy.array([[random_numbers.randrange(edge) for _ in range(POINTS)] for _ in range(2)])

    def read_own(array, places):
        out = numpy.empty((POINTS, 1, 1))
        array.read_parts_local([parapet.Part(one, (row, column)) for one, row, column in
                                zip(out, places[0].tolist(), places[1].tolist())])
        return out.reshape(POINTS)

    return draw, lambda places: (places[0], places[1]), [
        read_own, lambda a, places: a.vindex[places[0], places[1]],
        lambda a, places: a[places[0], places[1]].read().result()]


def take_turns(arrays, data, reads, turns, cold):
    """Seconds of each call of each library; who begins changes with each turn, and so does the place. cold: a folder
    that is dropped from the page cache before each call, or None."""
    draw, index, methods = reads
    numbers = random.Random(7)
    found = [[] for _ in methods]
    for turn in range(turns + 2):
        place = draw(numbers)
        for number in [(turn + i) % len(methods) for i in range(len(methods))]:
            if cold is not None:
                drop_caches(cold)
            began = time.perf_counter()
            result = methods[number](arrays[number], place)
            seconds = time.perf_counter() - began
            if not numpy.array_equal(result, data[index(place)]):
                sys.exit("access_calls.py: a library has read something else")
            if turn >= 2:  # the first ones warm up
                found[number].append(seconds)
    return found


def main(folder, state, amount):
    edge, turns = (2048, 200) if amount == "quick" else (4096, 1000)
    if state == "cold":
        turns = 20 if amount == "quick" else 100
    with parapet.open(folder, "a", threads=1, durability="leave") as store:
        for name in LAYOUTS:
            own, data = make_array(store, name, edge)
            path = os.path.join(folder, name)
            arrays = [own, *open_others(path)]
            for what, reads in (("1 element", box_reads(edge, (1, 1))), ("64 KiB", box_reads(edge, (64, 128))),
                                ("a column", box_reads(edge, (edge, 1))), ("1,000 points", point_reads(edge))):
                slow = turns if what in ("1 element", "64 KiB") else max(10, turns // 10)
                found = take_turns(arrays, data, reads, slow, path if state == "cold" else None)
                ratios = [statistics.median(b / a for a, b in zip(found[0], other)) for other in found[1:]]
                print("\t".join([f"{name}, {what}", *[f"{1e6 * statistics.median(one):.2f}" for one in found],
                                 *[f"{ratio:.3f}" for ratio in ratios]]), flush=True)


main(*sys.argv[1:])
