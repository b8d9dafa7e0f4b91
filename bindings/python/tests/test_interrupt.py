"""Ctrl-C ends a long call of a program that has asked for no progress, too."""
import os
import signal
import threading
import time

import numpy
import pytest

import parapet

BYTES, SECONDS_BEFORE, SECONDS_AFTER = 1 << 28, 0.2, 2 if os.getloadavg()[0] < os.cpu_count() else 20


def test_interrupt__ends_a_write_and_leaves_the_array_as_it_was(tmp_path):
    data = numpy.random.default_rng(1).integers(0, 4, BYTES, "u1")  # takes a codec seconds
    with parapet.open(tmp_path / "long.zarr", "a", threads=1, durability="leave") as store:
        array = store.create_array("x", shape=(BYTES,), dtype="u1", chunks=(1 << 18,), shards=(1 << 22,), codec="zstd:12")
        sent = []

        def interrupt():
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        timer = threading.Timer(SECONDS_BEFORE, interrupt)
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            array.write(data)
        assert time.monotonic() - sent[0] < SECONDS_AFTER
        assert array.stored_boxes() == []
        array.write(data[:100])
        assert numpy.array_equal(array[:100], data[:100]), "the store is still of use"
