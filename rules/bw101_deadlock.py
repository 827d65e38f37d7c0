"""BW101: a wait that never returns, for which no more precise cause was found."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.causes import Case, Diagnosis
from auditor.causes_contents import hangs_for_its_contents
from auditor.findings import Finding, Level
from auditor.rule import Rule
from auditor.rulekit import (
    PhaseState,
    arrivals_on,
    incident_context,
    initialised,
    line,
    listing,
    open_phase,
    plural,
    shared_name,
    thread,
    threads,
)
from auditor.source import Stack
from auditor.trace import Event, Incident

_NO_STEPS = frozenset(("start", "exit", "mbar.poll"))


class Deadlock(Rule):
    code = "BW101"
    name = "deadlock"
    level = Level.ERROR
    confidence = "high"
    entries = ("MB-11", "MB-10")

    def check(self, audit: Audit) -> Iterator[Finding]:
        for case in audit.diagnosis.cases(Diagnosis.DEADLOCK):
            yield self._finding(audit, case)

    def _finding(self, audit: Audit, case: Case) -> Finding:
        root = case.incident
        assert root is not None
        blocked: list[Incident] = case.data["all"]
        same = [i for i in blocked if i.where == root.where and _awaited(audit, i) == _awaited(audit, root)]
        others = [i for i in blocked if i not in same]
        reason, hint, places = _cause(audit, root, others)
        several = len({i.warp for i in same}) > 1
        verb = "wait" if several else "waits"
        level = Level.NOTE if hangs_for_its_contents(audit, blocked) else None
        message = f"{threads(audit, same)} {verb} forever for {_awaited(audit, root)}: {reason}"
        if others:
            message += f"; blocked as well: {_roles(audit, others)}"
        if level is not None:
            message += "; with other contents of the tables in global memory it goes on"
        related = initialised(audit, root.data.get("bar")) + places
        waits = [(i.where, f"{thread(audit, i)} waits for {_awaited(audit, i)}") for i in [*others[:6], root]]
        related += waits[:-1]
        if root.data.get("waiting") == "mbarrier":
            related += _last_steps(audit, blocked)
        return audit.finding(type(self), case.where, message, level=level, related=related, flow=waits, hint=hint,
                             context=incident_context(audit, root, root.data.get("bar")))


def _awaited(audit: Audit, i: Incident) -> str:
    """What a blocked thread waits for."""
    waiting = i.data.get("waiting")
    if waiting == "mbarrier":
        bar = i.data["bar"]
        return f"phase {open_phase(audit, bar).index} (parity {i.data['parity'] & 1}) of {audit.story.barrier(bar)}"
    if waiting == "uninitialised":
        return f"an mbarrier at {shared_name(audit, i.data['offset'], 8)} that nobody initialises"
    if waiting == "barrier":
        return f"barrier {i.data['id']}"
    if waiting == "cluster":
        return "the cluster barrier"
    if waiting == "lanes":
        return f"the other lanes of its warp at {i.data['instr']}"
    if waiting == "tmem":
        return f"{i.data['columns']} free TMEM columns"
    return "a value that never changes"


def _roles(audit: Audit, incidents: list[Incident]) -> str:
    """All blocked roles, those that wait for the same thing together."""
    groups: dict[tuple[str, str], list[Incident]] = {}
    for i in incidents:
        groups.setdefault((_awaited(audit, i), line(audit, i.where)), []).append(i)
    return "; ".join(f"{threads(audit, who)} for {what} ({where})" for (what, where), who in groups.items())


def _cause(audit: Audit, root: Incident, others: list[Incident]) -> tuple[str, str, list[tuple[Stack, str]]]:
    """Why nothing ends the wait, what repairs it, and the places to look at."""
    if root.data.get("waiting") != "mbarrier":
        return "nothing that still runs can end this wait", "let every role reach it, or none", []
    bar = root.data["bar"]
    state = open_phase(audit, bar)
    arrivals = arrivals_on(audit, bar)
    name = audit.story.barrier(bar)
    places: list[tuple[Stack, str]] = [
        (e.where, f"{audit.story.thread(e)} arrives on {name} here")
        for e in {e.where: e for e in arrivals}.values()
    ]
    if not arrivals:
        places += _elsewhere(audit, bar)
        if others:
            return (f"nobody has arrived on it, and whoever could is blocked too (0 of {state.needed} arrivals)",
                    f"let one side go first: it arrives on {name} before it waits, or starts its own wait with parity "
                    "1, which a fresh barrier satisfies", places)
        return (f"nothing in the kernel arrives on it (0 of {state.needed} arrivals)",
                f"add the missing arrive or tcgen05.commit on {name}", places)
    if state.missing_arrivals:
        return (*_short(audit, state, name, [*others, root]), places)
    if state.missing_bytes:
        return (f"all arrivals are in, but {plural(state.missing_bytes, 'byte')} of the {state.expected:,} expected "
                "have not come", f"let the expect_tx bytes and the copies of a phase of {name} agree", places)
    return ("the phase that its parity names has not begun",
            "keep the parity in step with the phases of the barrier", places)


def _elsewhere(audit: Audit, bar: int) -> list[tuple[Stack, str]]:
    """Arrivals on barriers that were initialised at the same place: other stages, or the same one of other CTAs."""
    barriers = audit.trace.barriers
    init = audit.event(barriers[bar].init_event).where
    found: dict[Stack, tuple[Stack, str]] = {}
    for other, record in enumerate(barriers):
        if other != bar and audit.event(record.init_event).where == init:
            found |= {e.where: (e.where, f"{audit.story.thread(e)} arrives on {audit.story.barrier(other)} here")
                      for e in arrivals_on(audit, other)}
    return list(found.values())[:3]


def _last_steps(audit: Audit, blocked: list[Incident]) -> list[tuple[Stack, str]]:
    """The last thing that each blocked role did: what it left out should have come after that."""
    last: dict[int, Event] = {e.strand: e for e in audit.trace.events if e.warp >= 0 and e.kind not in _NO_STEPS}
    ends = {e.where: e for e in last.values() if e.warp in {i.warp for i in blocked}}
    return [(e.where, f"{audit.story.thread(e)} did this last") for e in list(ends.values())[:4]]


def _short(audit: Audit, state: PhaseState, name: str, blocked: list[Incident]) -> tuple[str, str]:
    """Some arrivals of the open phase are missing."""
    bar_arrivals = {e.warp: e for e in arrivals_on(audit, blocked[-1].data["bar"])}
    waiting = {i.warp for i in blocked}
    ended = [e for warp, e in bar_arrivals.items() if warp not in waiting]
    had = f"phase {state.index} has {state.arrivals} of {plural(state.needed, 'arrival')}"
    if ended and len(ended) == len(bar_arrivals):
        roles = listing(audit.story.thread(e) for e in ended)
        rounds = audit.story.iteration(ended[0]) + 1
        only, has = ("the only one", "has") if len(ended) == 1 else ("the only ones", "have")
        return (f"{had}, and {roles}, {only} to arrive on it, {has} ended after {plural(rounds, 'round')}",
                f"let the waiting and the arriving side of {name} run the same number of rounds")
    return (f"{had}; who has yet to arrive is blocked or skips its arrive",
            f"arrive on {name} on every path, also where a tile is skipped, and before waiting for what depends on it")
