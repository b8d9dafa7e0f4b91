"""Writes, reads on other ranks, appends, saves, restores and copies. same.c leaves the same bytes. same.py FOLDER"""
import sys

import numpy
from mpi4py import MPI

import parapet

ROWS, COLUMNS = 60, 50
comm = MPI.COMM_WORLD
first, end = ROWS * comm.rank // comm.size, ROWS * (comm.rank + 1) // comm.size
field = numpy.arange(first * COLUMNS, end * COLUMNS, dtype="f8").reshape(end - first, COLUMNS)
mine = parapet.Part(field, start=(first, 0))
layout = {"dtype": "f8", "chunks": (7, 11), "shards": (28, 33), "dimension_names": ("y", "x")}
attributes = {"units": "m", "levels": [1, 2.5]}

with parapet.open(sys.argv[1], "a", comm) as store:
    with store.create_array("field", shape=(ROWS, COLUMNS), attributes=attributes, **layout) as array:
        array.write(field, start=(first, 0))
        left, right = COLUMNS * comm.rank // comm.size, COLUMNS * (comm.rank + 1) // comm.size
        columns = array.read((0, left), (ROWS, right - left))
        assert columns[0].tolist() == list(range(left, right)), "what other ranks wrote"

    steps = parapet.ArraySpec((0, ROWS, COLUMNS), "f8", chunks=(1, 7, 11), shards=(4, 28, 33),
                              dimension_names=("time", "y", "x"))
    with parapet.Series.create(store, "history", {"u": steps}, attributes={"title": "same"}) as history:
        for hour in range(5):
            history.append(hour, {"u": mine})
            field += 1

    state = parapet.CheckpointItem(parapet.ArraySpec((ROWS, COLUMNS), attributes=attributes, **layout), mine)
    with parapet.Checkpoint(store, "restart") as checkpoint:
        checkpoint.put({"u": state})
        checkpoint.set_attribute("step", 5)
    saved = field.copy()
    field[...] = 0
    with parapet.Restore(store, "restart") as restore:
        restore.get_parts({"u": mine})
        assert restore.attributes["step"] == 5 and numpy.array_equal(field, saved)

    parapet.copy((store, "field"), (store, "columns"), chunks={"y": -1, "x": 5}, no_probe=True)
