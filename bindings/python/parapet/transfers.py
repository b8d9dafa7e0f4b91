"""Transfers of many arrays at once."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from . import _collective
from . import _library as c
from ._parts import CParts, Part
from .array import Array
from .errors import ArgumentError
from .request import BORROW, COPY, Request, start

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


def start_write_arrays(parts: Transfer, copy: bool = False) -> Request:
    """[collective] Starts `write_arrays`. With `copy`, the memory of the parts may be used again at once."""
    preparation, rows, kept = _begin(parts, False)
    return start(next(iter(parts))._session, lambda place: c.lib.parapet_arrays_start_write(
        place, rows, len(parts), COPY if copy else BORROW), kept, preparation.failure)


def start_read_arrays(parts: Transfer) -> Request:
    """[collective] Starts `read_arrays`."""
    preparation, rows, kept = _begin(parts, True)
    return start(next(iter(parts))._session, lambda place: c.lib.parapet_arrays_start_read(
        place, rows, len(parts)), kept, preparation.failure)


def _begin(parts: Transfer, is_read: bool) -> tuple[_collective.Preparation, Any, Any]:
    """Rows for C, and what keeps them: those that it refuses on all ranks if this one fails."""
    if not parts:
        raise ArgumentError("there are no arrays to transfer; all ranks name the same arrays, if need be without parts")
    preparation = _collective.Preparation(next(iter(parts))._session.is_shared)
    prepared = preparation.do(_prepare, parts, is_read)
    return preparation, prepared[0] if prepared is not None else _refused(parts), prepared


def _run(parts: Transfer, is_read: bool) -> None:
    preparation, rows, _ = _begin(parts, is_read)
    session = next(iter(parts))._session
    call = c.lib.parapet_arrays_read if is_read else c.lib.parapet_arrays_write
    status = call(rows, len(parts))
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
