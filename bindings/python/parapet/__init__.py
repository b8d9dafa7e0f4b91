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
from .spec import ArraySpec
from .statistics import Statistics
from .store import Removal, Store, open

__all__ = [
    "Array", "ArgumentError", "ArraySpec", "Attributes", "BusyError", "CancelledError", "CheckReport", "CorruptError",
    "DeadlineError", "Distribution", "ExistsError", "Finding", "FormatError", "Group", "InternalError", "MPIError",
    "MemoryLimitError", "MissingError", "NoSpaceError", "NotFoundError", "ParapetError", "Part", "Removal",
    "StaleError", "Statistics", "StorageError", "Store", "UnsupportedError", "open",
]
