"""The types, fill values and contents that the random arrays of the interoperability tests are made of.

Truth is kept as bytes: an array of NumPy's void type, which no library looks into and every slice can copy.
"""

import struct

import numpy

TIME_UNITS = ["s", "ms", "us", "ns", "D", "h", "m"]

INTEGERS = {
    "int8": "<i1", "int16": "<i2", "int32": "<i4", "int64": "<i8",
    "uint8": "<u1", "uint16": "<u2", "uint32": "<u4", "uint64": "<u8",
}
FLOATS = {"float16": "<f2", "float32": "<f4", "float64": "<f8"}
COMPLEX = {"complex64": "<f4", "complex128": "<f8"}
TIMES = ["numpy.datetime64", "numpy.timedelta64"]

# Every type that Parapet can write.
TYPES = ["bool", *INTEGERS, *FLOATS, *COMPLEX, "bfloat16", *TIMES, "raw"]

# What every reader knows.
COMMON_TYPES = ["bool", *INTEGERS, "float32", "float64"]


def element_bytes(type_name, raw_bytes):
    if type_name in INTEGERS:
        return numpy.dtype(INTEGERS[type_name]).itemsize
    if type_name in FLOATS:
        return numpy.dtype(FLOATS[type_name]).itemsize
    if type_name in COMPLEX:
        return 2 * numpy.dtype(COMPLEX[type_name]).itemsize
    return {"bool": 1, "bfloat16": 2, "raw": raw_bytes}.get(type_name, 8)


def numpy_type(type_name, unit, raw_bytes):
    """The NumPy type a reader should come up with; bfloat16 needs ml_dtypes."""
    if type_name == "bfloat16":
        import ml_dtypes

        return numpy.dtype(ml_dtypes.bfloat16)
    if type_name in TIMES:
        return numpy.dtype(f"<{'M' if 'date' in type_name else 'm'}8[{unit}]")
    if type_name == "raw":
        return numpy.dtype(f"V{raw_bytes}")
    return numpy.dtype(type_name).newbyteorder("<")


# ---- Fill values: name -> bytes of one element -------------------------------------------------------------


def integer_fills(dtype):
    limits = numpy.iinfo(dtype)
    values = {"zero": 0, "min": limits.min, "max": limits.max, "seven": 7}
    if limits.min < 0:
        values["minus one"] = -1
    if dtype == "<u8":
        values |= {"2^63": 2**63, "2^53+1": 2**53 + 1}
    return {name: numpy.array(value, dtype).tobytes() for name, value in values.items()}


def float_fills(dtype):
    limits = numpy.finfo(dtype)
    values = {
        "zero": 0.0, "-0.0": -0.0, "NaN": numpy.nan, "Infinity": numpy.inf, "-Infinity": -numpy.inf,
        "a tenth": 0.1, "subnormal": limits.smallest_subnormal, "largest": limits.max,
    }
    fills = {name: numpy.array(value, dtype).tobytes() for name, value in values.items()}
    quiet = numpy.array(numpy.nan, dtype).tobytes()
    return fills | {"NaN with payload": bytes([quiet[0] | 5]) + quiet[1:]}


def bfloat16_fills():
    patterns = {"zero": 0, "-0.0": 0x8000, "NaN": 0x7FC0, "Infinity": 0x7F80, "-Infinity": 0xFF80, "a third": 0x3EAB}
    return {name: struct.pack("<H", bits) for name, bits in patterns.items()}


def complex_fills(dtype):
    parts = float_fills(dtype)
    pairs = [("zero", "zero"), ("NaN", "Infinity"), ("-0.0", "a tenth"), ("largest", "-Infinity"), ("zero", "NaN")]
    return {f"{real}, {imaginary}": parts[real] + parts[imaginary] for real, imaginary in pairs}


def fills(type_name, raw_bytes):
    if type_name in INTEGERS:
        return integer_fills(INTEGERS[type_name])
    if type_name in FLOATS:
        return float_fills(FLOATS[type_name])
    if type_name in COMPLEX:
        return complex_fills(COMPLEX[type_name])
    if type_name == "bfloat16":
        return bfloat16_fills()
    if type_name == "bool":
        return {"false": b"\0", "true": b"\1"}
    if type_name in TIMES:
        return {"zero": bytes(8), "NaT": struct.pack("<q", -(2**63)), "minus one": struct.pack("<q", -1)}
    return {"zeros": bytes(raw_bytes), "bytes": bytes((201 + 37 * i) % 256 for i in range(raw_bytes))}


# ---- Contents ----------------------------------------------------------------------------------------------


def as_elements(data, size, shape):
    return numpy.frombuffer(bytearray(data), f"V{size}").reshape(shape)


def filled(shape, fill):
    array = numpy.zeros(shape, f"V{len(fill)}")
    array[...] = numpy.frombuffer(fill, f"V{len(fill)}")[0]
    return array


def contents(random, type_name, raw_bytes, shape):
    """Random elements: any bit pattern, few values that compress well, or a ramp."""
    count = int(numpy.prod(shape, dtype=numpy.int64))
    size = element_bytes(type_name, raw_bytes)
    kind = random.choice(["bits", "few", "ramp"])
    generator = numpy.random.default_rng(random.getrandbits(64))
    if type_name == "bool":
        data = generator.integers(0, 2, count, "u1").tobytes()
    elif type_name in TIMES:
        # Within the range of every unit at nanosecond resolution, for xarray; and now and then NaT.
        ticks = generator.integers(-20000, 20000, count, "i8")
        ticks[generator.random(count) < 0.1] = -(2**63)
        data = ticks.tobytes()
    elif kind == "bits":
        data = generator.bytes(count * size)
    elif kind == "few" or type_name in ("raw", "bfloat16"):
        table = numpy.frombuffer(generator.bytes(3 * size), f"V{size}")
        data = table[generator.integers(0, 3, count) * (generator.random(count) < 0.2)].tobytes()
    else:
        dtype = INTEGERS.get(type_name) or FLOATS.get(type_name)
        ramp = numpy.arange(count if dtype else 2 * count)
        data = (ramp % 100 - 7).astype(dtype or COMPLEX[type_name]).tobytes()
    return as_elements(data, size, shape)
