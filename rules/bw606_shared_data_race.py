"""BW606: two threads access the same shared memory with nothing to order them."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.causes import Case
from auditor.findings import Finding, Level
from auditor.meaning import Meaning
from auditor.rule import Rule
from auditor.rulekit import context, meets, story_of, who


class SharedDataRace(Rule):
    code = "BW606"
    name = "shared-data-race"
    level = Level.ERROR
    confidence = "high"
    entries = ("MB-25",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        if not audit.has("ld", "st", "atom"):
            return
        for case in audit.diagnosis.cases(Meaning.DATA_RACE):
            yield self._finding(audit, case)

    def _finding(self, audit: Audit, case: Case) -> Finding:
        c, story = case.conflict, audit.story
        assert c is not None
        first, second = c.first, c.second
        how = ["reads", "writes"]
        same = first.warp == second.warp
        last = meets(audit, second)
        why = ("lanes of one warp run on their own until a __syncwarp()" if same else
               "nothing orders the two" + (f"; {last} does not" if last else ""))
        return audit.finding(
            type(self), second.where,
            f"{story.thread(second)} {how[c.second_access.write]} {story.place(c.second_access)}, which {who(audit, first)} "
            f"{how[c.first_access.write]} at the same time: {why}",
            related=[(first.where, f"{who(audit, first)} {how[c.first_access.write]} the same bytes")],
            flow=story_of(audit, c, f"{story.who(first)} {how[c.first_access.write]} {story.place(c.first_access)}",
                          f"{story.who(second)} {how[c.second_access.write]} the same bytes"),
            hint=("put __syncwarp() between the two" if same else
                  "put a barrier of both between the two accesses: __syncthreads(), a named barrier, or an arrival after the "
                  "first and its wait before the second"),
            context=context(audit, second),
        )
