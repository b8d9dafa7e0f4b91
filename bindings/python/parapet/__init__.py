"""Large multidimensional arrays on storage, as plain Zarr v3, from one process or from all ranks of an MPI program.

>>> import numpy, parapet
>>> with parapet.open("memory:start", "a") as store:
...     density = store.create_array("density", shape=(100, 200), dtype="f8", dimension_names=("y", "x"))
...     density[:] = numpy.ones((100, 200))
...     float(density[10, 20:30].sum())
10.0

With MPI, import `mpi4py.MPI`, hand its communicator to `open`, and let each rank write and read its own boxes with
`Array.write` and `Array.read`.
"""
from ._parts import Part
from .array import Array
from .attributes import Attributes
from .checking import CheckReport, Finding
from .checkpoint import Checkpoint, CheckpointItem, Restore, list_generations
from .copying import CopyResult, copy, plan_copy, write_file
from .distribution import Distribution
from .errors import (
    ArgumentError,
    BusyError,
    CancelledError,
    CorruptError,
    DeadlineError,
    ExistsError,
    FormatError,
    InternalError,
    MemoryLimitError,
    MissingError,
    MPIError,
    NoSpaceError,
    NotFoundError,
    ParapetError,
    StaleError,
    StorageError,
    UnsupportedError,
)
from .group import Group
from .plan import CopyPlan, Plan, plan_transfer
from .request import Request
from .series import Series, SeriesInfo
from .spec import ArraySpec
from .statistics import Statistics
from .store import Removal, Store, open
from .transfers import read_arrays, start_read_arrays, start_write_arrays, write_arrays
from .version import Launch, launch, version

__all__ = [
    "ArgumentError", "Array", "ArraySpec", "Attributes", "BusyError", "CancelledError", "CheckReport", "Checkpoint",
    "CheckpointItem", "CopyPlan", "CopyResult", "CorruptError", "DeadlineError", "Distribution", "ExistsError",
    "Finding", "FormatError", "Group", "InternalError", "Launch", "MPIError", "MemoryLimitError", "MissingError",
    "NoSpaceError", "NotFoundError", "ParapetError", "Part", "Plan", "Removal", "Request", "Restore", "Series",
    "SeriesInfo", "StaleError", "Statistics", "StorageError", "Store", "UnsupportedError", "copy", "launch",
    "list_generations", "open", "plan_copy", "plan_transfer", "read_arrays", "start_read_arrays", "start_write_arrays", "version",
    "write_arrays", "write_file",
]
