"""Whole hierarchies: labelled datasets that xarray wrote, and groups with everything that groups can have."""

import json
import math
import warnings

import numpy
import xarray
import zarr

import cases
import copy_tool

TIMES, ROWS, COLUMNS = 24, 11, 14
DEEP = 40


def make_dataset():
    generator = numpy.random.default_rng(7)
    shape = TIMES, ROWS, COLUMNS
    wind = generator.random(shape).astype("f4")
    wind[generator.random(shape) < 0.1] = numpy.nan
    packed = numpy.where(generator.random(shape) < 0.1, numpy.nan, generator.integers(-50, 50, shape) * 0.5 + 10.0)
    grid = "lat", "lon"
    return xarray.Dataset(
        {"wind": (("time", *grid), wind, {"units": "m s-1", "long_name": "Wind über Grönland \U0001F30A"}),
         "packed": (("time", *grid), packed, {"units": "K"}),
         "mask": (grid, generator.random((ROWS, COLUMNS)) < 0.5),
         "profile": ("time", generator.integers(0, 9, TIMES)),
         "phase": (grid, generator.random((ROWS, COLUMNS)) * (1 + 2j)),
         "radius": ((), 6371.25, {"units": "km"})},
        coords={"time": numpy.datetime64("2001-01-01T00", "ns") + numpy.arange(TIMES) * numpy.timedelta64(6, "h"),
                "lat": numpy.linspace(-5, 5, ROWS), "lon": numpy.arange(COLUMNS, dtype="f4"),
                "area": (grid, generator.random((ROWS, COLUMNS)))},
        attrs={"title": "ein Satz — データ", "levels": [1, 2.5, 1e-300], "Conventions": "CF-1.11"})


def write_dataset(store, zarr_format, is_consolidated):
    encoding = {"packed": {"chunks": (5, 4, 14)}, "wind": {"chunks": (6, 11, 7)}, "area": {"chunks": (3, 14)}}
    if zarr_format == 3:  # in Zarr v2 the fill value itself is what xarray takes for missing, in v3 it is not
        encoding["packed"] |= {"dtype": "int16", "scale_factor": 0.5, "add_offset": 10.0, "_FillValue": -99}
    make_dataset().to_zarr(store, zarr_format=zarr_format, encoding=encoding, consolidated=is_consolidated)
    with xarray.open_zarr(store, consolidated=is_consolidated, chunks=None) as dataset:
        return dataset.load()


# Options of a copy, and what xarray makes of the same change.
DATASET_CHANGES = [
    (["-c", "time/0,lat/3,lon/5"], lambda data: data),
    (["-c", "time=4", "-s", "time=8", "--codec", "blosc:zstd:3:shuffle"], lambda data: data),
    (["--codec", "gzip:1", "--shards", "none"], lambda data: data),
    (["--order=lon,lat,-time"], lambda data: data.isel(time=slice(None, None, -1)).transpose("lon", "lat", "time")),
    (["--region=time=3:17,lon=2:9", "-c", "time/6"], lambda data: data.isel(time=slice(3, 17), lon=slice(2, 9))),
    (["--order=-lat,time,lon", "--region=lat=1:8", "-c", "lat/2", "--passes", "2"],
     lambda data: data.isel(lat=slice(1, 8)).isel(lat=slice(None, None, -1)).transpose("lat", "time", "lon")),
]


def require_identical(found, expected):
    """Values, labels, dimensions, types and attributes."""
    for name in expected.variables:
        copy_tool.require_equal(f"dimensions of {name}", found[name].dims, expected[name].dims)
        copy_tool.require_equal(f"type of {name}", found[name].dtype, expected[name].dtype)
        copy_tool.require_equal(f"attributes of {name}", found[name].attrs, expected[name].attrs)
    xarray.testing.assert_identical(found, expected)


def check_dataset(arguments, folder, zarr_format, is_consolidated, number):
    options, change = DATASET_CHANGES[number]
    source, target = folder / "source.zarr", folder / "copy.zarr"
    data = write_dataset(str(source), zarr_format, is_consolidated)
    copy_tool.copy(arguments, source, target, [*options, "--verify", "--max-mem", "16MiB"], 3 if number % 2 else 1)
    copy_tool.require_sound(arguments, target)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for consolidated in {False, is_consolidated}:
            with xarray.open_zarr(str(target), consolidated=consolidated) as found:
                require_identical(found.load(), change(data))
    copy_tool.require_equal("documents with consolidated metadata", consolidated_documents(target),
                            ["zarr.json"] if is_consolidated else [])


def consolidated_documents(target):
    """A copy is consolidated where its source is, and nowhere else."""
    return [name for name in copy_tool.files_below(target)
            if name.endswith("zarr.json") and "consolidated_metadata" in (target / name).read_text()]


# ---- Groups ------------------------------------------------------------------------------------------------


def nested(depth):
    value = {"end": None}
    for level in range(depth):
        value = {"level": level, "in": value} if level % 2 else [value, "ünter"]
    return value


ATTRIBUTES = dict(cases.ATTRIBUTES, deep=nested(DEEP), missing=math.nan, far=[math.inf, {"near": -math.inf}])
# Parapet writes what JSON has no words for as text.
COPIED_ATTRIBUTES = dict(ATTRIBUTES, missing="NaN", far=["Infinity", {"near": "-Infinity"}])


def make_group(store, zarr_format):
    """The values of all arrays, by path."""
    root = zarr.open_group(str(store), mode="w", zarr_format=zarr_format, attributes=ATTRIBUTES)
    root.create_group("empty", attributes={"nothing": "below"})
    root.create_group("a/b/c/d/größe", attributes=ATTRIBUTES)
    names = {} if zarr_format == 2 else {"dimension_names": ["y", None]}
    values = {
        "a/plain": numpy.arange(35, dtype="i8").reshape(5, 7),
        "a/b/c/d/größe/データ": numpy.linspace(0, 1, 35).reshape(5, 7),
        "line": numpy.arange(9, dtype="u2"),
        "a/b/none": numpy.zeros((0, 4), "f8"),
        "scalar": numpy.array(1.5 - 2j),
        "a/b/day": numpy.array(["2001-01-01", "NaT", "1969-12-31"], "M8[D]"),
    }
    for path, data in values.items():
        named = names if data.ndim == 2 else {}
        array = root.create_array(path, shape=data.shape, dtype=data.dtype, attributes=ATTRIBUTES, **named,
                                  chunks=tuple(max(length // 2, 1) for length in data.shape))
        array[...] = data
    zarr.consolidate_metadata(str(store))
    return values


def load_attributes(group):
    """As they are written, whatever a reader makes of them."""
    return json.loads((group / "zarr.json").read_text(encoding="utf-8"))["attributes"]


def require_groups(target, found, expected):
    copy_tool.require_equal("groups and arrays", found, expected)
    for path in ("", "a/b/c/d/größe", *(path for path in found if found[path] == "array")):
        copy_tool.require_equal(f"attributes of {path}", load_attributes(target / path), COPIED_ATTRIBUTES)
        text = (target / path / "zarr.json").read_text(encoding="utf-8")
        for token in ("NaN,", "NaN\n", "Infinity,", "Infinity\n"):
            copy_tool.require_equal(f"a bare {token.strip()} in {path}", f": {token}" in text, False)
    copy_tool.require_equal("attributes of empty", load_attributes(target / "empty"), {"nothing": "below"})


def members(store, use_consolidated=False):
    group = zarr.open_group(str(store), mode="r", use_consolidated=use_consolidated)
    return {path: "array" if isinstance(node, zarr.Array) else "group"
            for path, node in group.members(max_depth=None)}


def check_group(arguments, folder, zarr_format, below, options, ranks):
    values = make_group(folder / "source.zarr", zarr_format)
    target = folder / "copy.zarr" / below
    copy_tool.copy(arguments, folder / "source.zarr", target, [*options, "--max-mem", "16MiB"], ranks)
    copy_tool.require_sound(arguments, folder / "copy.zarr")
    copy_tool.require_same(arguments, folder / "source.zarr", target)
    require_groups(target, members(target), members(folder / "source.zarr"))
    copy_tool.require_equal("consolidated groups and arrays", members(target, True), members(target))
    for path, data in values.items():
        array = zarr.open_array(str(target / path), mode="r")
        copy_tool.require_equal(f"type of {path}", array.dtype, data.dtype)
        copy_tool.require_equal(f"values of {path}", numpy.asarray(array[...]).tobytes(), data.tobytes())
        is_named = zarr_format == 3 and data.ndim == 2
        copy_tool.require_equal(f"dimension names of {path}", array.metadata.dimension_names,
                                ("y", None) if is_named else None)
    copy_tool.require_equal("documents with consolidated metadata", consolidated_documents(target), ["zarr.json"])
    top = zarr.open_group(str(folder / "copy.zarr"), mode="r", use_consolidated=False)
    for part in below.split("/") if below else []:
        top = top[part]
    copy_tool.require_equal("the group by its ancestors", "a" in top, True)


# ---- More than memory --------------------------------------------------------------------------------------


def check_passes(arguments, folder, ranks):
    """Columns become rows, of the array seen from another side, within less memory than one pass takes."""
    data = numpy.random.default_rng(3).random((1500, 800))
    array = zarr.create_array(str(folder / "source.zarr"), shape=data.shape, chunks=(1500, 8), dtype="f8")
    array[...] = data
    options = ["-c", "800,8", "-s", "800,200", "--order=-1,0", "--max-mem", "1500K", "--no-probe", "--json"]
    target = folder / "copy.zarr"
    done = copy_tool.call(arguments, ["copy", *options, folder / "source.zarr", target], ranks)
    copy_tool.require_equal(f"copy, which says {done.stderr}", done.returncode, 0)
    report = json.loads(done.stdout)
    copy_tool.require_equal(f"whether several passes are in {report}", report["passes"] > 1, True)
    copy_tool.require_sound(arguments, target)
    found = zarr.open_array(str(target), mode="r")[...]
    copy_tool.require_equal("equality of all values", numpy.array_equal(found, data.T[::-1]), True)


def all_checks(arguments):
    for zarr_format in (2, 3):
        for number in range(len(DATASET_CHANGES)):
            is_consolidated = number % 2 == 0
            yield (f"dataset{zarr_format}{number}", f"Zarr v{zarr_format}, {DATASET_CHANGES[number][0]}",
                   lambda folder, *given: check_dataset(arguments, folder, *given),
                   (zarr_format, is_consolidated, number))
        for number, (below, options, ranks) in enumerate([("", [], 1), ("x/y", ["-c", "2,3"], 3)]):
            yield (f"group{zarr_format}{number}", f"Zarr v{zarr_format} to {below!r}, {options}",
                   lambda folder, *given: check_group(arguments, folder, *given),
                   (zarr_format, below, options, ranks))
    for ranks in (1, 3):
        yield (f"passes{ranks}", f"on {ranks} ranks", lambda folder, *given: check_passes(arguments, folder, *given),
               (ranks,))


def run(arguments, folder):
    failures, count = [], 0
    for name, words, check, given in all_checks(arguments):
        if not copy_tool.is_wanted(arguments, name):
            continue
        (folder / name).mkdir()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what the writers say of types without a specification
            copy_tool.attempt(failures, name, words, lambda: check(folder / name, *given))
        count += 1
    print(f"copies of hierarchies and of more than memory: {count}; {len(failures)} failed", flush=True)
    return failures
