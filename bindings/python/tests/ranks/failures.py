"""One rank fails: all ranks raise, nobody waits, and the next call works."""
import os

import numpy
from harness import comm, folder, main, names_on_all, raised, rank, size

import parapet

ODD = size - 1
DATA = numpy.full((1, 8), float(rank))


def make(store, name="x"):
    return store.create_array(name, shape=(size, 8), dtype="f8", chunks=(1, 8), overwrite=True)


def expect(error, own, others="ArgumentError"):
    """The rank that deviates raises one class, the others another; both are failures of the call."""
    assert names_on_all(error) == [own if r == ODD else others for r in range(size)], repr(error)


def odd(value, usual):
    return value if rank == ODD else usual


def test_every_collective_that_one_rank_prepares_wrongly():
    with folder() as where, parapet.open(f"{where}/s", "a", comm) as store:
        array = make(store)
        expect(raised(array.write, odd(DATA.astype("f4"), DATA), (rank, 0)), "ArgumentError")
        expect(raised(array.write, odd(DATA.astype(">f8"), DATA), (rank, 0)), "ArgumentError")
        expect(raised(array.write, DATA, odd((rank,), (rank, 0))), "ArgumentError")
        expect(raised(array.write, DATA, odd((size, 0), (rank, 0))), "ArgumentError")
        expect(raised(array.write, DATA, odd("here", (rank, 0))), "TypeError")
        expect(raised(array.read, (0, 0), odd((-1, 8), (1, 8))), "ArgumentError")
        expect(raised(array.resize, odd((3,), (size, 9))), "ArgumentError")
        expect(raised(lambda: store.create_group("g", attributes={"a": odd(object(), 1)})), "TypeError")
        expect(raised(lambda: store.create_array("n", shape=(4,), dtype=odd("O", "f8"))), "ArgumentError")
        expect(raised(lambda: store.create_array("n", shape=(4,), dtype="f8", chunks=odd((0,), (2,)))), "ArgumentError")
        expect(raised(lambda: parapet.write_arrays({array: [parapet.Part(DATA, (rank, 0)) if rank != ODD else None]})),
               "AttributeError")
        array.write(DATA, (rank, 0))
        assert numpy.array_equal(array.read()[:, 0], numpy.arange(size))


def test_series_and_checkpoints_that_one_rank_prepares_wrongly():
    spec = parapet.ArraySpec((0, size), "f8")
    with folder() as where, parapet.open(f"{where}/s", "a", comm) as store:
        wrong = parapet.ArraySpec((1, size), "f8")
        expect(raised(parapet.Series.create, store, "h", {"u": odd(wrong, spec)}), "ArgumentError")
        with parapet.Series.create(store, "h", {"u": spec}) as series:
            mine = parapet.Part(numpy.ones(1), rank)
            expect(raised(series.append, 0.0, {odd("v", "u"): mine}), "ArgumentError")
            series.append(0.0, {"u": mine})
        checkpoint = parapet.Checkpoint(store, "c")
        item = parapet.CheckpointItem(parapet.ArraySpec((size,), "f8"), parapet.Part(numpy.ones(1), rank))
        expect(raised(checkpoint.put, odd({"u": None}, {"u": item})), "AttributeError")
        checkpoint.abort()


def test_opening_that_one_rank_asks_for_wrongly():
    with folder() as where:
        expect(raised(lambda: parapet.open(f"{where}/s", odd("w", "a"), comm)), "ArgumentError")
        memory = odd("many", "64MiB")
        expect(raised(lambda: parapet.open(f"{where}/s", "a", comm, memory_bytes=memory)), "ArgumentError")
        error = raised(parapet.open, f"{where}/nowhere", "r", comm)
        assert names_on_all(error) == ["NotFoundError"] * size


def test_different_calls_name_both():
    with folder() as where, parapet.open(f"{where}/s", "a", comm) as store:
        array = make(store)
        error = raised(array.seal) if rank == ODD else raised(array.write, DATA, (rank, 0))
        if size > 1:
            assert "seal(x)" in str(error) and "write(x)" in str(error), error


def leave_store_early(where):
    with parapet.open(f"{where}/s", "a", comm) as store:
        array = make(store)
        if rank == ODD:
            raise RuntimeError("of the program")
        array.write(DATA, (rank, 0))


def leave_checkpoint_early(where):
    with parapet.open(f"{where}/s", "a", comm) as store, parapet.Checkpoint(store, "c") as checkpoint:
        if rank == ODD:
            raise RuntimeError("of the program")
        checkpoint.set_attribute("step", 1)


def leave_series_early(where):
    spec = parapet.ArraySpec((0, size), "f8")
    with parapet.open(f"{where}/s", "a", comm) as store, parapet.Series.create(store, "h", {"u": spec}) as series:
        if rank == ODD:
            raise RuntimeError("of the program")
        series.append(0.0, {"u": parapet.Part(numpy.ones(1), rank)})


def leave_at_the_end(where):
    with parapet.open(f"{where}/s", "a", comm) as store:
        make(store)
        if rank == ODD:
            raise RuntimeError("of the program")


def test_an_exception_on_one_rank_ends_the_block_on_all():
    for leave in (leave_store_early, leave_checkpoint_early, leave_series_early, leave_at_the_end):
        with folder() as where:
            error = raised(leave, where)
            expect(error, "RuntimeError", "ArgumentError" if size > 1 else "RuntimeError")
            if leave is leave_checkpoint_early:
                comm.Barrier()
                with parapet.open(f"{where}/s", "r", comm) as store:
                    assert parapet.list_generations(store, "c") == []


def test_an_exception_on_all_ranks_closes_everything():
    with folder() as where:
        def fail():
            with parapet.open(f"{where}/s", "a", comm) as store, parapet.Checkpoint(store, "c"):
                make(store)
                raise RuntimeError("everywhere")

        assert names_on_all(raised(fail)) == ["RuntimeError"] * size
        with parapet.open(f"{where}/s", "a", comm) as store:
            assert store.collect() == [] and "x" in store


def test_a_callback_that_raises_on_one_rank_cancels_on_all():
    def progress(done, total):
        if rank == ODD:
            raise RuntimeError("enough")

    with folder() as where:
        with parapet.open(f"{where}/s", "a", comm, progress=progress) as store:
            error = raised(make(store).write, DATA, (rank, 0))
            expect(error, "RuntimeError", "CancelledError")
        assert os.path.isdir(f"{where}/s")


if __name__ == "__main__":
    main(globals())
