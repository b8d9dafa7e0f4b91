"""Writes stores that lie, and says for each what Parapet has to do with it.

    make_hostile.py make DIRECTORY      stores, the files around them that nobody may touch, cases.txt, untouched.json
    make_hostile.py verify DIRECTORY    whether everything outside the stores is as it was made

    DIRECTORY/cases.txt           name, action, expectation, allowed statuses, a word of the sentence; by tabs
    DIRECTORY/stores/NAME/store   the root of a store; its array is "a" unless the case says otherwise
    DIRECTORY/stores/NAME/canary  lies beside the root
    DIRECTORY/outside             what links point to: an array that reads well, so that following a link shows

An action is what hostile.c does: open, read, write, list, check or unseal. "refuse" demands one of the statuses and the
word; "accept" marks what is odd but lawful; "either" leaves the answer open and only forbids harm.
Only the standard library is used; frames are made by hand, since no encoder writes lies.
"""
import hashlib
import json
import os
import shutil
import socket
import struct
import sys
import zlib

ABSENT = 2**64 - 1
FORMAT, UNSUPPORTED, CORRUPT = "FORMAT", "UNSUPPORTED", "CORRUPT"
IO, MEMORY, MISSING, NOT_FOUND, ARGUMENT = "IO", "MEMORY", "MISSING", "NOT_FOUND", "ARGUMENT"

LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}
CRC32C = {"name": "crc32c"}
CASES = []


# ---- Bytes -----------------------------------------------------------------------------------------------

def crc32c_table():
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


TABLE = crc32c_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def with_crc(data):
    return data + struct.pack("<I", crc32c(data))


def zstd_block(kind, size, body, last):
    """kind: 0 raw, 1 one byte repeated, 2 compressed, 3 reserved."""
    return struct.pack("<I", last | kind << 1 | size << 3)[:3] + body


def zstd_frame(blocks, content_bytes=None, window=0x58, flags=0):
    """blocks: (kind, size, body). With content_bytes an 8-byte content size is stated, else a window."""
    if content_bytes is None:
        head = bytes([flags, window])
    else:
        head = bytes([0xC0 | 0x20 | flags]) + struct.pack("<Q", content_bytes)
    body = b"".join(zstd_block(*block, last=i == len(blocks) - 1) for i, block in enumerate(blocks))
    return struct.pack("<I", 0xFD2FB528) + head + body


def zstd_raw(data, **options):
    return zstd_frame([(0, len(data), data)], **options)


def gzip_of(data, level=9):
    packer = zlib.compressobj(level, zlib.DEFLATED, 31)
    return packer.compress(data) + packer.flush()


def gzip_zeros(count):
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    piece = bytes(1 << 20)
    parts = [packer.compress(piece) for _ in range(count >> 20)]
    return b"".join(parts) + packer.flush()


def blosc_frame(body, **fields):
    """A container of c-blosc 1 with body stored as it is, and any field of its header changed."""
    header = {"version": 2, "versionlz": 1, "flags": 2, "typesize": 4, "nbytes": len(body), "blocksize": len(body),
              "cbytes": 16 + len(body)}
    header.update(fields)
    return struct.pack("<BBBBIII", *(header[name] for name in (
        "version", "versionlz", "flags", "typesize", "nbytes", "blocksize", "cbytes"))) + body


def index_of(entries, endian="<"):
    return with_crc(b"".join(struct.pack(endian + "QQ", *entry) for entry in entries))


# ---- Documents -------------------------------------------------------------------------------------------

def array_document(**changes):
    """Eight by eight int32 in chunks of four by four; a change to ... removes the field."""
    document = {
        "zarr_format": 3, "node_type": "array", "shape": [8, 8], "data_type": "int32",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4, 4]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": 0, "codecs": [LITTLE], "attributes": {}}
    for name, value in changes.items():
        if value is ...:
            del document[name]
        else:
            document[name] = value
    return document


def chunk_shape(*shape):
    return {"name": "regular", "configuration": {"chunk_shape": list(shape)}}


def codec(name, **configuration):
    return {"name": name, "configuration": configuration}


def sharding(shape=(2, 2), codecs=(LITTLE,), index_codecs=(LITTLE, CRC32C), **more):
    return codec("sharding_indexed", chunk_shape=list(shape), codecs=list(codecs), index_codecs=list(index_codecs),
                 **more)


def sharded_document(**changes):
    """As array_document, with four chunks of two by two (16 bytes each) in every shard."""
    return array_document(**{"codecs": [sharding()], **changes})


def v2_document(**changes):
    document = {"zarr_format": 2, "shape": [8, 8], "chunks": [4, 4], "dtype": "<i4", "compressor": None,
                "fill_value": 0, "order": "C", "filters": None}
    for name, value in changes.items():
        if value is ...:
            del document[name]
        else:
            document[name] = value
    return document


CHUNK = struct.pack("<16i", *range(16))
SMALL = [struct.pack("<4i", *range(4 * i, 4 * i + 4)) for i in range(4)]
SHARD = b"".join(SMALL) + index_of([(16 * i, 16) for i in range(4)])


# ---- Files -----------------------------------------------------------------------------------------------

class Place:
    """Where one case is written."""

    def __init__(self, top, name):
        self.top, self.root = top, os.path.join(top, "stores", name, "store")
        self.outside = os.path.join(top, "outside")
        os.makedirs(self.root)
        with open(os.path.join(top, "stores", name, "canary"), "w") as file:
            file.write("nobody may touch this: " + name)
        self.write("zarr.json", '{"zarr_format": 3, "node_type": "group", "attributes": {}}')

    def path(self, key):
        return os.path.join(self.root, key)

    def make_way(self, key):
        path = self.path(key)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if os.path.lexists(path):
            os.unlink(path)
        return path

    def write(self, key, content):
        if isinstance(content, dict):
            content = json.dumps(content)
        if isinstance(content, str):
            content = content.encode("utf-8", "surrogatepass")
        with open(self.make_way(key), "wb") as file:
            file.write(content)

    def sparse(self, key, byte_count, start=b""):
        with open(self.make_way(key), "wb") as file:
            file.write(start)
            file.truncate(byte_count)

    def link(self, key, target):
        os.symlink(target, self.make_way(key))

    def link_outside(self, key, name):
        self.link(key, os.path.join(self.outside, name))


def add(name, build, statuses, word, action="open", expectation="refuse"):
    statuses = statuses if isinstance(statuses, (list, tuple)) else [statuses]
    CASES.append((name, action, expectation, statuses, word, build))


def document(name, content, statuses, word, action="open", expectation="refuse"):
    add(name, lambda place: place.write("a/zarr.json", content), statuses, word, action, expectation)


def chunk(name, document_, content, statuses, word, expectation="refuse"):
    """An array whose first chunk or shard is content."""
    def build(place):
        place.write("a/zarr.json", document_)
        place.write("a/c/0/0", content)
    add(name, build, statuses, word, "read", expectation)


def v2(name, changes, statuses, word, action="open", expectation="refuse", content=None):
    def build(place):
        place.write("a/.zarray", changes if not isinstance(changes, dict) else v2_document(**changes))
        if content is not None:
            place.write("a/0.0", content)
    add("v2_" + name, build, statuses, word, action if content is None else "read", expectation)


# ---- JSON ------------------------------------------------------------------------------------------------

def nest(levels, inner=0):
    for _ in range(levels):
        inner = [inner]
    return inner


def json_cases():
    whole = json.dumps(array_document())
    for percent in range(0, 100, 5):
        document("json_cut_%02d" % percent, whole[:len(whole) * percent // 100], FORMAT, "JSON")
    texts = {
        "deep_lists": "[" * 10**6, "deep_objects": '{"a":' * 10**6, "deep_closed": "[" * 10**6 + "]" * 10**6,
        "deep_in_attributes": whole.replace('"attributes": {}', '"attributes": {"x": %s}' % ("[" * 70 + "]" * 70)),
        "blank": " \n\t ", "number": "3", "null": "null", "list": "[]", "text": '"zarr"',
        "two_documents": whole + whole, "garbage_after": whole + "x", "nul_after": whole + "\0",
        "comment": whole + "// end", "comma_last": whole[:-1] + ",}", "single_quotes": whole.replace('"', "'"),
        "key_bare": "{zarr_format: 3}", "key_number": "{3: 3}", "colon_missing": '{"zarr_format" 3}',
        "leading_zero": whole.replace("[8, 8]", "[08, 8]"), "leading_plus": whole.replace("[8, 8]", "[+8, 8]"),
        "hexadecimal": whole.replace("[8, 8]", "[0x8, 8]"), "lone_minus": whole.replace("[8, 8]", "[-, 8]"),
        "exponent_open": whole.replace("[8, 8]", "[8e, 8]"), "point_open": whole.replace("[8, 8]", "[8., 8]"),
        "escape_unknown": whole.replace("int32", "int\\x32"), "escape_short": whole.replace("int32", "int\\u00"),
        "surrogate_alone": whole.replace("int32", "int\\ud800"), "surrogates_swapped":
        whole.replace("int32", "int\\udc00\\ud800"), "control_character": whole.replace("int32", "int\x01"),
        "key_with_nul": whole.replace('"attributes"', '"x\\u0000": 1, "attributes"'),
        "string_open": '{"zarr_format": "3', "tru": whole.replace("[8, 8]", "tru"),
        "key_twice": whole.replace('"shape"', '"shape": [1, 1], "shape"'),
        "key_twice_escaped": whole.replace('"shape"', '"sh\\u0061pe": [1, 1], "shape"'),
        "key_twice_inside": whole.replace('"separator"', '"separator": ".", "separator"'),
        "integer_65_bits": whole.replace("[8, 8]", "[36893488147419103232, 8]"),
        "integer_400_digits": whole.replace("[8, 8]", "[%s, 8]" % ("9" * 400)),
        "integer_too_negative": whole.replace("[8, 8]", "[-9223372036854775809, 8]"),
        "integer_65_bits_attribute": whole.replace('"attributes": {}', '"attributes": {"x": 18446744073709551616}'),
    }
    words = {"key_twice": "twice", "key_twice_escaped": "twice", "key_twice_inside": "twice", "number": "object",
             "null": "object", "list": "object", "text": "object", "integer_65_bits": "64 bits",
             "integer_400_digits": "64 bits", "integer_too_negative": "64 bits",
             "integer_65_bits_attribute": "64 bits", "deep_lists": "nested", "deep_objects": "nested",
             "deep_closed": "nested", "deep_in_attributes": "nested", "key_with_nul": "NUL"}
    for name, text in texts.items():
        document("json_" + name, text, FORMAT, words.get(name, "JSON"))
    raw = {
        "byte_order_mark": b"\xef\xbb\xbf" + whole.encode(), "utf16": whole.encode("utf-16"),
        "utf8_overlong": whole.encode().replace(b"int32", b"int\xc0\xaf"), "utf8_lone": whole.encode().replace(
            b"int32", b"int\x80"), "utf8_surrogate": whole.encode().replace(b"int32", b"int\xed\xa0\x80"),
        "utf8_beyond": whole.encode().replace(b"int32", b"int\xf4\x90\x80\x80"), "utf8_cut": b'{"a": "\xe2\x82',
        "zeros": bytes(4096), "random": bytes(range(256)) * 16,
    }
    for name, data in raw.items():
        document("json_" + name, data, FORMAT, "JSON")
    json_floods()
    document("json_depth_64_is_lawful", array_document(attributes={"x": nest(60)}), "OK", "", "read", "accept")
    document("json_large_attributes_are_lawful", array_document(attributes={"x": list(range(50000))}), "OK", "",
             "read", "accept")
    document("json_bare_nan_is_lawful", json.dumps(array_document(attributes={"x": float("nan")})), "OK", "", "read",
             "accept")


def json_floods():
    """Documents within 16 MiB whose trees would not be."""
    start = '{"zarr_format": 3, "node_type": "array", "attributes": '
    for key in ("a/zarr.json", "zarr.json", "a/.zarray", "a/.zattrs"):
        def build(place, key=key):
            if key == "a/.zattrs":
                place.write("a/.zarray", v2_document())
            place.sparse(key, 10**9, b'{"zarr_format": 3, "node_type": ')
        add("json_1gb_" + key.replace("/", "_").replace(".", ""), build, FORMAT, "bytes")
    floods = {
        "spaces_17_mib": " " * (17 << 20), "zeros_8m": "[" + "0," * (8 << 20 >> 1) + "0]",
        "empty_lists_5m": "[" + "[]," * 5000000 + "0]", "empty_objects_5m": "[" + "{}," * 5000000 + "0]",
        "keys_1m": start + "{" + ",".join('"%x":0' % i for i in range(10**6)) + "}}",
        "keys_300k": start + "{" + ",".join('"%x":0' % i for i in range(3 * 10**5)) + "}}",
        "zeros_500k": start + "[" + "0," * 500000 + "0]}",
        "zeros_2m": start + "[" + "0," * 2000000 + "0]}",
        "objects_60k": start + "[" + "{}," * 60000 + "0]}",
        "objects_250k": start + "[" + "{}," * 250000 + "0]}",
        "one_string_15_mib": start + '"' + "x" * (15 << 20) + '"}',
    }
    for name, text in floods.items():
        document("json_flood_" + name, text, FORMAT, "")


# ---- Fields of zarr.json ---------------------------------------------------------------------------------

def field_cases():
    for name in ("zarr_format", "node_type", "shape", "data_type", "chunk_grid", "chunk_key_encoding", "codecs"):
        document("field_%s_missing" % name, array_document(**{name: ...}), FORMAT, name)
    document("field_fill_value_missing_is_lawful", array_document(fill_value=...), "OK", "", "read", "accept")
    for i, value in enumerate((2, 4, 3.5, "3", True, None, [3], -3)):
        document("zarr_format_%d" % i, array_document(zarr_format=value), [FORMAT, UNSUPPORTED], "zarr_format")
    for i, value in enumerate(("arrays", 3, None, ["array"], "array\0")):
        document("node_type_%d" % i, array_document(node_type=value), FORMAT, "node_type")
    for name, fields in {
            "unknown": {"extra": 5}, "unknown_object": {"extra": {"x": 1}}, "must": {"extra": {"must_understand": True}},
            "text": {"extra": {"must_understand": "false"}}}.items():
        document("must_understand_" + name, array_document(**fields), UNSUPPORTED, "extra")
    document("must_understand_false_is_lawful", array_document(extra={"must_understand": False}), "OK", "", "read",
             "accept")
    document("storage_transformers", array_document(storage_transformers=[{"name": "x"}]), UNSUPPORTED,
             "storage_transformers")
    for i, value in enumerate(([], "x", 5, True)):
        document("attributes_%d" % i, array_document(attributes=value), FORMAT, "attributes")
    for i, value in enumerate((["x"], ["x", 5], ["x", "y" * 256], ["x", "y\0"], "xy", ["x", "y", "z"], {"x": 0})):
        document("dimension_names_%d" % i, array_document(dimension_names=value), FORMAT, "dimension_names")
    for i, value in enumerate((5, [], "group")):
        add("group_consolidated_%d" % i, lambda place, value=value: place.write("zarr.json", {
            "zarr_format": 3, "node_type": "group", "consolidated_metadata": value}), FORMAT, "consolidated_metadata",
            "list")
    add("group_of_5000_consolidated_is_lawful", lambda place: place.write("zarr.json", {
        "zarr_format": 3, "node_type": "group", "consolidated_metadata": {
            "kind": "inline", "must_understand": False, "metadata": {
                "a%d" % i: sharded_document() for i in range(5000)}}}), "OK", "", "list", "accept")
    add("group_unknown_field", lambda place: place.write("zarr.json", {
        "zarr_format": 3, "node_type": "group", "shape": [1]}), UNSUPPORTED, "shape", "list")
    document("group_where_an_array_was_asked", {"zarr_format": 3, "node_type": "group"}, ARGUMENT, "group")
    add("store_of_a_draft", lambda place: place.write("zarr.json", {
        "zarr_format": "https://purl.org/zarr/spec/protocol/core/3.0", "metadata_encoding": "x"}), UNSUPPORTED,
        "zarr_format")


def shape_cases():
    shapes = {
        "negative": [-1, 8], "minus_2_63": [-2**63, 8], "float": [8.0, 8], "huge_float": [1e400, 8], "text": ["8", 8],
        "bool": [True, 8], "null": [None, 8], "list": [[8], 8], "object": {"0": 8}, "number": 8,
        "2_63": [2**63, 8], "2_64_less_1": [2**64 - 1, 8], "too_few": [8], "none": [], "ndim_33": [1] * 33,
        "ndim_1e5": [1] * 10**5, "ndim_4e5": [1] * (4 * 10**5),
    }
    for name, shape in shapes.items():
        text = json.dumps(array_document(shape=shape)).replace("Infinity", "1e400")
        document("shape_" + name, text, [FORMAT, UNSUPPORTED], "shape")
    sizes = {
        "product_2_80": ([2**40, 2**40], [4, 4]), "product_2_64": ([2**32, 2**32], [4, 4]),
        "product_2_63": ([2**32, 2**31], [2**20, 2**20]), "end_beyond": ([2**63 - 1, 1], [2**62, 1]),
        "chunks_2_62": ([2**62, 2], [1, 1]),
    }
    for name, (shape, chunks) in sizes.items():
        document("shape_" + name, array_document(shape=shape, chunk_grid=chunk_shape(*chunks)), FORMAT, "63 bits")
    document("shape_32_times_2_63", array_document(shape=[2**63 - 1] * 32, chunk_grid=chunk_shape(*[1] * 32)), FORMAT,
             "63 bits")
    document("shape_zero_hides_bytes", array_document(shape=[0, 2**62], chunk_grid=chunk_shape(1, 2**20)), FORMAT,
             "63 bits")
    document("shape_bytes_2_64", array_document(shape=[2**62, 1]), FORMAT, "63 bits")
    document("shape_2_60_is_lawful", array_document(shape=[2**60, 1]), "OK", "", "read", "accept")
    document("shape_32_dimensions_are_lawful", array_document(
        shape=[2] * 32, chunk_grid=chunk_shape(*[2] * 10 + [1] * 22)), "OK", "", "read", "accept")
    document("shape_scalar_is_lawful", array_document(shape=[], chunk_grid=chunk_shape()), "OK", "", "read", "accept")


def grid_cases():
    for name, shape in {
            "zero": [0, 4], "negative": [-1, 4], "2_63": [2**63, 4], "2_64_less_1": [2**64 - 1, 4], "float": [4.0, 4],
            "half": [4.5, 4], "text": ["4", 4], "null": [None, 4], "bool": [True, 4], "nested": [[4], 4],
            "one": [4], "three": [4, 4, 4], "none": [], "ndim_33": [4] * 33, "ndim_1e5": [4] * 10**5}.items():
        document("chunk_shape_" + name, array_document(chunk_grid=chunk_shape(*shape)), [FORMAT, UNSUPPORTED],
                 "chunk_shape")
    for name, shape in {"2_80": [2**40, 2**40], "2_63": [2**32, 2**31]}.items():
        document("chunk_shape_product_" + name, array_document(chunk_grid=chunk_shape(*shape)), FORMAT, "63 bits")
    document("chunk_shape_product_2_62", array_document(chunk_grid=chunk_shape(2**31, 2**31)), FORMAT, "chunk")
    for name, shape in {"2_30": [2**30, 1], "2_40": [2**40, 1], "2_56": [2**28, 2**28]}.items():
        chunk("chunk_shape_memory_" + name, array_document(chunk_grid=chunk_shape(*shape)), CHUNK, CORRUPT,
              "has 64 bytes instead of")
    for name, grid in {
            "unknown": {"name": "rectilinear", "configuration": {}}, "no_name": {"configuration": {}}, "text": "irregular",
            "number": 5, "null": None, "name_number": {"name": 5}, "name_nul": {"name": "regular\0"},
            "name_empty": {"name": ""}, "name_300": {"name": "r" * 300}, "name_1e6": {"name": "r" * 10**6},
            "no_configuration": {"name": "regular"}, "configuration_text": {"name": "regular", "configuration": "x"},
            "member": {"name": "regular", "configuration": {"chunk_shape": [4, 4], "x": 1}},
            "must_understand_text": {"name": "regular", "configuration": {"chunk_shape": [4, 4]},
                                     "must_understand": "no"}}.items():
        document("chunk_grid_" + name, array_document(chunk_grid=grid), [FORMAT, UNSUPPORTED], "chunk_grid")
    for name, keys in {
            "unknown": {"name": "../x"}, "number": 5, "separator_word": codec("default", separator="x"),
            "separator_empty": codec("default", separator=""), "separator_dots": codec("v2", separator=".."),
            "separator_up": codec("default", separator="/../"), "separator_backslash": codec("default", separator="\\"),
            "separator_nul": codec("default", separator="/\0"), "separator_number": codec("default", separator=47),
            "separator_null": codec("default", separator=None),
            "member": codec("default", separator="/", prefix="../../")}.items():
        document("chunk_key_encoding_" + name, array_document(chunk_key_encoding=keys), [FORMAT, UNSUPPORTED],
                 "chunk_key_encoding")


def type_cases():
    for name, data_type in {
            "int128": "int128", "empty": "", "number": 5, "null": None, "list": ["int32"], "name_number": {"name": 5},
            "r7": "r7", "r0": "r0", "r_huge": "r99999999999999999999", "r_9_mib": "r75497472", "nul": "int32\0",
            "path": "../../etc/passwd", "length_zero": codec("raw_bytes", length_bytes=0),
            "length_negative": codec("raw_bytes", length_bytes=-1), "length_2_40": codec("raw_bytes", length_bytes=2**40),
            "length_float": codec("raw_bytes", length_bytes=1.5),
            "utf32_3": codec("fixed_length_utf32", length_bytes=3),
            "configured": codec("int32", x=1), "struct_empty": codec("struct", fields=[]),
            "struct_twice": codec("struct", fields=[["x", "int8"], ["x", "int8"]]),
            "struct_string": codec("struct", fields=[["x", "string"]]),
            "struct_nameless": codec("struct", fields=[["", "int8"]]),
            "struct_wide": codec("struct", fields=[["x%d" % i, "r8388608"] for i in range(3)]),
            "struct_text": codec("struct", fields="x"),
    }.items():
        document("data_type_" + name, array_document(data_type=data_type), [FORMAT, UNSUPPORTED], "data_type")
    document("data_type_length_missing", array_document(data_type=codec("raw_bytes")), FORMAT, "length_bytes")
    document("data_type_unit", array_document(data_type=codec("numpy.datetime64", unit="parsec")), UNSUPPORTED, "unit")
    document("data_type_scale", array_document(data_type=codec("numpy.datetime64", unit="s", scale_factor=0)), FORMAT,
             "scale_factor")
    wide = {"name": "struct", "configuration": {"fields": [["f%d" % i, "int8"] for i in range(30000)]}}
    deep = wide
    for _ in range(12):
        deep = codec("struct", fields=[["f", deep]])
    document("data_type_struct_deep_and_wide", array_document(data_type=deep, fill_value=5), FORMAT, "fill_value")
    document("data_type_string_is_listed_only", array_document(data_type="string", fill_value="", codecs=[
        {"name": "vlen-utf8"}]), UNSUPPORTED, "string", "read")


def fill_cases():
    values = {
        "uint8": [256, -1, 1.5, "x", True, [1], {}, 1e400], "int8": [128, -129], "bool": [1, "true", 0.0],
        "int64": [2**63, 1e30], "uint64": [-1, 1.5], "float32": ["nan", "0xzz", "0x", "0x123456789", [1], True, {}],
        "float64": ["0x-1", "infinity", "", "NaN\0"], "complex64": [1, [1], [1, 2, 3], ["x", "y"], [[1], 2]],
        "r16": [[256, 0], [1], [-1, 0], 5, [1.5, 1]],
    }
    for name, list_ in values.items():
        for i, value in enumerate(list_):
            text = json.dumps(array_document(data_type=name, fill_value=value)).replace("Infinity", "1e400")
            document("fill_value_%s_%d" % (name, i), text, [FORMAT, UNSUPPORTED], "fill_value")
    document("fill_value_short_bits_are_lawful", array_document(data_type="float32", fill_value="0x1"), "OK", "", "read",
             "accept")
    document("fill_value_raw_base64", array_document(data_type=codec("raw_bytes", length_bytes=4), fill_value="!!!!"),
             FORMAT, "fill_value")
    document("fill_value_raw_short", array_document(data_type=codec("raw_bytes", length_bytes=4), fill_value="AAA="),
             FORMAT, "fill_value")
    document("fill_value_struct_field_missing", array_document(
        data_type=codec("struct", fields=[["x", "int8"]]), fill_value={}), FORMAT, "fill_value")


# ---- Codecs ----------------------------------------------------------------------------------------------

def codec_cases():
    lists = {
        "object": {}, "text": "bytes", "null": None, "17": [LITTLE] + [CRC32C] * 16, "1e5": [LITTLE] + ["crc32c"] * 10**5,
        "unknown": [LITTLE, {"name": "rot13"}], "path": [LITTLE, {"name": "../../../lib/evil.so"}],
        "number": [5], "name_number": [{"name": 5}], "nameless": [{}], "bytes_twice": [LITTLE, LITTLE],
        "gzip_first": [codec("gzip", level=1), LITTLE], "transpose_last": [LITTLE, codec("transpose", order=[1, 0])],
        "transpose_only": [codec("transpose", order=[1, 0])], "crc32c_only": [CRC32C],
        "sharding_after_bytes": [LITTLE, sharding()], "endian": [codec("bytes", endian="middle")],
        "endian_missing": ["bytes"], "bytes_member": [codec("bytes", endian="little", x=1)],
        "configuration_list": [{"name": "bytes", "configuration": []}], "gzip_level_10": [LITTLE, codec("gzip", level=10)],
        "gzip_level_minus": [LITTLE, codec("gzip", level=-1)], "gzip_level_text": [LITTLE, codec("gzip", level="5")],
        "zstd_level_23": [LITTLE, codec("zstd", level=23)], "zstd_level_2_40": [LITTLE, codec("zstd", level=2**40)],
        "zstd_level_float": [LITTLE, codec("zstd", level=1.5)],
        "zstd_checksum": [LITTLE, codec("zstd", level=1, checksum="yes")],
        "zstd_dictionary": [LITTLE, codec("zstd", level=1, dictionary="/etc/passwd")],
        "crc32c_member": [LITTLE, codec("crc32c", x=1)],
        "transpose_twice": [codec("transpose", order=[0, 0]), LITTLE], "transpose_one": [
            codec("transpose", order=[0]), LITTLE], "transpose_far": [codec("transpose", order=[5, 6]), LITTLE],
        "transpose_negative": [codec("transpose", order=[-1, 0]), LITTLE],
        "transpose_letter": [codec("transpose", order="X"), LITTLE],
        "transpose_33": [codec("transpose", order=list(range(33))), LITTLE],
    }
    blosc = {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 4, "blocksize": 0}
    for field, value in (("cname", "../../x"), ("cname", 5), ("cname", "lz4\0"), ("clevel", 10), ("clevel", -1),
                         ("shuffle", "x"), ("shuffle", 1), ("typesize", 0), ("typesize", 2**31),
                         ("blocksize", -1), ("blocksize", 2**40), ("extra", 1)):
        lists["blosc_%s_%s" % (field, str(value).strip("./\0") or "x")] = [
            LITTLE, codec("blosc", **{**blosc, field: value})]
    for name, list_ in lists.items():
        document("codecs_" + name, array_document(codecs=list_), [FORMAT, UNSUPPORTED], "codec" if list_ else "codecs")
    document("codecs_blosc_typesize_256", array_document(codecs=[LITTLE, codec("blosc", **{**blosc, "typesize": 256})]),
             FORMAT, "typesize")
    document("codecs_1e5_objects", array_document(codecs=[LITTLE] + [CRC32C] * 10**5), FORMAT, "MiB")
    document("codecs_none_is_lawful", array_document(codecs=[]), "OK", "", "read", "accept")
    document("codecs_ignorable_is_lawful", array_document(codecs=[LITTLE, {"name": "x", "must_understand": False}]),
             "OK", "", "read", "accept")
    sharding_cases()


def sharding_cases():
    deep = [LITTLE]
    for i in range(4):
        deep = [sharding((1 << i, 1 << i), deep)]
    lists = {
        "not_dividing": [sharding((3, 3))], "zero": [sharding((0, 2))], "negative": [sharding((-2, 2))],
        "larger": [sharding((8, 8))], "one_dimension": [sharding((2,))], "2_63": [sharding((2**63, 2))],
        "text": [sharding(("2", 2))], "deep_4": deep, "configuration_missing": ["sharding_indexed"],
        "codecs_missing": [codec("sharding_indexed", chunk_shape=[2, 2], index_codecs=[LITTLE])],
        "index_codecs_missing": [codec("sharding_indexed", chunk_shape=[2, 2], codecs=[LITTLE])],
        "index_codecs_empty": [sharding(index_codecs=[])], "index_codecs_gzip": [
            sharding(index_codecs=[LITTLE, codec("gzip", level=1)])], "index_codecs_crc_first": [
            sharding(index_codecs=[CRC32C, LITTLE])], "index_codecs_three": [
            sharding(index_codecs=[LITTLE, CRC32C, CRC32C])], "index_codecs_sharding": [
            sharding(index_codecs=[sharding()])], "index_codecs_transpose": [
            sharding(index_codecs=[codec("transpose", order=[0]), LITTLE])], "location": [
            sharding(index_location="middle")], "location_number": [sharding(index_location=0)],
        "member": [sharding(url="http://127.0.0.1/")], "inner_unknown": [sharding(codecs=[{"name": "x"}])],
    }
    for name, list_ in lists.items():
        document("sharding_" + name, array_document(codecs=list_), [FORMAT, UNSUPPORTED], "codec")
    for name, shape in {"2_40": [2**20, 2**20], "2_31": [2**16, 2**15], "2_60": [2**30, 2**30]}.items():
        document("sharding_chunks_" + name, array_document(
            shape=shape, chunk_grid=chunk_shape(*shape), codecs=[sharding((1, 1))]), [UNSUPPORTED, FORMAT], "chunk")
    def many(place):
        place.write("a/zarr.json", array_document(shape=[2**29, 1], chunk_grid=chunk_shape(2**29, 1),
                                                  codecs=[sharding((1, 1))]))
        place.sparse("a/c/0/0", 2**29 * 16 + 4)
    add("sharding_index_of_8_gib", many, MEMORY, "memory_bytes", "read")


# ---- Stored chunks ---------------------------------------------------------------------------------------

def frame_cases():
    zstd = array_document(codecs=[LITTLE, codec("zstd", level=1)])
    gzip = array_document(codecs=[LITTLE, codec("gzip", level=1)])
    blosc = array_document(codecs=[LITTLE, codec("blosc", cname="lz4", clevel=5, shuffle="shuffle", typesize=4,
                                                 blocksize=0)])
    rle = (1, 1 << 17, b"\0")
    for name, data in {
            "bomb_1_kib": zstd_frame([rle] * 250), 
            "bomb_frames": zstd_frame([rle] * 4) * 1000, "size_lies_2_62": zstd_raw(CHUNK, content_bytes=2**62),
            "size_lies_small": zstd_raw(CHUNK, content_bytes=8), "size_lies_large": zstd_raw(CHUNK, content_bytes=128),
            "short": zstd_raw(CHUNK[:-1]), "long": zstd_raw(CHUNK + b"\0"), "window_2_41": zstd_frame(
                [rle] * 250, window=0xFF), "empty_frames": zstd_raw(b"") * 5000, "empty": b"",
            "magic_only": zstd_raw(CHUNK)[:4], "cut": zstd_raw(CHUNK)[:-3], "legacy_0_7": b"\x27\xb5\x2f\xfd" + bytes(64),
            "legacy_0_1": b"\x1e\xb5\x2f\xfd" + bytes(64), "reserved_block": zstd_frame([(3, 64, CHUNK)]),
            "block_too_large": zstd_frame([(1, (1 << 21) - 1, b"\0")]), "dictionary": struct.pack(
                "<I", 0xFD2FB528) + bytes([0x23, 9, 0, 0, 0, 64]) + zstd_block(0, 64, CHUNK, 1),
            "skippable_only": struct.pack("<II", 0x184D2A50, 8) + bytes(8),
            "skippable_lies": struct.pack("<II", 0x184D2A50, 2**32 - 1) + bytes(8),
            "compressed_garbage": zstd_frame([(2, 64, bytes(range(64)))]), "trailing": zstd_raw(CHUNK) + b"\0"}.items():
        chunk("zstd_" + name, zstd, data, CORRUPT, "zstd")
    chunk("zstd_bomb_3_gib_in_100_kib", zstd, zstd_frame([rle] * 25000), CORRUPT, "takes 100006 bytes")
    chunk("zstd_size_unknown_is_lawful", zstd, zstd_raw(CHUNK, content_bytes=2**64 - 1), "OK", "", "accept")
    chunk("zstd_frames_are_lawful", zstd, zstd_raw(CHUNK[:20]) + zstd_raw(CHUNK[20:], content_bytes=44), "OK", "",
          "accept")
    inner = gzip_zeros(64 << 20)
    head = gzip_of(CHUNK)[:10]
    for name, data in {
            "bomb_64_mib": inner, "short": gzip_of(CHUNK[:-1]), "long": gzip_of(CHUNK + b"\0"), "empty": b"",
            "head_only": head, "cut": gzip_of(CHUNK)[:-9], "trailing": gzip_of(CHUNK) + b"x", "members_many":
            gzip_of(b"") * 3000, "members_long": gzip_of(CHUNK) * 2, "not_gzip": zlib.compress(CHUNK),
            "wrong_crc": gzip_of(CHUNK)[:-8] + b"\0\0\0\0" + gzip_of(CHUNK)[-4:], "wrong_length":
            gzip_of(CHUNK)[:-4] + b"\xff\xff\xff\xff", "extra_lies": head[:3] + b"\x04" + head[4:] + b"\xff\xff" + CHUNK,
            "name_endless": head[:3] + b"\x08" + head[4:] + b"x" * 60000, "method": b"\x1f\x8b\x07" + bytes(64),
            "flags_reserved": head[:3] + b"\xe0" + head[4:] + gzip_of(CHUNK)[10:]}.items():
        chunk("gzip_" + name, gzip, data, CORRUPT, "gzip")
    twice = array_document(codecs=[LITTLE, codec("gzip", level=1), codec("gzip", level=1)])
    chunk("gzip_bomb_in_bomb", twice, gzip_of(inner), CORRUPT, "gzip")
    chunk("gzip_members_are_lawful", gzip, gzip_of(CHUNK[:7]) + gzip_of(b"") + gzip_of(CHUNK[7:]), "OK", "", "accept")
    blosc_chunks(blosc)


def blosc_chunks(blosc):
    lz4 = {"flags": 1 << 5, "nbytes": 64, "blocksize": 64}
    for name, data in {
            "nbytes_2_32": blosc_frame(CHUNK, nbytes=2**32 - 1), "nbytes_2_31": blosc_frame(CHUNK, nbytes=2**31 - 1),
            "nbytes_zero": blosc_frame(CHUNK, nbytes=0), "nbytes_less": blosc_frame(CHUNK, nbytes=32),
            "nbytes_more": blosc_frame(CHUNK, nbytes=128), "cbytes_more": blosc_frame(CHUNK, cbytes=2**31),
            "cbytes_less": blosc_frame(CHUNK, cbytes=8), "cbytes_zero": blosc_frame(CHUNK, cbytes=0),
            "blocksize_zero": blosc_frame(CHUNK, blocksize=0), "blocksize_2_32": blosc_frame(CHUNK, blocksize=2**32 - 1),
            "blocksize_more": blosc_frame(CHUNK, blocksize=65, flags=0), "typesize_zero": blosc_frame(CHUNK, typesize=0),
            "version_99": blosc_frame(CHUNK, version=99), "version_zero": blosc_frame(CHUNK, version=0),
            "format_99": blosc_frame(CHUNK, versionlz=99, flags=1 << 5), "codec_7": blosc_frame(CHUNK, flags=7 << 5),
            "start_far": blosc_frame(struct.pack("<i", 2**31 - 1) + CHUNK, **lz4),
            "start_negative": blosc_frame(struct.pack("<i", -1) + CHUNK, **lz4),
            "start_in_head": blosc_frame(struct.pack("<i", 0) + CHUNK, **lz4),
            "block_length": blosc_frame(struct.pack("<ii", 20, 2**31 - 1) + CHUNK, **lz4),
            "block_negative": blosc_frame(struct.pack("<ii", 20, -5) + CHUNK, **lz4),
            "block_garbage": blosc_frame(struct.pack("<ii", 20, 60) + b"\xff" * 60, **lz4),
            "blosclz_garbage": blosc_frame(struct.pack("<ii", 20, 60) + b"\xff" * 60, **{**lz4, "flags": 0}),
            "zlib_garbage": blosc_frame(struct.pack("<ii", 20, 60) + b"\xff" * 60, **{**lz4, "flags": 3 << 5}),
            "zstd_garbage": blosc_frame(struct.pack("<ii", 20, 60) + b"\xff" * 60, **{**lz4, "flags": 4 << 5}),
            "zstd_bomb": blosc_frame(struct.pack("<ii", 20, 1012) + zstd_frame([(1, 1 << 17, b"\0")] * 250)[:1012],
                                     **{**lz4, "flags": 4 << 5}),
            "many_blocks": blosc_frame(CHUNK, blocksize=1, flags=1 << 5), "header_only": blosc_frame(CHUNK)[:16],
            "header_half": blosc_frame(CHUNK)[:8], "empty": b"", "trailing": blosc_frame(CHUNK) + b"x"}.items():
        chunk("blosc_" + name, blosc, data, CORRUPT, "blosc")
    chunk("blosc_stored_is_lawful", blosc, blosc_frame(CHUNK), "OK", "", "accept")


def chunk_cases():
    plain, checked = array_document(), array_document(codecs=[LITTLE, CRC32C])
    for name, data in {"empty": b"", "short": CHUNK[:-1], "long": CHUNK + b"\0", "1_mib": bytes(1 << 20)}.items():
        chunk("chunk_" + name, plain, data, CORRUPT, "bytes")
    for name, data in {"wrong": CHUNK + b"\0\0\0\0", "cut": with_crc(CHUNK)[:-1], "3_bytes": b"\0\0\0", "empty": b"",
                       "flipped": b"\x01" + with_crc(CHUNK)[1:], "doubled": with_crc(with_crc(CHUNK))}.items():
        chunk("crc32c_" + name, checked, data, CORRUPT, "crc32c")
    for name, codecs in {"plain": [LITTLE], "gzip": [LITTLE, codec("gzip", level=1)],
                         "zstd": [LITTLE, codec("zstd", level=1)]}.items():
        def build(place, codecs=codecs):
            place.write("a/zarr.json", array_document(codecs=codecs))
            place.sparse("a/c/0/0", 2**40)
        add("chunk_1_tib_" + name, build, CORRUPT, "bytes", "read")
    chunk("chunk_absent_is_lawful", plain, CHUNK, "OK", "", "accept")


def index_cases():
    entries = [(16 * i, 16) for i in range(4)]
    def with_entry(*entry):
        return b"".join(SMALL) + index_of([entry] + entries[1:])
    for name, entry in {
            "wrap": (2**64 - 16, 32), "wrap_to_zero": (2**64 - 16, 16), "offset_2_63": (2**63, 16),
            "bytes_2_63": (0, 2**63), "bytes_2_32": (0, 2**32), "offset_end": (64, 16), "into_index": (60, 16),
            "index_itself": (64, 68), "half_absent_bytes": (0, ABSENT), "half_absent_offset": (ABSENT, 16),
            "absent_and_zero": (ABSENT, 0), "no_bytes": (0, 0), "offset_beyond": (10**12, 16),
            "less_than_absent": (ABSENT - 1, ABSENT - 1)}.items():
        chunk("index_" + name, sharded_document(), with_entry(*entry), CORRUPT, "index")
    chunk("index_chunk_short", sharded_document(), with_entry(0, 15), CORRUPT, "c/0/0")
    chunk("index_chunk_long", sharded_document(), b"".join(SMALL) + bytes(1) + index_of([(0, 17)] + [
        (17 + 16 * i, 16) for i in range(3)]), CORRUPT, "c/0/0")
    chunk("index_overlap", sharded_document(), with_entry(8, 16), CORRUPT, "overlap")
    chunk("index_overlap_same", sharded_document(), b"".join(SMALL) + index_of([(0, 16)] * 4), CORRUPT, "overlap")
    chunk("index_overlap_one", sharded_document(), SMALL[0] + index_of([(0, 16)] * 4), CORRUPT, "overlap")
    big = sharded_document(shape=[64, 64], chunk_grid=chunk_shape(64, 64), codecs=[sharding((1, 1), [
        LITTLE, codec("zstd", level=1)])])
    frame = zstd_raw(b"\1\0\0\0")
    chunk("index_overlap_4096", big, frame + index_of([(0, len(frame))] * 4096), CORRUPT, "overlap")
    for name, length in {"empty": 0, "1": 1, "index_less_1": 67, "entries_only": 64, "crc_cut": len(SHARD) - 1}.items():
        chunk("index_cut_" + name, sharded_document(), SHARD[:length], CORRUPT, "index")
    chunk("index_only_tail", sharded_document(), SHARD[64:], CORRUPT, "index")
    chunk("index_crc_wrong", sharded_document(), SHARD[:-4] + b"\0\0\0\0", CORRUPT, "index")
    chunk("index_crc_of_other_bytes", sharded_document(), SHARD[:70] + b"\1" + SHARD[71:], CORRUPT, "index")
    chunk("index_big_endian", sharded_document(), b"".join(SMALL) + index_of(entries, ">"), CORRUPT, "index")
    chunk("index_appended", sharded_document(), SHARD + b"\0", CORRUPT, "index")
    start = sharded_document(codecs=[sharding(index_location="start")])
    chunk("index_at_start_overlaps_chunk", start, index_of(entries) + b"".join(SMALL), CORRUPT, "index")
    chunk("index_at_start_missing", start, SHARD, CORRUPT, "index")
    loose = sharded_document(codecs=[sharding(index_codecs=[LITTLE])])
    chunk("index_without_crc_of_zeros", loose, bytes(128), CORRUPT, "index")
    chunk("index_without_crc_of_ones", loose, bytes(64) + b"\xfe" * 64, CORRUPT, "index")
    def huge(place):
        place.write("a/zarr.json", sharded_document())
        place.sparse("a/c/0/0", 2**40)
    add("index_of_1_tib_of_zeros", huge, CORRUPT, "index", "read")
    index_nested()
    chunk("index_only_is_lawful", sharded_document(), index_of([(ABSENT, ABSENT)] * 4), "OK", "", "accept")
    chunk("index_reversed_with_gaps_is_lawful", sharded_document(), b"".join(b"gap" + part for part in SMALL) + index_of(
        [(3 + 19 * (3 - i), 16) for i in range(4)]), "OK", "", "accept")


def index_nested():
    nested = array_document(codecs=[sharding((4, 4), [sharding((2, 2))])])
    def outer(inner):
        return inner + index_of([(0, len(inner))])
    entries = [(16 * i, 16) for i in range(4)]
    for name, inner in {
            "wrap": b"".join(SMALL) + index_of([(2**64 - 16, 32)] + entries[1:]),
            "into_index": b"".join(SMALL) + index_of([(60, 16)] + entries[1:]), "cut": SHARD[:60],
            "crc": SHARD[:-1] + b"\0", "half_absent": b"".join(SMALL) + index_of([(0, ABSENT)] + entries[1:]),
            "overlap": SMALL[0] + index_of([(0, 16)] * 4),
            "bytes_2_63": b"".join(SMALL) + index_of([(8, 2**63)] + entries[1:])}.items():
        chunk("index_nested_" + name, nested, outer(inner), CORRUPT, "index")
    chunk("index_nested_is_lawful", nested, outer(SHARD), "OK", "", "accept")
    wrapped = array_document(codecs=[sharding((2, 2)), codec("gzip", level=1)])
    chunk("index_in_gzip_wrap", wrapped, gzip_of(b"".join(SMALL) + index_of([(2**64 - 16, 32)] + entries[1:])),
          CORRUPT, "index")
    chunk("index_in_gzip_bomb", wrapped, gzip_zeros(32 << 20), CORRUPT, "gzip")


# ---- Zarr v2 ---------------------------------------------------------------------------------------------

def v2_cases():
    for name in ("zarr_format", "shape", "chunks", "dtype"):
        v2(name + "_missing", {name: ...}, FORMAT, name)
    for i, value in enumerate((3, "2", None, 2.5)):
        v2("zarr_format_%d" % i, {"zarr_format": value}, FORMAT, "zarr_format")
    for i, value in enumerate(("", "<i", "<i3", "<i99999999999999", ">x4", "<<i4", "<M4", "|b2", 5, None, {}, "<i4\0", [],
                               [["x"]], [["x", ">i4"]], [["x", "|O"]], "<f3", "<c32")):
        v2("dtype_%02d" % i, {"dtype": value}, [FORMAT, UNSUPPORTED], "dtype")
    for i, value in enumerate(("|V0", "|S99999999", "<U999999999", [["x", "<i4"], ["x", "<i4"]])):
        v2("dtype_size_%d" % i, {"dtype": value}, [FORMAT, UNSUPPORTED], "d")
    v2("dtype_unit", {"dtype": "<M8[parsec]"}, UNSUPPORTED, "unit")
    v2("dtype_without_order_is_lawful", {"dtype": "i4"}, "OK", "", "read", "accept", content=CHUNK)
    for i, value in enumerate(([0, 4], [-1, 4], [4], [4.0, 4], ["4", 4], None, 4, [2**63, 4], [4] * 33)):
        v2("chunks_%d" % i, {"chunks": value}, [FORMAT, UNSUPPORTED], "chunks")
    for i, value in enumerate(([-8, 8], [2**64 - 1, 8], 8, ["8", 8])):
        v2("shape_%d" % i, {"shape": value}, FORMAT, "shape")
    v2("shape_product", {"shape": [2**40, 2**40]}, FORMAT, "63 bits")
    for i, value in enumerate(("X", 5, "CF", ["C"])):
        v2("order_%d" % i, {"order": value}, FORMAT, "order")
    for i, value in enumerate(("x", "..", "", 5, "//")):
        v2("dimension_separator_%d" % i, {"dimension_separator": value}, FORMAT, "dimension_separator")
    for i, value in enumerate(({"id": "rot13"}, {"id": "../../x.so"}, {}, "gzip", 5, {"id": 5}, {"id": "squeeze"})):
        v2("compressor_%d" % i, {"compressor": value}, [FORMAT, UNSUPPORTED], "compressor")
    for i, value in enumerate(([{"id": "pickle"}], [{"id": "json2"}], {}, "x", [5], [{}], [{"id": "vlen-utf8"}])):
        v2("filters_%d" % i, {"filters": value}, [FORMAT, UNSUPPORTED], "filters")
    v2("filters_17", {"filters": [{"id": "shuffle", "elementsize": 4}] * 17}, UNSUPPORTED, "codecs")
    v2("filters_1e5", {"filters": [{"id": "shuffle", "elementsize": 4}] * 10**5}, FORMAT, "MiB")
    for i, value in enumerate((0, -1, 2**40, "4")):
        v2("shuffle_%d" % i, {"filters": [{"id": "shuffle", "elementsize": value}]}, FORMAT, "elementsize")
    v2("delta_dtype", {"filters": [{"id": "delta", "dtype": "|O"}]}, UNSUPPORTED, "delta")
    for i, value in enumerate((2**31, -2**31 - 1, 1.5, [1])):
        v2("fill_value_%d" % i, {"fill_value": value}, FORMAT, "fill_value")
    v2("object_dtype", {"dtype": "|O", "fill_value": None, "filters": [{"id": "vlen-utf8"}]}, UNSUPPORTED, "object",
       action="read")
    v2("json", "[" * 10**6, FORMAT, "nested")
    v2("not_an_object", "[]", FORMAT, ".zarray")
    lies = {
        "zlib_bomb": ({"id": "zlib", "level": 1}, zlib.compress(bytes(1 << 22), 9), "zlib"),
        "zlib_garbage": ({"id": "zlib", "level": 1}, CHUNK, "zlib"), "zlib_trailing": (
            {"id": "zlib", "level": 1}, zlib.compress(CHUNK) + b"x", "zlib"), "lz4_length_2_32": (
            {"id": "lz4"}, b"\xff\xff\xff\xff" + CHUNK, "lz4"), "lz4_length": (
            {"id": "lz4"}, struct.pack("<I", 65) + CHUNK, "lz4"), "lz4_garbage": (
            {"id": "lz4"}, struct.pack("<I", 64) + b"\xff" * 300, "lz4"), "lz4_short": ({"id": "lz4"}, b"\0", "lz4"),
        "zstd_bomb": ({"id": "zstd", "level": 1}, zstd_frame([(1, 1 << 17, b"\0")] * 250), "zstd"),
        "blosc_nbytes": ({"id": "blosc", "cname": "lz4"}, blosc_frame(CHUNK, nbytes=2**32 - 1), "blosc"),
        "gzip_bomb": ({"id": "gzip", "level": 1}, gzip_zeros(8 << 20), "gzip"),
    }
    for name, (compressor, content, word) in lies.items():
        v2("lie_" + name, {"compressor": compressor}, CORRUPT, word, content=content)
    for name, width in {"crc32": 4, "adler32": 4, "fletcher32": 4}.items():
        v2("lie_" + name, {"filters": [{"id": name}]}, CORRUPT, name, content=CHUNK + bytes([9]) * width)
        v2("short_" + name, {"filters": [{"id": name}]}, CORRUPT, name, content=b"\0\0")
    def both(place):
        place.write("a/.zarray", v2_document())
        place.write("a/.zattrs", "[1, 2]")
    add("v2_zattrs_list", both, FORMAT, ".zattrs")
    v2("plain_is_lawful", {}, "OK", "", "read", "accept", content=CHUNK)


# ---- Seals -----------------------------------------------------------------------------------------------

def page_of(records, first=0, count=None):
    body = b"PARAPETM" + struct.pack("<IIQ", 2, len(records) if count is None else count, first)
    body += b"".join(struct.pack("<QII", *record[:3]) for record in records)
    return with_crc(body + b"".join(struct.pack("<I", checksum) for record in records for checksum in record[3]))


def head_of(pages, documents, parts):
    digests = b"".join(hashlib.sha256(page).digest() for page in pages)
    page_count = len(pages) if parts["page_count"] is None else parts["page_count"]
    head = b"PARAPETH" + struct.pack("<IIQQ", parts["version"], page_count, parts["shards"], parts["chunks"])
    return with_crc(head + b"".join(documents) + digests + parts["inline"])


def record_of(data):
    """What a seal says of an object that is one chunk."""
    return (len(data), 0, 1, [crc32c(data)])


def write_sealed(place, change=None, **changes):
    """A sealed array of four chunks, with any piece of it replaced: pages, head, document, objects."""
    parts = {"pages": [page_of([record_of(CHUNK)] * 4)], "shards": 4, "page_count": None, "version": 2,
             "chunks": 1, "inline": b"", "objects": [CHUNK] * 4, "shape": [8, 8]}
    parts.update(changes)
    pages = parts["pages"]
    digest = hashlib.sha256(b"".join(hashlib.sha256(page).digest() for page in pages)).hexdigest()
    text = json.dumps(array_document(shape=parts["shape"], attributes={"_parapet": {"sealed": {
        "shards": 4, "manifest_sha256": digest}}}))
    document_digest = hashlib.sha256(text.encode()).digest()
    place.write("a/zarr.json", text)
    place.write("a/__parapet/seal", head_of(pages, [document_digest] * 2, parts))
    for i, page in enumerate(pages):
        place.write("a/__parapet/manifest/%d" % i, page)
    for i, data in enumerate(parts["objects"]):
        if data is not None:
            place.write("a/c/%d/%d" % (i // 2, i % 2), data)
    if change is not None:
        change(place)


def sealed(name, statuses, word, change=None, action="read", expectation="refuse", **changes):
    add("seal_" + name, lambda place: write_sealed(place, change, **changes), statuses, word, action, expectation)


def remove(key):
    return lambda place: os.unlink(place.path(key))


def seal_cases():
    seal, page = "a/__parapet/seal", "a/__parapet/manifest/0"
    sealed("is_lawful", "OK", "", expectation="accept")
    sealed("head_missing", MISSING, "seal", remove(seal))
    sealed("page_missing", MISSING, "manifest", remove(page))
    sealed("shard_missing", MISSING, "c/0/0", objects=[None] + [CHUNK] * 3)
    sealed("shard_changed", CORRUPT, "sealed", objects=[CHUNK[::-1]] + [CHUNK] * 3)
    sealed("shard_longer", CORRUPT, "sealed", objects=[CHUNK + b"\0"] + [CHUNK] * 3)
    sealed("head_empty", CORRUPT, "seal", lambda place: place.write(seal, b""))
    sealed("head_of_zeros", CORRUPT, "seal", lambda place: place.write(seal, bytes(132)))
    sealed("head_1_gb", FORMAT, "bytes", lambda place: place.sparse(seal, 10**9, b"PARAPETH"))
    sealed("head_1_tib", FORMAT, "bytes", lambda place: place.sparse(seal, 2**40, b"PARAPETH"), shape=[2**60, 1])
    sealed("page_1_gb", FORMAT, "bytes", lambda place: place.sparse(page, 10**9, b"PARAPETM"))
    sealed("page_empty", CORRUPT, "manifest", lambda place: place.write(page, b""))
    sealed("page_other", CORRUPT, "manifest", lambda place: place.write(page, page_of([record_of(CHUNK[::-1])] * 4)))
    for name, value in {"zero": 0, "two": 2, "2_32": 2**32 - 1}.items():
        sealed("page_count_" + name, CORRUPT, "pages", page_count=value)
    for name, value in {"zero": 0, "3": 3, "4097": 4097, "2_40": 2**40, "2_43": 2**43, "2_63": 2**63,
                        "2_64": 2**64 - 1}.items():
        sealed("shard_count_" + name, [CORRUPT, UNSUPPORTED], "seal", shards=value)
    for version in (0, 1, 3):
        sealed("version_%d" % version, UNSUPPORTED, "version", version=version)
    for name, value in {"zero": 0, "2": 2, "2_20": 2**20, "2_40": 2**40, "2_64": 2**64 - 1}.items():
        sealed("chunk_count_" + name, [CORRUPT, UNSUPPORTED], "seal", chunks=value)
    whole = page_of([record_of(CHUNK)] * 4)
    sealed("inline_is_lawful", "OK", "", remove(page), expectation="accept", inline=whole)
    sealed("inline_cut", CORRUPT, "seal", inline=whole[:-1])
    sealed("inline_other", CORRUPT, "seal", inline=page_of([record_of(CHUNK[::-1])] * 4))
    sealed("inline_5000", CORRUPT, "bytes", inline=bytes(5000))
    sealed("inline_of_two", CORRUPT, "pages", inline=whole, pages=[whole] * 2)
    for name, lie in {"none": (len(CHUNK), 0, 0, []), "two": (len(CHUNK), 0, 2, [1, 2]), "2_32": (
            len(CHUNK), 0, 2**32 - 1, []), "absent": (2**64 - 1, 0, 1, [1])}.items():
        sealed("chunks_" + name, [CORRUPT, FORMAT], "a/", pages=[page_of([lie] + [record_of(CHUNK)] * 3)])
    sealed("records_3", CORRUPT, "manifest", pages=[page_of([record_of(CHUNK)] * 3)])
    sealed("records_count_lies", CORRUPT, "manifest", pages=[page_of([record_of(CHUNK)] * 4, count=2**32 - 1)])
    sealed("records_first_lies", CORRUPT, "manifest", pages=[page_of([record_of(CHUNK)] * 4, first=4)])
    sealed("pages_two", CORRUPT, "pages", pages=[page_of([record_of(CHUNK)] * 4)] * 2)
    sealed("document_changed", CORRUPT, "zarr.json", lambda place: place.write("a/zarr.json", open(place.path(
        "a/zarr.json")).read().replace('"fill_value": 0', '"fill_value": 1')))
    sealed("head_is_directory", FORMAT, "directory", lambda place: (os.unlink(place.path(seal)), os.mkdir(
        place.path(seal))))
    sealed("head_is_pipe", FORMAT, "pipe", lambda place: os.mkfifo(place.make_way(seal)))
    sealed("head_is_link", IO, "link", lambda place: place.link_outside(seal, "file"))
    sealed("page_is_link", IO, "link", lambda place: place.link_outside(page, "file"))
    sealed("manifest_is_link", IO, "link", lambda place: (shutil.rmtree(os.path.dirname(place.path(page))), place.link_outside(
        "a/__parapet/manifest", "directory")))
    sealed("parapet_is_link", IO, "link", lambda place: (shutil.rmtree(place.path("a/__parapet")), place.link_outside(
        "a/__parapet", "directory")))
    for i, mark in enumerate((5, "x", [], {"sealed": 5}, {"sealed": {}}, {"sealed": {"manifest_sha256": 5}}, None, {})):
        document("seal_mark_%d" % i, array_document(attributes={"_parapet": mark}), ["OK", MISSING, CORRUPT, FORMAT], "",
                 "read", "either")
        document("seal_mark_%d_unseal" % i, array_document(attributes={"_parapet": mark}),
                 ["OK", MISSING, CORRUPT, FORMAT], "", "unseal", "either")
    for i, trim in enumerate((5, "x", [], [True], [True, True, True], [1, 2], {"0": True})):
        document("trim_mark_%d" % i, array_document(attributes={"_parapet": {"trim": trim}}), FORMAT, "trim", "write")
    document("trim_mark_of_2_59_shards", array_document(shape=[2**59 - 1, 2**2 - 1], chunk_grid=chunk_shape(2, 2), attributes={
        "_parapet": {"trim": [True, True]}}), MEMORY, "more than any machine has", "write")


# ---- What is not a plain file ----------------------------------------------------------------------------

def file_cases():
    kinds = {
        "directory": (FORMAT, "directory", os.mkdir), "pipe": (FORMAT, "pipe", os.mkfifo),
        "socket": ([FORMAT, IO], "", make_socket),
    }
    if os.geteuid() == 0:
        for name, device in {"null": (1, 3), "zero": (1, 5), "full": (1, 7), "tty": (5, 0)}.items():
            kinds["device_" + name] = ([FORMAT, IO], "", lambda path, device=device: os.mknod(
                path, 0o666 | 0o020000, os.makedev(*device)))
    for name, (statuses, word, make) in kinds.items():
        for key, action in (("zarr.json", "open"), ("a/zarr.json", "open"), ("a/c/0/0", "read"), ("a/.zarray", "open")):
            def build(place, key=key, make=make):
                if key not in ("a/zarr.json", "a/.zarray"):
                    place.write("a/zarr.json", array_document())
                make(place.make_way(key))
            add("%s_as_%s" % (name, key.replace("/", "_").replace(".", "")), build, statuses, word, action)
    link_cases()
    write_cases()
    list_cases()
    def hard(place):
        place.write("a/zarr.json", array_document())
        os.link(os.path.join(place.outside, "chunk"), place.make_way("a/c/0/0"))
    add("hard_link_reads", hard, "OK", "", "read", "accept")
    def file_in_the_way(place):
        place.write("a/zarr.json", array_document())
        place.write("a/c", b"not a directory")
    add("file_in_the_way_of_chunks", file_in_the_way, ["OK", IO], "", "read", "either")
    add("file_in_the_way_of_array", lambda place: place.write("a", b"x"), NOT_FOUND, "a")
    add("nothing_at_all", lambda place: os.unlink(place.path("zarr.json")), NOT_FOUND, "a")


def make_socket(path):
    """A socket's name may have only 107 bytes, wherever the build lies."""
    here, bound = os.open(".", os.O_RDONLY), socket.socket(socket.AF_UNIX)
    os.chdir(os.path.dirname(path))
    bound.bind(os.path.basename(path))
    bound.close()
    os.fchdir(here)
    os.close(here)


def link_cases():
    targets = {"absolute": lambda place, name: os.path.join(place.outside, name),
               "relative": lambda place, name: "../" * 6 + "outside/" + name,
               "inside": None}
    for kind in ("absolute", "relative"):
        for key, name, action in (("zarr.json", "group/zarr.json", "open"), ("a", "array", "open"), ("a/zarr.json",
                                  "array/zarr.json", "open"), ("a/c", "array/c", "read"), ("a/c/0", "array/c/0", "read"),
                                  ("a/c/0/0", "array/c/0/0", "read"), ("a/.zarray", "v2/.zarray", "open")):
            def build(place, key=key, name=name, kind=kind):
                if key not in ("a", "a/zarr.json", "a/.zarray"):
                    place.write("a/zarr.json", array_document())
                up = "../" * (key.count("/") + 3)
                place.link(key, up + "outside/" + name if kind == "relative" else targets["absolute"](place, name))
            add("link_%s_%s" % (kind, key.replace("/", "_").replace(".", "")), build, IO, "link", action)
    for name, target in {"self": "0", "dangling": "nothing", "proc_root": "/proc/self/root/etc/hostname",
                         "proc_fd": "/proc/self/fd/0", "proc_cwd": "/proc/self/cwd", "etc_passwd": "/etc/passwd",
                         "dev_zero": "/dev/zero", "parent": "../../..", "sibling": "1"}.items():
        def build(place, target=target):
            place.write("a/zarr.json", array_document())
            place.write("a/c/0/1", CHUNK)
            place.link("a/c/0/0", target)
        add("link_chunk_to_" + name, build, IO, "link", "read")
    def loop(place):
        place.link("a", "b")
        place.link("b", "a")
    add("link_loop", loop, IO, "link")
    def zattrs(place):
        place.write("a/.zarray", v2_document())
        place.link_outside("a/.zattrs", "v2/.zattrs")
    add("link_zattrs", zattrs, IO, "link")


def write_cases():
    def linked(key, name):
        def build(place):
            place.write("a/zarr.json", array_document())
            place.link_outside(key, name)
        return build
    for key, name in (("a/c", "array/c"), ("a/c/0", "array/c/0"), ("a/__parapet", "directory"),
                      ("a/__parapet/tmp", "directory")):
        add("write_through_link_" + key.replace("/", "_"), linked(key, name), IO, "link", "write")
    add("write_over_link", linked("a/c/0/0", "array/c/0/0"), ["OK", IO], "", "write", "either")
    add("write_merges_no_link", linked("a/c/0/0", "array/c/0/0"), IO, "link", "write_part")
    def pipe(place):
        place.write("a/zarr.json", array_document())
        os.mkfifo(place.make_way("a/c/0/0"))
    add("write_merges_no_pipe", pipe, FORMAT, "pipe", "write_part")
    def directory(place):
        place.write("a/zarr.json", array_document())
        os.makedirs(place.path("a/c/0/0/x"))
    add("write_over_directory", directory, [IO, FORMAT], "c/0/0", "write")
    def shard(place):
        place.write("a/zarr.json", sharded_document())
        place.write("a/c/0/0", b"".join(SMALL) + index_of([(2**64 - 16, 32)] + [(16 * i, 16) for i in range(1, 4)]))
    add("write_merges_no_lying_index", shard, CORRUPT, "index", "write_part")
    def bomb(place):
        place.write("a/zarr.json", array_document(codecs=[LITTLE, codec("zstd", level=1)]))
        place.write("a/c/0/0", zstd_frame([(1, 1 << 17, b"\0")] * 250))
    add("write_merges_no_bomb", bomb, CORRUPT, "zstd", "write_part")
    add("write_to_v2", lambda place: place.write("a/.zarray", v2_document()), UNSUPPORTED, "v2", "write")


def list_cases():
    def names(place):
        for name in ("good", "new\nline", "esc\x1b[31m", "del\x7f", "__hidden", "...", "x" * 255, b"bad\xff".decode(
                "utf-8", "surrogateescape")):
            os.mkdir(os.fsencode(place.path(name)))
            with open(os.fsencode(os.path.join(place.path(name), "zarr.json")), "w") as file:
                json.dump(array_document(), file)
    add("list_skips_bad_names", names, "OK", "good," + "x" * 255, "list", "accept")
    def links(place):
        place.write("good/zarr.json", array_document())
        place.link_outside("linked", "array")
        os.mkfifo(place.path("pipe"))
    add("list_skips_links", links, "OK", "good", "list", "accept")
    def deep(place):
        place.write("a/zarr.json", array_document())
        os.makedirs(place.path("a/c/" + "0/" * 60))
    add("check_of_deep_directories", deep, "OK", "", "check", "accept")
    def strays(place):
        place.write("a/zarr.json", array_document())
        for key in ("a/c/99999999999999999999/0", "a/c/-1/0", "a/c/00/0", "a/c/9/9", "a/x", "a/c/0/0/0"):
            place.write(key, CHUNK)
    add("check_of_strays", strays, "OK", "", "check", "accept")
    def linked(place):
        strays(place)
        place.link_outside("a/c/1", "array/c/0")
    add("check_follows_no_link", linked, IO, "link", "check")
    chunk("check_of_absent_2_60", array_document(shape=[2**60, 1], chunk_grid=chunk_shape(1, 1)), struct.pack("<i", 1),
          "OK", "", "accept")
    name, _, expectation, statuses, word, build = CASES.pop()
    CASES.append((name, "check", expectation, statuses, word, build))


# ---- All of it -------------------------------------------------------------------------------------------

def write_outside(top):
    """Everything a link leads to is sound, so that following one is seen."""
    outside = os.path.join(top, "outside")
    for key, content in {
            "group/zarr.json": '{"zarr_format": 3, "node_type": "group"}', "array/zarr.json": json.dumps(array_document()),
            "array/c/0/0": CHUNK, "array/c/0/1": CHUNK, "array/c/1/0": CHUNK, "array/c/1/1": CHUNK, "chunk": CHUNK,
            "file": "secret", "directory/file": "secret", "v2/.zarray": json.dumps(v2_document()),
            "v2/.zattrs": "{}"}.items():
        path = os.path.join(outside, key)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())


def is_inside_store(top, path):
    parts = os.path.relpath(path, top).split(os.sep)
    return len(parts) > 2 and parts[0] == "stores" and parts[2] == "store"


def snapshot(top):
    """Names, kinds, times of change and digests of everything that is not in a store."""
    found = {}
    for folder, folders, files in os.walk(top):
        folders[:] = [name for name in folders if not is_inside_store(top, os.path.join(folder, name))]
        for name in folders + files:
            path = os.path.join(folder, name)
            if os.path.dirname(path) == top:
                continue
            status = os.lstat(path)
            digest = ""
            if not os.path.islink(path) and os.path.isfile(path):
                with open(path, "rb") as file:
                    digest = hashlib.sha256(file.read()).hexdigest()
            found[os.path.relpath(path, top)] = [status.st_mode, status.st_size, status.st_mtime_ns, digest]
    return found


def gather_cases():
    for gather in (json_cases, field_cases, shape_cases, grid_cases, type_cases, fill_cases, codec_cases, frame_cases,
                   chunk_cases, index_cases, v2_cases, seal_cases, file_cases):
        gather()
    names = [case[0] for case in CASES]
    assert len(set(names)) == len(names), [name for name in names if names.count(name) > 1]


def make(top):
    if os.path.isdir(top):
        shutil.rmtree(top)
    write_outside(top)
    gather_cases()
    lines = []
    for name, action, expectation, statuses, word, build in CASES:
        build(Place(top, name))
        lines.append("\t".join((name, action, expectation, ",".join(statuses), word)))
    with open(os.path.join(top, "cases.txt"), "w") as file:
        file.write("\n".join(lines) + "\n")
    with open(os.path.join(top, "untouched.json"), "w") as file:
        json.dump(snapshot(top), file)
    print("%d cases in %s" % (len(lines), top))
    return 0


def verify(top):
    with open(os.path.join(top, "untouched.json")) as file:
        before = json.load(file)
    after = snapshot(top)
    wrong = [name for name in sorted(before.keys() | after.keys()) if before.get(name) != after.get(name)]
    for name in wrong:
        print("outside every store, but changed: %s: %s -> %s" % (name, before.get(name), after.get(name)))
    print("%d files and directories outside the stores, %d changed" % (len(before), len(wrong)))
    return 1 if wrong or not before else 0


if __name__ == "__main__":
    sys.exit({"make": make, "verify": verify}[sys.argv[1]](os.path.abspath(sys.argv[2])))
