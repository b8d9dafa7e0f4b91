"""Compares a file with a store, each as its own library shows it. A judge returns what differs, in words."""
import base64
import collections
import json
import math
import re
import struct
import subprocess

import peers
from peers import numpy, xarray, zarr

counts = collections.Counter()

# Attributes that have the type of their variable.
OF_TYPE = ("missing_value", "valid_min", "valid_max", "valid_range", "flag_values", "flag_masks")


def as_json(value):
    """An attribute of a file as JSON has it."""
    if isinstance(value, bytes):
        value = as_text(value)
    if isinstance(value, str):
        return value.replace("\0", "")
    if isinstance(value, (list, tuple, numpy.ndarray)):
        values = [as_json(each) for each in list(numpy.asarray(value, object).ravel())]
        return values[0] if len(values) == 1 else values
    if isinstance(value, numpy.generic):
        value = value.item()
        return as_json(value) if isinstance(value, (str, bytes)) else as_json_number(value)
    return as_json_number(value)


def as_text(data):
    """What is not UTF-8 is taken as Latin-1."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


def as_json_number(value):
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def as_encoded_fill(value):
    """_FillValue of a float, as xarray writes it to Zarr."""
    return base64.b64encode(struct.pack("<d", math.nan if math.isnan(value) else float(value))).decode()


def expected_attributes(found, dtype):
    """What a copy is to have of the attributes of a variable."""
    kind = "O" if dtype is str else numpy.dtype(dtype).kind
    expected = {name: as_json(value) for name, value in found.items()}
    if "_FillValue" in expected and kind in "SOU":
        del expected["_FillValue"]
    elif "_FillValue" in expected and kind == "f":
        expected["_FillValue"] = as_encoded_fill(found["_FillValue"])
    return expected


def differing(what, found, expected):
    """Attributes by name."""
    if json.dumps(found, sort_keys=True) != json.dumps(expected, sort_keys=True):
        yield f"{what}: attributes {found} instead of {expected}"


# ---- A copy of netCDF ----


def netcdf_copy(path, store):
    """Every variable, and what xarray finds, once the file is closed: libnetcdf has crashed where a process opens one twice."""
    packed = {}
    with peers.open_netcdf(path) as file:
        for place, group in peers.netcdf_groups(file):
            copied = zarr.open_group(store / place, mode="r")
            attributes = {name: group.getncattr(name) for name in group.ncattrs()}
            yield from differing(f"group /{place}", dict(copied.attrs), {name: as_json(v) for name, v in attributes.items()})
            for name, variable in group.variables.items():
                yield from netcdf_variable(f"{place}/{name}", variable, zarr.open_array(store / place / name, mode="r"))
            if is_for_xarray(group):
                packed[place] = has_packing_in_floats(group)
            counts["datasets of copies that xarray does not read"] += place not in packed
    for place, is_packed in packed.items():
        yield from xarray_copy(path, store, place, is_packed)


def netcdf_variable(what, variable, array):
    shown, found = peers.netcdf_values(variable), peers.elements(array)
    if not peers.is_same(found, shown):
        yield f"{what}: {describe(found)} instead of {describe(shown)}"
    if peers.names_of(array) != variable.dimensions:
        yield f"{what}: dimensions {peers.names_of(array)} instead of {variable.dimensions}"
    attributes = {name: variable.getncattr(name) for name in variable.ncattrs()}
    yield from differing(what, dict(array.attrs), expected_attributes(attributes, variable.dtype))


def describe(values):
    values = numpy.asarray(values)
    return f"{values.dtype}{list(values.shape)} {values.ravel()[:8].tolist()}"


def has_packing_in_floats(group):
    return any(isinstance(getattr(variable, name, None), numpy.float32) for variable in group.variables.values()
               for name in ("scale_factor", "add_offset"))


def is_for_xarray(group):
    return all(len(set(variable.dimensions)) == variable.ndim for variable in group.variables.values()) and \
        peers.is_read_at_once(group)


def xarray_copy(path, store, place, is_packed):
    """xarray finds the same dataset in both, if it finds one in the file."""
    try:
        before = peers.netcdf_dataset(path, place or None)
    except (ValueError, OverflowError):  # times that are none, and packing of what cannot be packed
        counts["datasets of copies that xarray does not read"] += 1
        return
    counts["datasets of copies that xarray finds in both"] += 1
    for each in (before, *before.variables.values()):
        each.attrs = {name: as_json(value) for name, value in each.attrs.items()}
    try:
        with xarray.open_zarr(store, group=place or None, consolidated=False, chunks=None) as after:
            after.load()
        for each in (after, *after.variables.values()):
            each.attrs = {name: as_json(value) for name, value in each.attrs.items()}
        (xarray.testing.assert_allclose if is_packed else xarray.testing.assert_identical)(before, after)
    except Exception as error:  # whatever a reader finds wrong
        yield f"xarray of /{place}: {type(error).__name__} {error}"


# ---- A copy of HDF5 and of NumPy ----


def hdf5_copy(path, store):
    with peers.h5py.File(path, "r") as file:
        datasets = []
        file.visititems(lambda name, node: datasets.append(name) if isinstance(node, peers.h5py.Dataset) else None)
        for name in datasets:
            array = zarr.open_array(store / name, mode="r")
            shown = file[name].asstr()[...] if peers.h5py.check_string_dtype(file[name].dtype) and \
                file[name].dtype.kind == "O" else file[name][...]
            if not peers.is_same(peers.elements(array), shown):
                yield f"{name}: {describe(peers.elements(array))} instead of {describe(shown)}"
            yield from differing(name, dict(array.attrs), {key: as_json(value) for key, value in file[name].attrs.items()})


def numpy_copy(path, store, names):
    """As NumPy reads the file again."""
    loaded = numpy.load(path)
    for name in names:
        shown, array = loaded[name] if name else loaded, zarr.open_array(store / name if name else store, mode="r")
        if not peers.is_same(peers.elements(array), shown):
            yield f"{name}: {describe(peers.elements(array))} instead of {describe(shown)}"


# ---- Files that are made ----


# Of what is decomposed, what the guide names.
DECOMPOSED = re.compile("[\u0300-\u036f\u1100-\u11ff\u2126\u212a\u212b\u3099\u309a\uf900-\ufaff]")


def is_netcdf_name(name):
    first, data = name[:1], name.encode()
    return (first.isascii() and first.isalnum() or first == "_" or first > "\x7f") and "/" not in name and \
        not name.endswith(" ") and len(data) <= 256 and not any(byte < 32 or byte == 127 for byte in data) and \
        not DECOMPOSED.search(name)


def names_of_dimensions(name, array):
    if array.metadata.zarr_format == 2:
        return tuple(array.attrs.get("_ARRAY_DIMENSIONS", [f"{name}_dim_{d}" for d in range(array.ndim)]))
    named = peers.names_of(array) or (None,) * array.ndim
    return tuple(each or f"{name}_dim_{d}" for d, each in enumerate(named))


def why_netcdf_refuses(group):
    """What the guide says that the format cannot hold; nothing: it holds all of it."""
    lengths = {}
    for name, node in group.members():
        if isinstance(node, zarr.Group):
            yield f"{name} is a group"
            continue
        dtype = node.dtype
        if not (dtype.kind in "biuf" and dtype != numpy.float16 or dtype == numpy.dtype("S1")):
            yield f"{name} has {dtype}"
        if not is_netcdf_name(name):
            yield f"{name} is no name"
        for d, (along, extent) in enumerate(zip(names_of_dimensions(name, node), node.shape)):
            if not is_netcdf_name(along):
                yield f"{along} is no name"
            if lengths.setdefault(along, extent) != extent:
                yield f"{along} has two lengths"
            if extent == 0 and d > 0:
                yield f"{along} is empty, and not first"
    if sum(extent == 0 for extent in lengths.values()) > 1:
        yield "two dimensions are empty"


def netcdf_export(store, path, left_out):
    """What its library shows of a file that was made of a group."""
    problem = peers.is_opened(path)
    if problem:
        yield problem
        return
    group = zarr.open_group(store, mode="r")
    with peers.open_netcdf(path) as file:
        yield from exported_attributes("the file", file, group, left_out)
        if set(file.variables) != set(name for name, _ in group.members()):
            yield f"variables {sorted(file.variables)}"
        for name, variable in file.variables.items():
            yield from exported_variable(name, variable, group[name], left_out)
    yield from nccopied(path)
    yield from xarray_export(store, path, left_out)


def exported_variable(name, variable, array, left_out):
    shown, stored = peers.netcdf_values(variable), peers.elements(array)
    if array.dtype.kind == "b":
        stored = stored.astype("i1")
    if not peers.is_same(shown, stored):
        yield f"{name}: {describe(shown)} instead of {describe(stored)}"
    if variable.dimensions != names_of_dimensions(name, array):
        yield f"{name}: dimensions {variable.dimensions} instead of {names_of_dimensions(name, array)}"
    yield from exported_attributes(f'"{name}"', variable, array, left_out)


def exported_value(name, value, dtype):
    """An attribute of JSON as netCDF shows it."""
    special = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
    if name == "_FillValue" and dtype is not None and dtype.kind == "f" and isinstance(value, str) and value not in special:
        return numpy.asarray(struct.unpack("<d", base64.b64decode(value))[0]).astype(dtype)
    if name in ("_FillValue", *OF_TYPE) and isinstance(value, str) and value in special:
        return special[value]
    if name in OF_TYPE and isinstance(value, list):
        return [special.get(each, each) if isinstance(each, str) else each for each in value]
    return value


def exported_attributes(what, node, source, left_out):
    """Each is there with its value, or was listed; and nothing else is there."""
    dtype = getattr(source, "dtype", None)
    found = {name: node.getncattr(name) for name in node.ncattrs()}
    implied = {"dtype"} if dtype is not None and dtype.kind == "b" else set()
    if dtype is not None and (source.metadata.zarr_format == 2 or dtype.kind == "S"):
        implied.add("_FillValue")
    for name, value in source.attrs.items():
        line = f'the attribute "{name}"' + (f" of {what}:" if what.startswith('"') else ":")
        if name == "_ARRAY_DIMENSIONS" and source.metadata.zarr_format == 2:
            continue
        if line in left_out:
            if name in found and name not in implied:
                yield f"{what}: {name} is there, but was listed as left out"
        elif name not in found:
            yield f"{what}: {name} is not there, and was not listed"
        elif not is_value(found[name], exported_value(name, value, dtype)):
            yield f"{what}: {name} is {found[name]!r} instead of {value!r}"
    for name in set(found) - set(source.attrs) - implied:
        yield f"{what}: {name} should not be there"


def is_value(found, expected):
    if isinstance(expected, str):
        return isinstance(found, str) and found == expected
    if isinstance(expected, list) and len(expected) == 1:
        expected = expected[0]
    found, expected = numpy.asarray(found), numpy.asarray(expected)
    if found.dtype == numpy.float32:
        expected = expected.astype("f4")
    return found.shape == expected.shape and numpy.array_equal(found, expected, equal_nan=found.dtype.kind == "f")


def nccopied(path):
    """netCDF's own program makes netCDF-4 of it, and nothing changes."""
    again = path.with_suffix(".again.nc")
    done = subprocess.run(["nccopy", "-4", path, again], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        yield f"nccopy: {done.stderr.strip()}"
        return
    with peers.open_netcdf(path) as before, peers.open_netcdf(again) as after:
        for name, variable in before.variables.items():
            if not peers.is_same(after[name][...], variable[...]):
                yield f"nccopy of {name}: {describe(after[name][...])} instead of {describe(variable[...])}"
    again.unlink()


def has_odd_boolean(store):
    """Whether a boolean has a _FillValue that no boolean is. xarray takes -1 in a store for true, and masks elements; in a
    byte of netCDF, where 1 is true, it finds none that is -1."""
    return any(array.dtype.kind == "b" and array.attrs.get("_FillValue", 0) not in (0, 1)
               for _, array in zarr.open_group(store, mode="r").arrays())


def xarray_export(store, path, left_out):
    """xarray finds the same in both, if it opens the store, and takes no odd _FillValue as one."""
    if re.search('"_FillValue" of .*not one value', left_out) or has_odd_boolean(store):
        return
    try:
        with xarray.open_zarr(store, consolidated=False, chunks=None) as before:
            before.load()
    except Exception:  # no names of dimensions, attributes that xarray does not take
        counts["datasets of exports that xarray does not read"] += 1
        return
    counts["datasets of exports that xarray finds in both"] += 1
    try:
        after = peers.netcdf_dataset(path)
        for each in (before, *before.variables.values(), after, *after.variables.values()):
            each.attrs = {name: as_json(value) for name, value in each.attrs.items()}
        (xarray.testing.assert_equal if "attribute" in left_out else xarray.testing.assert_identical)(before, after)
    except Exception as error:  # whatever a reader finds wrong
        yield f"xarray of {path.name}: {type(error).__name__} {error}"


def numpy_export(store, path, raw):
    """One array as NumPy reads it, with and without a header."""
    stored = peers.elements(zarr.open_array(store, mode="r"))
    if path is not None and not peers.is_same(numpy.load(path), stored):
        yield f"{path.name}: {describe(numpy.load(path))} instead of {describe(stored)}"
    if raw.read_bytes() != numpy.ascontiguousarray(stored).tobytes():
        yield f"{raw.name}: not the elements of {describe(stored)}"
