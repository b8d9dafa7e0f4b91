#!/usr/bin/env python3
"""Writes the seeds of all targets but fuzz_document below corpus/. Needs numpy and numcodecs.

Small on purpose: one valid input per chain and form, from which the fuzzer finds its way."""
import gzip
import io
import json
import os
import re
import struct
import sys
import zipfile

import numcodecs
import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
ABSENT = 2**64 - 1


def crc32c(data):
    state = 0xFFFFFFFF
    for byte in data:
        state ^= byte
        for _ in range(8):
            state = state >> 1 ^ (0x82F63B78 if state & 1 else 0)
    return state ^ 0xFFFFFFFF


def with_crc32c(data):
    return data + struct.pack("<I", crc32c(data))


def save(noun, name, data):
    folder = os.path.join(HERE, "corpus", noun)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "wb") as file:
        file.write(data)


def make_index(entries, order="<"):
    return b"".join(struct.pack(order + "QQ", *entry) for entry in entries)


def make_shard(chunks, at_start=False):
    at = 16 * len(chunks) + 4 if at_start else 0
    entries, data = [], b""
    for chunk in chunks:
        entries.append((at + len(data), len(chunk)) if chunk else (ABSENT, ABSENT))
        data += chunk or b""
    index = with_crc32c(make_index(entries))
    return index + data if at_start else data + index


# The shapes of fuzz_codec.c: number, shape, numpy type.
SHAPES = [(0, (), "<u4"), (1, (24,), "<u4"), (2, (4, 6), "<u8"), (3, (2, 3, 4), "<c16"), (4, (8, 64), "u1")]


def gzip_bytes(data):
    return gzip.compress(data, 1, mtime=0)


def zstd(data):
    return bytes(numcodecs.Zstd(1).encode(data))


def blosc(data, name="lz4", shuffle=1):
    return bytes(numcodecs.Blosc(name, 1, shuffle).encode(numpy.frombuffer(data, "u1")))


def encode_plain(array):
    data, swapped = array.tobytes(), array.T.tobytes()
    delta = numcodecs.Delta("<u4").encode(numpy.frombuffer(data, "<u4")).tobytes()
    shuffled = bytes(numcodecs.Shuffle(4).encode(numpy.frombuffer(data, "u1")))
    lz4, zlib = numcodecs.LZ4(), numcodecs.Zlib(1)
    yield 0, data
    yield 1, with_crc32c(data)
    yield 2, swapped
    yield 3, gzip_bytes(data)
    yield 4, zstd(data)
    yield 5, blosc(data)
    yield 6, with_crc32c(zstd(data))
    yield 7, zstd(gzip_bytes(data))
    yield 8, gzip_bytes(blosc(data))
    yield 9, zstd(swapped)
    yield 10, bytes(zlib.encode(data))
    yield 11, bytes(lz4.encode(data))
    yield 12, bytes(zlib.encode(shuffled))
    yield 13, bytes(lz4.encode(delta))
    yield 14, bytes(numcodecs.Fletcher32().encode(numpy.frombuffer(data, "u1")))
    yield 15, bytes(numcodecs.Adler32().encode(bytes(numcodecs.CRC32().encode(data))))
    yield 19, with_crc32c(blosc(data))


# How each codec encodes that fuzz_codec.c has in no chain but the one in which it is alone: by name, one row each.
def hdf5_lz4(data, block_bytes):
    """As the filter 32004 of HDF5 has it: blocks of LZ4, each after its length."""
    blocks = [numcodecs.LZ4().encode(data[i : i + block_bytes])[4:] for i in range(0, len(data), block_bytes)]
    plain = [data[i : i + block_bytes] for i in range(0, len(data), block_bytes)]
    shorter = [block if len(block) < len(whole) else whole for block, whole in zip(blocks, plain)]
    return struct.pack(">QI", len(data), block_bytes) + b"".join(struct.pack(">I", len(b)) + b for b in shorter)


ENCODE_ALONE = {
    "shuffle": lambda data: bytes(numcodecs.Shuffle(4).encode(numpy.frombuffer(data, "u1"))),
    "delta": lambda data: numcodecs.Delta("<u4").encode(numpy.frombuffer(data, "<u4")).tobytes(),
    "crc32": lambda data: bytes(numcodecs.CRC32().encode(data)),
    "adler32": lambda data: bytes(numcodecs.Adler32().encode(data)),
    "hdf5_lz4": lambda data: hdf5_lz4(data, 40),
}


def read_source(*path):
    with open(os.path.join(HERE, *path), encoding="utf-8") as file:
        return file.read()


def codec_numbers():
    """What the first byte of an input is for a codec alone: ALONE, and its place in PP_CODEC_TABLE."""
    table = re.findall(r"ROW\((\w+), (\w+)\)", read_source("../../src/codec/codec.h"))
    target = read_source("fuzz_codec.c")
    without = [name for id, name in table if name not in ENCODE_ALONE and f"PP_CODEC_{id}" not in target]
    if without:
        sys.exit(f"{__file__}: ENCODE_ALONE needs a row for each of these codecs: {', '.join(without)}")
    first = int(re.search(r"#define ALONE (\d+)", target).group(1))
    return {name: first + place for place, (_, name) in enumerate(table)}


def make_codec_seeds():
    numbers = codec_numbers()
    for number, shape, kind in SHAPES:
        array = (numpy.arange(numpy.prod(shape, dtype=int)) * 3 % 61).astype(kind).reshape(shape)
        for chain, data in encode_plain(array):
            save("codec", f"chain{chain:02}_shape{number}", bytes([chain, number, 0]) + data)
        for name, encode in ENCODE_ALONE.items():
            save("codec", f"{name}_shape{number}", bytes([numbers[name], number, 0]) + encode(array.tobytes()))
    raw = numpy.arange(24, dtype="<u8").tobytes()
    for name in ["blosclz", "lz4hc", "zlib", "zstd"]:
        for shuffle in (0, 2):
            save("codec", f"blosc_{name}_{shuffle}", bytes([5, 2, 0]) + blosc(raw, name, shuffle))
    save("codec", "gzip_members", bytes([3, 2, 0]) + gzip_bytes(raw[:50]) + gzip_bytes(raw[50:]))
    save("codec", "zstd_frames", bytes([4, 2, 0]) + zstd(raw[:50]) + zstd(raw[50:]))
    save("codec", "zstd_no_size", bytes([4, 0, 0]) + bytes.fromhex("28b52ffd0058210000") + b"abcd")
    save("codec", "gzip_bomb", bytes([3, 1, 0]) + gzip.compress(bytes(1 << 16), 9, mtime=0))
    save("codec", "zstd_bomb", bytes([4, 1, 0]) + zstd(bytes(1 << 20)))
    rows = [zstd(raw[i : i + 48]) for i in range(0, 192, 48)]
    rows[1] = None
    save("codec", "shard_end", bytes([16, 2, 0]) + make_shard(rows))
    save("codec", "shard_start", bytes([16, 2, 2]) + make_shard(rows, True))
    save("codec", "shard_gzip", bytes([17, 2, 0]) + gzip_bytes(make_shard(rows)))
    save("codec", "shard_nested", bytes([16, 2, 5]) + make_shard([make_shard(rows[:2]), make_shard(rows[2:])]))
    columns = numpy.arange(24, dtype="<u8").reshape(4, 6).T.tobytes()
    save("codec", "shard_transposed",
         bytes([18, 2, 1]) + make_shard([zstd(columns[i : i + 32]) for i in range(0, 192, 32)]))


def make_index_seeds():
    entries = [(0, 21), (21, 21), (ABSENT, ABSENT), (50, 50)]
    late = [(offset + 68, size) if size != ABSENT else (offset, size) for offset, size in entries]
    for flags in range(16):
        chosen = late if flags & 4 else entries
        index = make_index(chosen, ">" if flags & 1 else "<")
        index = with_crc32c(index) if flags & 2 else index
        save("shard_index", f"flags{flags:02}", bytes([flags, 3]) + struct.pack("<Q", 200) + index)
    save("shard_index", "half_absent",
         bytes([0, 0]) + struct.pack("<Q", 99) + make_index([(ABSENT, 0)]))
    save("shard_index", "wraps", bytes([0, 0]) + struct.pack("<Q", 99) + make_index([(ABSENT - 1, 5)]))
    save("shard_index", "shapes", bytes([130, 3]) + struct.pack("<6h", 8, 2, 6, 6, 5, 1))
    save("shard_index", "shapes_huge", bytes([128, 3]) + struct.pack("<6h", 32767, 1, 32767, 1, 32767, 1))


def make_commit_seeds():
    digest = "0123456789abcdef" * 4
    head = f"parapet commit 1\ngeneration 7\ngroup g00000007\ndurable yes\ndocument {digest}\n"
    arrays = "".join(f"array {digest} {name}\n" for name in ("density", "velocity x"))
    lines = (head + arrays).encode()
    save("commit", "record", lines + b"crc32c %08x\n" % crc32c(lines))
    save("commit", "signed_arrays", b"s" + lines)
    save("commit", "signed_head", b"s" + head.replace("yes", "no").encode())
    save("commit", "signed_long", b"s" + head.replace("generation 7", "generation 999999999999999999").encode())
    save("commit", "signed_version", b"s" + lines.replace(b"commit 1", b"commit 2"))


def make_weights_file_seeds():
    server = "server {} writing 512000000 reading 281474976710656\n"
    for count in (1, 2, 12):
        lines = "".join(server.format(i) for i in range(count))
        save("weights_file", f"servers_{count}", f"parapet weights 1\nservers {count}\n{lines}end\n".encode())
    save("weights_file", "announced", b"parapet weights 1\nservers 1048576\nend\n")


def make_manifest_seeds():
    head = b"PARAPETH" + struct.pack("<IIQQ", 2, 1, 3, 2) + bytes(range(96))
    page = b"PARAPETM" + struct.pack("<IIQ", 2, 1, 0) + struct.pack("<QII", 4096, 7, 2) + bytes(range(8))
    for name, data in (("head", head), ("page", page), ("head_with_page", head + with_crc32c(page))):
        save("manifest", name, with_crc32c(data))
        save("manifest", f"signed_{name}", b"s" + data + bytes(4))


def make_journal_seeds():
    def shard(number, *chunks):
        return struct.pack("<QQQ", number, 100, len(chunks)) + b"".join(struct.pack("<QQQI", *chunk) for chunk in chunks)

    records = [struct.pack("<QQ", 0, 1) + shard(0, (0, 0, 50, 1), (1, 50, 50, 2)),
               struct.pack("<QQ", 1, 2) + shard(0, (2, 0, 9, 3)) + shard(1)]
    save("journal", "signed", b"s" + b"".join(bytes([len(record)]) + record for record in records))
    save("journal", "plain", b"".join(with_crc32c(struct.pack("<Q", len(record)) + record) for record in records))
    save("journal", "signed_done", b"d" + struct.pack("<QQQ", 0, 99, 100))
    save("journal", "done", b"".join(with_crc32c(struct.pack("<QI", number, 0)) for number in range(3)))


INPUTS = ("ranks threads memory_bytes unit_bytes passes reading cooperation cores read_rate read_limit write_rate "
          "write_limit copy_rate exchange_rate request_nanoseconds run_nanoseconds flush_nanoseconds decode_rate "
          "source_ratio encode_rate target_ratio").split()


def make_inputs_seeds():
    save("copy_inputs", "ordinary", "".join(f"{name}: 1\n" for name in INPUTS).encode())
    save("copy_inputs", "measured", "".join(f"{name}: {i % 2 + 1}\n" for i, name in enumerate(INPUTS)).encode())


def make_state_seeds():
    """What a series, a lock and a copy leave for themselves; see the heads of the targets."""
    lock = b"parapet lock 1\nincarnation 0123456789abcdef\nheld by process 7 on node since 2026-01-01T00:00:00Z for copying\n"
    save("holder", "whole", lock)
    save("holder", "no_incarnation", lock.replace(b"incarnation 0123456789abcdef\n", b""))
    owner = (b"parapet owner 1\nid 0123456789abcdef\nprocess 7 1234567 on node\n"
             b"boot 6a2c3d9e-0000-4000-8000-000000000000 4026531836 4026531834\nsince 1763257166\n")
    save("holder", "owner", lock + b"\0" + owner)
    head = b"extend: time\nbefore: 3\nafter: 5\nid: 0123456789abcdef\n"
    digest = b"document: " + b"0123456789abcdef" * 4 + b"\n"
    record = head + b"array: d/t\n" + digest + b"array: time\n" + digest + b"group: d\ngroup: /\n"
    whole = record + b"crc32c: %08x\n" % crc32c(record)
    save("change_record", "lines", b"s" + record)
    save("change_record", "whole", whole)
    save("change_record", "log", b"l" + whole + b"torn\n" + whole.replace(b"3", b"4") + whole)
    save("trim_mark", "mark", b'{"trim": [true, false, true]}')
    save("trim_mark", "short", b'{"trim": [true]}')
    mark = b'{"series": {"dimension": "time", "arrays": ["u", "v"], "steps": 3, "uncertain": true}}'
    save("series_mark", "mark", b"m" + mark)
    save("series_mark", "begun", b"m" + mark.replace(b', "steps": 3', b""))
    metadata = b'{"kind": "inline", "must_understand": false, "metadata": {"u": {"shape": [3, 4]}}}'
    save("series_mark", "document", b'{"zarr_format": 3, "node_type": "group", "attributes": {"_parapet": ' + mark +
         b'}, "consolidated_metadata": ' + metadata + b"}")
    save("row_records", "signed", b"\3s" + bytes([3, 4, 1, 0, 4, 5, 0, 9]))
    save("row_records", "log", b"\3" + whole)
    save("row_records", "none", b"\3")
    save("open_steps", "signed", b"s" + bytes([15, 1, 0, 0, 0]) + bytes(range(48)))
    save("open_steps", "plain", b"-" + bytes([7, 0, 8, 0, 0]) + bytes(range(32)))
    lines = "".join(f"{name}: 1\n" for name in INPUTS).encode()
    save("copy_job", "plan", b"p\n\n" + lines + b"plan: " + b"0123456789abcdef" * 4 + b"\n")
    save("copy_job", "signed", b"scopy by parapet 0.1.0\nsource array: s\n\n" + lines)
    log = b"old " + b"0" * 64 + b" g/a\n0000000000001234 g/a\n0000000000001234 g/b\n"
    save("copy_finished", "headed", b"h" + log)
    save("copy_finished", "old", b"h" + log.splitlines(keepends=True)[0])
    save("copy_finished", "whole", b"chunks: as the source; shards: as the source; order: as the source; "
         b"region: as the source; codec: as the source; no_checksum: 0; unit_bytes: 0; "
         b"intermediate store: the target's\n" + log)
    save("copy_job", "job", b"copy by parapet 0.1.0\n\ncrc32c: 00000000\n")


def array_document(shape, chunks, *codecs):
    """A zarr.json on one line, as tables of places have it."""
    return json.dumps({
        "zarr_format": 3, "node_type": "array", "shape": shape, "data_type": "uint16",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunks}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}}, "fill_value": 7,
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, *codecs], "attributes": {"units": "K"},
        "dimension_names": ["x"] * len(shape)})


def text_document(shape, chunks):
    return json.dumps({**json.loads(array_document(shape, chunks)), "data_type": "string", "fill_value": "",
                       "codecs": [{"name": "vlen-utf8"}]})


def make_places_seeds():
    root = 'parapet places 1\nfile 4096\ngroup /\n{"zarr_format":3,"node_type":"group","attributes":{}}\n'
    group = 'group /a\n{"zarr_format":3,"node_type":"group","attributes":{"title":"made"}}\n'
    zlib = {"name": "numcodecs.zlib", "configuration": {"level": 1}}
    shuffle = {"name": "numcodecs.shuffle", "configuration": {"elementsize": 2}}
    tables = {
        "chunks": group + "array /a/b\n" + array_document([3, 4], [2, 2], zlib) + "\nchunks 2\n1 0 11 0\n2 20 9 0\n",
        "masks": "array /m\n" + array_document([6], [2], shuffle, zlib) + "\nchunks 2\n0 0 4 2\n2 4 4 3\n",
        "within": "array /m\n" + array_document([6, 5], [2, 2], zlib) + "\nwithin 3 3\nchunks 2\n0 0 11 0\n3 0 11 0\n",
        "flat": "array /f\n" + array_document([50], [50]) + "\nflat 100\n",
        "data": "array /d\n" + array_document([3], [3]) + "\ndata YWJjZGVm\nrefused /r\nbecause\n",
        "scalar": "array /s\n" + array_document([], []) + "\nflat 0\n",
        "texts": "array /t\n" + text_document([2], [2]) + "\ndata AgAAAAEAAABhAgAAAGJj\narray /e\n"
                 + text_document([3, 0], [3, 1]) + "\nchunks 0\n",
        "no_texts": "array /t\n" + text_document([3, 0], [3, 1]) + "\ndata AAAAAA==\n",
    }
    for name, nodes in tables.items():
        save("places", name, (root + nodes).encode())


def make_text_seeds():
    """How many texts the array has, then a chunk of vlen-utf8."""
    for name, texts in (("none", []), ("few", [b"a", b"", "K\u00f6ln \u6771\u4eac \U0001f30d".encode()]), ("wrong", [b"\xff"])):
        chunk = b"".join(struct.pack("<I", len(text)) + text for text in texts)
        save("texts", name, bytes([len(texts)]) + struct.pack("<I", len(texts)) + chunk)


def make_foreign_seeds():
    """One file of each format: netCDF in three versions, with a record variable and attributes; NumPy; raw."""
    for version, wide in ((1, ">I"), (2, ">I"), (5, ">Q")):
        start = ">I" if version == 1 else ">Q"

        def count(value):
            return struct.pack(wide, value)

        def name(text):
            return count(len(text)) + text + bytes(-len(text) % 4)

        head = b"CDF" + bytes([version]) + count(2) + struct.pack(">I", 10) + count(2)
        head += name(b"time") + count(0) + name(b"x") + count(3) + struct.pack(">I", 12) + count(1)
        head += name(b"title") + struct.pack(">I", 2) + count(5) + b"hello" + bytes(3)
        head += struct.pack(">I", 11) + count(1) + name(b"v") + count(2) + count(0) + count(1)
        head += struct.pack(">I", 12) + count(1) + name(b"_FillValue") + struct.pack(">I", 3) + count(1) + b"\0\7\0\0"
        head += struct.pack(">I", 3) + count(8)
        save("foreign", f"netcdf{version}", head + struct.pack(start, len(head) + struct.calcsize(start)) + bytes(range(12)))
    for order in ("False", "True"):
        text = f"{{'descr': '<f4', 'fortran_order': {order}, 'shape': (2, 3), }}".encode()
        save("foreign", f"npy_{order}", b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text + bytes(range(24)))
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as opened:
        opened.writestr(zipfile.ZipInfo("a.npy"), b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text + bytes(24))
    save("foreign", "npz", archive.getvalue())
    save("foreign", "raw", b"rtype=int16,shape=2x3,endian=big,order=F,offset=4:" + bytes(range(12)))


make_codec_seeds()
make_foreign_seeds()
make_places_seeds()
make_text_seeds()
make_index_seeds()
make_commit_seeds()
make_weights_file_seeds()
make_manifest_seeds()
make_journal_seeds()
make_inputs_seeds()
make_state_seeds()
