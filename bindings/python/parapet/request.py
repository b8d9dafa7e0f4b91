"""Requests: calls that were started, and run while the program does something else."""
from __future__ import annotations

import atexit
import contextlib
import sys
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

from . import _library as c
from ._handles import Handle, Owner, Session, new_pointer
from .errors import ArgumentError, ParapetError, check, check_with

COPY, BORROW = 0, 1
_SECONDS_BETWEEN_TESTS = 0.01

# Those in which something was started.
_sessions: weakref.WeakSet[Session] = weakref.WeakSet()


@atexit.register
def _complete_all() -> None:
    """What still runs calls Python, for its progress: it ends before the interpreter does."""
    for session in list(_sessions):
        if session.running is not None and not session.is_inherited:
            with contextlib.suppress(ParapetError):
                session.running.complete()


class _RequestHandle(Handle):
    """Keeps the memory that C uses until it has been waited for, even if nobody keeps the request.

    It is there before the call is started, so that nothing that C has begun is ever lost. Waiting is no agreement of
    the ranks: all of them have started the call, so it ends whatever they do meanwhile.
    """

    __slots__ = ("kept", "result", "value", "uses", "_failure", "_is_done", "_waiting")

    def __init__(self, session: Session, kept: Any, result: Callable[[], Any], uses: Handle | None) -> None:
        super().__init__(new_pointer("parapet_request"), session, c.lib.parapet_request_wait, "the request")
        self.kept, self.result, self.value, self.uses = kept, result, None, uses
        self._failure: BaseException | None = None
        self._is_done = False
        self._waiting = threading.RLock()

    def test(self) -> bool:
        """Whether C has done it."""
        is_done = c.ffi.new("int *")
        check(c.lib.parapet_request_test(self.pointer[0], is_done))
        return bool(is_done[0])

    def begin(self) -> None:
        """After it was started: what failed in it, if starting has made the whole call, is its own."""
        self._failure = self.session.progress.take_failure()

    def complete(self) -> None:
        """Waits until it is done, and takes what failed on its thread. Ctrl-C cancels it."""
        progress = self.session.progress
        if self._is_done or progress.is_called_here:  # in a callback of the request itself, C refuses to wait
            return
        if self.session.is_inherited:
            raise ArgumentError("this process was forked while the request was running, and has no thread that would "
                                "end it")
        while not self._is_done and not sys.is_finalizing():
            try:
                self._poll()
            except ParapetError:
                raise
            except BaseException as stop:  # KeyboardInterrupt, or what else a signal raises
                progress.stop = stop
        self._failure = progress.take_failure_of_request() or self._failure
        self.kept = self.session.running = None

    def _poll(self) -> None:
        pause = _SECONDS_BETWEEN_TESTS / 256
        while not sys.is_finalizing():
            if self.test():
                self._is_done = True
                return
            time.sleep(pause)
            pause = min(2 * pause, _SECONDS_BETWEEN_TESTS)

    def close(self) -> None:
        """Waits for it, unless that has been done, and raises what it has come to: to the first thread that waits."""
        with self._alone():
            if self.pointer is not None:
                status = self._wait()
                check_with(status, self._failure)
                self.value = self.result()

    def settle(self) -> None:
        """Waits for it after a failure. The process that this one was forked from does that for its own."""
        if self.session.is_inherited:
            self.forget()
            return
        with self._alone():
            if self.pointer is not None:
                self._wait()

    def _alone(self) -> contextlib.AbstractContextManager[Any]:
        """One thread waits, and others wait for it; not a callback of the request, which C refuses to let wait."""
        return contextlib.nullcontext() if self.session.progress.is_called_here else self._waiting

    def _wait(self) -> int:
        self.complete()
        pointer = self.pointer
        if sys.is_finalizing() and not self._is_done:  # a thread that needs the interpreter does not end any more
            self.forget()
            return 0
        status: int = c.lib.parapet_request_wait(pointer)
        if pointer[0] == c.ffi.NULL:
            self.forget()
        return status


class Request(Owner):
    """A call that was started: `test` tells whether it is done, `wait` completes it.

    Wait for every request, or use it in `with`, which does. What is wrong with the arguments, starting raises; what a
    call would have raised otherwise, `wait` raises. With MPI_THREAD_MULTIPLE, which is mpi4py's default, a thread makes
    the call; with less, it has been made when it was started. Other calls on the store first complete it. A request
    that nobody waits for is waited for when its store is closed, which then raises what it has come to. Ctrl-C cancels
    a request while it is waited for, or while another one is started.

    >>> import numpy, parapet
    >>> store = parapet.open("memory:requests", "a")
    >>> array = store.create_array("t", shape=(4,), dtype="i4")
    >>> request = array.start_write(numpy.arange(4, dtype="i4"))
    >>> request.wait()
    >>> array[:]
    array([0, 1, 2, 3], dtype=int32)
    >>> store.close()
    """

    _handle: _RequestHandle

    def __init__(self, handle: _RequestHandle) -> None:
        self._session, self._handle = handle.session, handle

    @property
    def is_waited_for(self) -> bool:
        """[local] Whether `wait` has returned."""
        return self._handle.pointer is None

    def test(self) -> bool:
        """[local] Whether it is done."""
        self._handle.get()
        return self._handle.test()

    def wait(self) -> Any:
        """[collective] Completes the request. Returns what was read, or the number of a generation, or None."""
        self._handle.get()
        self._handle.close()
        return self._handle.value

    def __del__(self) -> None:
        """Nothing: the store has the handle, and tells what it has come to when it is closed."""


def pending(session: Session, uses: Handle | None) -> list[_RequestHandle]:
    """What has been started and not waited for, in the order of starting: all, or what uses a series."""
    return [handle for handle in session.opened.values()
            if isinstance(handle, _RequestHandle) and (uses is None or handle.uses is uses)]


def wait_for_all(session: Session, uses: Handle | None = None) -> None:
    """[collective] Waits for what has been started, all of it even if one fails, which is then raised."""
    with contextlib.ExitStack() as stack:
        for handle in reversed(pending(session, uses)):
            stack.callback(handle.close)  # the last one that is added is the first to be called


def settle_all(session: Session, uses: Handle) -> None:
    """The same after a failure."""
    for handle in pending(session, uses):
        handle.settle()


def start(session: Session, call: Callable[[Any], int], kept: Any, failure: Exception | None,
          result: Callable[[], Any] = lambda: None, uses: Handle | None = None) -> Request:
    """Starts a call that C is given a place for the request; a failure of this rank is raised once all know of it.

    If it was started, what fails in it is for `wait` to raise, even if it has been made and has failed already.
    """
    if session.running is not None:
        session.running.complete()
    earlier = session.running  # None, except in a callback of that request itself
    handle = session.running = _RequestHandle(session, kept, result, uses)
    _sessions.add(session)
    try:
        status = call(handle.pointer)
    finally:
        if handle.pointer[0] == c.ffi.NULL:
            handle.forget()
            session.running = earlier
    if failure is not None:
        handle.settle()
        raise failure
    if status != 0:
        session.check(status)
    handle.begin()
    return Request(handle)


__all__ = ["BORROW", "COPY", "Request", "pending", "settle_all", "start", "wait_for_all"]
