"""The usual index, of integers and slices with step 1, read with as little work in Python as there can be.

A scientist who reads single values in a loop pays for every object that Python makes. So the struct that C takes is
kept, and only its numbers change. Whatever is not the usual index is left to `indexing`.
"""
from __future__ import annotations

from typing import Any

import numpy

from . import _library as c


class BoxReader:
    """Reads boxes of one array into new memory."""

    __slots__ = ("_shape", "_ndim", "_dtype", "_part", "_numbers")

    def __init__(self, shape: tuple[int, ...], dtype: numpy.dtype[Any]) -> None:
        ffi = c.ffi
        self._shape, self._ndim, self._dtype = shape, len(shape), dtype
        self._numbers = ffi.new("int64_t[]", 2 * len(shape) or 1)
        self._part = ffi.new("parapet_part *")
        self._part.ndim = len(shape)
        self._part.start, self._part.count = self._numbers, self._numbers + len(shape)

    def find(self, index: Any) -> tuple[list[int], list[int]] | None:
        """Start and count of the box, and for an integer the count -1; None: the index is of another kind."""
        entries = index if type(index) is tuple else (index,)
        if len(entries) > self._ndim:
            return None
        start, count = [], []
        for entry, extent in zip(entries, self._shape):
            kind = type(entry)
            if kind is int and -extent <= entry < extent:
                start.append(entry if entry >= 0 else entry + extent)
                count.append(-1)
            elif kind is slice:
                first, end, step = entry.indices(extent)
                if step != 1 or end <= first:
                    return None
                start.append(first)
                count.append(end - first)
            else:
                return None
        rest = self._shape[len(start):]
        if 0 in rest:
            return None
        return start + [0] * len(rest), [*count, *rest]

    def read(self, array: Any, start: list[int], count: list[int]) -> tuple[int, numpy.ndarray[Any, Any]]:
        """The status of the call, and what it read."""
        result = numpy.empty([extent for extent in count if extent != -1], self._dtype)
        self._numbers[0:2 * self._ndim] = start + [1 if extent == -1 else extent for extent in count]
        self._part.data = memory = c.ffi.from_buffer(result)
        status: int = c.lib.parapet_array_read(array, self._part, 1)
        del memory
        return status, result
