"""A bar that tells how far a long call has come."""
from __future__ import annotations

import sys
import time
from typing import TextIO

_WIDTH = 30
_EVERY_SECONDS = 0.1


class Bar:
    """Prints how many bytes of how many are done, on one line, at most ten times a second."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream if stream is not None else sys.stderr
        self._printed = 0.0
        self._is_open = False

    def __call__(self, done_bytes: int, total_bytes: int) -> None:
        now = time.monotonic()
        if now - self._printed < _EVERY_SECONDS and done_bytes < total_bytes:
            return
        self._printed, self._is_open = now, True
        share = done_bytes / total_bytes if total_bytes else 1.0
        filled = int(share * _WIDTH)
        self._stream.write(f"\r[{'#' * filled}{' ' * (_WIDTH - filled)}] {share:4.0%} of {_size(total_bytes)}")
        self._stream.flush()

    def end(self) -> None:
        """Ends the line."""
        if self._is_open:
            self._stream.write("\n")
            self._is_open = False


def _size(count: float) -> str:
    """Bytes in words.

    >>> _size(1536), _size(3 << 30)
    ('1.5 KiB', '3.0 GiB')
    """
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if count < 1024 or unit == "TiB":
            return f"{count:.1f} {unit}" if unit != "B" else f"{count} B"
        count /= 1024
    raise AssertionError
