"""Restores a state, or begins; computes three steps; saves it: mpiexec -n 4 python restart.py STORE"""
import sys

import numpy
from mpi4py import MPI

import parapet

SHAPE = (36, 48)
comm = MPI.COMM_WORLD
start, count = parapet.Distribution(SHAPE, mesh=(comm.size, 1)).box(comm.rank)
y, x = numpy.ogrid[start[0]:start[0] + count[0], 0:SHAPE[1]]
state, step = numpy.zeros(count), 0

with parapet.open(sys.argv[1], "r+", comm) as store:
    try:
        with parapet.Restore(store, "restart") as restore:
            restore.get("state", start, out=state)
            step = restore.attributes["step"]
    except parapet.NotFoundError:
        pass  # the first run

    for step in range(step + 1, step + 4):
        state = 0.5 * state + SHAPE[1] * y + x

    with parapet.Checkpoint(store, "restart") as checkpoint:
        checkpoint.put({"state": parapet.CheckpointItem(parapet.ArraySpec(SHAPE, "f8"), parapet.Part(state, start))})
        checkpoint.set_attribute("step", step)
