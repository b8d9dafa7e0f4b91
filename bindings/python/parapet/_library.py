"""The C library of this process: `ffi` and `lib` of the extension module whose flavour fits.

The module is loaded when one of them is first used, so `import parapet` may come before or after `import mpi4py`. From
then on the flavour is fixed.
"""
from __future__ import annotations

import importlib
import threading
from typing import Any

from . import _callbacks, _flavour

flavour: str | None = None
_lock = threading.Lock()


def load() -> None:
    """Loads the extension module, once."""
    global flavour
    with _lock:
        if flavour is not None:
            return
        chosen = _flavour.choose()
        module = importlib.import_module(f"parapet._{chosen}")
        _callbacks.register(module.ffi)
        globals().update(ffi=module.ffi, lib=module.lib)
        flavour = chosen


def __getattr__(name: str) -> Any:
    if name not in ("ffi", "lib"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    load()
    return globals()[name]
