"""Indices as NumPy has them, turned into boxes: what one process writes between square brackets.

Along each dimension an index selects *runs*: neighbours of the array that are also neighbours of the result, in the
same or the opposite order. The boxes are all combinations of runs. A slice with step 1 or -1 is one run, so the usual
index is one box, which C reads straight into the result.
"""
from __future__ import annotations

import itertools
import operator
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy

# More boxes than these are read or written as the one box around them.
MANY_BOXES = 4096

# (first index in the array, how many, where in the result, 1 or -1: the direction there)
Run = tuple[int, int, int, int]


@dataclass(slots=True)
class Selection:
    """What an index selects: runs along each dimension, and how the result is shaped.

    `counts` is the shape with all dimensions of the array; `shape` that of the result, in which integers have lost
    theirs and new axes have come; `axis_to_front` the axis of the result that NumPy moves to the front, or None.
    """

    runs: list[list[Run]]
    counts: tuple[int, ...]
    shape: tuple[int, ...]
    axis_to_front: int | None

    def boxes(self) -> Iterator[tuple[tuple[int, ...], tuple[Any, ...]]]:
        """The start of each box in the array, and where it is in an array of shape `counts`."""
        for combination in itertools.product(*self.runs):
            place = tuple([_place(run) for run in combination])
            # Without the ellipsis, NumPy would return the element of a scalar, not its memory.
            yield tuple([run[0] for run in combination]), place or (Ellipsis,)

    def box_count(self) -> int:
        total = 1
        for runs in self.runs:
            total *= len(runs)
        return total

    def bounds(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Start and count of the box around everything."""
        start = tuple(min(run[0] for run in runs) for runs in self.runs)
        end = tuple(max(run[0] + run[1] for run in runs) for runs in self.runs)
        return start, tuple(b - a for a, b in zip(start, end))

    def within_bounds(self) -> Any:
        """The same selection as indices of the box around it, for `numpy.ix_`."""
        start, _ = self.bounds()
        lists = []
        for runs, count, first in zip(self.runs, self.counts, start):
            indices = numpy.empty(count, numpy.intp)
            for run in runs:
                indices[_place(run)] = numpy.arange(run[0], run[0] + run[1]) - first
            lists.append(indices)
        return numpy.ix_(*lists)

    def shaped(self, result: numpy.ndarray[Any, Any]) -> numpy.ndarray[Any, Any]:
        """A view of an array of shape `counts` in the shape of the result."""
        result = result.reshape(self.shape)
        return result if self.axis_to_front is None else numpy.moveaxis(result, self.axis_to_front, 0)

    def unshaped_shape(self) -> tuple[int, ...]:
        """The shape in which NumPy hands over what is assigned."""
        if self.axis_to_front is None:
            return self.shape
        rest = list(self.shape)
        return (rest.pop(self.axis_to_front), *rest)

    def unshaped(self, value: numpy.ndarray[Any, Any]) -> numpy.ndarray[Any, Any]:
        """A value of `unshaped_shape` in the shape `counts`."""
        if self.axis_to_front is not None:
            value = numpy.moveaxis(value, 0, self.axis_to_front)
        return value.reshape(self.counts)


def _place(run: Run) -> slice:
    _, count, at, direction = run
    if direction > 0:
        return slice(at, at + count)
    return slice(at + count - 1, at - 1 if at > 0 else None, -1)


def select(index: Any, shape: tuple[int, ...]) -> Selection:
    """What an index selects of an array of this shape.

    >>> list(select((slice(1, 4), -1), (10, 6)).boxes())
    [((1, 5), (slice(0, 3, None), slice(0, 1, None)))]
    """
    entries = _expand(index if isinstance(index, tuple) else (index,), len(shape))
    runs: list[list[Run]] = []
    counts: list[int] = []
    result: list[int] = []
    fancy: list[tuple[int, int]] = []  # where an array or integer is among the entries, and its axis of the result
    has_array = False
    for position, entry in enumerate(entries):
        if entry is None:
            result.append(1)
            continue
        extent = shape[len(runs)]
        if isinstance(entry, slice):
            found, count = _slice_runs(entry, extent)
            result.append(count)
        elif isinstance(entry, numpy.ndarray):
            if has_array:
                raise IndexError("only one dimension can be indexed with an array of integers or booleans")
            has_array = True
            found, count = _array_runs(entry, extent, len(runs))
            fancy.append((position, len(result)))
            result.append(count)
        else:
            found, count = [(_in_range(entry, extent, len(runs)), 1, 0, 1)], 1
            fancy.append((position, -1))
        runs.append(found)
        counts.append(count)
    axis = _axis_to_front(fancy) if has_array else None
    return Selection(runs, tuple(counts), tuple(result), axis)


def _expand(entries: tuple[Any, ...], ndim: int) -> list[Any]:
    """The entries of an index, one for each dimension and None for each new axis."""
    plain = [_plain(entry) for entry in entries]
    missing = ndim - sum(1 for entry in plain if entry is not None and entry is not Ellipsis)
    if missing < 0:
        raise IndexError(f"too many indices: the array has {ndim} dimensions")
    dots = [i for i, entry in enumerate(plain) if entry is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index can have only one ellipsis")
    at = dots[0] if dots else len(plain)
    return [*plain[:at], *[slice(None)] * missing, *plain[at + 1:]]


def _plain(entry: Any) -> Any:
    """A slice, an int, None, an ellipsis or an array of one dimension."""
    kind = type(entry)
    if kind is slice or kind is int or entry is None or entry is Ellipsis:
        return entry
    if isinstance(entry, (bool, numpy.bool_)):
        raise IndexError("a boolean alone is not an index here")
    if isinstance(entry, (list, numpy.ndarray)):
        array = numpy.asarray(entry, dtype=numpy.intp if isinstance(entry, list) and not entry else None)
        if array.ndim == 0:
            return operator.index(array[()])
        if array.ndim != 1 or array.dtype.kind not in "iub":
            raise IndexError("an array as an index must have one dimension, and integers or booleans as elements")
        return array
    try:
        return operator.index(entry)
    except TypeError:
        raise IndexError(f"{entry!r} is not an index: integers, slices, ..., None, and arrays of integers or booleans "
                         "are") from None


def _in_range(index: int, extent: int, dimension: int) -> int:
    if not -extent <= index < extent:
        raise IndexError(f"index {index} is out of bounds for dimension {dimension} of extent {extent}")
    return index + extent if index < 0 else index


def _slice_runs(entry: slice, extent: int) -> tuple[list[Run], int]:
    first, end, step = entry.indices(extent)
    if step == 1:
        count = end - first if end > first else 0
        return ([(first, count, 0, 1)] if count else []), count
    chosen = range(first, end, step)
    count = len(chosen)
    if step == -1:
        return ([(chosen[-1], count, 0, -1)] if count else []), count
    return [(index, 1, i, 1) for i, index in enumerate(chosen)], count


def _array_runs(entry: numpy.ndarray[Any, Any], extent: int, dimension: int) -> tuple[list[Run], int]:
    if entry.dtype.kind == "b":
        if len(entry) != extent:
            raise IndexError(f"a boolean index of {len(entry)} elements for dimension {dimension} of extent {extent}")
        entry = numpy.flatnonzero(entry)
    indices = entry.astype(numpy.intp, copy=True)
    if len(indices) == 0:
        return [], 0
    for bad in (int(indices.min()), int(indices.max())):
        _in_range(bad, extent, dimension)
    indices[indices < 0] += extent
    cuts = numpy.flatnonzero(numpy.diff(indices) != 1) + 1
    begins = [0, *cuts.tolist()]
    ends = [*cuts.tolist(), len(indices)]
    return [(int(indices[a]), b - a, a, 1) for a, b in zip(begins, ends)], len(indices)


def _axis_to_front(fancy: list[tuple[int, int]]) -> int | None:
    """NumPy moves the axis of an array to the front if integers are among the indices, but not beside it."""
    positions = [position for position, _ in fancy]
    if positions[-1] - positions[0] == len(positions) - 1:
        return None
    return next(axis for _, axis in fancy if axis >= 0)
