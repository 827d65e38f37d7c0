"""BW210: a stage is released with generic reads in flight, and refilled without a proxy fence."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.causes import Case
from auditor.findings import Finding, Level
from auditor.meaning import Meaning
from auditor.repair.insert import insert_between
from auditor.rule import Rule
from auditor.rulekit import context, line, release_or, story_of, who


class WarProxyFence(Rule):
    code = "BW210"
    name = "war-proxy-fence"
    level = Level.WARNING
    confidence = "medium"
    entries = ("TL-26",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        if not audit.has("async"):
            return
        for case in audit.diagnosis.cases(Meaning.PROXY_WAR):
            yield self._finding(audit, case)

    def _finding(self, audit: Audit, case: Case) -> Finding:
        assert case.conflict is not None
        read, copy = case.conflict.first, case.conflict.second
        story = audit.story
        used = case.conflict.first_access.consumed is True
        releases = audit.hb.releases_after(read, 1)
        at = f" at {line(audit, releases[0].where)}" if releases else ""
        related = [(copy.where, f"{who(audit, copy)} refills the bytes through the async proxy")]
        related += [(e.where, f"{story.thread(e)} lets the refill go ahead here") for e in releases]
        if used:
            message = (f"{who(audit, read)} reads {story.place(case.conflict.first_access)}, which the "
                       f"{story.what(copy)} at {line(audit, copy.where)} refills, with no proxy fence between; the "
                       "values are used before the release, which is enough in practice")
        else:
            message = (f"{who(audit, read)} reads {story.place(case.conflict.first_access)} and may still be in "
                       f"flight at the release{at}, because its values are used later; the {story.what(copy)} at "
                       f"{line(audit, copy.where)} refills the bytes and no proxy fence orders it after the read")
        return audit.finding(
            type(self), read.where, message, level=Level.NOTE if used else None, related=related,
            flow=story_of(audit, case.conflict, f"{story.who(read)} is issued",
                          f"{story.who(copy)} overwrites the bytes"),
            hint="run fence.proxy.async.shared::cta between the last read and the release, or use the loaded values "
                 "before the release",
            context=context(audit, read),
            repair=lambda: insert_between(
                audit, read.where, release_or(audit, read, copy), "fence.proxy.async.shared::cta"),
        )
