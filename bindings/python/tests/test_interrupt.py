"""Ctrl-C ends a long call of a program that has asked for no progress, too: long before it has written all its shards."""
import os
import signal
import threading

import numpy
import pytest

import parapet

SHARD, SHARDS = 1 << 19, 256
SECONDS_BEFORE = 0.2


def test_interrupt__ends_a_write_and_leaves_the_array_as_it_was(tmp_path):
    data = numpy.random.default_rng(1).integers(0, 4, SHARDS * SHARD, "u1")  # takes a codec seconds
    with parapet.open(tmp_path / "long.zarr", "a", threads=1, durability="leave") as store:
        layout = {"dtype": "u1", "chunks": (SHARD // 8,), "shards": (SHARD,), "codec": "zstd:12"}
        store.create_array("one", shape=(SHARD,), **layout).write(data[:SHARD])
        of_one = store.statistics().written_bytes
        array = store.create_array("x", shape=data.shape, **layout)
        timer = threading.Timer(SECONDS_BEFORE, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            array.write(data)
        assert store.statistics().written_bytes < of_one * SHARDS // 2
        assert array.stored_boxes() == []
        array.write(data[:100])
        assert numpy.array_equal(array[:100], data[:100]), "the store is still of use"
