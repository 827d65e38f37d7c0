"""An element of an array of arrays or objects whose index differs between lanes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from auditor.values import OPAQUE, Opaque, Vec, collapse, lane_values


class Rows(list[Any]):
    """One row for each lane, used as the list that the lanes see: reads gather from them, writes scatter to them."""

    __slots__ = ("rows",)

    def __init__(self, rows: list[list[Any]]) -> None:
        super().__init__()
        self.rows = rows

    def __len__(self) -> int:
        return min(len(row) for row in self.rows)

    def __bool__(self) -> bool:
        return len(self) > 0

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self)))

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return [self[k] for k in range(len(self))[key]]
        items = [row[key] for row in self.rows]
        if all(isinstance(x, list) for x in items):
            return Rows(items)
        if all(isinstance(x, (int, float, Vec)) for x in items):
            return collapse(x.v[lane] if isinstance(x, Vec) else x for lane, x in enumerate(items))
        for x in items:
            if isinstance(x, Opaque):
                x.used()
        return OPAQUE

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, slice):
            for k, x in zip(range(len(self))[key], value):
                self[k] = x
            return
        if isinstance(value, list) and isinstance(self[key], list):
            self[key][:] = value
            return
        known = lane_values(value) if isinstance(value, (int, float, Vec)) else None
        for lane, row in enumerate(self.rows):
            old = row[key]
            if known is None or not isinstance(old, (int, float, Vec)):
                row[key] = OPAQUE
            else:
                lanes = list(lane_values(old))
                lanes[lane] = known[lane]
                row[key] = collapse(lanes)


def rows_at(box: list[Any], index: Vec) -> Rows | None:
    """``box[index]`` where all elements are arrays or objects. Lanes whose index lies outside get one of their own."""
    if not box or not all(isinstance(row, list) for row in box):
        return None
    return Rows([box[i] if 0 <= i < len(box) else [OPAQUE] * len(box[0]) for i in index.v])
