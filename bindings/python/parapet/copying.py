"""Copies: the same elements in other chunks, shards, codecs or order of dimensions, within a limit of memory."""
from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from . import _callbacks, _collective
from . import _library as c
from .array import Array
from .errors import ArgumentError, check
from .group import Group
from .plan import CopyPlan
from .progress import Bar
from .store import Store, open as open_store, option_text

if TYPE_CHECKING:
    from mpi4py.MPI import Comm

Place = "str | os.PathLike[str] | Array | Group"
Extents = "Mapping[str, int] | Sequence[int] | str | None"
_REPAIRS = ("none", "completed", "undone")
_METADATA = ("zarr.json", ".zgroup", ".zarray", "__parapet")


@dataclass(frozen=True)
class CopyResult:
    """What a copy has done, summed over all ranks unless `include/parapet.h` says otherwise."""

    arrays: int
    groups: int
    passes: int
    array_bytes: int
    read_requests: int
    index_reads: int
    decoded_bytes: int
    chunks_written: int
    shards_written: int
    memory_peak_bytes: int
    memory_planned_bytes: int
    templates_resumed: int
    planned_seconds: float
    seconds: float
    verified_bytes: int
    extent_before: int
    extent_after: int
    repaired: str


def copy(source: Any, target: Any, **arguments: Any) -> CopyResult:
    """[collective] Copies an array, or a group with everything below it.

    source, target: paths, such as "in.zarr/t2m"; or an array or group and a path in a store that is open:
        `copy(store["t2m"], (store, "t2m_by_time"))`.
    chunks, shards: extents in the order of the target's dimensions, or by name: {"time": -1, "lat": 10}; -1 is the
        whole dimension. shards="none": each chunk is a file.
    order: the target's dimensions, ("lat", "lon", "-time"); "-" reverses one. region: {"time": (0, 100)}.
    codec, checksum: as in `ArraySpec`.
    include, exclude: of a group, what is copied and what of that is not: names, paths, patterns, as ["t2m", "*_bnds"].
    append: a dimension, such as "time": the arrays of the target, a group, become longer along it by those of the
        source. The result tells how long they were and are (extent_before, extent_after; equal: the source was
        already there), and in repaired what became of one that had been interrupted: "none", "completed", "undone".
    max_mem: limit on the buffers of each rank, in bytes or as "1GiB".
    overwrite, resume, verify: replace what is there, continue an interrupted copy, read again and compare.
    temporary: a store for intermediate arrays.
    progress: True prints a bar on rank 0; a function is called with the bytes done and in all.
    comm: a communicator for paths; stores have theirs.
    Other names are those of `parapet_copy_request`: unit_bytes, passes, reading, cooperation, no_probe.

    An interrupted copy (Ctrl-C on any rank, or a kill) is continued by the same call with `resume=True`.

    >>> import numpy, parapet
    >>> store = parapet.open("memory:copying", "a")
    >>> maps = store.create_array("maps", shape=(20, 30), dtype="f4", chunks=(1, 30), dimension_names=("time", "x"))
    >>> maps[...] = numpy.arange(600).reshape(20, 30)
    >>> parapet.copy(maps, (store, "series"), chunks={"time": -1, "x": 5}, max_mem="1MiB").arrays
    1
    >>> bool((store["series"][...] == maps[...]).all()), store["series"].chunks
    (True, (20, 5))
    >>> store.close()
    """
    with _Request(source, target, arguments) as request:
        result = c.ffi.new("parapet_copy_result *")
        status = c.lib.parapet_copy(request.pointer, result)
        request.finish(status)
        found = {one.name: getattr(result, one.name) for one in fields(CopyResult)}
        return CopyResult(**{**found, "repaired": _REPAIRS[found["repaired"]]})


def plan_copy(source: Any, target: Any, **arguments: Any) -> CopyPlan:
    """[collective] What a copy with these arguments would do: passes, bytes, files, memory and time.

    In a notebook the plan shows itself. `plan.run()` makes the copy.
    """
    texts = []
    for as_json in (False, True):
        with _Request(source, target, arguments) as request:
            text, svg = c.ffi.new("char **"), c.ffi.new("char **")
            status = c.lib.parapet_copy_request_plan_print(request.pointer, as_json, text, svg)
            request.finish(status)
            texts.append((_take(text), _take(svg)))
    return CopyPlan(texts[0][0], texts[1][0], texts[0][1], lambda: copy(source, target, **arguments))


def write_file(source: Any, file: str | os.PathLike[str], *, include: str | Sequence[str] | None = None,
               exclude: str | Sequence[str] | None = None, overwrite: bool = False, verify: bool = False,
               dry_run: bool = False, progress: Any = None, comm: Comm | None = None) -> list[str]:
    """[collective] Writes an array, or the arrays of a group, to one file of another format.

    source: an array or group, a path, or a store and a path in it: `(store, "t2m")`.
    file: "out.nc" or "out.npy"; "raw:out.dat" has the elements alone.
    include, exclude, progress, comm: as in `copy`. overwrite, verify: replace a file, read it again and compare.
    Returns what the format cannot say, and the file therefore does not have; with `dry_run`, does only that.

    >>> import numpy, parapet, tempfile
    >>> store = parapet.open("memory:files", "a")
    >>> heat = store.create_array("heat", shape=(2, 3), dtype="f4", attributes={"units": "K"})
    >>> heat[...] = numpy.arange(6).reshape(2, 3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     left_out = parapet.write_file(heat, f"{folder}/heat.npy")
    ...     print(left_out, numpy.load(f"{folder}/heat.npy").sum())
    ['the names of the dimensions', 'the attribute "units"'] 15.0
    >>> store.close()
    """
    if isinstance(source, (str, os.PathLike)):
        root, path = split_path(os.fspath(source))
        with open_store(root, "r", comm) as store:
            return write_file((store, path), file, include=include, exclude=exclude, overwrite=overwrite,
                              verify=verify, dry_run=dry_run, progress=progress)
    place, path = source if isinstance(source, tuple) else (source, source.path)
    session = place._session
    preparation = _collective.Preparation(session.is_shared)
    request, left_out = c.ffi.new("parapet_file_request *"), c.ffi.new("char **")
    request.source = session.handle.get()
    request.overwrite, request.verify, request.dry_run = bool(overwrite), bool(verify), bool(dry_run)
    kept = preparation.do(_fill_file_request, request, path, file, include, exclude)
    with _Reporting(session, progress):
        status = c.lib.parapet_file_write(request, left_out)
    preparation.raise_own()
    session.check(status)
    del kept
    return _take(left_out).splitlines()


def _fill_file_request(request: Any, path: str, file: Any, include: Any, exclude: Any) -> list[Any]:
    """The texts, which must live as long as the request."""
    words = [os.fsencode(path), os.fsencode(os.fspath(file))]
    words += [os.fsencode(names if isinstance(names, str) else ",".join(names or ())) for names in (include, exclude)]
    texts = [c.ffi.new("char[]", one) for one in words]
    request.source_path, request.file, request.include, request.exclude = texts
    return texts


class _Reporting:
    """For one call, the store of a session tells its progress to somebody else: a bar, or a function."""

    def __init__(self, session: Any, progress: Any) -> None:
        self._session = session
        self._bar = Bar() if progress is True else None
        self._progress = self._bar if self._bar is not None else progress or None

    def __enter__(self) -> None:
        if self._progress is not None:
            self._before = self._session.progress.replace(self._progress)

    def __exit__(self, *_: object) -> None:
        if self._progress is not None:
            self._session.progress.replace(self._before)
        if self._bar is not None:
            self._bar.end()


def _take(place: Any) -> str:
    found = _callbacks.text(place[0]) if place[0] != c.ffi.NULL else ""
    c.lib.parapet_free(place[0])
    return found


class _Request:
    """A request as C takes it. Opens the stores of paths, and closes them in the end."""

    def __init__(self, source: Any, target: Any, arguments: dict[str, Any]) -> None:
        rest = dict(arguments)
        self._comm, progress = rest.pop("comm", None), rest.pop("progress", None)
        self._bar = Bar() if progress is True else None
        self._progress = self._bar if self._bar is not None else progress or None
        self._opened: list[Store] = []
        self._kept: list[Any] = []
        self.pointer = c.ffi.new("parapet_copy_request *")
        try:
            self._target, target_path = self._find(target, "a")
            source_store, source_path = self._find(source, "r")
            self._fill(source_store, source_path, target_path, rest)
        except BaseException:
            self._settle()
            raise

    def _fill(self, source: Any, source_path: str, target_path: str, rest: dict[str, Any]) -> None:
        row = self.pointer
        row.source, row.source_path = source._session.handle.get(), self._text(source_path)
        row.target, row.target_path = self._target._session.handle.get(), self._text(target_path)
        temporary = rest.pop("temporary", None)
        if temporary is not None:
            row.temporary = self._find(temporary, "a")[0]._session.handle.get()
        self._change(row.changes, rest)
        append = rest.pop("append", None)
        if append is not None:
            if not isinstance(append, str):
                raise TypeError("append is the name of one dimension")
            row.append = self._text(append)
        for name in ("include", "exclude"):
            names = rest.pop(name, None)
            if names is not None:
                setattr(row, name, self._text(names if isinstance(names, str) else ",".join(names)))
        if rest.get("max_mem") is not None:
            rest["memory_bytes"] = rest["max_mem"]
        rest.pop("max_mem", None)
        for name, value in rest.items():
            check(c.lib.parapet_copy_request_set(row, name.encode(), option_text(value)))

    def _change(self, changes: Any, rest: dict[str, Any]) -> None:
        for name, words in (("chunks", extents_text), ("shards", extents_text), ("order", order_text),
                            ("region", region_text), ("codec", str)):
            value = rest.pop(name, None)
            if value is not None:
                setattr(changes, name, self._text(words(value)))
        changes.no_checksum = not rest.pop("checksum", True)

    def _text(self, words: str) -> Any:
        text = c.ffi.new("char[]", os.fsencode(words))
        self._kept.append(text)
        return text

    def _find(self, place: Any, mode: str) -> tuple[Any, str]:
        """The store and the path in it that are meant."""
        if isinstance(place, (Array, Group)):
            return place, place.path
        if isinstance(place, tuple):
            return place[0], place[1]
        root, path = split_path(os.fspath(place))
        store = open_store(root, mode, self._comm, progress=self._progress if mode == "a" else None)
        self._opened.append(store)
        return store, path

    def finish(self, status: int) -> None:
        """Raises what the call has come to."""
        if self._bar is not None:
            self._bar.end()
        self._target._session.check(status)

    def _close(self) -> None:
        for store in reversed(self._opened):
            store.close()

    def _settle(self) -> None:
        """Closes after a failure, which other ranks may not know of."""
        for store in reversed(self._opened):
            store._settle()

    def __enter__(self) -> _Request:
        if self._progress is not None and not self._opened:
            self._before = self._target._session.progress.replace(self._progress)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, traceback: object) -> None:
        if self._progress is not None and not self._opened:
            self._target._session.progress.replace(self._before)
        if kind is None:
            self._close()
        else:
            self._settle()


def split_path(path: str) -> tuple[str, str]:
    """The store that a path leads to, and the path in it: the outermost folder with metadata, or one named *.zarr.

    >>> split_path("/nowhere/out.zarr/run/t2m")
    ('/nowhere/out.zarr', 'run/t2m')
    """
    if path.startswith("memory:"):
        root, _, rest = path.partition("/")
        return root, rest
    parts = path.rstrip("/").split("/")
    heads = ["/".join(parts[:i]) for i in range(1, len(parts) + 1)]
    for is_root in (lambda head: any(os.path.exists(f"{head}/{name}") for name in _METADATA),
                    lambda head: head.endswith(".zarr")):
        for head in heads:
            if head and is_root(head):
                return head, path.rstrip("/")[len(head):].strip("/")
    return path, ""


def extents_text(given: Any) -> str:
    """Extents in the words of the library.

    >>> extents_text({"time": -1, "lat": 10}), extents_text((100, 20)), extents_text("none")
    ('time/-1,lat/10', '100,20', 'none')
    """
    if isinstance(given, str):
        return given
    if isinstance(given, Mapping):
        return ",".join(f"{name}/{extent}" for name, extent in given.items())
    return ",".join(str(extent) for extent in given)


def order_text(given: Any) -> str:
    """An order of dimensions in the words of the library."""
    return given if isinstance(given, str) else ",".join(str(one) for one in given)


def region_text(given: Any) -> str:
    """A region in the words of the library; an end may be None.

    >>> region_text({"time": (0, 100)}), region_text([(0, 100), slice(5, None)])
    ('time=0:100', '0:100,5:')
    """
    if isinstance(given, str):
        return given
    if isinstance(given, Mapping):
        return ",".join(f"{name}={_range_text(one)}" for name, one in given.items())
    return ",".join(_range_text(one) for one in given)


def _range_text(given: Any) -> str:
    if isinstance(given, slice):
        if given.step not in (None, 1):
            raise ArgumentError(f"a region has no steps, but {given} has")
        given = (given.start, given.stop)
    start, end = given
    return f"{'' if start is None else start}:{'' if end is None else end}"
