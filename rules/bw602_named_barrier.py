"""BW602: id or thread count of a named barrier is not valid, or its participants do not agree."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.causes import Case, Diagnosis
from auditor.causes_arrivals import Stray
from auditor.causes_schedule import Harm
from auditor.findings import Finding, Level
from auditor.rule import Rule
from auditor.rulekit import Places, context, incident_context, line, listing, plural, thread
from auditor.rulekit_schedule import outcome, slow_warps, step
from auditor.trace import Event, Incident

IDS = 16


class NamedBarrier(Rule):
    code = "BW602"
    name = "named-barrier"
    level = Level.ERROR
    confidence = "high"
    entries = ("OT-08",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        told = False
        for incident in audit.incidents("named_barrier"):
            text, hint = self._problem(audit, incident)
            if text:
                told = True
                yield audit.finding(type(self), incident.where, text, related=incident.related, hint=hint,
                                    context=incident_context(audit, incident))
        if told or not audit.has("bar.sync", "bar.arrive"):
            return
        yield from self._shared(audit)
        for case in audit.diagnosis.cases(Diagnosis.MIXED_ROUNDS):
            yield self._mixed(audit, case)
        for case in audit.diagnosis.cases(Diagnosis.NOT_REACHED):
            if case.incident is not None and case.incident.data.get("count") is not None:
                yield self._hang(audit, case, case.incident)

    def _problem(self, audit: Audit, incident: Incident) -> tuple[str, str]:
        data, threads = incident.data, audit.trace.warps_per_cta * 32
        name = f"barrier {data['id']}"
        if data["problem"] == "id":
            return (f"{name} does not exist: a CTA has barriers 0 to {IDS - 1}, and the number wraps around to "
                    "another one",
                    "use ids below 16; id 0 is __syncthreads")
        if data["problem"] == "count":
            n = data["count"]
            if n > threads and n % 32 == 0:
                if "block" in audit.launch.chosen:
                    return "", ""  # the block may be larger than was assumed
                return (f"{name} waits for {n} threads, but the block has {data['threads']}: nobody can complete it",
                        "count the threads that take part")
            return (f"{name} has a count of {n}: it must be a positive multiple of 32, whole warps",
                    "round the count up to whole warps, all of which take part")
        if data["problem"] == "surplus":
            return (f"{data['arrived']} threads arrive at {name}, which was to wait for {data['expected']}: those "
                    "beyond belong "
                    "to nobody's round", "give the barrier the number of all threads that sync or arrive in a round")
        if data["problem"] == "twice":
            return (f"{thread(audit, incident)} arrives at {name} again before the round that it has arrived for is "
                    "over: both arrivals count for that round, which so ends without somebody else",
                    "let the other side answer before the next arrival, or use two barrier ids in turn")
        counts = [threads if n is None else n for n in (data["count"], data["other"])]
        if counts[0] == counts[1]:
            return "", ""
        told = ["the whole block" if n is None else plural(n, "thread") for n in (data["count"], data["other"])]
        return (f"{thread(audit, incident)} joins {name} with {told[0]}, others of the same round with {told[1]}",
                "give all participants of a barrier one count, and each group of threads a barrier id of its own")

    def _mixed(self, audit: Audit, case: Case) -> Finding:
        """An arrival that may count for the round before the one that it is meant for."""
        harm: Harm = case.data["harm"]
        order, story = harm.order, audit.story
        assert isinstance(order, Stray)
        early, late = order.arrival, order.due
        name = f"barrier {early.data['id']}"
        return audit.finding(
            type(self), case.where,
            f"{story.thread(early)} arrives at {name} for round {order.phase}, but nothing keeps that after the arrival"
            f" of {story.thread(late)} for round {order.phase - 1}: it can take its place; where "
            f"{slow_warps(audit, harm)}, {outcome(audit, harm)}",
            related=[(late.where, f"{story.thread(late)} arrives here for round {order.phase - 1}")],
            flow=[(early.where, f"{story.thread(early)} arrives first: {name} counts it for round {order.phase - 1}"),
                  (late.where, f"{story.thread(late)} arrives: {name} counts it for round {order.phase}"),
                  *step(audit, harm)],
            hint="let the other side answer before the next arrival, or use two barrier ids in turn",
            context=context(audit, early),
        )

    def _shared(self, audit: Audit) -> Iterator[Finding]:
        """One barrier used by two groups of threads, with nothing to keep their rounds apart."""
        rounds = [e for e in audit.trace.events if e.kind == "barrier" and e.data["expected"] is not None]
        last: dict[tuple[int, int], tuple[Event, list[Event]]] = {}
        for e in rounds:
            arrivals = [audit.event(n) for n, reason in e.preds if reason == "bar"]
            key = (e.cta, e.data["id"])
            other = last.get(key)
            last[key] = e, arrivals
            if other is None or {a.warp for a in arrivals} & {b.warp for b in other[1]} or all(
                    audit.hb.ordered(b.id, a.id) for b in other[1] for a in arrivals):
                continue
            before = other[1][0]
            yield audit.finding(
                type(self), arrivals[-1].where,
                f"barrier {e.data['id']} is used by {audit.story.thread(arrivals[-1])} with "
                f"{plural(e.data['expected'], 'thread')} and by {audit.story.thread(before)} with "
                f"{plural(other[0].data['expected'], 'thread')}, and nothing keeps the two rounds apart: arrivals of "
                "one group count for the other",
                related=[(before.where, f"{audit.story.thread(before)} uses the same barrier")],
                hint="give each group of threads a barrier id of its own",
                context=context(audit, arrivals[-1]),
            )
            return

    def _hang(self, audit: Audit, case: Case, incident: Incident) -> Finding:
        data = incident.data
        others = [i for i in case.data["all"] if i.data.get("id") != data["id"]]
        arrived = data["named"].arrived if "named" in data else data["arrived"]
        where = listing(f"{thread(audit, i)} ({line(audit, i.where)})" for i in others)
        related: Places = [(i.where, f"{thread(audit, i)} waits here") for i in others[:2]]
        return audit.finding(
            type(self), case.where,
            f"barrier {data['id']} waits for {plural(data['count'], 'thread')}, and only {arrived} ever arrive: "
            f"{thread(audit, incident)} waits forever" + (f"; elsewhere wait {where}" if where else ""),
            related=related,
            hint=f"count the threads that really come: {arrived} here, or let the missing warps arrive "
                 "(barrier.cta.arrive)",
            context=incident_context(audit, incident),
        )
