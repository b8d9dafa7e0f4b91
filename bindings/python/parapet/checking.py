"""Checks of what is stored, and what they find."""
from __future__ import annotations

from dataclasses import dataclass, field

from . import _callbacks
from . import _library as c
from ._handles import Handle
from .errors import ArgumentError

_DEPTHS = ("survey", "index", "data")
_KINDS = {1: "missing", 2: "torn", 3: "stray", 4: "absent"}


@dataclass(frozen=True)
class Finding:
    """An object of the store that is not as it should be, or was never written (kind "absent")."""

    key: str
    kind: str
    problem: str


@dataclass
class CheckReport:
    """What a check has found. `findings` are those of this rank; the counts are the same on all ranks."""

    shards_expected: int = 0
    shards_present: int = 0
    chunks_present: int = 0
    stored_bytes: int = 0
    missing: int = 0
    torn: int = 0
    stray: int = 0
    findings: list[Finding] = field(default_factory=list)

    @property
    def is_sound(self) -> bool:
        """Whether nothing is missing, torn or stray."""
        return self.missing == self.torn == self.stray == 0


def check_array(handle: Handle, depth: str) -> CheckReport:
    """[collective] Examines every stored object of an array."""
    if depth not in _DEPTHS:
        raise ArgumentError(f'depth is "survey", "index" or "data", not {depth!r}')
    report = CheckReport()
    receiver = _callbacks.Receiver(
        lambda key, kind, problem: report.findings.append(Finding(key, _KINDS.get(kind, str(kind)), problem)))
    summary = c.ffi.new("parapet_check_summary *")
    status = c.lib.parapet_array_check(handle.get(), _DEPTHS.index(depth), c.lib.parapet_python_finding,
                                       receiver.context, summary)
    handle.session.check(status)
    for name in ("shards_expected", "shards_present", "chunks_present", "stored_bytes", "missing", "torn", "stray"):
        setattr(report, name, getattr(summary, name))
    return report
