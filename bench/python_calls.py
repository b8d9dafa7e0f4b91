"""Times calls of the package beside the same calls of C, which take turns with them. Started by bench/python.py.

    python_calls.py slices LIBRARY URL AMOUNT CALLS        one process: indices, and read into memory that is there
    python_calls.py collective LIBRARY URL AMOUNT CALLS    under mpiexec: write and read of 16 doubles for each rank
    python_calls.py peers FOLDER AMOUNT CALLS              one process: zarr-python and TensorStore on the same store

LIBRARY has the functions of python_calls.c. AMOUNT is "all", or "quick" for fewer calls with large boxes. Prints lines of
"NAME FIGURE...": microseconds, medians.
"""
import ctypes
import os
import statistics
import sys
import time

import numpy

EDGE = 16  # doubles of a rank in a collective call
ROW = 1024  # doubles of a row of the array that is sliced; a chunk has 32 rows, which is 256 KiB
SIZES = (("1 element", 1, 1), ("8 KiB", 1, ROW), ("64 KiB", 8, ROW), ("1 MiB", 128, ROW), ("8 MiB", 1024, ROW),
         ("64 MiB", 8192, ROW))


def clock(function, *arguments):
    began = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - began


def take_turns(methods, turns):
    """Seconds of each call of each method; who begins changes with each turn."""
    found = [[] for _ in methods]
    order = list(range(len(methods)))
    for turn in range(turns + 2):
        for number in order[turn % len(order):] + order[:turn % len(order)]:
            seconds = methods[number]()
            if seconds < 0:
                sys.exit("python_calls.py: a call of C failed")
            if turn >= 2:  # the first ones warm up
                found[number].append(seconds)
    return found


def by_pairs(values):
    """The mean of every two turns in a row. In one of them this method began, in the other it came second: every second
    call may find memory that the system has just given back, and a median of single turns would then be the one or the
    other."""
    return [(one + two) / 2 for one, two in zip(values[0::2], values[1::2])]


def report(name, base, other):
    """NAME, the median of both, and the median of what the other took beyond the first in the same two turns."""
    more = statistics.median(b - a for a, b in zip(by_pairs(base), by_pairs(other)))
    print(f"{name}\t{1e6 * statistics.median(base):.2f}\t{1e6 * statistics.median(other):.2f}\t{1e6 * more:.2f}", flush=True)


class InC:
    """The calls of C on an array of Python."""

    def __init__(self, library, array):
        from parapet import _library as c
        loaded = ctypes.CDLL(library)
        self.transfer, self.read_new = loaded.bench_transfer, loaded.bench_read_new
        self.transfer.restype = self.read_new.restype = ctypes.c_double
        self.transfer.argtypes = self.read_new.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int,
                                                           ctypes.c_void_p, ctypes.c_size_t]
        address = {name: int(c.ffi.cast("uintptr_t", c.ffi.addressof(c.lib, f"parapet_array_{name}")))
                   for name in ("read", "write")}
        self.read, self.write = address["read"], address["write"]
        self.array = int(c.ffi.cast("uintptr_t", array._handle.get()))

    def call(self, function, which, start, count, last):
        """A method for take_turns; last: the address of the data, or the bytes of new memory."""
        numbers = (ctypes.c_int64 * (2 * len(start)))(*start, *count)
        return lambda: function(which, self.array, len(start), numbers, last)


def turns_for(size_bytes, amount, calls):
    """How many calls: all, or fewer of those that move much."""
    return calls if amount == "all" else max(30, min(calls, calls * 65536 // size_bytes))


def slices(library, url, amount, calls):
    import parapet
    with parapet.open(url, "a", threads=1, durability="leave", io_thread="none") as store:
        array = store.create_array("x", shape=(8192, ROW), dtype="f8", chunks=(32, ROW), shards=None, codec="none",
                                   overwrite=True)
        array[:] = 1.0
        in_c = InC(library, array)
        for name, rows, columns in SIZES:
            compare_slices(array, in_c, name, (rows, columns), turns_for(8 * rows * columns, amount, calls))


def compare_slices(array, in_c, name, count, turns):
    index = tuple(slice(0, extent) for extent in count) if count != (1, 1) else (5, 7)
    start = (0, 0) if count != (1, 1) else (5, 7)
    out = numpy.ones(count)
    new, old = take_turns([in_c.call(in_c.read_new, in_c.read, start, count, out.nbytes),
                           lambda: clock(array.__getitem__, index)], turns)
    report(f"array[...], {name}", new, old)
    given, own = take_turns([in_c.call(in_c.transfer, in_c.read, start, count, out.ctypes.data),
                             lambda: clock(array.read, start, None, out)], turns)
    report(f"array.read(out=), {name}", given, own)
    given, own = take_turns([in_c.call(in_c.transfer, in_c.write, start, count, out.ctypes.data),
                             lambda: clock(array.__setitem__, index, out if count != (1, 1) else 1.0)], turns)
    report(f"array[...] = , {name}", given, own)


def collective(library, url, amount, calls):
    from mpi4py import MPI

    import parapet
    comm = MPI.COMM_WORLD
    data, first = numpy.ones(EDGE), EDGE * comm.rank

    def together(method):
        def begin():
            comm.Barrier()
            return method()
        return begin

    with parapet.open(url, "a", comm, durability="leave", io_thread="none") as store:
        array = store.create_array("x", shape=(EDGE * comm.size,), dtype="f8", chunks=(EDGE,), codec="none", overwrite=True)
        in_c = InC(library, array)
        for name, which, own in (("write", in_c.write, lambda: clock(array.write, data, first)),
                                 ("read", in_c.read, lambda: clock(array.read, first, None, data))):
            base, other = take_turns([together(in_c.call(in_c.transfer, which, (first,), (EDGE,), data.ctypes.data)),
                                      together(own)], turns_for(8 * EDGE, amount, calls))
            if comm.rank == 0:
                report(name, base, other)


def peers(folder, amount, calls):
    """All three read and write the chunks that Parapet has made, without a cache and without flushing. Each may use one
    thread that copies and encodes and one that reads and writes files: TensorStore, limited to one of each, has both at
    work at the same time."""
    import tensorstore
    import zarr

    import parapet
    zarr.config.set({"threading.max_workers": 1, "async.concurrency": 1})
    with parapet.open(folder, "a", threads=1, durability="leave") as store:
        own = store.create_array("x", shape=(8192, ROW), dtype="f8", chunks=(32, ROW), shards=None, codec="none",
                                 overwrite=True)
        own[:] = 1.0
        path = os.path.join(folder, "x")
        context = {"data_copy_concurrency": {"limit": 1}, "file_io_concurrency": {"limit": 1},
                   "cache_pool": {"total_bytes_limit": 0}, "file_io_sync": False}
        third = tensorstore.open({"driver": "zarr3", "kvstore": {"driver": "file", "path": path + "/"},
                                  "context": context}, open=True).result()
        arrays = {"parapet": own, "zarr": zarr.open_array(path, mode="r+"), "tensorstore": third}
        for name, rows, columns in SIZES:
            compare_peers(arrays, name, (rows, columns), turns_for(8 * rows * columns, amount, calls))


def compare_peers(arrays, name, count, turns):
    index = tuple(slice(0, extent) for extent in count) if count != (1, 1) else (5, 7)
    data = numpy.ones(count if count != (1, 1) else ())
    reads = {"parapet": lambda a: a[index], "zarr": lambda a: a[index], "tensorstore": lambda a: a[index].read().result()}
    writes = {"parapet": lambda a: a.__setitem__(index, data), "zarr": lambda a: a.__setitem__(index, data),
              "tensorstore": lambda a: a[index].write(data).result()}
    for action, methods in (("read", reads), ("write", writes)):
        timed = [lambda who=who: clock(methods[who], arrays[who]) for who in methods]
        found = take_turns(timed, turns)
        ratios = [statistics.median(b / a for a, b in zip(found[0], other)) for other in found[1:]]
        print("\t".join([f"{action} {name}", *[f"{1e6 * statistics.median(one):.2f}" for one in found],
                         *[f"{ratio:.3f}" for ratio in ratios]]), flush=True)


if __name__ == "__main__":
    {"slices": slices, "collective": collective, "peers": peers}[sys.argv[1]](*sys.argv[2:-1], int(sys.argv[-1]))
