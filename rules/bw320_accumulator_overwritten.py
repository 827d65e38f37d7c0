"""BW320: an MMA writes an accumulator that is still being read."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.causes import Case
from auditor.findings import Finding, Level
from auditor.meaning import Meaning
from auditor.rule import Rule
from auditor.rulekit import context, line, meets, release_before, story_of, who


class AccumulatorOverwritten(Rule):
    code = "BW320"
    name = "accumulator-overwritten"
    level = Level.ERROR
    confidence = "high"
    entries = ("TC-31",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        if not audit.has("tcgen05.ld"):
            return
        for case in audit.diagnosis.cases(Meaning.ACCUMULATOR):
            yield self._finding(audit, case)

    def _finding(self, audit: Audit, case: Case) -> Finding:
        c = case.conflict
        assert c is not None
        load, mma, access, story = c.first, c.second, c.second_access, audit.story
        if load.kind != "tcgen05.ld":  # the run happened to start the MMA first
            load, mma, access = c.second, c.first, c.first_access
        found = release_before(audit, load, mma)
        wait, arrival = found if found is not None else (None, None)
        related = [(load.where, f"{who(audit, load)} reads the accumulator")]
        if wait is not None and arrival is not None:
            why = (f"{story.thread(load)} arrives on {story.barrier(wait.data['bar'])} at "
                   f"{line(audit, arrival.where)} before "
                   "it has read")
            related.append((arrival.where, "this arrival hands the accumulator back"))
            hint = "arrive only after the last tcgen05.ld of the accumulator and its tcgen05.wait::ld"
        else:
            last = meets(audit, mma)
            why = "no wait of the issuing thread covers that read" + (f"; {last} does not" if last else "")
            hint = ("let the epilogue arrive on an mbarrier when it has read (tcgen05.ld, tcgen05.wait::ld), counted "
                    "for every "
                    "warp or thread that reads, and wait for it before the first MMA into these columns")
        reads, writes = f"{story.who(load)} reads the accumulator", f"{story.who(mma)} overwrites it"
        return audit.finding(
            type(self), mma.where,
            f"{story.who(mma)} overwrites {story.place(access)} while {who(audit, load)} may still read them: {why}",
            related=related,
            flow=story_of(audit, c, *((reads, writes) if load is c.first else (writes, reads))),
            hint=hint, context=context(audit, mma),
        )
