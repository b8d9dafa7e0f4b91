"""Writing and reading on all ranks: the bytes that are stored do not depend on who wrote them, or on memory."""
import concurrent.futures

import numpy
from harness import comm, folder, main, names_on_all, raised, rank, size, tree

import parapet

SHAPE, CHUNKS, SHARDS = (60, 50), (7, 11), (28, 33)
FIELD = numpy.arange(60 * 50, dtype="f8").reshape(SHAPE)


def create(store, name="x", **spec):
    return store.create_array(name, shape=SHAPE, dtype="f8", chunks=CHUNKS, shards=SHARDS, overwrite=True, **spec)


def rows():
    """First row and end of what this rank has."""
    return 60 * rank // size, 60 * (rank + 1) // size


def write_alone(path):
    if rank == 0:
        with parapet.open(path, "a") as store:
            create(store)[...] = FIELD
    comm.Barrier()


def test_blocks_in_any_order_of_memory_are_stored_as_by_one_process():
    with folder() as where:
        write_alone(f"{where}/alone")
        lo, hi = rows()
        haloed = numpy.full((hi - lo + 2, 52), -1.0)
        haloed[1:-1, 1:-1] = FIELD[lo:hi]
        memories = {"c": FIELD[lo:hi].copy(), "fortran": numpy.asfortranarray(FIELD[lo:hi]), "halo": haloed[1:-1, 1:-1],
                    "reversed": FIELD[lo:hi][::-1, ::-1].copy()[::-1, ::-1]}
        for name, data in memories.items():
            with parapet.open(f"{where}/{name}", "a", comm) as store:
                create(store).write(data, start=(lo, 0))
            comm.Barrier()
            assert tree(f"{where}/{name}") == tree(f"{where}/alone"), name


def test_reading_elsewhere_into_any_order_of_memory():
    with folder() as where, parapet.open(f"{where}/s", "a", comm) as store:
        array = create(store)
        lo, hi = rows()
        array.write(FIELD[lo:hi], start=(lo, 0))
        first, end = 50 * rank // size, 50 * (rank + 1) // size
        assert numpy.array_equal(array.read((0, first), (60, end - first)), FIELD[:, first:end])
        out = numpy.empty((end - first, 60)).T
        assert array.read((0, first), out=out) is out
        assert numpy.array_equal(out, FIELD[:, first:end])


def test_several_parts_and_none():
    with folder() as where, parapet.open(f"{where}/s", "a", comm) as store:
        array = create(store)
        mine = [] if rank == 1 else [parapet.Part(FIELD[i:i + 1], (i, 0)) for i in range(60) if i % size == rank]
        array.write_parts(mine)
        expected = FIELD.copy()
        if size > 1:
            expected[1::size] = 0
        assert numpy.array_equal(array.read(), expected)
        array.read_parts([])


def test_a_rank_reads_alone_on_several_threads():
    with folder() as where, parapet.open(f"{where}/s", "a", comm, local_bytes="8MiB") as store:
        array = create(store)
        lo, hi = rows()
        array.write(FIELD[lo:hi], (lo, 0))
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for i, found in enumerate(pool.map(lambda i: array.read_local((i, rank), (2, 5)), range(10 + 3 * rank))):
                assert numpy.array_equal(found, FIELD[i:i + 2, rank:rank + 5])
        if rank == size - 1:
            out = numpy.zeros((5, 2)).T
            assert array.read_local((1, 2), out=out) is out and numpy.array_equal(out, FIELD[1:3, 2:7])
            parts = [parapet.Part(numpy.zeros((1, 3)), (i, 4)) for i in range(3)]
            array.read_parts_local(parts)
            assert all(numpy.array_equal(part.data, FIELD[i:i + 1, 4:7]) for i, part in enumerate(parts))
            try:
                array.read_local((0, 1000), (1, 1))
            except parapet.ArgumentError as error:
                assert "part 0 reaches from 1000" in str(error)
            else:
                raise AssertionError("a box outside the array was read")
        assert 0 < store.statistics().local_peak_bytes <= 8 << 20


def test_listed_elements():
    with folder() as where, parapet.open(f"{where}/s", "a", comm) as store:
        array = create(store)
        flat = numpy.random.default_rng(7).permutation(FIELD.size)
        mine = flat[rank::size]
        array.write_points(numpy.stack(numpy.unravel_index(mine, SHAPE), axis=1), FIELD.reshape(-1)[mine])
        assert numpy.array_equal(array.read(), FIELD)
        wanted = flat[: 100 * rank]
        assert numpy.array_equal(array.read_runs(wanted), FIELD.reshape(-1)[wanted])
        starts = numpy.arange(11 * rank, FIELD.size - 7, 11 * size)
        array.write_runs(starts, numpy.full((starts.size, 5), -1.0), numpy.full(starts.size, 5))
        assert array.read_runs([2]) == [-1] and array.read_runs([5]) == [5] and array.read_points([]).size == 0
        points = [[0, 1], [59, 2], [0, 1]]
        assert numpy.array_equal(array.read_points_local(points), array.read_points(points))
        out = numpy.zeros(4)
        assert array.read_runs_local([3], [4], out) is out and numpy.array_equal(out, [-1, -1, 5, 6])
        try:
            array.read_points(points if rank else [[0.5, 1]])
        except parapet.ArgumentError:
            pass
        else:
            raise AssertionError("a point between elements was read")


def test_many_arrays_as_one_transfer():
    with folder() as where, parapet.open(f"{where}/s", "a", comm) as store:
        specs = {name: parapet.ArraySpec(SHAPE, "f8", chunks=CHUNKS) for name in ("u", "v")}
        arrays = store.create_arrays(specs)
        lo, hi = rows()
        parapet.write_arrays({array: [parapet.Part(FIELD[lo:hi] + i, (lo, 0))] for i, array in
                              enumerate(arrays.values())})
        outs = [numpy.empty(SHAPE), numpy.empty(SHAPE)]
        parapet.read_arrays({array: [parapet.Part(out)] for array, out in zip(arrays.values(), outs)})
        assert numpy.array_equal(outs[0], FIELD) and numpy.array_equal(outs[1], FIELD + 1)


def test_groups_attributes_and_listing():
    with folder() as where, parapet.open(f"{where}/s", "a", comm) as store:
        group = store.create_group("run/one", attributes={"step": 3})
        group.attrs["names"] = ["a", "b"]
        create(group)
        assert list(store) == ["run"] and "x" in store["run/one"] and "run/one/x" in store
        assert dict(store["run"]["one"].attrs) == {"step": 3, "names": ["a", "b"]}
        group.consolidate()


def test_a_communicator_of_some_ranks():
    part = comm.Split(rank % 2)
    with folder() as where:
        with parapet.open(f"{where}/s{rank % 2}", "a", part) as store:
            array = store.create_array("x", shape=(part.size,), dtype="i4")
            array.write(numpy.array([part.rank], "i4"), part.rank)
            assert array.read().tolist() == list(range(part.size))
    part.Free()


def test_indices_are_refused_with_what_to_call():
    with folder() as where, parapet.open(f"{where}/s", "a", comm) as store:
        error = raised(create(store).__getitem__, 0)
        assert isinstance(error, parapet.ArgumentError) and "read(start, count)" in str(error)


def test_a_launcher_of_all_ranks_is_seen():
    if size > 1:
        assert parapet.launch().count == size and parapet.launch().rank == rank
        assert names_on_all(None) == ["NoneType"] * size


if __name__ == "__main__":
    main(globals())
