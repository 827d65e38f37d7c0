"""The timeline of the first iterations: threads of each role, copies in flight, and the tensor core."""

from __future__ import annotations

from auditor.reports.actors import by_waits, duty, threads
from auditor.reports.buffers import STORES
from auditor.reports.clock import TENSOR_CORE, Clock
from auditor.reports.facts import Facts
from auditor.reports.model import Row, Span, Timeline
from auditor.trace import Event

ROUNDS_BEYOND = 3  # iterations after the ring has been filled once
MAX_ROWS = 14
_USES = {"tcgen05.ld": "reads TMEM", "tcgen05.st": "writes TMEM"}


def timeline(facts: Facts, clock: Clock) -> Timeline:
    """What happens until the ring has gone round once and a few iterations more."""
    begin = min((clock.start[e.id] for e in facts.trace.events if e.kind in ("issue", "mbar.wait")), default=0)
    end = _horizon(facts, clock)
    cut = _Cut(begin, end)
    rows = [*_thread_rows(facts, clock, cut), *_flight_rows(facts, clock, cut), *_core_rows(facts, clock, cut)]
    return Timeline(tuple(r for r in rows if r.spans)[:MAX_ROWS], end - begin)


class _Cut:
    """The part of model time that is shown."""

    def __init__(self, begin: int, end: int) -> None:
        self.begin, self.end = begin, end

    def span(self, start: int, end: int, kind: str, label: str) -> Span | None:
        """A span within the part; None when it lies outside."""
        if start >= self.end or end < self.begin:
            return None
        start = max(start, self.begin) - self.begin
        return Span(start, max(min(end, self.end) - self.begin, start + 1), kind, label)


def _horizon(facts: Facts, clock: Clock) -> int:
    """End of the shown part: a few completions after every stage of the deepest ring was filled once."""
    latest = max((clock.end[e.id] for e in facts.trace.events if e.kind != "exit"), default=0)
    rings = [g for g in facts.groups if any(facts.copies[b] for b in g.bars)]
    if not rings:
        return latest
    deepest = max(rings, key=lambda g: len(g.stages))
    done = sorted(
        clock.end[p["event"]] for b in deepest.bars for p in facts.trace.barriers[b].phases if p["event"] is not None
    )
    rounds = len(deepest.stages) + ROUNDS_BEYOND
    return min(latest, done[rounds] + 12) if len(done) > rounds else latest


def _thread_rows(facts: Facts, clock: Clock, cut: _Cut) -> list[Row]:
    """One row for each set of warps with duties of its own: its busiest thread stands for all."""
    duties: dict[str, dict[int, list[Event]]] = {}
    first = min((e.cta for e in facts.ops), default=0)
    for e in facts.trace.events:
        name, own = duty(e), facts.issuer(e)
        if own.cta == first and name and not name.startswith(("initialisation", "allocation", "release")):
            duties.setdefault(name, {}).setdefault(own.warp, []).append(e)
    known = {warp for warps in duties.values() for warp in warps}
    for group in facts.groups:
        for e in (w for b in group.bars for w in facts.waits[b] if any(facts.copies[b] for b in group.bars)):
            if e.cta == first and e.warp not in known:
                duties.setdefault("consumer", {}).setdefault(e.warp, []).append(e)
    by_warps: dict[tuple[int, ...], list[str]] = {}
    for name, warps in duties.items():
        for part in by_waits(facts, (e for events in warps.values() for e in events)):
            by_warps.setdefault(tuple(sorted({facts.issuer(e).warp for e in part})), []).append(name)
    rows: dict[int, Row] = {}
    for group_of_warps, names in by_warps.items():
        events = [e for name in names for warp in group_of_warps for e in duties[name][warp]]
        strand = _busiest(facts, [e for name in names for e in duties[name][group_of_warps[0]]])
        shown = f" (warp {group_of_warps[0] % facts.trace.warps_per_cta} shown)" if len(group_of_warps) > 1 else ""
        label = f"{_joined(names)}: {threads(facts, events)}{shown}"
        row = _thread_row(facts, clock, cut, facts.strands[strand], label)
        rows[strand] = Row(f"{rows[strand].name}; {label}", row.spans) if strand in rows else row
    return list(rows.values())


def _busiest(facts: Facts, events: list[Event]) -> int:
    """The strand that has most of these events."""
    counts: dict[int, int] = {}
    for e in events:
        strand = facts.issuer(e).strand
        counts[strand] = counts.get(strand, 0) + 1
    return max(counts, key=lambda s: counts[s])


def _joined(names: list[str]) -> str:
    """Duties in one phrase: "reads and writes of tensor memory"."""
    short = [_short(name) for name in names]
    if {"reads of tensor memory", "writes of tensor memory"} <= set(short):
        short = ["reads and writes of tensor memory", *(n for n in short if "of tensor memory" not in n)]
    return ", ".join(short)


def _short(name: str) -> str:
    return name.split(" (")[0]


def _thread_row(facts: Facts, clock: Clock, cut: _Cut, events: list[Event], name: str) -> Row:
    spans: list[Span] = []
    for e in events:
        start, end = clock.start[e.id], clock.end[e.id]
        if e.kind == "mbar.wait":
            kind, label = "wait", f"waits for {facts.bar_label(e.data['bar'])}, parity {e.data['parity']}"
            if start == end:
                continue
        elif e.kind == "issue":
            kind, label = "issue", f"issues {e.data['instr']}"
        elif e.kind in ("mbar.arrive", "commit"):
            bars = e.data["bar"] if isinstance(e.data["bar"], list) else [e.data["bar"]]
            what = "commits to" if e.kind == "commit" else "arrives on"
            kind, label = "arrive", f"{what} {', '.join(dict.fromkeys(facts.bar_label(b) for b in bars))}"
        elif e.kind in _USES:
            kind, label = "use", _USES[e.kind]
        else:
            continue
        span = cut.span(start, end, kind, label)
        if span is not None:
            spans.append(span)
    return Row(name, tuple(_together(spans)))


def _together(spans: list[Span]) -> list[Span]:
    """Neighbours of one kind and label as one."""
    out: list[Span] = []
    for s in spans:
        if out and out[-1].kind == s.kind and out[-1].label == s.label and s.start <= out[-1].end:
            out[-1] = Span(out[-1].start, max(out[-1].end, s.end), s.kind, s.label)
        else:
            out.append(s)
    return out


def _flight_rows(facts: Facts, clock: Clock, cut: _Cut) -> list[Row]:
    """Copies in flight, one row for each barrier on which they complete, and one for stores."""
    rows = []
    cta = min((e.cta for e in facts.ops), default=0)
    for group in facts.groups:
        for stage in group.stages:
            for bar in stage:
                copies = [c for c in facts.copies[bar] if facts.trace.barriers[bar].cta == cta]
                spans = [
                    s
                    for c in copies
                    if (
                        s := cut.span(clock.start[c.id], clock.end[c.id], "flight", f"copies to {facts.bar_label(bar)}")
                    )
                ]
                if spans:
                    rows.append(
                        Row(f"flight to {facts.bar_label(bar)}", tuple(_together(sorted(spans, key=lambda s: s.start))))
                    )
    stores = [op for op in facts.ops if op.data["instr"] in STORES]
    spans = [
        s for op in stores if (s := cut.span(clock.start[op.id], clock.end[op.id], "flight", str(op.data["instr"])))
    ]
    return [*rows, Row("stores in flight", tuple(_together(spans)))] if spans else rows


def _core_rows(facts: Facts, clock: Clock, cut: _Cut) -> list[Row]:
    """The tensor core, one row a CTA that issues."""
    spans: list[Span] = []
    rounds: dict[int, str] = {}
    for e in facts.trace.events:
        if e.kind == "commit":
            labels = ", ".join(dict.fromkeys(facts.bar_label(b) for b in e.data["bar"]))
            for op in facts.commit_ops[e.id]:
                rounds.setdefault(op, f"until the commit on {labels}")
    first = min((e.cta for e in facts.ops if e.data["instr"] in TENSOR_CORE), default=0)
    warp = min((facts.issuer(e).warp for e in facts.ops if e.data["instr"] == "wgmma"), default=-1)
    for e in facts.ops:
        if e.data["instr"] in TENSOR_CORE and e.cta == first and (warp < 0 or facts.issuer(e).warp == warp):
            label = f"{e.data['instr']} {rounds.get(e.id, '')}".strip()
            span = cut.span(clock.start[e.id], clock.end[e.id], "compute", label)
            if span is not None:
                spans.append(span)
    return [Row("tensor core", tuple(_together(spans)))]
