"""Which MPI this process runs on: the library that mpi4py has loaded, and the flavour of Parapet that fits it."""
from __future__ import annotations

import ctypes
import os
import pathlib
import re
import sys

SERIAL = "serial"
FLAVOURS = (SERIAL, "mpich", "openmpi", "mpiabi")

# The libraries of MPI by name. MPICH is libmpich.so.12 at Debian and libmpi.so.12 elsewhere; Intel's, Cray's and
# MVAPICH's libraries with these names have its ABI.
_NAMES = (
    (re.compile(r"libmpi(ch)?\.so\.12(\.|$)"), "mpich"),
    (re.compile(r"libmpi_cray\.so\.12(\.|$)"), "mpich"),
    (re.compile(r"libmpi\.so\.(40|80)(\.|$)"), "openmpi"),
    (re.compile(r"libmpi_abi\.so(\.|$)"), "mpiabi"),  # the standard ABI of MPI 5
)


class _Object(ctypes.Structure):
    """The beginning of glibc's struct dl_phdr_info."""

    _fields_ = [("address", ctypes.c_void_p), ("name", ctypes.c_char_p)]


_VISITOR = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Object), ctypes.c_size_t, ctypes.c_void_p)


def loaded_libraries() -> list[str]:
    """The paths of all shared libraries of this process, in the order in which they were loaded."""
    found: list[str] = []

    def visit(entry: ctypes._Pointer[_Object], size: int, data: object) -> int:
        found.append(os.fsdecode(entry.contents.name or b""))
        return 0

    ctypes.CDLL(None).dl_iterate_phdr(_VISITOR(visit), None)
    return found


def find_mpi(libraries: list[str]) -> tuple[str, str] | None:
    """The flavour and the path of the MPI among these libraries, or None.

    mpi4py may have loaded a link without a number, such as libmpi.so; what it leads to has one.

    >>> find_mpi(["/lib/libc.so.6", "/usr/lib/libmpich.so.12"])
    ('mpich', '/usr/lib/libmpich.so.12')
    """
    for path in libraries:
        names = os.path.basename(path), os.path.basename(os.path.realpath(path))
        for pattern, flavour in _NAMES:
            if any(pattern.match(name) for name in names):
                return flavour, path
    return None


def built_flavours() -> list[str]:
    """The flavours that this installation contains."""
    folder = pathlib.Path(__file__).parent
    return [flavour for flavour in FLAVOURS if (folder / f"_{flavour}.abi3.so").exists()]


def promote(path: str) -> None:
    """Lets modules that are loaded from now on find the symbols of a library that is loaded already."""
    ctypes.CDLL(path, mode=os.RTLD_NOLOAD | os.RTLD_GLOBAL | os.RTLD_LAZY)


def choose() -> str:
    """The flavour that this process needs; makes the symbols of its MPI visible.

    A process that has not imported `mpi4py.MPI` is one without MPI, whatever else it has loaded.
    """
    if "mpi4py.MPI" not in sys.modules:
        return SERIAL
    found = find_mpi(loaded_libraries())
    built = built_flavours()
    if found is None:
        raise ImportError("mpi4py is loaded, but none of the libraries of this process is an MPI that parapet knows; "
                          f"this parapet was built for {', '.join(built)}")
    flavour, path = found
    if flavour not in built:
        raise ImportError(f"mpi4py runs on {flavour} ({path}), but this parapet was built for {', '.join(built)}: "
                          "install it again where the compiler wrapper of that MPI is on the PATH")
    promote(path)
    return flavour
