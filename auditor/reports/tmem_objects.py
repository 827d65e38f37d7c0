"""Objects in tensor memory: which columns hold what, found from the operations that write and read them."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from auditor.reports.facts import Facts
from auditor.trace import Access, Event

MMA = ("mma", "mma.ws")


@dataclass
class Touch:
    """One access to tensor memory: ``part`` is "D", "A", "scales of A", "scales of B", "cp", "ld" or "st"."""

    event: Event
    access: Access
    part: str
    anew: bool  # a write that does not build on what was there


@dataclass
class TmemObject:
    """Columns [lo, hi) with one content. ``parts``: how they are used."""

    lo: int
    hi: int
    parts: set[str] = field(default_factory=set)
    touches: list[Touch] = field(default_factory=list)
    name: str = ""

    def covers(self, access: Access) -> bool:
        return self.lo < access.hi and access.lo < self.hi

    def parted(self, *parts: str) -> list[Touch]:
        return [t for t in self.touches if t.part in parts]


def touches(facts: Facts, cta: int) -> Iterator[Touch]:
    """Every access to the tensor memory of one CTA, in order."""
    for e in facts.trace.events:
        if e.kind in ("tcgen05.ld", "tcgen05.st"):
            for a in e.accesses:
                if a.space == "tmem" and a.cta == cta:
                    yield Touch(e, a, "ld" if e.kind.endswith("ld") else "st", e.kind.endswith("st"))
        elif e.kind == "async" and e.data.get("instr") in MMA:
            yield from _mma(e, cta)
        elif e.kind == "async":
            for a in e.accesses:
                if a.space == "tmem" and a.cta == cta:
                    yield Touch(e, a, "cp", True)


def _mma(e: Event, cta: int) -> Iterator[Touch]:
    written = [a for a in e.accesses if a.space == "tmem" and a.write and a.cta == cta]
    for a in written:
        yield Touch(e, a, "D", e.data.get("accumulate") in (0, False))
    read = [a for a in e.accesses if a.space == "tmem" and not a.write and a.cta == cta]
    parts = ["scales of A", "scales of B"] if "A_start" in e.data else ["A", "scales of A", "scales of B"]
    for a, part in zip(read, parts):
        yield Touch(e, a, part, False)


def objects(facts: Facts, cta: int) -> list[TmemObject]:
    """The objects of one CTA's tensor memory, by column."""
    every = list(touches(facts, cta))
    found: dict[tuple[int, int], TmemObject] = {}
    for lo, hi in [(t.access.lo, t.access.hi) for t in every if t.part == "D"] + _operands(facts, every):
        found.setdefault((lo, hi), TmemObject(lo, hi))
    accumulators = {(t.access.lo, t.access.hi) for t in every if t.part == "D"}
    rest = [t.access for t in every if not any(o.covers(t.access) for o in found.values())]
    for lo, hi in _pieces(rest, merge=True):
        found.setdefault((lo, hi), TmemObject(lo, hi))
    listed = sorted(found.values(), key=lambda o: (o.lo, o.hi))
    written: dict[tuple[int, int], int] = {}
    for n, t in enumerate(every):
        home = _home(listed, t, written, accumulators)
        home.touches.append(t)
        home.parts.add(t.part)
        if t.access.write:
            written[home.lo, home.hi] = n
    _name(facts, listed)
    return listed


def _operands(facts: Facts, every: list[Touch]) -> list[tuple[int, int]]:
    """Columns of operand A and of scale factors.

    The K steps of one operand A touch, and are one as long as they feed the same accumulator. Scale factors are one as
    long as they are used between two waits of the issuing thread: later ones belong to another stage.
    """
    target = {t.event.id: (t.access.lo, t.access.hi) for t in every if t.part == "D"}
    batches = _Batches(facts)
    sets: dict[tuple[str, object], list[Access]] = {}
    for t in every:
        if t.part == "A":
            sets.setdefault((t.part, target.get(t.event.id)), []).append(t.access)
        elif t.part.startswith("scales"):
            sets.setdefault((t.part, batches.of(t.event)), []).append(t.access)
    copied = _pieces([t.access for t in every if t.part == "cp"], merge=False)
    found: dict[tuple[int, int], None] = {}
    for (part, _), accesses in sets.items():
        ranges = [(a.lo, a.hi) for a in accesses]
        if part != "A":  # an MMA may need fewer columns than the copies bring
            ranges += [c for c in copied if any(lo <= c[0] < hi for lo, hi in ranges)]
        found.update(dict.fromkeys(_merged(ranges)))
    return list(found)


class _Batches:
    """Operations of a thread between two of its waits."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._waits = {s: [e.id for e in events if e.kind == "mbar.wait"] for s, events in facts.strands.items()}

    def of(self, op: Event) -> tuple[int, int]:
        """The thread, and how many waits it has behind it."""
        issuer = self._facts.issuer(op)
        return issuer.strand, bisect(self._waits.get(issuer.strand, []), issuer.id)


def _home(
    listed: list[TmemObject], t: Touch, written: dict[tuple[int, int], int], accumulators: set[tuple[int, int]]
) -> TmemObject:
    """The object that an access belongs to: the same columns, else the smallest that holds it, else one it touches.

    Where P takes columns of S, threads write P and read what was written last. ``written``: when, by columns.
    """
    holding = sorted((o for o in listed if o.lo <= t.access.lo and t.access.hi <= o.hi), key=lambda o: o.hi - o.lo)
    if len(holding) > 1 and t.part == "ld":
        return max(holding, key=lambda o: written.get((o.lo, o.hi), -1))
    if len(holding) > 1 and t.part == "st":
        return next((o for o in holding if (o.lo, o.hi) not in accumulators), holding[0])
    exact = [o for o in listed if (o.lo, o.hi) == (t.access.lo, t.access.hi)]
    return (exact or holding or [o for o in listed if o.covers(t.access)])[0]


def _pieces(accesses: list[Access], merge: bool) -> list[tuple[int, int]]:
    """Distinct column ranges; with ``merge`` those that touch are one."""
    ranges = sorted({(a.lo, a.hi) for a in accesses})
    return _merged(ranges) if merge else ranges


def _merged(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ranges without overlap; those that touch are one."""
    out: list[tuple[int, int]] = []
    for lo, hi in sorted(ranges):
        if out and lo <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], hi))
        else:
            out.append((lo, hi))
    return out


def _name(facts: Facts, listed: list[TmemObject]) -> None:
    """What each object is; several of a kind are numbered."""
    attention = any("A" in o.parts for o in listed)
    for o in listed:
        if "D" in o.parts:
            reads_a = any(
                a.space == "tmem" and not a.write and "A_start" not in t.event.data
                for t in o.parted("D")
                for a in t.event.accesses
            )
            o.name = "accumulator" if not attention else "output O" if reads_a else "scores S"
        elif "A" in o.parts:
            o.name = "operand A (P)"
        elif "scales of A" in o.parts or "scales of B" in o.parts:
            o.name = "scale factors of " + ("A" if "scales of A" in o.parts else "B")
        else:
            o.name = "scratch of threads"
    for name in {o.name for o in listed}:
        same = [o for o in listed if o.name == name]
        if len(same) > 1:
            for n, o in enumerate(same):
                o.name = f"{name} {n}" if not name.startswith("scale") else f"{name}, stage {n}"
