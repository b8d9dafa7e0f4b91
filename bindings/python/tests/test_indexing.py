"""Indices select what NumPy selects. Random cases print their seed; PARAPET_TEST_SEED repeats a run."""
import os
import random

import numpy
import pytest

import parapet

SEED = int(os.environ.get("PARAPET_TEST_SEED", random.randrange(1 << 30)))
CASES = 600


def random_slice(source, extent):
    def bound():
        return source.choice([None, source.randint(-extent - 2, extent + 2)])

    return slice(bound(), bound(), source.choice([None, 1, 1, -1, 2, 3, -2, -7]))


def random_entry(source, extent):
    kind = source.random()
    if kind < 0.2 and extent:
        return source.randint(-extent, extent - 1)
    if kind < 0.3:
        return numpy.int32(source.randint(-extent, extent - 1)) if extent else slice(None)
    return random_slice(source, extent)


def random_array(source, extent):
    if source.random() < 0.4:
        return numpy.array([source.random() < 0.5 for _ in range(extent)], bool)
    if extent == 0:
        return []
    indices = [source.randint(-extent, extent - 1) for _ in range(source.randint(0, 6))]
    return source.choice([indices, numpy.array(indices, "i8")])


def random_index(source, shape):
    entries = [random_entry(source, extent) for extent in shape[:source.randint(0, len(shape))]]
    if entries and source.random() < 0.4:
        at = source.randrange(len(entries))
        entries[at] = random_array(source, shape[at])
    if source.random() < 0.3:
        cut = source.randint(0, len(entries))
        if cut == len(entries):
            entries.append(Ellipsis)
    if source.random() < 0.3:
        entries.insert(source.randint(0, len(entries)), None)
    return entries[0] if len(entries) == 1 and source.random() < 0.5 else tuple(entries)


def random_case(source):
    shape = tuple(source.randint(1, 9) for _ in range(source.randint(0, 4)))
    spec = {"chunks": tuple(source.randint(1, extent) for extent in shape)} if source.random() < 0.7 else {}
    return shape, {**spec, "shards": source.choice(["auto", None])}


def value_for(source, selected, number):
    """An array of the selected shape, one that is broadcast to it, or a number."""
    kind = source.random()
    if kind < 0.3:
        return number
    shape = numpy.shape(selected)
    if kind < 0.6 and shape:
        shape = shape[-1:]
    return numpy.arange(number, number + int(numpy.prod(shape)), dtype="f8").reshape(shape)


def test_random_indices_read_and_write_as_numpy(store):
    source = random.Random(SEED)
    print(f"PARAPET_TEST_SEED={SEED}")
    for case in range(CASES):
        shape, spec = random_case(source)
        expected = numpy.arange(numpy.prod(shape), dtype="f8").reshape(shape)
        array = store.create_array("a", shape=shape, dtype="f8", overwrite=True, **spec)
        array[...] = expected
        index = random_index(source, shape)
        selected = expected[index]
        found = array[index]
        assert numpy.shape(found) == numpy.shape(selected), (case, shape, index)
        assert numpy.array_equal(found, selected), (case, shape, index)
        value = value_for(source, selected, 1000 * case)
        expected[index] = value
        array[index] = value
        assert numpy.array_equal(array[...], expected), (case, shape, index, value)
        array.close()


@pytest.mark.parametrize("index", [(0, 0, 0), 10, -11, [10], numpy.zeros(3, bool), "a", 1.5, (Ellipsis, Ellipsis),
                                   ([0], [0]), numpy.zeros((2, 2), int), True])
def test_wrong_indices_are_index_errors(store, index):
    array = store.create_array("a", shape=(10, 4), dtype="f8")
    with pytest.raises(IndexError):
        array[index]


def test_many_strides_are_read_and_written_through_the_box_around_them(store):
    expected = numpy.arange(200 * 200, dtype="i4").reshape(200, 200)
    array = store.create_array("a", shape=(200, 200), dtype="i4")
    array[...] = expected
    assert numpy.array_equal(array[::2, ::-2], expected[::2, ::-2])
    array[::2, 1::2] = expected[1::2, ::2]
    expected[::2, 1::2] = expected[1::2, ::2]
    assert numpy.array_equal(array[...], expected)


def test_an_assignment_that_would_change_the_kind_is_refused(store):
    array = store.create_array("a", shape=(4,), dtype="i4")
    with pytest.raises(TypeError):
        array[:] = numpy.array([1.5, 2, 3, 4])
    array[:] = 7.0
    assert array[:].tolist() == [7, 7, 7, 7]


def test_an_array_becomes_one_of_numpy(store):
    array = store.create_array("a", shape=(4,), dtype="i4")
    array[:] = [0, 1, 2, 3]
    assert numpy.asarray(array).tolist() == [0, 1, 2, 3]
    assert numpy.asarray(array, dtype="f8").dtype == "f8"


@pytest.mark.parametrize("dtype", ["?", "i1", "u8", "f2", "f8", "c16", "M8[s]", "m8[ms]", "V3"])
def test_usual_index__writes_and_reads_every_type(tmp_path, dtype):
    with parapet.open(tmp_path / "types.zarr", "a") as store:
        array = store.create_array("x", shape=(4, 6), dtype=dtype, chunks=(3, 4))
        data = numpy.arange(4 * 6 * array.dtype.itemsize, dtype="u1") % 2
        data = data.view(array.dtype).reshape(4, 6)
        array[:] = data
        array[1, 2:4] = data[0, :2]
        data[1, 2:4] = data[0, :2]
        out = numpy.empty_like(data)
        assert array.read((0, 0), out=out) is out
        for found in (array[...], array[:], out, array.read()):
            assert found.dtype == data.dtype and found.tobytes() == data.tobytes()
        assert array[-1, -1] == data[-1, -1] and array[2, 1:3].tobytes() == data[2, 1:3].tobytes()


def test_usual_index__leaves_to_others_what_it_cannot_do(tmp_path):
    with parapet.open(tmp_path / "others.zarr", "a") as store:
        array = store.create_array("x", shape=(4, 6), dtype="f4")
        array[1, 1] = numpy.int16(3)  # another type
        array[2] = numpy.arange(12.0)[::2]  # strided, and of another type
        array.write(numpy.ones((1, 6), "f4"), start=[3, 0])  # a list
        assert array[:, 1].tolist() == [0, 3, 2, 1]
        frozen = numpy.zeros((4, 6), "f4")
        frozen.flags.writeable = False
        with pytest.raises(parapet.ArgumentError, match="read-only"):
            array.read((0, 0), out=frozen)
        for start in ((0.5, 0), (2**70, 0), (0, 0, 0), ("a", 0)):
            with pytest.raises((parapet.ArgumentError, TypeError, ValueError, OverflowError)):
                array.write(numpy.ones((1, 6, 1)[:len(start)], "f4"), start=start)
        assert array[0].tolist() == [0] * 6


def test_progress__is_told_everything_only_if_it_was_asked_for(tmp_path):
    calls = []
    with parapet.open(tmp_path / "told.zarr", "a", progress=lambda done, total: calls.append((done, total))) as store:
        array = store.create_array("x", shape=(4,), dtype="f8")
        calls.clear()
        array[:] = 1
        assert calls and calls[-1][0] == calls[-1][1] == 32
