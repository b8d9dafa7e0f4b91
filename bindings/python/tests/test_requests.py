"""Requests: everything that can be started, in one process."""
import gc
import os
import signal
import threading
import time

import numpy
import pytest

import parapet


@pytest.fixture
def store():
    with parapet.open("memory:requests", "a") as opened:
        yield opened


def test_a_write_and_a_read_are_started(store):
    array = store.create_array("a", shape=(4,), dtype="i4")
    values = numpy.arange(4, dtype="i4")
    request = array.start_write(values, copy=True)
    values[:] = -1
    request.wait()
    assert request.is_waited_for
    with array.start_read() as reading:
        while not reading.test():
            pass
        assert list(reading.wait()) == [0, 1, 2, 3]
    with pytest.raises(parapet.ArgumentError):
        request.wait()


def test_several_arrays_are_started_together(store):
    arrays = [store.create_array(name, shape=(2,), dtype="f8") for name in "bc"]
    data = [numpy.array([1.0, 2.0]), numpy.array([3.0, 4.0])]
    parapet.start_write_arrays({array: [parapet.Part(each)] for array, each in zip(arrays, data)}).wait()
    got = [numpy.zeros(2), numpy.zeros(2)]
    parapet.start_read_arrays({array: [parapet.Part(each)] for array, each in zip(arrays, got)}).wait()
    assert [list(each) for each in got] == [[1.0, 2.0], [3.0, 4.0]]


def test_what_is_wrong_is_raised_by_the_start(store):
    array = store.create_array("d", shape=(4,), dtype="i4")
    with pytest.raises(parapet.ArgumentError, match="reaches"):
        array.start_write(numpy.zeros(3, dtype="i4"), start=[2])
    array.start_write(numpy.ones(4, dtype="i4")).wait()
    assert list(array[:]) == [1, 1, 1, 1]


def test_a_step_and_a_checkpoint_are_started(store):
    with parapet.Series.create(store, "s", {"u": parapet.ArraySpec((0, 2), "f4")}) as series:
        series.start_append(0.5, {"u": numpy.zeros(2, "f4")}, copy=True).wait()
        assert series.info.steps == 1
    item = parapet.CheckpointItem(parapet.ArraySpec((2,), "f4"), numpy.ones(2, "f4"))
    with parapet.Checkpoint(store, "checkpoint") as checkpoint:
        assert checkpoint.start({"u": item}).wait() == 1
    with parapet.Checkpoint(store, "checkpoint") as checkpoint:
        checkpoint.start({"u": item})
    assert checkpoint.generation == 2


class Enough(Exception):
    """What a progress function raises here."""


def refuse(done, total):
    raise Enough


@pytest.mark.parametrize("io_thread", ["own", "none"])
def test_what_a_progress_function_raises_is_raised_by_wait(folder, io_thread):
    with parapet.open(folder, "a", progress=refuse, io_thread=io_thread) as store:
        array = store.create_array("a", shape=(4,), dtype="i4")
        request = array.start_write(numpy.ones(4, "i4"))
        assert not request.is_waited_for
        with pytest.raises(Enough) as caught:
            request.wait()
        assert isinstance(caught.value.__cause__, parapet.CancelledError)
        assert request.is_waited_for
        assert array.stored_boxes() == []


def start_what_fails(store):
    """A request that nobody keeps."""
    array = store.create_array("a", shape=(4,), dtype="i4")
    array.start_write(numpy.ones(4, "i4"))
    gc.collect()


@pytest.mark.parametrize("io_thread", ["own", "none"])
def test_the_failure_of_a_dropped_request_is_raised_when_the_store_is_closed(folder, io_thread):
    store = parapet.open(folder, "a", progress=refuse, io_thread=io_thread)
    start_what_fails(store)
    with pytest.raises(Enough):
        store.close()
    store.close()
    assert "(closed)" in repr(store)
    with pytest.raises(Enough):
        with parapet.open(folder + "/b", "a", progress=refuse, io_thread=io_thread) as store:
            start_what_fails(store)
    assert "(closed)" in repr(store)


def test_a_store_that_is_left_by_an_exception_waits_for_a_dropped_request(folder):
    with pytest.raises(KeyError, match="of the program"):
        with parapet.open(folder, "a", progress=refuse) as store:
            start_what_fails(store)
            raise KeyError("of the program")
    assert "(closed)" in repr(store)


def test_all_dropped_requests_are_waited_for(folder):
    with parapet.open(folder, "a") as store:
        arrays = [store.create_array(name, shape=(4,), dtype="i4") for name in "abc"]
        for number, array in enumerate(arrays):
            array.start_write(numpy.full(4, number, "i4"))
    with parapet.open(folder) as store:
        assert [int(store[name][0]) for name in "abc"] == [0, 1, 2]


def new_series(store):
    return parapet.Series.create(store, "s", {"u": parapet.ArraySpec((0, 2), "f4")})


STEP = {"u": numpy.ones(2, "f4")}


@pytest.mark.parametrize("io_thread", ["own", "none"])
def test_a_series_waits_for_its_steps_when_it_is_closed(folder, io_thread):
    with parapet.open(folder, "a", io_thread=io_thread) as store:
        other = store.create_array("a", shape=(4,), dtype="i4").start_write(numpy.ones(4, "i4"))
        with new_series(store) as series:
            kept = [series.start_append(number, STEP) for number in range(3)]
        assert [request.is_waited_for for request in kept] == [True] * 3
        other.wait()
        assert store["s/u"].shape == (3, 2)
        with parapet.Series.open(store, "s") as series:
            series.start_append(3.0, STEP)
            series.close()
        assert store["s/u"].shape == (4, 2)


@pytest.mark.parametrize("io_thread", ["own", "none"])
def test_a_series_that_is_left_by_an_exception_waits_for_its_steps(folder, io_thread):
    with parapet.open(folder, "a", io_thread=io_thread) as store:
        with pytest.raises(KeyError, match="of the program"):
            with new_series(store) as series:
                kept = series.start_append(0.0, STEP)
                raise KeyError("of the program")
        assert kept.is_waited_for
        assert store["s/u"].shape == (1, 2)
        store.close()
        assert "(closed)" in repr(store)


def test_a_series_is_closed_if_its_step_fails(folder):
    with parapet.open(folder, "a", progress=refuse) as store:
        with pytest.raises(Enough):
            with new_series(store) as series:
                kept = series.start_append(0.0, STEP)
        assert kept.is_waited_for
        store.close()
        assert "(closed)" in repr(store)


def test_a_checkpoint_that_is_left_by_an_exception_waits_for_its_request(folder):
    item = parapet.CheckpointItem(parapet.ArraySpec((2,), "f4"), numpy.ones(2, "f4"))
    with parapet.open(folder, "a") as store:
        with pytest.raises(KeyError, match="of the program"):
            with parapet.Checkpoint(store, "c") as checkpoint:
                kept = checkpoint.start({"u": item})
                raise KeyError("of the program")
        assert kept.is_waited_for
        assert parapet.list_generations(store, "c") == [1]


def test_the_failure_of_a_step_is_told_though_its_series_was_collected(folder):
    store = parapet.open(folder, "a", progress=refuse)
    new_series(store).start_append(0.0, STEP)
    gc.collect()
    with pytest.raises(Enough):
        store.close()
    assert "(closed)" in repr(store)


def test_what_fails_in_a_request_is_raised_by_no_other_call(folder):
    failing = [True]

    def progress(done, total):
        if failing[0]:
            raise Enough

    with parapet.open(folder, "a", progress=progress) as store:
        array, other = (store.create_array(name, shape=(4,), dtype="i4") for name in "ab")
        request = array.start_write(numpy.ones(4, "i4"))
        while not request.test():
            time.sleep(0.001)
        failing[0] = False
        other.write(numpy.ones(4, "i4"))
        later = other.start_write(numpy.zeros(4, "i4"))
        later.wait()
        with pytest.raises(Enough):
            request.wait()


def test_a_progress_function_cannot_wait_for_its_own_request(folder):
    refused = []

    def progress(done, total):
        if made and not refused:
            with pytest.raises(parapet.ArgumentError, match="callback"):
                made[0].wait()
            refused.append(True)

    made = []
    with parapet.open(folder, "a", progress=progress) as store:
        array = store.create_array("a", shape=(4,), dtype="i4")
        for _ in range(100):  # the first may be done before the program has it
            made[:] = [array.start_write(numpy.ones(4, "i4"))]
            made[0].wait()
            made.clear()
    assert len(refused) <= 1


def test_an_interrupt_cancels_a_request_that_is_waited_for(folder):
    is_waiting = threading.Event()

    def interrupt():
        is_waiting.wait()
        time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGINT)

    with parapet.open(folder, "a", progress=lambda done, total: time.sleep(0.01), durability="leave") as store:
        array = store.create_array("a", shape=(1 << 22,), dtype="u1", chunks=(1 << 12,), shards=(1 << 13,))
        thread = threading.Thread(target=interrupt)
        thread.start()
        request = array.start_write(numpy.ones(1 << 22, "u1"))
        with pytest.raises(KeyboardInterrupt):
            is_waiting.set()
            request.wait()
        thread.join()
        assert request.is_waited_for and array.stored_boxes() == []
        array.start_write(numpy.ones(10, "u1")).wait()
        assert array[:10].sum() == 10
