"""Parts: boxes of an array and the memory that holds them, handed to C as they are, with their strides."""
from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any

import numpy
import numpy.typing

from . import _library as c
from . import _types
from .errors import ArgumentError


class Part:
    """A box of an array and the memory that holds it.

    `data` is anything that NumPy sees without a copy: an array in any order, with any strides, or a buffer. `start` is
    the first index of the box in each dimension; its extent is the shape of the data.

    >>> import numpy, parapet
    >>> parapet.Part(numpy.zeros((2, 3)), start=(4, 0))
    Part(start=(4, 0), count=(2, 3), dtype=float64)
    """

    __slots__ = ("data", "start")

    def __init__(self, data: numpy.typing.ArrayLike, start: Sequence[int] | int | None = None) -> None:
        self.data = numpy.asarray(data)
        self.start = (0,) * self.data.ndim if start is None else as_tuple(start)
        if len(self.start) != self.data.ndim:
            raise ArgumentError(f"the start {self.start} of a part has {len(self.start)} entries, "
                                f"but its data has {self.data.ndim} dimensions")

    @property
    def count(self) -> tuple[int, ...]:
        """The extent of the box in each dimension."""
        return self.data.shape

    def __repr__(self) -> str:
        return f"Part(start={self.start}, count={self.count}, dtype={self.data.dtype})"


def as_tuple(numbers: Sequence[int] | int) -> tuple[int, ...]:
    """Indices as a tuple; one integer is that of one dimension."""
    if isinstance(numbers, (int, numpy.integer)):
        return (int(numbers),)
    return tuple([operator.index(number) for number in numbers])


class CParts:
    """Parts as C takes them: `pointer` and `count`. Lives as long as the call needs what it points to."""

    __slots__ = ("pointer", "count", "_numbers", "_kept")

    def __init__(self, parts: Iterable[Part], is_read: bool, dtype: numpy.dtype[Any] | None = None) -> None:
        kept = list(parts)
        ffi = c.ffi
        self._kept, self.count = kept, len(kept)
        numbers: list[int] = []
        for part in kept:
            _check(part, is_read, dtype)
            numbers += part.start
            numbers += part.data.shape
            numbers += part.data.strides
        self._numbers = ffi.new("int64_t[]", numbers)
        self.pointer = ffi.new("parapet_part[]", self.count) if kept else ffi.NULL
        at = self._numbers
        for i, part in enumerate(kept):
            self._fill(self.pointer[i], part, at)
            at += 3 * part.data.ndim

    @staticmethod
    def _fill(row: Any, part: Part, numbers: Any) -> None:
        data, ndim = part.data, part.data.ndim
        row.ndim = ndim
        row.start, row.count, row.strides_bytes = numbers, numbers + ndim, numbers + 2 * ndim
        row.data = c.ffi.cast("void *", data.__array_interface__["data"][0])
        row.type = 0 if data.dtype.kind in "VU" else _types.code_of(data.dtype)


def _check(part: Part, is_read: bool, dtype: numpy.dtype[Any] | None) -> None:
    """What C cannot see: the order of bytes, the unit of a date, and memory that must not be written."""
    data = part.data
    if not isinstance(part, Part):
        raise ArgumentError(f"{part!r} is not a parapet.Part")
    if not data.dtype.isnative:
        raise ArgumentError(f"{part!r} has the byte order of other machines; give it as "
                            f"data.astype({data.dtype.newbyteorder('=').str!r})")
    if dtype is not None and data.dtype != dtype and (data.dtype.kind in "MmVU" or dtype.kind in "MmVU"):
        raise ArgumentError(f"{part!r} is for an array of {dtype}")
    if is_read and not data.flags.writeable:
        raise ArgumentError(f"{part!r} is to be read into, but its memory is read-only")
