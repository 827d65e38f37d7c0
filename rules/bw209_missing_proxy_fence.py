"""BW209: generic writes reach the async proxy with no proxy fence on the path."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.causes import Case
from auditor.findings import Finding, Level
from auditor.meaning import Meaning
from auditor.repair.insert import insert_between
from auditor.rule import Rule
from auditor.rulekit import context, line, release_or, story_of, strand_event, who
from auditor.trace import Event


class MissingProxyFence(Rule):
    code = "BW209"
    name = "missing-proxy-fence"
    level = Level.ERROR
    confidence = "high"
    entries = ("TS-01", "TC-28", "TL-27")

    def check(self, audit: Audit) -> Iterator[Finding]:
        if not audit.has("async"):
            return
        for case in audit.diagnosis.cases(Meaning.PROXY):
            yield self._finding(audit, case)
        for c in audit.hb.late_fences:
            if c.first_access.space != "shared":
                continue
            yield audit.finding(
                type(self), c.second.where,
                f"{who(audit, c.second)} uses bytes written by the {audit.story.who(c.first)}, and only the issuing "
                "side executes the proxy fence: the guide asks for one by every writer, before the barrier",
                level=Level.NOTE,
                related=[(c.first.where, f"{audit.story.who(c.first)}, with no fence before its release")],
                hint="let the writers run fence.proxy.async.shared::cta after their writes and before the barrier",
                context=context(audit, c.second),
            )

    def _finding(self, audit: Audit, case: Case) -> Finding:
        assert case.conflict is not None
        write, use = case.conflict.first, case.conflict.second
        access = case.conflict.second_access
        story = audit.story
        space = "global" if access.space == "global" else "shared::cta"
        late = _late_fence(audit, write, use)
        why = "no proxy fence lies on the way"
        related = [(write.where, f"{who(audit, write)} writes through the generic proxy")]
        if late is not None:
            why = f"{story.thread(late)} executes its proxy fence too late, at {line(audit, late.where)}"
            related.append((late.where, "this fence does not lie between the write and the release"))
        verb = "overwrites" if access.write else "reads"
        return audit.finding(
            type(self), case.where,
            f"{who(audit, use)} {verb} {story.place(access)} through the async proxy, but {who(audit, write)} wrote "
            f"it through the generic proxy: {why}",
            related=related,
            flow=story_of(audit, case.conflict, f"{story.who(write)} writes (generic proxy)",
                          f"{story.who(use)} may see the old bytes (async proxy)"),
            hint=f"let every writing thread run fence.proxy.async.{space} after its writes and before the barrier that "
                 "lets the operation start",
            context=context(audit, use),
            repair=lambda: insert_between(
                audit, write.where, release_or(audit, write, use), f"fence.proxy.async.{space}"),
        )


def _late_fence(audit: Audit, write: Event, use: Event) -> Event | None:
    """A proxy fence of the writer that comes after its write, but after its release too."""
    own, issue = strand_event(audit, write), strand_event(audit, use)
    release = next((e for e in audit.hb.releases_after(own, 1)), None)
    for e in audit.trace.events[own.id:]:
        if e.kind != "fence.proxy" or e.warp != own.warp or not e.lanes & own.lanes:
            continue
        if e.data["which"].startswith("async"):
            after = release is not None and e.id > release.id
            return e if after and (e.id < issue.id or e.warp != issue.warp) else None
    return None
