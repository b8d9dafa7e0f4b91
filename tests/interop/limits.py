"""What the other readers and writers cannot do, by name, with the reason.

A limit says for which arrays a reader must fail. The tests try all the same: an array under a limit that is read
exactly is reported, so that the list cannot outlive its reasons.
"""

import dataclasses
from typing import Callable


@dataclasses.dataclass
class Limit:
    reader: str
    name: str
    applies: Callable  # to a cases.Variable
    reason: str


def is_time(variable):
    return variable.type.startswith("numpy.")


LIMITS = []


def find(reader, variable):
    return next((limit for limit in LIMITS if limit.reader == reader and limit.applies(variable)), None)
