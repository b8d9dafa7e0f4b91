"""Every codec, filter, type, fill value and kind of key that zarr-python has and Parapet reads, in one hierarchy for
each version of the format: none is left to chance."""

import itertools
import math
import warnings

import numcodecs
import numpy
import zarr
from zarr import codecs

import copy_readers
import copy_tool

FULL_ARRAYS = 100  # with fewer, each hierarchy gets half of the changes
SHAPE, CHUNKS, WRITTEN = (11, 13), (4, 5), (8, 13)
BLOSC = ["blosclz", "lz4", "lz4hc", "zlib", "zstd"]
SHUFFLES = ["noshuffle", "shuffle", "bitshuffle"]
FLOAT_FILLS = {"nan": math.nan, "minus zero": -0.0, "infinity": math.inf, "minus infinity": -math.inf, "tenth": 0.1}
TYPES = ["bool", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16", "M8[ns]", "M8[D]",
         "m8[s]", "V5", "S4", "U3", [("count", "<i4"), ("value", "<f8")]]


def values(dtype):
    count = math.prod(SHAPE)
    if dtype.kind in "SU":
        return numpy.arange(count).astype(dtype).reshape(SHAPE)
    if dtype.kind == "V":
        data = numpy.arange(count * dtype.itemsize, dtype="u4").astype("u1")
        return numpy.frombuffer(bytearray(data.tobytes()), dtype).reshape(SHAPE)
    if dtype.kind in "mM":
        return (numpy.arange(count) * 1000 - 7).astype("i8").view(dtype).reshape(SHAPE)
    return (numpy.arange(count) % 120).astype(dtype).reshape(SHAPE)


def v3_arrays():
    """The arguments of create_array by the name of the array."""
    yield from ((f"blosc {name} {shuffle}", {"compressors": codecs.BloscCodec(cname=name, shuffle=shuffle, typesize=8)})
                for name, shuffle in itertools.product(BLOSC, SHUFFLES))
    yield from ((f"zstd {level}", {"compressors": codecs.ZstdCodec(level=level, checksum=level > 0)})
                for level in (-5, 0, 3, 22))
    yield from ((f"gzip {level}", {"compressors": codecs.GzipCodec(level=level)}) for level in (0, 9))
    yield "none", {"compressors": None}
    yield "crc32c", {"compressors": [codecs.GzipCodec(level=1), codecs.Crc32cCodec()]}
    yield "big", {"serializer": codecs.BytesCodec(endian="big")}
    yield "transposed", {"filters": codecs.TransposeCodec(order=(1, 0))}
    yield "sharded", {"shards": (8, 10)}
    yield "index first", {"shards": {"shape": (8, 10), "index_location": "start"}}
    yield "sharded and transposed", {"shards": (8, 10), "filters": codecs.TransposeCodec(order=(1, 0))}
    yield from ((f"keys {kind} {name}", {"chunk_key_encoding": {"name": kind, "separator": mark}})
                for kind in ("default", "v2") for name, mark in (("slash", "/"), ("dot", ".")))
    yield "names", {"dimension_names": ["y", "x"]}
    yield "half named", {"dimension_names": [None, "x"]}


def v2_arrays():
    compressors = {"zlib": numcodecs.Zlib(level=4), "gzip": numcodecs.GZip(level=2), "zstd": numcodecs.Zstd(level=3),
                   "lz4": numcodecs.LZ4(), "none": None}
    compressors |= {f"blosc {name} {shuffle}": numcodecs.Blosc(cname=name, shuffle=shuffle)
                    for name, shuffle in itertools.product(BLOSC, (-1, 0, 1, 2))}
    yield from ((name, {"compressors": compressor}) for name, compressor in compressors.items())
    yield from ((f"{mark} {order}", {"order": order, "chunk_key_encoding": {"name": "v2", "separator": separator}})
                for mark, separator in (("slash", "/"), ("dot", ".")) for order in "CF")
    yield "shuffled", {"filters": [numcodecs.Shuffle(elementsize=8)]}
    yield "delta", {"filters": [numcodecs.Delta(dtype="<i8")], "dtype": "<i8"}
    both = [numcodecs.Delta(dtype="<i8"), numcodecs.Shuffle(elementsize=8)]
    yield "delta shuffled", {"filters": both, "dtype": "<i8"}
    yield "big", {"dtype": ">f8", "order": "F"}
    yield "big integers", {"dtype": ">i2"}
    yield "undefined", {"fill_value": None}


def common_arrays():
    yield from ((f"type {number}", {"dtype": name}) for number, name in enumerate(TYPES))
    yield from ((f"{size} {name}", {"dtype": f"f{size}", "fill_value": fill})
                for name, fill in FLOAT_FILLS.items() for size in (2, 4, 8))
    yield "complex fill", {"dtype": "c16", "fill_value": complex(math.nan, -math.inf)}
    yield "NaT", {"dtype": "M8[s]", "fill_value": numpy.datetime64("NaT", "s")}
    yield "true", {"dtype": "bool", "fill_value": True}
    yield "large", {"dtype": "u8", "fill_value": 2**64 - 1}


def make(store, zarr_format):
    """Writes all arrays, without their last rows of chunks; returns the values and fill values by name."""
    group = zarr.open_group(str(store), mode="w", zarr_format=zarr_format)
    made = {}
    for name, arguments in itertools.chain(common_arrays(), v3_arrays() if zarr_format == 3 else v2_arrays()):
        dtype = numpy.dtype(arguments.get("dtype", "f8"))
        array = group.create_array(name.replace(" ", "_"), shape=SHAPE, chunks=CHUNKS, attributes={"name": name},
                                   config={"write_empty_chunks": True}, **({"dtype": dtype} | arguments))
        own = dtype.newbyteorder("<")
        array[:WRITTEN[0]] = values(own)[:WRITTEN[0]].astype(dtype)
        fill = numpy.zeros((), own)[()] if array.fill_value is None else numpy.asarray(array.fill_value).astype(own)[()]
        truth = numpy.full(SHAPE, fill, own)
        truth[:WRITTEN[0]] = values(own)[:WRITTEN[0]]
        made[array.basename] = truth, numpy.full(1, fill, own).tobytes(), name
    return made


# Options, what NumPy makes of them, and the number of ranks.
CHANGES = [
    ([], lambda array: array, 1),
    (["-c", "3,6", "-s", "6,6", "--codec", "blosc:lz4:5:shuffle"], lambda array: array, 3),
    (["--order=-1,0", "--region=1:10,2:13"], lambda array: array[1:10, 2:13].T[::-1], 1),
    (["--order=-0,-1", "-c", "0,2", "--shards", "none", "--passes", "2"], lambda array: array[::-1, ::-1], 3),
]


def as_void(array):
    array = numpy.ascontiguousarray(array)
    return numpy.frombuffer(array.tobytes(), f"V{array.dtype.itemsize}").reshape(array.shape)


def check_array(target, truth, fill, name):
    for reader, check in copy_readers.READERS.items():
        if copy_readers.knows(reader, target):
            check(target, as_void(truth), fill, {"name": name})


def check_all(arguments, source, target, made, number, failures):
    options, change, ranks = CHANGES[number]
    copy_tool.copy(arguments, source, target, [*options, "--verify", "--max-mem", "16MiB"], ranks)
    copy_tool.require_sound(arguments, target)
    if number < 2:
        copy_tool.require_same(arguments, source, target)
    for key, (truth, fill, name) in made.items():
        copy_tool.attempt(failures, f"{target.stem}/{key}", " ".join(options),
                          lambda: check_array(target / key, change(truth), fill, name))


def run(arguments, folder):
    failures, count = [], 0
    for zarr_format in (2, 3):
        name = f"codecs{zarr_format}"
        if not copy_tool.is_wanted(arguments, name):
            continue
        source = folder / f"{name}.zarr"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # types without a specification are meant
            made = make(source, zarr_format)
        for number, (options, _, ranks) in enumerate(CHANGES):
            if arguments.arrays < FULL_ARRAYS and number % 2 == zarr_format % 2:
                continue
            target = folder / f"{name}-{number}.zarr"
            copy_tool.attempt(failures, name, f"on {ranks} ranks, {options}",
                              lambda: check_all(arguments, source, target, made, number, failures))
            count += len(made)
    print(f"copies of arrays with every codec, type and fill value: {count}; {len(failures)} failed", flush=True)
    return failures
