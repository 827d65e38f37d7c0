"""Rings of stages: operands in shared memory, accumulators in tensor memory, and staging buffers of stores."""

from __future__ import annotations

from dataclasses import dataclass

from auditor.reports.actors import threads
from auditor.reports.buffers import Buffer, merged
from auditor.reports.facts import Facts
from auditor.reports.groups import Group
from auditor.reports.model import BarrierRow, Operand, Ring
from auditor.reports.order import Order
from auditor.reports.resources import FREE, READABLE, Resources
from auditor.reports.tmem_objects import TmemObject
from auditor.trace import Event


@dataclass
class _Sides:
    """The two sides of a ring and the things that it holds."""

    ready: Group
    free: Group | None
    names: list[str]


def rings(
    facts: Facts,
    resources: Resources,
    rows: tuple[BarrierRow, ...],
    buffers: list[Buffer],
    objects: list[TmemObject],
    staging: list[Buffer],
) -> tuple[Ring, ...]:
    """Every ring, operands first."""
    by_name = {row.name: row for row in rows}
    hands = {id(group): resources.of(group) for group in facts.groups}
    found = []
    for ready in facts.groups:
        filled = [b for b in buffers if b.group is ready]
        if filled:
            sides = _Sides(ready, _freeing(facts, hands, ready, [b.name for b in filled]), [b.name for b in filled])
            found.append(_operand_ring(facts, sides, filled, by_name))
    for ready in facts.groups:
        names = [name for name, what in hands[id(ready)] if what == READABLE]
        held = [o for o in objects if o.name in names and "D" in o.parts]
        if held:
            free = _freeing(facts, hands, ready, [o.name for o in held])
            if free is not None:
                found.append(_accumulator_ring(facts, _Sides(ready, free, names), held, by_name))
    return (*found, *(_staging(facts, buffer) for buffer in staging))


def _freeing(facts: Facts, hands: dict[int, list[tuple[str, str]]], ready: Group, names: list[str]) -> Group | None:
    """The barriers that say that these things may be written again."""
    fitting = [
        g for g in facts.groups if g is not ready and any(what == FREE and name in names for name, what in hands[id(g)])
    ]
    return next((g for g in fitting if len(g.stages) == len(ready.stages)), fitting[0] if fitting else None)


def _operand_ring(facts: Facts, sides: _Sides, filled: list[Buffer], rows: dict[str, BarrierRow]) -> Ring:
    operands = tuple(Operand(b.name, b.bytes, b.stages[0][0], b.stride) for b in filled)
    copies = [op for b in filled for op in b.ops]
    rounds = sum(len(facts.trace.barriers[b].phases) for b in _of_first_cta(facts, sides.ready))
    return Ring(
        name=" + ".join(sides.names),
        space="shared",
        depth=len(sides.ready.stages),
        unit="bytes",
        operands=operands,
        stage_size=_stage_size(facts, copies, rows[sides.ready.name].delivered_bytes),
        ready=sides.ready.label(),
        free=sides.free.label() if sides.free else _other_release(facts, sides.ready),
        issuer=threads(facts, copies),
        consumers=threads(facts, _waits(facts, sides.ready)),
        fill_parity=_start(rows, sides.free),
        use_parity=_start(rows, sides.ready),
        prologue=_prologue(facts, sides),
        rounds=rounds,
        drain=_drain(facts, sides, copies),
    )


def _stage_size(facts: Facts, copies: list[Event], delivered: int) -> int:
    """Bytes that the copies of one stage fill in one CTA: places that are filled by turns count once.

    No more than what a phase delivers, where a stage of barriers passes through several places.
    """
    places: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for op in copies:
        for a in op.accesses:
            if a.space == "shared" and a.write and a.what == "data":
                places.setdefault((facts.trace.barriers[op.data["bar"]].offset, a.cta), []).append((a.lo, a.hi))
    filled = max((sum(hi - lo for lo, hi in merged(ranges)) for ranges in places.values()), default=0)
    return min(filled, delivered) if delivered else filled


def _other_release(facts: Facts, ready: Group) -> str:
    """What orders the second fill of a stage after the first wait for it, when no barrier is there for that."""
    for bar in ready.bars:
        waits = [e for e in facts.waits[bar] if e.data["phase"] == 0]
        fills = [e for e in facts.copies[bar] if waits and e.id > waits[0].id]
        if fills:
            chain = Order(facts).chain(waits[-1] if waits[-1].id < fills[0].id else waits[0], fills[0])
            return "nothing" if chain is None else ", then ".join(chain) or "program order"
    return "none"


def _accumulator_ring(facts: Facts, sides: _Sides, held: list[TmemObject], rows: dict[str, BarrierRow]) -> Ring:
    mmas = [t.event for o in held for t in o.parted("D")]
    width = max(o.hi - o.lo for o in held)
    name = held[0].name.removesuffix(" 0") if len(held) > 1 else held[0].name
    stride = held[1].lo - held[0].lo if len(held) > 1 else 0
    return Ring(
        name=name,
        space="tensor",
        depth=len(held),
        unit="columns",
        operands=(Operand(name, width, held[0].lo, stride),),
        stage_size=width,
        ready=sides.ready.label(),
        free=sides.free.label() if sides.free else "none",
        issuer=threads(facts, mmas),
        consumers=threads(facts, _waits(facts, sides.ready)),
        fill_parity=_start(rows, sides.free),
        use_parity=_start(rows, sides.ready),
        prologue=_prologue(facts, sides),
        rounds=sum(len(facts.trace.barriers[b].phases) for b in _of_first_cta(facts, sides.ready)),
        drain=_drain(facts, sides, mmas),
    )


def _staging(facts: Facts, buffer: Buffer) -> Ring:
    """Buffers that bulk stores read; their reuse is guarded by wait_group of the storing thread."""
    issuers = {facts.issuer(op).strand for op in buffer.ops}
    waits = [e for s in issuers for e in facts.strands.get(s, ()) if e.kind == "bulk.wait"]
    kept = sorted({(int(e.data.get("n", 0)), bool(e.data.get("read"))) for e in waits}, reverse=True)
    texts = [f"wait_group{'.read' if read else ''} {n}" for n, read in kept]
    return Ring(
        name=buffer.name,
        space="shared",
        depth=len(buffer.stages),
        unit="bytes",
        operands=(Operand(buffer.name, buffer.bytes, buffer.stages[0][0], buffer.stride),),
        stage_size=buffer.bytes,
        ready="generic writes, proxy fence",
        free=", ".join(texts) or "none",
        issuer=threads(facts, buffer.ops),
        consumers="store to global memory",
        fill_parity="-",
        use_parity="-",
        prologue=len(buffer.stages),
        rounds=len(buffer.ops),
        drain=texts[-1] if texts else "the kernel ends without a wait",
    )


def _of_first_cta(facts: Facts, group: Group) -> list[int]:
    """The barriers of the CTA that uses them first."""
    used = [b for b in group.bars if facts.trace.barriers[b].phases] or group.bars[:1]
    cta = facts.trace.barriers[used[0]].cta
    return [b for b in used if facts.trace.barriers[b].cta == cta]


def _waits(facts: Facts, group: Group) -> list[Event]:
    return [e for b in group.bars for e in facts.waits[b]]


def _start(rows: dict[str, BarrierRow], group: Group | None) -> str:
    """Parity of the first wait, and what it means."""
    if group is None or not rows[group.name].waiters:
        return "-"
    waiter = rows[group.name].waiters[0]
    return f"{waiter.parities[0]} ({'passes at once' if waiter.starts_free else 'waits for the first phase'})"


def _prologue(facts: Facts, sides: _Sides) -> int:
    """Fills that were announced before the filling thread had to wait for a stage."""
    fills = [e for b in _of_first_cta(facts, sides.ready) for e in facts.arrivals[b]]
    if sides.free is None:
        return len(fills)
    filling = {e.strand for e in fills} | {e.strand for e in _waits(facts, sides.free)}
    blocking = [e.id for e in _waits(facts, sides.free) if e.data["phase"] >= 0 and e.strand in filling]
    return sum(1 for e in fills if e.id < min(blocking, default=1 << 60))


def _drain(facts: Facts, sides: _Sides, fills: list[Event]) -> str:
    """How the last stages are emptied: by extra waits of the filling thread, or by whoever consumes them."""
    if sides.free is None:
        return "nothing waits for the last use"
    last: dict[int, int] = {}
    for op in fills:
        e = facts.issuer(op)
        last[e.strand] = max(last.get(e.strand, 0), e.id)
    extra = [e for e in _waits(facts, sides.free) if e.id > last.get(e.strand, 1 << 60)]
    if extra:
        times = -(-len(extra) // len({e.strand for e in extra}))
        return f"the filling thread waits for {sides.free.name} {times} more times"
    return "no extra waits: the end is ordered by what follows the last use"
