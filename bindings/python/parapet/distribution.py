"""Regular distributions of an array over a mesh of ranks."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import _library as c
from .errors import ArgumentError, check

_SPREADS = {"*": 0, "whole": 0, "block": 1, "cyclic": 2}
Box = tuple[tuple[int, ...], tuple[int, ...]]


class Distribution:
    """How an array is cut over a mesh of ranks, which are numbered in C order. All methods are local.

    mesh: ranks along each dimension. spread: "block", "cyclic" or "*" (whole) for each dimension; None: blocks wherever
    the mesh has more than one rank. block: the extent of a block of a cyclic dimension.

    >>> import parapet
    >>> cut = parapet.Distribution(shape=(8, 10), mesh=(2, 2))
    >>> cut.box(3)
    ((4, 5), (4, 5))
    >>> parapet.Distribution(shape=(8, 10), mesh=(2, 1), spread=("cyclic", "*"), block=(2, 1)).boxes(1)
    [((2, 0), (2, 10)), ((6, 0), (2, 10))]
    """

    def __init__(self, shape: Sequence[int], mesh: Sequence[int], spread: Sequence[str] | None = None,
                 block: Sequence[int] | None = None) -> None:
        self.shape, self.mesh = tuple(shape), tuple(mesh)
        self.spread = tuple(spread) if spread is not None else None
        self.block = tuple(block) if block is not None else None
        self._kept: list[Any] = []
        self.pointer = c.ffi.new("parapet_distribution *")
        self._fill(self.pointer)

    def _fill(self, row: Any) -> None:
        ndim = row.ndim = len(self.shape)
        row.shape, row.mesh = self._numbers(self.shape, ndim), self._numbers(self.mesh, ndim)
        if self.block is not None:
            row.block = self._numbers(self.block, ndim)
        if self.spread is not None:
            unknown = [word for word in self.spread if word not in _SPREADS]
            if unknown or len(self.spread) != ndim:
                raise ArgumentError(f'spread={self.spread} must have {ndim} entries: "block", "cyclic" or "*"')
            row.spread = self._keep(c.ffi.new("parapet_spread[]", [_SPREADS[word] for word in self.spread] or 1))

    def _keep(self, value: Any) -> Any:
        self._kept.append(value)
        return value

    def _numbers(self, numbers: Sequence[int], ndim: int) -> Any:
        if len(numbers) != ndim:
            raise ArgumentError(f"{tuple(numbers)} must have {ndim} entries, as the shape has")
        return self._keep(c.ffi.new("int64_t[]", list(numbers) or 1))

    def boxes(self, rank: int) -> list[Box]:
        """Start and count of every box of a rank: none, one, or for a cyclic dimension many."""
        total = c.ffi.new("int64_t *")
        check(c.lib.parapet_distribution_count(self.pointer, rank, total))
        return [self._box(rank, index) for index in range(total[0])]

    def box(self, rank: int) -> Box:
        """Start and count of the one box of a rank; a rank without a box has one without elements."""
        boxes = self.boxes(rank)
        if len(boxes) > 1:
            raise ArgumentError(f"rank {rank} has {len(boxes)} boxes; use boxes({rank})")
        return boxes[0] if boxes else ((0,) * len(self.shape), (0,) * len(self.shape))

    def _box(self, rank: int, index: int) -> Box:
        ndim = len(self.shape)
        start, count = c.ffi.new("int64_t[]", max(ndim, 1)), c.ffi.new("int64_t[]", max(ndim, 1))
        check(c.lib.parapet_distribution_box(self.pointer, rank, index, start, count))
        return tuple(start[0:ndim]), tuple(count[0:ndim])

    def __repr__(self) -> str:
        return f"Distribution(shape={self.shape}, mesh={self.mesh}, spread={self.spread}, block={self.block})"
