"""Elements that are listed one by one, handed to C: points by their coordinates, or runs of the flat index."""
from __future__ import annotations

from typing import Any

import numpy
import numpy.typing

from . import _library as c
from . import _types
from ._parts import Part, _check
from .errors import ArgumentError


class CPoints:
    """Points as C takes them: `pointer`. Lives as long as the call needs what it points to."""

    __slots__ = ("pointer", "data", "_kept")

    def __init__(self, points: numpy.typing.ArrayLike, data: Any, array: Any, is_read: bool) -> None:
        coordinates = _integers(points, "points")
        if coordinates.size == 0:
            coordinates = coordinates.reshape(coordinates.shape[0] if array.ndim == 0 else 0, array.ndim)
        if coordinates.ndim != 2 or coordinates.shape[1] != array.ndim:
            raise ArgumentError(f"{array.path}: points of shape {coordinates.shape} are not rows of {array.ndim} "
                                "coordinates")
        self.data = _memory(data, coordinates.shape[0], array.dtype, is_read)
        self._kept = coordinates
        self.pointer = c.ffi.new("parapet_points *")
        self.pointer.ndim = array.ndim
        self.pointer.count = coordinates.shape[0]
        self.pointer.coordinates = _numbers(coordinates)
        self.pointer.data, self.pointer.type = _described(self.data)

    @staticmethod
    def refused() -> Any:
        """Points that the library refuses."""
        pointer = c.ffi.new("parapet_points *")
        pointer.count = -1
        return pointer


class CRuns:
    """Runs as C takes them: `pointer`. Lives as long as the call needs what it points to."""

    __slots__ = ("pointer", "data", "_kept")

    def __init__(self, runs: tuple[Any, Any], data: Any, array: Any, is_read: bool) -> None:
        starts = _integers(runs[0], "starts").reshape(-1)
        lengths = None if runs[1] is None else _integers(runs[1], "lengths").reshape(-1)
        if lengths is not None and lengths.shape != starts.shape:
            raise ArgumentError(f"{array.path}: there are {starts.size} starts, but {lengths.size} lengths")
        if lengths is not None and numpy.any(lengths < 0):
            raise ArgumentError(f"{array.path}: a length is negative")
        self.data = _memory(data, starts.size if lengths is None else int(lengths.sum()), array.dtype, is_read)
        self._kept = (starts, lengths)
        self.pointer = c.ffi.new("parapet_runs *")
        self.pointer.count = starts.size
        self.pointer.starts = _numbers(starts)
        self.pointer.lengths = c.ffi.NULL if lengths is None else _numbers(lengths)
        self.pointer.data, self.pointer.type = _described(self.data)

    @staticmethod
    def refused() -> Any:
        """Runs that the library refuses."""
        pointer = c.ffi.new("parapet_runs *")
        pointer.count = -1
        return pointer


def _integers(numbers: numpy.typing.ArrayLike, name: str) -> numpy.ndarray[Any, Any]:
    given = numpy.asarray(numbers)
    if given.size and given.dtype.kind not in "iu":
        raise ArgumentError(f"{name} are {given.dtype}, not integers")
    return numpy.ascontiguousarray(given, dtype=numpy.int64)


def _numbers(array: numpy.ndarray[Any, Any]) -> Any:
    return c.ffi.cast("int64_t *", array.__array_interface__["data"][0])


def _memory(data: Any, count: int, dtype: numpy.dtype[Any], is_read: bool) -> numpy.ndarray[Any, Any]:
    """One element for each that is listed, in one piece."""
    if data is None:
        return numpy.empty(count, dtype)
    memory = numpy.asarray(data)
    _check(Part(memory), is_read, dtype)
    if memory.size != count:
        raise ArgumentError(f"there are {count} elements, but memory for {memory.size}")
    if is_read and not memory.flags.c_contiguous:
        raise ArgumentError("elements that are listed can only be read into memory in C order")
    return memory if is_read else numpy.ascontiguousarray(memory)


def _described(data: numpy.ndarray[Any, Any]) -> tuple[Any, int]:
    code = 0 if data.dtype.kind in "VU" else _types.code_of(data.dtype)
    return c.ffi.cast("void *", data.__array_interface__["data"][0]), code
