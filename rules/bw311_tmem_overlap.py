"""BW311: two uses of the same tensor-memory columns that nothing orders."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.causes import Case
from auditor.findings import Finding, Level
from auditor.meaning import Meaning
from auditor.rule import Rule
from auditor.rulekit import context, incident_context, meets, story_of, strand_event, thread, who
from auditor.trace import Event

# Tensor cores take the operations of one thread in turn, and kernels rely on it where the next overwrites an operand:
# A, or scale factors, which the blocks of K pass through the same columns.
_AFTER_READER = (("mma", "mma"), ("mma", "tcgen05.cp"))
_COPIES = ("tcgen05.cp", "tcgen05.cp")


class TmemOverlap(Rule):
    code = "BW311"
    name = "tmem-overlap"
    level = Level.ERROR
    confidence = "high"
    entries = ("TC-24", "TC-70", "TC-27")

    def check(self, audit: Audit) -> Iterator[Finding]:
        if not audit.has("tcgen05.alloc", "tcgen05.ld", "tcgen05.st", "mma", "mma.ws", "tcgen05.cp", "tcgen05.shift"):
            return
        if any(audit.incidents("multi_issue")):
            return  # copies of one operation overlap themselves: BW312
        for i in audit.incidents("tmem_overlap"):
            (lo, hi), (first, last) = i.data["written"], i.data["read"]
            yield audit.finding(
                type(self), i.where,
                f"tcgen05.mma by {thread(audit, i)} writes its accumulator to TMEM columns {lo}-{hi - 1}, and reads "
                f"columns {first}-{last - 1} as an operand: the ranges overlap",
                hint="give accumulator, operand and scale factors columns of their own",
                context=incident_context(audit, i),
            )
        for case in audit.diagnosis.cases(Meaning.TMEM_OVERLAP):
            yield self._finding(audit, case)

    def _finding(self, audit: Audit, case: Case) -> Finding:
        c = case.conflict
        assert c is not None
        first, second, story = c.first, c.second, audit.story
        how = ["reads", "writes"]
        same = strand_event(audit, first).warp == strand_event(audit, second).warp
        a, b = c.first_access, c.second_access
        shifted = (a.lo, a.hi) != (b.lo, b.hi)
        if first.kind == "async" and second.kind == "async" and same:
            why = f"the issue order does not order a {story.what(second)} after this {story.what(first)}"
        else:
            last = meets(audit, second)
            why = "nothing orders it after" + (f", {last} does not" if last else "")
        pair = (_kind(first), _kind(second))
        in_turn = same and (pair == _COPIES or (pair in _AFTER_READER and not a.write))
        return audit.finding(
            type(self), second.where,
            f"{story.who(second)} {how[b.write]} {story.place(b)} while {who(audit, first)}, which {how[a.write]} "
            f"{story.place(a)}, may still be under way: {why}",
            level=Level.NOTE if in_turn else None,
            related=[(first.where, f"{who(audit, first)} {how[a.write]} {story.place(a)}")],
            flow=story_of(audit, c, f"{story.who(first)} {how[a.write]} {story.place(a)}",
                          f"{story.who(second)} {how[b.write]} {story.place(b)}"),
            hint=("give the two different columns: the ranges overlap in part, so an offset is too "
                  "small" if shifted else
                  "commit the first operation to an mbarrier and wait for it before the second"
                  if first.kind == "async" else
                  "end the first access with its tcgen05.wait, and let a barrier stand between the two threads"),
            context=context(audit, second),
        )


def _kind(event: Event) -> str:
    """The operation; a weight-stationary MMA is one like any other."""
    return str(event.data.get("instr", "")).removesuffix(".ws")
