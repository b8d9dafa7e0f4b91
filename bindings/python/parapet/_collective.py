"""Collective calls whose arguments cannot even be prepared on one rank.

Were that rank to raise at once, all others would wait for it inside the library. So it makes the call all the same,
with an argument that the library refuses, and raises its own exception afterwards; the others raise ArgumentError.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Prepared = TypeVar("Prepared")

# A text that the library refuses as an attribute.
NO_JSON = b"?"


class Preparation:
    """Arguments for a collective call, or why there are none."""

    def __init__(self, is_shared: bool) -> None:
        self.is_shared = is_shared
        self.failure: Exception | None = None

    def do(self, function: Callable[..., Prepared], *arguments: Any) -> Prepared | None:
        """The result of a function; None, and the failure is kept, if others wait for this rank."""
        if not self.is_shared:
            return function(*arguments)
        try:
            return function(*arguments)
        except Exception as failure:
            self.failure = failure
            return None

    def raise_own(self) -> None:
        """After the call: raises what went wrong on this rank before it."""
        if self.failure is not None:
            raise self.failure
