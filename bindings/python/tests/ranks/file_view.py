"""File views of MPI-IO as parts, on all ranks."""
import numpy
from harness import comm, folder, main, raised, rank, size
from mpi4py import MPI

import parapet

SHAPE = (24, 18)
FIELD = numpy.arange(24 * 18, dtype="f8").reshape(SHAPE)


def cyclic(of_rank, base=MPI.DOUBLE):
    """Rows of the array, three at a time, dealt out in turn."""
    return base.Create_darray(size, of_rank, SHAPE, [MPI.DISTRIBUTE_CYCLIC, MPI.DISTRIBUTE_NONE],
                              [3, MPI.DISTRIBUTE_DFLT_DARG], [size, 1])


def rows_of(of_rank):
    return FIELD[[row for row in range(SHAPE[0]) if row // 3 % size == of_rank]]


def create(store):
    return store.create_array("x", shape=SHAPE, dtype="f8", chunks=(5, 4))


def test_views_of_all_ranks_make_the_array():
    with folder() as where, parapet.open(f"{where}/s", "a", comm) as store:
        array = create(store)
        parts = array.view_parts(rows_of(rank), cyclic(rank))
        assert sum(part.data.size for part in parts) == rows_of(rank).size
        array.write_parts(parts)
        assert (array.read() == FIELD).all()


def test_a_view_is_read_into_memory_of_any_shape():
    with folder() as where, parapet.open(f"{where}/s", "a", comm) as store:
        array = create(store)
        array.write_parts([parapet.Part(FIELD)] if rank == 0 else [])
        other = (rank + 1) % size
        theirs = numpy.zeros(rows_of(other).size)
        array.read_parts(array.view_parts(theirs, cyclic(other)))
        assert (theirs == rows_of(other).ravel()).all()
        one = numpy.zeros(1)
        array.read_parts_local(array.view_parts(one, MPI.DOUBLE, displacement=8 * 40))
        assert one[0] == 40


def test_what_is_no_view_is_refused():
    mine = rows_of(rank)
    with folder() as where, parapet.open(f"{where}/s", "a", comm) as store:
        array = create(store)
        wrong = {
            "contiguous": (mine[:, ::2], cyclic(rank)),
            "of float64": (mine.astype("f4"), cyclic(rank)),
            "more than the 18 elements": (mine[:1].copy(), cyclic(rank)),
            "MPI_FLOAT": (mine, cyclic(rank, MPI.FLOAT)),
            "not a datatype of mpi4py": (mine, "f8"),
            "negative": (mine, MPI.DOUBLE, -8),
        }
        for word, arguments in wrong.items():
            error = raised(array.view_parts, *arguments)
            assert isinstance(error, parapet.ParapetError) and word in str(error), f"{word}: {error}"


if __name__ == "__main__":
    main(globals())
