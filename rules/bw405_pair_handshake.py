"""BW405: tensor memory of a CTA pair is allocated or freed without the pair's synchronisation."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.rule import Rule
from auditor.rulekit import context, plural, strand_event, who
from auditor.rulekit_cluster import Known, ancestors
from auditor.source import Stack
from auditor.trace import Event

TENSOR = ("mma", "mma.ws", "tcgen05.cp", "tcgen05.shift")


class PairHandshake(Rule):
    code = "BW405"
    name = "pair-handshake"
    level = Level.ERROR
    confidence = "high"
    entries = ("TC-10", "TC-12")

    def check(self, audit: Audit) -> Iterator[Finding]:
        if not audit.has("tcgen05.alloc"):
            return
        allocs = [e for e in audit.trace.events if e.kind == "tcgen05.alloc" and e.data["group"] == 2]
        if not allocs:
            return
        launch = audit.launch
        told = launch.where is not None or audit.kernel.cluster_dims is not None
        if launch.cluster_size % 2:
            if told:
                yield self._no_pair(audit, allocs[0], launch.cluster_size)
            return
        known = Known(audit)
        reported: set[Stack] = set()
        for e in allocs:
            if e.cta ^ 1 < audit.trace.ctas and not known.at(e, e.cta ^ 1) and e.where not in reported:
                reported.add(e.where)
                yield self._early(audit, e)
        if audit.trace.complete and not any(audit.incidents("trap")):
            yield from self._frees(audit, reported)

    def _frees(self, audit: Audit, reported: set[Stack]) -> Iterator[Finding]:
        uses = self._last_uses(audit)
        for free in audit.trace.events:
            if free.kind != "tcgen05.dealloc" or free.data["group"] != 2 or free.where in reported:
                continue
            before: set[int] | None = None
            for use in uses.get(free.cta ^ 1, ()):
                before = ancestors(audit, [free]) if before is None else before
                if use.id not in before:
                    reported.add(free.where)
                    yield self._unmet(audit, free, use)
                    break

    def _last_uses(self, audit: Audit) -> dict[int, list[Event]]:
        """The last operation on tensor memory of each strand, by CTA."""
        last: dict[tuple[int, int], Event] = {}
        for e in audit.trace.events:
            if e.kind in ("tcgen05.ld", "tcgen05.st") or (e.kind == "async" and e.data["instr"] in TENSOR):
                own = strand_event(audit, e)
                last[own.cta, own.strand] = e
        found: dict[int, list[Event]] = {}
        for (cta, _), e in last.items():
            found.setdefault(cta, []).append(e)
        return found

    def _no_pair(self, audit: Audit, alloc: Event, size: int) -> Finding:
        return audit.finding(
            type(self), alloc.where,
            f"tcgen05.alloc with cta_group::2, but the kernel runs in clusters of {plural(size, 'CTA')}: there is no "
            "CTA pair",
            hint="launch with an even cluster, __cluster_dims__(2, 1, 1) for example, or use cta_group::1",
            context=context(audit, alloc),
        )

    def _early(self, audit: Audit, alloc: Event) -> Finding:
        story = audit.story
        return audit.finding(
            type(self), alloc.where,
            f"{story.who(alloc)} allocates for the CTA pair, and nothing shows that CTA {alloc.cta ^ 1} has started: "
            "both CTAs "
            "take part in the allocation",
            related=[((audit.kernel.loc,), f"CTA {alloc.cta ^ 1} may start later than the alloc")],
            hint="put a cluster barrier (barrier.cluster.arrive, barrier.cluster.wait) before tcgen05.alloc with "
                 "cta_group::2",
            context=context(audit, alloc),
        )

    def _unmet(self, audit: Audit, free: Event, use: Event) -> Finding:
        story = audit.story
        return audit.finding(
            type(self), free.where,
            f"{story.who(free)} frees columns of the CTA pair, and nothing orders it after {who(audit, use)}, which "
            "still uses "
            "them",
            related=[(use.where, f"{who(audit, use)}: the last use in the other CTA")],
            flow=[(use.where, f"{story.who(use)} uses the pair's columns"),
                  (free.where, f"{story.who(free)}; no cluster barrier or arrival of the other CTA lies between")],
            hint="let both CTAs meet at a cluster barrier (or arrive on an mbarrier of each other) after their last "
                 "use and "
                 "before tcgen05.dealloc",
            context=context(audit, free),
        )
