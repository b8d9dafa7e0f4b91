"""Ctrl-C ends a long call of a program that has asked for no progress, too: within two seconds, or on a busy machine
within the time of a few shards, of which the call would write many more."""
import os
import signal
import threading
import time

import numpy
import pytest

import parapet

SHARD, SHARDS, SHARDS_AT_MOST = 1 << 19, 256, 6
SECONDS_BEFORE, SECONDS_AT_MOST = 0.2, 2.0


def seconds_for_a_shard(store, data, layout):
    array = store.create_array("one", shape=(SHARD,), overwrite=True, **layout)
    began = time.monotonic()
    array.write(data[:SHARD])
    return time.monotonic() - began


def test_interrupt__ends_a_write_and_leaves_the_array_as_it_was(tmp_path):
    data = numpy.random.default_rng(1).integers(0, 4, SHARDS * SHARD, "u1")  # takes a codec seconds
    with parapet.open(tmp_path / "long.zarr", "a", threads=1, durability="leave") as store:
        layout = {"dtype": "u1", "chunks": (SHARD // 8,), "shards": (SHARD,), "codec": "zstd:12"}
        before = seconds_for_a_shard(store, data, layout)
        array = store.create_array("x", shape=data.shape, **layout)
        sent = []

        def interrupt():
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        timer = threading.Timer(SECONDS_BEFORE, interrupt)
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            array.write(data)
        took = time.monotonic() - sent[0]
        after = seconds_for_a_shard(store, data, layout)
        assert took < max(SECONDS_AT_MOST, SHARDS_AT_MOST * max(before, after))
        assert array.stored_boxes() == []
        array.write(data[:100])
        assert numpy.array_equal(array[:100], data[:100]), "the store is still of use"
