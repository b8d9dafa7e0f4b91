"""Requests on several ranks: started together, waited for or not, failing on one rank, with a thread and without."""
import gc

import numpy
from harness import comm, folder, main, names_on_all, raised, rank, size

import parapet

ODD = size - 1
DATA = numpy.full((1, 8), float(rank))
STEP = {"u": parapet.Part(numpy.full(1, float(rank)), rank)}
IO_THREADS = ("own", "none")


class Enough(Exception):
    """What a progress function raises here."""


def refuse(done, total):
    if rank == ODD:
        raise Enough


def make(store, name="x"):
    return store.create_array(name, shape=(size, 8), dtype="f8", chunks=(1, 8))


def new_series(store):
    return parapet.Series.create(store, "s", {"u": parapet.ArraySpec((0, size), "f8")})


def expect(error, own, others):
    assert names_on_all(error) == [own if r == ODD else others for r in range(size)], repr(error)


def each_way():
    """A folder for each way in which requests are run."""
    for io_thread in IO_THREADS:
        with folder() as where:
            yield f"{where}/s", io_thread


def test_a_write_and_a_read_are_started_on_all_ranks():
    for where, io_thread in each_way():
        with parapet.open(where, "a", comm, io_thread=io_thread) as store:
            array, other = make(store), make(store, "y")
            first = array.start_write(DATA, (rank, 0))
            second = other.start_write(2 * DATA, (rank, 0), copy=True)
            for request in (first, second) if rank == ODD else (second, first):
                request.wait()
            assert numpy.array_equal(array.start_read().wait()[:, 0], numpy.arange(size))
            assert numpy.array_equal(other.read()[:, 0], 2 * numpy.arange(size))


def test_what_one_rank_prepares_wrongly_starts_nothing():
    for where, io_thread in each_way():
        with parapet.open(where, "a", comm, io_thread=io_thread) as store:
            array = make(store)
            expect(raised(array.start_write, DATA, "here" if rank == ODD else (rank, 0)), "TypeError", "ArgumentError")
            array.start_write(DATA, (rank, 0)).wait()


def test_a_progress_function_that_raises_on_one_rank_cancels_on_all():
    for where, io_thread in each_way():
        with parapet.open(where, "a", comm, progress=refuse, io_thread=io_thread) as store:
            request = make(store).start_write(DATA, (rank, 0))
            expect(raised(request.wait), "Enough", "CancelledError")


def test_the_failure_of_a_dropped_request_is_raised_when_the_store_is_closed():
    for where, io_thread in each_way():
        store = parapet.open(where, "a", comm, progress=refuse, io_thread=io_thread)
        make(store).start_write(DATA, (rank, 0))
        gc.collect()
        expect(raised(store.close), "Enough", "CancelledError")
        assert "(closed)" in repr(store)


def test_a_series_waits_for_its_steps_at_the_end_of_its_block():
    for where, io_thread in each_way():
        with parapet.open(where, "a", comm, io_thread=io_thread) as store:
            with new_series(store) as series:
                kept = [series.start_append(number, STEP) for number in range(3)]
                if rank == ODD:
                    kept[0].wait()
            assert all(request.is_waited_for for request in kept)
            assert store["s/u"].shape == (3, size)


def leave_early(store, kept, ranks):
    with new_series(store) as series:
        kept.append(series.start_append(0.0, STEP))
        if rank in ranks:
            raise KeyError("of the program")
        series.flush()


def test_an_exception_ends_the_block_of_a_series_whose_step_is_under_way():
    for ranks in ([ODD], range(size)):
        for where, io_thread in each_way():
            kept = []
            with parapet.open(where, "a", comm, io_thread=io_thread) as store:
                error = raised(leave_early, store, kept, ranks)
                expect(error, "KeyError", "KeyError" if 0 in ranks else "ArgumentError")
                assert kept[0].is_waited_for
                assert store["s/u"].shape == (1, size)


def test_a_checkpoint_is_started():
    item = parapet.CheckpointItem(parapet.ArraySpec((size,), "f8"), STEP["u"])
    for where, io_thread in each_way():
        with parapet.open(where, "a", comm, io_thread=io_thread) as store:
            with parapet.Checkpoint(store, "c") as checkpoint:
                checkpoint.start({"u": item})
            assert checkpoint.generation == 1
            with parapet.Restore(store, "c") as restore:
                assert numpy.array_equal(restore.get("u"), numpy.arange(size))


if __name__ == "__main__":
    main(globals())
