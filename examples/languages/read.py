"""Reads the field in bands of rows and writes it doubled: mpiexec -n 3 python read.py STORE"""
import sys

from mpi4py import MPI

import parapet

SHAPE = (36, 48)
comm = MPI.COMM_WORLD
start, count = parapet.Distribution(SHAPE, mesh=(comm.size, 1)).box(comm.rank)

with parapet.open(sys.argv[1], "r+", comm) as store:
    band = store["field"].read(start, count)
    store.create_array("doubled", shape=SHAPE, dtype="f8").write(2 * band, start)
