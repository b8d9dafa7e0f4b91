"""Handles of the C library: who owns them, and how they are closed when ranks may be out of step.

Closing is collective, so Python's garbage collector must not do it on several ranks: they would collect at different
times. A store therefore owns all that was opened in it, in the order of opening, which is the same on all ranks, and
closes what is still open when it is closed itself. In a store of one process, what is collected is closed.
"""
from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, Self

from . import _callbacks
from . import _library as c
from . import errors
from .errors import ArgumentError, MPIError

Close = Callable[[Any], int]


# How often ranks that leave a block by an exception try to meet; each try costs one agreement.
_TRIES = 64


class Session:
    """What all objects of one store share: its handle, its progress, and what is open in it.

    When one rank leaves a `with` block by an exception while others go on, its closing call meets their next call. The
    library tells all of them that they make different calls, and nothing happens. The others raise that and leave the
    block, too; the first repeats its closing call until they have come (`settle`). So all are in step again, and
    everything is closed. Ranks that do not meet have parted: from then on nobody waits for the others.
    """

    def __init__(self, handle: Any, comm: Any, progress: _callbacks.Watcher) -> None:
        self.handle, self.comm, self.progress = handle, comm, progress
        self.is_shared = comm is not None
        self.has_parted = False
        self.process = os.getpid()
        self.readers = threading.Condition()  # held to use Handle.readers
        self.opened: dict[int, Handle] = {}
        self.running: Any = None  # the handle of the request that was started last, until it is known to be done

    @property
    def is_inherited(self) -> bool:
        """Whether this process was forked from the one that opened the store, which closes it."""
        return self.process != os.getpid()

    def check(self, status: int) -> None:
        """Raises what a collective call has come to."""
        if status != 0 or self.progress.failures:
            errors.check(status, self.progress)

    def settle(self, call: Callable[[], int]) -> None:
        """Makes a closing call after a failure until all ranks make it. What it comes to does not matter any more."""
        for _ in range(_TRIES):
            if self.has_parted or not errors.is_difference(call()):
                return
        self.has_parted = True

    def close_all(self) -> None:
        """Closes everything that is open in the store, the last opened first."""
        for handle in reversed(list(self.opened.values())):
            handle.close()

    def settle_all(self) -> None:
        """The same after a failure."""
        for handle in reversed(list(self.opened.values())):
            handle.settle()


class Handle:
    """A pointer to something of the library, and the function that closes it."""

    __slots__ = ("pointer", "session", "what", "readers", "closing", "_close", "__weakref__")

    def __init__(self, pointer: Any, session: Session, close: Close, what: str) -> None:
        self.pointer, self.session, self._close, self.what = pointer, session, close, what
        self.readers = 0  # threads that read locally
        self.closing: int | None = None  # the thread that closes it
        session.opened[id(self)] = self

    def get(self) -> Any:
        """What C takes."""
        if self.pointer is None:
            raise ArgumentError(f"{self.what} is closed")
        if self.session.has_parted:
            raise MPIError(f"{self.what}: the ranks of its store have parted after a failure; open the store again")
        return self.pointer[0]

    @contextlib.contextmanager
    def reading(self) -> Iterator[Any]:
        """What C takes for a local read, on any thread: it is not freed before the read has ended."""
        session = self.session
        with session.readers:
            if self.closing is not None:
                raise ArgumentError(f"{self.what} is being closed by another thread")
            pointer = self.get()
            self.readers += 1
        try:
            yield pointer
        finally:
            with session.readers:
                self.readers -= 1
                session.readers.notify_all()

    def _call_close(self, pointer: Any) -> int:
        """Closes it in C, when nobody reads: further reads are refused. A callback of that is refused by C."""
        changed, here = self.session.readers, threading.get_ident()
        with changed:
            changed.wait_for(lambda: self.closing in (None, here))
            before, self.closing = self.closing, here
            changed.wait_for(lambda: self.readers == 0)
        try:
            return self._close(pointer) if pointer[0] != c.ffi.NULL else 0
        finally:
            with changed:
                self.closing = before
                changed.notify_all()

    def forget(self) -> None:
        """After C has freed it."""
        self.pointer = None
        self.session.opened.pop(id(self), None)

    def close(self) -> None:
        """Closes it, unless that has been done. If the ranks make different calls, it stays open."""
        pointer = self.pointer
        if pointer is None:
            return
        if self.session.has_parted or self.session.is_inherited:
            self.forget()
            return
        status = self._call_close(pointer)
        if pointer[0] == c.ffi.NULL:
            self.forget()
        self.session.check(status)

    def settle(self) -> None:
        """Closes it after a failure."""
        pointer = self.pointer
        if pointer is not None:
            if not self.session.is_inherited:
                self.session.settle(lambda: self._call_close(pointer))
            self.forget()


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
        if kind is not None:
            self._settle()
            return
        try:
            self._finish()
        except BaseException:  # also what a callback raised meanwhile
            self._settle()
            raise

    def _finish(self) -> None:
        """What the end of a block does if nothing failed."""
        self.close()

    def _settle(self) -> None:
        """Closes after a failure, whose exception is the one to be raised."""
        self._handle.settle()

    def __del__(self) -> None:
        handle = getattr(self, "_handle", None)
        if handle is not None and handle.pointer is not None and not handle.session.is_shared:
            self._settle()


def new_pointer(kind: str) -> Any:
    """Where the library is to put a handle."""
    return c.ffi.new(f"{kind} **")
