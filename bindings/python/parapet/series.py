"""Series: groups of arrays that grow together, step by step."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy.typing

from . import _callbacks, _collective, _types
from . import _library as c
from ._handles import Handle, Owner, Session, new_pointer
from ._parts import CParts, Part
from .errors import ArgumentError, check
from .request import BORROW, COPY, Request, pending, settle_all, start, wait_for_all
from .spec import ArraySpec, CSpecs, extents

if TYPE_CHECKING:
    from .store import Store

Step = Mapping[str, "Part | Sequence[Part] | numpy.typing.ArrayLike"]
_BEYOND = {"refuse": 0, "adopt": 1, "cut": 2}


@dataclass(frozen=True)
class SeriesInfo:
    """How far a series has come. `steps` counts those appended, `steps_committed` those that readers see."""

    steps: int
    steps_committed: int
    steps_per_row: int
    shards_written: int
    is_staged: bool


class Series(Owner):
    """A series to which steps are appended; `Series.create` and `Series.open` make such objects.

    `names` are those of its arrays; `dtypes` and `shapes` tell what a step of each is like.

    >>> import numpy, parapet
    >>> store = parapet.open("memory:series", "a")
    >>> u = parapet.ArraySpec(shape=(0, 4, 6), dtype="f4", dimension_names=("time", "y", "x"))
    >>> with parapet.Series.create(store, "history", {"u": u}, attributes={"title": "a run"}) as history:
    ...     for hour in range(3):
    ...         history.append(hour, {"u": numpy.full((4, 6), hour, "f4")})
    ...     history.info.steps_committed
    3
    >>> store["history/u"][:, 0, 0].tolist(), store["history/time"][:].tolist()
    ([0.0, 1.0, 2.0], [0.0, 1.0, 2.0])
    >>> store.close()
    """

    def __init__(self, handle: Handle) -> None:
        self._handle, self._session = handle, handle.session
        info = self._info()
        self.path = _callbacks.text(info.path)
        self.dimension = _callbacks.text(info.dimension)
        self.names = tuple(_callbacks.text(info.names[i]) for i in range(info.count))
        described = _types.describe_all(
            self.names, lambda index, found: c.lib.parapet_series_get_array_info(handle.get(), index, found))
        self.dtypes = {name: dtype for name, (dtype, _) in described.items()}
        self.shapes = {name: shape[1:] for name, (_, shape) in described.items()}

    @classmethod
    def create(cls, store: Store, path: str, arrays: Mapping[str, ArraySpec], *, dimension: str | None = None,
               attributes: Mapping[str, Any] | None = None,
               coordinate_attributes: Mapping[str, Any] | None = None) -> Series:
        """[collective] Creates a series without steps: its arrays, and the group unless it exists.

        The first extent of every shape is 0. `chunks[0]` and `shards[0]` count steps; `shards[0]` is the same for all
        arrays. `coordinate_attributes` are those of the coordinate: {"units": "hours since 2000-01-01"}.
        """
        pointer, session = new_pointer("parapet_series"), store._session
        preparation = _collective.Preparation(session.is_shared)
        spec = preparation.do(_CSeriesSpec, arrays, dimension, attributes, coordinate_attributes)
        status = c.lib.parapet_series_create(pointer, session.handle.get(), path.encode(),
                                             spec.pointer if spec is not None else c.ffi.NULL)
        preparation.raise_own()
        session.check(status)
        return cls(_handle(pointer, session, path))

    @classmethod
    def open(cls, store: Store, path: str) -> Series:
        """[collective] Opens a series to append after the last committed step, on any number of ranks."""
        pointer, session = new_pointer("parapet_series"), store._session
        session.check(c.lib.parapet_series_open(pointer, session.handle.get(), path.encode()))
        return cls(_handle(pointer, session, path))

    @staticmethod
    def repair(store: Store, path: str, beyond: str = "refuse") -> None:
        """[collective] Decides about steps that the series did not commit: "refuse" to look, "adopt" or "cut"."""
        if beyond not in _BEYOND:
            raise ArgumentError(f'beyond is "refuse", "adopt" or "cut", not {beyond!r}')
        session = store._session
        session.check(c.lib.parapet_series_repair(session.handle.get(), path.encode(), _BEYOND[beyond]))

    def append(self, coordinate: float, step: Step) -> None:
        """[collective] Appends a step to all arrays.

        `step` has, by name of array, what this rank has of the step: an array, a part, or several parts, without the
        first dimension. An array that is not named gets nothing from this rank. The coordinate is the same on all
        ranks. The memory may be used again when the call returns.
        """
        preparation = _collective.Preparation(self._session.is_shared)
        prepared = preparation.do(self._steps, step)
        rows = prepared[0] if prepared is not None else c.ffi.NULL
        status = c.lib.parapet_series_append(self._handle.get(), coordinate, rows)
        preparation.raise_own()
        self._session.check(status)

    def start_append(self, coordinate: float, step: Step, copy: bool = False) -> Request:
        """[collective] Starts `append`. With `copy`, the memory of the step may be used again at once.

        Closing the series, and so the end of `with`, first waits for what was started and not waited for.
        """
        preparation = _collective.Preparation(self._session.is_shared)
        prepared = preparation.do(self._steps, step)
        rows = prepared[0] if prepared is not None else c.ffi.NULL
        return start(self._session, lambda place: c.lib.parapet_series_start_append(
            place, self._handle.get(), coordinate, rows, COPY if copy else BORROW), prepared, preparation.failure,
            uses=self._handle)

    def _steps(self, step: Step) -> tuple[Any, list[CParts]]:
        unknown = [name for name in step if name not in self.names]
        if unknown:
            raise ArgumentError(f"{self.path} has no array {unknown[0]!r}; it has {', '.join(self.names)}")
        kept = [CParts(as_parts(step.get(name, ())), False) for name in self.names]
        rows = c.ffi.new("parapet_step[]", max(len(kept), 1))
        for row, parts in zip(rows, kept):
            row.parts, row.part_count = parts.pointer, parts.count
        return rows, kept

    def flush(self) -> None:
        """[collective] Writes and commits the open steps. A row that is not full is written again later."""
        self._session.check(c.lib.parapet_series_flush(self._handle.get()))

    def close(self) -> None:
        """[collective] Waits for the steps that were started, writes the open ones, and closes the series."""
        try:
            wait_for_all(self._session, self._handle)
        finally:
            self._handle.close()

    def _settle(self) -> None:
        settle_all(self._session, self._handle)
        super()._settle()

    def __del__(self) -> None:
        """If it has steps that nobody has waited for, it is left to the store, which tells what they come to."""
        handle = getattr(self, "_handle", None)
        if handle is None or not pending(handle.session, handle):
            super().__del__()

    @property
    def info(self) -> SeriesInfo:
        """[local] How many steps there are, and where open steps are kept."""
        info = self._info()
        return SeriesInfo(info.steps, info.steps_committed, info.steps_per_row, info.shards_written,
                          bool(info.is_staged))

    def _info(self) -> Any:
        info = c.ffi.new("parapet_series_info *")
        check(c.lib.parapet_series_get_info(self._handle.get(), info))
        return info

    def explain(self) -> str:
        """[local] Explains in sentences what a step costs and where open steps are kept."""
        place = c.ffi.new("char **")
        check(c.lib.parapet_series_print(self._handle.get(), place))
        try:
            return _callbacks.text(place[0])
        finally:
            c.lib.parapet_free(place[0])

    def __repr__(self) -> str:
        return f"<parapet.Series {self.path!r} along {self.dimension!r}: {', '.join(self.names)}>"


def _handle(pointer: Any, session: Session, path: str) -> Handle:
    return Handle(pointer, session, c.lib.parapet_series_close, f"the series {path}")


def as_parts(given: Any) -> list[Part]:
    """The parts that a rank gives for one array: one, several, or an array that begins at the first element."""
    if isinstance(given, Part):
        return [given]
    if isinstance(given, (list, tuple)) and all(isinstance(one, Part) for one in given):
        return list(given)
    return [Part(given)]


class _CSeriesSpec(CSpecs):
    """The description of a series as C takes it."""

    def __init__(self, arrays: Mapping[str, ArraySpec], dimension: str | None, attributes: Mapping[str, Any] | None,
                 coordinate_attributes: Mapping[str, Any] | None) -> None:
        for name, spec in arrays.items():
            shape = extents(spec.shape)
            if not shape or shape[0] != 0:
                raise ArgumentError(f"the shape of {name!r} must begin with 0, for the steps to come, but is {shape}")
        super().__init__(list(arrays.values()))
        self.specs, self.pointer = self.pointer, c.ffi.new("parapet_series_spec *")
        row = self.pointer
        row.dimension = self.text(dimension)
        row.attributes = self._json(attributes)
        row.coordinate_attributes = self._json(coordinate_attributes)
        row.count, row.names, row.specs = len(arrays), self.texts(list(arrays)), self.specs


__all__ = ["Series", "SeriesInfo", "as_parts"]
