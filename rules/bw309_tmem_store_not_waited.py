"""BW309: the data of a tcgen05.st is used before the store has completed."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.causes import Case
from auditor.findings import Finding, Level
from auditor.meaning import Meaning
from auditor.repair.insert import insert_between
from auditor.rule import Rule
from auditor.rulekit import context, release_or, story_of, who


class TmemStoreNotWaited(Rule):
    code = "BW309"
    name = "tmem-store-not-waited"
    level = Level.ERROR
    confidence = "high"
    entries = ("TC-25",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        if not audit.has("tcgen05.st"):
            return
        for case in audit.diagnosis.cases(Meaning.STORE_PENDING):
            yield self._finding(audit, case)

    def _finding(self, audit: Audit, case: Case) -> Finding:
        c = case.conflict
        assert c is not None
        store, other, story = c.first, c.second, audit.story
        does = ("frees" if other.kind == "tcgen05.dealloc" else "overwrites" if c.second_access.write else "reads")
        return audit.finding(
            type(self), store.where,
            f"{story.who(store)} to {story.place(c.first_access)} has no tcgen05.wait::st before {who(audit, other)} "
            f"{does} "
            "the columns: barriers and program order do not wait for it",
            related=[(other.where, f"{who(audit, other)} {does} the columns")],
            flow=story_of(audit, c, f"{story.who(store)} starts; it is asynchronous until tcgen05.wait::st",
                          f"{story.who(other)} {does} the columns"),
            hint="put tcgen05.wait::st.sync.aligned behind the last store" + (
                ", before the arrival or barrier that lets the other thread go on" if other.warp != store.warp else
                f", before the {story.what(other)}"),
            context=context(audit, store),
            repair=lambda: insert_between(
                audit, store.where, release_or(audit, store, other), "tcgen05.wait::st.sync.aligned"),
        )
