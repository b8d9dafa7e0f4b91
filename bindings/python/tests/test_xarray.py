"""Labelled data comes back as xarray had it."""
import numpy
import pytest

import parapet

xarray = pytest.importorskip("xarray")
pytest.importorskip("zarr")
import parapet.xarray  # noqa: E402


def dataset(steps=3):
    time = numpy.array("2026-01-01T00", "M8[ns]") + numpy.arange(steps) * numpy.timedelta64(6, "h")
    return xarray.Dataset(
        {"t": (("time", "y", "x"), numpy.arange(steps * 12.0).reshape(steps, 3, 4), {"units": "K"}),
         "mask": (("y", "x"), numpy.eye(3, 4, dtype=bool)), "scalar": ((), 4.5)},
        {"time": time, "x": ("x", [0.1, 0.2, 0.3, 0.4], {"units": "m"}), "height": ("y", [1, 2, 3]),
         "area": (("y", "x"), numpy.ones((3, 4), "f4"))}, {"title": "a run", "Conventions": "CF-1.11"})


def test_a_dataset_comes_back(folder):
    written = dataset()
    parapet.xarray.write(written, f"{folder}/s.zarr")
    found = xarray.open_zarr(f"{folder}/s.zarr").load()
    xarray.testing.assert_identical(found, written)


def test_encodings_are_kept(folder):
    written = dataset()
    written["t"][0, 0, 0] = numpy.nan
    parapet.xarray.write(written, f"{folder}/s.zarr", encoding={
        "t": {"dtype": "i2", "scale_factor": 0.5, "_FillValue": -1, "chunks": (1, 3, 4), "codec": "gzip:1"},
        "time": {"units": "hours since 2000-01-01"}})
    found = xarray.open_zarr(f"{folder}/s.zarr").load()
    xarray.testing.assert_allclose(found, written)
    assert found.t.encoding["dtype"] == "i2" and found.t.encoding["chunks"] == (1, 3, 4)
    assert found.time.encoding["units"] == "hours since 2000-01-01"


def test_steps_are_appended_and_later_ones_too(folder):
    written = dataset(4)
    written["mask"].attrs["about"] = "where"
    for index in range(4):
        parapet.xarray.write(written.isel(time=[index]), f"{folder}/s.zarr", append_dim="time", group="history")
    found = xarray.open_zarr(f"{folder}/s.zarr/history").load()
    xarray.testing.assert_equal(found, written)
    assert found.mask.attrs == {"about": "where"} and found.attrs["title"] == "a run"


def test_a_data_array_without_a_name(folder):
    parapet.xarray.write(xarray.DataArray([1.0, 2.0], dims="x"), f"{folder}/s.zarr")
    assert xarray.open_zarr(f"{folder}/s.zarr").data_vars.keys() == {"data"}


def test_what_cannot_be_written_is_refused(folder):
    for arguments, words in (({"offsets": {"z": 0}, "sizes": {"z": 1}}, "not a dimension"),
                             ({"offsets": {"x": 0}}, "sizes must say")):
        with pytest.raises(parapet.ArgumentError, match=words):
            parapet.xarray.write(dataset(), f"{folder}/s.zarr", **arguments)
    with pytest.raises(parapet.ArgumentError, match="is text"):
        parapet.xarray.write(xarray.Dataset({"n": ("x", ["a", "bc"])}), f"{folder}/s.zarr")
