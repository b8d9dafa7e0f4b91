#!/usr/bin/env python3
"""A variable of netCDF-4 that has fewer indices than an unlimited dimension is as long as the dimension: netCDF shows fill
values for the rest, and so does a copy. The dimension is as long as the longest of its variables."""
import pathlib
import tempfile

import peers
from peers import h5py, netCDF4, numpy, xarray, zarr

TYPES = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "S1"]


def died(file):
    """A model ended between two variables."""
    file.createDimension("time", None)
    file.createDimension("x", 3)
    file.createVariable("time", "i4", ("time",))[:] = numpy.arange(10)
    file.createVariable("t2m", "f4", ("time", "x"))[0:10] = 1.0
    file.createVariable("precip", "f4", ("time", "x"))[0:9] = 2.0
    file.createVariable("never", "f4", ("time", "x"))


def every_type(file):
    """With the fill value of the type, one of their own, and none; chunks that reach over the end and those that do not."""
    file.createDimension("time", None)
    file.createVariable("time", "f8", ("time",))[:] = numpy.arange(11)
    for dtype in TYPES:
        for name, options in (("default", {}), ("own", {"fill_value": b"x" if dtype == "S1" else 7}),
                              ("none", {"fill_value": False}), ("big", {"endian": "big"}),
                              ("deflated", {"zlib": True, "shuffle": True, "fletcher32": True})):
            if dtype == "S1" and name == "big":
                continue
            for chunk in (1, 4):
                made = file.createVariable(f"{dtype}_{name}_{chunk}", dtype, ("time",), chunksizes=(chunk,), **options)
                made[0:6] = numpy.array([b"a"] * 6, "S1") if dtype == "S1" else numpy.arange(1, 7)


def several(file):
    """Two unlimited dimensions, which are not the first one."""
    for name, length in (("t", None), ("u", None), ("x", 3)):
        file.createDimension(name, length)
    for name, dimensions in (("tu", ("t", "u")), ("ut", ("u", "t")), ("xt", ("x", "t")), ("txu", ("t", "x", "u")),
                             ("tt", ("t", "t"))):
        file.createVariable(name, "i4", dimensions)[tuple(slice(0, {"x": 3}.get(d, 2)) for d in dimensions)] = 5
        made = file.createVariable(name + "_chunks", "i2", dimensions, chunksizes=[3] * len(dimensions), fill_value=-1)
        made[tuple(slice(0, {"x": 3, "t": 4}.get(d, 2)) for d in dimensions)] = 6
    file.createVariable("long", "i1", ("t", "u"))[0:7, 0:5] = 1


def scale_lags(file):
    """The coordinate is the shorter one; another one has two dimensions."""
    file.createDimension("time", None)
    file.createDimension("station", None)
    file.createDimension("letters", 4)
    file.createVariable("time", "i4", ("time",))[0:3] = [1, 2, 3]
    file.createVariable("station", "S1", ("station", "letters"))[0:2] = numpy.full((2, 4), b"k", "S1")
    file.createVariable("value", "f8", ("time", "station"))[0:5, 0:3] = 1.5


def texts(file):
    file.createDimension("time", None)
    file.createVariable("time", "i4", ("time",))[:] = numpy.arange(6)
    file.createVariable("plain", str, ("time",))[0:2] = numpy.array(["K\u00f6ln", "Kiel"], object)
    file.createVariable("own", str, ("time",), fill_value="gone")[0:2] = numpy.array(["K\u00f6ln", "Kiel"], object)
    file.createVariable("never", str, ("time",))
    file.createDimension("u", None)
    for i in range(2):
        for k in range(2):
            file.createVariable("square", str, ("time", "u")) if i + k == 0 else None
            file["square"][i, k] = f"{i}{k}"
    file.createVariable("u", "i4", ("u",))[:] = [1, 2, 3]


def sky(file):
    kind = file.createEnumType(numpy.int8, "sky", {"clear": 0, "cloudy": 1})
    file.createDimension("time", None)
    file.createVariable("time", "i4", ("time",))[:] = numpy.arange(4)
    file.createVariable("seen", kind, ("time",))[0:2] = [1, 0]


def groups(file):
    """The longest variable of a dimension is in a group below it; another group has a dimension of the same name."""
    file.createDimension("time", None)
    file.createVariable("short", "i2", ("time",))[0:2] = [1, 2]
    below = file.createGroup("below")
    below.createVariable("long", "i2", ("time",))[0:5] = numpy.arange(5)
    own = file.createGroup("own")
    own.createDimension("time", None)
    own.createVariable("time", "i2", ("time",))[0:3] = [7, 8, 9]
    own.createVariable("short", "i2", ("time",))[0:1] = [1]


CASES = [died, every_type, several, scale_lags, texts, sky, groups]


def check_file(path):
    """The copy has what netCDF shows, and xarray finds the same dataset."""
    target = path.with_suffix(".zarr")
    code, text = peers.parapet("copy", "--quiet", "--verify", path, target)
    if code != 0:
        peers.expect(f"copy {path.name}: {text}", False)
        return
    with peers.open_netcdf(path) as file:
        for place, group in peers.netcdf_groups(file):
            for name, variable in group.variables.items():
                found = zarr.open_array(target / place / name, mode="r")
                shown = peers.netcdf_values(variable)
                peers.expect(f"{path.name} {place}/{name}: {found[...].tolist()} instead of {shown.tolist()}"[:400],
                             peers.is_same(found[...], shown))
                peers.expect(f"{path.name} {place}/{name}: dimensions", peers.names_of(found) == variable.dimensions)
            check_dataset(path, target, place, group)
    code, text = peers.parapet("diff", path, target)
    peers.expect(f"diff {path.name}: {text}", code == 0)


def check_dataset(path, target, place, group):
    try:
        with xarray.open_zarr(target, group=place or None, consolidated=False, chunks=None) as after:
            after.load()
            if peers.is_read_at_once(group):
                xarray.testing.assert_identical(peers.netcdf_dataset(path, place or None), after)
    except (AssertionError, ValueError) as error:
        peers.expect(f"dataset {path.name} {place}: {error}"[:300], False)


def put_garbage(path):
    """A chunk that reaches over the end of its variable has something else there than fill values."""
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("time", None)
        file.createDimension("x", 3)
        file.createVariable("time", "i4", ("time",))[:] = numpy.arange(10)
        for name, endian in (("little", "little"), ("big", "big")):
            file.createVariable(name, "i4", ("time", "x"), chunksizes=(4, 2), endian=endian)[0:5] = 1
    with h5py.File(path, "a") as file:
        for name, dtype in (("little", "<i4"), ("big", ">i4")):
            for column in (0, 2):
                file[name].id.write_direct_chunk((4, column), numpy.full((4, 2), 99, dtype).tobytes())
    return path


def put_contiguous(path):
    """Another program has added variables that cannot grow."""
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("time", None)
        file.createDimension("x", 3)
        file.createVariable("time", "i4", ("time",))[:] = numpy.arange(10)
        file.createVariable("data", "i4", ("time", "x"))[:] = numpy.arange(30).reshape(10, 3)
    with h5py.File(path, "a") as file:
        added = file.create_dataset("flat", data=numpy.arange(18, dtype="i4").reshape(6, 3), fillvalue=-1)
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_layout(h5py.h5d.COMPACT)
        made = h5py.h5d.create(file.id, b"compact", h5py.h5t.STD_I16LE, h5py.h5s.create_simple((6, 3)), plist)
        made.write(h5py.h5s.ALL, h5py.h5s.ALL, numpy.arange(18, dtype="i2").reshape(6, 3))
        for each in (added, file["compact"]):
            each.dims[0].attach_scale(file["time"])
            each.dims[1].attach_scale(file["x"])
    return path


def check_refused(folder):
    """Where what is not stored is zero, and what is beyond a fill value, or netCDF has no fill value, an array is refused by
    name; the others are read."""
    path = folder / "refused.nc"
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("time", None)
        file.createVariable("time", "i4", ("time",))[:] = numpy.arange(10)
    with h5py.File(path, "a") as file:
        file.create_dataset("holes", shape=(8,), maxshape=(None,), chunks=(2,), dtype="i4")[4:6] = 1
        file.create_dataset("whole", data=numpy.arange(8, dtype="i4"), maxshape=(None,), chunks=(4,))
        file.create_dataset("truth", data=numpy.ones(8, bool), maxshape=(None,), chunks=(4,))
        for name in ("holes", "whole", "truth"):
            file[name].dims[0].attach_scale(file["time"])
    for name, word in (("holes", "parts without a fill value"), ("truth", "no fill value for the rest")):
        code, text = peers.parapet("info", f"{path}/{name}")
        peers.expect(f"{name}: {text}", code == 1 and word in text)
    code, text = peers.parapet("copy", "--quiet", "--exclude", "holes,truth", path, folder / "refused.zarr")
    peers.expect(f"copy {path.name}: {text}", code == 0)
    expected = numpy.array([*range(8), -2147483647, -2147483647], "i4")
    peers.expect("whole", peers.is_same(zarr.open_array(folder / "refused.zarr/whole", mode="r")[...], expected))


def check_sparse_texts(folder):
    """Texts of which some chunks are not stored: HDF5 1.10 and ncdump do not read them, newer ones do."""
    path = folder / "sparse.nc"
    cases = {"plain": (None, ("a", "t"), (5, 1), (0, 2)), "own": ("gone", ("a", "t"), (2, 2), (4, 2)),
             "one": ("gone", ("t",), (2,), (2,)), "empty": ("", ("t", "a"), (2, 3), (1, 0))}
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("a", 5)
        file.createDimension("t", None)
        for name, (fill, dimensions, chunks, place) in cases.items():
            options = {} if fill is None else {"fill_value": fill}
            file.createVariable(name, str, dimensions, chunksizes=chunks, **options)[place] = "caf\u00e9"
        file.createVariable("t", "i4", ("t",))[:] = numpy.arange(7)
    code, text = peers.parapet("copy", "--quiet", path, folder / "sparse.zarr")
    peers.expect(f"copy {path.name}: {text}", code == 0)
    for name, (fill, dimensions, _, place) in cases.items():
        expected = numpy.full([{"a": 5, "t": 7}[d] for d in dimensions], fill or "", object)
        expected[place] = "caf\u00e9"
        found = zarr.open_array(folder / "sparse.zarr" / name, mode="r")[...]
        peers.expect(f"sparse {name}: {found.tolist()}", peers.is_same(found, expected))


def check_plain_hdf5(folder):
    """A file that netCDF has not written is shown as HDF5 shows it."""
    path = folder / "plain.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("time", data=numpy.arange(10), maxshape=(None,), chunks=(4,)).make_scale("time")
        file.create_dataset("data", data=numpy.arange(6), maxshape=(None,), chunks=(4,)).dims[0].attach_scale(file["time"])
    code, text = peers.parapet("copy", "--quiet", path, folder / "plain.zarr")
    peers.expect(f"copy {path.name}: {text}", code == 0)
    peers.expect(f"{path.name}: data", zarr.open_array(folder / "plain.zarr/data", mode="r").shape == (6,))


def check_table(path):
    """A table of places says all of it."""
    table = path.with_suffix(".places")
    code, text = peers.parapet("places", path)
    table.write_text(text)
    peers.expect(f"places {path.name}", code == 0)
    code, text = peers.parapet("diff", f"places:{table}:{path}", path.with_suffix(".zarr"))
    peers.expect(f"diff with a table {path.name}: {text}", code == 0)


def main():
    if not peers.has_helper():
        print("skipped: this build does not read HDF5")
        raise SystemExit(77)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="parapet-lagging-"))
    for make in CASES:
        path = folder / f"{make.__name__}.nc"
        with netCDF4.Dataset(path, "w") as file:
            make(file)
        check_file(path)
    for make in (put_garbage, put_contiguous):
        check_file(make(folder / f"{make.__name__}.nc"))
        check_table(folder / f"{make.__name__}.nc")
    check_refused(folder)
    check_sparse_texts(folder)
    check_plain_hdf5(folder)
    peers.finish(folder)


main()
