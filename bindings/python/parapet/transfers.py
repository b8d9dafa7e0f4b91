"""Transfers of many arrays at once."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from . import _collective
from . import _library as c
from ._parts import CParts, Part
from .array import Array
from .errors import ArgumentError

Transfer = Mapping[Array, Sequence[Part]]


def write_arrays(parts: Transfer) -> None:
    """[collective] Writes parts of many arrays of one store as one transfer.

    All ranks name the same arrays in the same order. All shards are complete before the first becomes visible.

    >>> import numpy, parapet
    >>> with parapet.open("memory:transfers", "a") as store:
    ...     u = store.create_array("u", shape=(4,), dtype="f8")
    ...     v = store.create_array("v", shape=(4,), dtype="f8")
    ...     parapet.write_arrays({u: [parapet.Part(numpy.ones(4))], v: [parapet.Part(numpy.zeros(2), start=2)]})
    ...     u[:].tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    _run(parts, False)


def read_arrays(parts: Transfer) -> None:
    """[collective] Reads parts of many arrays of one store as one transfer, into the memory of the parts."""
    _run(parts, True)


def _run(parts: Transfer, is_read: bool) -> None:
    if not parts:
        raise ArgumentError("there are no arrays to transfer; all ranks name the same arrays, if need be without parts")
    session = next(iter(parts))._session
    preparation = _collective.Preparation(session.is_shared)
    prepared = preparation.do(_prepare, parts, is_read)
    rows, count = (prepared[0], len(parts)) if prepared is not None else (_refused(parts), len(parts))
    call = c.lib.parapet_arrays_read if is_read else c.lib.parapet_arrays_write
    status = call(rows, count)
    preparation.raise_own()
    session.check(status)


def _prepare(parts: Transfer, is_read: bool) -> tuple[Any, list[CParts]]:
    rows = c.ffi.new("parapet_array_parts[]", len(parts))
    kept = [CParts(own, is_read, array.dtype) for array, own in parts.items()]
    for row, array, own in zip(rows, parts, kept):
        row.array, row.parts, row.part_count = array._handle.get(), own.pointer, own.count
    return rows, kept


def _refused(parts: Transfer) -> Any:
    """The same arrays with a number of parts that the library refuses, on all ranks."""
    rows = c.ffi.new("parapet_array_parts[]", len(parts))
    for row, array in zip(rows, parts):
        row.array, row.part_count = array._handle.get(), -1
    return rows
