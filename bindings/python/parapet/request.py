"""Requests: calls that were started, and run while the program does something else."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _library as c
from ._handles import Handle, Owner, Session, new_pointer
from .errors import check

COPY, BORROW = 0, 1


class _RequestHandle(Handle):
    """Keeps the memory that C uses until it has been waited for, even if nobody keeps the request.

    It is there before the call is started, so that nothing that C has begun is ever lost.
    """

    __slots__ = ("kept", "result")
    kept: Any
    result: Callable[[], Any]


class Request(Owner):
    """A call that was started: `test` tells whether it is done, `wait` completes it.

    Wait for every request, or use it in `with`, which does. What is wrong with the arguments, starting raises; what a
    call would have raised otherwise, `wait` raises. With MPI_THREAD_MULTIPLE, which is mpi4py's default, a thread makes
    the call; with less, it has been made when it was started. Other calls on the store first complete it.

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
        is_done = c.ffi.new("int *")
        check(c.lib.parapet_request_test(self._handle.get(), is_done))
        return bool(is_done[0])

    def wait(self) -> Any:
        """[collective] Completes the request. Returns what was read, or the number of a generation, or None."""
        self._handle.get()
        status = c.lib.parapet_request_wait(self._handle.pointer)
        self._handle.forget()
        self._session.check(status)
        return self._handle.result()

    def _finish(self) -> None:
        if not self.is_waited_for:
            self.wait()


def start(session: Session, call: Callable[[Any], int], kept: Any, failure: Exception | None,
          result: Callable[[], Any] = lambda: None) -> Request:
    """Starts a call that C is given a place for the request; a failure of this rank is raised once all know of it.

    If it was started, what fails in it is for `wait` to raise, even if it has been made and has failed already.
    """
    handle = _RequestHandle(new_pointer("parapet_request"), session, c.lib.parapet_request_wait, "the request")
    handle.kept, handle.result = kept, result
    try:
        status = call(handle.pointer)
    finally:
        if handle.pointer[0] == c.ffi.NULL:
            handle.forget()
    if failure is not None:
        handle.settle()
        raise failure
    if status != 0:
        session.check(status)
    return Request(handle)


__all__ = ["BORROW", "COPY", "Request", "start"]
