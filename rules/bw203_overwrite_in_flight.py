"""BW203: threads write shared memory that a copy or an MMA in flight still uses."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.causes import Case
from auditor.findings import Finding, Level
from auditor.meaning import Meaning
from auditor.rule import Rule
from auditor.rulekit import context, initialised, story_of, who


class OverwriteInFlight(Rule):
    code = "BW203"
    name = "overwrite-in-flight"
    level = Level.ERROR
    confidence = "high"
    entries = ("TL-24", "TC-29")

    def check(self, audit: Audit) -> Iterator[Finding]:
        for case in audit.diagnosis.cases(Meaning.OVERWRITE):
            yield self._finding(audit, case)

    def _finding(self, audit: Audit, case: Case) -> Finding:
        assert case.conflict is not None
        op, write = case.conflict.first, case.conflict.second
        story = audit.story
        bar = op.data.get("bar")
        instr = str(op.data.get("instr"))
        stage = bar if isinstance(bar, int) else None
        if stage is not None:
            until, hint = f"no wait on {story.barrier(bar)}", f"wait on {story.barrier(bar)} before this write"
        elif instr.startswith(("mma", "tcgen05")):
            until = "no commit and wait that cover it"
            hint = "wait on the barrier of a tcgen05.commit behind the MMA before its operands are overwritten"
        elif instr == "wgmma":
            until = "no wgmma.wait_group that covers it"
            hint = "run wgmma.wait_group before the operands are overwritten, and a barrier when other warps write them"
        else:
            until = "no wait for its group"
            hint = "wait for its group, and put a barrier behind the wait when other threads write the bytes"
        use = "writes" if case.conflict.first_access.write else "still reads"
        return audit.finding(
            type(self), case.where,
            f"{who(audit, write)} writes {story.place(case.conflict.second_access)} while the {who(audit, op)} {use} "
            f"it: {until} lies between them",
            related=[(op.where, f"{who(audit, op)} is in flight"), *initialised(audit, stage)],
            flow=story_of(audit, case.conflict, f"{story.who(op)} starts", f"{story.who(write)} writes the same bytes"),
            hint=hint, context=context(audit, write, stage),
        )
