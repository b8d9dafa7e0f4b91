"""One exception class for each status of the library. Each is also the built-in exception that fits it best.

>>> import parapet
>>> try:
...     parapet.open("/no/such/store.zarr")
... except parapet.NotFoundError as error:
...     print(error.status)
PARAPET_ERR_NOT_FOUND
"""
from __future__ import annotations

import builtins

from . import _callbacks
from . import _library as c

# How the library ends the sentence by which it says that ranks made different calls.
_DIFFERENT_CALLS = "all ranks must make the same call with the same arguments"


class ParapetError(Exception):
    """A call of the library failed. The text is one sentence that says what failed, where and why."""

    status = ""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class ArgumentError(ParapetError, ValueError):
    """The call itself is wrong: a box outside the array, a bad option, ranks that disagree."""

    status = "PARAPET_ERR_ARGUMENT"


class NotFoundError(ParapetError, KeyError):
    """There is no such store, group, array or attribute."""

    status = "PARAPET_ERR_NOT_FOUND"


class ExistsError(ParapetError, FileExistsError):
    """The call would overwrite something without having been told to."""

    status = "PARAPET_ERR_EXISTS"


class StorageError(ParapetError, OSError):
    """The storage failed."""

    status = "PARAPET_ERR_IO"


class NoSpaceError(ParapetError, OSError):
    """The storage or the quota is full."""

    status = "PARAPET_ERR_NO_SPACE"


class MemoryLimitError(ParapetError, MemoryError):
    """The memory limit or the machine's memory is too small."""

    status = "PARAPET_ERR_MEMORY"


class FormatError(ParapetError, ValueError):
    """The stored metadata or data is not valid Zarr, or contradicts itself."""

    status = "PARAPET_ERR_FORMAT"


class UnsupportedError(ParapetError, NotImplementedError):
    """Valid Zarr that is not implemented here; the sentence names the field."""

    status = "PARAPET_ERR_UNSUPPORTED"


class CorruptError(ParapetError):
    """A checksum, length or digest does not match: the stored bytes changed."""

    status = "PARAPET_ERR_CORRUPT"


class MissingError(ParapetError):
    """A sealed array lacks a shard that its seal lists."""

    status = "PARAPET_ERR_MISSING"


class CancelledError(ParapetError):
    """A callback asked to stop, on this rank or another."""

    status = "PARAPET_ERR_CANCELLED"


class MPIError(ParapetError):
    """MPI reported an error, is finalised, or did not start this process."""

    status = "PARAPET_ERR_MPI"


class InternalError(ParapetError):
    """A bug in Parapet; please report it."""

    status = "PARAPET_ERR_INTERNAL"


class DeadlineError(ParapetError, builtins.TimeoutError):
    """A rank did not arrive within `deadline_seconds`; the store can now only be closed."""

    status = "PARAPET_ERR_TIMEOUT"


class BusyError(ParapetError):
    """Another job is changing it; the sentence says who, where and since when."""

    status = "PARAPET_ERR_BUSY"


class StaleError(ParapetError):
    """Another job changed it after this one read it; open it again, or repeat the call."""

    status = "PARAPET_ERR_STALE"


_CLASSES: dict[str, type[ParapetError]] = {one.status: one for one in ParapetError.__subclasses__()}


def of_status(status: int) -> ParapetError:
    """The exception for the call of the library that has just returned this status."""
    sentence = _callbacks.text(c.lib.parapet_error_message())
    name = _callbacks.text(c.lib.parapet_status_name(status))
    return _CLASSES.get(name, InternalError)(sentence)


def is_difference(status: int) -> bool:
    """Whether the call of the library that has just returned this status was not the same on all ranks."""
    return (status == c.lib.PARAPET_ERR_ARGUMENT
            and _DIFFERENT_CALLS in _callbacks.text(c.lib.parapet_error_message()))


def check(status: int, receiver: _callbacks.Receiver | None = None) -> None:
    """Raises what a call has come to: what failed in a callback of this process, or what the library says."""
    check_with(status, receiver.take_failure() if receiver is not None else None)


def check_with(status: int, failure: BaseException | None) -> None:
    """The same with what failed in a callback."""
    error = of_status(status) if status != 0 else None
    if failure is not None:
        raise failure from error
    if error is not None:
        raise error
