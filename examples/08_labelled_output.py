"""A model on a sphere of longitudes and latitudes that writes labelled output from all ranks, step by step.

    mpiexec -n 4 python 08_labelled_output.py ocean.zarr
    mpiexec -n 3 python 08_labelled_output.py ocean.zarr      continues it, on other ranks

Blocks are unequal and have a halo; chunks have nothing to do with them. The second run continues after the last step
that the first has committed. xarray opens the result at any time: xarray.open_zarr("ocean.zarr").
"""
import sys

import numpy
import xarray
from mpi4py import MPI

import parapet
import parapet.xarray

LAT, LON, HALO, STEPS = 90, 180, 2, 5
comm = MPI.COMM_WORLD


def cut(extent):
    """First row and end of this rank: the first ranks have more."""
    weights = numpy.arange(comm.size, 0, -1)
    ends = numpy.rint(extent * numpy.cumsum(weights) / weights.sum()).astype(int)
    return (int(ends[comm.rank - 1]) if comm.rank else 0), int(ends[comm.rank])


def exchange(field):
    """Fills the rows of the halo with those of the neighbours."""
    south = comm.rank - 1 if comm.rank else MPI.PROC_NULL
    north = comm.rank + 1 if comm.rank + 1 < comm.size else MPI.PROC_NULL
    comm.Sendrecv(field[HALO:2 * HALO].copy(), south, recvbuf=field[-HALO:], source=north)
    comm.Sendrecv(field[-2 * HALO:-HALO].copy(), north, recvbuf=field[:HALO], source=south)


def advance(field):
    exchange(field)
    field[HALO:-HALO] += 0.1 * (field[HALO - 1:-HALO - 1] - 2 * field[HALO:-HALO] + field[HALO + 1:field.shape[0] - 1])


def labelled(field, first, end, hour):
    """What this rank has, without its halo, with coordinates."""
    return xarray.Dataset(
        {"temperature": (("time", "lat", "lon"), field[None, HALO:-HALO], {"units": "K", "long_name": "temperature"})},
        {"time": [numpy.datetime64("2026-01-01", "ns") + numpy.timedelta64(hour, "h")],
         "lat": ("lat", -89 + 2.0 * numpy.arange(first, end), {"units": "degrees_north"}),
         "lon": ("lon", 2.0 * numpy.arange(LON), {"units": "degrees_east"})},
        {"Conventions": "CF-1.11", "title": "heat that spreads"})


def main():
    first, end = cut(LAT)
    rows = 280.0 + 20 * numpy.cos(numpy.arange(first, end) / 9)
    field = numpy.pad(numpy.repeat(rows[:, None], LON, axis=1), ((HALO, HALO), (0, 0)), mode="edge")
    layout = {"temperature": {"chunks": (1, 32, 50), "shards": (1, 64, 200)}}
    with parapet.open(sys.argv[1], "a", comm) as store:
        begun = store["time"].shape[0] if "time" in store else 0
        with parapet.xarray.Appender(store, "time", offsets={"lat": first}, sizes={"lat": LAT},
                                     encoding=layout) as output:
            for hour in range(begun + STEPS):
                if hour >= begun:
                    output.append(labelled(field, first, end, hour))
                advance(field)
    if comm.rank == 0:
        found = xarray.open_zarr(sys.argv[1])
        print(dict(found.sizes), str(found.time.values[-1])[:13], f"{float(found.temperature.mean()):.2f}")


if __name__ == "__main__":
    main()
