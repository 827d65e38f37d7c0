"""BW202: a copy writes shared memory that is still being read."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.causes import Case
from auditor.findings import Finding, Level
from auditor.meaning import Meaning
from auditor.rule import Rule
from auditor.rulekit import Places, context, initialised, line, meets, release_before, story_of, who
from auditor.trace import Event


class StageRefilledWhileRead(Rule):
    code = "BW202"
    name = "stage-refilled-while-read"
    level = Level.ERROR
    confidence = "high"
    entries = ("TL-24", "TC-29")

    def check(self, audit: Audit) -> Iterator[Finding]:
        for case in audit.diagnosis.cases(Meaning.REFILL):
            yield self._finding(audit, case)

    def _finding(self, audit: Audit, case: Case) -> Finding:
        assert case.conflict is not None
        read, copy = case.conflict.first, case.conflict.second
        story = audit.story
        why, hint = _why(audit, read, copy)
        verb = "is still writing" if case.conflict.first_access.write else "may still be reading"
        return audit.finding(
            type(self), case.where,
            f"{who(audit, copy)} refills {story.place(case.conflict.second_access)} while the {who(audit, read)} "
            f"{verb} it: {why}",
            related=[(read.where, f"{who(audit, read)}, which nothing orders before the copy"), *_gate(audit, copy)],
            flow=story_of(audit, case.conflict, f"{who(audit, read)} begins",
                          f"{who(audit, copy)} overwrites the same bytes"),
            hint=hint, context=context(audit, copy, _stage(copy)),
        )


def _gate(audit: Audit, copy: Event) -> Places:
    """Where the barrier that the copy waited for last is initialised: its count decides who is waited for."""
    waits = [e for e in audit.hb.acquires_before(copy, 1) if e.kind == "mbar.wait"]
    return initialised(audit, waits[0].data["bar"]) if waits else []


def _stage(copy: Event) -> int | None:
    bar = copy.data.get("bar")
    return bar if isinstance(bar, int) else None


def _why(audit: Audit, read: Event, copy: Event) -> tuple[str, str]:
    """What the issuer of the copy waited for, and why that does not cover the read."""
    story = audit.story
    if read.kind == "async":
        instr = str(read.data["instr"])
        if instr.startswith(("mma", "tcgen05")):
            return ("no tcgen05.commit that covers it lies between them",
                    "let tcgen05.commit arrive on the stage's empty barrier, and wait on that before the refill")
        if instr == "wgmma":
            return ("no wgmma.wait_group that covers it lies between them",
                    "wait for the wgmma (wgmma.wait_group) before the stage is released")
        return ("no wait_group.read that covers it lies between them",
                "wait with cp.async.bulk.wait_group.read, in the thread that committed the store, before the refill")
    found = release_before(audit, read, copy)
    if found is None:
        met = meets(audit, copy)
        return (f"{met} is no answer to that read" if met else f"{story.thread(copy)} has waited for nothing",
                "wait for an empty barrier of the stage, on which every reader arrives after its last read")
    wait, arrive = found
    name = story.barrier(wait.data["bar"])
    if arrive is not None:
        return (f"{story.thread(read)} arrives on {name} at {line(audit, arrive.where)}, before that read",
                f"arrive on {name} after the last read of the stage")
    return (f"{story.thread(copy)} waited last for phase {wait.data['phase']} of {name}, which does not depend on "
            "that read",
            f"let {story.thread(read)} arrive on the empty barrier of the stage after its last read, count it there, "
            "and wait on that barrier before the copy")
