"""Who does what: names of sets of threads, and the roles of a kernel."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from auditor.reports.facts import Facts
from auditor.reports.model import Role
from auditor.trace import ALL_LANES, Event

_LOADS = ("tma.load", "bulk.load")
_STORES = ("tma.store", "tma.reduce", "bulk.store", "bulk.reduce")


def threads(facts: Facts, events: Iterable[Event]) -> str:
    """The threads of some events: "warp 4 lane 0", "warps 0-3", "one lane of warps 2-5 of both CTAs"."""
    per_warp = facts.trace.warps_per_cta
    lanes: dict[tuple[int, int], int] = {}
    for event in events:
        e = facts.issuer(event)
        if e.warp >= 0:
            key = (e.cta, e.warp % per_warp)
            lanes[key] = lanes.get(key, 0) | e.lanes
    by_cta: dict[int, dict[int, int]] = {}
    for (cta, warp), mask in lanes.items():
        by_cta.setdefault(cta, {})[warp] = mask
    texts: dict[str, list[int]] = {}
    for cta in sorted(by_cta):
        texts.setdefault(_in_cta(by_cta[cta], facts.elects), []).append(cta)
    if facts.trace.ctas == 1:
        return "; ".join(texts) or "nobody"
    return "; ".join(f"{text} of {_ctas(ctas, facts.trace.ctas)}" for text, ctas in texts.items()) or "nobody"


def _ctas(ctas: list[int], total: int) -> str:
    if len(ctas) == total:
        return "both CTAs" if total == 2 else "every CTA"
    return f"CTA {ctas[0]}" if len(ctas) == 1 else "CTAs " + ", ".join(map(str, ctas))


def _in_cta(warps: dict[int, int], elects: bool) -> str:
    """Threads of one CTA: lane masks by warp."""
    parts = []
    for shape, members in groupby(sorted(warps), key=lambda w: _shape(warps[w], elects)):
        run = list(members)
        ranges = _ranges(run)
        noun = "warp" if len(run) == 1 else "warps"
        one_lane = len(run) == 1 and not shape.endswith("lanes")
        parts.append(
            f"{noun} {ranges}"
            if shape == "all"
            else f"warp {ranges} {shape}"
            if one_lane
            else f"{shape} of {noun} {ranges}"
        )
    return ", ".join(parts)


def _shape(mask: int, elects: bool) -> str:
    """Which lanes of a warp. ``elects``: the kernel uses elect.sync, for which the machine takes the last lane."""
    if mask & ALL_LANES == ALL_LANES:
        return "all"
    if elects and mask == 1 << 31:
        return "elected lane"
    if mask.bit_count() == 1:
        return f"lane {mask.bit_length() - 1}"
    return f"{mask.bit_count()} lanes"


def _ranges(numbers: list[int]) -> str:
    """Sorted numbers as ranges: "0-3, 6"."""
    out = []
    for _, run in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0]):
        values = [n for _, n in run]
        out.append(str(values[0]) if len(values) == 1 else f"{values[0]}-{values[-1]}")
    return ", ".join(out)


def duty(event: Event) -> str:
    """The part that an event plays in a pipeline; empty when it says nothing about the role."""
    if event.kind == "async":
        instr = str(event.data["instr"])
        if instr in _LOADS:
            return "producer (copies to shared memory)"
        if instr in _STORES:
            return "store (copies to global memory)"
        named = {
            "mma": "MMA issuer",
            "mma.ws": "MMA issuer",
            "wgmma": "MMA (wgmma)",
            "cp.async": "producer (cp.async)",
            "tcgen05.cp": "copies of scale factors",
            "bulk.dsmem": "copies to a peer CTA",
        }
        return named.get(instr, "")
    named = {
        "tcgen05.ld": "reads of tensor memory",
        "tcgen05.st": "writes of tensor memory",
        "tcgen05.alloc": "allocation of tensor memory",
        "tcgen05.dealloc": "release of tensor memory",
        "mbar.init": "initialisation of barriers",
    }
    return named.get(event.kind, "")


def by_waits(facts: Facts, events: Iterable[Event]) -> list[list[Event]]:
    """Events of one duty, apart for warps that wait for different barriers: those have different roles."""
    found: dict[frozenset[str], list[Event]] = {}
    for e in events:
        own = facts.issuer(e)
        key = facts.waited.get((own.cta, own.warp), frozenset())
        found.setdefault(key, []).append(e)
    return list(found.values())


def roles(facts: Facts) -> tuple[Role, ...]:
    """Every duty with the threads that do it."""
    by_duty: dict[str, list[Event]] = {}
    for event in facts.trace.events:
        name = duty(event)
        if name:
            by_duty.setdefault(name, []).append(event)
    return tuple(
        Role(name, threads(facts, part), facts.lines(part))
        for name, events in by_duty.items()
        for part in by_waits(facts, events)
    )
