"""BW310: an accumulator is read before the MMA that writes it is known to be complete."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.causes import Case
from auditor.findings import Finding, Level
from auditor.meaning import Meaning
from auditor.rule import Rule
from auditor.rulekit import Places, context, last_wait, line, meets, story_of
from auditor.trace import Event


class MmaWithoutCommit(Rule):
    code = "BW310"
    name = "mma-without-commit"
    level = Level.ERROR
    confidence = "high"
    entries = ("TC-22",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        if not audit.has("mma", "mma.ws", "tcgen05.cp", "tcgen05.shift"):
            return
        for case in audit.diagnosis.cases(Meaning.MMA_RESULT):
            yield self._finding(audit, case)

    def _finding(self, audit: Audit, case: Case) -> Finding:
        c = case.conflict
        assert c is not None
        mma, read, access, story = c.first, c.second, c.second_access, audit.story
        if read.kind != "tcgen05.ld":  # the run happened to load first
            mma, read, access = c.second, c.first, c.first_access
        commit = _commit_of(audit, mma)
        related: Places = [(mma.where, f"{story.who(mma)} writes these columns")]
        if commit is None:
            why, hint = f"no tcgen05.commit covers that {story.what(mma)}", (
                "commit the MMAs to an mbarrier from the thread that issued them, and wait for it before the load")
        else:
            bars = commit.data["bar"]
            name = story.barrier(bars[0]) if bars else "its mbarrier"
            related.append((commit.where, f"this commit to {name} covers it"))
            wait = last_wait(audit, read)
            if wait is not None and wait.data["bar"] in bars:
                at = line(audit, wait.where)
                why = f"its wait on {name} at {at} is for an earlier phase than the commit completes"
            else:
                last = meets(audit, read)
                why = f"no wait of {story.thread(read)} covers the commit to {name}"
                why += f"; {last} does not" if last else ""
            hint = f"wait for the phase of {name} that the commit completes before the first load of the result"
        starts = f"{story.who(mma)} starts; only a commit and a wait show that it is done"
        reads = f"{story.who(read)} reads the result"
        return audit.finding(
            type(self), read.where,
            f"{story.who(read)} reads {story.place(access)} before the {story.what(mma)} that writes them is known to "
            f"be complete: {why}",
            related=related,
            flow=story_of(audit, c, *((starts, reads) if mma is c.first else (reads, starts))),
            hint=hint, context=context(audit, read),
        )


def _commit_of(audit: Audit, op: Event) -> Event | None:
    return next((e for e in audit.trace.events[op.id:] if e.kind == "commit" and op.id in e.data["ops"]), None)
