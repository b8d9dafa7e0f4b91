"""Labelled data: what the ranks have of an xarray Dataset becomes one store that xarray opens.

>>> import numpy, parapet.xarray, tempfile, xarray
>>> field = xarray.DataArray(numpy.ones((4, 6)), dims=("y", "x"), coords={"x": numpy.arange(6) / 10}, name="t")
>>> with tempfile.TemporaryDirectory() as folder:
...     parapet.xarray.write(field, f"{folder}/run.zarr")
...     found = xarray.open_zarr(f"{folder}/run.zarr").load()
>>> dict(found.sizes), float(found.t.sum())
({'y': 4, 'x': 6}, 24.0)
"""
from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

import numpy
import xarray
from xarray.backends.zarr import FillValueCoder
from xarray.conventions import cf_encoder

from ._parts import Part
from .errors import ArgumentError, NotFoundError
from .series import Series
from .spec import ArraySpec
from .store import Store, open as open_store
from .transfers import write_arrays

if TYPE_CHECKING:
    from mpi4py.MPI import Comm

    from .group import Group

Extents = Mapping[str, int]
Result = TypeVar("Result")

# Of an encoding, what all ranks must have alike: each would choose its own from the values that it has.
_SHARED_ENCODING = ("units", "calendar", "dtype", "scale_factor", "add_offset", "_FillValue")


def write(data: Any, path: str | os.PathLike[str], comm: Comm | None = None, *, offsets: Extents | None = None,
          sizes: Extents | None = None, append_dim: str | None = None, group: str = "",
          encoding: Mapping[str, Mapping[str, Any]] | None = None, **options: Any) -> None:
    """[collective] Writes what each rank has of a Dataset or DataArray as one labelled store.

    offsets: where the block of this rank begins in the whole, for each dimension that is cut.
    sizes: how large the whole is, for each dimension that is cut. Other dimensions are whole on every rank.
    append_dim: append along this dimension, as a series; `Appender` does that without opening the store each time.
    group: the path of the group in the store. encoding: by name of variable: chunks, shards, codec, and what xarray
    takes (units, scale_factor, _FillValue, dtype). options: those of `parapet.open`.

    What several ranks have alike, such as a coordinate along a dimension that is not cut, is written once.
    """
    with open_store(path, "a", comm, **options) as store:
        if append_dim is not None:
            with Appender(store, append_dim, group=group, offsets=offsets, sizes=sizes, encoding=encoding) as appender:
                appender.append(data)
            return
        whole = _Block(data, comm, offsets, sizes, encoding)
        _write_variables(store, group, whole, list(whole.variables))
        with _open_group(store, group, whole.attributes) as made:
            made.consolidate()


class Appender:
    """Appends steps of labelled data to a series, which it creates with the first one unless it exists.

    Variables without the dimension, such as coordinates in space, are written with the first step.

    >>> import numpy, parapet, parapet.xarray, tempfile, xarray
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with parapet.open(f"{folder}/run.zarr", "a") as store:
    ...         with parapet.xarray.Appender(store, "time") as appender:
    ...             for day in ("2026-01-01", "2026-01-02", "2026-01-03"):
    ...                 time = ("time", numpy.array([day], "M8[ns]"))
    ...                 appender.append(xarray.Dataset({"t": (("time", "x"), numpy.ones((1, 3)))}, {"time": time}))
    ...     xarray.open_zarr(f"{folder}/run.zarr").time.dt.day.values.tolist()
    [1, 2, 3]
    """

    def __init__(self, store: Store, dimension: str = "time", *, group: str = "", offsets: Extents | None = None,
                 sizes: Extents | None = None, encoding: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        self._store, self._dimension, self._group = store, dimension, group
        self._offsets, self._sizes = offsets, sizes
        self._encoding: dict[str, dict[str, Any]] = {name: dict(one) for name, one in (encoding or {}).items()}
        self._encoding.setdefault(dimension, {}).setdefault("dtype", "f8")  # as the coordinate of a series is
        self._series: Series | None = None
        try:
            self._series = Series.open(store, group)
            attributes = store[f"{group}/{dimension}"].attrs.asdict()
            self._encoding.setdefault(dimension, {}).update(
                {name: attributes[name] for name in ("units", "calendar") if name in attributes})
        except NotFoundError:
            pass

    def append(self, data: Any) -> None:
        """[collective] Appends every step that the data has along the dimension."""
        block = _Block(data, self._store.comm, self._offsets, self._sizes, self._encoding, self._dimension)
        coordinate = block.variables.get(self._dimension)
        if coordinate is None:
            raise ArgumentError(f"the data has no coordinate {self._dimension!r} to append along")
        steps = [name for name in block.variables if block.has(name, self._dimension) and name != self._dimension]
        if self._series is None:
            self._create(block, steps)
        assert self._series is not None
        for index, value in enumerate(numpy.atleast_1d(coordinate.values)):
            self._series.append(float(value), {name: block.step_parts(name, index) for name in steps})

    def _create(self, block: _Block, steps: list[str]) -> None:
        """The series, and what does not grow; time is told from now on as the first step tells it."""
        coordinate = block.variables[self._dimension]
        self._encoding.setdefault(self._dimension, {}).update(
            {name: coordinate.attrs[name] for name in ("units", "calendar") if name in coordinate.attrs})
        self._series = Series.create(self._store, self._group, {name: block.spec(name) for name in steps},
                                     dimension=self._dimension, attributes=block.attributes,
                                     coordinate_attributes=_plain_attributes(coordinate))
        rest = [name for name in block.variables if name not in steps and name != self._dimension]
        _write_variables(self._store, self._group, block, rest)

    def flush(self) -> None:
        """[collective] Commits the steps that are not visible yet."""
        if self._series is not None:
            self._series.flush()

    def close(self) -> None:
        """[collective] Commits all steps and closes the series."""
        if self._series is not None:
            self._series.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        if self._series is not None:
            self._series.__exit__(kind, error, traceback)


class _Block:
    """What one rank has: encoded variables, and where each lies in the whole."""

    def __init__(self, data: Any, comm: Comm | None, offsets: Extents | None, sizes: Extents | None,
                 encoding: Mapping[str, Mapping[str, Any]] | None, growing: str | None = None) -> None:
        dataset = data.to_dataset(name=data.name or "data") if isinstance(data, xarray.DataArray) else data
        self.comm, self._offsets, self._sizes, self._growing = comm, dict(offsets or {}), dict(sizes or {}), growing
        self._layouts: dict[str, dict[str, Any]] = {}
        raw = _agreed(comm, lambda: self._prepare(dataset, encoding or {}))
        self._share_encoding(raw, dataset)
        self.variables, attributes = _agreed(comm, lambda: _encoded(raw, dataset))
        self.attributes = {str(name): value for name, value in attributes.items()}
        own = {name: (self.start(name), variable.shape) for name, variable in self.variables.items()}
        self._boxes = comm.allgather(own) if comm is not None else [own]
        self._check_names()

    def _check_cut(self, dataset: xarray.Dataset) -> None:
        for name in (*self._offsets, *self._sizes):
            if name not in dataset.sizes:
                raise ArgumentError(f"offsets or sizes name {name!r}, which is not a dimension of the data: "
                                    f"{', '.join(map(str, dataset.sizes))}")
        for name in self._offsets:
            if name not in self._sizes:
                raise ArgumentError(f"offsets name {name!r}, so sizes must say how large the whole is")

    def _check_names(self) -> None:
        for rank, boxes in enumerate(self._boxes):
            if list(boxes) != list(self._boxes[0]):
                raise ArgumentError(f"all ranks must have the same variables: rank 0 has {', '.join(self._boxes[0])}, "
                                    f"rank {rank} has {', '.join(boxes)}")

    def _prepare(self, dataset: xarray.Dataset, encoding: Mapping[str, Mapping[str, Any]]
                 ) -> dict[str, xarray.Variable]:
        """The variables, with what is known of their encoding."""
        self._check_cut(dataset)
        variables = {str(name): variable.copy(deep=False) for name, variable in dataset.variables.items()}
        for name, variable in variables.items():
            own = {**variable.encoding, **encoding.get(name, {})}
            self._layouts[name] = {key: own.pop(key) for key in ("chunks", "shards", "codec") if key in own}
            variable.encoding = {key: own[key] for key in (*_SHARED_ENCODING, "coordinates") if key in own}
        return variables

    def _share_encoding(self, variables: dict[str, xarray.Variable], dataset: xarray.Dataset) -> None:
        """Rank 0 decides what xarray would choose on each rank from the values there, such as units of time."""
        comm = self.comm
        if comm is None or comm.size == 1:
            return
        found = _agreed(comm, lambda: _encoded(variables, dataset)[0] if comm.rank == 0 else {})
        chosen = comm.bcast({name: _choice(variable) for name, variable in found.items()})
        for name, variable in variables.items():
            variable.encoding.update(chosen.get(name, {}))

    def has(self, name: str, dimension: str) -> bool:
        return dimension in self.variables[name].dims

    def spec(self, name: str) -> ArraySpec:
        """The array in the store for a variable."""
        variable = self.variables[name]
        if variable.dtype.kind in "OUS":
            raise ArgumentError(f"the variable {name!r} is text ({variable.dtype}), which cannot be written; leave it "
                                "out with drop_vars, or store it as an attribute")
        names = [str(dimension) for dimension in variable.dims]
        if self._growing in names and names[0] != self._growing:
            raise ArgumentError(f"{self._growing!r} must be the first dimension of {name!r}, which has {names}")
        shape = [0 if one == self._growing else self._sizes.get(one, int(variable.sizes[one])) for one in names]
        layout = {key: value for key, value in self._layouts[name].items() if value is not None or key == "shards"}
        return ArraySpec(shape, variable.dtype, fill_value=variable.attrs.get("_FillValue"), dimension_names=names,
                         attributes=_plain_attributes(variable), overwrite=self._growing is None, **layout)

    def start(self, name: str) -> tuple[int, ...]:
        return tuple(self._offsets.get(str(one), 0) for one in self.variables[name].dims)

    def parts(self, name: str) -> list[Part]:
        """What this rank writes: nothing, if a lower rank has the same box."""
        return [Part(self.variables[name].values, self.start(name))] if self._is_first(name) else []

    def step_parts(self, name: str, index: int) -> list[Part]:
        return [Part(self.variables[name].values[index], self.start(name)[1:])] if self._is_first(name) else []

    def _is_first(self, name: str) -> bool:
        rank = self.comm.rank if self.comm is not None else 0
        box = self._boxes[rank][name]
        return 0 not in box[1] and [boxes[name] for boxes in self._boxes].index(box) == rank


def _agreed(comm: Comm | None, function: Callable[[], Result]) -> Result:
    """What a function returns, if it returns on all ranks; else all raise, so that nobody waits for a rank."""
    failure, result = None, None
    try:
        result = function()
    except Exception as error:
        failure = error
    texts = comm.allgather(None if failure is None else str(failure)) if comm is not None else [None]
    if failure is not None:
        raise failure
    for rank, text in enumerate(texts):
        if text is not None:
            raise ArgumentError(f"rank {rank}: {text}")
    return cast(Result, result)


def _encoded(variables: Mapping[str, xarray.Variable], dataset: xarray.Dataset
             ) -> tuple[dict[str, xarray.Variable], Mapping[Any, Any]]:
    """The variables as they are stored: dates as numbers with units, coordinates named in attributes."""
    named: dict[Any, xarray.Variable] = dict(variables)
    whole = xarray.Dataset._construct_direct(named, set(dataset.coords), attrs=dict(dataset.attrs))
    encoded, attributes = xarray.conventions.encode_dataset_coordinates(whole)
    encoded, attributes = cf_encoder(encoded, attributes)
    return {str(name): variable for name, variable in encoded.items()}, attributes


def _choice(variable: xarray.Variable) -> dict[str, Any]:
    """What encoding a variable got on rank 0."""
    attributes = variable.attrs
    is_time = " since " in str(attributes.get("units"))
    chosen = {name: attributes[name] for name in ("units", "calendar") if is_time and name in attributes}
    return {**chosen, "dtype": variable.dtype} if chosen else {}


def _plain_attributes(variable: xarray.Variable) -> dict[str, Any]:
    """Attributes of an array, among which xarray expects the value for "missing" in a spelling of its own."""
    attributes = {str(name): value for name, value in variable.attrs.items()}
    if "_FillValue" in attributes:
        attributes["_FillValue"] = FillValueCoder.encode(attributes["_FillValue"], variable.dtype)
    return attributes


def _open_group(store: Store, path: str, attributes: Mapping[str, Any]) -> Group:
    group = store.open_group(path)
    for name, value in attributes.items():
        group.attrs[name] = value
    return group


def _write_variables(store: Store, path: str, block: _Block, names: list[str]) -> None:
    """Creates arrays for variables and writes them as one transfer."""
    if not names:
        return
    group = store.open_group(path) if path and path in store else store.create_group(path) if path else store
    arrays = group.create_arrays({name: block.spec(name) for name in names})
    write_arrays({array: block.parts(name) for name, array in arrays.items()})
    for array in arrays.values():
        array.close()
