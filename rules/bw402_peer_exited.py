"""BW402: an operation reaches into another CTA that may have exited."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.causes import Diagnosis
from auditor.findings import Finding, Level
from auditor.meaning import Meaning
from auditor.rule import Rule
from auditor.rulekit import Places, context
from auditor.rulekit_cluster import Touch, ancestors, touches
from auditor.source import Stack


class PeerExited(Rule):
    code = "BW402"
    name = "peer-exited"
    level = Level.ERROR
    confidence = "high"
    entries = ("OT-07", "MB-24", "TC-12")

    def check(self, audit: Audit) -> Iterator[Finding]:
        if audit.trace.ctas < 2 or not audit.trace.complete or any(audit.incidents("trap", "deadlock", "budget")):
            return
        if any(audit.incidents("cluster_barrier")):
            return  # what the cluster barrier orders is not known then: BW403
        last: dict[tuple[Stack, int, int], Touch] = {}
        for touch in touches(audit):
            if touch.event.kind != "mbar.expect_tx":  # its phase cannot complete before the arrival that follows
                last[touch.thread.where, touch.thread.cta, touch.cta] = touch
        before: dict[int, set[int]] = {}
        # A copy that is read without a wait is not waited for at the end either: BW201.
        reported = {c.conflict.first.where for c in audit.diagnosis.cases(Meaning.READ_EARLY) if c.conflict is not None}
        for case in audit.diagnosis.cases(Diagnosis.BYTES):  # its barrier does not count this copy: BW106
            reported |= {audit.event(copy).where for copy in case.data["copies"]}
        for touch in last.values():
            if touch.cta not in before:
                exits = [e for e in audit.trace.events if e.kind == "exit" and e.cta == touch.cta]
                before[touch.cta] = ancestors(audit, exits)
            if touch.done not in before[touch.cta] and touch.thread.where not in reported:
                reported.add(touch.thread.where)
                yield self._finding(audit, touch)

    def _finding(self, audit: Audit, touch: Touch) -> Finding:
        story, cta = audit.story, touch.cta
        end = max((e for e in audit.trace.events if e.kind == "exit" and e.cta == cta), key=lambda e: e.id)
        wait = next((e for e in reversed(audit.trace.events[: end.id])
                     if e.cta == cta and e.kind in ("mbar.wait", "cluster.wait", "bar.sync")), None)
        related: Places = [((audit.kernel.body_end,), f"CTA {cta} may end here before that")]
        flow: Places = [(touch.thread.where, f"{story.who(touch.event)} reaches into CTA {cta}")]
        if wait is not None:
            related.append((wait.where, f"the last thing that CTA {cta} waits for"))
            flow.insert(0, (wait.where, f"CTA {cta} waits here for the last time"))
        flow.append(((audit.kernel.body_end,), f"CTA {cta} ends without having waited for it"))
        return audit.finding(
            type(self), touch.thread.where,
            f"{story.who(touch.event)} reaches into CTA {cta}, which may have exited by then: nothing that CTA {cta} "
            "waits for "
            "before its end follows from this",
            related=related, flow=flow,
            hint="put a cluster barrier at the end of the kernel, for all CTAs, or let the other CTA wait for the "
                 "last signal "
                 "that it is sent; or do not send it",
            context=context(audit, touch.thread),
        )
