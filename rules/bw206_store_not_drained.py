"""BW206: the kernel ends while a bulk store may still read shared memory."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from auditor.audit import Audit
from auditor.findings import Finding, Fix, Level
from auditor.repair.insert import insert_behind_loops
from auditor.rule import Rule
from auditor.rulekit import incident_context, thread


class StoreNotDrained(Rule):
    code = "BW206"
    name = "store-not-drained"
    level = Level.WARNING
    confidence = "high"
    entries = ("TS-05",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        left = [i for i in audit.incidents("undrained") if i.data["committed"]]
        if not left or any(i.data["kind"] == "bulk" for i in audit.incidents("empty_group_wait")):
            return  # a wait by the wrong thread is BW207
        several = {i.where for i in audit.incidents("multi_issue")}
        for i in left:
            if i.where in several:
                continue
            assert i.event is not None
            what, role = audit.story.what(audit.event(i.event)), thread(audit, i)
            yield audit.finding(
                type(self), i.where,
                f"{role} ends with its {what} in flight: shared memory may go to the next block before the store has "
                "read it",
                related=[((audit.kernel.body_end,), f"{role} ends without a wait for the last groups")]
                if audit.kernel.body_end.line else [],
                hint=f"let {role} run cp.async.bulk.wait_group.read 0 before it ends",
                context=incident_context(audit, i),
                repair=partial(_repairs, audit, i.event),
            )


def _repairs(audit: Audit, store: int) -> tuple[Fix, ...]:
    """Wait behind the last commit of the store's group."""
    commits = [e for e in audit.trace.events if e.kind == "bulk.commit" and store in e.data["ops"]]
    where = commits[0].where if commits else ()
    return insert_behind_loops(audit, where, "cp.async.bulk.wait_group.read 0")
