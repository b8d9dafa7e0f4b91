"""Series and checkpoints on one process."""
import pathlib

import numpy
import pytest

import parapet

SPEC = parapet.ArraySpec((0, 3, 4), "f4", chunks=(1, 3, 4), shards=(4, 3, 4), dimension_names=("time", "y", "x"))
STATE = parapet.ArraySpec((6,), "f8")


def test_a_series_grows_and_is_continued(folder):
    with parapet.open(f"{folder}/s", "a") as store:
        with parapet.Series.create(store, "h", {"u": SPEC, "v": SPEC}, attributes={"title": "run"},
                                   coordinate_attributes={"units": "hours since 2000-01-01"}) as series:
            for step in range(6):
                series.append(step / 2, {"u": numpy.full((3, 4), step, "f4"),
                                         "v": [parapet.Part(numpy.ones((3, 2), "f4"), (0, 2))]})
            assert (series.info.steps, series.info.steps_committed, series.info.steps_per_row) == (6, 4, 4)
            series.flush()
            assert series.info.steps_committed == 6 and "step" in series.explain()
        with parapet.Series.open(store, "h") as series:
            assert series.names == ("u", "v") and series.dimension == "time"
            series.append(3, {"u": numpy.full((3, 4), 6, "f4")})
        assert store["h/u"][:, 0, 0].tolist() == list(range(7))
        assert store["h/v"][:6, 0].tolist() == [[0, 0, 1, 1]] * 6
        assert store["h/time"][:].tolist() == [0, 0.5, 1, 1.5, 2, 2.5, 3]
        assert store["h/time"].attrs["units"] == "hours since 2000-01-01" and store["h"].attrs["title"] == "run"
        parapet.Series.repair(store, "h", "refuse")


def test_a_series_that_is_described_wrongly(store):
    with pytest.raises(parapet.ArgumentError, match="begin with 0"):
        parapet.Series.create(store, "h", {"u": parapet.ArraySpec((3, 4), "f4")})
    with parapet.Series.create(store, "h", {"u": SPEC}) as series:
        with pytest.raises(parapet.ArgumentError, match="no array 'w'"):
            series.append(0, {"w": numpy.zeros((3, 4), "f4")})
        with pytest.raises(parapet.ArgumentError):
            series.append(0, {"u": numpy.zeros((1, 3, 4), "f4")})
    with pytest.raises(parapet.ExistsError):
        parapet.Series.create(store, "h", {"u": SPEC})


def put(store, value, **options):
    with parapet.Checkpoint(store, "c", **options) as checkpoint:
        checkpoint.put({"u": parapet.CheckpointItem(STATE, numpy.full(6, value))})
        checkpoint.set_attribute("step", value)
    return checkpoint.generation


def test_generations_are_kept_and_restored(folder):
    with parapet.open(f"{folder}/s", "a") as store:
        assert [put(store, float(value)) for value in range(3)] == [1, 2, 3]
        assert parapet.list_generations(store, "c") == [3, 2]
        with parapet.Restore(store, "c") as restore:
            assert (restore.generation, restore.names, restore.attributes) == (3, ("u",), {"step": 2.0})
            assert restore.get("u", 1, 4).tolist() == [2.0] * 4
        with parapet.Restore(store, "c", 2) as restore:
            out = numpy.zeros(6)
            restore.get_parts({"u": [parapet.Part(out[:3]), parapet.Part(out[3:], 3)]})
            assert out.tolist() == [1.0] * 6
        assert put(store, 9.0, generation=17, keep=-1) == 17
        with pytest.raises(parapet.NotFoundError):
            parapet.Restore(store, "c", 4)


def test_arrays_of_a_generation_and_of_a_series_tell_what_they_are_like(folder):
    days = numpy.array(["2000-01-01", "2000-01-02"], "M8[D]")
    items = {"days": parapet.CheckpointItem(parapet.ArraySpec((2,), "M8[D]"), days),
             "mask": parapet.CheckpointItem(parapet.ArraySpec((2, 3), "u1"), numpy.full((2, 3), 200, "u1"))}
    with parapet.open(f"{folder}/s", "a") as store:
        with parapet.Checkpoint(store, "c") as checkpoint:
            checkpoint.put(items)
        with parapet.Restore(store, "c") as restore:
            assert restore.dtypes == {"days": days.dtype, "mask": numpy.dtype("u1")}
            assert restore.shapes == {"days": (2,), "mask": (2, 3)}
            assert restore.get("days").tolist() == days.tolist()
            assert restore.get("mask", (1, 1)).tolist() == [[200, 200]]
            with pytest.raises(parapet.NotFoundError):
                restore.get("nothing")
        with parapet.Series.create(store, "h", {"u": SPEC}) as series:
            assert (series.dtypes, series.shapes) == ({"u": numpy.dtype(SPEC.dtype)}, {"u": tuple(SPEC.shape[1:])})


def test_a_damaged_generation_is_passed_over(folder):
    with parapet.open(f"{folder}/s", "a") as store:
        put(store, 1.0)
        put(store, 2.0)
        with parapet.Restore(store, "c") as restore:
            newest = restore.path
        for path in pathlib.Path(folder, "s", newest, "u", "c").rglob("*"):
            if path.is_file():
                path.write_bytes(b"")
        with parapet.Restore(store, "c") as restore:
            assert (restore.generation, restore.passed_over) == (1, 1) and restore.problem


def test_a_block_that_fails_leaves_no_generation(folder):
    with parapet.open(f"{folder}/s", "a") as store:
        with pytest.raises(RuntimeError), parapet.Checkpoint(store, "c") as checkpoint:
            checkpoint.put({"u": parapet.CheckpointItem(STATE, numpy.zeros(6))})
            raise RuntimeError
        assert parapet.list_generations(store, "c") == [] and checkpoint.generation is None
