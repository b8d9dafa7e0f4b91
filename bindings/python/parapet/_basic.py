"""The usual transfers, of one box in the memory of one NumPy array, with as little work in Python as there can be.

A scientist who reads single values in a loop pays for every object that Python makes. So whatever needs no conversion
goes to C in one call, which takes the numbers of the box as they are. Everything else is left to `indexing` and
`_parts`, which also know what to say about mistakes: a function here that cannot do the work returns None before C is
called.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy
import numpy.typing

from . import _library as c


class Boxes:
    """Transfers boxes of one array."""

    __slots__ = ("_shape", "_ndim", "_dtype", "_from_buffer", "_read", "_read_local", "_write")

    def __init__(self, shape: tuple[int, ...], dtype: numpy.dtype[Any]) -> None:
        self._shape, self._ndim, self._dtype = shape, len(shape), dtype
        self._from_buffer = c.ffi.from_buffer
        self._read, self._write = c.lib.parapet_python_read, c.lib.parapet_python_write
        self._read_local = c.lib.parapet_python_read_local

    def find(self, index: Any) -> tuple[list[int], list[int]] | None:
        """Start and count of the box, and the shape of the result, in which integers have lost their dimension."""
        entries = index if type(index) is tuple else () if index is Ellipsis else (index,)
        if len(entries) > self._ndim:
            return None
        start: list[int] = []
        count: list[int] = []
        shape: list[int] = []
        for entry, extent in zip(entries, self._shape):
            kind = type(entry)
            if kind is int and -extent <= entry < extent:
                start.append(entry if entry >= 0 else entry + extent)
                count.append(1)
            elif kind is slice:
                first, end, step = entry.indices(extent)
                if step != 1 or end <= first:
                    return None
                start.append(first)
                count.append(end - first)
                shape.append(end - first)
            else:
                return None
        if len(entries) < self._ndim:
            rest = self._shape[len(entries):]
            if 0 in rest:
                return None
            start += [0] * len(rest)
            count += rest
            shape += rest
        return start + count, shape

    def read_new(self, array: Any, numbers: list[int], shape: list[int]) -> tuple[int, numpy.ndarray[Any, Any]]:
        """Reads a box that was found into new memory: the status of the call, and what it read."""
        result = numpy.empty(shape, self._dtype)
        status: int = self._read(array, self._ndim, numbers, self._from_buffer(result))
        return status, result

    def write_found(self, array: Any, numbers: list[int], shape: list[int], value: Any) -> int | None:
        """Writes a box that was found."""
        if not shape and type(value) in (int, float, self._dtype.type):
            value = numpy.array(value, self._dtype)
        if not self._is_plain(value) or value.shape != tuple(shape):
            return None
        status: int = self._write(array, self._ndim, numbers, self._from_buffer(value))
        return status

    def read_into(self, array: Any, start: Sequence[int] | int | None, out: Any) -> int | None:
        """Reads the box at `start` into memory that is there."""
        numbers = self._numbers(start, out)
        if numbers is None or not out.flags.writeable:
            return None
        return self._call(self._read, array, numbers, out)

    def read_local_into(self, array: Any, start: Sequence[int] | int | None, out: Any) -> int | None:
        """The same by this rank alone."""
        numbers = self._numbers(start, out)
        if numbers is None or not out.flags.writeable:
            return None
        return self._call(self._read_local, array, numbers, out)

    def write(self, array: Any, start: Sequence[int] | int | None, data: Any) -> int | None:
        """Writes the box at `start`."""
        numbers = self._numbers(start, data)
        return None if numbers is None else self._call(self._write, array, numbers, data)

    def _is_plain(self, data: Any) -> bool:
        return type(data) is numpy.ndarray and data.dtype == self._dtype and data.flags.c_contiguous

    def _numbers(self, start: Sequence[int] | int | None, data: Any) -> tuple[int, ...] | None:
        if not self._is_plain(data) or data.ndim != self._ndim:
            return None
        kind = type(start)
        if kind is tuple and len(start) == self._ndim:  # type: ignore[arg-type]
            return start + data.shape  # type: ignore[no-any-return]
        if kind is int and self._ndim == 1:
            return (start, *data.shape)
        return (0,) * self._ndim + data.shape if start is None else None

    def _call(self, function: Any, array: Any, numbers: tuple[int, ...], data: Any) -> int | None:
        try:
            status: int = function(array, self._ndim, numbers, self._from_buffer(data))
        except (TypeError, OverflowError):  # a start that is not of integers of C, so that C was not called
            return None
        return status
