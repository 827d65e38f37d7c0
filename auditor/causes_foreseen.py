"""Counterfactual runs of which it is certain, before they are made, that they do not mend anything.

A run costs as much as the first one; what the first one shows is often enough to tell how another would end. A barrier
that waits for more arrivals a phase than it did completes fewer phases with the arrivals that there are, and a thread
that needs more of them hangs. A run whose waits observe no later phase than they did orders nothing that was not
ordered before. This holds where threads do the same in both runs, up to where they hang: that of a run that came to its
end, without answers of polls that decide what follows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from auditor.machine.hypothesis import Hypothesis
from auditor.machine.mbarrier import MAX_COUNT
from auditor.meaning import ORDER, meaning, same_store
from auditor.source import Stack
from auditor.trace import Event

if TYPE_CHECKING:
    from auditor.audit import Audit

_TRAPS = ("deadlock", "over_arrival", "tx_overflow", "init_count", "parity_range")


# A wait, how many its thread made before at the same place on the same barrier, and the latest phase that these saw.
_Turn = tuple[Event, int, int | None]


class Foresight:
    """What a finished run tells of the runs that would come of hypotheses."""

    def __init__(self, audit: Audit) -> None:
        self._audit = audit

    def fails(self, hypothesis: Hypothesis) -> bool:
        """Whether a run certainly hangs, or lacks as much order as this one. False: it has to be made to know."""
        if not self._tells:
            return False
        if hypothesis.counts:
            return not self._has_gap and self._too_few_phases(hypothesis.counts)
        return bool(hypothesis.parity) and (
            (not self._has_gap and self._phase_never_comes(hypothesis.parity))
            or (self._lacks_order and self._orders_no_more(hypothesis.parity))
        )

    @cached_property
    def _tells(self) -> bool:
        """Whether the run came to its end, threads do the same in another one, and a barrier's counts stay the same."""
        audit = self._audit
        barriers = audit.trace.barriers
        return (
            audit.trace.complete
            and not any(audit.incidents(*_TRAPS))
            and len({(b.cta, b.offset) for b in barriers}) == len(barriers)
            and all(0 < b.init_count <= MAX_COUNT for b in barriers)
            and all(e.data["instr"] != "arrive_drop" for e in audit.of_kind("mbar.arrive"))
            and not any(e.data["once"] for e in audit.of_kind("mbar.wait"))
            and not audit.peeks
        )

    @cached_property
    def _has_gap(self) -> bool:
        """Whether rounds were left out, in which there were phases and waits that are not in the trace."""
        return any(self._audit.incidents("steady"))

    @cached_property
    def _phases(self) -> Counter[int]:
        """How many phases of each barrier were completed."""
        return Counter(e.data["bar"] for e in self._audit.of_kind("phase"))

    @cached_property
    def _needed(self) -> Counter[int]:
        """How many phases of each barrier must be complete at least before all its waits have passed: a thread sees a
        phase end wherever it waits for the other parity than before, at first for 0."""
        last: dict[tuple[int, int, int], tuple[int, int]] = {}
        for e in self._audit.of_kind("mbar.wait"):
            if e.data["form"] == "parity":
                key = (e.data["bar"], e.warp, e.lanes)
                before, phases = last.get(key, (1, 0))
                parity = e.data["parity"] & 1
                last[key] = parity, phases + (parity != before)
        needed: Counter[int] = Counter()
        for (bar, _, _), (_, phases) in last.items():
            needed[bar] = max(needed[bar], phases)
        return needed

    def _too_few_phases(self, counts: Mapping[Stack, int]) -> bool:
        """Whether the arrivals of some barrier are too few for the phases that are waited for, if it counts more."""
        audit = self._audit
        for bar, record in enumerate(audit.trace.barriers):
            count = counts.get(audit.event(record.init_event).where)
            if count is not None and 0 < count <= MAX_COUNT:
                most = (self._phases[bar] + 1) * record.init_count - 1  # one more would have completed another phase
                if self._needed[bar] > most // count:
                    return True
        return False

    def _phase_never_comes(self, starts: Mapping[Stack, int]) -> bool:
        """Whether some wait would be for a phase beyond the last one."""
        return any(starts[w.where] + n >= self._phases[w.data["bar"]] for w, n, _ in self._turns_at(starts))

    def _orders_no_more(self, starts: Mapping[Stack, int]) -> bool:
        """Whether no wait would observe a later phase than it did. With a gap, that its observed phases ascend has to
        do: there were waits that are not in the trace."""
        if not self._has_gap:
            return all(starts[w.where] + n <= w.data["phase"] for w, n, _ in self._turns_at(starts))
        return all(
            starts[w.where] <= w.data["phase"] if before is None else before < w.data["phase"]
            for w, _, before in self._turns_at(starts)
        )

    @cached_property
    def _lacks_order(self) -> bool:
        """Whether accesses lack order that a run has to have to count as mended."""
        return any(meaning(c) in ORDER and not same_store(c) for c in self._audit.hb.conflicts)

    def _turns_at(self, places: Mapping[Stack, int]) -> Iterator[_Turn]:
        return (turn for turn in self._turns if turn[0].where in places)

    @cached_property
    def _turns(self) -> list[_Turn]:
        """The waits for a parity."""
        turns: list[_Turn] = []
        made: dict[tuple[Stack, int, int], dict[int, tuple[int, int]]] = {}
        for e in self._audit.of_kind("mbar.wait"):
            if e.data["form"] == "parity":
                by_lanes = made.setdefault((e.where, e.data["bar"], e.warp), {})
                lane = e.lanes & -e.lanes
                own = [done for lanes, done in by_lanes.items() if lanes & lane]
                turns.append((e, sum(n for n, _ in own), max((phase for _, phase in own), default=None)))
                by_lanes[e.lanes] = by_lanes.get(e.lanes, (0, 0))[0] + 1, e.data["phase"]
        return turns
