"""Writes a field, in blocks with a halo: mpiexec -n 4 python write.py STORE"""
import sys

import numpy
from mpi4py import MPI

import parapet

SHAPE = (36, 48)
comm = MPI.COMM_WORLD
blocks = parapet.Distribution(SHAPE, mesh=MPI.Compute_dims(comm.size, 2))
start, count = blocks.box(comm.rank)

field = numpy.zeros((count[0] + 2, count[1] + 2))
y, x = numpy.ogrid[start[0]:start[0] + count[0], start[1]:start[1] + count[1]]
field[1:-1, 1:-1] = 100 * y + x

with parapet.open(sys.argv[1], "a", comm) as store:
    array = store.create_array("field", shape=SHAPE, dtype="f8", chunks=(16, 20), dimension_names=("y", "x"),
                               attributes={"units": "K"})
    array.write(field[1:-1, 1:-1], start)
