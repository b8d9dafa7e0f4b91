"""The functions that the C library calls. Each finds its Python object through the context that it is given.

A failure inside such a function cannot pass through C. It is kept in the object, C is told to stop, and whoever made
the call raises it afterwards (`errors.check`). This is also how Ctrl-C gets out of a long transfer: the interpreter
raises KeyboardInterrupt in the next call of the progress callback, which cancels the transfer on all ranks.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

_ffi: Any = None


class Receiver:
    """A Python function that C calls, and what went wrong in it."""

    def __init__(self, function: Callable[..., Any] | None) -> None:
        self.function = function
        self.failure: BaseException | None = None
        self.context = _ffi.new_handle(self)

    def take_failure(self) -> BaseException | None:
        """What went wrong since this was last asked."""
        failure, self.failure = self.failure, None
        return failure


class Watcher(Receiver):
    """The progress of a store. C calls it only now and then, for the sake of Ctrl-C, unless there is a function."""

    def __init__(self, function: Callable[..., Any] | None) -> None:
        super().__init__(function)
        self.watcher = _ffi.new("parapet_python_watcher *", (self.context, function is not None))

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
    function = _ffi.from_handle(context).function
    if function is not None:
        function(done_bytes, total_bytes)
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
    _ffi.from_handle(traceback.tb_frame.f_locals["context"]).failure = failure


def register(ffi: Any) -> None:
    """Connects the functions above with an extension module."""
    global _ffi
    _ffi = ffi
    for function in (_progress, _child, _box, _generation, _removal, _finding):
        ffi.def_extern(name=f"parapet_python{function.__name__}", error=1, onerror=_keep_failure)(function)
