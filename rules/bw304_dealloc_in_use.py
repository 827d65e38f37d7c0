"""BW304: tensor memory is freed while threads or asynchronous operations may still use it."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.causes import Case
from auditor.findings import Finding, Level
from auditor.meaning import Meaning
from auditor.rule import Rule
from auditor.rulekit import context, meets, story_of, strand_event, who
from auditor.rulekit_cluster import RELAXED, relaxed_barrier_between


class DeallocInUse(Rule):
    code = "BW304"
    name = "dealloc-in-use"
    level = Level.ERROR
    confidence = "high"
    entries = ("TC-09",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        if not audit.has("tcgen05.dealloc"):
            return
        for case in audit.diagnosis.cases(Meaning.DEALLOC):
            c = case.conflict
            assert c is not None
            if "tcgen05.dealloc" not in (c.first.kind, c.second.kind):
                continue
            if strand_event(audit, c.first).cta == strand_event(audit, c.second).cta:
                yield self._finding(audit, case)  # otherwise it is the pair's handshake, BW405

    def _finding(self, audit: Audit, case: Case) -> Finding:
        c = case.conflict
        assert c is not None
        free, use, access = (c.second, c.first, c.first_access)
        if c.second.kind != "tcgen05.dealloc":
            free, use, access = c.first, c.second, c.second_access
        story = audit.story
        if use.kind == "async":
            need = f"a wait for the tcgen05.commit that covers the {story.what(use)}"
            hint = "wait for the commit of the last MMA before the columns are freed"
        else:
            need = f"a barrier between the last access of {story.thread(use)} and the dealloc"
            hint = ("let every warp that uses tensor memory finish its loads (tcgen05.wait::ld) and meet the freeing "
                    "warp at a "
                    "CTA barrier, or arrive on an mbarrier that it waits on, before the dealloc")
        after = meets(audit, free)
        apart = relaxed_barrier_between(audit, c.first, c.second)
        why = f" ({RELAXED})" if apart else f" ({after} does not cover it)" if after else ""
        return audit.finding(
            type(self), free.where,
            f"{story.who(free)} frees {story.place(access)} while {who(audit, use)} may still use them: "
            f"what is missing is {need}{why}",
            level=Level.NOTE if apart else None,
            related=[(use.where, f"{who(audit, use)} uses these columns")],
            flow=story_of(audit, c, *(
                (f"{story.who(use)} uses {story.place(access)}", f"{story.who(free)} frees the columns; nothing "
                                                                 "orders it "
                 "after that use") if use is c.first else
                (f"{story.who(free)} frees the columns", f"{story.who(use)} still uses {story.place(access)}"))),
            hint=hint, context=context(audit, free),
        )
