"""BW103: the parity of a wait does not follow the phases of its barrier."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.causes import Case, Diagnosis
from auditor.findings import Finding, Level
from auditor.rule import Rule
from auditor.rulekit import clash, context, incident_context, initialised, line, listing, ordinal, thread
from auditor.trace import Event


class StaleParity(Rule):
    code = "BW103"
    name = "stale-parity"
    level = Level.ERROR
    confidence = "high"
    entries = ("MB-18",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        for case in audit.diagnosis.cases(Diagnosis.STALE_PARITY):
            yield self._finding(audit, case)

    def _finding(self, audit: Audit, case: Case) -> Finding:
        story = audit.story
        waits = [e for e in audit.trace.events if e.kind == "mbar.wait" and e.where == case.where]
        wrong, due = _first_wrong(waits, case.data["start"])
        ring = len({e.data["bar"] for e in waits if e.cta == waits[0].cta}) if waits else 1
        if wrong is not None:
            bar, role, ctx = wrong.data["bar"], story.thread(wrong), context(audit, wrong, wrong.data["bar"])
            nth, parity = _count(waits, wrong), wrong.data["parity"] & 1
            early = wrong.data["phase"] < due
            end = "passes at once, on a phase that is over" if early else "skips a phase"
            if wrong.data["phase"] < 0:
                end = "passes at once, on a fresh barrier"
        elif case.incident is not None:
            i = case.incident
            bar, role, ctx = i.data["bar"], thread(audit, i), incident_context(audit, i, i.data["bar"])
            seen = [e for e in waits if e.data["bar"] == bar and e.warp == i.warp and e.lanes & i.lanes]
            due, nth, parity = case.data["start"] + len(seen), len(seen) + 1, i.data["parity"] & 1
            end = "never returns"
        else:
            assert case.wait is not None
            bar, role, ctx = case.wait.data["bar"], story.thread(case.wait), context(audit, case.wait)
            nth, parity, end = 1, case.wait.data["parity"] & 1, "does not wait for it"
        name = story.barrier(bar)
        message = (f"parity of the wait on {name} is out of step: the {ordinal(nth)} wait of {role} uses parity "
                   f"{parity}, but phase {due} has parity {due & 1}, so it {end}")
        also = case.data.get("also", ())
        if also:
            others = listing(line(audit, where) for where in also)
            message += f"; so {'are the waits' if len(also) > 1 else 'is the wait'} at {others}"
        related = initialised(audit, bar) + [(where, "out of step as well") for where in also]
        if case.conflict is not None:
            text, places = clash(audit, case.conflict)
            message += f"; {text}"
            related += places
        hint = (f"flip the parity once a lap, when the stage index wraps after {ring} stages (phase ^= stage == "
                f"{ring - 1}, or iteration / {ring} & 1), and carry it on from tile to tile" if ring > 1 else
                f"flip the parity after each wait on {name}, and carry it on from one tile to the next")
        flow = [(e.where, f"{ordinal(n)} wait on {name}: parity {e.data['parity'] & 1}, observes phase "
                          f"{e.data['phase']}")
                for n, e in enumerate((e for e in waits if e.data["bar"] == bar and role == story.thread(e)), 1)][:4]
        return audit.finding(type(self), case.where, message, related=related, flow=flow, hint=hint, context=ctx)


def _first_wrong(waits: list[Event], start: int) -> tuple[Event | None, int]:
    """The first wait that did not observe the phase that was its turn, and that phase."""
    seen: dict[tuple[int, int, int], int] = {}
    for e in waits:
        key = (e.data["bar"], e.warp, e.lanes)
        due = start + seen.get(key, 0)
        if e.data["phase"] != due:
            return e, due
        seen[key] = seen.get(key, 0) + 1
    return None, start


def _count(waits: list[Event], event: Event) -> int:
    """Which wait of its thread on its barrier an event is, from 1."""
    return sum(1 for e in waits if e.id <= event.id and e.data["bar"] == event.data["bar"] and e.warp == event.warp
               and e.lanes & event.lanes)
