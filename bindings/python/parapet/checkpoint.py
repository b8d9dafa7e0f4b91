"""Checkpoints: the state of a program as numbered generations, of which each exists whole or not at all."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy
import numpy.typing

from . import _callbacks, _collective, _types
from . import _library as c
from . import attributes as _attributes
from ._handles import Handle, Owner, Session, new_pointer
from ._parts import CParts, Part, as_tuple
from .errors import check
from .request import BORROW, COPY, Request, start
from .series import as_parts
from .spec import ArraySpec, CSpecs

if TYPE_CHECKING:
    from .store import Store


@dataclass(frozen=True)
class CheckpointItem:
    """An array of a generation, and what this rank has of it: an array, a part, or several parts."""

    spec: ArraySpec
    parts: Part | Sequence[Part] | numpy.typing.ArrayLike = field(default=())


class Checkpoint(Owner):
    """A generation that is being written: commits at the end of `with`, and is discarded if the block fails.

    generation: its number, larger than any before; 0: one more than the newest.
    keep: how many generations to keep, this one included; -1: all.

    If the block fails on one rank only, the others raise at their next call of parapet, and nothing is committed.

    >>> import numpy, parapet
    >>> store = parapet.open("memory:checkpoint", "a")
    >>> with parapet.Checkpoint(store, "restart") as checkpoint:
    ...     checkpoint.put({"u": parapet.CheckpointItem(parapet.ArraySpec((4,), "f8"), numpy.arange(4.0))})
    ...     checkpoint.set_attribute("step", 4711)
    >>> checkpoint.generation
    1
    >>> with parapet.Restore(store, "restart") as restore:
    ...     restore.attributes["step"], restore.get("u").tolist()
    (4711, [0.0, 1.0, 2.0, 3.0])
    >>> store.close()
    """

    def __init__(self, store: Store, path: str, *, generation: int = 0, keep: int = 2) -> None:
        session, pointer = store._session, new_pointer("parapet_checkpoint")
        options = c.ffi.new("parapet_checkpoint_options *", {"generation": generation, "keep": keep})
        session.check(c.lib.parapet_checkpoint_begin(pointer, session.handle.get(), path.encode(), options))
        self._session: Session = session
        self._handle = Handle(pointer, session, c.lib.parapet_checkpoint_abort, f"the checkpoint {path}")
        self.path = path
        self.generation: int | None = None
        self._request: Request | None = None

    def put(self, items: Mapping[str, CheckpointItem]) -> None:
        """[collective] Creates, writes and seals arrays, all as one transfer. Each name may be put once."""
        preparation = _collective.Preparation(self._session.is_shared)
        prepared = preparation.do(_CItems, items)
        rows, count = (prepared.pointer, len(items)) if prepared is not None else (c.ffi.NULL, 1)
        status = c.lib.parapet_checkpoint_put(self._handle.get(), rows, count)
        preparation.raise_own()
        self._session.check(status)

    def set_attribute(self, name: str, value: Any) -> None:
        """[collective] Sets an attribute of the generation, for small state."""
        preparation = _collective.Preparation(self._session.is_shared)
        json = preparation.do(_attributes.encode, value)
        status = c.lib.parapet_checkpoint_attribute_set(self._handle.get(), name.encode(), json or _collective.NO_JSON)
        preparation.raise_own()
        self._session.check(status)

    def commit(self) -> int:
        """[collective] Makes the generation durable and visible, then removes older ones. Returns its number."""
        number = c.ffi.new("int64_t *")
        self._handle.get()
        status = c.lib.parapet_checkpoint_commit(self._handle.pointer, number)
        if self._handle.pointer[0] == c.ffi.NULL:
            self._handle.forget()
        self._session.check(status)
        committed = int(number[0])
        self.generation = committed
        return committed

    def start(self, items: Mapping[str, CheckpointItem], copy: bool = False) -> Request:
        """[collective] Starts `put` and `commit`. With `copy`, the memory of the items may be used again at once.

        `wait` of the request returns the number of the generation; what remains if it raises is as after `commit`. It
        cannot be discarded any more: the end of `with` waits for it, also if the block fails.
        """
        preparation = _collective.Preparation(self._session.is_shared)
        prepared = preparation.do(_CItems, items)
        rows, count = (prepared.pointer, len(items)) if prepared is not None else (c.ffi.NULL, 1)
        number, checkpoint = c.ffi.new("int64_t *"), self._handle.pointer
        self._handle.get()

        def call(place: Any) -> int:
            status: int = c.lib.parapet_checkpoint_start(place, checkpoint, rows, count, COPY if copy else BORROW,
                                                         number)
            return status

        def finish() -> int:
            self.generation = int(number[0])
            return self.generation

        try:
            self._request = start(self._session, call, prepared, preparation.failure, finish)
        finally:
            if checkpoint[0] == c.ffi.NULL:
                self._handle.forget()  # from now on the request has it
        return self._request

    def abort(self) -> None:
        """[collective] Discards the generation, as if it had never begun."""
        self._handle.close()

    def _finish(self) -> None:
        if self._request is not None:
            self._request.close()
        elif self._handle.pointer is not None:
            self.commit()

    def _settle(self) -> None:
        if self._request is not None:
            self._request._settle()
        super()._settle()


class _CItems:
    """Items as C takes them, with all that they point to."""

    def __init__(self, items: Mapping[str, CheckpointItem]) -> None:
        self.pointer = c.ffi.new("parapet_checkpoint_item[]", max(len(items), 1))
        self._specs = CSpecs([item.spec for item in items.values()])
        self._parts = [CParts(as_parts(item.parts), False) for item in items.values()]
        self._names = [c.ffi.new("char[]", name.encode()) for name in items]
        for i, (name, parts) in enumerate(zip(self._names, self._parts)):
            row = self.pointer[i]
            row.name, row.spec = name, self._specs.pointer + i
            row.parts, row.part_count = parts.pointer, parts.count


class Restore(Owner):
    """A generation that is open for reading, on any number of ranks: the newest that verifies, or one by its number.

    `generation`, `names` and `attributes` tell what it is, `dtypes` and `shapes` what its arrays are like, by name;
    `passed_over` how many newer ones did not verify, and `problem` what is wrong with the newest of those.
    """

    def __init__(self, store: Store, path: str, generation: int = 0) -> None:
        session, pointer = store._session, new_pointer("parapet_restore")
        session.check(c.lib.parapet_restore_open(pointer, session.handle.get(), path.encode(), generation))
        self._session: Session = session
        self._handle = Handle(pointer, session, c.lib.parapet_restore_close, f"the generation of {path}")
        info = c.ffi.new("parapet_restore_info *")
        check(c.lib.parapet_restore_get_info(pointer[0], info))
        self.generation: int = info.generation
        self.path = _callbacks.text(info.path)
        self.names = tuple(_callbacks.text(info.names[i]) for i in range(info.array_count))
        described = _types.describe_all(
            self.names, lambda index, found: c.lib.parapet_restore_get_array_info(pointer[0], index, found))
        self.dtypes = {name: dtype for name, (dtype, _) in described.items()}
        self.shapes = {name: shape for name, (_, shape) in described.items()}
        self.passed_over: int = info.passed_over
        self.problem = _callbacks.text(info.problem)

    @property
    def attributes(self) -> dict[str, Any]:
        """[local] The attributes that were set before the commit."""
        found: dict[str, Any] = _attributes.take_json(
            lambda place: c.lib.parapet_restore_attribute_get(self._handle.get(), c.ffi.NULL, place))
        return found

    def get(self, name: str, start: Sequence[int] | int | None = None, count: Sequence[int] | int | None = None,
            out: numpy.ndarray[Any, Any] | None = None) -> numpy.ndarray[Any, Any]:
        """[collective] Reads a box of an array, into `out` or into a new array. By default it is the whole array."""
        made = out if out is not None else self._new(name, start, count)
        self.get_parts({name: Part(made, start)})
        return made

    def _new(self, name: str, start: Sequence[int] | int | None, count: Sequence[int] | int | None
             ) -> numpy.ndarray[Any, Any]:
        """Memory for a box; for an array that there is not, some that C can refuse on all ranks."""
        shape = self.shapes.get(name, ())
        if count is None and start is not None:
            count = [max(0, extent - begin) for extent, begin in zip(shape, as_tuple(start))]
        return numpy.empty(shape if count is None else count, self.dtypes.get(name))

    def get_parts(self, parts: Mapping[str, Part | Sequence[Part]]) -> None:
        """[collective] Reads parts of arrays as one transfer, into the memory of the parts."""
        preparation = _collective.Preparation(self._session.is_shared)
        prepared = preparation.do(_wanted, parts)
        rows, count = (prepared[0], len(parts)) if prepared is not None else (c.ffi.NULL, 1)
        status = c.lib.parapet_restore_get(self._handle.get(), rows, count)
        preparation.raise_own()
        self._session.check(status)


def _wanted(parts: Mapping[str, Part | Sequence[Part]]) -> tuple[Any, list[Any]]:
    rows = c.ffi.new("parapet_checkpoint_item[]", max(len(parts), 1))
    kept: list[Any] = []
    for i, (name, own) in enumerate(parts.items()):
        text, row, rest = c.ffi.new("char[]", name.encode()), rows[i], CParts(as_parts(own), True)
        row.name, row.parts, row.part_count = text, rest.pointer, rest.count
        kept += [text, rest]
    return rows, kept


def list_generations(store: Store, path: str) -> list[int]:
    """[collective] The numbers of the committed generations, newest first, without verifying them."""
    found: list[int] = []
    receiver = _callbacks.Receiver(lambda generation, where: found.append(generation))
    session = store._session
    session.check(c.lib.parapet_checkpoint_list(session.handle.get(), path.encode(),
                                                c.lib.parapet_python_generation, receiver.context))
    return found


__all__ = ["Checkpoint", "CheckpointItem", "Restore", "list_generations"]
