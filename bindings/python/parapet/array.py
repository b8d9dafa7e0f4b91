"""Arrays: what they are, and how boxes of them are written and read."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy
import numpy.typing

from . import _callbacks, _collective, _types
from . import _library as c
from ._basic import Boxes
from ._handles import Handle, Owner, Session
from ._listed import CPoints, CRuns
from ._parts import CParts, Part
from .attributes import Attributes
from .checking import CheckReport, check_array
from .errors import ArgumentError, check
from .file_view import build_parts
from .indexing import MANY_BOXES, Selection, select
from .request import BORROW, COPY, Request
from .request import start as start_request
from .spec import Extents, extents

if TYPE_CHECKING:
    from mpi4py.MPI import Datatype


class Array(Owner):
    """An array of a store. `Group.create_array` and `group[name]` make such objects.

    In a store of one process, an array is read and written with indices as NumPy has them. In a store that was opened
    with a communicator, all ranks call `write` and `read` together, each with the box that it has.

    >>> import numpy, parapet
    >>> store = parapet.open("memory:array", "a")
    >>> array = store.create_array("t", shape=(4, 6), dtype="f4", chunks=(2, 3))
    >>> array[1:3, ::2] = numpy.arange(6).reshape(2, 3)
    >>> array[:, 2]
    array([0., 1., 4., 0.], dtype=float32)
    >>> array
    <parapet.Array 't' (4, 6) float32>
    >>> store.close()
    """

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._session: Session = handle.session
        self._describe()

    def _describe(self) -> None:
        """Takes over what the library tells, whose memory does not stay."""
        info = c.ffi.new("parapet_array_info *")
        check(c.lib.parapet_array_get_info(self._handle.get(), info))
        ndim, text = info.ndim, _callbacks.text
        self.path: str = text(info.path)
        self.dtype: numpy.dtype[Any] = _types.dtype_of(info)
        self.shape: tuple[int, ...] = tuple(info.shape[0:ndim])
        self.chunks: tuple[int, ...] = tuple(info.chunks[0:ndim])
        self.shards: tuple[int, ...] | None = tuple(info.shards[0:ndim]) if info.is_sharded else None
        self.codecs: str = text(info.codecs)
        self.zarr_format: int = info.zarr_format
        self.is_sealed: bool = bool(info.is_sealed)
        self.fill_value = _fill_value(info, self.dtype)
        self._boxes = Boxes(self.shape, self.dtype)
        names = info.dimension_names
        self.dimension_names: tuple[str | None, ...] | None = None
        if names != c.ffi.NULL:
            self.dimension_names = tuple(text(names[i]) if names[i] != c.ffi.NULL else None for i in range(ndim))

    # ---- What it is ----

    @property
    def name(self) -> str:
        """The last component of the path."""
        return self.path.rpartition("/")[2]

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        size = 1
        for extent in self.shape:
            size *= extent
        return size

    @property
    def nbytes(self) -> int:
        """The bytes of all elements, decoded."""
        return self.size * self.dtype.itemsize

    @property
    def attrs(self) -> Attributes:
        """The attributes, as a mapping of Python values."""
        lib = c.lib
        return Attributes(lambda name, place: lib.parapet_array_attribute_get(self._handle.get(), name, place),
                          lambda name, json: lib.parapet_array_attribute_set(self._handle.get(), name, json))

    def layout(self) -> str:
        """[local] Explains in sentences how the array is divided into chunks and shards."""
        place = c.ffi.new("char **")
        check(c.lib.parapet_array_layout_print(self._handle.get(), place))
        try:
            return _callbacks.text(place[0])
        finally:
            c.lib.parapet_free(place[0])

    def stored_boxes(self) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """[local] Start and count of every shard that is stored, in ascending order."""
        found: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
        ndim = self.ndim
        receiver = _callbacks.Receiver(lambda start, count: found.append((tuple(start[0:ndim]), tuple(count[0:ndim]))))
        check(c.lib.parapet_array_list(self._handle.get(), c.lib.parapet_python_box, receiver.context), receiver)
        return found

    def __repr__(self) -> str:
        state = " (closed)" if self._handle.pointer is None else ""
        return f"<parapet.Array {self.path!r} {self.shape} {self.dtype}{state}>"

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("an array of 0 dimensions has no length")
        return self.shape[0]

    # ---- Collective transfers ----

    def write(self, data: numpy.typing.ArrayLike, start: Sequence[int] | int | None = None) -> None:
        """[collective] Writes the box that begins at `start` and has the shape of `data`.

        The data is not copied, whatever its strides. Boxes of different ranks must not overlap. A rank that has
        nothing to write calls `write_parts([])`, and one that has several boxes calls it with several parts.
        """
        status = self._boxes.write(self._handle.get(), start, data)
        if status is not None:
            self._session.check(status)
            return
        self._transfer(c.lib.parapet_array_write, lambda: [Part(data, start)], False)

    def write_parts(self, parts: Iterable[Part]) -> None:
        """[collective] Writes any number of parts, including none."""
        self._transfer(c.lib.parapet_array_write, lambda: parts, False)

    def read(self, start: Sequence[int] | int | None = None, count: Extents | None = None,
             out: numpy.ndarray[Any, Any] | None = None) -> numpy.ndarray[Any, Any]:
        """[collective] Reads a box: into `out`, whatever its strides, or into a new array.

        Without `start` the box begins at the first element; without `count` it has the shape of `out`, or reaches to
        the end of the array.
        """
        if out is not None and count is None:
            status = self._boxes.read_into(self._handle.get(), start, out)
            if status is not None:
                self._session.check(status)
                return out
        made: list[numpy.ndarray[Any, Any]] = []

        def parts() -> list[Part]:
            part = self._part_to_read(start, count, out)
            made.append(part.data)
            return [part]

        self._transfer(c.lib.parapet_array_read, parts, True)
        return made[0]

    def read_parts(self, parts: Iterable[Part]) -> None:
        """[collective] Reads any number of parts, including none, into their memory. They may overlap."""
        self._transfer(c.lib.parapet_array_read, lambda: parts, True)

    # ---- Beside the program ----

    def start_write(self, data: numpy.typing.ArrayLike, start: Sequence[int] | int | None = None,
                    copy: bool = False) -> Request:
        """[collective] Starts `write`. With `copy`, the memory of `data` may be used again at once."""
        return self._start_write(lambda: [Part(data, start)], copy)

    def start_write_parts(self, parts: Iterable[Part], copy: bool = False) -> Request:
        """[collective] Starts `write_parts`."""
        return self._start_write(lambda: parts, copy)

    def start_read(self, start: Sequence[int] | int | None = None, count: Extents | None = None,
                   out: numpy.ndarray[Any, Any] | None = None) -> Request:
        """[collective] Starts `read`; `wait` of the request returns the array that was read into."""
        made: list[Part] = []

        def parts() -> list[Part]:
            made.append(self._part_to_read(start, count, out))
            return made

        return self._start_read(parts, lambda: made[0].data)

    def start_read_parts(self, parts: Iterable[Part]) -> Request:
        """[collective] Starts `read_parts`."""
        return self._start_read(lambda: parts, lambda: None)

    def _start_write(self, make_parts: Any, copy: bool) -> Request:
        preparation, pointer, count, kept = self._prepare(make_parts, False)
        return start_request(self._session, lambda place: c.lib.parapet_array_start_write(
            place, self._handle.get(), pointer, count, COPY if copy else BORROW), kept, preparation.failure)

    def _start_read(self, make_parts: Any, result: Any) -> Request:
        preparation, pointer, count, kept = self._prepare(make_parts, True)
        return start_request(self._session, lambda place: c.lib.parapet_array_start_read(
            place, self._handle.get(), pointer, count), kept, preparation.failure, result)

    # ---- Elements that are listed one by one ----

    def write_points(self, points: numpy.typing.ArrayLike, data: numpy.typing.ArrayLike) -> None:
        """[collective] Writes elements in any order: one row of `points` has the coordinates of one of them.

        No element may be listed twice, by one rank or by two. A rank that has none gives `[]` twice.

        >>> import numpy, parapet
        >>> store = parapet.open("memory:points", "a")
        >>> array = store.create_array("t", shape=(4, 6), dtype="f4")
        >>> array.write_points([[3, 5], [0, 1]], numpy.array([7, 8], "f4"))
        >>> array.read_points([[0, 1], [0, 2], [3, 5]])
        array([8., 0., 7.], dtype=float32)
        >>> store.close()
        """
        self._transfer_listed(c.lib.parapet_array_write_points, CPoints, points, data, False)

    def read_points(self, points: numpy.typing.ArrayLike,
                    out: numpy.ndarray[Any, Any] | None = None) -> numpy.ndarray[Any, Any]:
        """[collective] Reads elements in any order: one row of `points` has the coordinates of one of them."""
        return self._transfer_listed(c.lib.parapet_array_read_points, CPoints, points, out, True)

    def read_points_local(self, points: numpy.typing.ArrayLike,
                          out: numpy.ndarray[Any, Any] | None = None) -> numpy.ndarray[Any, Any]:
        """[local] Reads points as `read_points` does, on this rank alone."""
        prepared = CPoints(points, out, self, True)
        with self._handle.reading() as array:
            check(c.lib.parapet_array_read_points_local(array, prepared.pointer))
        return prepared.data

    def write_runs(self, starts: numpy.typing.ArrayLike, data: numpy.typing.ArrayLike,
                   lengths: numpy.typing.ArrayLike | None = None) -> None:
        """[collective] Writes runs of the flat index, which counts elements in C order; without lengths, of one each.

        >>> import numpy, parapet
        >>> store = parapet.open("memory:runs", "a")
        >>> array = store.create_array("t", shape=(4, 6), dtype="i4")
        >>> array.write_runs([20, 5], numpy.arange(4, dtype="i4"), [1, 3])
        >>> array.read_runs([5, 6, 7, 8, 20])
        array([1, 2, 3, 0, 0], dtype=int32)
        >>> store.close()
        """
        self._transfer_listed(c.lib.parapet_array_write_runs, CRuns, (starts, lengths), data, False)

    def read_runs(self, starts: numpy.typing.ArrayLike, lengths: numpy.typing.ArrayLike | None = None,
                  out: numpy.ndarray[Any, Any] | None = None) -> numpy.ndarray[Any, Any]:
        """[collective] Reads runs of the flat index, one after the other."""
        return self._transfer_listed(c.lib.parapet_array_read_runs, CRuns, (starts, lengths), out, True)

    def read_runs_local(self, starts: numpy.typing.ArrayLike, lengths: numpy.typing.ArrayLike | None = None,
                        out: numpy.ndarray[Any, Any] | None = None) -> numpy.ndarray[Any, Any]:
        """[local] Reads runs as `read_runs` does, on this rank alone."""
        prepared = CRuns((starts, lengths), out, self, True)
        with self._handle.reading() as array:
            check(c.lib.parapet_array_read_runs_local(array, prepared.pointer))
        return prepared.data

    def _transfer_listed(self, call: Any, kind: Any, listed: Any, data: Any,
                         is_read: bool) -> numpy.ndarray[Any, Any]:
        preparation = _collective.Preparation(self._session.is_shared)
        prepared = preparation.do(lambda: kind(listed, data, self, is_read))
        status = call(self._handle.get(), kind.refused() if prepared is None else prepared.pointer)
        preparation.raise_own()
        self._session.check(status)
        result: numpy.ndarray[Any, Any] = prepared.data  # type: ignore[union-attr]
        return result

    # ---- One rank alone ----

    def read_local(self, start: Sequence[int] | int | None = None, count: Extents | None = None,
                   out: numpy.ndarray[Any, Any] | None = None) -> numpy.ndarray[Any, Any]:
        """[local] Reads a box as `read` does, on this rank alone: no other rank takes part, and MPI is not called.

        Several threads may do this at once, beside a collective call of another one. Its memory is `local_bytes`, an
        option of the store.
        """
        part = self._part_to_read(start, count, out)
        with self._handle.reading() as array:
            status = self._boxes.read_local_into(array, part.start, part.data)
        if status is None:
            self.read_parts_local([part])
        else:
            check(status)
        return part.data

    def read_parts_local(self, parts: Iterable[Part]) -> None:
        """[local] Reads any number of parts, as `read_local` reads one."""
        prepared = CParts(parts, True, self.dtype)
        with self._handle.reading() as array:
            check(c.lib.parapet_array_read_local(array, prepared.pointer, prepared.count))

    def read_texts(self, start: Sequence[int] | int | None = None,
                   count: Extents | None = None) -> numpy.ndarray[Any, Any]:
        """[local] Reads a box of an array of type "string" on this rank alone: an array of `str` objects."""
        first = extents(start) if start is not None else (0,) * self.ndim
        shape = extents(count) if count is not None else tuple(n - i for n, i in zip(self.shape, first))
        if len(first) != self.ndim or len(shape) != self.ndim or any(extent < 0 for extent in shape):
            raise ArgumentError(f"the box at {first} of {shape} elements is not within {self!r}")
        texts = numpy.empty(shape, object)
        ends, place = c.ffi.new("int64_t[]", texts.size + 1), c.ffi.new("char **")
        with self._handle.reading() as array:
            check(c.lib.parapet_array_read_texts_local(array, c.ffi.new("int64_t[]", first + (0,)),
                                                       c.ffi.new("int64_t[]", shape + (0,)), place, ends))
        try:
            every = c.ffi.buffer(place[0], ends[texts.size - 1] if texts.size > 0 else 0)[:]
        finally:
            c.lib.parapet_free(place[0])
        for number in range(texts.size):
            texts.flat[number] = every[ends[number - 1] if number > 0 else 0 : ends[number]].decode()
        return texts

    # ---- From MPI-IO ----

    def view_parts(self, data: numpy.ndarray[Any, Any], filetype: Datatype, displacement: int = 0) -> list[Part]:
        """[local] The parts of `data` that a file view of MPI-IO selects of the array, for `write_parts` and the others.

        filetype: a datatype of mpi4py, as for `MPI.File.Set_view`. displacement: bytes from the first element of the
        array. `data` is contiguous and holds the selected elements packed, as for `MPI.File.Write_all`.
        """
        return build_parts(self._handle, data, self.dtype, filetype, displacement)

    def _part_to_read(self, start: Sequence[int] | int | None, count: Extents | None,
                      out: numpy.ndarray[Any, Any] | None) -> Part:
        first = extents(start) if start is not None else (0,) * self.ndim
        if out is not None and not isinstance(out, numpy.ndarray):
            out = numpy.asarray(out)
        if out is None:
            shape = extents(count) if count is not None else tuple(n - i for n, i in zip(self.shape, first))
            if any(extent < 0 for extent in shape):
                raise ArgumentError(f"the box at {first} of {shape} elements is not within {self!r}")
            out = numpy.empty(shape, self.dtype)
        elif count is not None and extents(count) != out.shape:
            raise ArgumentError(f"count={count} is not the shape of out, which is {out.shape}")
        return Part(out, first)

    def _transfer(self, call: Any, make_parts: Any, is_read: bool) -> None:
        if not self._session.is_shared:
            parts = CParts(make_parts(), is_read, self.dtype)
            self._session.check(call(self._handle.get(), parts.pointer, parts.count))
            return
        preparation, pointer, count, _ = self._prepare(make_parts, is_read)
        status = call(self._handle.get(), pointer, count)
        preparation.raise_own()
        self._session.check(status)

    def _prepare(self, make_parts: Any, is_read: bool) -> tuple[_collective.Preparation, Any, int, Any]:
        """Parts for C, and what keeps them: a number that it refuses on all ranks if this one fails."""
        preparation = _collective.Preparation(self._session.is_shared)
        prepared = preparation.do(lambda: CParts(make_parts(), is_read, self.dtype))
        if prepared is None:
            return preparation, c.ffi.NULL, -1, None
        return preparation, prepared.pointer, prepared.count, prepared

    # ---- Indices of one process ----

    def __getitem__(self, index: Any) -> Any:
        if self._session.is_shared:
            self._refuse_index("read(start, count)")
        box = self._boxes.find(index)
        if box is not None:
            status, found = self._boxes.read_new(self._handle.get(), *box)
            self._session.check(status)
            return found if found.ndim else found[()]
        selection = select(index, self.shape)
        result = numpy.empty(selection.counts, self.dtype)
        if result.size:
            self._read_selection(selection, result)
        shaped = selection.shaped(result)
        return shaped if shaped.ndim else shaped[()]

    def _read_selection(self, selection: Selection, result: numpy.ndarray[Any, Any]) -> None:
        if selection.box_count() > MANY_BOXES:
            start, count = selection.bounds()
            result[...] = self.read(start, count)[selection.within_bounds()]
            return
        self.read_parts([Part(result[place], start) for start, place in selection.boxes()])

    def __setitem__(self, index: Any, value: Any) -> None:
        self._refuse_index("write(data, start)")
        box = self._boxes.find(index)
        status = self._boxes.write_found(self._handle.get(), *box, value) if box is not None else None
        if status is not None:
            self._session.check(status)
            return
        selection = select(index, self.shape)
        values = numpy.asarray(value)
        if values.dtype != self.dtype:
            values = _convert(value, values, self.dtype)
        values = _broadcast(values, selection.unshaped_shape())
        if values.size == 0:
            return
        values = selection.unshaped(values)
        if selection.box_count() > MANY_BOXES or _has_repeats(selection):
            self._write_around(selection, values)
        else:
            self.write_parts([Part(values[place], start) for start, place in selection.boxes()])

    def _write_around(self, selection: Selection, values: numpy.ndarray[Any, Any]) -> None:
        """Reads the box around all that is selected, changes it in memory and writes it again."""
        start, count = selection.bounds()
        around = self.read(start, count)
        around[selection.within_bounds()] = values
        self.write(around, start)

    def _refuse_index(self, instead: str) -> None:
        if self._session.is_shared:
            raise ArgumentError(f"{self.path}: the store was opened with a communicator, so every access is "
                                f"collective: all ranks call {instead}, each for its own box")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> numpy.ndarray[Any, Any]:
        if copy is False:
            raise ValueError("an array of a store cannot be seen without reading it, which is a copy")
        whole: numpy.ndarray[Any, Any] = numpy.asarray(self[...])
        return whole if dtype is None else whole.astype(dtype, copy=False)

    # ---- Changes ----

    def resize(self, shape: Extents) -> None:
        """[collective] Changes the shape. Elements outside the new shape are lost."""
        preparation = _collective.Preparation(self._session.is_shared)
        numbers = preparation.do(self._new_shape, shape)
        status = c.lib.parapet_array_resize(self._handle.get(), c.ffi.NULL if numbers is None else numbers)
        preparation.raise_own()
        self._session.check(status)
        self._describe()

    def _new_shape(self, shape: Extents) -> Any:
        numbers = extents(shape)
        if len(numbers) != self.ndim:
            raise ArgumentError(f"{self.path}: the new shape {shape} must have {self.ndim} entries")
        return c.ffi.new("int64_t[]", list(numbers) or [0])

    def seal(self) -> None:
        """[collective] Records checksums of every shard: a missing or changed shard is an error from now on."""
        self._session.check(c.lib.parapet_array_seal(self._handle.get()))
        self._describe()

    def unseal(self) -> None:
        """[collective] Removes the seal. Writing and resizing do this, too."""
        self._session.check(c.lib.parapet_array_unseal(self._handle.get()))
        self._describe()

    def flush(self) -> None:
        """[collective] Writes what the option `write_back` has left for later. If it fails, flush again: nothing of
        it is lost until the array is closed.
        """
        self._session.check(c.lib.parapet_array_flush(self._handle.get()))

    def check(self, depth: str = "index") -> CheckReport:
        """[collective] Examines every stored object; depth is "survey", "index" or "data"."""
        return check_array(self._handle, depth)


def _fill_value(info: Any, dtype: numpy.dtype[Any]) -> Any:
    if not info.fill_is_defined or info.fill_value == c.ffi.NULL or dtype.itemsize == 0:
        return None
    return numpy.frombuffer(bytes(c.ffi.buffer(info.fill_value, dtype.itemsize)), dtype)[0]


def _convert(value: Any, values: numpy.ndarray[Any, Any], dtype: numpy.dtype[Any]) -> numpy.ndarray[Any, Any]:
    """Numbers that NumPy would turn into this type without a change of kind; plain Python numbers as NumPy does."""
    if isinstance(value, (bool, int, float, complex, str, list, tuple)):
        return numpy.array(value, dtype)
    return values.astype(dtype, casting="same_kind")


def _broadcast(values: numpy.ndarray[Any, Any], shape: tuple[int, ...]) -> numpy.ndarray[Any, Any]:
    if values.shape == shape:
        return values
    while values.ndim > len(shape) and values.shape[0] == 1:
        values = values[0]
    return numpy.broadcast_to(values, shape)


def _has_repeats(selection: Selection) -> bool:
    """Whether an index is there twice, so that boxes overlap; the last one counts, as in NumPy."""
    for runs in selection.runs:
        if len(runs) > 1:
            ordered = sorted(runs)
            if any(a[0] + a[1] > b[0] for a, b in zip(ordered, ordered[1:])):
                return True
    return False
