"""Ctrl-C on one rank, as SIGINT, ends a copy on all ranks; the copy is then resumed. It ends within a few of the steps that
the copy takes between two calls of its progress, of which it has many."""
import os
import signal
import threading
import time

import numpy
from harness import comm, folder, main, names_on_all, raised, rank, size

import parapet

SHAPE = (512, 64, 64)  # 16 MiB
STEPS_AT_MOST = 5


def make_source(path):
    with parapet.open(path, "a", comm, durability="leave") as store:
        array = store.create_array("t", shape=SHAPE, dtype="f8", chunks=(1, 64, 64), codec="none")
        first, end = SHAPE[0] * rank // size, SHAPE[0] * (rank + 1) // size
        array.write(numpy.arange(first * 4096, end * 4096, dtype="f8").reshape(-1, 64, 64), (first, 0, 0))


def slow(done, total):
    """A copy that would take long: its progress waits. The signal comes when a part is done."""
    called.append(done)
    if rank == size - 1 and done > total // 8 and not sent:
        sent.append(len(called))
        threading.Thread(target=os.kill, args=(os.getpid(), signal.SIGINT)).start()
    time.sleep(0.02)


called, sent = [], []


def test_an_interrupt_on_one_rank_ends_a_copy_on_all_and_it_resumes():
    with folder() as where:
        make_source(f"{where}/in.zarr")
        arguments = {"chunks": (-1, 8, 8), "max_mem": "4MiB", "unit_bytes": "1MiB", "comm": comm, "no_probe": True}
        error = raised(lambda: parapet.copy(f"{where}/in.zarr/t", f"{where}/out.zarr/t", progress=slow, **arguments))
        names = names_on_all(error)
        assert names == ["CancelledError"] * (size - 1) + ["KeyboardInterrupt"], repr(error)
        assert not sent or len(called) - sent[0] <= STEPS_AT_MOST, called
        result = parapet.copy(f"{where}/in.zarr/t", f"{where}/out.zarr/t", resume=True, **arguments)
        assert result.arrays == 1 and comm.allreduce(result.templates_resumed) > 0
        with parapet.open(f"{where}/out.zarr", "r", comm) as store:
            block = store["t"].read((0, 0, 0), (SHAPE[0], 1, 1))
        assert numpy.array_equal(block[:, 0, 0], numpy.arange(SHAPE[0]) * 4096)


if __name__ == "__main__":
    main(globals())
