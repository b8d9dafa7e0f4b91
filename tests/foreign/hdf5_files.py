"""Files of HDF5 and netCDF-4, made by h5py and netCDF4-python."""
import random
import shutil
import subprocess

import numpy

import files

FILTERS = {
    "none": {},
    "deflate": {"compression": "gzip", "compression_opts": 4},
    "shuffle": {"shuffle": True},
    "deflate_shuffle": {"compression": "gzip", "shuffle": True},
    "fletcher32": {"fletcher32": True},
    "all": {"compression": "gzip", "shuffle": True, "fletcher32": True},
}


def plugin_filters():
    """Filters that are not in HDF5 itself."""
    try:
        import hdf5plugin
    except ImportError as error:
        print(f"without blosc, lz4 and zstd: {error}")
        return {}
    made = {"lz4": hdf5plugin.LZ4(), "lz4_blocks": hdf5plugin.LZ4(nbytes=64), "zstd": hdf5plugin.Zstd(clevel=5)}
    for name in ("blosclz", "lz4", "lz4hc", "zlib", "zstd"):
        for shuffle in (0, 1, 2):
            made[f"blosc_{name}_{shuffle}"] = hdf5plugin.Blosc(cname=name, clevel=5, shuffle=shuffle)
    return {name: dict(filter) for name, filter in made.items()}


def texture(dtype, shape):
    """Elements that compress, and not all alike."""
    return files.numbers(dtype, shape) if numpy.dtype(dtype).kind not in "iuf" else \
        (numpy.arange(numpy.prod(shape, dtype=int)) // 3 % 100).astype(dtype).reshape(shape)


def arrays(folder):
    """(path, {name: what is in it}) of files, each with many datasets."""
    import h5py
    makers = (make_types, make_filters, make_layouts, make_user_block, make_groups, make_lacking, make_latest)
    for make in makers:
        path = folder / f"{make.__name__}.h5"
        options = {"userblock_size": 2048} if make is make_user_block else {}
        options |= {"libver": ("v110", "v110")} if make in (make_latest, make_lacking) else {}
        with h5py.File(path, "w", **options) as file:
            expected = make(h5py, file)
        yield path, expected


def make_types(h5py, file):
    expected = {}
    for number, dtype in enumerate(d for d in files.DTYPES if numpy.dtype(d).kind not in "UM"):
        for chunks in (None, (2, 2, 3)):
            name = f"t{number}{'c' if chunks else ''}"
            expected[name] = files.numbers(dtype, (5, 3, 4))
            file.create_dataset(name, data=expected[name], chunks=chunks)
    for number, shape in enumerate(((), (1,), (0, 4), (1, 1, 1, 1, 1), (7, 1))):
        expected[f"s{number}"] = files.numbers("<i4", shape)
        file.create_dataset(f"s{number}", data=expected[f"s{number}"])
    return expected


def make_filters(h5py, file):
    expected = {}
    for name, options in (FILTERS | plugin_filters()).items():
        for dtype in ("<f8", ">i2", "|u1"):
            key = f"{name}_{dtype[1:]}"
            expected[key] = texture(dtype, (37, 23))
            file.create_dataset(key, data=expected[key], chunks=(10, 8), **options)
    return expected


def make_layouts(h5py, file):
    """Compact, contiguous and chunked; not allocated, or allocated in part, with a fill value."""
    expected = {"compact": numpy.arange(60, dtype=">i4").reshape(5, 12)}
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_layout(h5py.h5d.COMPACT)
    made = h5py.h5d.create(file.id, b"compact", h5py.h5t.STD_I32BE, h5py.h5s.create_simple((5, 12)), plist)
    made.write(h5py.h5s.ALL, h5py.h5s.ALL, expected["compact"])
    for name, chunks in (("bare", None), ("bare_chunks", (4, 4))):
        file.create_dataset(name, shape=(9, 7), dtype="f4", chunks=chunks, fillvalue=2.5)
        expected[name] = numpy.full((9, 7), 2.5, "f4")
    part = file.create_dataset("part", shape=(9, 70), dtype="i8", chunks=(4, 4), fillvalue=-3, compression="gzip")
    part[5:7, 50:60] = 11
    expected["part"] = part[...]
    growing = file.create_dataset("growing", shape=(3,), maxshape=(None,), chunks=(100,), dtype="i2")
    growing[:] = [1, 2, 3]
    expected["growing"] = growing[...]
    return expected


def make_user_block(h5py, file):
    expected = make_filters(h5py, file)
    expected |= {"flat": numpy.arange(50, dtype="<f4")}
    file["flat"] = expected["flat"]
    return expected


def make_groups(h5py, file):
    expected = {}
    for name in ("a", "a/b/c/d", "a-b", "e/f"):
        file.create_group(name).create_dataset("x", data=numpy.arange(len(name)))
        expected[f"{name}/x"] = numpy.arange(len(name))
    return expected


def make_lacking(h5py, file):
    """Chunks without some filters: stored so one by one, or because they are at the edge."""
    expected = {"masked": numpy.arange(40, dtype="<i4")}
    masked = file.create_dataset("masked", shape=(40,), dtype="<i4", chunks=(10,), shuffle=True, compression="gzip")
    masked[:] = expected["masked"]
    masked.id.write_direct_chunk((10,), expected["masked"][10:20].tobytes(), 0b11)
    shuffled = expected["masked"][20:30].tobytes()
    masked.id.write_direct_chunk((20,), bytes(shuffled[4 * i + k] for k in range(4) for i in range(10)), 0b10)
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_chunk((4, 4))
    plist.set_deflate(3)
    if hasattr(plist, "set_chunk_opts"):
        plist.set_chunk_opts(h5py.h5d.CHUNK_DONT_FILTER_PARTIAL_CHUNKS)
    edges = numpy.arange(63, dtype="<i2").reshape(9, 7)
    made = h5py.h5d.create(file.id, b"edges", h5py.h5t.STD_I16LE, h5py.h5s.create_simple((9, 7)), plist)
    made.write(h5py.h5s.ALL, h5py.h5s.ALL, edges)
    return expected | {"edges": edges}


def make_latest(h5py, file):
    """The kinds of index that files of 1.10 have: one chunk, implicit, fixed, extensible, and a tree."""
    expected = {}
    for name, most, options in (("one", (20, 30), {"chunks": (20, 30)}), ("fixed", (20, 30), {"chunks": (4, 7)}),
                                ("extensible", (None, 30), {"chunks": (4, 7)}), ("tree", (None, None), {"chunks": (4, 7)})):
        for is_filtered in (False, True):
            key = f"{name}{'z' if is_filtered else ''}"
            expected[key] = texture("<f4", (20, 30))
            file.create_dataset(key, data=expected[key], maxshape=most, compression="gzip" if is_filtered else None,
                                **options)
    return expected


def many_chunks(folder, count):
    """A file with an array of that many chunks, and one of 2^36 of which two are stored."""
    import h5py
    dense = numpy.arange(4 * count, dtype="<i4")
    with h5py.File(folder / "many.h5", "w") as file:
        file.create_dataset("dense", data=dense, chunks=(4,), compression="gzip", compression_opts=1)
        sparse = file.create_dataset("sparse", shape=(1 << 20, 1 << 20), chunks=(4, 4), dtype="i2", fillvalue=5)
        sparse[1000, 1000], sparse[900000, 7] = 1, 2
    return folder / "many.h5", dense


def texts(folder):
    """A file with texts of variable length: every layout, with and without filters, and characters of all lengths."""
    import h5py
    words = numpy.array(["Kiel", "", "K\u00f6ln", "\u6771\u4eac", "\U0001f30d", "a \"b\" \\ \n"], object)
    kinds = {"flat": {}, "chunked": {"chunks": (4,)}, "deflated": {"chunks": (2,), "compression": "gzip", "shuffle": True},
             "growing": {"chunks": (4,), "maxshape": (None,)}}
    expected = {name: words for name in kinds}
    with h5py.File(folder / "texts.h5", "w") as file:
        for name, options in kinds.items():
            file.create_dataset(name, data=words, dtype=h5py.string_dtype(), **options)
        file.create_dataset("ascii", data=numpy.array(["x", "yz"], object), dtype=h5py.string_dtype("ascii"))
        file.create_dataset("scalar", data="alone", dtype=h5py.string_dtype())
        file.create_dataset("bare", shape=(2, 2), dtype=h5py.string_dtype())
        for name, shape in (("none", (0, 3)), ("empty_last", (3, 0)), ("empty_between", (2, 0, 4))):
            file.create_dataset(name, shape=shape, dtype=h5py.string_dtype())
        file.create_dataset("square", data=words.reshape(2, 3), dtype=h5py.string_dtype())
    expected |= {"ascii": numpy.array(["x", "yz"], object), "scalar": numpy.array("alone", object),
                 "bare": numpy.full((2, 2), "", object), "none": numpy.empty((0, 3), object),
                 "empty_last": numpy.empty((3, 0), object), "empty_between": numpy.empty((2, 0, 4), object),
                 "square": words.reshape(2, 3)}
    return folder / "texts.h5", expected


def long_text(folder):
    """Arrays of texts of little more than 64 MiB, of 2 MiB, and of a few bytes."""
    import h5py
    with h5py.File(folder / "long.h5", "w") as file:
        file.create_dataset("few", data=["a", "b"], dtype=h5py.string_dtype())
        file.create_dataset("much", data=["x" * (16 << 20)] * 4, dtype=h5py.string_dtype())
        file.create_dataset("some", data=["x" * (1 << 20)] * 2, dtype=h5py.string_dtype())
    return folder / "long.h5"


def with_szip(folder):
    """A file with an array that szip has compressed, by h5repack, which can where HDF5 has that filter."""
    import h5py
    plain, path = folder / "plain.h5", folder / "szip.h5"
    with h5py.File(plain, "w") as file:
        file.create_dataset("packed", data=numpy.arange(4096, dtype="i4").reshape(64, 64), chunks=(16, 16))
        file["good"] = numpy.arange(3)
    subprocess.run(["h5repack", "-f", "packed:SZIP=8,NN", plain, path], check=True)
    with h5py.File(path) as file:
        filters = file["packed"].id.get_create_plist()
        assert filters.get_filter(0)[0] == h5py.h5z.FILTER_SZIP
    return path


# ---- netCDF-4 ----

KINDS = [
    {"zlib": True}, {"zlib": True, "shuffle": True, "complevel": 9}, {"fletcher32": True}, {"contiguous": True},
    {"zlib": True, "fletcher32": True, "shuffle": True}, {"compression": "zstd"}, {"compression": "blosc_lz4"},
    {"compression": "blosc_zstd", "blosc_shuffle": 2}, {"endian": "big", "zlib": True}, {},
]


def datasets(folder, is_large):
    import netCDF4
    if is_large:
        return [make_climate(netCDF4, folder / "large4.nc", KINDS[1], 60)]
    made = [files.make_climate(netCDF4, folder / "climate4.nc", "NETCDF4", 1),
            files.make_climate(netCDF4, folder / "climate4c.nc", "NETCDF4_CLASSIC", 1),
            files.make_stations(netCDF4, folder / "stations4.nc", "NETCDF4"),
            files.make_odd(netCDF4, folder / "odd4.nc", "NETCDF4"),
            files.make_odd(netCDF4, folder / "odd4c.nc", "NETCDF4_CLASSIC"),
            files.make_sole_record(netCDF4, folder / "sole4.nc", "NETCDF4"),
            make_texts(netCDF4, folder / "texts4.nc"), make_dimensions(netCDF4, folder / "dimensions4.nc"),
            make_unsigned(netCDF4, folder / "unsigned4.nc"), make_attributes(netCDF4, folder / "attributes4.nc"),
            make_names(netCDF4, folder / "names4.nc")]
    made += make_by_tools(folder, made[0])
    for number, kind in enumerate(KINDS):
        try:
            made.append(make_climate(netCDF4, folder / f"kind{number}.nc", kind, 1))
        except (RuntimeError, ValueError) as error:
            print(f"without {kind}: {error}")
    return made


CDL = """netcdf made4 { types: byte enum sky { CLEAR = 0, CLOUDY = 1 } ; dimensions: t = UNLIMITED ; x = 5 ; variables:
int64 a(t, x) ; a:_ChunkSizes = 2, 3 ; a:_DeflateLevel = 3 ; a:_Shuffle = "true" ; ushort b(t) ; string s(x) ; float c(x) ;
c:_FillValue = -1.f ; string :who = "ncgen", "nccopy" ; data: a = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 ;
b = 7, 8, 65535 ; s = "one", "", "three", "four", "f\303\274nf" ; c = 1, _, 3, 4, 5 ; }"""

# Other programs that write such files: chunks of another shape, a filter more, a user block.
TOOLS = {"nccopy": ["nccopy", "-4", "-d", "5", "-s", "-c", "lat/7,lon/11", "IN", "OUT"],
         "nccopy_endless": ["nccopy", "-k", "nc4", "-u", "-d", "1", "IN", "OUT"],
         "h5repack": ["h5repack", "-f", "GZIP=2", "-f", "FLET", "-l", "CHUNK=5x7x13", "IN", "OUT"],
         "h5repack_latest": ["h5repack", "-L", "IN", "OUT"],
         "h5jam": ["h5jam", "-u", "BLOCK", "-i", "IN", "-o", "OUT"]}


def make_by_tools(folder, source):
    made = []
    (folder / "made4.cdl").write_text(CDL)
    (folder / "block").write_bytes(b"in front of the file" * 20)
    commands = dict(TOOLS, ncgen=["ncgen", "-k", "nc4", "-o", "OUT", str(folder / "made4.cdl")])
    for name, words in commands.items():
        if not shutil.which(words[0]):
            print(f"without {name}")
            continue
        path = folder / f"by_{name}.nc"
        places = {"IN": str(source), "OUT": str(path), "BLOCK": str(folder / "block")}
        subprocess.run([places.get(word, word) for word in words], check=True)
        made.append(path)
    return made


def make_tree(netCDF4, folder):
    """Groups with dimensions of their own, and of those above."""
    path = folder / "tree4.nc"
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("x", 3)
        file.createVariable("x", "i4", ("x",))[:] = [1, 2, 3]
        for name in ("forecast", "forecast/surface", "observed"):
            group = file.createGroup(name)
            group.title = name
            group.createDimension("time", None)
            group.createVariable("time", "f8", ("time",))[:] = numpy.arange(4)
            group.createVariable("t", "f4", ("time", "x"), zlib=True, fill_value=-1)[:] = numpy.arange(12).reshape(4, 3)
    return path, ["", "forecast", "forecast/surface", "observed"]


def make_climate(netCDF4, path, kind, size):
    """Chunks that do not divide the shape, on dimensions that are not all limited."""
    fixed = "contiguous" in kind
    with netCDF4.Dataset(path, "w") as file:
        for name, length in (("time", 11 if fixed else None), ("lat", 19), ("lon", 36 * size)):
            file.createDimension(name, length)
        options = dict(kind) if fixed else dict(kind, chunksizes=(4, 7, 10 * size))
        for name, dtype, fill in (("t", "f4", 1e20), ("p", "i2", -999), ("q", "f8", None)):
            made = file.createVariable(name, dtype, ("time", "lat", "lon"), fill_value=fill, **options)
            made.units = "K"
            made[:] = (numpy.arange(11 * 19 * 36 * size) % 1000).reshape(11, 19, -1)
            if fill is not None:
                made[2, 3, :] = numpy.ma.masked
        file.createVariable("time", "i4", ("time",))[:] = numpy.arange(11)
        file["time"].units = "days since 2001-01-01"
        file.createVariable("lat", "f8", ("lat",))[:] = numpy.linspace(-90, 90, 19)
    return path


def make_texts(netCDF4, path):
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("n", 3)
        file.createVariable("v", "i4", ("n",))[:] = 1
        file["v"].setncattr_string("names", ["one", "zw\u00f6lf", ""])
        file["v"].setncattr("plain", "caf\u00e9")
        file["v"].setncattr_string("single", "one")
        file.setncattr("empty", "")
        file.history = "made\nin two lines \"quoted\" \\ tab\t."
    return path


def make_names(netCDF4, path):
    """Stations whose names have no fixed length, as a coordinate and beside one."""
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("station", 4)
        file.createDimension("time", None)
        file.createVariable("station", str, ("station",))[:] = numpy.array(["Kiel", "K\u00f6ln", "", "Ulm"], object)
        file["station"].long_name = "name of the station"
        file.createVariable("note", str, ("time", "station"))[:] = numpy.array([["a", "", "b", "c"], ["", "d", "e", "f"]], object)
        file.createVariable("title", str, ())[...] = "all of them"
        file.createVariable("t", "f4", ("time", "station"), zlib=True)[:] = numpy.arange(8).reshape(2, 4)
    return path


def make_dimensions(netCDF4, path):
    """A variable with the name of a dimension that is not its coordinate, a coordinate of two dimensions, a scalar."""
    with netCDF4.Dataset(path, "w") as file:
        for name, length in (("x", 3), ("y", 4), ("z", 5)):
            file.createDimension(name, length)
        file.createVariable("x", "f4", ("y",))[:] = numpy.arange(4)
        file.createVariable("y", "f4", ("y",))[:] = numpy.arange(4)
        file.createVariable("square", "f4", ("z", "y"))[:] = numpy.arange(20).reshape(5, 4)
        file.createVariable("cube", "i8", ("x", "y", "z"), zlib=True)[:] = numpy.arange(60).reshape(3, 4, 5)
        file.createVariable("alone", "f8", ())[...] = 7.5
    return path


def make_unsigned(netCDF4, path):
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("x", 6)
        for dtype in ("u1", "u2", "u4", "u8", "i1", "i8"):
            most = numpy.iinfo(dtype).max
            made = file.createVariable(dtype, dtype, ("x",), fill_value=numpy.array(most, dtype))
            made[:] = [0, 1, most - 1, 3, 4, 5]
    return path


def make_attributes(netCDF4, path):
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("x", 2)
        made = file.createVariable("v", "f4", ("x",), fill_value=numpy.nan)
        made[:] = [1.5, numpy.nan]
        made.setncatts({"valid_range": numpy.array([-1.5, 2.25], "f4"), "count": numpy.int64(2**53 + 1),
                        "third": numpy.float32(1 / 3), "flags": numpy.array([1, 2, 4], "u1"), "scale": 0.1})
        file.setncatts({"big": numpy.uint64(2**64 - 1), "small": -2**63, "one": numpy.array([3])})
    return path


# ---- Hostile ----


def endless(folder):
    """A file whose heap has a free space of no bytes: HDF5 1.10.8 steps over it for ever."""
    path, _ = texts(folder)
    data = bytearray(path.read_bytes())
    at = data.index(b"GCOL") + 16  # the objects: number, references, reserved, bytes; and what is in them
    while int.from_bytes(data[at : at + 2], "little") != 0:
        at += 16 + -(-int.from_bytes(data[at + 8 : at + 16], "little") // 8) * 8
    data[at + 8 : at + 16] = bytes(8)
    path = folder / "endless.h5"
    path.write_bytes(data)
    return path


def damage(data, number):
    """The file with a part cut off, bits flipped, or a number made large; the same for the same number."""
    chance = random.Random(number)
    data = bytearray(data)
    if number % 4 == 0:
        return bytes(data[: chance.randrange(len(data))])
    for _ in range(chance.choice((1, 3, 30))):
        # Most of what HDF5 believes is at the beginning.
        place = chance.randrange(min(len(data), chance.choice((200, 3000, len(data)))))
        if number % 4 == 1:
            data[place] ^= 1 << chance.randrange(8)
        elif number % 4 == 2:
            data[place] = chance.choice((0, 0x7F, 0x80, 0xFF))
        else:
            data[place : place + 8] = chance.choice((b"\xff" * 8, b"\xff\xff\xff\x7f", bytes(8)))
    return bytes(data)
