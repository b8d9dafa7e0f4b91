"""What the other readers and writers cannot do, by name, with the reason.

A limit says for which arrays a reader must fail. The tests try all the same: an array under a limit that is read
exactly is reported, so that the list cannot outlive its reasons.
"""

import dataclasses
from typing import Callable


@dataclasses.dataclass
class Limit:
    reader: str
    name: str
    applies: Callable  # to a cases.Variable, or a foreign.ForeignCase where Parapet reads
    symptom: str  # the failure must contain this; any other failure is a failure
    reason: str


def is_type(*names):
    return lambda variable: variable.type in names


def is_sharded_raw(variable):
    return variable.type == "raw" and variable.is_sharded


def has_half_payload(variable):
    return variable.type == "float16" and variable.fill_name == "NaN with payload"


def shows_half_payload(variable):
    return has_half_payload(variable) and variable.shows_fill


def shows_payload(variable):
    return variable.fill_name == "NaN with payload" and variable.shows_fill


def shows_long_integer(variable):
    if variable.type not in ("int64", "uint64") or not variable.fill or not variable.shows_fill:
        return False
    value = int.from_bytes(variable.fill, "little", signed=variable.type == "int64")
    return int(float(value)) != value


def shows_minus_zero(variable):
    return variable.fill_name == "-0.0" and variable.shows_fill


def is_empty(variable):
    return 0 in variable.shape


def has_small_fill(case):
    return "float8" in str(case.dtype) and case.fill != bytes(1)


def is_big_endian_delta(case):
    return case.has_delta and case.dtype.str.startswith(">")


NO_BFLOAT16 = "No Zarr data type found that matches"
UNHASHABLE = "unhashable type: 'writeable void-scalar'"
DIFFERS = "elements differ"

LIMITS = [
    Limit("zarr-python", "bfloat16", is_type("bfloat16"), NO_BFLOAT16, "the type is not in its registry"),
    Limit("zarr-python", "raw bytes in shards", is_sharded_raw, UNHASHABLE,
          "the sharding codec hashes the fill value, and NumPy's void scalar has no hash"),
    Limit("zarr-python", "float16 fill value that is a NaN with payload", has_half_payload, "057e",
          "the bit pattern goes through a Python float, which keeps no payload of a half"),
    Limit("xarray", "bfloat16", is_type("bfloat16"), NO_BFLOAT16, "it reads with zarr-python"),
    Limit("xarray", "raw bytes in shards", is_sharded_raw, UNHASHABLE, "it reads with zarr-python"),
    Limit("xarray", "float16 fill value that is a NaN with payload", shows_half_payload, DIFFERS,
          "it reads with zarr-python"),
    Limit("TensorStore", "datetime64 and timedelta64", is_type("numpy.datetime64", "numpy.timedelta64"),
          "data_type", "the zarr3 driver does not know these types"),
    Limit("zarrita", "datetime64, timedelta64 and raw bytes", is_type("numpy.datetime64", "numpy.timedelta64", "raw"),
          "dataType.match is not a function", "it knows only data types that are a single word"),
    Limit("zarrita", "complex64 and complex128", is_type("complex64", "complex128"),
          "unsupported dataType", "JavaScript has no complex numbers"),
    Limit("zarrita", "bfloat16", is_type("bfloat16"), "unsupported dataType", "JavaScript has no such type"),
    Limit("zarrita", "float16", is_type("float16"), "unsupported dataType",
          "needs Float16Array, which Node has from version 24 on"),
    Limit("zarrita", "a dimension of length 0", is_empty, "empty iterator", "its indexing expects at least one chunk"),
    Limit("zarrita", "64-bit fill value that is no double", shows_long_integer, DIFFERS,
          "JSON numbers become doubles"),
    Limit("zarrita", "fill value -0.0 in consolidated metadata", shows_minus_zero, DIFFERS,
          "it prints the document again with JSON.stringify, which drops the sign"),
    Limit("zarrita", "fill value that is a NaN with payload", shows_payload, DIFFERS,
          "the hexadecimal bit pattern is taken for an integer"),
    Limit("Parapet", "float8 fill value other than 0", has_small_fill, "PARAPET_ERR_UNSUPPORTED",
          "these types are moved and never looked into, so their numbers are not known"),
    Limit("Parapet", "v2 filter delta on big-endian numbers", is_big_endian_delta, "PARAPET_ERR_UNSUPPORTED",
          "not implemented"),
]


def find(reader, variable):
    return next((limit for limit in LIMITS if limit.reader == reader and limit.applies(variable)), None)
