"""Hand-built traces for the tests of the graph layer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from auditor.footprint import LaneRange, footprint
from auditor.source import Loc
from auditor.trace import ALL_LANES, Access, Event, Trace


def shared(
    lo: int, hi: int, *, write: bool = False, proxy: str = "generic", lanes: tuple[LaneRange, ...] = (), **more: Any
) -> Access:
    """Bytes ``lo``..``hi`` of CTA 0's shared memory. ``lanes``: what each lane touches of them, if not the same."""
    return Access("shared", write, proxy, 0, lo, hi, footprint(lanes) if lanes else None, **more)


def tmem(lo: int, hi: int, *, write: bool = False, lanes: tuple[int, int] = (0, 128), **more: Any) -> Access:
    """Columns ``lo``..``hi`` of CTA 0's tensor memory."""
    return Access("tmem", write, "tmem", 0, lo, hi, lane_lo=lanes[0], lane_hi=lanes[1], **more)


class TraceBuilder:
    """Appends events with ascending ids. Each event gets its own source line unless ``line`` is given.

    A strand is (warp, lane mask); ``on`` names it by number, and makes it with all lanes the first time.
    """

    def __init__(self, warps: int = 8) -> None:
        self.trace = Trace("kernel", {}, warps, 1)
        self._time: dict[int, int] = {}
        self._strands: list[tuple[int, int]] = []
        self._forked: dict[int, int] = {}
        self._last: dict[int, int] = {}

    def strand(self, warp: int, lanes: int = ALL_LANES, parent: int | None = None) -> int:
        """A new strand. With a parent it forks off at the parent's last event."""
        self._strands.append((warp, lanes))
        number = len(self._strands) - 1
        if parent is not None:
            self._forked[number] = self._last[parent]
        return number

    def narrow(self, strand: int, lanes: int) -> None:
        """Lanes that stay with a strand after another forked off."""
        self._strands[strand] = (self._strands[strand][0], lanes)

    def add(
        self,
        strand: int,
        kind: str,
        accesses: Iterable[Access] = (),
        preds: Sequence[tuple[Event, str]] = (),
        line: int | None = None,
        **data: Any,
    ) -> Event:
        """An event of a strand."""
        warp, lanes = self._strands[strand]
        self._time[warp] = self._time.get(warp, 0) + 1
        edges = [(p.id, reason) for p, reason in preds]
        if strand in self._forked:
            edges.append((self._forked.pop(strand), "fork"))
        event = self._append(kind, warp, lanes, self._time[warp], strand, edges, accesses, line, data)
        self._last[strand] = event.id
        return event

    def done(self, kind: str, preds: Sequence[tuple[Event, str]], **data: Any) -> Event:
        """A completion: an event that no warp executes."""
        return self._append(kind, -1, 0, 0, -1, [(p.id, reason) for p, reason in preds], (), None, data)

    def issue(self, strand: int, instr: str, accesses: Iterable[Access], line: int | None = None, **data: Any) -> Event:
        """Issues an asynchronous operation; returns the operation."""
        issue = self.add(strand, "issue", line=line, instr=instr)
        data |= {"instr": instr, "issuer": issue.id}
        op = self._append("async", -1, 0, 0, -1, [(issue.id, "issue")], accesses, line, data)
        issue.data["op"] = op.id
        return op

    def sync(self, *strands: int) -> Event:
        """A CTA barrier: arrivals, its completion, and the release of all the strands."""
        arrivals = [self.add(s, "bar.sync", id=0) for s in strands]
        barrier = self.done("barrier", [(a, "bar") for a in arrivals])
        for strand in strands:
            self.add(strand, "nop", preds=[(barrier, "bar")])
        return barrier

    def hand_over(self, source: int, target: int, *ops: Event, bar: int = 0, phase: int = 0) -> Event:
        """Arrive, phase and wait on an mbarrier; the phase also collects completions. Returns the wait."""
        arrive = self.add(source, "mbar.arrive", bar=bar, phase=phase)
        done = self.done("phase", [(arrive, "arrive"), *((op, "complete") for op in ops)], bar=bar, index=phase)
        return self.add(target, "mbar.wait", preds=[(done, "phase")], bar=bar, phase=phase)

    def _append(
        self,
        kind: str,
        warp: int,
        lanes: int,
        time: int,
        strand: int,
        preds: list[tuple[int, str]],
        accesses: Iterable[Access],
        line: int | None,
        data: dict[str, Any],
    ) -> Event:
        number = len(self.trace.events)
        where = (Loc("k.cu", number + 1 if line is None else line),)
        event = Event(number, kind, 0, warp, lanes, time, strand, where, preds, list(accesses), data)
        self.trace.events.append(event)
        return event
