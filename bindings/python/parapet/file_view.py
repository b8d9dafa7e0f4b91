"""File views of MPI-IO as parts of an array."""
from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy

from . import _library as c
from ._handles import Handle
from ._parts import Part
from .errors import ArgumentError, MPIError, check

if TYPE_CHECKING:
    from mpi4py.MPI import Datatype


def build_parts(array: Handle, data: numpy.ndarray[Any, Any], dtype: numpy.dtype[Any], filetype: Datatype,
                displacement: int) -> list[Part]:
    """The boxes that a datatype selects, with views of the data."""
    if not isinstance(data, numpy.ndarray) or not data.flags.c_contiguous or data.dtype != dtype:
        raise ArgumentError(f"the data of a file view is a contiguous numpy.ndarray of {dtype}")
    address = data.__array_interface__["data"][0]
    rows = c.ffi.new("parapet_array_parts *")
    check(c.lib.parapet_array_parts_build(rows, array.get(), displacement, _datatype(filetype),
                                          c.ffi.cast("void *", address)))
    memory = data.reshape(-1).view(numpy.uint8)
    try:
        return [_view(memory, dtype, rows.parts[i], address) for i in range(rows.part_count)]
    finally:
        c.lib.parapet_array_parts_free(rows)


def _view(memory: numpy.ndarray[Any, Any], dtype: numpy.dtype[Any], part: Any, address: int) -> Part:
    ndim = part.ndim
    offset = int(c.ffi.cast("uintptr_t", part.data)) - address
    try:
        view: numpy.ndarray[Any, Any] = numpy.ndarray(tuple(part.count[0:ndim]), dtype, memory, offset,
                                                      tuple(part.strides_bytes[0:ndim]))
    except (TypeError, ValueError):
        raise ArgumentError(f"the datatype selects more than the {memory.size // dtype.itemsize} elements of the data") \
            from None
    return Part(view, tuple(part.start[0:ndim]))


def _datatype(filetype: Datatype) -> Any:
    """A datatype of mpi4py as C takes it."""
    mpi = sys.modules.get("mpi4py.MPI")
    if mpi is None or not isinstance(filetype, mpi.Datatype):
        raise ArgumentError(f"filetype={filetype!r} is not a datatype of mpi4py")
    if mpi._sizeof(mpi.Datatype) != c.ffi.sizeof("MPI_Datatype"):
        raise MPIError(f"a datatype of mpi4py has {mpi._sizeof(mpi.Datatype)} bytes, but that of parapet's flavour "
                       f"{c.flavour} has {c.ffi.sizeof('MPI_Datatype')}: they are of different MPIs")
    return c.lib.parapet_python_datatype_at(mpi._addressof(filetype))
