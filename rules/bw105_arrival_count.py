"""BW105: the arrivals of a phase differ from the count that the barrier was initialised with."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.causes import Case, Diagnosis
from auditor.findings import Finding, Level
from auditor.rule import Rule
from auditor.rulekit import arrivals_on, context, incident_context, initialised, plural, thread, who
from auditor.rulekit_schedule import outcome, slow_warps, step


class ArrivalCount(Rule):
    code = "BW105"
    name = "arrival-count"
    level = Level.ERROR
    confidence = "high"
    entries = ("MB-11", "MB-23", "MB-26")

    def check(self, audit: Audit) -> Iterator[Finding]:
        for incident in audit.incidents("no_complete"):
            name = audit.story.barrier(incident.data["bar"])
            yield audit.finding(
                type(self), incident.where,
                f"{thread(audit, incident)} arrives on {name} with .noComplete and completes phase "
                f"{incident.data['phase']}: what follows is undefined",
                related=initialised(audit, incident.data["bar"]),
                hint="leave .noComplete out, or let an arrival without it come last",
                context=incident_context(audit, incident, incident.data["bar"]),
            )
        out_of_range = {audit.user(i.where) for i in audit.incidents("init_count")}
        for case in audit.diagnosis.cases(Diagnosis.ARRIVALS):
            assert case.barrier is not None
            if audit.user(audit.event(audit.trace.barriers[case.barrier].init_event).where) not in out_of_range:
                special = {"stray": self._stray, "early": self._early}
                yield next((special[k] for k in special if k in case.data), self._finding)(audit, case)

    def _finding(self, audit: Audit, case: Case) -> Finding:
        bar, init, arrivals = case.barrier, case.data["init"], case.data["arrivals"]
        assert bar is not None
        story, name = audit.story, audit.story.barrier(bar)
        i = case.incident
        surplus = i is not None and i.kind == "over_arrival"
        places = {e.where: e for e in arrivals_on(audit, bar)}
        related = [(e.where, f"{story.thread(e)} arrives here ({plural(_counted(e.data, e.lanes), 'arrival')})")
                   for e in places.values()]
        too_many = not surplus and isinstance(arrivals, int) and arrivals > init
        if case.data.get("twice"):
            assert i is not None
            message = (f"this arrival on {name} is one too many: its phase of {plural(init, 'arrival')} gets "
                       f"{arrivals}, the surplus counts for the next phase, and {thread(audit, i)} waits forever")
            hint = f"arrive on {name} once a round, on every path"
            related.append((i.where, f"{thread(audit, i)} waits here forever"))
        elif too_many:
            message = (f"{name} is initialised for {plural(init, 'arrival')} a phase but gets {arrivals}: its phase "
                       "ends before everyone has arrived")
            hint = f"initialise {name} with {arrivals}, or let only {init} arrive on it"
            if case.conflict is not None:
                first, second = case.conflict.first, case.conflict.second
                message += f", and {who(audit, second)} meets the {story.what(first)} in flight"
                related += [(first.where, f"{story.who(first)}, not finished"),
                            (second.where, f"{story.who(second)} uses {story.place(case.conflict.second_access)}")]
            elif i is not None:
                message += f"; {thread(audit, i)} then waits for a phase that never comes"
                related.append((i.where, f"{thread(audit, i)} waits here forever"))
        elif surplus:
            assert i is not None
            count, pending = i.data["count"], i.data["pending"]
            message = (f"{thread(audit, i)} makes {plural(count, 'arrival')} on {name} when {pending} "
                       f"{'is' if pending == 1 else 'are'} pending: it is initialised for {plural(init, 'arrival')} a "
                       "phase"
                       + (f", and gets {arrivals}" if arrivals else ""))
            message += "; the surplus traps or counts for the next phase"
            hint = f"initialise {name} with {arrivals}" if arrivals else f"make as many arrivals on {name} as it counts"
            if count >= 32 > init:
                hint += ", or let one lane of each warp arrive (after __syncwarp)"
        else:
            message = (f"{name} is initialised for {plural(init, 'arrival')} a phase but gets {arrivals}: its phase "
                       "never ends, "
                       + (f"and {thread(audit, i)} waits forever" if i is not None else "and its waiters hang"))
            hint = f"initialise it with {arrivals}, the number that arrive: arrivals count, not the threads that wait"
            if i is not None:
                related.append((i.where, f"{thread(audit, i)} waits here forever"))
        if surplus or too_many:
            related += initialised(audit, bar)
        flow = list(dict.fromkeys((*initialised(audit, bar), *related[:3])))
        return audit.finding(type(self), case.where, message, related=related, flow=flow, hint=hint,
                             context=incident_context(audit, i, bar) if i is not None else
                             context(audit, case.conflict.second, bar) if case.conflict is not None else ())

    def _stray(self, audit: Audit, case: Case) -> Finding:
        """An arrival that may count for the phase before the one that it is meant for."""
        assert case.barrier is not None
        stray, story, name = case.data["stray"], audit.story, audit.story.barrier(case.barrier)
        arrival, due, phase = stray.arrival, stray.due, stray.phase
        init, harm = case.data["init"], case.data.get("harm")
        effect = (f"phase {phase - 1} ends early; where {slow_warps(audit, harm)}, {outcome(audit, harm)}" if harm else
                  "the phases, which get arrivals of different threads, end early or never")
        message = (f"{story.thread(arrival)} arrives on {name} for phase {phase}, but nothing keeps that after the "
                   f"arrival of {story.thread(due)} for phase {phase - 1}: it can take its place, and {effect}")
        return audit.finding(
            type(self), case.where, message,
            related=[(due.where, f"{story.thread(due)} arrives here for phase {phase - 1}"),
                     *initialised(audit, case.barrier)],
            flow=[(arrival.where, f"{story.thread(arrival)} arrives first: {name} counts it for phase {phase - 1}"),
                  (due.where, f"{story.thread(due)} arrives: {name} counts it for phase {phase}"),
                  *(step(audit, harm) if harm else ())],
            hint=f"let each thread arrive once a phase, {init} in all, and wait for phase {phase - 1} in between",
        )


    def _early(self, audit: Audit, case: Case) -> Finding:
        """An arrival that expects bytes while those of the phase before may still be under way."""
        assert case.barrier is not None
        early, story, name = case.data["early"], audit.story, audit.story.barrier(case.barrier)
        arrival, due, phase = early.arrival, early.due, early.phase
        return audit.finding(
            type(self), case.where,
            f"{story.thread(arrival)} arrives on {name} and expects the bytes of phase {phase}, but nothing keeps that "
            f"after the end of phase {phase - 1}: while the copies of that phase are under way, this arrival is one "
            "too many for it",
            related=[(due.where, f"{story.thread(due)} arrives here for phase {phase - 1}"),
                     (early.ended.where, f"phase {phase - 1} ends when this is complete"),
                     *initialised(audit, case.barrier)],
            flow=[(due.where, f"{story.thread(due)} expects the bytes of phase {phase - 1}"),
                  (arrival.where, f"{story.thread(arrival)} expects those of phase {phase}"),
                  (early.ended.where, f"phase {phase - 1} ends")],
            hint="wait before this arrival for something that follows from the end of the phase before: as a rule, for "
                 "the barrier that says that the stage is free",
        )


def _counted(data: dict[str, object], lanes: int) -> int:
    """Arrivals that one event makes; a commit makes one a thread."""
    count = data.get("count")
    return count if isinstance(count, int) else lanes.bit_count()
