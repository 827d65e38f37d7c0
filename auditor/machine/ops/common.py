"""What several instruction handlers share."""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import partial
from typing import TYPE_CHECKING, Any

from auditor.machine.meeting import settle
from auditor.machine.state import Gather, Park
from auditor.values import SHARED_WINDOW, Opaque

if TYPE_CHECKING:
    from auditor.machine.execute import Exec
    from auditor.machine.state import Cta
    from auditor.machine.strand import Strand
    from auditor.ptx.grammar import Instr

FULL = 0xFFFF_FFFF


def shared_operand(x: Exec, address: Any) -> tuple[Cta, int] | None:
    """Owner CTA and byte offset of one shared address; None (and an incident) when it is not one."""
    if not isinstance(address, int):
        if isinstance(address, Opaque):
            address.used()
        x.m.incident("unanalysed", x.m.where(), x.s, data={"what": "shared-memory address that is not known"})
        return None
    target = x.m.shared_target(address)
    if target is None or (address >= SHARED_WINDOW and address - SHARED_WINDOW >= 1 << 32):
        x.m.incident("cluster_rank", x.m.where(), x.s, data={"address": address, "ctas": len(x.m.ctas)})
        return None
    return target


def number(x: Exec, value: Any, default: int = 0) -> int:
    """An operand that has to be a known uniform integer."""
    value = x.s.uniform(value, x.lanes)
    if isinstance(value, bool | int):
        return int(value)
    if isinstance(value, Opaque):
        value.used()
    return default


def gather(
    x: Exec, i: Instr, key: Any, need: int, payload: Any = None, *, strict: bool, order: bool = True
) -> Generator[Park, None, Gather]:
    """Meet the other lanes of the warp at an operation. The one strand for which ``result.lead`` is set executes it for
    all of ``result.lanes`` and then calls ``finish``; the others come back when that has happened.

    strict: the operation is ``.sync.aligned``, all lanes of ``need`` have to take part.
    """
    s, warp = x.s, x.s.warp
    need &= warp.lanes
    if x.lanes & need == need:
        return _alone(s, x.lanes, need, payload)
    g = warp.gathers.setdefault(key, Gather(need))
    g.members.append((s, x.lanes, payload))
    g.lanes |= x.lanes
    if need & ~g.lanes == 0:
        g.lead = s
    else:
        settle(warp, g)
    while g.lead is not s and not g.done:
        yield Park(
            partial(_may_go, g, s),
            "lanes",
            {"instr": i.opcode, "where": x.m.where(), "need": need},
            gather=g,
        )
    if g.lead is s and not g.done:
        warp.gathers.pop(key, None)
        if g.partial and strict:
            missing = need & ~g.lanes
            x.m.incident(
                "divergent_aligned",
                x.m.where(),
                s,
                lanes=g.lanes,
                data={"instr": i.opcode, "text": i.text.strip(), "missing": missing, "exited": missing & warp.exited},
            )
    elif order and g.event is not None:
        s.pending.append((g.event.id, "warp"))
        s.close_memory()
    return g


def together(
    x: Exec,
    i: Instr,
    key: Any,
    need: int,
    then: Callable[[Gather], None],
    payload: Any = None,
    *,
    strict: bool = True,
    order: bool = True,
) -> Generator[Park, None, None] | None:
    """Calls ``then`` with the meeting of ``gather``: at once when the strand has all the lanes that are needed, else
    from what is returned. Strict operations have to be executed at one place, which is added to ``key``.
    """
    s = x.s
    need &= s.warp.lanes
    if x.lanes & need == need:
        then(_alone(s, x.lanes, need, payload))
        return None
    return _met(x, i, (key, x.m.where()) if strict else key, need, then, payload, strict, order)


def _met(
    x: Exec, i: Instr, key: Any, need: int, then: Callable[[Gather], None], payload: Any, strict: bool, order: bool
) -> Generator[Park, None, None]:
    then((yield from gather(x, i, key, need, payload, strict=strict, order=order)))


def _alone(s: Strand, lanes: int, need: int, payload: Any) -> Gather:
    """The meeting of a strand that has all the lanes."""
    g = Gather(need)
    g.lanes = lanes
    g.members.append((s, lanes, payload))
    g.lead = s
    return g


def _may_go(g: Gather, s: Strand) -> bool:
    return g.done or g.lead is s


def finish(x: Exec, g: Gather, event: Any, result: Any = None, order: bool = True) -> None:
    """The leader has executed the operation: let the other strands go on."""
    g.event = event if order else None
    g.result = result
    g.done = True


def gathered_preds(g: Gather, order: bool = True) -> list[tuple[int, str]]:
    """Edges from the other strands that met here."""
    if not order:
        return []
    return [(s.last_event.id, "warp") for s, _, _ in g.members if s is not g.lead and s.last_event is not None]


def gathered_value(g: Gather, index: int) -> list[Any]:
    """The 32 lane values of payload item ``index``, put together from the members."""
    from auditor.values import lane_values

    out: list[Any] = [0] * 32
    for s, lanes, payload in g.members:
        v = payload[index]
        values = lane_values(v)
        for n in s.lane_list(lanes):
            out[n] = values[n]
    return out
