"""What the tests of one process share."""
import itertools
import shutil
import signal
import tempfile

import pytest

import parapet

_numbers = itertools.count()
signal.signal(signal.SIGINT, signal.default_int_handler)  # a script's `command &` ignores it


@pytest.fixture
def folder():
    """An empty folder, on memory where there is one."""
    path = tempfile.mkdtemp(prefix="parapet_python_", dir="/dev/shm" if shutil.os.path.isdir("/dev/shm") else None)
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def store():
    """An empty store inside this process."""
    with parapet.open(f"memory:test{next(_numbers)}", "a") as opened:
        yield opened
