"""Files of other formats, made by their own tools."""
import shutil
import subprocess

import numpy

DTYPES = ["<f8", ">f8", "<f4", ">i2", "<i8", ">u4", "|u1", "|i1", "|b1", "<c8", ">c16", "<f2", "|S5", "<U3", "<M8[s]"]


def numbers(dtype, shape):
    """Elements that differ from each other."""
    count = int(numpy.prod(shape))
    kind = numpy.dtype(dtype).kind
    if kind in "SU":
        return numpy.array([str(i)[-3:] for i in range(count)]).astype(dtype).reshape(shape)
    if kind == "M":
        return numpy.arange(count).astype("i8").view("<M8[s]").reshape(shape)
    if kind == "b":
        return (numpy.arange(count) % 3 == 0).reshape(shape)
    return (numpy.arange(count) % 120).astype(dtype).reshape(shape)


def arrays(folder, is_large):
    """(url, what is in it) of files with one array each."""
    if is_large:
        yield from large_arrays(folder)
        return
    for number, dtype in enumerate(DTYPES):
        for order in "CF":
            path = folder / f"{number}{order}.npy"
            array = numpy.asarray(numbers(dtype, (5, 3, 4)), order=order)
            numpy.save(path, array)
            yield path, array
    for shape in ((), (1,), (0, 4), (1, 1, 1, 1, 1), (7, 1)):
        path = folder / ("shape" + "x".join(map(str, shape)) + ".npy")
        numpy.save(path, numbers("<i4", shape))
        yield path, numbers("<i4", shape)
    yield from raw_arrays(folder)


def raw_arrays(folder):
    array = numbers(">i4", (6, 5))
    for offset in (0, 3):
        path = folder / f"raw{offset}.bin"
        path.write_bytes(b"x" * offset + array.tobytes())
        yield f"raw:type=int32,shape=6x5,endian=big,offset={offset}:{path}", array
        yield f"raw:type=int32,shape=5x6,endian=big,order=F,offset={offset}:{path}", array.T


def large_arrays(folder):
    """Of several slabs, whose last is not whole."""
    for order in "CF":
        path = folder / f"large{order}.npy"
        array = numpy.asarray(numpy.arange(3 * 700 * 1001, dtype=">f8").reshape(3, 700, 1001), order=order)
        numpy.save(path, array)
        yield path, array


def archive(folder):
    members = {"a": numbers("<f4", (3, 4)), "b_c": numbers(">i2", (5,)), "d": numpy.asfortranarray(numbers("<i8", (2, 3)))}
    numpy.savez(folder / "archive.npz", **members)
    return folder / "archive.npz", members


def damaged():
    """Files that have to be refused with a sentence that names them."""
    return {
        "nothing.nc": b"",
        "half.nc": b"CDF\1\0\0\0\1\0\0\0\x0a\0\0",
        "many.nc": b"CDF\5" + bytes(8) + b"\0\0\0\x0a" + b"\xff" * 8,
        "objects.npy": b"\x93NUMPY\1\0\x36\0" + b"{'descr': '|O', 'fortran_order': False, 'shape': (3,)}",
        "program.npy": b"\x93NUMPY\1\0\x18\0" + b"__import__('os').abort()",
        "cut.npz": b"PK\3\4" + bytes(40),
        "four.h5": b"\x89HDF\r\n\x1a\n" + bytes(100),
    }


# ---- netCDF ----

FORMATS = ["NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA"]


def datasets(folder, is_large):
    try:
        import netCDF4
    except ImportError as error:
        print(f"without files of netCDF: {error}")
        return []
    if is_large:
        return [make_climate(netCDF4, folder / "large.nc", FORMATS[2], 90)]
    made = []
    for number, kind in enumerate(FORMATS):
        made.append(make_climate(netCDF4, folder / f"climate{number}.nc", kind, 1))
        made.append(make_stations(netCDF4, folder / f"stations{number}.nc", kind))
        made.append(make_odd(netCDF4, folder / f"odd{number}.nc", kind))
        made.append(make_sole_record(netCDF4, folder / f"sole{number}.nc", kind))
    return made + make_by_ncgen(folder)


def make_climate(netCDF4, path, kind, size):
    """As reanalyses have it: packed values with records, coordinates with units, a bound and a scalar."""
    with netCDF4.Dataset(path, "w", format=kind) as file:
        for name, length in (("time", None), ("lat", 19), ("lon", 36 * size), ("nv", 2)):
            file.createDimension(name, length)
        time = file.createVariable("time", "f8", ("time",))
        time.setncatts({"units": "hours since 1990-01-01 00:00:00", "calendar": "gregorian", "bounds": "time_bnds"})
        time[:] = numpy.arange(13) * 6.0
        file.createVariable("time_bnds", "f8", ("time", "nv"))[:] = numpy.arange(26).reshape(13, 2)
        lat = file.createVariable("lat", "f4", ("lat",))
        lat.units, lat.valid_range = "degrees_north", numpy.array([-90, 90], "f4")
        lat[:] = numpy.linspace(-90, 90, 19)
        file.createVariable("lon", "f4", ("lon",))[:] = numpy.arange(36 * size)
        packed = file.createVariable("t2m", "i2", ("time", "lat", "lon"), fill_value=-32767)
        packed.setncatts({"scale_factor": 0.0125, "add_offset": 273.15, "units": "K", "missing_value": numpy.int16(-32767)})
        packed.set_auto_maskandscale(False)
        packed[:] = (numpy.arange(13 * 19 * 36 * size) % 30000).reshape(13, 19, -1)
        packed[3, 4, :] = -32767
        plain = file.createVariable("sst", "f4", ("time", "lat", "lon"), fill_value=1e20)
        plain.coordinates = "height"
        plain[:] = numpy.random.default_rng(1).random((13, 19, 36 * size))
        plain[0, 0, 0] = 1e20
        file.createVariable("height", "f8", ())[...] = 2.0
        file.createVariable("flag", "i1", ("time",))[:] = numpy.arange(13)
        file.setncatts({"Conventions": "CF-1.8", "title": "caf\u00e9", "number": numpy.int32(7), "list": [1.5, 2.5]})
    return path


def make_stations(netCDF4, path, kind):
    """Names as characters, with and without an encoding, and NaN as the missing value."""
    with netCDF4.Dataset(path, "w", format=kind) as file:
        file.createDimension("station", 4)
        file.createDimension("letters", 8)
        name = file.createVariable("name", "S1", ("station", "letters"))
        name[:] = netCDF4.stringtochar(numpy.array(["Kiel", "", "Hamburg", "K"], "S8"))
        name = file.createVariable("place", "S1", ("station", "letters"))
        name._Encoding = "utf-8"
        name[:] = numpy.array(["K\u00f6ln", "", "Bonn", "Ulm"])
        value = file.createVariable("value", "f8", ("station",), fill_value=numpy.nan)
        value[:] = [1.0, numpy.nan, 3.0, 4.0]
    return path


def make_odd(netCDF4, path, kind):
    """Every type, empty attributes, no record, and names that are not ASCII."""
    types = ["i1", "i2", "i4", "f4", "f8", "S1"] + (["u1", "u2", "u4", "i8", "u8"] if kind == FORMATS[2] else [])
    with netCDF4.Dataset(path, "w", format=kind) as file:
        file.createDimension("time", None)
        file.createDimension("x", 3)
        for dtype in types:
            variable = file.createVariable(f"v_{dtype}", dtype, ("x",))
            variable[:] = numbers("|S1" if dtype == "S1" else dtype, (3,))
            variable.note = ""
        file.createVariable("none", "f4", ("time", "x"))
        file.createVariable("gr\u00f6\u00dfe", "f4", ("x",))[:] = 1
    return path


def make_sole_record(netCDF4, path, kind):
    """Records of a single variable are not padded: three bytes each."""
    with netCDF4.Dataset(path, "w", format=kind) as file:
        file.createDimension("time", None)
        file.createDimension("x", 3)
        file.createVariable("b", "i1", ("time", "x"))[:] = numpy.arange(33).reshape(11, 3)
    return path


CDL = """netcdf made { dimensions: t = UNLIMITED ; x = 5 ; variables: int a(t, x) ; a:k = 3, 4 ; short b(t) ; float c(x) ;
c:_FillValue = -1.f ; :history = "by ncgen" ; data: a = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 ; b = 7, 8 ; c = 1, _, 3, 4, 5 ; }"""


def make_by_ncgen(folder):
    made = []
    (folder / "made.cdl").write_text(CDL)
    for kind in ("classic", "64-bit-offset", "cdf5") if shutil.which("ncgen") else ():
        path = folder / f"ncgen_{kind}.nc"
        subprocess.run(["ncgen", "-k", kind, "-o", path, folder / "made.cdl"], check=True)
        made.append(path)
    return made
