"""From symptoms to causes.

The graph shows conflicts (two accesses that nothing orders) and the machine shows incidents (a deadlock, a surplus
arrival). Several symptoms usually have one cause: a stale parity races in one run and hangs in another. This module
sorts the symptoms into cases with one meaning each. Where a detail of the protocol is suspected, the kernel is run
again with just that detail corrected; what disappears in the corrected run was a consequence and is not reported.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from auditor.causes_arrivals import early_expects, stray_arrivals
from auditor.causes_bytes import MOST_COPIES, Landings, assumed, sum_of_some
from auditor.causes_foreseen import Foresight
from auditor.causes_parity import in_turn, may_order_more, out_of_step
from auditor.causes_schedule import EarlyWait, failure, harmful_order
from auditor.causes_unserved import unserved_read
from auditor.graph import Conflict
from auditor.machine.hypothesis import NONE, Hypothesis
from auditor.machine.launch import Launch
from auditor.machine.schedule import Eager
from auditor.meaning import ORDER, Meaning, meaning, same_store
from auditor.quick_dataclass import dataclass
from auditor.races import place, reads_nothing, sorted_out
from auditor.source import Stack
from auditor.trace import Event, Incident

if TYPE_CHECKING:
    from auditor.audit import Audit

MAX_RERUNS = 12
MOST_IN_ROLE = 3  # barriers of the whole block in one role, each of which hangs once the one before is passed
MAX_THREADS = 1024

# Meanings for which a barrier with the wrong parity may be the cause.
SYNCHRONISED = frozenset(
    (
        Meaning.READ_EARLY,
        Meaning.REFILL,
        Meaning.OVERLAPPING_COPIES,
        Meaning.MMA_RESULT,
        Meaning.ACCUMULATOR,
        Meaning.OVERWRITE,
        Meaning.TMEM_OVERLAP,
        Meaning.DATA_RACE,
        Meaning.STORE_SOURCE,
    )
)


# A wait that is missing leaves the other side of the handshake open as well.
_UNWAITED = (
    Meaning.READ_EARLY,
    Meaning.REFILL,
    Meaning.OVERLAPPING_COPIES,
    Meaning.NO_SYNCWARP,
    Meaning.ACCUMULATOR,
    Meaning.MMA_RESULT,
)


@dataclass
class Case:
    """One problem, as a rule reports it. ``where`` is the primary place."""

    where: Stack
    conflict: Conflict | None = None
    incident: Incident | None = None
    barrier: int | None = None
    wait: Event | None = None
    data: dict[str, Any] = field(default_factory=dict)


def _cannot_begin_early(audit: Audit, hypothesis: Hypothesis) -> bool:
    """Whether a wait that is taken to begin one phase early is for data that copies bring, or on a barrier on which
    nobody ever arrives: then its parity is not what is wrong."""
    places = {where for where, start in hypothesis.parity.items() if start < 0}
    warps = {warp for warp, start in hypothesis.sides.items() if start < 0}
    bars = {
        e.data["bar"] for e in audit.trace.events if e.kind == "mbar.wait" and (e.where in places or e.warp in warps)
    }
    if any(e.kind == "async" and e.data.get("bar") in bars for e in audit.trace.events):
        return True
    arrived = {e.data["bar"] for e in audit.trace.events if e.kind == "mbar.arrive"}
    arrived |= {bar for e in audit.trace.events if e.kind == "commit" for bar in e.data["bar"]}
    return bool(bars) and bars.isdisjoint(arrived)


def _reads_results_early(audit: Audit, hypothesis: Hypothesis) -> bool:
    """Whether a wait that is taken to begin one phase early is for MMAs whose results the waiting warp reads.

    That is possible, but it is seldom what was meant.
    """
    places = {where for where, start in hypothesis.parity.items() if start < 0}
    waits = [e for e in audit.trace.events if e.kind == "mbar.wait" and e.where in places]
    committed = {bar for e in audit.trace.events if e.kind == "commit" for bar in e.data["bar"]}
    readers = {e.warp for e in audit.trace.events if e.kind == "tcgen05.ld"}
    return any(e.data["bar"] in committed and e.warp in readers for e in waits)


class Diagnosis:
    """The cases of one audit, by category. Categories are ``Meaning`` values and the names below."""

    DEADLOCK = "deadlock"
    INITIAL_PARITY = "initial-parity"
    STALE_PARITY = "stale-parity"
    OVERRUN = "overrun"
    ARRIVALS = "arrivals"
    BYTES = "bytes"
    IGNORED_POLL = "ignored-poll"
    LATE_EXPECT = "late-expect"
    NOT_REACHED = "barrier-not-reached"
    CLUSTER = "cluster-barrier"
    BLOCK_SHAPE = "block-shape"
    GROUP_THREAD = "group-of-other-thread"
    MIXED_ROUNDS = "mixed-rounds"

    def __init__(self, audit: Audit) -> None:
        self.audit = audit
        self.found: dict[str, list[Case]] = {}
        self.reruns = 0
        self._corrected: list[Audit] = []
        self._holding: set[Stack] = set()  # waits without which all goes well, though their parity is right
        self._seldom: list[Hypothesis] = []  # corrections that work, but that are seldom what was meant
        self._in_vain: set[tuple[Stack, int]] = set()  # parities that were tried for another conflict, and did not help
        self._all_tried = False  # whether the parities of all waits were corrected together
        self._recounted: set[Stack] = set()  # inits whose count was tried with what arrives
        self._foresight = Foresight(audit)
        self._landings = Landings(audit)
        self._run()

    def cases(self, category: str) -> Iterator[Case]:
        return iter(self.found.get(category, ()))

    def _add(self, category: str, case: Case) -> None:
        cases = self.found.setdefault(category, [])
        if all(c.where != case.where for c in cases):
            cases.append(case)

    # ---- the order of reasoning ---------------------------------------------------------------------------------

    def _run(self) -> None:
        audit = self.audit
        blunt = any(
            audit.incidents(
                "multi_issue",
                "use_before_init",
                "bulk_size",
                "divergent_aligned",
                "tx_overflow",
                "misaligned",
                "empty_commit",
                "reinit_live",
                "alloc_overflow",
                "parity_range",
                "use_after_inval",
                "cluster_barrier",
                "cluster_rank",
                "elect_mask",
            )
        )
        blunt |= any(i.data["problem"] in ("id", "count") for i in audit.incidents("named_barrier"))
        self._bytes()
        self._late_expects()
        deadlocks = list(audit.incidents("deadlock"))
        surplus = list(audit.incidents("over_arrival"))
        if not blunt and not self._shape(deadlocks) and not self._barrier_in_role(deadlocks):
            self._deadlocks(deadlocks, surplus)
        self._conflicts(
            skip_protocol=any(
                audit.incidents("multi_issue", "reinit_live", "use_after_inval", "parity_range", "use_before_init")
            )
        )
        if not blunt and not self._protocol_found():
            self._remaining(deadlocks, surplus)
        if (
            not self._protocol_found()
            and not blunt
            and not any(
                m.value in self.found
                for m in _UNWAITED
            )
        ):
            for o in audit.hb.overruns:
                self._add(
                    self.OVERRUN,
                    Case(o.wait.where, barrier=o.wait.data["bar"], wait=o.wait, data={"phase_event": o.phase_event}),
                )
            for s in () if audit.hb.overruns else stray_arrivals(audit):
                bar = s.arrival.data["bar"]
                init = audit.trace.barriers[bar].init_count
                self._add(self.ARRIVALS, Case(s.arrival.where, barrier=bar, data={"stray": s, "init": init}))
            for x in early_expects(audit) if self.found.keys() <= {Meaning.PROXY_WAR.value} else ():
                self._add(self.ARRIVALS, Case(x.arrival.where, barrier=x.arrival.data["bar"], data={"early": x}))
            if audit.trace.complete and self.found.keys() <= {Meaning.PROXY_WAR.value}:
                self._open_order()

    def _open_order(self) -> None:
        """Where nothing else was found: an order that the run leaves open and that makes another run fail."""
        harm = harmful_order(self.audit)
        if harm is None:
            self._uneven_bytes()
            return
        if isinstance(harm.order, EarlyWait):
            wait = harm.order.wait
            self._add(self.OVERRUN, Case(wait.where, barrier=wait.data["bar"], wait=wait, data={"harm": harm}))
            return
        arrival = harm.order.arrival
        if "bar" not in arrival.data:
            self._add(self.MIXED_ROUNDS, Case(arrival.where, data={"harm": harm}))
            return
        data = {"stray": harm.order, "init": self.audit.trace.barriers[arrival.data["bar"]].init_count, "harm": harm}
        self._add(self.ARRIVALS, Case(arrival.where, barrier=arrival.data["bar"], data=data))

    def _uneven_bytes(self) -> None:
        """Bytes that do not add up in a phase that nobody hung on: they may where the copies land earlier."""
        for index, (phase, expected, copies) in self._phase_bytes():
            if expected and copies and all(c["bytes"] is not None for c in copies):
                case = self._bytes_case(index, phase, expected, copies)
                if case is not None and failure(self.audit, Eager()) is not None:
                    self._add(self.BYTES, case)
                    return

    def _protocol_found(self) -> bool:
        return any(
            k in self.found
            for k in (
                self.INITIAL_PARITY,
                self.STALE_PARITY,
                self.ARRIVALS,
                self.BYTES,
                self.IGNORED_POLL,
                self.LATE_EXPECT,
                self.BLOCK_SHAPE,
                self.NOT_REACHED,
            )
        )

    # ---- bytes --------------------------------------------------------------------------------------------------

    def _bytes(self) -> None:
        """Phases whose expected bytes differ from what the copies deliver, where that had a consequence."""
        audit = self.audit
        stuck = {i.data["bar"] for i in audit.incidents("deadlock") if i.data.get("waiting") == "mbarrier"}
        early = {i.data["bar"] for i in audit.incidents("early_phase")}
        if any(audit.incidents("bulk_size", "multi_issue", "tx_overflow")):
            return
        for index, (phase, expected, copies) in self._phase_bytes():
            if copies and expected and all(c["bytes"] is None for c in copies):
                self._unknown_bytes(index, phase, expected, [audit.event(c["event"]) for c in copies], index in stuck)
            if index not in stuck | early or any(c["bytes"] is None for c in copies):
                continue
            case = self._bytes_case(index, phase, expected, copies)
            if case is not None and (expected or index in early):
                self._add(self.BYTES, case)

    def _unknown_bytes(self, bar: int, phase: int, expected: list[Any], copies: list[Event], stuck: bool) -> None:
        """An expectation that does not fit copies of unknown size."""
        where = self.audit.event(expected[0][0]).where
        if any(case.where == where for case in self.found.get(self.BYTES, ())):
            return
        want, parts = sum(tx for _, tx in expected), list[int]()
        if not stuck and phase:
            return  # the first phases tell
        room = self._landings.room(copies)
        if stuck:
            room = min(room, assumed(copies))
        if want <= room:
            if phase or not 2 <= len(copies) <= MOST_COPIES:
                return
            parts = self._landings.read(copies)
            if not sum_of_some(want, parts):
                return
        data = {"expected": want, "delivered": sum(parts) or room, "phase": phase, "copies": [e.id for e in copies],
                "expects": [e for e, _ in expected], "read": parts}
        self._add(self.BYTES, Case(where, barrier=bar, data=data))

    def _bytes_case(self, bar: int, phase: int, expected: list[Any], copies: list[Any]) -> Case | None:
        """A phase that expects other bytes than its copies deliver; None when they agree."""
        want = sum(tx for _, tx in expected)
        got = sum(c["bytes"] for c in copies)
        if want == got:
            return None
        where = self.audit.event(expected[0][0] if expected else copies[0]["event"]).where
        data = {"expected": want, "delivered": got, "phase": phase, "copies": [c["event"] for c in copies],
                "expects": [e for e, _ in expected]}
        return Case(where, barrier=bar, data=data)

    def _phase_bytes(self) -> Iterator[tuple[int, tuple[int, list[Any], list[Any]]]]:
        """(barrier, (phase, expectations, copies)) of every phase, the open one included. Copies of a phase are those
        issued while it was open."""
        audit = self.audit
        copies: dict[tuple[int, int], list[Any]] = {}
        expects: dict[tuple[int, int], list[Any]] = {}
        phase: dict[int, int] = {}
        for e in audit.trace.events:
            if e.kind == "phase":
                phase[e.data["bar"]] = e.data["index"] + 1
            elif e.kind == "async" and e.data.get("bar") is not None and e.data["instr"] != "cp.async.arrive":
                bar = e.data["bar"]
                copies.setdefault((bar, phase.get(bar, 0)), []).append(
                    {
                        "event": e.id,
                        "bytes": None if e.data.get("bytes") is None else e.data["bytes"] * e.data.get("copies", 1),
                    }
                )
            elif e.kind in ("mbar.arrive", "mbar.expect_tx") and e.data.get("tx"):
                bar = e.data["bar"]
                expects.setdefault((bar, phase.get(bar, 0)), []).append((e.id, e.data["tx"]))
        for key in sorted(set(copies) | set(expects)):
            yield key[0], (key[1], expects.get(key, []), copies.get(key, []))

    def _late_expects(self) -> None:
        """An arrival that completes its phase, then the expect_tx that it should have waited for (MB-15): a phase that
        ended with no bytes expected, and an expect_tx without arrival right after it."""
        ended_empty: dict[int, bool] = {}
        seen: dict[int, bool] = {}
        arrive: dict[int, int] = {}
        for e in self.audit.trace.events:
            if e.kind == "mbar.arrive":
                arrive[e.data["bar"]] = e.id
            if e.kind == "phase":
                bar = e.data["bar"]
                ended_empty[bar] = not seen.pop(bar, False)
            elif e.kind == "mbar.arrive" and e.data.get("tx"):
                seen[e.data["bar"]] = True
            elif e.kind == "mbar.expect_tx" and e.data["tx"] > 0:
                bar = e.data["bar"]
                if not seen.get(bar) and ended_empty.get(bar) and bar in arrive and e.data["phase"] == 1:
                    self._add(self.LATE_EXPECT, Case(e.where, barrier=bar, data={"arrive": arrive[bar], "event": e.id}))
                seen[bar] = True

    # ---- the shape of the block, barriers in roles --------------------------------------------------------------

    def _shape(self, deadlocks: list[Incident]) -> bool:
        """A wait for something that no thread of the block ever does, and that a warp more would do.

        With launch bounds that say how many threads there should be, also a wait for which some do it and some lack.
        """
        audit, launch = self.audit, self.audit.launch
        if launch.where is None or "block" in launch.chosen or launch.block[1:] != (1, 1):
            return False
        used = {e.data["bar"] for e in audit.trace.events if e.kind == "mbar.arrive"}
        used |= {bar for e in audit.trace.events if e.kind == "commit" for bar in e.data["bar"]}
        if launch.threads < audit.kernel.max_threads:
            used = set()
        stuck = next((i for i in deadlocks if i.data.get("waiting") == "mbarrier" and i.data["bar"] not in used), None)
        if stuck is None:
            return False
        bounds = audit.kernel.max_threads or MAX_THREADS
        for more in (bounds if audit.kernel.max_threads else 0, *(launch.threads + 32 * n for n in (1, 2, 4))):
            if launch.threads < more <= bounds and self._try(NONE, replace(launch, block=(more, 1, 1))):
                self._add(self.BLOCK_SHAPE, Case(launch.where, incident=stuck, data={"threads": more}))
                return True
        return False

    def _barrier_in_role(self, deadlocks: list[Incident]) -> bool:
        """A barrier of the whole block at which some threads wait and others wait for them: without it all is well."""
        kinds = {i.data.get("waiting") for i in deadlocks}
        if not {"mbarrier", "barrier"} <= kinds:
            return False
        at_barrier = [i for i in deadlocks if i.data["waiting"] == "barrier" and i.data.get("count") is None]
        for i in {i.where: i for i in at_barrier}.values():
            passed = {i.where}
            for _ in range(MOST_IN_ROLE):
                other = self._rerun(Hypothesis(passed=frozenset(passed)))
                if other is None:
                    break
                if other.trace.complete:
                    self._add(self.NOT_REACHED, Case(i.where, incident=i, data={"all": deadlocks}))
                    return True
                more = {o.where for o in other.incidents("deadlock")
                        if o.data["waiting"] == "barrier" and o.data.get("count") is None} - passed
                if not more:
                    break
                passed |= more
        return False

    # ---- deadlocks ------------------------------------------------------------------------------------------------

    def _deadlocks(self, deadlocks: list[Incident], surplus: list[Incident]) -> None:
        """Try what could repair a hang: the byte count, the init count, the parity of a blocked wait."""
        if self.BYTES in self.found or self.LATE_EXPECT in self.found:
            return
        audit = self.audit
        for i in surplus:
            bar = audit.trace.barriers[i.data["bar"]]
            where = audit.event(bar.init_event).where
            for count in self._observed_counts(i.data["bar"]):
                if count != bar.init_count and self._try(Hypothesis(counts={where: count})):
                    self._add(
                        self.ARRIVALS,
                        Case(
                            i.where, incident=i, barrier=i.data["bar"], data={"arrivals": count, "init": bar.init_count}
                        ),
                    )
                    return
        blocked = [i for i in deadlocks if i.data.get("waiting") == "mbarrier"]
        doubtful: Case | None = None
        for i in blocked:
            record = audit.trace.barriers[i.data["bar"]]
            where = audit.event(record.init_event).where
            arrived = self._open_arrivals(i.data["bar"])
            if 0 < arrived < record.init_count and self._try(Hypothesis(counts={where: arrived})):
                data = {"arrivals": arrived, "init": record.init_count}
                case = Case(where, incident=i, barrier=i.data["bar"], data=data)
                if not self._late_arrivals(i.data["bar"]):
                    self._add(self.ARRIVALS, case)
                    return
                self._corrected.pop()
                doubtful = doubtful or case
        if blocked and self._too_many(incident=blocked[0]):
            return
        for plausible in (True, False):
            for i in {i.where: i for i in blocked}.values():
                for start in self._starts(i):
                    hypothesis = Hypothesis(parity={i.where: start})
                    if (plausible or hypothesis in self._seldom) and self._try(hypothesis, plausible=plausible):
                        self._parity_case(i.where, start, i)
                        return
        for i in {i.warp: i for i in blocked if not self._waits_before(i)}.values():  # loops may be unrolled
            for start in (-1, 0):
                if self._try(Hypothesis(sides={i.warp: start})):
                    self._parity_case(i.where, start, i)
                    return
        if blocked and self._all_stale(incident=blocked[0]):
            return
        if doubtful is not None:
            self._add(self.ARRIVALS, doubtful)
        elif deadlocks:
            self._arrives_twice(deadlocks)

    def _late_arrivals(self, bar: int) -> bool:
        """Whether a barrier gets just what it is initialised for in the last corrected run, in which it counts fewer:
        those who did not arrive were blocked themselves, and something else may be what blocked them."""
        arrivals = [e for e in self._corrected[-1].trace.events if e.kind == "mbar.arrive" and e.data["bar"] == bar]
        return bool(sum(e.data["count"] for e in arrivals) == self.audit.trace.barriers[bar].init_count)

    def _arrives_twice(self, deadlocks: list[Incident]) -> None:
        """A hang that goes away with one of several places at which a warp arrives on the same barrier."""
        places: dict[tuple[int, int], dict[Stack, Event]] = {}
        for e in self.audit.trace.events:
            if e.kind == "mbar.arrive" and not e.data["tx"]:
                places.setdefault((e.data["bar"], e.warp), {})[e.where] = e
        for (bar, _), found in places.items():
            for where, e in found.items() if len(found) > 1 else ():
                if self._try(Hypothesis(dropped=frozenset((where,)))):
                    record = self.audit.trace.barriers[bar]
                    blocked = next((i for i in deadlocks if i.data.get("bar") == bar), deadlocks[0])
                    self._add(self.ARRIVALS, Case(where, incident=blocked, barrier=bar, data={
                        "arrivals": record.init_count + e.data["count"], "init": record.init_count, "twice": True}))
                    return

    def _waits_before(self, i: Incident) -> list[Event]:
        """Waits of a blocked thread on the same barrier at other places."""
        return [
            e
            for e in self.audit.trace.events
            if e.kind == "mbar.wait"
            and e.data["bar"] == i.data["bar"]
            and e.warp == i.warp
            and e.lanes & i.lanes
            and e.where != i.where
        ]

    def _starts(self, i: Incident) -> tuple[int, ...]:
        """The phases with which a blocked wait may have been meant to begin.

        After a wait with the other parity it is in step.
        """
        before = self._waits_before(i)
        if not before:
            return 0, -1
        return () if (before[-1].data["parity"] ^ i.data["parity"]) & 1 else (before[-1].data["phase"] + 1,)

    def _parity_case(
        self, where: Stack, start: int, incident: Incident | None = None, conflict: Conflict | None = None
    ) -> None:
        """Initial or stale parity: did the first wait at that place already look at the wrong phase?"""
        first = next((e for e in self.audit.trace.events if e.kind == "mbar.wait" and e.where == where), None)
        wrong_at_once = (first is None or first.data["phase"] != start) and not (
            incident is not None and self._waits_before(incident)
        )
        category = self.INITIAL_PARITY if wrong_at_once else self.STALE_PARITY
        bar = incident.data["bar"] if incident is not None else first.data["bar"] if first is not None else None
        self._add(
            category, Case(where, conflict=conflict, incident=incident, barrier=bar, wait=first, data={"start": start})
        )

    @cached_property
    def _arrivals(self) -> dict[int, list[Event]]:
        """The arrivals on each barrier, in order."""
        found: dict[int, list[Event]] = {}
        for e in self.audit.of_kind("mbar.arrive"):
            found.setdefault(e.data["bar"], []).append(e)
        return found

    def _observed_counts(self, bar: int) -> list[int]:
        """How many arrivals a phase of that barrier really gets: what is possible by the arrivals between two waits."""
        arrivals = self._arrivals.get(bar, ())
        by_place: dict[tuple[Stack, int], int] = {}
        for e in arrivals:
            by_place[e.where, e.warp] = by_place.get((e.where, e.warp), 0) + 1
        if not by_place:
            return []
        rounds = max(by_place.values())
        total = sum(e.data["count"] for e in arrivals)
        per_round = {(e.where, e.warp, e.lanes): e.data["count"] for e in arrivals}
        return list(dict.fromkeys([sum(per_round.values()), total // rounds, total]))

    def _open_arrivals(self, bar: int) -> int:
        """Arrivals in the phase that never completed."""
        phase = max(
            (e.data["index"] + 1 for e in self.audit.trace.events if e.kind == "phase" and e.data["bar"] == bar),
            default=0,
        )
        total = 0
        for e in self.audit.trace.events:
            if e.kind == "mbar.arrive" and e.data["bar"] == bar and e.data["phase"] == phase:
                total += e.data["count"]
            elif e.kind == "commit" and bar in e.data["bar"] and e.data.get("done") is not None:
                total += e.lanes.bit_count()
        commits = sum(1 for e in self.audit.trace.events if e.kind == "committed" and e.data["bar"] == bar)
        arrived_by_commit = commits if commits and total == 0 else 0
        return total + arrived_by_commit

    def _rerun(self, hypothesis: Hypothesis, launch: Launch | None = None) -> Audit | None:
        """The run with a detail changed. None when there have been enough of them, or when they would be cut as the run
        itself was: then they tell nothing."""
        if self.reruns >= MAX_RERUNS or any(self.audit.incidents("budget")):
            return None
        self.reruns += 1
        return self.audit.rerun(hypothesis, launch)

    def _try(self, hypothesis: Hypothesis, launch: Launch | None = None, *, plausible: bool = False) -> bool:
        """Whether the kernel is free of protocol failures once that detail is corrected.

        ``plausible``: a correction that is seldom meant is put off to ``_seldom``.
        """
        if launch is None and self.reruns < MAX_RERUNS and self._foresight.fails(hypothesis):
            self.reruns += 1
            return False
        other = self._rerun(hypothesis, launch)
        if other is None or any(other.incidents("deadlock", "over_arrival", "early_phase", "budget")):
            return False
        if any(meaning(c) in ORDER and not same_store(c) for c in other.hb.conflicts) or other.hb.overruns:
            return False
        if 0 in (*hypothesis.parity.values(), *hypothesis.sides.values()) and reads_nothing(other):
            return False
        if _cannot_begin_early(other, hypothesis):
            self._holding |= set(hypothesis.parity)
            return False
        if plausible and _reads_results_early(other, hypothesis):
            self._seldom.append(hypothesis)
            return False
        self._corrected.append(other)
        return True

    def _remaining(self, deadlocks: list[Incident], surplus: list[Incident]) -> None:
        """Hangs and surplus arrivals for which no single correction was found."""
        if self._order_found() or (deadlocks and self.audit.hb.overruns):
            return
        for i in surplus:
            self._add(
                self.ARRIVALS,
                Case(i.where, incident=i, barrier=i.data["bar"], data={"arrivals": None, "init": i.data["init"]}),
            )
        late = {o.wait.data["bar"] for o in self.audit.hb.overruns}
        if surplus or not deadlocks or any(i.data.get("bar") in late for i in deadlocks):
            return
        unserved = unserved_read(self.audit)
        if unserved is not None:
            m, conflict = unserved
            self._add(m.value, Case(place(m, conflict), conflict=conflict))
            return
        behind = self._left_behind(deadlocks)
        if behind is not None:
            self._add(self.OVERRUN, behind)
            return
        root = self._root(deadlocks)
        waits = {i.data.get("waiting") for i in deadlocks}
        if "cluster" in waits and "mbarrier" not in waits:
            root = next(i for i in deadlocks if i.data["waiting"] == "cluster")
        elif "lanes" in waits and "mbarrier" not in waits:
            root = next(i for i in deadlocks if i.data["waiting"] == "lanes")
        category = {"barrier": self.NOT_REACHED, "lanes": self.NOT_REACHED, "cluster": self.CLUSTER}.get(
            str(root.data.get("waiting")), self.DEADLOCK
        )
        self._add(category, Case(root.where, incident=root, barrier=root.data.get("bar"), data={"all": deadlocks}))

    def _order_found(self) -> bool:
        """Whether an unordered pair was found that may be what the hang comes from."""
        cases = (case for m in ORDER for case in self.found.get(m.value, ()))
        return any(case.conflict is None or not same_store(case.conflict) for case in cases)

    def _left_behind(self, deadlocks: list[Incident]) -> Case | None:
        """A blocked wait whose barrier has completed two phases or more that the thread has not seen."""
        for i in deadlocks:
            if i.data.get("waiting") != "mbarrier" or i.data.get("form") != "parity":
                continue
            bar = i.data["bar"]
            seen = max((e.data["phase"] for e in self.audit.trace.events
                        if e.kind == "mbar.wait" and e.data["bar"] == bar and e.warp == i.warp and e.lanes & i.lanes),
                       default=-1)
            phases = [e for e in self.audit.trace.events if e.kind == "phase" and e.data["bar"] == bar]
            if len(phases) - 1 - seen >= 2 and (seen + 1) & 1 == i.data["parity"] & 1:
                return Case(i.where, incident=i, barrier=bar, data={"phase": seen + 1, "phase_event": phases[seen + 2]})
        return None

    def _root(self, deadlocks: list[Incident]) -> Incident:
        """The blocked wait that the others follow from.

        One whose barrier nobody who still runs could complete, or else the one that is the farthest behind, and of
        those one that some have arrived for.
        """
        audit = self.audit
        blocked_strands = {i.warp for i in deadlocks}
        waits = [i for i in deadlocks if i.data.get("waiting") == "mbarrier"]
        waits.sort(key=lambda i: i.where not in self._holding)
        for i in waits:
            arrivers = {
                e.warp
                for e in audit.trace.events
                if (e.kind == "mbar.arrive" and e.data["bar"] == i.data["bar"])
                or (e.kind == "commit" and i.data["bar"] in e.data["bar"])
            }
            if not arrivers & blocked_strands:
                return i
        return min(waits, key=self._behind) if waits else deadlocks[0]

    def _behind(self, i: Incident) -> tuple[int, bool]:
        """The open phase of the barrier that a wait is for, and whether nobody has arrived for it."""
        bar = i.data["bar"]
        phase = sum(e.kind == "phase" and e.data["bar"] == bar for e in self.audit.trace.events)
        return phase, not self._open_arrivals(bar)

    # ---- conflicts ------------------------------------------------------------------------------------------------

    def _conflicts(self, *, skip_protocol: bool) -> None:
        conflicts = sorted_out(self.audit)
        explained = set()
        several = {i.where for i in self.audit.incidents("multi_issue")}
        conflicts = [(m, c) for m, c in conflicts if c.first.where not in several and c.second.where not in several]
        for n, (m, c) in enumerate(conflicts):
            if m in SYNCHRONISED and (skip_protocol or self._explained(m, c)):
                explained.add(n)
        for n, (m, c) in enumerate(conflicts):
            if n not in explained and not self._consequence(m, c):
                self._add(m.value, Case(place(m, c), conflict=c))

    def _consequence(self, m: Meaning, c: Conflict) -> bool:
        """Whether a corrected run is free of this conflict, so that it followed from what was corrected."""
        if m in (Meaning.PROXY, Meaning.PROXY_WAR) or not self._corrected:
            return False
        signature = (m, c.first.where, c.second.where)
        return all(
            signature not in {(meaning(o), o.first.where, o.second.where) for o in other.hb.conflicts}
            for other in self._corrected
        )

    def _explained(self, m: Meaning, c: Conflict) -> bool:
        """Look for the cause of an unordered pair in the barriers that should have ordered it."""
        bar = c.first.data.get("bar") if c.first.kind == "async" else None
        for category in (self.BYTES, self.LATE_EXPECT):
            if any(self._same_protocol(case.barrier, bar) for case in self.found.get(category, ())):
                return True
        if m is Meaning.STORE_SOURCE:
            return self._group_of_other_thread(c)
        if m is Meaning.READ_EARLY and isinstance(bar, int):
            poll = self._ignored_poll(c, bar)
            if poll is not None:
                self._add(self.IGNORED_POLL, Case(poll, conflict=c, barrier=bar))
                return True
        if self._corrected:
            return False
        if self._too_many(conflict=c):
            return True
        places = self._waits_of(c.second)
        if m is Meaning.REFILL:  # the reader may be the one that is out of step
            places += [where for where in self._waits_of(c.first) if where not in places]
        for where in places:
            for start in (0, -1):
                if (where, start) in self._in_vain or not may_order_more(self.audit, where, start):
                    continue
                if self._try(Hypothesis(parity={where: start})):
                    self._parity_case(where, start, conflict=c)
                    return True
                self._in_vain.add((where, start))
        return self._all_stale(conflict=c)

    def _all_stale(self, *, conflict: Conflict | None = None, incident: Incident | None = None) -> bool:
        """Whether the parities of several waits are wrong together, so that no correction of one wait helps."""
        if self._all_tried:
            return False
        self._all_tried = True
        starts = in_turn(self.audit)
        wrong = out_of_step(self.audit, starts)
        if len(wrong) < 2:
            return False
        self.reruns = min(self.reruns, MAX_RERUNS - 1)  # what was tried in vain leaves a run for this
        if not self._try(Hypothesis(parity=starts)):
            return False
        first = next(e for e in self.audit.trace.events if e.kind == "mbar.wait" and e.where == wrong[0])
        data = {"start": starts[wrong[0]], "also": wrong[1:]}
        self._add(self.STALE_PARITY, Case(wrong[0], conflict=conflict, incident=incident, barrier=first.data["bar"],
                                          wait=first, data=data))
        return True

    def _too_many(self, *, conflict: Conflict | None = None, incident: Incident | None = None) -> bool:
        """Whether a barrier counts fewer arrivals than it gets a round: its phases end before everyone has arrived."""
        audit = self.audit
        for bar, record in enumerate(audit.trace.barriers):
            where = audit.event(record.init_event).where
            counts = self._observed_counts(bar)
            if not counts or counts[0] <= record.init_count or where in self._recounted:
                continue
            self._recounted.add(where)
            if self._try(Hypothesis(counts={where: counts[0]})):
                arrive = next(o for o in reversed(audit.trace.events)
                              if o.kind == "mbar.arrive" and o.data["bar"] == bar)
                self._add(self.ARRIVALS, Case(arrive.where, conflict=conflict, incident=incident, barrier=bar,
                                              data={"arrivals": counts[0], "init": record.init_count}))
                return True
        return False

    def _same_protocol(self, a: int | None, b: Any) -> bool:
        """Whether two barriers belong together: initialised, or told their bytes, at the same place."""
        if not isinstance(a, int) or not isinstance(b, int):
            return False
        return not self._places_of(a).isdisjoint(self._places_of(b))

    def _places_of(self, bar: int) -> set[Stack]:
        events = self.audit.trace.events
        places = {events[self.audit.trace.barriers[bar].init_event].where}
        return places | {
            e.where
            for e in events
            if e.kind in ("mbar.arrive", "mbar.expect_tx") and e.data["bar"] == bar and e.data.get("tx")
        }

    def _group_of_other_thread(self, c: Conflict) -> bool:
        """A rewritten store source, where the group wait is executed only by threads that have no groups."""
        issuer = self._thread(c.first)
        waits = [
            o
            for o in self.audit.trace.events
            if o.kind == "bulk.wait" and o.warp == issuer.warp and o.lanes & issuer.lanes
        ]
        for where, kind, _, _ in self.audit.trace.idle_waits:
            if kind == "bulk" and all(o.where != where for o in waits):
                self._add(self.GROUP_THREAD, Case(where, conflict=c))
                return True
        return False

    def _thread(self, event: Event) -> Event:
        """The strand event behind an event: itself, or the issue of an asynchronous operation."""
        issuer = event.data.get("issuer") if event.warp < 0 else None
        return self.audit.event(issuer) if issuer is not None else event

    def _waits_of(self, event: Event) -> list[Stack]:
        """Places where the thread waited on mbarriers before an event, the last first."""
        e = self._thread(event)
        places: dict[Stack, None] = {}
        for o in reversed(self.audit.trace.events[: e.id]):
            if o.kind == "mbar.wait" and o.warp == e.warp and o.lanes & e.lanes and o.data["form"] == "parity":
                places.setdefault(o.where)
                if len(places) >= 3:
                    break
        return list(places)

    def _ignored_poll(self, c: Conflict, bar: int) -> Stack | None:
        """A poll of the copy's barrier that was answered "no" and not repeated before the access."""
        e = self._thread(c.second)
        last_wait = max(
            (
                o.id
                for o in self.audit.trace.events[: e.id]
                if o.kind == "mbar.wait" and o.warp == e.warp and o.data["bar"] == bar and o.lanes & e.lanes
            ),
            default=-1,
        )
        for p in reversed(self.audit.trace.polls):
            if p.warp == e.warp and p.bar == bar and p.lanes & e.lanes and last_wait < p.after <= e.id:
                return p.where
        return None
