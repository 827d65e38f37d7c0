"""BW403: arrivals and waits at the cluster barrier that do not fit together."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.causes import Case, Diagnosis
from auditor.findings import Finding, Level
from auditor.rule import Rule
from auditor.rulekit import Places, incident_context, line, listing, thread
from auditor.trace import Incident


class ClusterBarrier(Rule):
    code = "BW403"
    name = "cluster-barrier"
    level = Level.ERROR
    confidence = "high"
    entries = ("OT-06",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        if not audit.has("cluster.arrive", "cluster.wait") and not any(audit.incidents("cluster_barrier")):
            return
        found = list(audit.incidents("cluster_barrier"))
        for incident in found:
            yield self._unbalanced(audit, incident)
        if not found:
            for case in audit.diagnosis.cases(Diagnosis.CLUSTER):
                yield self._hang(audit, case)

    def _unbalanced(self, audit: Audit, incident: Incident) -> Finding:
        twice = incident.data["problem"] == "arrived twice"
        related: Places = []
        if twice:
            first = next((e for e in reversed(audit.trace.events)
                          if e.kind == "cluster.arrive" and e.warp == incident.warp
                          and e.lanes & incident.lanes and e.where != incident.where), None)
            related = [(first.where, "the arrival before, which has not been waited for")] if first is not None else []
        return audit.finding(
            type(self), incident.where,
            f"{thread(audit, incident)} " + (
                "arrives at the cluster barrier again without having waited for the first arrival" if twice else
                "waits at the cluster barrier without having arrived")
            + ": arrivals and waits of a thread have to alternate",
            related=related,
            hint="give each barrier.cluster.arrive one barrier.cluster.wait of the same threads, in this order",
            context=incident_context(audit, incident),
        )

    def _hang(self, audit: Audit, case: Case) -> Finding:
        incident = case.incident
        assert incident is not None
        others = [i for i in case.data["all"] if i.data.get("waiting") != "cluster"]
        names = {"barrier": "a CTA barrier", "lanes": "lanes of its "
                                                      "warp", "mbarrier": "an mbarrier", "tmem": "TMEM columns"}
        stuck = listing(f"{thread(audit, i)} for {names.get(i.data['waiting'], 'something else')} at "
                        f"{line(audit, i.where)}"
                        for i in others)
        return audit.finding(
            type(self), case.where,
            f"{thread(audit, incident)} waits forever at the cluster barrier: not every thread of the cluster arrives"
            + (f"; {stuck} waits elsewhere" if stuck else ""),
            related=[(i.where, f"{thread(audit, i)} is stuck here and does not arrive") for i in others[:2]],
            hint="let all threads of all CTAs arrive (those that have exited count as arrived), outside of role "
                 "branches",
            context=incident_context(audit, incident),
        )
