"""BW207: a bulk group wait by a thread that has no groups."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.causes import Case, Diagnosis
from auditor.findings import Finding, Level
from auditor.rule import Rule
from auditor.rulekit import incident_context, thread, who
from auditor.source import Stack
from auditor.trace import Event, Incident

STORES = ("bulk.store", "tma.store", "bulk.reduce", "tma.reduce")


class GroupOfOtherThread(Rule):
    code = "BW207"
    name = "group-of-other-thread"
    level = Level.ERROR
    confidence = "high"
    entries = ("TS-02", "TS-06")

    def check(self, audit: Audit) -> Iterator[Finding]:
        idle = {w[0]: w for w in audit.trace.idle_waits if w[1] == "bulk"}
        if not idle:
            return
        for case in audit.diagnosis.cases(Diagnosis.GROUP_THREAD):
            assert case.conflict is not None
            _, _, warp, lanes = idle[case.where]
            cta = warp // audit.trace.warps_per_cta
            yield self._finding(audit, Incident("", case.where, None, cta, warp, lanes), case.conflict.first, case)
        for i in audit.incidents("empty_group_wait"):
            stores = [e for e in audit.trace.events
                      if e.kind == "async" and e.data["instr"] in STORES and e.cta == i.cta]
            if i.data["kind"] == "bulk" and stores:
                yield self._finding(audit, i, stores[-1], None)

    def _finding(self, audit: Audit, i: Incident, store: Event, case: Case | None) -> Finding:
        role, owner = thread(audit, i), audit.story.thread(store)
        message = (f"bulk wait_group by {role} waits for nothing: the {audit.story.what(store)} is in a group of "
                   f"{owner}, and a group belongs to the thread that commits it")
        related: list[tuple[Stack, str]] = [(store.where, f"{audit.story.who(store)}, in a group of that thread")]
        if case is not None and case.conflict is not None:
            write = case.conflict.second
            message += f"; {who(audit, write)} then rewrites its source"
            related.append((write.where, f"{audit.story.who(write)} rewrites the source"))
        return audit.finding(
            type(self), i.where, message, related=related,
            flow=[related[0], (i.where, f"{role}, which has no group, does not wait"), *related[1:]],
            hint=f"let {owner} wait, then tell the others with a barrier", context=incident_context(audit, i),
        )
