"""Random arrays that zarr-python writes: Zarr v3 with every codec it has, and Zarr v2."""

import warnings

import numcodecs
import numpy
import zarr
from zarr import codecs

import cases
import elements
import foreign

V3_TYPES = ["bool", *elements.INTEGERS, *elements.FLOATS, *elements.COMPLEX, "M8[ns]", "M8[D]", "M8[10s]", "m8[ms]",
            "V3", "V8", "S5", "U3", "record"]
RECORD = numpy.dtype([("count", "<i4"), ("value", "<f8"), ("tag", "S3"), ("small", "u1"), ("pair", "<c8")])
PLAIN_RECORD = numpy.dtype([("count", "<i4"), ("value", "<f8"), ("small", "u1")])
CODES = {"bool": 1, "int8": 2, "int16": 3, "int32": 4, "int64": 5, "uint8": 6, "uint16": 7, "uint32": 8, "uint64": 9,
         "float16": 10, "float32": 11, "float64": 12, "complex64": 13, "complex128": 14, "bfloat16": 15}
KINDS = {"M": 16, "m": 17, "S": 18, "U": 19, "V": 18}
LAYOUTS = ["plain", "plain", "sharded", "index first", "own index", "nested", "compressed shards"]


def choose_type(chance, number):
    name = V3_TYPES[number % len(V3_TYPES)]
    if name == "record":
        return chance.choice([RECORD, PLAIN_RECORD])
    return numpy.dtype(name)


def type_code(dtype):
    if dtype.names:
        return 20
    return CODES.get(dtype.name) or KINDS[dtype.kind]


def values(chance, dtype, shape):
    """Random values of any type zarr-python has."""
    if dtype.kind in "mM":
        return elements.contents(chance, "numpy.datetime64", 0, shape).view(dtype)
    if dtype.kind == "U":
        generator = numpy.random.default_rng(chance.getrandbits(64))
        points = generator.integers(32, 0xD7FF, (*shape, dtype.itemsize // 4), "u4")
        return numpy.frombuffer(bytearray(points.tobytes()), dtype).reshape(shape)
    if dtype.kind in "SV":
        data = elements.contents(chance, "raw", dtype.itemsize, shape)
        return numpy.frombuffer(bytearray(data.tobytes()), dtype).reshape(shape)
    return elements.contents(chance, dtype.name, 0, shape).view(dtype)


def choose_fill(chance, dtype):
    """One element; a NaN with payload is left out, since zarr-python writes it as \"NaN\"."""
    if dtype.kind in "mM":
        return numpy.array(chance.choice([0, -1, -(2**63)]), "<i8").view(dtype)[()]
    if dtype.names:
        return numpy.frombuffer(bytes([chance.choice([0, 7])]) * dtype.itemsize, dtype)[0]
    if dtype.kind in "SUV":
        return values(chance, dtype, (1,))[0] if chance.random() < 0.5 else numpy.zeros(1, dtype)[0]
    known = elements.fills(dtype.name, 0)
    name = chance.choice([name for name in known if "payload" not in name])
    return numpy.frombuffer(known[name], dtype)[0]


def choose_compressors(chance):
    blosc = codecs.BloscCodec(cname=chance.choice(["blosclz", "lz4", "lz4hc", "zlib", "zstd"]),
                              clevel=chance.randint(0, 9), typesize=chance.choice([1, 2, 4, 8]),
                              shuffle=chance.choice(["noshuffle", "shuffle", "bitshuffle"]))
    zstd = codecs.ZstdCodec(level=chance.choice([-5, 0, 1, 9, 19]), checksum=chance.random() < 0.5)
    chain = chance.choice([[], [zstd], [zstd], [codecs.GzipCodec(level=chance.randint(0, 9))], [blosc], [blosc],
                           [blosc, codecs.GzipCodec(level=1)]])
    return chain + [codecs.Crc32cCodec()] * chance.choice([0, 0, 1, 2])


def choose_serializer(chance, dtype):
    if dtype.names or dtype.kind in "SV" or dtype.itemsize == 1:
        return "auto"
    return codecs.BytesCodec(endian=chance.choice(["little", "big"]))


def choose_filters(chance, ndim):
    if ndim == 0 or chance.random() < 0.6:
        return []
    return [codecs.TransposeCodec(order=tuple(chance.sample(range(ndim), ndim)))]


def sharding_by_hand(chance, layout, chunks, inner):
    """A sharding codec with what create_array has no argument for: its index, or shards in shards."""
    location = chance.choice(["start", "end"])
    index = [codecs.BytesCodec(endian=chance.choice(["little", "big"])), *[codecs.Crc32cCodec()] * chance.choice([0, 1])]
    if layout == "nested":
        inner = [codecs.ShardingCodec(chunk_shape=chunks, codecs=inner)]
        chunks = tuple(chunk * (2 if d < 2 else 1) for d, chunk in enumerate(chunks))
    return codecs.ShardingCodec(chunk_shape=chunks, codecs=inner, index_codecs=index, index_location=location)


def layout_arguments(chance, dtype, shape):
    """chunks, shards, filters, serializer and compressors for create_array, and their description."""
    layout = chance.choice(LAYOUTS) if shape else "plain"
    if layout != "plain" and dtype.kind == "V":
        layout = "plain"  # zarr-python cannot hash the fill value of such a type in a shard
    chunks = tuple(cases.choose_chunks(chance, shape))
    shards = tuple(a * b for a, b in zip(chunks, cases.multiples(chance, len(shape))))
    compressors, filters = choose_compressors(chance), choose_filters(chance, len(shape))
    serializer = choose_serializer(chance, dtype)
    chain = {"chunks": chunks, "filters": filters, "serializer": serializer, "compressors": compressors}
    if layout == "sharded":
        return layout, chain | {"shards": shards}
    if layout == "index first":
        return layout, chain | {"shards": {"shape": shards, "index_location": "start"}}
    if layout == "plain":
        return layout, chain
    inner = [*filters, codecs.BytesCodec() if serializer == "auto" else serializer, *compressors]
    outside = [codecs.GzipCodec(level=1)] if layout == "compressed shards" else []
    whole = tuple(chunk * (4 if d < 2 else 1) for d, chunk in enumerate(chunks))
    return layout, {"chunks": whole, "filters": [], "compressors": outside,
                    "serializer": sharding_by_hand(chance, layout, chunks, inner)}


def choose_key_encoding(chance):
    name = chance.choice(["default", "default", "v2"])
    return {"name": name, "configuration": {"separator": chance.choice(["/", "."])}}


def fill_array(chance, case, array, dtype, shape):
    """Writes random boxes, and keeps the truth in step."""
    fill = case.fill or bytes(dtype.itemsize)
    case.truth = elements.filled(shape, fill)
    if chance.random() < 0.1:
        return
    data = values(chance, dtype, shape)
    stored = foreign.as_void(data)
    for box in foreign.random_boxes(chance, shape):
        case.truth[cases.slices(box)] = stored[cases.slices(box)]
        array[cases.slices(box) or ...] = data[cases.slices(box)].astype(array.dtype)


def choose_shape(chance):
    return cases.choose_shape(chance, chance.randint(0, 6))


def make_v3(chance, number, case):
    dtype, shape = choose_type(chance, number), choose_shape(chance)
    fill = choose_fill(chance, dtype)
    layout, chain = layout_arguments(chance, dtype, shape)
    case.path = chance.choice(["", "data", "a/b/data"])
    case.fill, case.type = numpy.asarray(fill, dtype).tobytes(), type_code(dtype)
    case.names = chance.choice([None, [f"d{d}" for d in range(len(shape))]])
    if case.names and chance.random() < 0.3:
        case.names[0] = None
    case.attributes = dict(cases.ATTRIBUTES) if chance.random() < 0.5 else {}
    case.words = f"zarr-python v3 {dtype} {list(shape)} {layout} {chain}, fill {fill!r}"
    # Chunks that equal the fill value may be left out; by value, so only where that is also by bits.
    keeps_empty = dtype.kind not in "biu" or chance.random() < 0.5
    array = zarr.create_array(str(case.store), name=case.path or None, shape=shape, dtype=dtype, fill_value=fill,
                              attributes=case.attributes, dimension_names=case.names, zarr_format=3,
                              chunk_key_encoding=choose_key_encoding(chance),
                              config={"write_empty_chunks": keeps_empty}, **chain)
    if "/" in case.path:
        zarr.open_group(str(case.store), mode="a").require_group("a/b/neighbour")
        case.siblings = {"data": "array", "neighbour": "group"}
    fill_array(chance, case, array, dtype, shape)


# ---- Zarr v2 -----------------------------------------------------------------------------------------------


def choose_v2_chain(chance, dtype):
    blosc = numcodecs.Blosc(cname=chance.choice(["blosclz", "lz4", "lz4hc", "zlib", "zstd"]),
                            clevel=chance.randint(0, 9), shuffle=chance.choice([-1, 0, 1, 2]))
    compressor = chance.choice([None, numcodecs.Zlib(level=5), numcodecs.GZip(level=2), numcodecs.Zstd(level=3),
                                numcodecs.LZ4(acceleration=1), blosc, blosc])
    filters = [numcodecs.Shuffle(elementsize=dtype.itemsize)] if chance.random() < 0.25 else None
    if dtype.kind in "iu" and chance.random() < 0.25:
        filters = [numcodecs.Delta(dtype=dtype.str), *(filters or [])]
    return compressor, filters


def make_v2(chance, number, case):
    dtype, shape = choose_type(chance, number), choose_shape(chance)
    stored = dtype.newbyteorder(chance.choice("<>")) if not dtype.names else dtype
    fill = choose_fill(chance, dtype)
    compressor, filters = choose_v2_chain(chance, stored)
    order, separator = chance.choice("CF"), chance.choice("./")
    case.fill, case.type, case.zarr_format = numpy.asarray(fill, dtype).tobytes(), type_code(dtype), 2
    case.dtype, case.has_delta = stored, "delta" in str(filters).lower()
    case.path = chance.choice(["", "data", "a/b/data"])
    case.attributes = dict(cases.ATTRIBUTES) if chance.random() < 0.5 else {}
    case.words = (f"zarr-python v2 {stored} {list(shape)} {compressor} {filters} order {order} "
                  f"separator {separator}, fill {fill!r}")
    array = zarr.create_array(str(case.store), name=case.path or None, shape=shape, dtype=stored, fill_value=fill,
                              chunks=tuple(cases.choose_chunks(chance, shape)), compressors=compressor,
                              filters=filters, order=order, zarr_format=2, attributes=case.attributes,
                              chunk_key_encoding={"name": "v2", "separator": separator},
                              config={"write_empty_chunks": True})
    fill_array(chance, case, array, dtype, shape)


# ---- What Parapet does not read ----------------------------------------------------------------------------


def refused_arrays():
    """The arguments of create_array for arrays that Parapet must refuse by name, and the words of its refusal."""
    numbers = {"shape": (7,), "chunks": (3,), "dtype": "int32"}
    return {
        "text of variable length": ({"shape": (3,), "dtype": str}, "elements of variable length"),
        "bytes of variable length": ({"shape": (3,), "dtype": "variable_length_bytes"}, "elements of variable length"),
        "unknown codec": (numbers | {"compressors": codecs.Zlib(level=1)}, '"numcodecs.squeeze" is not known'),
        "unknown v2 compressor": (numbers | {"zarr_format": 2, "compressors": numcodecs.Zlib()},
                                  '"squeeze" is not known'),
    }


def forget_zlib(store):
    """Gives zlib a name that no version of Parapet will know."""
    for document in (store / "zarr.json", store / ".zarray"):
        if document.exists():
            text = document.read_text()
            document.write_text(text.replace("numcodecs.zlib", "numcodecs.squeeze").replace('"zlib"', '"squeeze"'))


def make_refused(folder):
    """Cases with a truth that is never looked at, and the words that each refusal must hold."""
    made = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number, (name, (arguments, words)) in enumerate(refused_arrays().items()):
            store = folder / f"r{number:03}" / "store.zarr"
            case = foreign.ForeignCase(f"r{number:03}", "zarr-python", store, words=name)
            case.truth = numpy.zeros(arguments["shape"], "V1")
            store.parent.mkdir()
            zarr.create_array(str(store), **arguments)
            forget_zlib(store)
            made.append((case, words))
    return made


def make_case(chance, number, case):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # types without a specification, and arrays in no group, are meant
        (make_v2 if chance.random() < 0.3 else make_v3)(chance, number, case)
