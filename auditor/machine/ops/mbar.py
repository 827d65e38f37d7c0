"""mbarrier instructions (PTX ISA 9.7.13.15)."""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import partial
from typing import Any

from auditor.machine import boxes
from auditor.machine.execute import Exec, op
from auditor.machine.mbarrier import MAX_COUNT, Mbarrier
from auditor.machine.ops.common import shared_operand
from auditor.machine.state import BarrierState, Cta, Park
from auditor.machine.strand import Strand
from auditor.ptx.grammar import Addr, Imm, Instr, Reg, Sink
from auditor.source import Stack
from auditor.trace import Access, Event, Poll
from auditor.values import OPAQUE, Opaque, Vec, collapse

MBARRIER_BYTES = 8
TESTS = 64  # negative answers in a row that a strand gets from test_wait before it counts as blocked there


def object_access(cta: Cta, offset: int, write: bool) -> Access:
    """The access that an operation makes to the mbarrier object itself."""
    return Access("shared", write, "generic", cta.rank, offset, offset + MBARRIER_BYTES, what="mbarrier")


def by_address(x: Exec, address: Any) -> list[tuple[int, Any]]:
    """(lane mask, address) of the active lanes, one entry for each different address."""
    if address.__class__ is not Vec:
        return [(x.lanes, address)]
    groups: dict[Any, int] = {}
    for lane, a in x.per_lane(address):
        groups[a] = groups.get(a, 0) | 1 << lane
    return [(mask, a) for a, mask in groups.items()]


def find(x: Exec, address: Any, what: str, where: Stack) -> tuple[Cta, int, BarrierState] | None:
    """The barrier at an address; incidents for what is not one."""
    target = shared_operand(x, address)
    if target is None:
        return None
    cta, offset = target
    if offset % MBARRIER_BYTES:
        x.m.incident("misaligned", where, x.s, data={"what": "mbarrier", "offset": offset, "need": 8})
    state = cta.barriers.get(offset)
    if state is None:
        x.m.incident(
            "use_before_init",
            where,
            x.s,
            data={"what": what, "offset": offset, "owner": cta.rank, "events": len(x.m.trace.events)},
        )
        return None
    if not state.valid:
        x.m.incident("use_after_inval", where, x.s, data={"what": what, "bar": state.index})
        return None
    return cta, offset, state


OWN_SPACE = ("shared", "shared::cta")
OWN_ONLY = ("mbarrier.init", "mbarrier.inval", "mbarrier.try_wait", "mbarrier.test_wait")


def check_space(x: Exec, i: Instr, cta: Cta, where: Stack) -> None:
    """An address in another CTA, in an instruction for the state space of the own one."""
    if cta is not x.s.warp.cta and (i.mod_in(OWN_SPACE) or i.opcode in OWN_ONLY):
        data = {"what": i.opcode, "owner": cta.rank, "own_only": i.opcode in OWN_ONLY}
        x.m.incident("state_space", where, x.s, data=data)


@op("mbarrier.init")
def init(x: Exec, i: Instr) -> None:
    count = x.val(i.operands[1])
    for mask, address in by_address(x, x.val(i.operands[0])):
        where = x.m.where()
        target = shared_operand(x, address)
        if target is None:
            continue
        cta, offset = target
        lane = (mask & -mask).bit_length() - 1
        n = count.v[lane] if count.__class__ is Vec else count
        if isinstance(n, Opaque):
            x.m.incident("unanalysed", where, x.s, data={"what": "mbarrier init count that is not known"})
            n = 1
        if offset % MBARRIER_BYTES:
            x.m.incident("misaligned", where, x.s, data={"what": "mbarrier", "offset": offset, "need": 8})
        if offset + MBARRIER_BYTES > cta.shared_end:
            x.m.incident(
                "smem_range",
                where,
                x.s,
                data={"lo": offset, "hi": offset + MBARRIER_BYTES, "end": cta.shared_end, "write": True,
                      "proxy": "generic", "what": "mbarrier"},
            )  # fmt: skip
        if not 1 <= n <= MAX_COUNT:
            x.m.incident("init_count", where, x.s, data={"count": n, "offset": offset})
        if mask & (mask - 1):
            x.m.incident(
                "reinit_live",
                where,
                x.s,
                lanes=mask,
                data={"lanes": mask.bit_count(), "offset": offset, "several": True},
            )
        old = cta.barriers.get(offset)
        if old is not None and old.valid:
            x.m.incident(
                "reinit_live",
                where,
                x.s,
                related=[(x.m.trace.events[old.record.init_event].where, "first initialised here")],
                data={
                    "bar": old.index,
                    "offset": offset,
                    "phase": old.unit.phase,
                    "several": False,
                    "used": bool(old.record.phases or old.contributions),
                },
            )
        event = x.m.emit(
            x.s,
            "mbar.init",
            where=where,
            lanes=mask,
            accesses=[object_access(cta, offset, True)],
            data={"bar": len(x.m.trace.barriers), "count": n},
        )
        x.m.init_barrier(cta, offset, n, name_of(x, cta, offset), event)


def name_of(x: Exec, cta: Cta, offset: int) -> str:
    """The variable that holds a byte offset, with its path: "mem.full[2]"."""
    best, start = None, -1
    for var in x.m.kernel.shared:
        base = cta.shared.get(var.key, -1)
        if start < base <= offset and (var.dynamic or offset < base + max(var.size, 1)):
            best, start = var, base
    if best is None:
        return f"shared+{offset}"
    if best.layout is not None and not best.dynamic:
        return best.name + best.layout.path(offset - start)
    return f"{best.name}+{offset - start}"


@op("mbarrier.inval")
def inval(x: Exec, i: Instr) -> None:
    for mask, address in by_address(x, x.val(i.operands[0])):
        where = x.m.where()
        found = find(x, address, "mbarrier.inval", where)
        if found:
            cta, offset, state = found
            x.m.emit(
                x.s,
                "mbar.inval",
                where=where,
                lanes=mask,
                accesses=[object_access(cta, offset, True)],
                data={"bar": state.index},
            )
            state.valid = False


@op("mbarrier.arrive", "mbarrier.arrive_drop")
def arrive(x: Exec, i: Instr) -> None:
    dest, operand, *rest = _with_dest(i)
    expects = i.has("expect_tx")
    address = x.val(operand)
    first = x.val(rest[0]) if rest else 1
    tx, count = (first, 1) if expects else (0, first)
    drop = i.opcode.endswith("drop")
    where = x.m.where()
    x.s.release_loads()
    if where in x.m.hypothesis.dropped:
        return
    state_value: Any = OPAQUE
    for mask, a in by_address(x, address):
        lanes = x.s.lane_list(mask)
        found = find(x, a, i.opcode, where)
        if not found:
            continue
        cta, offset, state = found
        check_space(x, i, cta, where)
        lane_tx = _each(tx, lanes, 0)
        lane_count = _each(count, lanes, 1)
        if any(not 0 <= c <= MAX_COUNT for c in lane_count):
            x.m.incident("init_count", where, x.s, data={"count": lane_count[0], "arrive": True, "bar": state.index})
            continue
        unknown = isinstance(tx, Opaque)
        if unknown:
            x.m.incident("unanalysed", where, x.s, data={"what": "expect_tx byte count that is not known"})
        phase = state.unit.phase
        state_value = phase
        sem = i.mod_in(("relaxed", "release")) or "release"
        total, total_tx = sum(lane_count), sum(lane_tx)
        event = x.m.emit(
            x.s,
            "mbar.arrive",
            where=where,
            lanes=mask,
            accesses=[object_access(cta, offset, False)],
            data={
                "bar": state.index,
                "count": total,
                "phase": phase,
                "tx": total_tx,
                "sem": sem,
                "remote": cta is not x.s.warp.cta,
                "scope": i.mod_in(("cta", "cluster")) or "cta",
                "instr": "arrive_drop" if drop else "arrive",
            },
        )
        state.current["arrivals"].append(event.id)
        if expects:
            boxes.expected(state)
            state.current["expected"].append((event.id, total_tx))
        pred = (event.id, "relaxed" if sem == "relaxed" else "arrive")
        if len(set(lane_count)) == 1 and total_tx == 0 and not expects:
            x.m.barrier_step(state, partial(Mbarrier.arrive, count=total, drop=drop), pred, where, x.s, arrivals=total)
        else:
            for c, t in zip(lane_count, lane_tx):
                step = partial(Mbarrier.arrive, count=c, tx=t, drop=drop)
                x.m.barrier_step(state, step, pred, where, x.s, arrivals=c)
        if i.has("noComplete") and state.unit.phase != phase:
            x.m.incident("no_complete", where, x.s, data={"bar": state.index, "phase": phase})
    if dest is not None and not isinstance(dest, Sink):
        x.set(dest, state_value)


def _with_dest(i: Instr) -> tuple[Any, ...]:
    """Operands with the destination first, None when there is none."""
    return (None, *i.operands) if i.operands and isinstance(i.operands[0], Addr) else i.operands


def _each(v: Any, lanes: list[int], default: int) -> list[int]:
    """The numbers that the lanes give."""
    if v.__class__ is Vec:
        return [_int(_pick(v, n), default) for n in lanes]
    return [_int(v, default)] * len(lanes)


def _pick(v: Any, lane: int) -> Any:
    return v.v[lane] if v.__class__ is Vec else v


def _int(v: Any, default: int = 0) -> int:
    return v if isinstance(v, int) else default


@op("mbarrier.expect_tx", "mbarrier.complete_tx")
def expect_tx(x: Exec, i: Instr) -> None:
    completes = i.opcode.endswith("complete_tx")
    where = x.m.where()
    for mask, a in by_address(x, x.val(i.operands[0])):
        found = find(x, a, i.opcode, where)
        if not found:
            continue
        cta, offset, state = found
        check_space(x, i, cta, where)
        for lane in x.s.lane_list(mask):
            tx = _int(_pick(x.val(i.operands[1]), lane))
            event = x.m.emit(
                x.s,
                "mbar.expect_tx",
                where=where,
                lanes=1 << lane,
                accesses=[object_access(cta, offset, False)],
                data={"bar": state.index, "tx": -tx if completes else tx, "phase": state.unit.phase},
            )
            if not completes:
                boxes.expected(state)
                state.current["expected"].append((event.id, tx))
            x.m.barrier_step(
                state,
                partial(Mbarrier.complete if completes else Mbarrier.expect, tx=tx),
                (event.id, "relaxed"),
                where,
                x.s,
            )


@op("mbarrier.pending_count")
def pending_count(x: Exec, i: Instr) -> None:
    x.set(i.operands[0], OPAQUE)


def known_over(events: list[Event], s: Strand, state: BarrierState) -> bool:
    """Whether all that completed the barrier's last phase happened before what the strand does next."""
    if not state.phase_events:
        return True  # the phase before the first one
    due = {p for p, _ in events[state.phase_events[-1]].preds}
    first = min(due, default=0)
    past = {p for p, _ in s.pending}
    strands = {s.number}
    for e in reversed(events):
        if e.id < first or not due:
            break
        if e.id in past or e.strand in strands:
            due.discard(e.id)
            past.update(p for p, _ in e.preds)
            if e.strand >= 0:
                strands.add(e.strand)
    return not due


_Test = tuple[int, Cta, int, BarrierState, int]  # lanes, the barrier with its place, and the parity or phase asked for


@op("mbarrier.try_wait", "mbarrier.test_wait")
def wait(x: Exec, i: Instr) -> Generator[Park, None, None] | None:
    """A poll. The first one of a wait is answered "no" where that is allowed, so that code which does not retry shows;
    the next parks the strand until the phase is over.

    A test_wait that is not in a loop never blocks: tests at different places are different waits, and one that is
    repeated gives way before it is answered "no" again.
    """
    dest, operand, which = i.operands[0], i.operands[1], i.operands[2] if len(i.operands) > 2 else Imm(0)
    address, value = x.val(operand), x.val(which)
    where = x.m.where()
    if isinstance(value, Opaque):
        value.used()
        found_all = [find(x, a, i.opcode, where) for _, a in by_address(x, address)]
        if None not in found_all:
            x.m.incident("unanalysed", where, x.s, data={"what": "parity or state of a wait that is not known"})
        x.set(dest, 1)
        return None
    looks = []
    fresh = True
    for mask, a in by_address(x, address):
        target = shared_operand(x, a)
        if target is not None:
            looks.append((mask, a, *target))
            fresh = fresh and target[1] in target[0].barriers
    if fresh:
        return _looked(x, i, value, looks, where)
    return _initialised(x, i, value, looks, where)


_Look = tuple[int, int, Cta, int]  # lanes, and the address that they give with its CTA and offset


def _initialised(
    x: Exec, i: Instr, value: Any, looks: list[_Look], where: Stack
) -> Generator[Park, None, None]:
    """Look at barriers once they are initialised."""
    for _, _, cta, offset in looks:
        if cta.barriers.get(offset) is None:
            data = {"where": where, "offset": offset}
            yield Park(partial(cta.barriers.__contains__, offset), "uninitialised", data)
    parks = _looked(x, i, value, looks, where)
    if parks is not None:
        yield from parks


def _looked(
    x: Exec, i: Instr, value: Any, looks: list[_Look], where: Stack
) -> Generator[Park, None, None] | None:
    s, m = x.s, x.m
    tests: list[_Test] = []
    for mask, a, cta, offset in looks:
        check_space(x, i, cta, where)
        found = find(x, a, i.opcode, where)
        if found is None:
            continue
        lane = (mask & -mask).bit_length() - 1
        tests.append((mask, cta, offset, found[2], _int(_pick(value, lane))))
    if not tests:
        x.set(i.operands[0], 1)
        return None
    by_parity = i.has("parity")
    if by_parity:
        for _, _, _, state, v in tests:
            if v not in (0, 1):
                m.incident("parity_range", where, s, data={"parity": v, "bar": state.index})
    supposed = m.hypothesis
    start = supposed.parity.get(where, supposed.sides.get(s.warp.number)) if by_parity else None
    turn = where if where in supposed.parity else ()
    if start is not None:  # counterfactual: this place, or warp, waits for one phase after the other
        by_parity = False
        tests = [
            (mask, cta, offset, state, s.wait_counts.get((turn, state.index), start))
            for mask, cta, offset, state, _ in tests
        ]
    tests_only = i.opcode == "mbarrier.test_wait"
    key = (where if tests_only else None, *[(state.index, v) for _, _, _, state, v in tests])
    for mask, cta, offset, state, _ in tests:
        if state.index not in s.polled:  # the object has to be initialised before it is looked at, not only in the end
            s.polled.add(state.index)
            m.emit(
                s,
                "mbar.poll",
                where=where,
                lanes=mask,
                accesses=[object_access(cta, offset, False)],
                data={"bar": state.index},
            )
    conditions: list[Callable[[], bool]] = [
        partial(state.unit.passes, v) if by_parity else partial(state.unit.beyond, v) for _, _, _, state, v in tests
    ]
    ready = conditions[0] if len(conditions) == 1 else partial(_all_hold, conditions)

    def pending() -> dict[str, Any]:
        blocked = next((t for t, passed in zip(tests, conditions) if not passed()), tests[0])
        return {
            "where": where,
            "bar": blocked[3].index,
            "parity": blocked[4],
            "phase": blocked[3].unit.phase,
            "form": "parity" if by_parity else "state",
        }

    if s.last_poll != key and (not ready() or _may_deny(x, tests, tests_only)):
        s.last_poll = key
        s.denied = pending()
        m.trace.polls += [
            Poll(s.number, s.warp.number, mask, state.index, where, len(m.trace.events))
            for mask, _, _, state, _ in tests
        ]
        x.set(i.operands[0], 0)
        return None

    def done() -> None:
        once = tests_only and s.last_poll != key  # a test that was not repeated: "no" would do as well
        s.last_poll = s.denied = None
        _waited(x, i, tests, by_parity, turn if start is not None else None, once, where)
        x.set(i.operands[0], 1)

    if ready():
        done()
        return None
    s.denied = pending()
    return _blocked(x, i, ready, tests_only, done)


def _all_hold(conditions: list[Callable[[], bool]]) -> bool:
    return all(condition() for condition in conditions)


def _may_deny(x: Exec, tests: list[_Test], tests_only: bool) -> bool:
    """Whether a phase that is over may be denied. A test_wait never does so when that is known."""
    if not x.m.schedule.denies:
        return False
    return not (tests_only and all(known_over(x.m.trace.events, x.s, state) for _, _, _, state, _ in tests))


def _blocked(
    x: Exec, i: Instr, ready: Callable[[], bool], tests_only: bool, done: Callable[[], None]
) -> Generator[Park, None, None]:
    """The strand waits until the phases are over, or for a negative answer to a test."""
    park = Park(ready, "mbarrier", x.s.denied, polls=TESTS if tests_only else 1)
    yield park
    if park.negative and not ready():
        x.set(i.operands[0], 0)
    else:
        done()


def _waited(
    x: Exec, i: Instr, tests: list[_Test], by_parity: bool, turn: Stack | None, once: bool, where: Stack
) -> None:
    """Write down that the strand has seen phases to be over. ``turn``: what it counts its waits by in a counterfactual
    run."""
    s = x.s
    sem = "relaxed" if i.has("relaxed") else "acquire"
    for mask, cta, offset, state, v in tests:
        if turn is not None:
            s.wait_counts[turn, state.index] = v + 1
        observed = state.unit.phase - 1 if by_parity else v
        preds = [(state.phase_events[observed], "phase")] if 0 <= observed < len(state.phase_events) else []
        if sem == "relaxed":
            preds = [(e, "relaxed") for e, _ in preds]
        event = x.m.emit(
            s,
            "mbar.wait",
            where=where,
            lanes=mask,
            preds=preds,
            accesses=[object_access(cta, offset, False)],
            data={
                "bar": state.index,
                "parity": v,
                "phase": observed,
                "sem": sem,
                "scope": i.mod_in(("cta", "cluster")) or "cta",
                "form": "parity" if by_parity else "state",
                "once": once,
            },
        )
        if observed < 0:
            state.current.setdefault("fresh_waits", []).append(event.id)
        else:
            state.record.phases[observed]["waits"].append(event.id)


__all__ = ["Reg", "collapse", "find", "object_access"]
