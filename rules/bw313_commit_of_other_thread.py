"""BW313: a commit by a thread that has issued nothing for it to cover."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.rule import Rule
from auditor.rulekit import Places, context, plural, strand_event
from auditor.trace import Incident

ISSUED = ("mma", "mma.ws", "tcgen05.cp", "tcgen05.shift")


class CommitOfOtherThread(Rule):
    code = "BW313"
    name = "commit-of-other-thread"
    level = Level.ERROR
    confidence = "high"
    entries = ("TC-21",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        if not audit.has("commit") or not audit.has(*ISSUED):
            return  # without any MMA a commit is a plain arrival
        several = {i.where for i in audit.incidents("multi_issue")}
        for incident in audit.incidents("empty_commit"):
            if incident.where not in several:
                yield self._finding(audit, incident)

    def _finding(self, audit: Audit, incident: Incident) -> Finding:
        assert incident.event is not None
        commit, story = audit.event(incident.event), audit.story
        issued = next((e for e in reversed(audit.trace.events[: commit.id])
                       if e.kind == "async" and e.data["instr"] in ISSUED and e.cta == commit.cta), None)
        others = incident.data["others"]
        bar = commit.data["bar"][0] if commit.data["bar"] else None
        related: Places = []
        flow: Places = []
        issuer = "another thread"
        if issued is not None:
            issuer = story.thread(strand_event(audit, issued))
            related = [(issued.where, f"{story.who(issued)} is what it should cover")]
            flow = [(issued.where, f"{issuer} issues the {story.what(issued)}"),
                    (commit.where, f"{story.thread(commit)} commits; it has nothing in flight, so "
                                   f"{story.barrier(bar)} gets its "
                                   "arrival at once")]
        text = (f"covers nothing: {plural(others, 'operation')} in flight were issued by {issuer}, and a commit only "
                "tracks what "
                "its own thread issued" if others else
                "covers nothing: its thread has issued no tcgen05 operation before it")
        return audit.finding(
            type(self), incident.where,
            f"tcgen05.commit to {story.barrier(bar)} by {story.thread(commit)} {text}",
            level=None if others else Level.WARNING, related=related, flow=flow,
            hint="commit from the thread that issues the MMAs: one elected lane for both, with the same mask",
            context=context(audit, commit, bar),
        )
