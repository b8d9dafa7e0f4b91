"""Times small calls of three libraries, which take turns. Started by bench/small.py.

    small_calls.py FOLDER STATE AMOUNT

STATE is the name of the place. AMOUNT is "all", or "quick" for fewer turns. Prints lines of "NAME FIGURE...":
microseconds of Parapet, zarr-python and TensorStore, medians, and the medians of the ratios of the other two to Parapet.
"""
import itertools
import os
import shutil
import statistics
import sys
import time

import numpy
import tensorstore
import zarr

import parapet

EDGE, CHUNK, ARRAYS = 1024, (64, 128), 1000  # chunks of 64 KiB
LARGE_CHUNK = (512, 512)  # 2 MiB
FEW = numpy.arange(16.0)


class Library:
    """What Parapet and zarr-python have in common."""

    @staticmethod
    def write(array, index, data):
        array[index] = data

    @staticmethod
    def read(array, index):
        return array[index]

    @staticmethod
    def end(array):
        """Closes it, where that is needed."""

    def create_together(self, names):
        """Arrays of 16 elements each, with all that the library has to make many."""
        for name in names:
            self.write(self.create(name, (16,), (16,)), slice(0, 16), FEW)


class Own(Library):
    name = "parapet"

    def __init__(self, folder):
        self.store = parapet.open(folder, "a", threads=1, durability="leave")

    def create(self, name, shape=(EDGE, EDGE), chunks=CHUNK, checksum=False):
        return self.store.create_array(name, shape=shape, dtype="f8", chunks=chunks, shards=None, codec="none",
                                       checksum=checksum)

    def create_together(self, names):
        spec = parapet.ArraySpec(shape=(16,), dtype="f8", chunks=(16,), shards=None, codec="none", checksum=False)
        arrays = self.store.create_arrays({name: spec for name in names}).values()
        parapet.write_arrays({array: [parapet.Part(FEW)] for array in arrays})
        for array in arrays:
            array.close()

    def open(self, name):
        with self.store[name] as array:
            return array.shape

    @staticmethod
    def end(array):
        array.close()


class Zarr(Library):
    name = "zarr-python"

    def __init__(self, folder):
        self.folder = folder
        zarr.config.set({"threading.max_workers": 1, "async.concurrency": 1})
        self.group = zarr.open_group(folder, mode="a", zarr_format=3)

    def create(self, name, shape=(EDGE, EDGE), chunks=CHUNK, checksum=False):
        return self.group.create_array(name, shape=shape, dtype="f8", chunks=chunks,
                                       compressors=[zarr.codecs.Crc32cCodec()] if checksum else None)

    def open(self, name):
        return zarr.open_array(os.path.join(self.folder, name), mode="r").shape


class Tensorstore(Library):
    name = "tensorstore"

    def __init__(self, folder):
        self.folder = folder
        os.makedirs(folder)
        # As durability="leave" does: the caches of the system are left to it.
        self.context = tensorstore.Context({"data_copy_concurrency": {"limit": 1}, "file_io_concurrency": {"limit": 1},
                                            "file_io_sync": False, "cache_pool": {"total_bytes_limit": 0}})

    def spec(self, name):
        return {"driver": "zarr3", "kvstore": {"driver": "file", "path": os.path.join(self.folder, name) + "/"}}

    def start_creating(self, name, shape, chunks, checksum=False):
        codecs = [{"name": "bytes", "configuration": {"endian": "little"}}] + [{"name": "crc32c"}] * checksum
        metadata = {"shape": shape, "data_type": "float64", "codecs": codecs,
                    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunks}}}
        return tensorstore.open({**self.spec(name), "metadata": metadata}, create=True, context=self.context)

    def create(self, name, shape=(EDGE, EDGE), chunks=CHUNK, checksum=False):
        return self.start_creating(name, shape, chunks, checksum).result()

    def create_together(self, names):
        opening = [self.start_creating(name, (16,), (16,)) for name in names]
        for writing in [array.result().write(FEW) for array in opening]:
            writing.result()

    def open(self, name):
        return tensorstore.open(self.spec(name), open=True, read=True, context=self.context).result().shape

    @staticmethod
    def write(array, index, data):
        array[index].write(data).result()

    @staticmethod
    def read(array, index):
        return array[index].read().result()


def box(turn):
    """One chunk, another one each turn."""
    row, column = turn % (EDGE // CHUNK[0]), turn // 16 % (EDGE // CHUNK[1])
    return (slice(row * CHUNK[0], (row + 1) * CHUNK[0]), slice(column * CHUNK[1], (column + 1) * CHUNK[1]))


def element(turn):
    return (slice(turn % EDGE, turn % EDGE + 1), slice(turn * 7 % EDGE, turn * 7 % EDGE + 1))


def many(library, turn):
    """Arrays of 16 elements, one after the other, as a program without a list of them does it."""
    for number in range(ARRAYS):
        array = library.create(f"many{turn}/a{number}", (16,), (16,))
        library.write(array, slice(0, 16), FEW)
        library.end(array)


def together(library, turn):
    """The same of a program that has the list."""
    library.create_together([f"together{turn}/a{number}" for number in range(ARRAYS)])


def calls(libraries):
    """Names, and functions of a library and the number of a turn."""
    subjects = {library.name: library.create("subject") for library in libraries}
    large = {library.name: library.create("large", chunks=LARGE_CHUNK, checksum=True) for library in libraries}
    data, one = numpy.random.default_rng(1).random(CHUNK), numpy.ones((1, 1))
    everything = numpy.random.default_rng(2).random((EDGE, EDGE))  # a chunk of zeros would not be stored by all
    for library in libraries:
        for array in (subjects[library.name], large[library.name]):
            library.write(array, (slice(0, EDGE), slice(0, EDGE)), everything)
    return {
        "create an array": lambda library, turn: library.end(library.create(f"created{turn}")),
        "open an array": lambda library, turn: library.open("subject"),
        "write an element": lambda library, turn: library.write(subjects[library.name], element(turn), one),
        "read an element": lambda library, turn: library.read(subjects[library.name], element(turn)),
        "read an element of 2 MiB with CRC-32C": lambda library, turn: library.read(large[library.name], element(turn)),
        "write 64 KiB": lambda library, turn: library.write(subjects[library.name], box(turn), data),
        "read 64 KiB": lambda library, turn: library.read(subjects[library.name], box(turn)),
        f"create and write {ARRAYS} arrays": many,
        f"create and write {ARRAYS} arrays together": together,
    }


def main(folder, _, amount):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    libraries = [kind(os.path.join(folder, kind.name)) for kind in (Own, Zarr, Tensorstore)]
    turns = 100 if amount == "quick" else 1000
    for name, call in calls(libraries).items():
        found = [[] for _ in libraries]
        for turn in range(max(3, turns // 30) if call in (many, together) else turns):
            for number in itertools.islice(itertools.cycle(range(3)), turn, turn + 3):
                began = time.perf_counter()
                call(libraries[number], turn)
                found[number].append(time.perf_counter() - began)
        ratios = [statistics.median(b / a for a, b in zip(found[0], other)) for other in found[1:]]
        print("\t".join([name, *[f"{1e6 * statistics.median(one):.2f}" for one in found],
                         *[f"{ratio:.3f}" for ratio in ratios]]), flush=True)
    shutil.rmtree(folder)


main(*sys.argv[1:])
