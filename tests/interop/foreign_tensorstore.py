"""Random arrays that TensorStore writes: Zarr v3 with codec chains that only it writes, and Zarr v2."""

import ml_dtypes
import numpy
import tensorstore

import cases
import elements
import foreign
import foreign_zarr

FLOAT8 = ["float8_e4m3fn", "float8_e5m2"]
TYPES = ["bool", *elements.INTEGERS, *elements.FLOATS, *elements.COMPLEX, "bfloat16", *FLOAT8]


def numpy_type(name):
    return numpy.dtype(getattr(ml_dtypes, name)) if name in (*FLOAT8, "bfloat16") else numpy.dtype(name)


def contents_type(name):
    return "raw" if name in FLOAT8 else name


def float_json(data):
    """A float as Zarr tells it: a number, a word, or its bits."""
    value = float(numpy.frombuffer(data, f"<f{len(data)}")[0])
    if numpy.isnan(value):
        return "0x" + data[::-1].hex()
    return ("-Infinity" if value < 0 else "Infinity") if numpy.isinf(value) else value


def fill_json(name, data):
    if name == "bool":
        return data != b"\0"
    if name in elements.INTEGERS:
        return int(numpy.frombuffer(data, elements.INTEGERS[name])[0])
    if name in elements.FLOATS:
        return float_json(data)
    if name in elements.COMPLEX:
        half = len(data) // 2
        return [float_json(data[:half]), float_json(data[half:])]
    return "0x" + data[::-1].hex()


def choose_fill(chance, name):
    if name in FLOAT8:
        return chance.choice([b"\0", b"\x31"])
    return chance.choice(list(elements.fills(name, 0).values()))


def choose_compressors(chance, size):
    blosc = {"name": "blosc", "configuration": {
        "cname": chance.choice(["blosclz", "lz4", "lz4hc", "zlib", "zstd"]), "clevel": chance.randint(0, 9),
        "shuffle": chance.choice(["noshuffle", "shuffle", "bitshuffle"]), "typesize": size, "blocksize": 0}}
    zstd = {"name": "zstd", "configuration": {"level": chance.choice([-3, 0, 1, 9])}}
    gzip = {"name": "gzip", "configuration": {"level": chance.randint(0, 9)}}
    chain = chance.choice([[], [zstd], [zstd], [gzip], [blosc], [blosc], [gzip, zstd]])
    return chain + [{"name": "crc32c"}] * chance.choice([0, 0, 1])


def choose_serializer(chance):
    return {"name": "bytes", "configuration": {"endian": chance.choice(["little", "big"])}}


def choose_transpose(chance, ndim):
    if ndim == 0 or chance.random() < 0.6:
        return []
    return [{"name": "transpose", "configuration": {"order": chance.sample(range(ndim), ndim)}}]


def choose_sharding(chance, chunks, inner):
    return {"name": "sharding_indexed", "configuration": {
        "chunk_shape": chunks, "codecs": inner, "index_location": chance.choice(["start", "end"]),
        "index_codecs": [choose_serializer(chance)] + [{"name": "crc32c"}] * chance.choice([0, 1])}}


def choose_codecs(chance, shape, size):
    """The shape of the stored objects and the chain of codecs."""
    chunks = cases.choose_chunks(chance, shape)
    inner = [*choose_transpose(chance, len(shape)), choose_serializer(chance), *choose_compressors(chance, size)]
    layout = chance.choice(["plain", "sharded", "sharded", "nested", "transposed shards"])
    if layout == "plain" or not shape:
        return chunks, inner
    shards = [a * b for a, b in zip(chunks, cases.multiples(chance, len(shape)))]
    codecs = [choose_sharding(chance, chunks, inner)]
    if layout == "nested":
        codecs = [choose_sharding(chance, shards, codecs)]
        shards = [2 * shard for shard in shards]
    if layout == "transposed shards":
        order = chance.sample(range(len(shape)), len(shape))
        outer = [0] * len(shape)
        for place, d in enumerate(order):
            outer[d] = shards[place]
        return outer, [{"name": "transpose", "configuration": {"order": order}}, *codecs]
    return shards, codecs


def fill_store(chance, case, store, name, shape):
    dtype = numpy_type(name)
    case.truth = elements.filled(shape, case.fill or bytes(dtype.itemsize))
    if chance.random() < 0.1:
        return
    stored = elements.contents(chance, contents_type(name), dtype.itemsize, shape)
    data = numpy.frombuffer(bytearray(stored.tobytes()), dtype).reshape(shape)
    for box in foreign.random_boxes(chance, shape):
        case.truth[cases.slices(box)] = stored[cases.slices(box)]
        store[cases.slices(box) or ...].write(data[cases.slices(box)]).result()


def choose_place(chance, case):
    """The array is the whole store, or stands in a directory that has no document of a group."""
    case.path = chance.choice(["", "deep/data"])
    return {"driver": "file", "path": str(case.store / case.path) + "/"}


def type_code(name):
    return 18 if name in FLOAT8 else foreign_zarr.CODES[name]


def make_v3(chance, number, case):
    name = TYPES[number % len(TYPES)]
    shape = foreign_zarr.choose_shape(chance)
    case.fill, case.type, case.dtype = choose_fill(chance, name), type_code(name), numpy_type(name)
    chunks, codecs = choose_codecs(chance, shape, numpy_type(name).itemsize)
    case.attributes = dict(cases.ATTRIBUTES) if chance.random() < 0.5 else {}
    encoding = foreign_zarr.choose_key_encoding(chance)
    metadata = {"shape": shape, "data_type": name, "fill_value": fill_json(name, case.fill), "codecs": codecs,
                "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunks}},
                "chunk_key_encoding": encoding, "attributes": case.attributes}
    if chance.random() < 0.5:
        case.names = metadata["dimension_names"] = [f"d{d}" for d in range(len(shape))]
    case.words = f"TensorStore v3 {metadata}"
    store = tensorstore.open({"driver": "zarr3", "kvstore": choose_place(chance, case), "metadata": metadata,
                              "store_data_equal_to_fill_value": chance.random() < 0.5 or name not in elements.INTEGERS},
                             create=True).result()
    fill_store(chance, case, store, name, shape)


# ---- Zarr v2 -----------------------------------------------------------------------------------------------


def choose_v2_compressor(chance):
    blosc = {"id": "blosc", "cname": chance.choice(["blosclz", "lz4", "lz4hc", "zlib", "zstd"]),
             "clevel": chance.randint(0, 9), "shuffle": chance.choice([-1, 0, 1, 2])}
    return chance.choice([None, {"id": "zlib", "level": 4}, {"id": "gzip", "level": 4}, {"id": "zstd", "level": 2},
                          blosc, blosc])


def v2_fill_json(name, data):
    fill = fill_json(name, data)
    return "NaN" if isinstance(fill, str) and fill.startswith("0x") else fill


def make_v2(chance, number, case):
    names = [name for name in TYPES if name not in (*FLOAT8, "bfloat16", *elements.COMPLEX)]
    name = names[number % len(names)]
    shape = foreign_zarr.choose_shape(chance)
    dtype = numpy_type(name).newbyteorder(chance.choice("<>"))
    case.zarr_format, case.type = 2, type_code(name)
    known = {key: fill for key, fill in elements.fills(name, 0).items() if "payload" not in key}
    case.fill = chance.choice([None, *known.values()])
    order = chance.choice("CF") if len(shape) > 1 else "C"
    metadata = {"shape": shape, "chunks": cases.choose_chunks(chance, shape), "dtype": dtype.str,
                "compressor": choose_v2_compressor(chance), "order": order, "filters": None,
                "fill_value": None if case.fill is None else v2_fill_json(name, case.fill),
                "dimension_separator": chance.choice("./")}
    case.words = f"TensorStore v2 {metadata}"
    store = tensorstore.open({"driver": "zarr", "kvstore": choose_place(chance, case), "metadata": metadata,
                              "store_data_equal_to_fill_value": True}, create=True).result()
    fill_store(chance, case, store, name, shape)


def make_case(chance, number, case):
    (make_v2 if chance.random() < 0.2 else make_v3)(chance, number, case)
