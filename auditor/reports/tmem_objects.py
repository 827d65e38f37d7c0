"""Objects in tensor memory: which columns hold what, found from the operations that write and read them."""

from __future__ import annotations

from collections.abc import Iterator
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
    for t in every:
        if t.part == "D":
            found.setdefault((t.access.lo, t.access.hi), TmemObject(t.access.lo, t.access.hi))
    for part in ("A", "scales of A", "scales of B"):
        for lo, hi in _pieces([t.access for t in every if t.part == part], merge=part == "A"):
            found.setdefault((lo, hi), TmemObject(lo, hi))
    rest = [t.access for t in every if not any(o.covers(t.access) for o in found.values())]
    for lo, hi in _pieces(rest, merge=True):
        found.setdefault((lo, hi), TmemObject(lo, hi))
    listed = sorted(found.values(), key=lambda o: (o.lo, o.hi))
    for t in every:
        home = _home(listed, t)
        home.touches.append(t)
        home.parts.add(t.part)
    _name(facts, listed)
    return listed


def _home(listed: list[TmemObject], t: Touch) -> TmemObject:
    """The object that an access belongs to: the same columns, else the smallest that holds it, else one it touches."""
    exact = [o for o in listed if (o.lo, o.hi) == (t.access.lo, t.access.hi)]
    holding = sorted((o for o in listed if o.lo <= t.access.lo and t.access.hi <= o.hi), key=lambda o: o.hi - o.lo)
    return (exact or holding or [o for o in listed if o.covers(t.access)])[0]


def _pieces(accesses: list[Access], merge: bool) -> list[tuple[int, int]]:
    """Distinct column ranges; with ``merge`` those that touch are one."""
    ranges: list[tuple[int, int]] = []
    for lo, hi in sorted({(a.lo, a.hi) for a in accesses}):
        if merge and ranges and lo <= ranges[-1][1]:
            ranges[-1] = (ranges[-1][0], max(ranges[-1][1], hi))
        else:
            ranges.append((lo, hi))
    return ranges


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
