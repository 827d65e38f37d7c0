"""The barrier ledger: who arrives, who waits, what each phase carries, and what it hands over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from auditor.reports.actors import threads
from auditor.reports.facts import Facts
from auditor.reports.groups import Group
from auditor.reports.model import Arrival, BarrierRow, Waiter
from auditor.reports.resources import Resources
from auditor.trace import Event

ROUNDS = 8  # parities to show


def ledger(facts: Facts, resources: Resources) -> tuple[BarrierRow, ...]:
    """A row for each group of barriers."""
    return tuple(_row(facts, group, resources) for group in facts.groups)


def _row(facts: Facts, group: Group, resources: Resources) -> BarrierRow:
    barriers = facts.trace.barriers
    used = [b for b in group.bars if facts.arrivals[b] or facts.waits[b] or facts.copies[b]]
    first = barriers[group.bars[0]]
    phases = [len(barriers[b].phases) for b in used]
    counts = sorted({barriers[b].init_count for b in group.bars})
    note = "" if len(counts) == 1 else f"init counts differ: {', '.join(map(str, counts))}"
    return BarrierRow(
        name=group.name,
        addresses=tuple(group.offsets),
        ctas=_ctas(facts, used),
        scope=_scope(facts, used),
        init_count=first.init_count,
        init_line=facts.line(facts.trace.events[first.init_event]),
        arrivals=_arrivals(facts, used),
        expected_bytes=_usual(facts, used, _expected),
        delivered_bytes=_usual(facts, used, _delivered),
        waiters=_waiters(facts, used),
        resources=tuple(f"{name} {what}" for name, what in resources.of(group)),
        phases=(min(phases, default=0), max(phases, default=0)),
        note=note if used else "never used",
    )


def _ctas(facts: Facts, used: list[int]) -> str:
    ranks = sorted({facts.trace.barriers[b].cta for b in used})
    if facts.trace.ctas == 1:
        return "its CTA"
    if len(ranks) == facts.trace.ctas:
        return "one in each CTA"
    return f"only that of CTA {', '.join(map(str, ranks))} is used" if ranks else "none is used"


def _scope(facts: Facts, used: list[int]) -> str:
    """Whether threads or copies of other CTAs take part."""
    for b in used:
        own = facts.trace.barriers[b].cta
        if any(facts.issuer(e).cta != own for e in [*facts.arrivals[b], *facts.copies[b], *facts.waits[b]]):
            return "cluster"
    return "CTA"


def how(facts: Facts, e: Event, bar: int) -> str:
    """The manner of an arrival."""
    if e.kind == "commit":
        return "tcgen05.commit" + (", multicast" if e.data.get("mask") is not None else "")
    if e.kind == "mbar.expect_tx":
        return "expect_tx"
    name = "arrive_drop" if e.data.get("instr") == "arrive_drop" else "arrive"
    remote = ", remote" if facts.trace.barriers[bar].cta != e.cta else ""
    return f"{name}.expect_tx{remote}" if e.data.get("tx") else name + remote


def _arrivals(facts: Facts, used: list[int]) -> tuple[Arrival, ...]:
    by_how: dict[str, list[Event]] = {}
    counts: dict[str, Counter[int]] = {}
    bytes_: dict[str, Counter[int]] = {}
    for b in used:
        own = {e.id: e for e in facts.arrivals[b]}
        for e in own.values():
            by_how.setdefault(how(facts, e, b), []).append(e)
        for phase in facts.trace.barriers[b].phases:
            count: Counter[str] = Counter()
            tx: Counter[str] = Counter()
            for e in own.values():
                if e.id in phase["arrivals"] or (e.id, e.data.get("tx")) in phase["expected"]:
                    manner = how(facts, e, b)
                    count[manner] += 0 if e.kind == "mbar.expect_tx" else e.data.get("count", 1)
                    tx[manner] += e.data.get("tx") or 0
            for manner in count:
                counts.setdefault(manner, Counter())[count[manner]] += 1
                bytes_.setdefault(manner, Counter())[tx[manner]] += 1
    return tuple(
        Arrival(
            threads(facts, events), manner, _mode(counts.get(manner)), _mode(bytes_.get(manner)), facts.lines(events)
        )
        for manner, events in by_how.items()
    )


def _mode(counter: Counter[int] | None) -> int:
    return counter.most_common(1)[0][0] if counter else 0


def _usual(facts: Facts, used: list[int], amount: Callable[[Facts, int], list[int]]) -> int:
    """The most usual amount of bytes in a phase of these barriers."""
    counter: Counter[int] = Counter()
    for b in used:
        for n in amount(facts, b):
            counter[n] += 1
    return _mode(counter)


def _expected(facts: Facts, bar: int) -> list[int]:
    return [sum(tx for _, tx in phase["expected"]) for phase in facts.trace.barriers[bar].phases]


def _delivered(facts: Facts, bar: int) -> list[int]:
    """Bytes of the copies that landed in each phase. A copy that a phase carried over counts in the later one."""
    phases = facts.trace.barriers[bar].phases
    landed = {copy["event"]: n for n, phase in enumerate(phases) for copy in phase["copies"]}
    sums = [0] * len(phases)
    for event, n in landed.items():
        data = facts.trace.events[event].data
        size = data.get("bytes")
        sums[n] += (size if size is not None else data.get("assumed_bytes", 0)) * data.get("copies", 1)
    return sums


def _waiters(facts: Facts, used: list[int]) -> tuple[Waiter, ...]:
    by_line: dict[int, list[tuple[int, Event]]] = {}
    for b in used:
        for e in facts.waits[b]:
            by_line.setdefault(facts.line(e), []).append((b, e))
    merged: dict[str, list[tuple[int, Event]]] = {}
    for waits in by_line.values():
        merged.setdefault(threads(facts, [e for _, e in waits]), []).extend(waits)
    out = []
    for who, waits in merged.items():
        bar = min(b for b, _ in waits)
        strand = min(e.strand for b, e in waits if b == bar)
        own = sorted((e for b, e in waits if b == bar and e.strand == strand), key=lambda e: e.id)
        out.append(
            Waiter(
                who,
                facts.lines([e for _, e in waits]),
                tuple(e.data["parity"] for e in own[:ROUNDS]),
                own[0].data["phase"] < 0,
            )
        )
    return tuple(out)
