#!/usr/bin/env python3
"""Does with NumPy what parallel_points has done on all ranks, and compares: what each read returned, whether collective
or of one rank alone, and in the end the array as zarr-python reads it.

    points_with_numpy.py LEAST FOLDER...

Each folder has cases that parallel_points has kept: a store, and a file for each rank with what it gave to its calls
and got from them. Fails when there are less than LEAST cases, or when a changed byte of what was written or read goes
unnoticed. Exit code 77: zarr-python is not there; scripts/setup --peers installs it.
"""

import collections
import shutil
import sys
import warnings
from pathlib import Path

from read_with_zarr import enter_python

# One call of one rank; the index is in the form of the call, data are elements as they are in memory.
Call = collections.namedtuple("Call", "step rank what form index data")


def read_index(file, form, count, ndim):
    """What the numbers of a call select of an array: an index of NumPy, or an array of flat indices."""
    import numpy

    def numbers(how_many):
        return numpy.frombuffer(file.read(8 * how_many), "i8")

    if form == "box":
        start, extent = (numbers(count * ndim) for _ in range(2))
        return tuple(slice(first, first + length) for first, length in zip(start, extent)) if count else None
    if form == "points":
        return tuple(numbers(count * ndim).reshape(count, ndim).T) if ndim else numpy.zeros(count, "i8")
    starts, lengths = numbers(count), numbers(count)
    return numpy.concatenate([numpy.arange(first, first + length) for first, length in zip(starts, lengths)] or
                             [numpy.zeros(0, "i8")])


def read_calls(path, ndim, dtype):
    """The calls of a rank in their order."""
    import numpy

    rank = int(path.name.rpartition("-")[2])
    with path.open("rb") as file:
        while line := file.readline().split():
            step, what, form, count, size = int(line[0]), line[1].decode(), line[2].decode(), int(line[3]), int(line[4])
            index = read_index(file, form, count, ndim)
            data = numpy.frombuffer(file.read(size), dtype)
            if data.nbytes != size:
                raise ValueError(f"{path} ends within a call")
            yield Call(step, rank, what, form, index, data)


def has_flat_index(call):
    return not isinstance(call.index, tuple)


def write(model, call):
    if has_flat_index(call):
        model.reshape(-1)[call.index] = call.data
    else:
        model[call.index] = call.data.reshape(model[call.index].shape)


def is_same(left, right, dtype):
    """Whether two pieces of memory have the same elements, bit for bit, but that a NaN is a NaN: zarr-python makes the
    plain one of any that is a fill value."""
    import numpy

    left, right = left.tobytes(), right.tobytes()
    if left == right or dtype.kind not in "fc" or len(left) != len(right):
        return left == right
    size = dtype.itemsize // (2 if dtype.kind == "c" else 1)
    differ = numpy.frombuffer(left, f"u{size}") != numpy.frombuffer(right, f"u{size}")
    return all(numpy.isnan(numpy.frombuffer(side, f"f{size}")[differ]).all() for side in (left, right))


def is_right(model, call, dtype):
    """Whether a read returned what is in the model."""
    expected = model.reshape(-1)[call.index] if has_flat_index(call) else model[call.index]
    return is_same(expected, call.data, dtype)


def find_difference(calls, stored, fill):
    """Makes the calls on an array of NumPy. What differs first, or None."""
    import numpy

    model = numpy.full(stored.shape, fill, stored.dtype).view(f"V{stored.dtype.itemsize}")
    for call in calls:
        if call.index is None:
            continue
        if call.what == "write":
            write(model, call)
        elif not is_right(model, call, stored.dtype):
            return f"list {call.step}, {call.what} of {call.form} on rank {call.rank}: not what NumPy has"
    return None if is_same(model, stored, stored.dtype) else "zarr-python does not read what NumPy has"


def load(place):
    """(calls of all ranks in the order of the lists, what zarr-python reads, its fill value) of a case."""
    import numpy
    import zarr

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        array = zarr.open_array(place / "store/a", mode="r", zarr_format=3)
        stored = numpy.ascontiguousarray(array[...]).reshape(array.shape)
    calls = [call for path in sorted(place.glob("calls-*"))
             for call in read_calls(path, stored.ndim, f"V{stored.dtype.itemsize}")]
    return sorted(calls, key=lambda call: call.step), stored, array.fill_value


def change_last(calls, what):
    """The same calls, with another byte in the last one of a kind that has data; None if there is none."""
    import numpy

    number = max((i for i, call in enumerate(calls) if call.what == what and call.data.size), default=None)
    if number is None:
        return None
    data = bytearray(calls[number].data.tobytes())
    data[-1] ^= 255  # no NaN stays one
    changed = calls[number]._replace(data=numpy.frombuffer(bytes(data), calls[number].data.dtype))
    return [*calls[:number], changed, *calls[number + 1:]]


def check_judge(case):
    """The kinds of calls in which a changed byte was noticed."""
    calls, stored, fill = case
    noticed = set()
    for what in ("write", "read", "read_local"):
        changed = change_last(calls, what)
        if changed is not None and find_difference(changed, stored, fill) is None:
            raise AssertionError(f"a changed byte of a {what} was not noticed")
        noticed |= {what} if changed is not None else set()
    return noticed


def judge(places):
    """(number of cases that differ, how many calls and elements there were of each kind)."""
    counts, elements, noticed, failures = collections.Counter(), collections.Counter(), set(), 0
    for place in places:
        case = load(place)
        problem = find_difference(*case)
        if problem:
            failures += 1
            print(f"{place}: {problem}")
        elif len(noticed) < 3:
            noticed |= check_judge(case)
        for call in case[0]:
            counts[call.what] += 1
            elements[call.what] += call.data.size
    if len(noticed) < 3:
        raise AssertionError(f"cases with {sorted(noticed)} only")
    return failures, counts, elements


def main():
    enter_python()
    least, folders = int(sys.argv[1]), [Path(name) for name in sys.argv[2:]]
    places = sorted(path.parent for folder in folders for path in folder.glob("*/calls-0"))
    failures, counts, elements = judge(places)
    what = ", ".join(f"{counts[kind]:,} {word} of {elements[kind]:,} elements" for kind, word in
                     [("write", "writes"), ("read", "collective reads"), ("read_local", "local reads")])
    print(f"{len(places)} mixtures: {what}; {failures} differ from NumPy")
    if failures or len(places) < least:
        return 1
    for folder in folders:
        shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
