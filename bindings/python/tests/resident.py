"""Writes and reads 2 GiB in C, Fortran and strided order: the process grows by less than 16 MiB, so nothing is copied.

    resident.py FOLDER [MIB]      FOLDER: in memory, such as /dev/shm; MIB: 2048 unless given
"""
import pathlib
import re
import shutil
import sys
import tempfile

import numpy

import parapet

MOST_MIB = 16
PLANE = (256, 512)  # doubles: 1 MiB


def peak_mib():
    return int(re.search(r"VmHWM:\s+(\d+)", pathlib.Path("/proc/self/status").read_text())[1]) / 1024


def growth_mib(call):
    """By how much more than before the process was resident while the call ran."""
    pathlib.Path("/proc/self/clear_refs").write_text("5")  # the peak is what is resident now
    before = peak_mib()
    call()
    return peak_mib() - before


def in_c_order(planes):
    return numpy.ones((planes, *PLANE))


def in_fortran_order(planes):
    return numpy.ones((planes, *PLANE), order="F")


def strided(planes):
    """A field inside of its halo, with the second dimension reversed."""
    return numpy.ones((planes + 2, PLANE[0] + 2, PLANE[1] + 2))[1:-1, -2:0:-1, 1:-1]


def check(folder, make, planes):
    data = make(planes)
    data[planes // 2, 3, 5] = 7
    with parapet.open(folder, "a", threads=1, memory_bytes="8MiB", durability="leave", io_thread="none") as store:
        array = store.create_array("x", shape=data.shape, dtype="f8", chunks=(4, 64, 128), shards=None, codec="none",
                                   overwrite=True)
        array.write(numpy.ones((1, *PLANE)))  # what is allocated once, and stays
        grown = {"write": growth_mib(lambda: array.write(data)), "array[...] =": growth_mib(lambda: array.__setitem__(..., data))}
        assert growth_mib(lambda: array.write(data[:64].copy())) > 56, "a copy of 64 MiB is not seen"
        data[...] = 0
        grown["read"] = growth_mib(lambda: array.read(out=data))
        assert data[planes // 2, 3, 5] == 7 and data[-1, -1, -1] == 1, "what was read is not what was written"
    print(f"{make.__name__}: " + ", ".join(f"{name} {mib:+.1f} MiB" for name, mib in grown.items()), flush=True)
    return max(grown.values()) < MOST_MIB


def main():
    planes = int(sys.argv[2]) if len(sys.argv) > 2 else 2048
    folder = tempfile.mkdtemp(prefix="parapet_resident_", dir=sys.argv[1])
    try:
        return 0 if all([check(folder, make, planes) for make in (in_c_order, in_fortran_order, strided)]) else 1
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())
