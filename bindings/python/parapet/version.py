"""What is installed, and what started this process."""
from __future__ import annotations

from dataclasses import dataclass

from . import _callbacks
from . import _library as c
from .errors import check


def version() -> str:
    """[local] One line per component: the library, the MPI it was built with, every codec library.

    >>> import parapet
    >>> parapet.version().startswith("parapet ")
    True
    """
    return _callbacks.text(c.lib.parapet_version())


def version_number() -> int:
    """[local] The version of the library as one number that grows: 10203 for 1.2.3."""
    number: int = c.lib.parapet_version_number()
    return number


@dataclass(frozen=True)
class Launch:
    """What an MPI launcher says about this process. rank -1: there is none; flavour "": either MPI, or none."""

    rank: int
    count: int
    is_inherited: bool
    flavour: str


def launch() -> Launch:
    """[local] Finds out which launcher started this process."""
    found = c.ffi.new("parapet_launch *")
    check(c.lib.parapet_launch_get(found))
    return Launch(found.rank, found.count, bool(found.is_inherited), _callbacks.text(found.flavour))
