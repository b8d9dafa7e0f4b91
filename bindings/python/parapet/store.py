"""Stores: a Zarr hierarchy that is open, on one process or on all ranks of a communicator."""
from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _callbacks, _collective
from . import _library as c
from ._handles import Handle, Session, new_pointer
from .errors import ArgumentError, MPIError, check
from .group import Group
from .request import wait_for_all
from .statistics import Statistics, read_statistics

if TYPE_CHECKING:
    from mpi4py.MPI import Comm

_MODES = {"r": "PARAPET_READ", "r+": "PARAPET_UPDATE", "a": "PARAPET_CREATE"}

Progress = Callable[[int, int], object]


def open(path: str | os.PathLike[str], mode: str = "r", comm: Comm | None = None, *,
         progress: Progress | None = None, **options: Any) -> Store:
    """[collective] Opens the Zarr hierarchy at `path`: a directory, or "memory:NAME" for one inside this process.

    mode: "r" to read what exists, "r+" to change what exists, "a" to create what does not exist.
    comm: a communicator of mpi4py, all of whose ranks make this call; None: this process alone.
    progress: is called with the bytes done and the bytes in all during long calls; to cancel, it raises.
    options: those of `parapet_store_options`, as numbers or words: memory_bytes="64MiB", durability="leave".

    >>> import parapet
    >>> with parapet.open("memory:open", "a", memory_bytes="64MiB") as store:
    ...     array = store.create_array("x", shape=(10,), dtype="f8")
    ...     array[:] = 1.5
    ...     float(array[:].sum())
    15.0
    """
    c.load()
    receiver = _callbacks.Watcher(progress)
    preparation = _collective.Preparation(comm is not None)
    handle = _communicator(comm)
    arguments = preparation.do(_arguments, path, mode, options)
    url, number, struct, _texts = arguments if arguments is not None else (c.ffi.NULL, 0, c.ffi.NULL, [])
    if arguments is not None:
        struct.progress = c.ffi.addressof(c.lib, "parapet_python_watch")
        struct.progress_context = receiver.watcher
    pointer = new_pointer("parapet_store")
    status = c.lib.parapet_store_open(pointer, handle, url, number, struct)
    preparation.raise_own()
    check(status, receiver)
    return Store(pointer, comm, receiver, os.fspath(path), mode)


def _arguments(path: str | os.PathLike[str], mode: str, options: dict[str, Any]) -> tuple[bytes, int, Any, list[Any]]:
    if mode not in _MODES:
        raise ArgumentError(f'mode={mode!r}: there are "r" (read), "r+" (change) and "a" (create if it is not there)')
    struct = c.ffi.new("parapet_store_options *")
    texts = [c.ffi.new("char[]", option_text(value)) for value in options.values()]
    for name, text in zip(options, texts):
        check(c.lib.parapet_store_options_set(struct, name.encode(), text))
    return os.fsencode(path), int(getattr(c.lib, _MODES[mode])), struct, texts  # the struct may refer to the texts


def option_text(value: Any) -> bytes:
    """The value of an option in the words of the library."""
    if isinstance(value, bool):
        return b"yes" if value else b"no"
    if isinstance(value, os.PathLike):
        return os.fsencode(value)
    return str(value).encode()


def _communicator(comm: Comm | None) -> Any:
    """A communicator of mpi4py as C takes it."""
    if comm is None:
        return c.lib.parapet_python_comm_null()
    mpi = sys.modules.get("mpi4py.MPI")
    if mpi is None or not isinstance(comm, mpi.Comm):
        raise ArgumentError(f"comm={comm!r} is not a communicator of mpi4py")
    if c.flavour == "serial":
        raise MPIError("parapet was used before mpi4py.MPI was imported, and works without MPI since then; import "
                       "mpi4py.MPI before the first call of parapet")
    if mpi._sizeof(mpi.Comm) != c.ffi.sizeof("MPI_Comm"):
        raise MPIError(f"a communicator of mpi4py has {mpi._sizeof(mpi.Comm)} bytes, but that of parapet's flavour "
                       f"{c.flavour} has {c.ffi.sizeof('MPI_Comm')}: they are of different MPIs")
    return c.lib.parapet_python_comm_at(mpi._addressof(comm))


@dataclass(frozen=True)
class Removal:
    """What `Store.collect` or `Store.remove` has removed, or would remove: an object, or an array or group."""

    key: str
    reason: str


class Store(Group):
    """A store that is open. It is also its root group: a mapping of names and paths to arrays and groups.

    Close it, best with `with`: closing also closes everything that is open in it. If the block is left by an exception
    on one rank, the others raise at their next call of parapet; calls of MPI that the program makes itself in between
    can hang, as they do without parapet.
    """

    def __init__(self, pointer: Any, comm: Comm | None, progress: _callbacks.Watcher, path: str, mode: str) -> None:
        session = Session(None, comm, progress)
        session.handle = Handle(pointer, session, c.lib.parapet_store_close, f"the store {path}")
        session.opened.clear()
        self._root: Handle | None = None
        self.url, self.mode = path, mode
        super().__init__(session.handle, "")
        self._open_root()

    def _open_root(self) -> None:
        """The root is a group, unless the store is a single array."""
        root = new_pointer("parapet_group")
        if c.lib.parapet_group_open(root, self._handle.get(), b"") == 0:
            self._root = Handle(root, self._session, c.lib.parapet_group_close, "the root group")

    def _group(self) -> Any:
        if self._root is None:
            raise ArgumentError(f'{self.url} is not a group; if it is an array, it is store.open_array("")')
        return self._root.get()

    @property
    def comm(self) -> Comm | None:
        """The communicator that it was opened with."""
        comm: Comm | None = self._session.comm
        return comm

    def statistics(self) -> Statistics:
        """[local] What the store has done on this rank so far."""
        return read_statistics(self._handle.get())

    def options(self) -> str:
        """[local] The options in force, one "name = value (source)" per line."""
        place = c.ffi.new("char **")
        check(c.lib.parapet_store_options_print(self._handle.get(), place))
        try:
            return _callbacks.text(place[0])
        finally:
            c.lib.parapet_free(place[0])

    def flush(self) -> None:
        """[collective] Writes what the option `write_back` has left for later, of all arrays."""
        self._session.check(c.lib.parapet_store_flush(self._handle.get()))

    def collect(self, path: str = "", *, dry_run: bool = False) -> list[Removal]:
        """[collective] Removes what crashes have left below `path`; nothing but the store may be open.

        With `dry_run`, nothing is removed. Returns what was, or would be, removed.
        """
        found: list[Removal] = []
        receiver = _callbacks.Receiver(lambda key, reason: found.append(Removal(key, reason)))
        self._close_root_if(not dry_run)
        try:
            self._session.check(c.lib.parapet_store_collect(self._handle.get(), path.encode(), dry_run,
                                                            c.lib.parapet_python_removal, receiver.context))
        finally:
            if self._root is None:  # the sentence of a failure has been taken
                self._open_root()
        return found

    def remove(self, path: str, *, recursive: bool = False, dry_run: bool = False) -> list[Removal]:
        """[collective] Removes the array at `path` or, if it is `recursive`, the group with everything below it.

        If anything is there that Parapet did not make, or if another job is changing a part of it, nothing is removed.
        With `dry_run`, nothing is removed either. Returns the arrays and groups that were, or would be, removed, each
        with a word: "array", "remains" of one, "group" or "directory".

        >>> import parapet
        >>> store = parapet.open("memory:remove", "a")
        >>> _ = store.create_array("run/t", shape=(3,), dtype="i4")
        >>> [(removal.key, removal.reason) for removal in store.remove("run", recursive=True)]
        [('run/t', 'array'), ('run', 'group')]
        >>> store.close()
        """
        found: list[Removal] = []
        receiver = _callbacks.Receiver(lambda key, reason: found.append(Removal(key, reason)))
        self._session.check(c.lib.parapet_store_remove(self._handle.get(), path.encode(), recursive, dry_run,
                                                       c.lib.parapet_python_removal, receiver.context))
        return found

    def _close_root_if(self, is_needed: bool) -> None:
        if is_needed and self._root is not None:
            self._root.close()
            self._root = None

    def close(self) -> None:
        """[collective] Closes everything that is open in the store, and the store.

        First it waits for what was started and not waited for. If that has failed, the store is closed all the same.
        """
        try:
            wait_for_all(self._session)
        finally:
            if self._handle.pointer is not None:
                self._session.close_all()
            self._handle.close()

    def _settle(self) -> None:
        """A store in which something is open, as the root group is, refuses to be closed: so all ranks meet in that
        call, whatever each of them has open, before they close everything together.
        """
        pointer = self._handle.pointer
        if pointer is None:
            return
        if self._session.is_shared:
            self._session.settle(lambda: int(c.lib.parapet_store_close(pointer)))
        self._session.settle_all()
        self._handle.settle()

    def __repr__(self) -> str:
        state = " (closed)" if self._handle.pointer is None else ""
        return f"<parapet.Store {self.url!r} {self.mode!r}{state}>"
