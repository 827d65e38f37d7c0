"""The map of tensor memory: regions, who writes and reads them, live ranges, and how columns are reused."""

from __future__ import annotations

from auditor.ptx.descriptors import TMEM_COLUMNS
from auditor.reports.actors import threads
from auditor.reports.clock import Clock
from auditor.reports.facts import Facts
from auditor.reports.model import Allocation, ReadBack, Region, Reuse, TensorMemory
from auditor.reports.order import Order
from auditor.reports.resources import READABLE, Resources
from auditor.reports.tmem_objects import TmemObject, Touch
from auditor.trace import Event

MOST_LINES = 12  # that name one object
_READS = ("ld", "A", "scales of A", "scales of B")
_VERBS = {
    "D": "MMA writes",
    "cp": "tcgen05.cp writes",
    "st": "tcgen05.st writes",
    "ld": "tcgen05.ld reads",
    "A": "MMA reads",
    "scales of A": "MMA reads",
    "scales of B": "MMA reads",
}


def tensor_memory(
    facts: Facts, objects: list[TmemObject], resources: Resources, clock: Clock, cta: int
) -> TensorMemory | None:
    """The map of one CTA; None when the kernel has no tensor memory."""
    allocated = [e for e in facts.trace.events if e.kind == "tcgen05.alloc" and e.cta == cta]
    if not allocated:
        return None
    columns = {c for o in objects for c in range(o.lo, o.hi)}
    return TensorMemory(
        allocations=tuple(_allocation(facts, e, columns) for e in allocated),
        regions=tuple(_region(facts, o, resources, clock) for o in objects),
        reuses=_reuses(facts, objects),
        read_backs=tuple(r for o in objects if (r := _read_back(facts, o)) is not None),
        touched=len(columns),
        peak=_peak(objects, clock),
    )


def _allocation(facts: Facts, e: Event, columns: set[int]) -> Allocation:
    asked, base = int(e.data["cols"]), int(e.data["base"])
    rounded = max(1 << max(asked - 1, 0).bit_length(), 32)
    inside = [c for c in columns if base <= c < base + rounded]
    highest = max(inside, default=base - 1) + 1 - base
    needed = max(1 << max(highest - 1, 0).bit_length(), 32) if highest > 0 else 0
    return Allocation(
        asked, min(rounded, TMEM_COLUMNS), needed, int(e.data.get("group", 1)), threads(facts, [e]), facts.line(e), base
    )


def _region(facts: Facts, o: TmemObject, resources: Resources, clock: Clock) -> Region:
    writes = [t.event for t in o.touches if t.access.write]
    reads = [t.event for t in o.touches if not t.access.write]
    lanes = sorted({(t.access.lane_lo, t.access.lane_hi) for t in o.touches})
    ends = [clock.end[e.id] for e in reads or writes]
    return Region(
        name=_range(o),
        object=o.name,
        lo=o.lo,
        hi=o.hi,
        lanes=_joined(lanes),
        writer=_users(facts, o, writes=True),
        reader=_users(facts, o, writes=False),
        completion=_completion(facts, o, resources),
        first=min((clock.start[e.id] for e in writes or reads), default=0),
        last=max(ends, default=0),
        uses=len(_generations(o)),
        lines=facts.lines([t.event for t in o.touches], MOST_LINES),
    )


def _range(o: TmemObject) -> str:
    return f"{o.lo}-{o.hi - 1}"


def _joined(lanes: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    out: list[tuple[int, int]] = []
    for lo, hi in lanes:
        if out and lo <= out[-1][1]:
            out[-1] = (out[-1][0], max(hi, out[-1][1]))
        else:
            out.append((lo, hi))
    return tuple(out)


def _users(facts: Facts, o: TmemObject, writes: bool) -> str:
    by_verb: dict[str, list[Event]] = {}
    for t in o.touches:
        if t.access.write is writes:
            by_verb.setdefault(_VERBS[t.part].split()[0], []).append(t.event)
    return "; ".join(f"{verb} by {threads(facts, events)}" for verb, events in by_verb.items()) or "nothing"


def _completion(facts: Facts, o: TmemObject, resources: Resources) -> str:
    """How a reader knows that what it reads is complete."""
    ways: dict[str, None] = {}
    mmas = {t.event.id for t in o.parted("D")}
    readers = {t.event.warp for t in o.parted("ld")}
    for group in facts.groups:
        if (o.name, READABLE) not in resources.of(group):
            continue
        for bar in group.bars:
            commits = [e for e in facts.arrivals[bar] if e.kind == "commit" and mmas & set(facts.commit_ops[e.id])]
            if commits and any(w.warp in readers for w in facts.waits[bar]):
                ways[f"commit on {group.name}"] = None
    if o.parted("cp"):
        ways["order of the issuing thread (tcgen05.cp before MMA)"] = None
    if o.parted("st"):
        ways["tcgen05.wait::st, " + (_next_arrival(facts, o.parted("st")[0].event) or "no arrival")] = None
    return "; ".join(ways) or "none found"


def _next_arrival(facts: Facts, event: Event) -> str:
    """The first arrival of a thread, or of its warp after __syncwarp, after an event, as "then NAME"."""
    met = False
    for e in facts.trace.events[event.id + 1 :]:
        if e.warp != event.warp:
            continue
        met |= e.kind == "warp.sync"
        if e.kind == "mbar.arrive" and (met or e.strand == event.strand):
            return f"then {facts.group_of[e.data['bar']].name}"
        if e.kind == "bar.sync" and e.strand == event.strand:
            return "then a CTA barrier"
    return ""


def _generations(o: TmemObject) -> list[list[Touch]]:
    """The touches of an object, cut where it is written anew after it was read."""
    cut: list[list[Touch]] = [[]]
    read = False
    for t in o.touches:
        anew = t.anew and (t.part != "st" or "D" not in o.parts)  # threads correct an accumulator in place
        if t.access.write and anew and (read or not cut[-1]):
            if cut[-1]:
                cut.append([])
            read = False
        read |= not t.access.write and t.part != "D"
        cut[-1].append(t)
    return [c for c in cut if c]


def _peak(objects: list[TmemObject], clock: Clock) -> int:
    """Most columns that hold something at one time: from the first write of a generation to its last read."""
    changes: list[tuple[int, int, range]] = []
    for o in objects:
        for generation in _generations(o):
            changes.append((min(clock.start[t.event.id] for t in generation), 1, range(o.lo, o.hi)))
            changes.append((max(clock.end[t.event.id] for t in generation), -1, range(o.lo, o.hi)))
    depth = [0] * (TMEM_COLUMNS + 1)
    live = peak = 0
    for _, step, columns in sorted(changes, key=lambda c: (c[0], c[1])):
        for c in columns:
            live += (depth[c] == 0 and step > 0) - (depth[c] == 1 and step < 0)
            depth[c] += step
        peak = max(peak, live)
    return peak


def _reuses(facts: Facts, objects: list[TmemObject]) -> tuple[Reuse, ...]:
    """Each way in which columns change hands, with the barriers that order the two sides."""
    order = Order(facts)
    first: dict[tuple[str, str, str], tuple[Touch, Touch]] = {}
    counts: dict[tuple[str, str, str], set[int]] = {}
    every = sorted(((t.event.id, n, t, o) for o in objects for n, t in enumerate(o.touches)), key=lambda x: x[:2])
    readers: dict[tuple[str, int, int], Touch] = {}  # by object and lanes
    homes = {o.name: o for o in objects}
    for _, _, t, o in every:
        if t.access.write and (t.anew or t.part == "D"):
            for place, before in list(readers.items()):
                old = homes[place[0]]
                lanes = before.access.lane_lo < t.access.lane_hi and t.access.lane_lo < before.access.lane_hi
                if old.lo < o.hi and o.lo < old.hi and lanes and before.event.id != t.event.id:
                    del readers[place]
                    if facts.issuer(before.event).warp == facts.issuer(t.event).warp and before.part in ("ld", "st"):
                        continue
                    key = (
                        f"{max(o.lo, old.lo)}-{min(o.hi, old.hi) - 1}",
                        f"{_VERBS[before.part]} {old.name}",
                        f"{_VERBS[t.part]} {o.name}",
                    )
                    first.setdefault(key, (before, t))
                    counts.setdefault(key, set()).add(t.event.id)
        if (not t.access.write and t.part in _READS) or (t.part == "st" and "D" in o.parts):
            readers[o.name, t.access.lane_lo, t.access.lane_hi] = t
    return tuple(_reuse(order, key, *first[key], len(counts[key])) for key in first)


def _reuse(order: Order, key: tuple[str, str, str], before: Touch, after: Touch, count: int) -> Reuse:
    chain = order.chain(before.event, after.event)
    guard = "nothing orders them" if chain is None else ", then ".join(chain) or "program order of one thread"
    return Reuse(*key, guard, 99 if chain is None else len(chain), count)


def _read_back(facts: Facts, o: TmemObject) -> ReadBack | None:
    """What one warp spends to read the object once."""
    loads = o.parted("ld")
    if not loads:
        return None
    warp = loads[0].event.warp
    generation: list[Touch] = []
    missing = set(range(o.lo, o.hi))
    for t in loads:
        if t.event.warp == warp and missing & set(range(t.access.lo, t.access.hi)):
            missing -= set(range(t.access.lo, t.access.hi))
            generation.append(t)
    first, last = generation[0].event.id, generation[-1].event.id
    after = [e for e in facts.trace.events[first + 1 :] if e.warp == warp]
    waits = 0
    for e in after:
        if e.kind == "wait.ld":
            waits += 1
            if e.id > last:
                break
    data = generation[0].event.data
    return ReadBack(
        o.name,
        f"{data['shape']}.x{data['num']}",
        len(generation),
        sum(t.access.hi - t.access.lo for t in generation),
        waits,
        threads(facts, [t.event for t in loads]),
    )
