"""Attributes of a group or array, as a mapping of Python values."""
from __future__ import annotations

import json
from collections.abc import Callable, Iterator, MutableMapping
from typing import Any

from . import _callbacks, _collective
from . import _library as c
from .errors import NotFoundError, check


def encode(value: Any) -> bytes:
    """JSON of a Python value; numbers and arrays of NumPy become those of JSON."""
    return json.dumps(value, default=_plain, ensure_ascii=False).encode("utf-8", "surrogateescape")


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"an attribute cannot be of type {type(value).__name__}: {value!r}")


def take_json(call: Callable[[Any], int]) -> Any:
    """The Python value of the JSON text that a call returns through a pointer."""
    place = c.ffi.new("char **")
    check(call(place))
    try:
        return json.loads(_callbacks.text(place[0]))
    finally:
        c.lib.parapet_free(place[0])


class Attributes(MutableMapping[str, Any]):
    """The attributes of a group or array. Reading is local; setting and deleting are collective.

    >>> import parapet
    >>> store = parapet.open("memory:attributes", "a")
    >>> store.attrs["title"] = "a run"
    >>> store.attrs["levels"] = [1, 2.5]
    >>> dict(store.attrs)
    {'title': 'a run', 'levels': [1, 2.5]}
    >>> store.close()
    """

    def __init__(self, get: Callable[[Any, Any], int], put: Callable[[Any, Any], int]) -> None:
        self._get, self._put = get, put

    def asdict(self) -> dict[str, Any]:
        """All attributes."""
        found: dict[str, Any] = take_json(lambda place: self._get(c.ffi.NULL, place))
        return found

    def __getitem__(self, name: str) -> Any:
        return take_json(lambda place: self._get(name.encode(), place))

    def __setitem__(self, name: str, value: Any) -> None:
        preparation = _collective.Preparation(True)
        json = preparation.do(encode, value)
        status = self._put(name.encode(), _collective.NO_JSON if json is None else json)
        preparation.raise_own()
        check(status)

    def __delitem__(self, name: str) -> None:
        if name not in self.asdict():
            raise NotFoundError(f"there is no attribute {name!r}")
        check(self._put(name.encode(), c.ffi.NULL))

    def __iter__(self) -> Iterator[str]:
        return iter(self.asdict())

    def __len__(self) -> int:
        return len(self.asdict())

    def __repr__(self) -> str:
        return f"Attributes({self.asdict()!r})"
