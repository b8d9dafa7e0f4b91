"""Copies the field with chunks of whole columns: mpiexec -n 4 python rechunk.py STORE"""
import sys

from mpi4py import MPI

import parapet

comm = MPI.COMM_WORLD
with parapet.open(sys.argv[1], "r+", comm) as store:
    result = parapet.copy((store, "field"), (store, "columns"), chunks={"y": -1, "x": 4}, max_mem="16MiB")
if comm.rank == 0:
    print(result.array_bytes, "bytes in", result.chunks_written, "chunks")
