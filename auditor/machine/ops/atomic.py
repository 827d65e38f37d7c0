"""Atomic read-modify-write operations (PTX ISA 9.7.13, "atom" and "red").

Those on one word of shared memory happen one after the other, and a release is acquired by what follows (PTX ISA
8.9); those on global memory order nothing here. Integers whose value is known are computed exactly. A counter in
global memory that nobody has written is taken to be zero at launch and shared by all CTAs of the grid, which draw from
it in turn: that is what dynamic tile schedulers and "the last one to arrive" do with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from auditor.footprint import footprint
from auditor.machine import memory
from auditor.machine.execute import Exec, op
from auditor.machine.ops.data import pointer, scalar_type
from auditor.machine.state import Cta
from auditor.ptx.grammar import Instr, Sink
from auditor.trace import Access, Event
from auditor.values import GLOBAL_WINDOW, LANES, OPAQUE, SHARED_WINDOW, Opaque, Vec, collapse

_UPDATES: dict[str, Callable[..., int]] = {
    "add": lambda old, v: old + v,
    "min": min,
    "max": max,
    "and": lambda old, v: old & v,
    "or": lambda old, v: old | v,
    "xor": lambda old, v: old ^ v,
    "exch": lambda old, v: v,
    "cas": lambda old, expected, v: v if old == expected else old,
    "inc": lambda old, v: 0 if old >= v else old + 1,
    "dec": lambda old, v: v if old == 0 or old > v else old - 1,
}


@op("atom", "red")
def atom(x: Exec, i: Instr) -> None:
    """One atomic operation of each active lane, in the order of the lanes."""
    has_dest = i.opcode == "atom"
    address = pointer(i, x.val(i.operands[1 if has_dest else 0]))
    kind, bits, signed = scalar_type(i)
    values = [x.val(o) for o in i.operands[2 if has_dest else 1 :]]
    for v in (address, *values):
        if isinstance(v, Opaque):
            v.used()
    old: Any = OPAQUE
    if not isinstance(address, Opaque):
        name = i.mod_in(tuple(_UPDATES)) or ""
        known = kind == "int" and all(isinstance(v, (int, Vec)) for v in values)
        lanes = [(lane, int(a)) for lane, a in x.per_lane(address)]
        first = lanes[0][1]
        if SHARED_WINDOW <= first < 2 * SHARED_WINDOW:
            old = _shared(x, i, name, lanes, bits, signed, values if known else None)
        elif first >= GLOBAL_WINDOW:
            old = _global(x, i, name, lanes, bits, values if known else None)
    if has_dest and not isinstance(i.operands[0], Sink):
        x.set(i.operands[0], old)


def _semantics(i: Instr) -> str:
    return i.mod_in(("release", "acq_rel", "relaxed", "acquire")) or "relaxed"


def _order(before: Event, sem: str) -> tuple[int, str]:
    """The edge from an earlier operation on the same word; without both semantics it takes fences to order memory."""
    orders = before.data["sem"] in ("release", "acq_rel") and sem in ("acquire", "acq_rel")
    return before.id, "atomic" if orders else "relaxed"


def _spread(results: dict[int, Any]) -> Any:
    """The value of a register whose active lanes got these results."""
    if any(isinstance(v, Opaque) for v in results.values()):
        return OPAQUE
    filler = next(iter(results.values()))
    return collapse(results.get(lane, filler) for lane in range(LANES))


def _operands(values: list[Any], lane: int) -> list[int]:
    return [v.v[lane] if v.__class__ is Vec else v for v in values]


def _shared(
    x: Exec, i: Instr, name: str, lanes: list[tuple[int, int]], bits: int, signed: bool, values: list[Any] | None
) -> Any:
    size = bits // 8
    targets: dict[int, tuple[Cta, int]] = {}
    for lane, address in lanes:
        target = x.m.shared_target(address)
        if target is not None:
            targets[lane] = target
    if not targets:
        return OPAQUE
    offsets = [offset for _, offset in targets.values()]
    cta = next(iter(targets.values()))[0]
    several = footprint([(n, o, o + size) for n, (_, o) in targets.items()]) if len(set(offsets)) > 1 else None
    access = Access("shared", True, "generic", cta.rank, min(offsets), max(offsets) + size, several)
    sem = _semantics(i)
    earlier = [before for owner, offset in targets.values() for before in owner.atomics.get(offset, {}).values()]
    event = x.m.emit(
        x.s,
        "atom",
        lanes=x.lanes,
        accesses=[access],
        preds=[_order(x.m.trace.events[n], sem) for n in dict.fromkeys(earlier)],
        data={"sem": sem},
    )
    for owner, offset in targets.values():
        owner.atomics.setdefault(offset, {})[event.strand] = event.id
    results: dict[int, Any] = {}
    for lane, (cta, offset) in targets.items():
        old = cta.values.get(offset, size)
        if values is None or name not in _UPDATES or not isinstance(old, int):
            results[lane] = OPAQUE
            cta.values.put(offset, size, OPAQUE)
            continue
        if signed and old >> (bits - 1) & 1:
            old -= 1 << bits
        results[lane] = old
        cta.values.put(offset, size, _UPDATES[name](old, *_operands(values, lane)) & ((1 << bits) - 1))
    x.m.progress += 1
    return _spread(results)


def _global(
    x: Exec, i: Instr, name: str, lanes: list[tuple[int, int]], bits: int, values: list[Any] | None
) -> Any:
    size = bits // 8
    addresses = [a for _, a in lanes]
    x.m.emit(
        x.s,
        "atom",
        lanes=x.lanes,
        data={"sem": _semantics(i), "global": True},
        accesses=[Access("global", True, "generic", 0, min(addresses), max(addresses) + size)],
    )
    results: dict[int, Any] = {}
    for lane, address in lanes:
        step = _operands(values, lane)[0] if values is not None and name in ("add", "inc") else 0
        if name == "inc":
            step = min(step, 1)
        if 0 < step < 1 << (bits - 1):
            results[lane] = _draw(x, address, size, step)
        elif name == "add" and values is not None:
            results[lane] = memory.load(x.s, address, "int", bits, False, 1 << lane)
        else:
            results[lane] = OPAQUE
            x.m.globals[address] = (size, OPAQUE)
    return _spread(results)


def _draw(x: Exec, address: int, size: int, step: int) -> Any:
    """Add to a counter of the grid, and return what it was. Each of the other clusters draws once between two draws."""
    launch = x.m.launch
    gx, gy, gz = launch.grid
    clusters = max(gx * gy * gz // max(launch.cluster_size, 1), 1)
    entry = x.m.globals.get(address)
    if entry is None or entry[0] != size:
        bx, by, bz = launch.block_index
        old: Any = ((bz * gy + by) * gx + bx) // max(launch.cluster_size, 1) * step
    else:
        old = entry[1]
    if not isinstance(old, int):
        return OPAQUE
    x.m.globals[address] = (size, old + step * clusters & ((1 << 8 * size) - 1))
    return old
