"""BW605: one lane releases a buffer that other lanes of its warp may still use."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.causes import Case
from auditor.findings import Finding, Level
from auditor.meaning import Meaning
from auditor.repair.insert import insert_between
from auditor.rule import Rule
from auditor.rulekit import arrivals_on, context, last_wait, met_between, story_of, strand_event, who
from auditor.source import Stack
from auditor.trace import Event


class MissingSyncwarp(Rule):
    code = "BW605"
    name = "missing-syncwarp"
    level = Level.ERROR
    confidence = "high"
    entries = ("EX-12",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        if not audit.has("ld", "st"):
            return
        seen: set[Stack] = set()
        for case in audit.diagnosis.cases(Meaning.NO_SYNCWARP):
            finding = self._finding(audit, case)
            if (finding.loc,) not in seen:
                seen.add((finding.loc,))
                yield finding

    def _finding(self, audit: Audit, case: Case) -> Finding:
        c, story = case.conflict, audit.story
        assert c is not None
        use, other = strand_event(audit, c.first), c.second
        release = self._release(audit, use, other)
        where = release.where if release is not None else case.where
        does = "writes" if c.first_access.write else "reads"
        by = story.thread(release) if release is not None else "one lane"
        vague = release is None or met_between(audit, use, release)
        return audit.finding(
            type(self), where,
            f"{by} lets {story.who(other)} go on, but {c.lanes.bit_count()} other lanes of the warp may still be at "
            "their "
            f"{story.what(use)} of {story.place(c.first_access)}: nothing makes that lane wait for them",
            level=Level.NOTE if vague else None,
            related=[(use.where, f"all lanes of the warp {does[:-1]} here"),
                     (other.where, f"{who(audit, other)} touches the same bytes")],
            flow=story_of(audit, c, f"{story.who(use)} {does} {story.place(c.first_access)}, each lane for itself",
                          f"{story.who(other)} goes on to the same bytes"),
            hint="put __syncwarp() between the warp's last access and the arrival (or issue) of the one lane; or let "
                 "every lane "
                 "arrive, with a count of 32 a warp",
            context=context(audit, release or use),
            repair=lambda: insert_between(audit, use.where, where, "__syncwarp"),
        )

    def _release(self, audit: Audit, use: Event, other: Event) -> Event | None:
        """The arrival of one lane of the warp that let the other side go on."""
        wait = last_wait(audit, other)
        if wait is not None:
            for e in arrivals_on(audit, wait.data["bar"]):
                phase = e.data.get("phase", wait.data["phase"])
                if e.warp == use.warp and e.id > use.id and phase == wait.data["phase"]:
                    return e
        issue = strand_event(audit, other)
        return issue if issue.warp == use.warp else None
