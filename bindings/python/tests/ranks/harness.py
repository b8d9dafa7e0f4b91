"""Runs the tests of a program on all ranks: each function test_* in turn, and all ranks learn who failed.

    if __name__ == "__main__":
        harness.main(globals())
"""
import contextlib
import faulthandler
import os
import shutil
import signal
import sys
import tempfile
import traceback

from mpi4py import MPI

SECONDS = 60  # ends what hangs, and says where
comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
signal.signal(signal.SIGINT, signal.default_int_handler)  # a script's `command &` ignores it


@contextlib.contextmanager
def folder():
    """The path of an empty folder that all ranks see."""
    where = "/dev/shm" if os.path.isdir("/dev/shm") else None
    path = comm.bcast(tempfile.mkdtemp(prefix="parapet_python_", dir=where) if rank == 0 else None)
    try:
        yield path
        comm.Barrier()
    finally:
        if rank == 0:
            shutil.rmtree(path, ignore_errors=True)


def raised(function, *arguments):
    """The exception that a call raises on this rank, or None."""
    try:
        function(*arguments)
    except BaseException as error:
        return error
    return None


def names_on_all(error):
    """The class names of what each rank has caught."""
    return comm.allgather(type(error).__name__)


def tree(path):
    """All files below a folder with their bytes, without what Parapet keeps for itself."""
    found = {}
    for where, folders, files in os.walk(path):
        folders[:] = [name for name in folders if name != "__parapet"]
        for name in files:
            full = os.path.join(where, name)
            with open(full, "rb") as file:
                found[os.path.relpath(full, path)] = file.read()
    return found


def main(names):
    """Runs the tests; the exit code says whether all passed on all ranks."""
    failures = 0
    faulthandler.dump_traceback_later(SECONDS, exit=True)
    for name, function in list(names.items()):
        if not name.startswith("test_") or (len(sys.argv) > 1 and name not in sys.argv[1:]):
            continue
        error = raised(function)
        if error is not None:
            text = "".join(traceback.format_exception(error))
            sys.stderr.write(f"--- rank {rank}: {name}\n{text}")
            sys.stderr.flush()
        count = comm.allreduce(int(error is not None))
        failures += count > 0
        if rank == 0:
            print(f"{'failed' if count else 'passed'}: {name}", flush=True)
    sys.exit(1 if failures else 0)
