"""What a trace says about barriers, indexed once: groups of them with their names, arrivals, copies and waits."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from auditor.reports.naming import Names
from auditor.trace import Event

if TYPE_CHECKING:
    from auditor.audit import Audit

# How the operand of an event that concerns a barrier is found: instruction, position of the address operand.
_BARRIER_OPERAND = {
    "mbar.init": "mbarrier.init",
    "mbar.arrive": "mbarrier.arrive",
    "mbar.expect_tx": "mbarrier.expect_tx",
    "mbar.wait": "_wait",
    "commit": "tcgen05.commit",
}


@dataclass
class Group:
    """Barriers that play one part: an array of stages, in each CTA of the cluster.

    ``stages``: for each stage, the indices into ``Trace.barriers`` (one a CTA, in order of rank).
    """

    name: str
    stages: list[list[int]]
    offsets: list[int] = field(default_factory=list)

    @property
    def bars(self) -> list[int]:
        return [bar for stage in self.stages for bar in stage]

    def label(self) -> str:
        """The name with the number of stages: ``full[4]``."""
        return f"{self.name}[{len(self.stages)}]" if len(self.stages) > 1 else self.name


class Facts:
    """One run of a kernel, indexed for the report."""

    def __init__(self, audit: Audit) -> None:
        self.audit = audit
        self.trace = audit.trace
        self.names = Names(audit)
        count = len(self.trace.barriers)
        self.arrivals: list[list[Event]] = [[] for _ in range(count)]  # mbar.arrive, mbar.expect_tx and commit
        self.waits: list[list[Event]] = [[] for _ in range(count)]
        self.copies: list[list[Event]] = [[] for _ in range(count)]
        self.strands: dict[int, list[Event]] = {}
        self.ops: list[Event] = []
        self.commit_ops: dict[int, list[int]] = {}
        self.elects = any(i.opcode.startswith("elect") for block in audit.program.asm for i in block.instrs)
        self._index()

    def _index(self) -> None:
        last_ops: dict[int, list[int]] = {}
        for e in self.trace.events:
            if e.warp >= 0:
                self.strands.setdefault(e.strand, []).append(e)
            if e.kind in ("mbar.arrive", "mbar.expect_tx"):
                self.arrivals[e.data["bar"]].append(e)
            elif e.kind == "mbar.wait":
                self.waits[e.data["bar"]].append(e)
            elif e.kind == "commit":
                # A commit that follows another one at once covers the same operations.
                ops = e.data["ops"] or last_ops.get(e.strand, [])
                last_ops[e.strand] = self.commit_ops[e.id] = ops
                for bar in e.data["bar"]:
                    self.arrivals[bar].append(e)
            elif e.kind == "async":
                self.ops.append(e)
                if e.data.get("bar") is not None:
                    self.copies[e.data["bar"]].append(e)

    def issuer(self, op: Event) -> Event:
        """The event of the thread behind an asynchronous operation."""
        issuer = op.data.get("issuer")
        return self.trace.events[issuer] if op.warp < 0 and issuer is not None else op

    def line(self, event: Event) -> int:
        return self.audit.user(event.where).line

    def lines(self, events: list[Event], limit: int = 3) -> tuple[int, ...]:
        """The user's lines of events, each once, in order."""
        return tuple(sorted({self.line(e) for e in events})[:limit])

    def operand(self, event: Event) -> str:
        """The name of the barrier in the source, at an event."""
        instruction = _BARRIER_OPERAND.get(event.kind)
        return self.names.base(event.where, instruction) if instruction else ""

    @cached_property
    def group_of(self) -> dict[int, Group]:
        """Group by barrier index."""
        return {bar: group for group in self.groups for bar in group.bars}

    def bar_label(self, bar: int) -> str:
        """A barrier's name with its stage: ``sh.full[2]``."""
        group = self.group_of.get(bar)
        if group is None:
            return self.trace.barriers[bar].name
        stage = next(n for n, bars in enumerate(group.stages) if bar in bars)
        return f"{group.name}[{stage}]" if len(group.stages) > 1 else group.name

    @cached_property
    def groups(self) -> list[Group]:
        """Barriers in groups, in the order of their addresses."""
        by_offset: dict[int, list[int]] = {}
        for n, barrier in enumerate(self.trace.barriers):
            by_offset.setdefault(barrier.offset, []).append(n)
        families: dict[str, list[int]] = {}
        for offset in sorted(by_offset):
            first = self.trace.barriers[by_offset[offset][0]]
            name = self.operand(self.trace.events[first.init_event]) or first.name
            families.setdefault(name, []).append(offset)
        found: list[Group] = []
        for name, offsets in families.items():
            found += self._split(name, offsets, by_offset)
        return sorted(found, key=lambda g: g.offsets[0])

    def _split(self, name: str, offsets: list[int], by_offset: dict[int, list[int]]) -> list[Group]:
        """A family that was initialised under one name, split where uses call it differently or use it differently."""
        parts: list[tuple[list[int], set[str], tuple[object, ...]]] = []
        for offset in offsets:
            called, manner = self._uses(by_offset[offset])
            last = parts[-1] if parts else None
            known = not called or last is None or not last[1]
            alike = last is not None and (manner == last[2] or not manner or not last[2])
            if last is not None and (known or (alike and called & last[1])):
                last[0].append(offset)
                last[1].update(called)
                if not last[2]:
                    parts[-1] = (last[0], last[1], manner)
            else:
                parts.append(([offset], set(called), manner))
        groups = []
        for members, called, _ in parts:
            label = name
            if len(parts) > 1 and called:
                label = Counter(sorted(called)).most_common(1)[0][0]
            groups.append(Group(label, [by_offset[o] for o in members], members))
        return groups

    def _uses(self, bars: list[int]) -> tuple[set[str], tuple[object, ...]]:
        """Names by which barriers are waited for and arrived on, and in what manner: init count, kinds of arrivals."""
        called: set[str] = set()
        kinds: set[str] = set()
        for bar in bars:
            for e in [*self.arrivals[bar], *self.waits[bar]]:
                called.add(self.operand(e))
            for e in self.arrivals[bar]:
                kinds.add("expect" if e.data.get("tx") else e.kind)
        called.discard("")
        manner = (self.trace.barriers[bars[0]].init_count, frozenset(kinds)) if kinds else ()
        return called, manner
