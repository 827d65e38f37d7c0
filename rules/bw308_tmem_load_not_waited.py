"""BW308: tensor memory is given away while a tcgen05.ld may still read it."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.causes import Case
from auditor.findings import Finding, Level
from auditor.meaning import Meaning
from auditor.repair.insert import insert_between
from auditor.rule import Rule
from auditor.rulekit import context, release_or, story_of, who

# By whether the loaded values were used before the columns were given away; None where that is not known.
EFFECT = {True: ": its values were used before, which only their registers protect",
          False: ", so the load may still read them then",
          None: "; whether its values were used before is not known"}


class TmemLoadNotWaited(Rule):
    code = "BW308"
    name = "tmem-load-not-waited"
    level = Level.ERROR
    confidence = "high"
    entries = ("TC-26",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        if not audit.has("tcgen05.ld"):
            return
        for case in audit.diagnosis.cases(Meaning.LOAD_PENDING):
            yield self._finding(audit, case)

    def _finding(self, audit: Audit, case: Case) -> Finding:
        c = case.conflict
        assert c is not None
        load, other, story = c.first, c.second, audit.story
        state = c.first_access.consumed if len(load.accesses) == 1 else load.accesses[0].consumed
        frees = other.kind == "tcgen05.dealloc"
        does = "frees" if frees else "overwrites"
        return audit.finding(
            type(self), load.where,
            f"{story.who(load)} of {story.place(c.first_access)} has no tcgen05.wait::ld before {who(audit, other)} "
            f"{does} "
            f"the columns{EFFECT[state]}",
            level=None if state is False else Level.NOTE,
            related=[(other.where, f"{who(audit, other)} {does} the columns")],
            flow=story_of(audit, c, f"{story.who(load)} starts; it is asynchronous until tcgen05.wait::ld",
                          f"{story.who(other)} {does} the columns"),
            hint="put tcgen05.wait::ld.sync.aligned behind the last load, before the " + (
                "dealloc" if frees and other.warp == load.warp else "arrival or barrier that lets others go on"
                if other.warp != load.warp else "columns are written again"),
            context=context(audit, load),
            repair=lambda: insert_between(
                audit, load.where, release_or(audit, load, other), "tcgen05.wait::ld.sync.aligned"),
        )
