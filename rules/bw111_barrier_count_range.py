"""BW111: init count, arrival count or byte count of an mbarrier out of range."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.rule import Rule
from auditor.rulekit import incident_context, initialised, shared_name, thread

LIMIT = (1 << 20) - 1


class BarrierCountRange(Rule):
    code = "BW111"
    name = "barrier-count-range"
    level = Level.ERROR
    confidence = "high"
    entries = ("MB-02", "MB-12", "MB-13")

    def check(self, audit: Audit) -> Iterator[Finding]:
        for i in audit.incidents("init_count"):
            bar = i.data.get("bar")
            if i.data.get("arrive"):
                what, low = f"arrival count on {audit.story.barrier(bar)}", 0
            else:
                what, low = f"init count of the mbarrier at {shared_name(audit, i.data['offset'], 8)}", 1
            yield audit.finding(
                type(self), i.where,
                f"{what} is {i.data['count']:,}, set by {thread(audit, i)}: the field holds {low} to {LIMIT:,}",
                related=initialised(audit, bar), hint="pass the number of arrivals that end a phase",
                context=incident_context(audit, i, bar),
            )
        if any(audit.incidents("multi_issue")):
            return  # every lane expects: that is the finding
        for i in audit.incidents("tx_overflow"):
            bar = i.data["bar"]
            yield audit.finding(
                type(self), i.where,
                f"{i.data['detail']}: expect_tx on {audit.story.barrier(bar)} by {thread(audit, i)}",
                related=initialised(audit, bar),
                hint="expect bytes, not bits or elements; split what exceeds the limit over several phases or barriers",
                context=incident_context(audit, i, bar),
            )
