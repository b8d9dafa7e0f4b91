"""Copies and plans on one process."""
import os

import numpy
import pytest

import parapet
from parapet import copying
from parapet.progress import Bar

FIELD = numpy.arange(40 * 30, dtype="f4").reshape(40, 30)


@pytest.fixture
def maps(folder):
    with parapet.open(f"{folder}/in.zarr", "a") as store:
        array = store.create_array("g/t", shape=FIELD.shape, dtype="f4", chunks=(1, 30), dimension_names=("time", "x"))
        array[...] = FIELD
    return folder


def test_a_copy_by_paths(maps):
    seen = []
    result = parapet.copy(f"{maps}/in.zarr/g/t", f"{maps}/out.zarr/t", chunks={"time": -1, "x": 5}, max_mem="1MiB",
                          codec="gzip:1", verify=True, progress=lambda done, total: seen.append((done, total)))
    assert result.arrays == 1 and result.verified_bytes == FIELD.nbytes and seen[-1][0] == seen[-1][1] > 0
    with parapet.open(f"{maps}/out.zarr") as store:
        assert store["t"].chunks == (40, 5) and "gzip" in store["t"].codecs
        assert numpy.array_equal(store["t"][...], FIELD)


def test_a_copy_of_a_region_in_another_order(maps):
    parapet.copy(f"{maps}/in.zarr/g/t", f"{maps}/out.zarr/t", order=("x", "-time"), region={"time": (10, 20)})
    with parapet.open(f"{maps}/out.zarr") as store:
        assert numpy.array_equal(store["t"][...], FIELD[10:20][::-1].T)


def test_a_group_is_appended_along_a_dimension(folder):
    with parapet.open(f"{folder}/in.zarr", "a") as store:
        for name, first, length in (("a", 0, 3), ("b", 3, 4)):
            for path, shape in ((f"{name}/time", (length,)), (f"{name}/t", (length, 2))):
                array = store.create_array(path, shape=shape, dtype="i4", chunks=(2,) + shape[1:],
                                           dimension_names=("time", "x")[:len(shape)])
                array[...] = numpy.arange(numpy.prod(shape)).reshape(shape) + first * numpy.prod(shape[1:], dtype=int)
        result = parapet.copy(store["b"], (store, "a"), append="time")
        assert (result.extent_before, result.extent_after, result.repaired) == (3, 7, "none")
        assert parapet.copy(store["b"], (store, "a"), append="time").extent_before == 7
        assert numpy.array_equal(store["a/t"][...], numpy.arange(14).reshape(7, 2))
        with pytest.raises(parapet.ArgumentError, match="append and chunks"):
            parapet.copy(store["b"], (store, "a"), append="time", chunks=(1,))
        with pytest.raises(TypeError, match="one dimension"):
            parapet.copy(store["b"], (store, "a"), append=["time", "x"])


def test_a_copy_of_a_part_of_a_group(maps):
    with parapet.open(f"{maps}/in.zarr", "r+") as store:
        for name in ("g/u", "g/u_bnds"):
            store.create_array(name, shape=(3,), dtype="f4", chunks=(3,))
        parapet.copy(store["g"], (store, "some"), include=["t", "u*"], exclude="*_bnds")
        assert sorted(store["some"]) == ["t", "u"]
        with pytest.raises(parapet.ArgumentError, match="nothing named \"v\""):
            parapet.copy(store["g"], (store, "none"), include="v")


def test_a_copy_of_a_group_within_a_store(maps):
    with parapet.open(f"{maps}/in.zarr", "r+") as store:
        assert parapet.copy(store["g"], (store, "h"), shards="none").arrays == 1
        assert store["h/t"].shards is None and numpy.array_equal(store["h/t"][...], FIELD)
        with pytest.raises(parapet.ExistsError):
            parapet.copy(store["g/t"], (store, "h/t"))
        parapet.copy(store["g/t"], (store, "h/t"), overwrite=True)


def test_files_of_other_formats(maps):
    seen = []
    left_out = parapet.write_file(f"{maps}/in.zarr/g/t", f"{maps}/t.npy", verify=True,
                                  progress=lambda done, total: seen.append((done, total)))
    assert left_out == ["the names of the dimensions"] and seen[-1] == (2 * FIELD.nbytes, 2 * FIELD.nbytes)
    assert numpy.array_equal(numpy.load(f"{maps}/t.npy"), FIELD)
    with parapet.open(f"{maps}/in.zarr") as store:
        with pytest.raises(parapet.ExistsError, match="overwrite"):
            parapet.write_file(store["g/t"], f"{maps}/t.npy")
        assert parapet.write_file((store, "g"), f"{maps}/g.nc", include="t", overwrite=True) == []
        assert parapet.write_file(store["g"], f"{maps}/none.nc", dry_run=True) == []
    with parapet.open(f"{maps}/g.nc") as store:
        assert numpy.array_equal(store["t"][...], FIELD) and store["t"].dimension_names == ("time", "x")
    assert sorted(os.listdir(maps)) == ["g.nc", "in.zarr", "t.npy"]


def test_a_file_that_is_given_up_is_not_there(maps):
    def give_up(done, total):
        raise KeyboardInterrupt

    with parapet.open(f"{maps}/in.zarr") as store, pytest.raises(KeyboardInterrupt):
        parapet.write_file(store["g/t"], f"{maps}/t.npy", progress=give_up)
    assert os.listdir(maps) == ["in.zarr"]


def test_a_plan_shows_itself_and_runs(maps):
    plan = parapet.plan_copy(f"{maps}/in.zarr/g/t", f"{maps}/out.zarr/t", chunks={"time": -1, "x": 5}, no_probe=True)
    assert isinstance(plan.data, dict) and str(plan) == plan.text and plan.text
    assert "<svg" in plan._repr_svg_() and "<pre>" in plan._repr_html_() and "CopyPlan" in repr(plan)
    assert plan.run().arrays == 1


def test_wrong_arguments(maps):
    with pytest.raises(parapet.ArgumentError):
        parapet.copy(f"{maps}/in.zarr/g/t", f"{maps}/out.zarr/t", chunk=3)
    with pytest.raises(parapet.ArgumentError):
        parapet.copy(f"{maps}/in.zarr/g/t", f"{maps}/out.zarr/t", chunks={"height": 3})
    with pytest.raises(parapet.ArgumentError):
        parapet.copy(f"{maps}/in.zarr/g/t", f"{maps}/out.zarr/t", region=[slice(0, 4, 2)])


def test_a_copy_that_was_cancelled_is_resumed(maps):
    def stop(done, total):
        if done > total // 2:
            raise KeyboardInterrupt

    arguments = {"chunks": {"time": -1, "x": 1}, "unit_bytes": 4096, "max_mem": "1MiB"}
    with pytest.raises(KeyboardInterrupt):
        parapet.copy(f"{maps}/in.zarr/g/t", f"{maps}/out.zarr/t", progress=stop, **arguments)
    assert parapet.copy(f"{maps}/in.zarr/g/t", f"{maps}/out.zarr/t", resume=True, **arguments).arrays == 1
    with parapet.open(f"{maps}/out.zarr") as store:
        assert numpy.array_equal(store["t"][...], FIELD)


def test_paths_are_divided_where_a_store_begins(maps):
    assert copying.split_path(f"{maps}/in.zarr/g/t/") == (f"{maps}/in.zarr", "g/t")
    assert copying.split_path("memory:x/a/b") == ("memory:x", "a/b")
    assert copying.split_path(f"{maps}/plain") == (f"{maps}/plain", "")


def test_a_bar_ends_its_line(capsys):
    bar = Bar()
    bar(0, 100)
    bar(100, 100)
    bar.end()
    assert capsys.readouterr().err.endswith("100% of 100 B\n")
