"""Appends five hourly maps to a series: mpiexec -n 4 python append.py STORE"""
import sys

import numpy
from mpi4py import MPI

import parapet

SHAPE = (36, 48)
comm = MPI.COMM_WORLD
start, count = parapet.Distribution(SHAPE, mesh=(comm.size, 1)).box(comm.rank)
y, x = numpy.ogrid[start[0]:start[0] + count[0], 0:SHAPE[1]]
maps = parapet.ArraySpec((0, *SHAPE), "f4", chunks=(4, 18, 48), shards=(4, 18, 48), dimension_names=("time", "y", "x"),
                         attributes={"units": "K"})

with parapet.open(sys.argv[1], "r+", comm) as store:
    with parapet.Series.create(store, "history", {"t2m": maps},
                               coordinate_attributes={"units": "hours since 2000-01-01"}) as history:
        for hour in range(5):
            t2m = (1000 * hour + 100 * y + x).astype("f4")
            history.append(hour, {"t2m": parapet.Part(t2m, start)})
