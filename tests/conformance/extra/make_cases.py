#!/usr/bin/env python3
"""Writes the cases that ../cases lacks: what a careful reader accepts beyond the standard, the types that are
extensions of it, and what it must refuse. Every byte is put together here, with nothing but the standard library.

    make_cases.py        writes next to itself: <case>/ and, where it can be read, <case>.expected.json
"""
import copy
import gzip
import json
import pathlib
import shutil
import struct
import zlib

HERE = pathlib.Path(__file__).parent
ABSENT = (1 << 64) - 1
LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}
GZIP = {"name": "gzip", "configuration": {"level": 5}}
ZSTD = {"name": "zstd", "configuration": {"level": 3, "checksum": False}}
BLOSC = {"name": "blosc", "configuration": {"cname": "lz4", "clevel": 5, "shuffle": "noshuffle", "typesize": 4,
                                            "blocksize": 0}}
CRC32C = {"name": "crc32c"}
SHUFFLE = {"name": "numcodecs.shuffle", "configuration": {"elementsize": 4}}
ZLIB = {"name": "numcodecs.zlib", "configuration": {"level": 4}}
FLETCHER32 = {"name": "numcodecs.fletcher32", "configuration": {}}
REMOVE = object()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def with_crc32c(data):
    return data + struct.pack("<I", crc32c(data))


def with_fletcher32(data):
    """The checksum of HDF5: big-endian words, sums modulo 65535."""
    first = second = 0
    for (word,) in struct.iter_unpack(">H", data + bytes(len(data) % 2)):
        first += word
        second += first
    return data + struct.pack("<I", second % 65535 << 16 | first % 65535)


def zstd_stored(data):
    """One zstd frame with its content size and a single uncompressed block."""
    return b"\x28\xb5\x2f\xfd\x20" + bytes([len(data)]) + struct.pack("<I", len(data) << 3 | 1)[:3] + data


def blosc_stored(data, stated_bytes=None):
    """A Blosc 1 container that holds its data uncompressed."""
    stated_bytes = len(data) if stated_bytes is None else stated_bytes
    return struct.pack("<BBBBIII", 2, 1, 2, 4, stated_bytes, max(stated_bytes, 1), 16 + len(data)) + data


def document(**changes):
    """The zarr.json of four int32 in chunks of two; a change to REMOVE takes the field out."""
    fields = {
        "zarr_format": 3, "node_type": "array", "shape": [4], "data_type": "int32",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": 0, "codecs": [LITTLE], "attributes": {},
    }
    fields.update(changes)
    return {name: value for name, value in fields.items() if value is not REMOVE}


def grid(*chunk_shape):
    return {"name": "regular", "configuration": {"chunk_shape": list(chunk_shape)}}


def sharding(chunk_shape=(1,), codecs=(LITTLE,), **changes):
    configuration = {"chunk_shape": list(chunk_shape), "codecs": list(codecs), "index_codecs": [LITTLE, CRC32C],
                     "index_location": "end"}
    configuration.update(changes)
    return {"name": "sharding_indexed", "configuration": configuration}


def shard(data, *entries):
    """Data, then an index of (offset, bytes) pairs with its checksum."""
    return data + with_crc32c(b"".join(struct.pack("<QQ", *entry) for entry in entries))


def write(name, text_or_bytes):
    path = HERE / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text_or_bytes if isinstance(text_or_bytes, bytes) else text_or_bytes.encode())


def write_json(name, value):
    write(name, value if isinstance(value, str) else json.dumps(value, indent=1) + "\n")


def case(name, metadata, objects=None, expected=None, file="zarr.json"):
    """One array. objects: key to bytes; expected: (type, shape, values) where it can be read."""
    write_json(f"{name}/{file}", metadata)
    for key, data in (objects or {}).items():
        write(f"{name}/{key}", data)
    if expected is not None:
        dtype, shape, values = expected
        write_json(f"{name}.expected.json",
                   json.dumps({"path": name, "dtype": dtype, "shape": shape, "data": values}) + "\n")


def int32(*values):
    return struct.pack(f"<{len(values)}i", *values)


CHUNKS = {"c/0": int32(1, -2), "c/1": int32(3, 4)}
VALUES = ("int32", [4], [1, -2, 3, 4])


def metadata_accepted():
    case("accept_codecs_empty", document(codecs=[]), CHUNKS, VALUES)
    case("accept_data_type_object", document(data_type={"name": "int32"}), CHUNKS, VALUES)
    case("accept_unknown_codec_must_understand_false",
         document(codecs=[LITTLE, {"name": "my.note", "must_understand": False}]), CHUNKS, VALUES)
    case("accept_transpose_C",
         document(shape=[2, 3], chunk_grid=grid(2, 3),
                  codecs=[{"name": "transpose", "configuration": {"order": "C"}}, LITTLE]),
         {"c/0/0": int32(1, 2, 3, 4, 5, 6)}, ("int32", [2, 3], [1, 2, 3, 4, 5, 6]))
    case("accept_fill_absent_chunk_missing", document(fill_value=REMOVE), {"c/0": int32(1, -2)},
         ("int32", [4], [1, -2, 0, 0]))
    case("accept_no_chunk_at_all", document(fill_value=-7), {}, ("int32", [4], [-7] * 4))
    case("accept_no_shard_at_all", document(fill_value=9, codecs=[sharding()]), {}, ("int32", [4], [9] * 4))
    case("accept_32_dimensions",
         document(shape=[1] * 31 + [2], chunk_grid=grid(*[1] * 31, 2),
                  chunk_key_encoding={"name": "v2", "configuration": {"separator": "."}}),
         {".".join(["0"] * 32): int32(5, 6)}, ("int32", [1] * 31 + [2], [5, 6]))
    for token, name in (("NaN", "nan"), ("Infinity", "infinity"), ("-Infinity", "minus_infinity")):
        text = json.dumps(document(data_type="float32", fill_value="HERE"), indent=1).replace('"HERE"', token)
        case(f"accept_fill_bare_{name}", text, {"c/0": struct.pack("<2f", 1.5, 2.5)},
             ("float32", [4], [1.5, 2.5, token, token]))
    case("accept_shards_in_any_order", document(codecs=[sharding()]),
         {"c/0": shard(int32(-2, 1), (4, 4), (0, 4)), "c/1": shard(int32(3, 4), (0, 4), (4, 4))}, VALUES)
    shuffled = {key: bytes(data[i] for k in range(4) for i in (k, 4 + k)) for key, data in CHUNKS.items()}
    case("accept_numcodecs", document(codecs=[LITTLE, SHUFFLE, ZLIB, FLETCHER32]),
         {key: with_fletcher32(zlib.compress(data, 4)) for key, data in shuffled.items()}, VALUES)
    case("accept_blosc_stored", document(codecs=[LITTLE, BLOSC]),
         {key: blosc_stored(data) for key, data in CHUNKS.items()}, VALUES)
    case("accept_zstd_stored", document(codecs=[LITTLE, ZSTD]),
         {key: zstd_stored(data) for key, data in CHUNKS.items()}, VALUES)


def fill(name, dtype, fill_value, values):
    """Nothing is stored: what is read is the fill value."""
    data_type = dtype if isinstance(dtype, str) else dtype[0]
    case(f"accept_fill_{name}", document(data_type=data_type, shape=[1], chunk_grid=grid(1), fill_value=fill_value),
         {}, (dtype if isinstance(dtype, str) else dtype[1], [1], values))


def fills_accepted():
    fill("uint64_max", "uint64", (1 << 64) - 1, [str((1 << 64) - 1)])
    fill("int64_min", "int64", -(1 << 63), [str(-(1 << 63))])
    fill("float64_hex", "float64", "0x7ff8000000000000", ["NaN"])
    fill("float64_hex_negative_zero", "float64", "0x8000000000000000", [-0.0])
    fill("float16_hex", "float16", "0x3e00", [1.5])
    fill("float16_minus_infinity", "float16", "-Infinity", ["-Infinity"])
    fill("float32_rounded_half_to_even", "float32", 16777217, [16777216.0])
    fill("complex64_hex", "complex64", ["0x3fc00000", "-Infinity"], [[1.5, "-Infinity"]])
    fill("datetime64_nat", (DATETIME, "datetime64"), "NaT", [str(-(1 << 63))])


DATETIME = {"name": "numpy.datetime64", "configuration": {"unit": "ns", "scale_factor": 1}}
TIMEDELTA = {"name": "numpy.timedelta64", "configuration": {"unit": "s", "scale_factor": 10}}
RAW = {"name": "raw_bytes", "configuration": {"length_bytes": 3}}
UTF32 = {"name": "fixed_length_utf32", "configuration": {"length_bytes": 12}}
FIELDS = [{"name": "a", "data_type": "int16"}, {"name": "b", "data_type": "uint8"}]


def one_chunk(name, data_type, data, expected_type, values, **changes):
    count = len(values)
    case(f"accept_type_{name}", document(data_type=data_type, shape=[count], chunk_grid=grid(count), **changes),
         {"c/0": data}, (expected_type, [count], values))


def types_accepted():
    one_chunk("int64_extremes", "int64", struct.pack("<2q", -(1 << 63), (1 << 63) - 1), "int64",
              [str(-(1 << 63)), str((1 << 63) - 1)])
    one_chunk("uint64_extremes", "uint64", struct.pack("<2Q", 0, (1 << 64) - 1), "uint64", ["0", str((1 << 64) - 1)])
    for name, code, tiny in (("float16", "e", 2.0 ** -24), ("float32", "f", 2.0 ** -149), ("float64", "d", 5e-324)):
        data = struct.pack(f"<6{code}", float("nan"), float("inf"), float("-inf"), -0.0, tiny, 1.5)
        one_chunk(f"{name}_specials", name, data, name, ["NaN", "Infinity", "-Infinity", -0.0, tiny, 1.5])
    one_chunk("bfloat16", "bfloat16", struct.pack("<4H", 0x3FC0, 0xFF80, 0x7FC1, 0x8000), "bfloat16",
              [1.5, "-Infinity", "NaN", -0.0])
    one_chunk("datetime64", DATETIME, struct.pack("<2q", 1, -1), "datetime64", ["1", "-1"])
    one_chunk("timedelta64", TIMEDELTA, struct.pack("<2q", 86400, -5), "timedelta64", ["86400", "-5"])
    one_chunk("raw_bytes", RAW, bytes(range(6)), "raw24", [[0, 1, 2], [3, 4, 5]], fill_value="AAAA",
              codecs=[{"name": "bytes"}])
    one_chunk("r24", "r24", bytes(range(6)), "raw24", [[0, 1, 2], [3, 4, 5]], fill_value=[0, 0, 0],
              codecs=[{"name": "bytes"}])
    one_chunk("fixed_length_utf32", UTF32, "ab\u20ac".encode("utf-32-le") + "z\0\0".encode("utf-32-le"), "str96",
              ["ab\u20ac", "z"], fill_value="")
    one_chunk("struct", {"name": "struct", "configuration": {"fields": FIELDS}},
              struct.pack("<hBhB", 258, 3, -1, 5), "raw24", [[2, 1, 3], [255, 255, 5]], fill_value={"a": 0, "b": 0})
    one_chunk("structured_old_form",
              {"name": "structured", "configuration": {"fields": [["a", "int16"], ["b", "uint8"]]}},
              struct.pack("<hBhB", 258, 3, -1, 5), "raw24", [[2, 1, 3], [255, 255, 5]], fill_value="AAAA")


def document_v2(**changes):
    fields = {"zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "<i4", "compressor": None, "fill_value": 0,
              "order": "C", "filters": None}
    fields.update(changes)
    return {name: value for name, value in fields.items() if value is not REMOVE}


def case_v2(name, metadata, objects=None, expected=None):
    case(name, metadata, objects, expected, file=".zarray")


def fletcher32(data):
    """As HDF5 and numcodecs have it: sums of big-endian words, the carry folded back in."""
    sum1 = sum2 = 0
    for i in range(0, len(data), 2):
        sum1 += data[i] << 8 | data[i + 1]
        sum1 = (sum1 & 0xFFFF) + (sum1 >> 16)
        sum2 += sum1
        sum2 = (sum2 & 0xFFFF) + (sum2 >> 16)
    return sum2 << 16 | sum1


CHUNKS_V2 = {"0": CHUNKS["c/0"], "1": CHUNKS["c/1"]}


def checked(checksum):
    """The checksum filters of Zarr v2 put four bytes before the data."""
    return {key: struct.pack("<I", checksum(data)) + data for key, data in CHUNKS_V2.items()}


def v2_accepted():
    case_v2("accept_v2_filters_empty", document_v2(filters=[]), CHUNKS_V2, VALUES)
    case_v2("accept_v2_unknown_key", document_v2(my_key="hello"), CHUNKS_V2, VALUES)
    case_v2("accept_v2_no_chunk_at_all", document_v2(fill_value=-7), {}, ("int32", [4], [-7] * 4))
    case_v2("accept_v2_crc32", document_v2(filters=[{"id": "crc32"}]), checked(zlib.crc32), VALUES)
    case_v2("accept_v2_adler32", document_v2(filters=[{"id": "adler32"}]), checked(zlib.adler32), VALUES)
    case_v2("accept_v2_fletcher32", document_v2(filters=[{"id": "fletcher32"}]),
            {key: data + struct.pack("<I", fletcher32(data)) for key, data in CHUNKS_V2.items()}, VALUES)
    case_v2("accept_v2_complex_fill", document_v2(dtype="<c8", shape=[1], chunks=[1], fill_value=["NaN", 2.5]), {},
            ("complex64", [1], [["NaN", 2.5]]))
    case_v2("accept_v2_datetime64", document_v2(dtype="<M8[ns]", shape=[2]), {"0": struct.pack("<2q", 1, -1)},
            ("datetime64", [2], ["1", "-1"]))
    case_v2("accept_v2_timedelta64", document_v2(dtype=">m8[s]", shape=[2]), {"0": struct.pack(">2q", 86400, -5)},
            ("timedelta64", [2], ["86400", "-5"]))
    case_v2("accept_v2_text_fill", document_v2(dtype="|S3", shape=[2], fill_value="YWI="), {},
            ("bytes24", [2], ["ab", "ab"]))
    case_v2("accept_v2_utf32_big_endian", document_v2(dtype=">U2", shape=[2], fill_value=""),
            {"0": "ab".encode("utf-32-be") + "\u20ac\0".encode("utf-32-be")}, ("str64", [2], ["ab", "\u20ac"]))
    case_v2("accept_v2_raw", document_v2(dtype="|V3", shape=[2], fill_value="AAAA"), {"0": bytes(range(6))},
            ("raw24", [2], [[0, 1, 2], [3, 4, 5]]))
    case_v2("accept_v2_structured", document_v2(dtype=[["a", "<i2"], ["b", "|u1"]], shape=[2], fill_value=None),
            {"0": struct.pack("<hBhB", 258, 3, -1, 5)}, ("raw24", [2], [[2, 1, 3], [255, 255, 5]]))


def unknown_extensions_refused():
    named = {"name": "hexagonal", "configuration": {}}
    optional = {"name": "hexagonal", "must_understand": False}
    rectilinear = {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [[1, 3]]}}
    case("refuse_data_type_unknown", document(data_type="quaternion"))
    case("refuse_data_type_must_understand_false",
         document(data_type={"name": "quaternion", "must_understand": False}))
    case("refuse_codec_unknown", document(codecs=[LITTLE, {"name": "my.squeeze"}]))
    case("refuse_codec_unknown_shorthand", document(codecs=[LITTLE, "my.squeeze"]))
    case("refuse_codec_unknown_in_shard", document(codecs=[sharding(codecs=[LITTLE, {"name": "my.squeeze"}])]))
    case("refuse_grid_rectilinear", document(chunk_grid=rectilinear))
    case("refuse_grid_unknown", document(chunk_grid=named))
    case("refuse_grid_must_understand_false", document(chunk_grid=optional))
    case("refuse_key_encoding_unknown", document(chunk_key_encoding=named))
    case("refuse_key_encoding_must_understand_false", document(chunk_key_encoding=optional))
    case("refuse_storage_transformers", document(storage_transformers=[{"name": "my.cache"}]))
    case("refuse_unknown_field_null", document(my_key=None))
    case("refuse_unknown_field_list", document(my_key=[{"must_understand": False}]))
    case("refuse_string_type_read",
         document(data_type="string", fill_value="", codecs=[{"name": "vlen-utf8"}], shape=[1], chunk_grid=grid(1)),
         {"c/0": struct.pack("<II", 1, 2) + b"ab"})


def fields_refused():
    for field in ("zarr_format", "shape", "data_type", "chunk_grid", "chunk_key_encoding", "codecs"):
        case(f"refuse_missing_{field}", document(**{field: REMOVE}))
    case("refuse_zarr_format_4", document(zarr_format=4))
    case("refuse_node_type_unknown", document(node_type="table"))
    case("refuse_shape_negative", document(shape=[-4]))
    case("refuse_shape_fraction", document(shape=[4.5]))
    case("refuse_shape_text", document(shape=["4"]))
    case("refuse_shape_33_dimensions", document(shape=[1] * 33, chunk_grid=grid(*[1] * 33)))
    case("refuse_shape_overflow", document(shape=[1 << 62, 1 << 62], chunk_grid=grid(1 << 40, 1 << 40)))
    case("refuse_chunk_shape_zero", document(chunk_grid=grid(0)))
    case("refuse_chunk_shape_negative", document(chunk_grid=grid(-2)))
    case("refuse_chunk_shape_ndim", document(chunk_grid=grid(2, 2)))
    case("refuse_key_separator",
         document(chunk_key_encoding={"name": "default", "configuration": {"separator": "-"}}))
    case("refuse_dimension_names_count", document(dimension_names=["y", "x"]))
    case("refuse_dimension_names_number", document(dimension_names=[1]))
    case("refuse_attributes_list", document(attributes=[]))
    case("refuse_fill_out_of_range", document(data_type="int8", fill_value=300))
    case("refuse_fill_fraction", document(fill_value=1.5))
    case("refuse_fill_text_for_int", document(fill_value="one"))
    case("refuse_fill_complex_short", document(data_type="complex64", fill_value=[1.0]))
    text = json.dumps(document(), indent=1)
    case("refuse_json_truncated", text[:-40])
    case("refuse_json_duplicate_key", text[:-2] + ',\n "shape": [8]\n}\n')
    case("refuse_json_integer_beyond_64_bits", text.replace('"fill_value": 0', '"fill_value": 36893488147419103232'))
    nested = '{"a":' * 100 + "0" + "}" * 100
    case("refuse_json_too_deep", json.dumps(document(attributes="HERE")).replace('"HERE"', nested))
    case("refuse_json_empty", "")


def codecs_refused():
    transpose = {"name": "transpose", "configuration": {"order": [0]}}
    case("refuse_codecs_no_array_to_bytes", document(codecs=[GZIP]))
    case("refuse_codecs_two_array_to_bytes", document(codecs=[LITTLE, LITTLE]))
    case("refuse_codecs_transpose_after_bytes", document(codecs=[LITTLE, transpose]))
    case("refuse_codecs_sharding_after_bytes", document(codecs=[LITTLE, sharding()]))
    case("refuse_transpose_no_permutation",
         document(shape=[4, 4], chunk_grid=grid(2, 2),
                  codecs=[{"name": "transpose", "configuration": {"order": [0, 0]}}, LITTLE]))
    case("refuse_transpose_ndim",
         document(codecs=[{"name": "transpose", "configuration": {"order": [1, 0]}}, LITTLE]))
    case("refuse_bytes_endian_unknown", document(codecs=[{"name": "bytes", "configuration": {"endian": "middle"}}]))
    case("refuse_shard_chunk_does_not_divide", document(chunk_grid=grid(4), codecs=[sharding([3])]))
    case("refuse_shard_chunk_zero", document(codecs=[sharding([0])]))
    case("refuse_shard_chunk_ndim", document(codecs=[sharding([1, 1])]))
    case("refuse_shard_index_gzip", document(codecs=[sharding(index_codecs=[LITTLE, GZIP])]))
    case("refuse_shard_index_location", document(codecs=[sharding(index_location="middle")]))


def damaged(name, data, codecs=(LITTLE,), expected=None):
    """The first object is not what it should be; the second one is not there."""
    case(f"refuse_{name}", document(codecs=list(codecs)), {"c/0": data}, expected)


def damage_refused():
    data = int32(1, -2)
    flipped = with_crc32c(data)[:-1] + bytes([with_crc32c(data)[-1] ^ 0x10])
    damaged("chunk_empty", b"")
    damaged("chunk_short", data[:-1])
    damaged("chunk_long", data + b"\0")
    damaged("chunk_crc32c_wrong", flipped, [LITTLE, CRC32C], ("int32", [4], [1, -2, 0, 0]))
    damaged("chunk_crc32c_too_short", b"\1\2\3", [LITTLE, CRC32C])
    damaged("gzip_long", gzip.compress(data + data, mtime=0), [LITTLE, GZIP])
    damaged("gzip_short", gzip.compress(data[:4], mtime=0), [LITTLE, GZIP])
    damaged("gzip_truncated", gzip.compress(data, mtime=0)[:-3], [LITTLE, GZIP])
    damaged("gzip_trailing_bytes", gzip.compress(data, mtime=0) + b"JUNK", [LITTLE, GZIP])
    damaged("fletcher32_wrong", with_fletcher32(data)[:-1] + b"!", [LITTLE, FLETCHER32])
    damaged("gzip_not_gzip", b"plain text", [LITTLE, GZIP])
    damaged("zstd_long", zstd_stored(data + data), [LITTLE, ZSTD])
    damaged("zstd_short", zstd_stored(data[:4]), [LITTLE, ZSTD])
    damaged("zstd_truncated", zstd_stored(data)[:-1], [LITTLE, ZSTD])
    damaged("zstd_not_zstd", b"plain text", [LITTLE, ZSTD])
    damaged("blosc_long", blosc_stored(data + data), [LITTLE, BLOSC])
    damaged("blosc_short", blosc_stored(data[:4]), [LITTLE, BLOSC])
    damaged("blosc_lies", blosc_stored(data[:4], stated_bytes=8), [LITTLE, BLOSC])
    damaged("blosc_truncated", blosc_stored(data)[:-1], [LITTLE, BLOSC])
    damaged("blosc_too_short", b"\2\1\2", [LITTLE, BLOSC])


def shards_refused():
    data, absent = int32(1, -2), (ABSENT, ABSENT)
    damaged("shard_empty", b"", [sharding()])
    damaged("shard_shorter_than_index", shard(b"", (0, 4), (4, 4))[1:], [sharding()])
    damaged("shard_index_beyond_end", shard(data, (0, 4), (1000, 4)), [sharding()])
    damaged("shard_index_length_beyond_end", shard(data, (0, 4), (4, 1 << 40)), [sharding()])
    damaged("shard_index_wraps", shard(data, (0, 4), (ABSENT - 1, 6)), [sharding()])
    damaged("shard_index_into_index", shard(data, (0, 4), (8, 4)), [sharding()])
    damaged("shard_index_overlap", shard(data[:4], (0, 4), (0, 4)), [sharding()])
    damaged("shard_index_offset_absent", shard(data, (0, 4), (ABSENT, 4)), [sharding()])
    damaged("shard_index_length_absent", shard(data, (0, 4), (4, ABSENT)), [sharding()])
    damaged("shard_chunk_short", shard(data, (0, 4), (4, 3)), [sharding()])
    damaged("shard_chunk_long", shard(data, (0, 8), absent), [sharding()])
    damaged("shard_inner_crc32c_wrong", shard(with_crc32c(int32(1))[:-1] + b"\0", (0, 8), absent),
            [sharding(codecs=[LITTLE, CRC32C])])


def v2_refused():
    case_v2("refuse_v2_compressor_unknown", document_v2(compressor={"id": "squeeze"}))
    case_v2("refuse_v2_filter_unknown", document_v2(filters=[{"id": "squeeze"}]))
    case_v2("refuse_v2_dtype_unknown", document_v2(dtype="<q4"))
    case_v2("refuse_v2_dtype_size", document_v2(dtype="<i3"))
    case_v2("refuse_v2_order_unknown", document_v2(order="K"))
    case_v2("refuse_v2_chunks_ndim", document_v2(chunks=[2, 2]))
    case_v2("refuse_v2_chunks_zero", document_v2(chunks=[0]))
    case_v2("refuse_v2_zarr_format_1", document_v2(zarr_format=1))
    case_v2("refuse_v2_separator", document_v2(dimension_separator="-"))
    case_v2("refuse_v2_shape_missing", document_v2(shape=REMOVE))
    case_v2("refuse_v2_chunk_short", document_v2(), {"0": b"\1\2\3"})
    case_v2("refuse_v2_zlib_damaged", document_v2(compressor={"id": "zlib", "level": 1}), {"0": b"plain text"})
    case_v2("refuse_v2_crc32_wrong", document_v2(filters=[{"id": "crc32"}]), {"0": b"\0\0\0\0" + CHUNKS_V2["0"]})


def drafts_refused():
    """Zarr v3 as it was before 2023: the experimental zarr-python 2.x, and GDAL 3.6."""
    uri = "https://purl.org/zarr/spec/protocol/core/3.0"
    entry = {"zarr_format": uri, "metadata_encoding": uri, "metadata_key_suffix": ".json", "extensions": []}
    array = {"shape": [2], "data_type": "<i4",
             "chunk_grid": {"type": "regular", "chunk_shape": [2], "separator": "/"},
             "chunk_memory_layout": "C", "fill_value": 0, "extensions": [], "attributes": {}}
    for name, changes in (("refuse_draft_zarr_python", {}), ("refuse_draft_gdal", {"metadata_key_suffix": ""})):
        write_json(f"{name}/zarr.json", {**copy.deepcopy(entry), **changes})
        write_json(f"{name}/meta/root.group.json", {"attributes": {}, "extensions": []})
        write_json(f"{name}/meta/root/a.array.json", array)
        write(f"{name}/data/root/a/c0", int32(1, 2))


def main():
    for path in HERE.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name.endswith(".expected.json"):
            path.unlink()
    for write_cases in (metadata_accepted, fills_accepted, types_accepted, v2_accepted, unknown_extensions_refused,
                        fields_refused, codecs_refused, damage_refused, shards_refused, v2_refused, drafts_refused):
        write_cases()


if __name__ == "__main__":
    main()
