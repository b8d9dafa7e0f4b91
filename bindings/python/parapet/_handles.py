"""Handles of the C library: who owns them, and how they are closed when ranks may be out of step.

Closing is collective, so Python's garbage collector must not do it on several ranks: they would collect at different
times. A store therefore owns all that was opened in it, in the order of opening, which is the same on all ranks, and
closes what is still open when it is closed itself. In a store of one process, what is collected is closed.
"""
from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from . import _callbacks
from . import _library as c
from . import errors
from .errors import ArgumentError

Close = Callable[[Any], int]


class Session:
    """What all objects of one store share: its handle, its progress, what is open in it, and whether ranks parted.

    Ranks have parted when one of them left a `with` block by an exception while others went on. The library then says
    to each that they make different calls, once; after that, nobody waits for the others any more, and handles are
    left to the end of the process.
    """

    def __init__(self, handle: Any, comm: Any, progress: _callbacks.Receiver) -> None:
        self.handle, self.comm, self.progress = handle, comm, progress
        self.is_shared = comm is not None
        self.has_parted = False
        self.opened: dict[int, Handle] = {}

    def check(self, status: int) -> None:
        """Raises what a collective call has come to."""
        if status == 0 and self.progress.failure is None:
            return
        try:
            errors.check(status, self.progress)
        except ArgumentError as error:
            self.has_parted = self.has_parted or errors.DIFFERENT_CALLS in str(error)
            raise

    def close_all(self) -> None:
        """Closes everything that is open in the store, the last opened first."""
        for handle in reversed(list(self.opened.values())):
            handle.close()


class Handle:
    """A pointer to something of the library, and the function that closes it."""

    __slots__ = ("pointer", "session", "what", "_close", "__weakref__")

    def __init__(self, pointer: Any, session: Session, close: Close, what: str) -> None:
        self.pointer, self.session, self._close, self.what = pointer, session, close, what
        session.opened[id(self)] = self

    def get(self) -> Any:
        """What C takes."""
        pointer = self.pointer
        if pointer is None:
            raise ArgumentError(f"{self.what} is closed")
        return pointer[0]

    def close(self) -> None:
        """Closes it, unless that has been done or the ranks have parted."""
        pointer, self.pointer = self.pointer, None
        self.session.opened.pop(id(self), None)
        if pointer is not None and not self.session.has_parted:
            self.session.check(self._close(pointer))


class Owner:
    """A Python object that stands for a handle: closes it when told to, at the end of `with`, or when collected."""

    _handle: Handle

    def close(self) -> None:
        """[collective] Closes it. What is closed already stays so."""
        self._handle.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        if kind is None:
            self.close()
        else:
            self._leave()

    def _leave(self) -> None:
        """Closes after a failure, whose exception is the one to be raised."""
        try:
            self.close()
        except errors.ParapetError:
            pass

    def __del__(self) -> None:
        handle = getattr(self, "_handle", None)
        if handle is not None and handle.pointer is not None and not handle.session.is_shared:
            self._leave()


def new_pointer(kind: str) -> Any:
    """Where the library is to put a handle."""
    return c.ffi.new(f"{kind} **")
