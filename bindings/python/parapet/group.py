"""Groups: mappings from names to arrays and groups."""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy.typing

from . import _callbacks, _collective, attributes as _attributes
from . import _library as c
from ._handles import Handle, Owner, Session, new_pointer
from .array import Array
from .attributes import Attributes
from .errors import ParapetError, of_status
from .spec import ArraySpec, CSpecs, Extents


class Group(Owner, Mapping[str, "Array | Group"]):
    """A group of a store: a mapping of names, or of paths below it, to arrays and groups.

    In a store with a communicator everything here is collective, also listing and looking up.

    >>> import parapet
    >>> store = parapet.open("memory:group", "a")
    >>> run = store.create_group("run", attributes={"experiment": 7})
    >>> _ = run.create_array("t", shape=(3,), dtype="i4")
    >>> list(run), "t" in run, run["t"].path, run.attrs["experiment"]
    (['t'], True, 'run/t', 7)
    >>> store.close()
    """

    _session: Session

    def __init__(self, handle: Handle, path: str) -> None:
        self._handle, self._session, self.path = handle, handle.session, path

    @property
    def name(self) -> str:
        """The last component of the path."""
        return self.path.rpartition("/")[2]

    @property
    def attrs(self) -> Attributes:
        """The attributes, as a mapping of Python values."""
        lib = c.lib
        return Attributes(lambda name, place: lib.parapet_group_attribute_get(self._group(), name, place),
                          lambda name, json: lib.parapet_group_attribute_set(self._group(), name, json))

    def _group(self) -> Any:
        """The group's handle, as C takes it."""
        return self._handle.get()

    def _path_of(self, name: str) -> bytes:
        """The path of something in this group, in the store."""
        name = name.strip("/")
        return (f"{self.path}/{name}" if self.path and name else self.path or name).encode("utf-8", "surrogateescape")

    # ---- A mapping ----

    def _list(self) -> dict[str, int]:
        found: dict[str, int] = {}
        receiver = _callbacks.Receiver(found.__setitem__)
        status = c.lib.parapet_group_list(self._group(), c.lib.parapet_python_child, receiver.context)
        self._session.check(status)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._list())

    def __len__(self) -> int:
        return len(self._list())

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str):
            return False
        above, _, last = name.strip("/").rpartition("/")
        if not above:
            return last in self._list()
        try:
            with self.open_group(above) as group:
                return last in group._list()
        except ParapetError:
            return False

    def __getitem__(self, name: str) -> Array | Group:
        pointer, path, store = new_pointer("parapet_array"), self._path_of(name), self._session.handle.get()
        status = c.lib.parapet_array_open(pointer, store, path)
        if status == 0:
            return self._array(pointer, path)
        if status != c.lib.PARAPET_ERR_ARGUMENT:  # by which it says that this is a group
            raise of_status(status)
        return self.open_group(name)

    def __repr__(self) -> str:
        return f"<parapet.Group {self.path or '/'!r}>"

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    # ---- Opening and creating ----

    def open_array(self, name: str) -> Array:
        """[collective] Opens an array, of Zarr v3 or v2."""
        pointer, path = new_pointer("parapet_array"), self._path_of(name)
        self._session.check(c.lib.parapet_array_open(pointer, self._session.handle.get(), path))
        return self._array(pointer, path)

    def open_group(self, name: str) -> Group:
        """[collective] Opens a group, of Zarr v3 or v2."""
        pointer, path = new_pointer("parapet_group"), self._path_of(name)
        self._session.check(c.lib.parapet_group_open(pointer, self._session.handle.get(), path))
        return self._made_group(pointer, path)

    def create_group(self, name: str, *, attributes: Mapping[str, Any] | None = None) -> Group:
        """[collective] Creates a group, and every missing group above it."""
        pointer, path = new_pointer("parapet_group"), self._path_of(name)
        preparation = _collective.Preparation(self._session.is_shared)
        json = preparation.do(_attributes.encode, dict(attributes)) if attributes is not None else c.ffi.NULL
        store = self._session.handle.get()
        status = c.lib.parapet_group_create(pointer, store, path, _collective.NO_JSON if json is None else json)
        preparation.raise_own()
        self._session.check(status)
        return self._made_group(pointer, path)

    def create_array(self, name: str, *, shape: Extents, dtype: numpy.typing.DTypeLike,
                     chunks: Extents | str = "auto", shards: Extents | str | None = "auto", codec: str | None = None,
                     fill_value: Any = None, dimension_names: Sequence[str] | None = None,
                     attributes: Mapping[str, Any] | None = None, checksum: bool = True,
                     overwrite: bool = False) -> Array:
        """[collective] Creates an array, and every missing group above it. `ArraySpec` explains the arguments."""
        spec = ArraySpec(shape, dtype, chunks, shards, codec, fill_value, dimension_names, attributes, checksum,
                         overwrite)
        pointer, path = new_pointer("parapet_array"), self._path_of(name)
        preparation = _collective.Preparation(self._session.is_shared)
        specs = preparation.do(CSpecs, [spec])
        status = c.lib.parapet_array_create(pointer, self._session.handle.get(), path,
                                            specs.pointer if specs is not None else c.ffi.NULL)
        preparation.raise_own()
        self._session.check(status)
        return self._array(pointer, path)

    def create_arrays(self, specs: Mapping[str, ArraySpec]) -> dict[str, Array]:
        """[collective] Creates many arrays with as many agreements between the ranks as one takes."""
        return self._many(list(specs), list(specs.values()))

    def open_arrays(self, names: Sequence[str]) -> dict[str, Array]:
        """[collective] Opens many arrays at once, all or none."""
        return self._many(list(names), None)

    def _many(self, names: list[str], specs: list[ArraySpec] | None) -> dict[str, Array]:
        pointers = c.ffi.new("parapet_array *[]", max(len(names), 1))
        preparation = _collective.Preparation(self._session.is_shared)
        described = preparation.do(CSpecs, specs or [])
        kept = [c.ffi.new("char[]", self._path_of(name)) for name in names]
        paths = c.ffi.new("char *[]", kept or 1)
        store = self._session.handle.get()
        if specs is None:
            status = c.lib.parapet_arrays_open(pointers, store, paths, len(names))
        else:
            rows = described.pointer if described is not None else c.ffi.NULL
            status = c.lib.parapet_arrays_create(pointers, store, paths, rows, len(names))
        preparation.raise_own()
        self._session.check(status)
        return {name: self._array(_own(pointers[i]), self._path_of(name)) for i, name in enumerate(names)}

    def consolidate(self) -> None:
        """[collective] Writes the metadata of everything below into this group, so that readers need one request."""
        self._session.check(c.lib.parapet_group_consolidate(self._group()))

    def _array(self, pointer: Any, path: bytes) -> Array:
        what = f"the array {path.decode('utf-8', 'replace')}"
        return Array(Handle(pointer, self._session, c.lib.parapet_array_close, what))

    def _made_group(self, pointer: Any, path: bytes) -> Group:
        text = path.decode("utf-8", "surrogateescape")
        return Group(Handle(pointer, self._session, c.lib.parapet_group_close, f"the group {text or '/'}"), text)


def _own(array: Any) -> Any:
    """A place of its own for one of many handles."""
    pointer = new_pointer("parapet_array")
    pointer[0] = array
    return pointer
