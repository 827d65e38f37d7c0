"""BW208: a bulk store that is never committed to a group."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.repair.insert import insert_behind
from auditor.rule import Rule
from auditor.rulekit import incident_context, line, thread
from auditor.source import Stack
from auditor.trace import Incident


class StoreNotCommitted(Rule):
    code = "BW208"
    name = "store-not-committed"
    level = Level.ERROR
    confidence = "high"
    entries = ("TS-02",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        seen: set[Stack] = set()
        for i in audit.incidents("uncommitted"):
            if i.data["kind"] != "bulk":
                continue
            for number in i.data["ops"]:
                where = audit.event(number).where
                if where not in seen:
                    seen.add(where)
                    yield self._finding(audit, i, number, f"the wait at {line(audit, i.where)} does not cover it",
                                        [(i.where, "this wait covers committed groups only")])
        for i in audit.incidents("undrained"):
            if not i.data["committed"] and i.event is not None and i.where not in seen:
                seen.add(i.where)
                yield self._finding(audit, i, i.event, "no wait can cover it", [])

    def _finding(self, audit: Audit, i: Incident, number: int, harm: str, related: list[tuple[Stack, str]]) -> Finding:
        store = audit.event(number)
        role = thread(audit, i)
        for e in audit.trace.events[number:]:
            if e.kind == "bulk.commit" and e.cta == store.cta and not e.data["ops"]:
                related = [*related, (e.where, f"{audit.story.thread(e)} commits an empty group here")]
                break
        return audit.finding(
            type(self), store.where,
            f"{audit.story.what(store)} by {role} is not committed to a group by that thread: {harm}",
            related=related,
            flow=[(store.where, f"{role} issues the store"), *related],
            hint=f"let {role} run cp.async.bulk.commit_group after the store and before its wait",
            context=incident_context(audit, i),
            repair=lambda: insert_behind(audit, store.where, "cp.async.bulk.commit_group"),
        )
