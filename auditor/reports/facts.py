"""What a trace says about barriers, indexed once: arrivals, copies and waits of each, groups of them, their names."""

from __future__ import annotations

import re
from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING

from auditor.reports import expressions as ex
from auditor.reports.groups import Group, group_barriers
from auditor.reports.naming import Names
from auditor.reports.symbols import Symbols
from auditor.source import Stack
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


class Facts:
    """One run of a kernel, indexed for the report."""

    def __init__(self, audit: Audit) -> None:
        self.audit = audit
        self.trace = audit.trace
        self.names = Names(audit)
        kernel = audit.kernel
        self.symbols = Symbols(audit.program.sources.get(kernel.loc.file, ""), kernel.loc.line, kernel.body_end.line)
        count = len(self.trace.barriers)
        self.arrivals: list[list[Event]] = [[] for _ in range(count)]  # mbar.arrive, mbar.expect_tx and commit
        self.waits: list[list[Event]] = [[] for _ in range(count)]
        self.copies: list[list[Event]] = [[] for _ in range(count)]
        self.strands: dict[int, list[Event]] = {}
        self.ops: list[Event] = []
        self.commit_ops: dict[int, list[int]] = {}
        self._nth: dict[int, int] = {}  # the how manieth execution of its instruction in a strand an event is
        self.elects = any(i.opcode.startswith("elect") for block in audit.program.asm for i in block.instrs)
        self._index()

    def _index(self) -> None:
        last_ops: dict[int, list[int]] = {}
        times: Counter[tuple[int, str, Stack]] = Counter()
        for e in self.trace.events:
            if e.warp >= 0:
                self.strands.setdefault(e.strand, []).append(e)
            if e.kind in _BARRIER_OPERAND:
                self._nth[e.id] = times[e.strand, e.kind, e.where]
                times[e.strand, e.kind, e.where] += 1
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

    def lines(self, events: list[Event], limit: int = 16) -> tuple[int, ...]:
        """The user's lines of events, each once, in order; the first ``limit`` of them."""
        return tuple(sorted({self.line(e) for e in events})[:limit])

    def operand(self, event: Event) -> str:
        """The name of the barrier in the source, at an event: of ``full + i`` the array, else the base name."""
        expression = self.expression(event)
        bars = event.data.get("bar", ())
        for bar in bars if isinstance(bars, list) else [bars]:
            declared = re.sub(r"\[\d+\]$", "", self.trace.barriers[bar].name)
            if (array := ex.element_of(expression, declared)) is not None:
                return array
        return ex.base_name(expression)

    def expression(self, event: Event) -> str:
        """The address of the barrier as the source has it, at an event."""
        instruction = _BARRIER_OPERAND.get(event.kind)
        return self.names.expression(event.where, instruction, nth=self._nth.get(event.id, 0)) if instruction else ""

    @cached_property
    def group_of(self) -> dict[int, Group]:
        """Group by barrier index."""
        return {bar: group for group in self.groups for bar in group.bars}

    @cached_property
    def waited(self) -> dict[tuple[int, int], frozenset[str]]:
        """Names of the barriers that each warp (CTA, warp) waits for."""
        found: dict[tuple[int, int], set[str]] = {}
        for group in self.groups:
            for e in (e for bar in group.bars for e in self.waits[bar]):
                found.setdefault((e.cta, e.warp), set()).add(group.name)
        return {warp: frozenset(names) for warp, names in found.items()}

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
        return group_barriers(self)
