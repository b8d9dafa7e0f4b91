"""Random files of HDF5: layouts, filters, chunks, fill values, and datasets that have grown and shrunk."""
import random_netcdf
from peers import h5py, numpy

DTYPES = ["i1", "u1", "<i2", ">i4", "<u4", ">u8", "<i8", "<f2", "<f4", ">f8", "<c8", ">c16", "?", "S5", "S1"]
try:
    import hdf5plugin
    PLUGINS = [hdf5plugin.LZ4(), hdf5plugin.Zstd(clevel=3), hdf5plugin.Blosc(cname="lz4", shuffle=1),
               hdf5plugin.Blosc(cname="zstd", shuffle=2)]
except ImportError as error:
    print(f"without blosc, lz4 and zstd: {error}")
    PLUGINS = []
chance, pick = random_netcdf.chance, random_netcdf.pick


def shape_of(rng):
    return tuple(int(x) for x in rng.integers(0 if chance(rng, 0.1) else 1, 20, int(rng.integers(0, 4))))


def values_of(rng, dtype, shape):
    dtype = numpy.dtype(dtype)
    if dtype.kind == "S":
        return rng.choice(numpy.array([b"", b"a", b"wxyz", b"12345"], "S5"), shape).astype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind == "c":
        return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)
    return rng.integers(0, 100, shape).astype(dtype)


def storage(rng, shape):
    """Keywords: contiguous, or chunks of any shape with any filters."""
    if not shape or chance(rng, 0.3):
        return {}
    growing = chance(rng, 0.6)
    options = {"chunks": tuple(int(x) if growing else min(int(x), max(1, extent))
                               for x, extent in zip(rng.integers(1, 9, len(shape)), shape))}
    if growing:
        options["maxshape"] = (None,) * len(shape)
    how = rng.random()
    if how < 0.4:
        options |= {"compression": "gzip", "compression_opts": int(rng.integers(1, 9)), "shuffle": chance(rng, 0.5)}
    elif how < 0.6 and PLUGINS:
        options |= dict(pick(rng, PLUGINS))
    elif how < 0.7:
        options["shuffle"] = True
    if chance(rng, 0.3):
        options["fletcher32"] = True
    return options


def write(rng, dataset):
    """All, a part or nothing; then another shape, where it may have one."""
    how = rng.random()
    if how < 0.6 and dataset.size:
        dataset[...] = values_of(rng, dataset.dtype, dataset.shape)
    elif how < 0.8 and dataset.ndim and dataset.size:
        part = tuple(slice(0, max(1, extent // 2)) for extent in dataset.shape)
        dataset[part] = values_of(rng, dataset.dtype, dataset[part].shape)
    for _ in range(int(rng.integers(0, 3)) if dataset.ndim and None in dataset.maxshape else 0):
        dataset.resize(tuple(int(x) for x in rng.integers(1, 25, dataset.ndim)))


def store_directly(rng, dataset, options):
    """A chunk that was stored without its filter."""
    only_deflated = options.get("compression") == "gzip" and not options.get("shuffle") and not options.get("fletcher32")
    if only_deflated and dataset.size and chance(rng, 0.2):
        chunk = numpy.full(dataset.chunks, values_of(rng, dataset.dtype, ())[()], dataset.dtype)
        dataset.id.write_direct_chunk((0,) * dataset.ndim, chunk.tobytes(), filter_mask=1)


def make_compact(rng, group, name):
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_layout(h5py.h5d.COMPACT)
    values = values_of(rng, "<i4", (3, 5))
    made = h5py.h5d.create(group.id, name.encode(), h5py.h5t.STD_I32LE, h5py.h5s.create_simple((3, 5)), plist)
    made.write(h5py.h5s.ALL, h5py.h5s.ALL, values)


def make_dataset(rng, group, name):
    how = rng.random()
    if how < 0.05:
        make_compact(rng, group, name)
    elif how < 0.15:
        shape = shape_of(rng)
        words = rng.choice(numpy.array(random_netcdf.WORDS, object), shape)
        group.create_dataset(name, data=words, dtype=h5py.string_dtype(), **({} if not shape else {"chunks": True} if
                                                                          0 not in shape and chance(rng, 0.5) else {}))
    else:
        dtype, shape = pick(rng, DTYPES), shape_of(rng)
        options = storage(rng, shape)
        if chance(rng, 0.4) and dtype not in ("?", "S5", "S1"):
            options["fillvalue"] = numpy.array(7, dtype)
        try:
            dataset = group.create_dataset(name, shape=shape, dtype=dtype, **options)
        except ValueError:  # blosc does not take all types
            options = {}
            dataset = group.create_dataset(name, shape=shape, dtype=dtype)
        write(rng, dataset)
        store_directly(rng, dataset, options)
    for k in range(int(rng.integers(0, 3))):
        value = random_netcdf.attribute(rng, "NETCDF4")
        group[name].attrs[f"a{k}"] = value


def make(rng, path):
    """Writes a file."""
    options = {"libver": pick(rng, [("earliest", "v110"), ("v110", "v110")]), "track_order": chance(rng, 0.3),
               "userblock_size": int(pick(rng, [0, 0, 512, 1024]))}
    with h5py.File(path, "w", **options) as file:
        for k in range(int(rng.integers(1, 6))):
            group = file.require_group(pick(rng, ["/", "g0", "g0/deep", "g1"]))
            make_dataset(rng, group, f"d{k}")
    return options["libver"][0]
