"""Which entry of a clock vector stands for which lanes and which asynchronous operations.

Lanes of a warp that execute together in every event of the trace share one column, so that a warp costs one entry as
long as it never splits and a clock is a flat tuple of integers. Asynchronous operations of one issuing warp and one
instruction in one CTA form a *stream*: they are numbered in issue order, and one column holds how many of them are
complete. What a warp copies into another CTA is awaited there, in another order than its own copies.
"""

from __future__ import annotations

from collections.abc import Sequence

from auditor.graph.vectors import Vector
from auditor.trace import Event, Trace


def split_lanes(masks: set[int]) -> list[int]:
    """The coarsest partition of the lanes such that every mask is a union of parts. Returns masks."""
    parts = [0]
    for mask in masks:
        parts[0] |= mask
    for mask in sorted(masks):
        parts = [p for part in parts for p in (part & mask, part & ~mask) if p]
    return parts


def issuer_id(event: Event) -> int | None:
    """Id of the event with which a strand issued this asynchronous operation."""
    for pred, reason in event.preds:
        if reason == "issue":
            return pred
    issuer = event.data.get("issuer")
    return issuer if isinstance(issuer, int) else None


class Columns:
    """The layout of clock vectors for one trace.

    ``masks``: lane mask of each lane column. ``warp``: the lane columns of each warp. ``op``: for each asynchronous
    event (column that counts complete operations, column that counts operations whose source was read, number within
    the stream).
    """

    def __init__(self, trace: Trace, events: dict[int, Event]) -> None:
        seen: dict[int, set[int]] = {}
        for event in trace.events:
            if event.warp >= 0:
                seen.setdefault(event.warp, set()).add(event.lanes)
        self.masks: list[int] = []
        self.warp: dict[int, tuple[int, ...]] = {}
        self._of: dict[tuple[int, int], tuple[int, ...]] = {}
        for warp, masks in sorted(seen.items()):
            parts = split_lanes(masks)
            columns = range(len(self.masks), len(self.masks) + len(parts))
            self.masks += parts
            self.warp[warp] = tuple(columns)
            for mask in masks:
                self._of[warp, mask] = tuple(c for c in columns if self.masks[c] & mask)
        self.width = len(self.masks)
        self.op: dict[int, tuple[int, int, int]] = {}
        self._add_streams(trace, events)

    def _add_streams(self, trace: Trace, events: dict[int, Event]) -> None:
        streams: dict[tuple[int, str, int], int] = {}
        length: list[int] = []
        for event in trace.events:
            if event.kind != "async":
                continue
            issuer = issuer_id(event)
            warp = events[issuer].warp if issuer is not None else -1
            number = streams.setdefault((warp, str(event.data.get("instr", "")), event.cta), len(streams))
            if number == len(length):
                length.append(0)
            first = self.width + 2 * number
            self.op[event.id] = (first, first + 1, length[number])
            length[number] += 1
        self.width += 2 * len(streams)

    def of(self, event: Event) -> tuple[int, ...]:
        """Columns of the lanes that execute a strand's event; empty for an event without a warp."""
        return self._of.get((event.warp, event.lanes), ())

    def passed(self, event: Event, order: Vector) -> bool:
        """Whether a clock knows that all lanes of a strand's event have executed it."""
        return all(order[c] >= event.time for c in self.of(event))  # type: ignore[operator]

    def column(self, warp: int, lane: int) -> int | None:
        """Column of one lane, None when it executes nothing in this trace."""
        return next((c for c in self.warp.get(warp, ()) if self.masks[c] >> lane & 1), None)

    def lanes(self, columns: Sequence[int]) -> int:
        """Mask of the lanes of some columns (of one warp)."""
        mask = 0
        for column in columns:
            mask |= self.masks[column]
        return mask
