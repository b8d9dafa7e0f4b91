"""The functions that the C library calls. Each finds its Python object through the context that it is given.

A failure inside such a function cannot pass through C. It is kept in the object, C is told to stop, and whoever made
the call raises it afterwards (`errors.check`). This is also how Ctrl-C gets out of a long transfer: the interpreter
raises KeyboardInterrupt in the next call of the progress callback, which cancels the transfer on all ranks.

A request has a thread of its own, where the interpreter raises no KeyboardInterrupt. Whoever waits for it in Python gets
that instead, and lets the next call of the progress callback raise it there (`Watcher.stop`). Failures are kept by the
thread on which they happened, so that what fails in a request is not raised by another call.
"""
from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

_ffi: Any = None


class Receiver:
    """A Python function that C calls, and what went wrong in it."""

    def __init__(self, function: Callable[..., Any] | None) -> None:
        self.function = function
        self.failures: dict[int, BaseException] = {}  # by thread
        self.context = _ffi.new_handle(self)

    def take_failure(self) -> BaseException | None:
        """What went wrong on this thread since this was last asked."""
        return self.failures.pop(threading.get_ident(), None)


class Watcher(Receiver):
    """The progress of a store. C calls it only now and then, for the sake of Ctrl-C, unless there is a function."""

    def __init__(self, function: Callable[..., Any] | None) -> None:
        super().__init__(function)
        self.watcher = _ffi.new("parapet_python_watcher *", (self.context, function is not None))
        self.stop: BaseException | None = None
        self._caller: int | None = None

    @property
    def is_called_here(self) -> bool:
        """Whether C is calling the function on this thread."""
        return self._caller == threading.get_ident()

    def report(self, done_bytes: int, total_bytes: int) -> None:
        """What C calls."""
        if self.stop is not None:
            raise self.stop
        if self.function is not None:
            self._caller = threading.get_ident()
            try:
                self.function(done_bytes, total_bytes)
            finally:
                self._caller = None

    def take_failure_of_request(self) -> BaseException | None:
        """What went wrong on the thread of a request that is done, or what was to stop it."""
        failure, self.stop = self.stop, None
        for thread in self.failures.keys() - {threading.get_ident()}:
            failure = self.failures.pop(thread)
        return failure

    def replace(self, function: Callable[..., Any] | None) -> Callable[..., Any] | None:
        """Lets C call another function from now on; returns the one before."""
        before, self.function = self.function, function
        self.watcher.is_asked_for = function is not None
        return before


def text(pointer: Any) -> str:
    """A text of the library. Bytes that are not UTF-8 survive as surrogates."""
    string: bytes = _ffi.string(pointer)
    return string.decode("utf-8", "surrogateescape")


def _progress(context: Any, done_bytes: int, total_bytes: int) -> int:
    _ffi.from_handle(context).report(done_bytes, total_bytes)
    return 0


def _child(context: Any, name: Any, kind: int) -> int:
    _ffi.from_handle(context).function(text(name), kind)
    return 0


def _box(context: Any, start: Any, count: Any) -> int:
    _ffi.from_handle(context).function(start, count)
    return 0


def _generation(context: Any, generation: int, path: Any) -> int:
    _ffi.from_handle(context).function(generation, text(path))
    return 0


def _removal(context: Any, key: Any, reason: Any) -> int:
    _ffi.from_handle(context).function(text(key), text(reason))
    return 0


def _finding(context: Any, finding: Any) -> int:
    _ffi.from_handle(context).function(text(finding.key), finding.kind, text(finding.problem))
    return 0


def _keep_failure(kind: Any, failure: BaseException, traceback: Any) -> None:
    """An interrupt can hit anywhere, so the context is taken from the frame of the callback."""
    _ffi.from_handle(traceback.tb_frame.f_locals["context"]).failures[threading.get_ident()] = failure


def register(ffi: Any) -> None:
    """Connects the functions above with an extension module."""
    global _ffi
    _ffi = ffi
    for function in (_progress, _child, _box, _generation, _removal, _finding):
        ffi.def_extern(name=f"parapet_python{function.__name__}", error=1, onerror=_keep_failure)(function)
