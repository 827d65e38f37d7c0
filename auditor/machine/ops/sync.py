"""CTA and cluster barriers, warp-wide operations, fences and other synchronisation (PTX ISA 9.7.13, 9.7.19)."""

from __future__ import annotations

from collections.abc import Generator
from functools import cache
from typing import Any

from auditor.machine.execute import Exec, op
from auditor.machine.meeting import check_cluster, check_named
from auditor.machine.memory import SPIN_READS
from auditor.machine.ops.common import FULL, finish, gather, gathered_preds, gathered_value, number, together
from auditor.machine.schedule import turn
from auditor.machine.state import Gather, NamedBarrier, Park
from auditor.machine.strand import ELECTION, StrandEnd
from auditor.ptx.grammar import Instr, Pair, Sink
from auditor.values import OPAQUE, Opaque, Vec, collapse, lane_values

MAX_NAMED = 16


@op("bar", "barrier")
def cta_barrier(x: Exec, i: Instr) -> Generator[Park, None, None]:
    """``bar``/``barrier``.{sync,arrive,red}: named barriers of the CTA."""
    m, s, cta = x.m, x.s, x.s.warp.cta
    kind = i.mod_in(("sync", "arrive", "red")) or "sync"
    operands = list(i.operands)
    dest = None
    if kind == "red":
        dest = operands.pop(0)
        operands = operands[:-1]
    where = m.where()
    if where in m.hypothesis.passed:
        return
    lanes = x.lanes
    identity = number(x, x.val(operands[0])) if operands else 0
    count = number(x, x.val(operands[1]), -1) if len(operands) > 1 else None
    if not 0 <= identity < MAX_NAMED:
        m.incident("named_barrier", where, s, data={"id": identity, "problem": "id"})
        identity %= MAX_NAMED
    if count is not None and (count <= 0 or count % 32 or count > m.warps_per_cta * 32):
        m.incident(
            "named_barrier",
            where,
            s,
            data={"id": identity, "count": count, "problem": "count", "threads": m.launch.threads},
        )
        if count <= 0:
            count = None
    named = cta.named.get(identity)
    if named is None:
        named = cta.named[identity] = NamedBarrier(identity)
    if named.arrived and named.expected != count:
        m.incident(
            "named_barrier",
            where,
            s,
            data={"id": identity, "count": count, "other": named.expected, "problem": "counts"},
        )
    if count is not None and named.masks.get(s.warp.index, 0) & lanes:
        m.incident(
            "named_barrier",
            where,
            s,
            related=[(m.trace.events[n].where, "arrived here before") for n in named.events[-1:]],
            data={"id": identity, "count": count, "problem": "twice"},
        )
    site = named.sites.setdefault(s.warp.index, where)
    if site != where and (i.opcode == "bar" or i.has("aligned")):
        m.incident(
            "divergent_aligned",
            where,
            s,
            lanes=lanes,
            related=[(site, "the other lanes come to the barrier here")],
            data={
                "instr": i.opcode,
                "missing": named.masks.get(s.warp.index, 0) & ~lanes,
                "exited": 0,
                "elsewhere": True,
            },
        )
    named.expected = count if not named.arrived else named.expected
    s.release_loads()
    event = m.emit(
        s,
        "bar.arrive" if kind == "arrive" else "bar.sync",
        where=where,
        lanes=lanes,
        data={"id": identity, "count": count},
    )
    named.arrived += _threads(s, lanes, count)
    named.masks[s.warp.index] = named.masks.get(s.warp.index, 0) | lanes
    named.events.append(event.id)
    generation = len(named.completions)

    def passed() -> bool:
        return len(named.completions) > generation

    check_named(m, cta, named)
    if kind == "arrive":
        return
    if not passed():
        yield Park(
            passed,
            "barrier",
            {"where": where, "id": identity, "count": count, "arrived": named.arrived, "named": named},
        )
    s.pending.append((named.completions[generation], "bar"))
    if dest is not None:
        x.set(dest, OPAQUE)


def _threads(s: Any, lanes: int, count: int | None) -> int:
    """A warp's arrival counts all its threads, also the lanes that do not exist."""
    return 32 if count is not None and lanes == s.warp.lanes else lanes.bit_count()


@op("bar.warp.sync")
def warp_sync(x: Exec, i: Instr) -> Generator[Park, None, None]:
    mask = number(x, x.val(i.operands[0]), FULL) & FULL
    if mask & x.lanes != x.lanes:
        x.m.incident("elect_mask", x.m.where(), x.s, data={"instr": "__syncwarp", "mask": mask})
    where = x.m.where()
    need = mask & x.s.warp.live
    if x.lanes & need == need and not x.s.warp.lanes & ~x.lanes:
        x.m.emit(x.s, "warp.sync", where=where, data={"mask": mask})
        if x.m.schedule.preempts:
            yield turn()
        return
    g = yield from gather(x, i, ("warp.sync", mask), need, strict=False)
    if g.lead is x.s:
        event = x.m.emit(x.s, "warp.sync", where=where, lanes=g.lanes, preds=gathered_preds(g), data={"mask": mask})
        finish(x, g, event)


@op("shfl.sync", "vote.sync", "match.any.sync", "match.all.sync", "redux.sync")
def warp_exchange(x: Exec, i: Instr) -> Generator[Park, None, None] | None:
    """Exchanges between lanes. They make values uniform, which is what the protocol needs of them."""
    dest = i.operands[0]
    sources = [x.val(o) for o in i.operands[1:]]
    need = number(x, sources[-1], FULL) & x.s.warp.live
    if x.lanes & need == need and isinstance(sources[0], Opaque):  # most of them: a strand exchanges its data
        _note_meeting(x, need)
        sources[0].used()
        x.set(dest, (OPAQUE, OPAQUE) if dest.__class__ is Pair else OPAQUE)
        return None

    def met(g: Gather) -> None:
        if g.lead is x.s:
            _exchanged(x, i, need, sources, g)
        x.set(dest, g.result)

    return together(x, i, (i.opcode, i.mods, need), need, met, sources, strict=False)


def _note_meeting(x: Exec, need: int) -> None:
    """The lanes of the strand meet by themselves: that is told where they have not just done so."""
    last = x.s.last_event
    if last is None or last.kind not in ("elect", "warp.sync"):
        x.m.emit(x.s, "elect", lanes=x.lanes, data={"mask": need})


def _exchanged(x: Exec, i: Instr, need: int, sources: list[Any], g: Gather) -> None:
    """The strand that leads executes the exchange for all that have met."""
    event = None
    if len(g.members) > 1:
        event = x.m.emit(x.s, "warp.sync", lanes=g.lanes, preds=gathered_preds(g), data={"mask": need})
    else:
        _note_meeting(x, need)
    paired = i.operands[0].__class__ is Pair
    result: Any
    if any(isinstance(payload[0], Opaque) for _, _, payload in g.members):
        for _, _, payload in g.members:
            if isinstance(payload[0], Opaque):
                payload[0].used()
        result = (OPAQUE, OPAQUE) if paired else OPAQUE
    else:
        if len(g.members) > 1:
            sources = [_column(g, n) for n in range(len(sources))]
        result = _exchange(i, sources, g.lanes)
        if isinstance(result, tuple) and not paired:
            result = result[0]
    finish(x, g, event, result)


def _column(g: Gather, n: int) -> Any:
    """The n-th operand of all that have met."""
    given = [payload[n] for _, _, payload in g.members]
    first = given[0]
    if first.__class__ is int and g.lanes == FULL and all(v.__class__ is int and v == first for v in given):
        return first
    return collapse(gathered_value(g, n)) if all(map(_plain, given)) else OPAQUE


def _plain(v: Any) -> bool:
    return not isinstance(v, (Opaque, list)) and v is not None


def _exchange(i: Instr, sources: list[Any], lanes: int) -> Any:
    if i.opcode == "vote.sync":
        votes = lane_values(sources[0])
        active = [n for n in range(32) if lanes >> n & 1]
        yes = [n for n in active if votes[n]]
        if i.has("ballot"):
            return sum(1 << n for n in yes)
        if i.has("any"):
            return 1 if yes else 0
        if i.has("all"):
            return 1 if len(yes) == len(active) else 0
        return 1 if len(yes) in (0, len(active)) else 0
    if i.opcode == "match.all.sync":
        values = lane_values(sources[0])
        alike = len({values[n] for n in range(32) if lanes >> n & 1}) == 1
        return (lanes if alike else 0), int(alike)
    if i.opcode == "match.any.sync":
        values = lane_values(sources[0])
        return collapse(sum(1 << k for k in range(32) if lanes >> k & 1 and values[k] == values[n]) for n in range(32))
    if i.opcode == "redux.sync":
        own = [v for n, v in enumerate(lane_values(sources[0])) if lanes >> n & 1]
        if i.has("add"):
            return sum(own) & 0xFFFFFFFF
        return max(own) if i.has("max") else min(own) if i.has("min") else OPAQUE
    value, index, clamp = sources[:3]
    if value.__class__ is not Vec:
        return value
    width = 32 - (clamp >> 8 & 31) if isinstance(clamp, int) else 32
    mode = i.mod_in(("idx", "up", "down")) or "bfly"
    givers = _givers(mode, index, width) if index.__class__ is int else None
    if givers is None:
        givers = [_giver(mode, n, k, width) for n, k in enumerate(lane_values(index))]
    values = value.v
    return collapse([values[n] for n in givers])


@cache
def _givers(mode: str, index: int, width: int) -> list[int]:
    """For each lane the one whose value it gets, when all lanes give the same index."""
    return [_giver(mode, n, index, width) for n in range(32)]


def _giver(mode: str, lane: int, index: int, width: int) -> int:
    """The lane whose value a lane gets (PTX ISA 9.7.9.6, "shfl.sync")."""
    base = lane // width * width
    if mode == "idx":
        source = base + index % width
    elif mode == "up":
        source = lane - index if lane - index >= base else lane
    elif mode == "down":
        source = lane + index if lane + index < base + width else lane
    else:
        source = lane ^ index
    return source % 32


@op("activemask")
def activemask(x: Exec, i: Instr) -> None:
    x.set(i.operands[0], x.lanes)


@op("elect.sync")
def elect(x: Exec, i: Instr) -> Generator[Park, None, None] | None:
    """One lane of the mask is elected, always the same one. Not lane 0: nothing promises that (rulebook OT-01).

    It is the lowest one in the run that follows on a trap: a kernel may check for what hardware does.
    """
    mask = number(x, x.val(i.operands[1]), FULL) & FULL
    outside = x.lanes & ~mask
    if outside:
        x.m.incident("elect_mask", x.m.where(), x.s, data={"instr": "elect.sync", "mask": mask, "exited": 0})
    need = x.lanes if outside == x.lanes else mask & x.s.warp.live

    def met(g: Gather) -> None:
        if g.lead is x.s:
            _elected(x, mask, bool(outside), g)
        leader = g.result
        dest = i.operands[0]
        if isinstance(dest, Pair):
            if not isinstance(dest.first, Sink):
                x.set(dest.first, leader)
            x.set(dest.second, _one_lane(leader))
        else:
            x.set(dest, _one_lane(leader))

    return together(x, i, ("elect", mask, need), need, met, strict=False, order=False)


def _elected(x: Exec, mask: int, outside: bool, g: Gather) -> None:
    """The strand that leads chooses a lane."""
    exited = mask & x.s.warp.exited
    if (g.partial or exited) and not outside:
        x.m.incident(
            "elect_mask",
            x.m.where(),
            x.s,
            lanes=g.lanes,
            data={"instr": "elect.sync", "mask": mask, "exited": exited},
        )
    x.m.emit(x.s, "elect", lanes=g.lanes, data={"mask": mask})
    eligible = g.lanes & mask or g.lanes
    lowest, highest = (max(lanes.bit_length() - 1, 0) for lanes in (eligible & -eligible, eligible))
    first = ELECTION in x.m.settled
    x.s.warp.elected |= lowest != highest and not first
    finish(x, g, None, lowest if first else highest)


@cache
def _one_lane(lane: int) -> Any:
    """1 in one lane, 0 in the others."""
    return collapse(1 if n == lane else 0 for n in range(32))


@op("barrier.cluster")
def cluster_barrier(x: Exec, i: Instr) -> Generator[Park, None, None]:
    m, s = x.m, x.s
    where = m.where()
    if i.has("arrive"):
        s.release_loads()
        sem = "relaxed" if i.has("relaxed") else "release"
        again = s.warp.cluster_mask & x.lanes
        if again:
            m.incident("cluster_barrier", where, s, data={"problem": "arrived twice", "lanes": again})
        event = m.emit(s, "cluster.arrive", where=where, lanes=x.lanes, data={"sem": sem})
        s.warp.cluster_mask |= x.lanes
        m.cluster_round.append((event.id, "relaxed" if sem == "relaxed" else "cluster"))
        for lane in s.lane_list(x.lanes):
            s.warp.cluster_due[lane] = len(m.cluster_events)
        check_cluster(m)
        return
    due = {s.warp.cluster_due.get(lane) for lane in s.lane_list(x.lanes)}
    if None in due:
        m.incident("cluster_barrier", where, s, data={"problem": "wait without arrive"})
        due.discard(None)
    generation = max((d for d in due if d is not None), default=None)
    if generation is None:
        return

    def passed() -> bool:
        return len(m.cluster_events) > generation

    if not passed():
        yield Park(passed, "cluster", {"where": where, "generation": generation})
    for lane in s.lane_list(x.lanes):
        s.warp.cluster_due.pop(lane, None)
    m.emit(
        s,
        "cluster.wait",
        where=where,
        lanes=x.lanes,
        preds=[(m.cluster_events[generation], "cluster")],
        data={"sem": "acquire"},
    )


@op("fence", "membar")
def fence(x: Exec, i: Instr) -> None:
    sem = i.mod_in(("sc", "acq_rel", "release", "acquire")) or "sc"
    x.m.emit(
        x.s, "fence", lanes=x.lanes, data={"sem": sem, "scope": i.mod_in(("cta", "cluster", "gpu", "sys", "gl")) or ""}
    )


@op("fence.mbarrier_init")
def fence_init(x: Exec, i: Instr) -> None:
    x.m.emit(x.s, "fence.mbarrier_init", lanes=x.lanes, data={"sem": "release", "scope": "cluster"})


@op("fence.proxy")
def fence_proxy(x: Exec, i: Instr) -> None:
    which = ".".join(m for m in i.mods if m not in ("sync", "aligned")) or "async"
    address = x.s.uniform(x.val(i.operands[0]), x.lanes) if i.operands else None
    x.m.emit(
        x.s,
        "fence.proxy",
        lanes=x.lanes,
        data={"which": which, "address": address if isinstance(address, int) else None},
    )


@op("griddepcontrol")
def griddep(x: Exec, i: Instr) -> None:
    x.m.emit(x.s, "griddep.wait" if i.has("wait") else "griddep.launch", lanes=x.lanes)


@op("setmaxnreg")
def setmaxnreg(x: Exec, i: Instr) -> Generator[Park, None, None]:
    where = x.m.where()
    g = yield from gather(x, i, ("setmaxnreg", where), FULL & x.s.warp.lanes, strict=True)
    if g.lead is x.s:
        event = x.m.emit(
            x.s,
            "setmaxnreg",
            where=where,
            lanes=g.lanes,
            data={"action": "inc" if i.has("inc") else "dec", "registers": number(x, x.val(i.operands[0]))},
        )
        finish(x, g, event)


@op("nanosleep")
def nanosleep(x: Exec, i: Instr) -> Generator[Park, None, None]:
    """A spinning strand gives way; only once a step, so that a spin cannot starve the others.

    One that sleeps between tests of an mbarrier is blocked at that mbarrier.
    """
    epoch, denied = x.m.progress, x.s.denied
    kind, data = ("sleep", {"where": x.m.where()}) if denied is None else ("mbarrier", denied)
    # one that sleeps between looks at a flag in memory goes on until the look gives up (memory.SPIN_READS)
    yield Park(lambda: x.m.progress != epoch, kind, data, polls=1 if denied is not None else SPIN_READS + 2)


@op("trap", "brkpt")
def trap(x: Exec, i: Instr) -> None:
    raise StrandEnd("trap", x.m.where(), trap=True)


@op("mapa")
def mapa(x: Exec, i: Instr) -> None:
    address, rank = x.val(i.operands[1]), x.val(i.operands[2])
    ranks = {r for _, r in x.per_lane(rank)} if rank.__class__ is Vec else {rank}
    wrong = [r for r in ranks if isinstance(r, int) and not 0 <= r < len(x.m.ctas)]
    if wrong:
        x.m.incident("cluster_rank", x.m.where(), x.s, data={"rank": max(wrong), "ctas": len(x.m.ctas)})
    if isinstance(address, Opaque) or isinstance(rank, Opaque):
        x.set(i.operands[0], OPAQUE)
        return
    if i.operands and isinstance(address, (tuple, list)):
        x.set(i.operands[0], OPAQUE)
        return
    x.set(i.operands[0], (address & ~(0xFF << 24)) | (rank << 24))


@op("getctarank")
def getctarank(x: Exec, i: Instr) -> None:
    x.set(i.operands[0], x.val(i.operands[1]) >> 24 & 0xFF)


@op(
    "prefetch",
    "prefetchu",
    "applypriority",
    "discard",
    "createpolicy",
    "cp.async.bulk.prefetch",
    "cp.async.bulk.prefetch.tensor",
    "pmevent",
    "nop",
)
def hint(x: Exec, i: Instr) -> None:
    """Cache hints: no protocol meaning."""
    if i.opcode == "createpolicy":
        x.set(i.operands[0], 0)
