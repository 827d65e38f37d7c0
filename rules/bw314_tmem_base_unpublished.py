"""BW314: the base address of an allocation is read with nothing that orders the read after the alloc."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.causes import Case
from auditor.findings import Finding, Level
from auditor.meaning import Meaning
from auditor.repair.insert import insert_between
from auditor.rule import Rule
from auditor.rulekit import context, meets, story_of
from auditor.rulekit_cluster import RELAXED, relaxed_barrier_between


class TmemBaseUnpublished(Rule):
    code = "BW314"
    name = "tmem-base-unpublished"
    level = Level.ERROR
    confidence = "high"
    entries = ("TC-07",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        if not audit.has("tcgen05.alloc"):
            return
        cases = list(audit.diagnosis.cases(Meaning.ALLOC_UNPUBLISHED))
        reads = [c for c in cases if c.conflict is not None and c.conflict.first_access.space == "shared"]
        for case in reads or cases[:1]:
            yield self._finding(audit, case)

    def _finding(self, audit: Audit, case: Case) -> Finding:
        c = case.conflict
        assert c is not None
        alloc, use, access = c.first, c.second, c.second_access
        if c.second.kind == "tcgen05.alloc":
            alloc, use, access = c.second, c.first, c.first_access
        story = audit.story
        what = (f"reads the TMEM base address from {story.place(access)}" if access.space == "shared"
                else f"uses {story.place(access)}")
        last = meets(audit, use)
        apart = relaxed_barrier_between(audit, c.first, c.second)
        why = f" ({RELAXED})" if apart else f" ({last} does not)" if last else ""
        first, second = f"{story.who(alloc)} writes the base address", f"{story.thread(use)} {what}"
        return audit.finding(
            type(self), use.where,
            f"{story.thread(use)} {what}, and nothing orders it after the tcgen05.alloc by {story.thread(alloc)}{why}",
            level=Level.NOTE if apart else None,
            related=[(alloc.where, "allocated here; the address is written like an ordinary store")],
            flow=story_of(audit, c, *((first, second) if alloc is c.first else (second, first))),
            hint="put __syncthreads() (or another barrier of these warps) between the alloc and the first read of "
                 "the address",
            context=context(audit, use),
            repair=lambda: insert_between(audit, alloc.where, use.where, "__syncthreads"),
        )
