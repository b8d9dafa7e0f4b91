"""Plans: what a copy or a transfer would do, computed without doing it. They show themselves in a notebook."""
from __future__ import annotations

import html
import json
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import _callbacks
from . import _library as c
from .distribution import Distribution
from .errors import ArgumentError, check
from .spec import ArraySpec, CSpecs

if TYPE_CHECKING:
    from .copying import CopyResult

_OWNERS = ("choose", "nearest", "in_turn")
_SHARING = ("choose", "equal", "weights", "stealing")


class Plan:
    """A plan: `text` in words, `data` as Python values, `svg` as a drawing."""

    def __init__(self, text: str, data: str, svg: str) -> None:
        self.text, self._json, self.svg = text, data, svg

    @property
    def data(self) -> Any:
        """The numbers of the plan; for a group, a list with those of each array."""
        decoder, found, at = json.JSONDecoder(), [], 0
        while at < len(self._json):
            value, at = decoder.raw_decode(self._json, at)
            found.append(value)
            while at < len(self._json) and self._json[at].isspace():
                at += 1
        return found[0] if len(found) == 1 else found

    def __str__(self) -> str:
        return self.text

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text)}</pre>{self.svg}"

    def __repr__(self) -> str:
        return f"<parapet.{type(self).__name__}: {self.text.splitlines()[0] if self.text else ''}>"


class CopyPlan(Plan):
    """The plan of a copy, which `run` makes."""

    def __init__(self, text: str, data: str, svg: str, run: Callable[[], CopyResult]) -> None:
        super().__init__(text, data, svg)
        self._run = run

    def run(self) -> CopyResult:
        """[collective] Makes the copy."""
        return self._run()


def plan_transfer(spec: ArraySpec, distribution: Distribution, *, is_read: bool = False, servers: int = 0,
                  memory_bytes: int = 0, threads: int = 0, server: int = -1, owners: str = "choose",
                  sharing: str = "choose", weights: str | os.PathLike[str] | None = None) -> Plan:
    """[local] What a collective read or write of an array would do on any number of ranks; needs neither.

    >>> import parapet
    >>> spec = parapet.ArraySpec((100, 100), "f8", chunks=(10, 10), shards=(50, 50))
    >>> plan = parapet.plan_transfer(spec, parapet.Distribution((100, 100), (2, 2)))
    >>> plan.svg.startswith("<svg")
    True
    """
    for name, word, words in (("owners", owners, _OWNERS), ("sharing", sharing, _SHARING)):
        if word not in words:
            raise ArgumentError(f'{name} is one of {", ".join(words)}, not {word!r}')
    specs = CSpecs([spec])
    request = c.ffi.new("parapet_transfer_plan_request *")
    request.is_read, request.spec, request.distribution = is_read, specs.pointer[0], distribution.pointer[0]
    request.servers, request.memory_bytes, request.threads, request.server = servers, memory_bytes, threads, server
    request.owners, request.sharing = _OWNERS.index(owners), _SHARING.index(sharing)
    path = c.ffi.NULL if weights is None else c.ffi.new("char[]", os.fsencode(weights))
    request.weights = path
    texts = []
    for as_json in (0, 1):
        request.as_json = as_json
        text, svg = c.ffi.new("char **"), c.ffi.new("char **")
        check(c.lib.parapet_transfer_plan_print(request, text, svg))
        texts += [_callbacks.text(text[0]), _callbacks.text(svg[0])]
        c.lib.parapet_free(text[0])
        c.lib.parapet_free(svg[0])
    return Plan(texts[0], texts[2], texts[1])
