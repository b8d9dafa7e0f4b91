"""The types of elements: how NumPy and the library name them."""
from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy

from . import _library as c
from .errors import ArgumentError, check

_BY_NAME = {
    name: f"PARAPET_{name.upper()}"
    for name in ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
                 "float32", "float64", "complex64", "complex128", "bfloat16")
}
_BY_KIND = {"M": "PARAPET_DATETIME64", "m": "PARAPET_TIMEDELTA64", "V": "PARAPET_RAW", "U": "PARAPET_UTF32"}
_UNIT = re.compile(r"\[(\w+)\]")

_codes: dict[numpy.dtype[Any], int] = {}


def code_of(dtype: numpy.dtype[Any]) -> int:
    """The number of a type in the library."""
    code = _codes.get(dtype)
    if code is None:
        name = _BY_NAME.get(dtype.name) or _BY_KIND.get(dtype.kind)
        if name is None:
            raise ArgumentError(f"there is no type of Zarr for elements of NumPy's type {dtype}")
        code = _codes[dtype] = int(getattr(c.lib, name))
    return code


def time_unit(dtype: numpy.dtype[Any]) -> str | None:
    """The unit of a date or duration in words of NumPy ("ns"), or None."""
    if dtype.kind not in "Mm":
        return None
    unit, count = numpy.datetime_data(dtype)
    return unit if count == 1 else f"{count}{unit}"


def dtype_of(info: Any) -> numpy.dtype[Any]:
    """NumPy's type for the elements of an array that the library describes."""
    name = c.ffi.string(c.lib.parapet_type_name(info.type)).decode() if c.lib.parapet_type_name(info.type) else ""
    if info.type in (c.lib.PARAPET_DATETIME64, c.lib.PARAPET_TIMEDELTA64):
        unit = _UNIT.search(c.ffi.string(info.type_name).decode())
        kind = "M8" if info.type == c.lib.PARAPET_DATETIME64 else "m8"
        return numpy.dtype(f"{kind}[{unit[1] if unit else 'ns'}]")
    if info.type == c.lib.PARAPET_BFLOAT16:
        return _bfloat16()
    if info.type == c.lib.PARAPET_UTF32:
        return numpy.dtype(f"U{info.element_bytes // 4}")
    if name in _BY_NAME:
        return numpy.dtype(name)
    return numpy.dtype(f"V{info.element_bytes}")


def describe_all(names: Iterable[str], get_info: Callable[[int, Any], int]
                 ) -> dict[str, tuple[numpy.dtype[Any], tuple[int, ...]]]:
    """The type and shape of each array of a series or of a generation, which describes them by number."""
    info, found = c.ffi.new("parapet_array_info *"), {}
    for number, name in enumerate(names):
        check(get_info(number, info))
        found[name] = dtype_of(info), tuple(info.shape[d] for d in range(info.ndim))
    return found


def _bfloat16() -> numpy.dtype[Any]:
    """As ml_dtypes has it; without it, two bytes that nobody interprets."""
    try:
        import ml_dtypes
    except ImportError:
        return numpy.dtype("V2")
    dtype: numpy.dtype[Any] = numpy.dtype(ml_dtypes.bfloat16)
    return dtype
