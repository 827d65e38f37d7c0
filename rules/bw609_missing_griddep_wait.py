"""BW609: a dependent launch reads what the kernel before it writes, without waiting for that kernel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.repair.insert import insert_at_start
from auditor.rule import Rule
from auditor.rulekit import context, line, strand_event
from auditor.source import Stack
from auditor.trace import Event
from auditor.values import GLOBAL_STRIDE, GLOBAL_WINDOW


class MissingGriddepWait(Rule):
    code = "BW609"
    name = "missing-griddep-wait"
    level = Level.WARNING
    confidence = "medium"
    entries = ("OT-05",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        waits = [e for e in audit.trace.events if e.kind == "griddep.wait"]
        if waits:
            yield from self._inconsistent(audit, waits)
        elif audit.launch.programmatic and audit.launch.where and audit.trace.complete:
            read = next(iter(_reads(audit)), None)
            if read is not None:
                yield audit.finding(
                    type(self), audit.launch.where,
                    f"{audit.kernel.display} is launched with programmatic stream serialization, so it may start "
                    "before the kernel in front of it has ended, but none of its threads executes griddepcontrol.wait",
                    related=[((audit.kernel.loc,), "the kernel"),
                             (read[0].where, "reads global memory without having waited")],
                    hint="execute cudaGridDependencySynchronize() (griddepcontrol.wait) before the first access of "
                         "data of the kernel before, or launch without the attribute",
                    repair=lambda: insert_at_start(audit, "griddepcontrol.wait"),
                )

    def _inconsistent(self, audit: Audit, waits: list[Event]) -> Iterator[Finding]:
        """Arrays that some threads read behind the wait and others without it."""
        behind: dict[Any, Event] = {}
        without: dict[Any, Event] = {}
        for e, array in _reads(audit):
            own = strand_event(audit, e)
            (behind if _covered(audit, waits, own) else without).setdefault(array, e)
        told: set[Stack] = set()
        for array, e in without.items():
            if array in behind and e.where not in told:
                told.add(e.where)
                other = behind[array]
                yield audit.finding(
                    type(self), e.where,
                    f"{audit.story.who(e)} reads data of the kernel before without having waited for it: the wait at "
                    f"{line(audit, waits[0].where)} holds back only the threads that execute it and those behind them",
                    related=[(waits[0].where, f"{audit.story.thread(waits[0])} waits here"),
                             (other.where, f"{audit.story.who(other)} reads the same array, behind the wait")],
                    hint="let each role that reads data of the kernel before execute griddepcontrol.wait, or meet a "
                         "thread that has",
                    context=context(audit, strand_event(audit, e)),
                )


def _covered(audit: Audit, waits: list[Event], own: Event) -> bool:
    """Whether every thread of an event has waited before it, or comes after one that has."""
    left = own.lanes
    for wait in waits:
        if wait.warp == own.warp and wait.id < own.id:
            left &= ~wait.lanes
    return not left or any(audit.hb.ordered(wait.id, own.id) for wait in waits)


def _reads(audit: Audit) -> Iterator[tuple[Event, Any]]:
    """Reads of global memory by loads and copies, with what tells the array."""
    for e in audit.trace.events:
        if e.kind == "async" and e.data.get("map") is not None and e.data["instr"] == "tma.load":
            yield e, e.data["map"]
        elif e.kind == "global.read":
            yield e, e.data["array"]
        elif e.kind == "async":
            for a in e.accesses:
                if a.space == "global" and not a.write:
                    yield e, (a.lo - GLOBAL_WINDOW) // GLOBAL_STRIDE
