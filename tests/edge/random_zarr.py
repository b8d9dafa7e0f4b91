"""Random groups of Zarr that are to become netCDF: what zarr-python and xarray write, and what nobody should."""
import base64
import struct

import random_netcdf
from peers import numpy, zarr

TYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "bool"]
OTHER_TYPES = ["float16", "complex64"]
# Some that netCDF does not have, and some that are not composed.
ATTRIBUTES = ["a", "b", "caf\u00e9", " no", "a/b", "-", "9", "e\u0301", "\u304b\u3099"]
ODD_NAMES = ["-", "e\u0301", "\u1112\u1161\u11ab"]
chance, pick = random_netcdf.chance, random_netcdf.pick


def json_attribute(rng):
    """Any value that JSON has."""
    values = [1, -1, 0, 2**40, -2**40, 2**63, 1.5, 1e300, True, None, "text", "", "caf\u00e9", [1, 2], [1.5, 2], ["a", "b"], [],
              [2**63, 1], {"a": 1}, [1, "a"], "NaN", [0.1, "NaN"], 2**63 - 1, [-1, 2**63 - 1],
              -2**63, 0.1, 5e-324, -0.0]
    return pick(rng, values)


def of_variable(rng, dtype):
    """Attributes that have the type of their variable, and those of packing, as xarray writes them."""
    attributes = {}
    if dtype in ("float32", "float64") and chance(rng, 0.4):
        value = float(pick(rng, [numpy.nan, -999.0, 1e20]))
        attributes["_FillValue"] = base64.b64encode(struct.pack("<d", value)).decode()
    elif "int" in dtype and chance(rng, 0.4):
        attributes["_FillValue"] = int(pick(rng, [99, numpy.iinfo(dtype).max, 0]))
    if chance(rng, 0.05):
        attributes["_FillValue"] = pick(rng, [1.5, "text", [1], [1, 2], "NaN", 2**40, True, -1, "AAAAAAAA+H8="])
    if dtype == "int16" and chance(rng, 0.4):
        attributes |= {"scale_factor": 0.5, "add_offset": -1.0}
    if "int" in dtype and chance(rng, 0.2):
        attributes |= {"flag_values": [1, 2], "flag_meanings": "one two", "valid_range": [0, 100]}
    return attributes


def choose_shape(rng, lengths):
    names = [list(lengths)[int(i)] for i in rng.permutation(len(lengths))[:int(rng.integers(0, 4))]]
    if "time" in names and chance(rng, 0.9):
        names = ["time"] + [name for name in names if name != "time"]
    return names, tuple(lengths[name] for name in names)


def make_array(rng, group, name, lengths):
    names, shape = choose_shape(rng, lengths)
    dtype = pick(rng, OTHER_TYPES) if chance(rng, 0.01) else pick(rng, TYPES)
    chunks = tuple(int(rng.integers(1, extent + 2)) for extent in shape)
    options = {"compressors": None} if chance(rng, 0.3) else {}
    if shape and 0 not in shape and chance(rng, 0.3):
        options["shards"] = tuple(2 * extent for extent in chunks)
    fill = 0 if chance(rng, 0.7) else {"b": True, "i": 7, "u": 7, "f": 2.5, "c": 1}[numpy.dtype(dtype).kind]
    attributes = of_variable(rng, dtype) | {pick(rng, ATTRIBUTES) + (str(k) if k else ""): json_attribute(rng)
                                               for k in range(int(rng.integers(0, 3)))}
    if group.metadata.zarr_format == 2:
        fill = None if dtype == "bool" else fill  # xarray masks it
        attributes["_ARRAY_DIMENSIONS"] = names
        options = {}
    elif chance(rng, 0.9):
        options["dimension_names"] = names
    made = group.create_array(name, shape=shape, chunks=chunks, dtype=dtype, fill_value=fill, attributes=attributes, **options)
    if made.size and chance(rng, 0.8):
        made[...] = rng.integers(0, 2, shape).astype(bool) if dtype == "bool" else \
            numpy.asarray(random_netcdf.numbers(rng, dtype, shape)) if dtype not in OTHER_TYPES else \
            rng.integers(0, 9, shape).astype(dtype)


def make(rng, path):
    """Writes a group."""
    version = 2 if chance(rng, 0.2) else 3
    group = zarr.open_group(path, mode="w", zarr_format=version,
                            attributes={f"g{k}": json_attribute(rng) for k in range(int(rng.integers(0, 3)))})
    lengths = {"time": int(pick(rng, [0, 0, 1, 5])), "x": int(rng.integers(1, 7)), "y": int(rng.integers(1, 7)),
               "gr\u00f6\u00dfe": 3}
    if chance(rng, 0.05):
        lengths["none"] = 0
    for k in range(int(rng.integers(1, 6))):
        name = pick(rng, random_netcdf.NAMES) + str(k)
        if chance(rng, 0.1):
            name = pick(rng, list(lengths) if chance(rng, 0.8) else ODD_NAMES)
        if name not in group:
            make_array(rng, group, name, lengths)
    return f"Zarr v{version}"
