"""What an array is to be, before it exists."""
from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy
import numpy.typing

from . import _library as c
from . import _types, attributes as _attributes
from .errors import ArgumentError

Extents = Sequence[int] | int


@dataclass(frozen=True)
class ArraySpec:
    """Describes an array to be created. Only `shape` and `dtype` are required.

    chunks: the extents of a chunk, -1 for a whole dimension; "auto": about 1 MiB.
    shards: the extents of a shard, -1 for a whole dimension; "auto": chosen; None: each chunk is a file.
    codec: "none", "zstd:3", "gzip:6", "blosc:lz4:5:shuffle"; None: "zstd:3".
    fill_value: what was never written reads as; None: zero.
    checksum: whether each chunk carries a CRC-32C.
    overwrite: whether an array of this name may be replaced.

    >>> import parapet
    >>> parapet.ArraySpec(shape=(100, 200), dtype="f4", chunks=(50, -1)).chunks
    (50, -1)
    """

    shape: Extents
    dtype: numpy.typing.DTypeLike
    chunks: Extents | str = "auto"
    shards: Extents | str | None = "auto"
    codec: str | None = None
    fill_value: Any = None
    dimension_names: Sequence[str] | None = None
    attributes: Mapping[str, Any] | None = None
    checksum: bool = True
    overwrite: bool = False


class CSpecs:
    """Specs as C takes them: `pointer` to an array of structs. Keeps alive what they point to."""

    def __init__(self, specs: Sequence[ArraySpec]) -> None:
        self._kept: list[Any] = []
        self.pointer = c.ffi.new("parapet_array_spec[]", len(specs))
        for row, spec in zip(self.pointer, specs):
            self._fill(row, spec)

    def _keep(self, value: Any) -> Any:
        self._kept.append(value)
        return value

    def _fill(self, row: Any, spec: ArraySpec) -> None:
        shape, dtype = extents(spec.shape), numpy.dtype(spec.dtype)
        row.ndim, row.type = len(shape), _types.code_of(dtype)
        row.shape = self._numbers(shape)
        row.chunks = self._extents(spec.chunks, "chunks", len(shape))
        row.unsharded = spec.shards is None
        row.shards = c.ffi.NULL if spec.shards is None else self._extents(spec.shards, "shards", len(shape))
        row.codec = self.text(spec.codec)
        row.no_checksum = not spec.checksum
        row.fill_value = self._element(spec.fill_value, dtype)
        row.dimension_names = self._names(spec.dimension_names, len(shape))
        row.attributes = self._json(spec.attributes)
        row.element_bytes = dtype.itemsize if dtype.kind == "V" else 0
        row.time_unit = self.text(_types.time_unit(dtype))
        row.overwrite = spec.overwrite

    def _numbers(self, numbers: Sequence[int]) -> Any:
        return self._keep(c.ffi.new("int64_t[]", list(numbers) or [0]))

    def _extents(self, given: Extents | str, what: str, ndim: int) -> Any:
        """C's zero, the whole dimension, is -1 here, as in dask and in `parapet.copy`."""
        if isinstance(given, str):
            if given != "auto":
                raise ArgumentError(f'{what} are "auto" or a number for each dimension, not "{given}"')
            return c.ffi.NULL
        numbers = extents(given)
        if len(numbers) != ndim or any(number == 0 or number < -1 for number in numbers):
            raise ArgumentError(f"{what}={given} must have {ndim} entries, each positive, or -1 for a whole dimension")
        return self._numbers([0 if number == -1 else number for number in numbers])

    def text(self, words: str | None) -> Any:
        return c.ffi.NULL if words is None else self._keep(c.ffi.new("char[]", words.encode()))

    def _element(self, value: Any, dtype: numpy.dtype[Any]) -> Any:
        if value is None:
            return c.ffi.NULL
        element = self._keep(numpy.array(value, dtype=dtype))
        if element.ndim != 0:
            raise ArgumentError(f"fill_value={value!r} is not one element")
        return c.ffi.cast("void *", element.ctypes.data)

    def _names(self, names: Sequence[str] | None, ndim: int) -> Any:
        if names is None:
            return c.ffi.NULL
        if isinstance(names, str) or len(names) != ndim:
            raise ArgumentError(f"dimension_names={names!r} must have one name for each of {ndim} dimensions")
        return self.texts(names)

    def texts(self, words: Sequence[str]) -> Any:
        return self._keep(c.ffi.new("char *[]", [self.text(word) for word in words] or 1))

    def _json(self, value: Mapping[str, Any] | None) -> Any:
        return c.ffi.NULL if value is None else self._keep(c.ffi.new("char[]", _attributes.encode(dict(value))))


def extents(given: Extents) -> tuple[int, ...]:
    """The extents of a shape, for which one number may stand alone."""
    if isinstance(given, (int, numpy.integer)):
        return (int(given),)
    return tuple([operator.index(number) for number in given])
