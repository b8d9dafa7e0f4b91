"""Labelled data of all ranks: units of time are those of one rank, and what one rank has wrong fails on all."""
import numpy
import xarray
from harness import comm, folder, main, names_on_all, raised, rank, size

import parapet
import parapet.xarray


def block(extra=None):
    """Hours that differ from rank to rank, so that each rank would choose units of its own."""
    hours = numpy.datetime64("2026-01-01", "ns") + numpy.arange(rank * 3, rank * 3 + 3) * numpy.timedelta64(7, "h")
    return xarray.Dataset({"t": (("time", "x"), numpy.full((3, 4), float(rank))), **(extra or {})},
                          {"time": hours, "x": numpy.arange(4.0)}, {"title": "ranks"})


CUT = {"offsets": {"time": 3 * rank}, "sizes": {"time": 3 * size}}


def test_units_of_time_are_shared():
    with folder() as where:
        parapet.xarray.write(block(), f"{where}/s.zarr", comm, **CUT)
        found = xarray.open_zarr(f"{where}/s.zarr").load()
        assert found.t[:, 0].values.tolist() == [float(i // 3) for i in range(3 * size)]
        assert (numpy.diff(found.time.values) == numpy.timedelta64(7, "h")).all() and found.attrs["title"] == "ranks"


def test_what_one_rank_has_wrong_fails_on_all():
    with folder() as where:
        for number, wrong in enumerate((
                lambda: parapet.xarray.write(block(), f"{where}/a", comm, offsets={"z": 0}, sizes={"z": 1}),
                lambda: parapet.xarray.write(block({"v": ("x", [1, 2, 3, 4])}), f"{where}/a", comm, **CUT),
                lambda: parapet.xarray.write(block({"n": ("x", list("abcd"))}), f"{where}/a", comm, **CUT))):
            usual_block = block({"n": ("x", [1, 2, 3, 4])} if number == 2 else None)

            def usual(data=usual_block):
                parapet.xarray.write(data, f"{where}/a", comm, **CUT)

            error = raised(wrong if rank == size - 1 else usual)
            assert names_on_all(error) == ["ArgumentError"] * size, (number, error)


if __name__ == "__main__":
    main(globals())
