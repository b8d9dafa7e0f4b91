"""What a store has done on this rank since it was opened."""
from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from . import _library as c
from .errors import check


@dataclass(frozen=True)
class Statistics:
    """Counts, and one time, of one rank; `include/parapet.h` says what each means."""

    read_bytes: int
    written_bytes: int
    read_requests: int
    objects_written: int
    chunks_decoded: int
    chunks_encoded: int
    chunks_copied: int
    chunks_missing: int
    memory_peak_bytes: int
    memory_planned_bytes: int
    messages_sent: int
    message_bytes: int
    direct_bytes: int
    shards_owned: int
    shards_taken: int
    storage_seconds: float
    local_peak_bytes: int
    description_messages: int
    descriptions_reused: int
    cache_hits: int
    cache_misses: int
    cache_bytes: int


def read_statistics(store: Any) -> Statistics:
    """[local] The statistics of a store's handle."""
    counts = c.ffi.new("parapet_statistics *")
    check(c.lib.parapet_store_get_statistics(store, counts))
    return Statistics(**{one.name: getattr(counts, one.name) for one in fields(Statistics)})
