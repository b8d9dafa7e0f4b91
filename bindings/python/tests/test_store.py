"""Stores, groups, arrays and attributes on one process."""
import gc
import json
import os
import pathlib

import numpy
import pytest

import parapet
from parapet import _library

TYPES = ["bool", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16", "M8[s]", "M8[ns]",
         "m8[ms]", "V5"]


@pytest.mark.parametrize("name", TYPES)
def test_every_type_comes_back(store, name):
    dtype = numpy.dtype(name)
    values = numpy.frombuffer(bytes(range(1, 1 + 6 * dtype.itemsize)), dtype)
    if dtype.kind == "b":
        values = numpy.array([True, False] * 3)
    array = store.create_array("a", shape=(6,), dtype=dtype)
    array[:] = values
    assert array.dtype == dtype and array[:].tobytes() == values.tobytes()


def test_bfloat16_is_that_of_ml_dtypes(store):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    array = store.create_array("a", shape=(3,), dtype=ml_dtypes.bfloat16)
    array[:] = numpy.array([1, 2.5, -3], ml_dtypes.bfloat16)
    assert array.dtype == ml_dtypes.bfloat16 and array[:].astype("f4").tolist() == [1, 2.5, -3]


def test_what_an_array_is(store):
    array = store.create_array("g/a", shape=(10, 20), dtype="f4", chunks=(5, -1), shards=(10, 20), codec="gzip:6",
                               fill_value=-1, dimension_names=("y", "x"), attributes={"units": "m"})
    assert (array.path, array.name, array.shape, array.ndim, array.size, array.nbytes, len(array)) == \
        ("g/a", "a", (10, 20), 2, 200, 800, 10)
    assert (array.chunks, array.shards, array.dimension_names) == ((5, 20), (10, 20), ("y", "x"))
    assert array.fill_value == -1 and array[3, 4] == -1 and "gzip:6" in array.codecs
    assert dict(array.attrs) == {"units": "m"} and array.zarr_format == 3 and "chunk" in array.layout()


def test_chunks_that_are_files(store):
    assert store.create_array("a", shape=(4,), dtype="f4", chunks=(2,), shards=None).shards is None


@pytest.mark.parametrize("wrong", [{"chunks": (0,)}, {"chunks": (1, 1)}, {"chunks": "many"}, {"shards": (-2,)},
                                   {"dimension_names": "x"}, {"dimension_names": ("x", "y")}, {"fill_value": [1, 2]},
                                   {"codec": "squeeze"}, {"dtype": "O"}])
def test_wrong_descriptions_are_refused(store, wrong):
    with pytest.raises((parapet.ArgumentError, parapet.UnsupportedError)):
        store.create_array("a", **{"shape": (4,), "dtype": "f8", **wrong})


def test_groups_are_mappings(store):
    store.create_group("g/h")
    store.create_array("g/a", shape=(1,), dtype="f8")
    assert list(store) == ["g"] and sorted(store["g"]) == ["a", "h"] and len(store["g"]) == 2
    assert "g/a" in store and "g/b" not in store and "x/y" not in store and 3 not in store
    assert isinstance(store["g"]["a"], parapet.Array) and isinstance(store["g/h"], parapet.Group)
    assert store.get("nothing") is None
    with pytest.raises(KeyError) as caught:
        store["g/nothing"]
    assert isinstance(caught.value, parapet.NotFoundError) and "nothing" in str(caught.value)


def test_attributes_are_a_mapping(store):
    attributes = store.create_array("a", shape=(1,), dtype="f8").attrs
    attributes.update(number=numpy.float32(2.5), list=numpy.arange(3), text="\u00e4", nested={"a": [None, True]})
    assert dict(store["a"].attrs) == {"number": 2.5, "list": [0, 1, 2], "text": "\u00e4", "nested": {"a": [None, True]}}
    del attributes["number"]
    assert "number" not in attributes and len(attributes) == 3
    with pytest.raises(KeyError):
        del attributes["number"]
    with pytest.raises(KeyError):
        attributes["number"]
    with pytest.raises(TypeError):
        attributes["object"] = object()


def test_resizing_sealing_and_checking(folder):
    with parapet.open(f"{folder}/s", "a") as store:
        array = store.create_array("a", shape=(10,), dtype="i4", chunks=(2,), shards=(4,))
        array[:] = numpy.arange(10)
        array.resize(12)
        assert array.shape == (12,) and array[8:].tolist() == [8, 9, 0, 0]
        array.seal()
        assert array.is_sealed and array.check("data").is_sound
        assert array.stored_boxes() == [((0,), (4,)), ((4,), (4,)), ((8,), (4,))]
        os.remove(next(path for path in pathlib.Path(folder, "s/a/c").rglob("*") if path.is_file()))
        report = array.check()
        assert report.missing == 1 and report.findings[0].kind == "missing" and not report.is_sound
    with parapet.open(f"{folder}/s") as store, pytest.raises(parapet.MissingError):
        store["a"][:]


def test_modes(folder):
    with pytest.raises(parapet.NotFoundError):
        parapet.open(f"{folder}/s", "r+")
    with pytest.raises(parapet.ArgumentError, match="mode"):
        parapet.open(f"{folder}/s", "w")
    parapet.open(pathlib.Path(folder, "s"), "a").close()
    with parapet.open(f"{folder}/s") as store, pytest.raises(parapet.ArgumentError):
        store.create_group("g")


def test_options_that_are_texts(folder):
    path = pathlib.Path(folder) / "disks.txt"
    with parapet.open(f"{folder}/s", "a", sharing="weights", weights=path) as store:
        assert f"weights = {path} (given)" in store.options()


def test_options_and_statistics(folder):
    with parapet.open(f"{folder}/s", "a", memory_bytes="64MiB", durability="leave", elide_fill=True) as store:
        assert "memory_bytes = 64 MiB" in store.options() or "67108864" in store.options()
        store.create_array("a", shape=(4,), dtype="f8")[:] = 1
        assert store.statistics().chunks_encoded == 1
        assert 0 < store.statistics().storage_seconds < 3600
    with pytest.raises(parapet.ArgumentError, match="durability"):
        parapet.open(f"{folder}/s", "a", durability="sometimes")


def test_closing(folder):
    store = parapet.open(f"{folder}/s", "a")
    array = store.create_array("a", shape=(4,), dtype="f8")
    store.close()
    store.close()
    assert "closed" in repr(store) and "closed" in repr(array)
    with pytest.raises(parapet.ArgumentError, match="closed"):
        array[:]


def test_what_is_collected_is_closed(folder):
    with parapet.open(f"{folder}/s", "a") as store:
        store.create_array("a", shape=(4,), dtype="f8")
        for _ in range(10):
            store["a"]
        gc.collect()
        assert len(store._session.opened) <= 2  # the root, and at most the last one


def test_removing_an_array_and_a_group(folder):
    with parapet.open(f"{folder}/s", "a") as store:
        store.create_array("g/a", shape=(2,), dtype="i4")
        store.create_array("b", shape=(2,), dtype="i4")
        assert [removal.key for removal in store.remove("g", recursive=True, dry_run=True)] == ["g/a", "g"]
        for path in ("g", ""):
            with pytest.raises(parapet.ParapetError, match="is a group"):
                store.remove(path)
        assert [removal.reason for removal in store.remove("g", recursive=True)] == ["array", "group"]
        assert list(store) == ["b"]
        pathlib.Path(folder, "s", "b", "mine.txt").write_text("mine")
        with pytest.raises(parapet.ParapetError, match="mine.txt"):
            store.remove("b")
        assert "b" in store


def test_collecting_what_crashes_left(folder):
    with parapet.open(f"{folder}/s", "a") as store:
        store.create_array("a", shape=(4,), dtype="f8").close()
        assert store.collect(dry_run=True) == [] and store.collect() == [] and "a" in store


def test_a_callback_that_raises_cancels(folder):
    def stop(done, total):
        raise RuntimeError("enough")

    with parapet.open(f"{folder}/s", "a", progress=stop) as store:
        array = store.create_array("a", shape=(1000,), dtype="f8")
        with pytest.raises(RuntimeError, match="enough") as caught:
            array[:] = 1
        assert isinstance(caught.value.__cause__, parapet.CancelledError)


def test_memory_is_used_as_it_is(store):
    array = store.create_array("a", shape=(4, 4), dtype="i4")
    array.write(bytearray(64) and numpy.frombuffer(bytearray(range(64)), "i4").reshape(4, 4)[::-1].T)
    out = numpy.empty((4, 4), "i4", order="F")
    assert array.read(out=out) is out and numpy.array_equal(out, array[...])
    out.flags.writeable = False
    with pytest.raises(parapet.ArgumentError, match="read-only"):
        array.read(out=out)


@pytest.mark.parametrize("view", [lambda a: a, numpy.transpose, lambda a: a[::2, ::-3], lambda a: a[1:-1, 1:-1],
                                  lambda a: a.astype("f8", order="F")])
def test_the_memory_itself_is_handed_over(view):
    from parapet._parts import CParts
    data = view(numpy.zeros((9, 12)))
    part = CParts([parapet.Part(data)], True).pointer[0]
    assert int(_library.ffi.cast("uintptr_t", part.data)) == data.__array_interface__["data"][0]
    assert tuple(part.strides_bytes[0:2]) == data.strides and tuple(part.count[0:2]) == data.shape


def test_a_sentence_says_what_failed(store):
    array = store.create_array("a", shape=(4,), dtype="i4")
    with pytest.raises(parapet.ArgumentError) as caught:
        array.write(numpy.zeros(3, "i4"), 2)
    assert 'cannot write array "a"' in str(caught.value) and isinstance(caught.value, ValueError)


def test_texts_are_read(folder):
    words = b"".join(len(text).to_bytes(4, "little") + text for text in (b"a", "\u00fc\0".encode()))
    document = {"zarr_format": 3, "node_type": "array", "shape": [2, 2], "data_type": "string", "fill_value": "none",
                "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1, 2]}},
                "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
                "codecs": [{"name": "vlen-utf8"}], "attributes": {}}
    folder = pathlib.Path(folder)
    (folder / "w.zarr/words/c/0").mkdir(parents=True)
    (folder / "w.zarr/zarr.json").write_text('{"zarr_format": 3, "node_type": "group", "attributes": {}}')
    (folder / "w.zarr/words/zarr.json").write_text(json.dumps(document))
    (folder / "w.zarr/words/c/0/0").write_bytes(b"\2\0\0\0" + words)
    with parapet.open(folder / "w.zarr") as store:
        array = store["words"]
        assert array.read_texts().tolist() == [["a", "\u00fc\0"], ["none", "none"]]
        assert array.read_texts((0, 1), (2, 1)).tolist() == [["\u00fc\0"], ["none"]]
        assert array.read_texts((2, 0)).shape == (0, 2)
        with pytest.raises(parapet.ArgumentError):
            array.read_texts((0, 0), (3, 2))
        with pytest.raises(parapet.ArgumentError):
            array.read_texts((0,), (1,))
