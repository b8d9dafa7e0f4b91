"""Times zarr-python and TensorStore at the same work as bench_serial, one job per line on standard input.

A job is: PEER ACTION DIRECTORY CODEC THREADS. The answer is one line: the seconds. The data is loaded and the
libraries are warmed up before the first job, so that start-up is not counted.
"""
import os
import shutil
import sys
import time

import numpy as np
import tensorstore as ts
import zarr
from numcodecs import blosc
from zarr.codecs import BloscCodec, Crc32cCodec, ZstdCodec

edge, chunk, shard = (int(word) for word in sys.argv[2:5])
data = np.fromfile(sys.argv[1], dtype="<f8").reshape(edge, edge, edge)


def path_of(peer, directory):
    return os.path.join(directory, peer + ".zarr")


def flush(directory):
    """Writing counts until the data is durable; zarr-python leaves that to the system."""
    for root, _, files in os.walk(directory):
        for name in files:
            descriptor = os.open(os.path.join(root, name), os.O_RDONLY)
            os.fsync(descriptor)
            os.close(descriptor)


def zarr_compressors(codec):
    if codec == "none":
        return [Crc32cCodec()]
    if codec.startswith("zstd"):
        return [ZstdCodec(level=int(codec.split(":")[1])), Crc32cCodec()]
    _, name, level, shuffle = codec.split(":")
    return [BloscCodec(cname=name, clevel=int(level), shuffle=shuffle, typesize=8), Crc32cCodec()]


def zarr_job(action, directory, codec, threads):
    path = path_of("zarr", directory)
    blosc.set_nthreads(threads)
    with zarr.config.set({"threading.max_workers": threads, "async.concurrency": max(threads, 1)}):
        if action == "read":
            return zarr.open_array(path, mode="r")[:]
        array = zarr.create_array(path, shape=data.shape, chunks=(chunk,) * 3, shards=(shard,) * 3, dtype="f8",
                                  compressors=zarr_compressors(codec), overwrite=True)
        array[:] = data
        flush(path)
    return None


def tensorstore_codecs(codec):
    crc = {"name": "crc32c"}
    if codec == "none":
        return [crc]
    if codec.startswith("zstd"):
        return [{"name": "zstd", "configuration": {"level": int(codec.split(":")[1])}}, crc]
    _, name, level, shuffle = codec.split(":")
    return [{"name": "blosc", "configuration": {"cname": name, "clevel": int(level), "shuffle": shuffle,
                                                "typesize": 8}}, crc]


def tensorstore_job(action, directory, codec, threads):
    path = path_of("tensorstore", directory)
    context = {"data_copy_concurrency": {"limit": threads}, "file_io_concurrency": {"limit": threads},
               "cache_pool": {"total_bytes_limit": 0}}
    spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": path + "/"}, "context": context}
    if action == "read":
        return ts.open(spec, open=True).result().read().result()
    little = {"name": "bytes", "configuration": {"endian": "little"}}
    spec["metadata"] = {
        "shape": list(data.shape), "data_type": "float64", "fill_value": 0,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [shard] * 3}},
        "codecs": [{"name": "sharding_indexed", "configuration": {
            "chunk_shape": [chunk] * 3, "codecs": [little] + tensorstore_codecs(codec),
            "index_codecs": [little, {"name": "crc32c"}]}}],
    }
    ts.open(spec, create=True, delete_existing=True).result().write(data).result()
    return None


jobs = {"zarr": zarr_job, "tensorstore": tensorstore_job}
print("ready", zarr.__version__, ts.__version__ if hasattr(ts, "__version__") else "", flush=True)
for line in sys.stdin:
    peer, action, directory, codec, threads = line.split()
    if action == "write":
        shutil.rmtree(path_of(peer, directory), ignore_errors=True)
    started = time.perf_counter()
    found = jobs[peer](action, directory, codec, int(threads))
    seconds = time.perf_counter() - started
    if found is not None and not np.array_equal(found, data):
        seconds = -1.0
    del found
    print(f"{seconds:.6f}", flush=True)
