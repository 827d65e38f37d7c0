"""BW606: two threads access the same shared memory with nothing to order them."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.graph import Conflict
from auditor.meaning import Meaning, same_store
from auditor.rule import Rule
from auditor.rulekit import context, meets, met_between, story_of, who
from auditor.source import Stack


class SharedDataRace(Rule):
    code = "BW606"
    name = "shared-data-race"
    level = Level.ERROR
    confidence = "high"
    entries = ("MB-25",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        if not audit.has("ld", "st", "atom"):
            return
        if any(i.data["problem"] in ("id", "count") for i in audit.incidents("named_barrier")):
            return  # a barrier that does not work orders nothing: BW602
        seen: set[frozenset[Stack]] = set()
        for case in audit.diagnosis.cases(Meaning.DATA_RACE):
            assert case.conflict is not None
            pair = frozenset((case.conflict.first.where, case.conflict.second.where))
            if pair not in seen:
                seen.add(pair)
                yield self._finding(audit, self._widest(audit, case.conflict))

    def _widest(self, audit: Audit, c: Conflict) -> Conflict:
        """Of the conflicts of two places, one between different warps if there is one: it needs the stronger remedy."""
        if c.first.warp != c.second.warp:
            return c
        pair = {c.first.where, c.second.where}
        return next((o for o in audit.hb.conflicts if {o.first.where, o.second.where} == pair
                     and o.first.warp != o.second.warp and o.first_access.space == "shared"), c)

    def _finding(self, audit: Audit, c: Conflict) -> Finding:
        story = audit.story
        early, early_access, other, other_access = c.second, c.second_access, c.first, c.first_access
        if early_access.write != other_access.write and early_access.write == self._reads_too_early(audit, c):
            early, early_access, other, other_access = other, other_access, early, early_access
        how = ["reads", "writes"]
        same = early.warp == other.warp
        last = meets(audit, early)
        why = ("lanes of one warp run on their own until a __syncwarp()" if same else
               "nothing orders the two" + (f"; {last} does not" if last else ""))
        one_store = c.first.where == c.second.where and early_access.write and other_access.write
        vague = same_store(c) or (
            same and (one_store or met_between(audit, c.first, c.second) or self._own_value(audit, c)))
        return audit.finding(
            type(self), early.where,
            f"{story.thread(early)} {how[early_access.write]} {story.place(early_access)}, which {who(audit, other)} "
            f"{how[other_access.write]} at the same time: {why}",
            level=Level.NOTE if vague else Level.WARNING if same else None,
            related=[(other.where, f"{who(audit, other)} {how[other_access.write]} the same bytes")],
            flow=story_of(audit, c, f"{story.who(c.first)} {how[c.first_access.write]} {story.place(c.first_access)}",
                          f"{story.who(c.second)} {how[c.second_access.write]} the same bytes"),
            hint=("put __syncwarp() between the two" if same else
                  "put a barrier of both between the two accesses: __syncthreads(), a named barrier, or an arrival "
                  "after the "
                  "first and its wait before the second"),
            context=context(audit, early),
        )

    def _own_value(self, audit: Audit, c: Conflict) -> bool:
        """Whether the reading lanes have themselves written these bytes at the place where the other lanes of their
        warp write them: the value is then the same, whoever came last."""
        read, access, write = (c.first, c.first_access, c.second) if c.second_access.write else (
            c.second, c.second_access, c.first)
        return not access.write and read.warp == write.warp and any(
            e.where == write.where and e.warp == read.warp and not read.lanes & ~e.lanes
            and any(a.write and a.lanes is None and a.lo <= access.lo and access.hi <= a.hi for a in e.accesses)
            for e in audit.trace.events[: read.id])

    def _reads_too_early(self, audit: Audit, c: Conflict) -> bool:
        """Of a read and a write, in whichever order the run made them: whether the reader had nothing to read yet.
        Otherwise it is the write that is early, over data that is still in use."""
        read, access = (c.first, c.first_access) if c.second_access.write else (c.second, c.second_access)
        return not any(
            a.write and a.space == "shared" and a.cta == access.cta and a.lo < access.hi and access.lo < a.hi
            and audit.hb.ordered(e.id, read.id) and e.warp != read.warp
            for e in audit.trace.events[: read.id] for a in e.accesses)
