"""The machine: runs the strands and the asynchronous operations of one cluster, and writes down what happened.

It observes and never judges. An audit runs one deterministic schedule: strands until they block, asynchronous
operations as late as possible. The graph built from the trace then tells what another schedule could do.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from types import FrameType, MappingProxyType
from typing import Any

import auditor.machine.ops  # noqa: F401  registers the instruction handlers
from auditor.collector import collector_at_rest, run_has_ended
from auditor.machine import ending, meeting
from auditor.machine.boxes import Landmarks, Misjudged
from auditor.machine.contents import Contents, ascending
from auditor.machine.frames import CallChains, generated_frame
from auditor.machine.hypothesis import NONE, Hypothesis
from auditor.machine.launch import Launch
from auditor.machine.mbarrier import BarrierTrap, Mbarrier
from auditor.machine.recording import LoadRecord
from auditor.machine.scenario_shape import last_cluster
from auditor.machine.schedule import LAZY, Lazy
from auditor.machine.shared_layout import shared_layout
from auditor.machine.state import AsyncOp, BarrierState, Cta, Gather, Park, Warp
from auditor.machine.steady import Steady, Unsteady
from auditor.machine.strand import HiddenOperations, Strand, StrandEnd
from auditor.program import Kernel, Layout, Program
from auditor.ptx.grammar import Instr
from auditor.source import Stack
from auditor.trace import ALL_LANES, Access, Barrier, Event, Incident, Trace
from auditor.values import (
    CONST_WINDOW,
    CTA_SHIFT,
    GLOBAL_STRIDE,
    GLOBAL_WINDOW,
    OPAQUE,
    PARAM_WINDOW,
    SHARED_WINDOW,
    BlockInt,
)

MAX_CTAS = 8
MAX_THREADS = 4096  # of a CTA: more than any launch can have, which is for rules to say
MAX_STRANDS = 2048
PARAM_STRIDE = 1 << 16
STEPS_A_LOOK = 4096  # steps between two looks at the clock, which costs as much as many steps


class BudgetExceeded(Exception):  # noqa: N818 - how a run ends, not a defect
    """The step or time budget of a run is spent."""


class Lost(Exception):  # noqa: N818 - how a run ends, not a defect
    """A strand met something that cannot be executed."""


class Regret(Exception):  # noqa: N818 - how a run ends, not a defect
    """An answer that was chosen led straight to a trap, such as that of a time limit: the next run gives the other."""

    def __init__(self, where: Stack, instead: int) -> None:
        super().__init__()
        self.answer = {where: instead}


def no_more(trace: Trace) -> int:
    """The budget of a run that has spent what it had, and gets no more."""
    return 0


def _data_arrays(kernel: Kernel, launch: Launch) -> frozenset[int]:
    """The allocations, by number, that only pointers to data are passed for."""
    found: dict[int, bool] = {}
    for param, value in zip(kernel.params, launch.args):
        if param.kind == "pointer" and isinstance(value, int) and value >= GLOBAL_WINDOW:
            number = (value - GLOBAL_WINDOW) // GLOBAL_STRIDE
            found[number] = param.to_data and found.get(number, True)
    return frozenset(number for number, to_data in found.items() if to_data)


def _stopped(error: BaseException) -> str:
    """Why a strand cannot go on, with the instruction that it was at: its operands may be none that PTX allows."""
    what = f"{type(error).__name__}: {error}"
    trace, instr = error.__traceback__, None
    while trace is not None:
        found = trace.tb_frame.f_locals.get("i")
        instr = found if isinstance(found, Instr) else instr
        trace = trace.tb_next
    if instr is None:
        return f"execution stopped: {what}"
    return f"PTX instruction {instr.written} cannot be executed ({what})"


class Machine:
    """One run of one kernel. ``budget`` is in steps (loop iterations and asm statements); when it is spent, ``more``
    may give a larger one to a run that has come so far.

    ``seconds`` are processor time of this thread: a busy machine must not change what is found.
    """

    def __init__(
        self,
        program: Program,
        kernel: Kernel,
        launch: Launch,
        *,
        budget: int = 2_000_000,
        seconds: float = 20.0,
        hypothesis: Hypothesis = NONE,
        schedule: Lazy = LAZY,
        steady: bool = True,
        contents: Contents = ascending,
        settled: Mapping[Stack, int] = MappingProxyType({}),
        more: Callable[[Trace], int] = no_more,
    ) -> None:
        self.contents = contents
        self.more = more
        self.settled = settled  # conditions on data, by place, that are not to be chosen, and what they are
        self.steady = Steady(self) if steady else None
        self.hypothesis = hypothesis
        self.schedule = schedule
        self.program = program
        self.kernel = kernel
        self.launch = launch
        # Ordinary reads of global memory are told only where it matters which of them wait for the kernel before.
        self.watches_reads = launch.programmatic or any(
            i.opcode == "griddepcontrol" for block in program.asm for i in block.instrs
        )
        self.budget = budget
        self.deadline = time.thread_time() + seconds
        self.steps = 0
        self._next_look = 0
        self.turns = 0  # of strands: the clock is asked now and then only, for that costs as much as many steps
        self.progress = 0
        self.queue: list[AsyncOp] = []
        self.strands: list[Strand] = []
        self.chains = CallChains(program, kernel.loc)
        self.accessing: FrameType | None = None  # the generated function that has called the machine, where known
        self.globals: dict[int, tuple[int, Any]] = {}
        self.chosen: dict[Any, int] = {}  # what reads of global integers that nobody has written gave, see memory
        self.chosen_words: set[int] = set()  # all that they gave
        self.global_vars: dict[str, int] = {}
        self.params: dict[int, Any] = {}
        self.param_objects: list[tuple[int, int, Any]] = []
        self.cluster_round: list[tuple[int, str]] = []
        self.cluster_events: list[int] = []
        self.seen: set[Any] = set()
        self.cancels = 0  # requests for the CTA of a cluster that has not started
        self.unused: list[LoadRecord] = []  # loads whose values were not consumed when a release followed
        self.copy_starts = {rank: dict(starts) for rank, starts in launch.boxes.starts.items()}  # see boxes.Boxes
        self.landmarks = Landmarks()
        self.idle_waits: list[tuple[Stack, Strand, str, int]] = []  # group waits of threads without groups
        size = min(launch.cluster_size, MAX_CTAS)
        threads = min(max(launch.threads, 1), MAX_THREADS)
        self.warps_per_cta = -(-threads // 32)
        self.data_arrays = _data_arrays(kernel, launch)
        self.trace = Trace(kernel.display, dict(launch.inputs), self.warps_per_cta, size)
        self.other_end = self._other_end()
        self.ctas = [self._make_cta(rank, threads) for rank in range(size)]

    # ---- set-up -----------------------------------------------------------------------------------------------

    def _make_cta(self, rank: int, threads: int) -> Cta:
        cx, cy, _ = self.launch.cluster
        x, y, z = self.launch.block_index
        block = (x + rank % cx, y + rank // cx % cy, z + rank // (cx * cy))
        cta = Cta(rank, block)
        for w in range(self.warps_per_cta):
            n = min(32, threads - 32 * w)
            cta.warps.append(Warp(cta, w, rank * self.warps_per_cta + w, (1 << n) - 1))
        cta.shared, cta.shared_end = shared_layout(self.kernel, self.launch)
        return cta

    def _other_end(self) -> tuple[int, ...]:
        """How far away in blockIdx the cluster at the other end of the grid is: the last, seen from the first."""
        last = last_cluster(self.launch.grid, self.launch.cluster)
        here = self.launch.block_index
        there = (0, 0, 0) if here == last else last
        return tuple(t - h for t, h in zip(there, here))

    def _arguments(self) -> list[Any]:
        """Kernel arguments as generated code wants them: scalars as values, objects as parameter addresses."""
        given = list(self.launch.args)
        out: list[Any] = []
        for n, param in enumerate(self.kernel.params):
            value = given[n] if n < len(given) else OPAQUE
            if param.kind == "object":
                address = PARAM_WINDOW + n * PARAM_STRIDE
                self._place(address, param.layout, value)
                self.param_objects.append((address, address + max(param.size, 1), param))
                out.append(address)
            else:
                out.append(value)
        return out

    def _place(self, address: int, layout: Layout | None, value: Any) -> None:
        """Lay the leaves of a class object out in parameter memory."""
        if layout is None:
            leaf = value
            while isinstance(leaf, list) and len(leaf) == 1:
                leaf = leaf[0]
            self.params[address] = leaf
        elif layout.scalar is not None:
            self.params[address] = value
        elif layout.element is not None:
            for i in range(layout.count):
                item = value[i] if isinstance(value, list) and i < len(value) else OPAQUE
                self._place(address + i * layout.element.size, layout.element, item)
        elif layout.fields:
            for i, (_, start, sub) in enumerate(layout.fields):
                item = value[i] if isinstance(value, list) and i < len(value) else OPAQUE
                self._place(address + start, sub, item)
        else:
            self._place(address, None, value)

    # ---- running ----------------------------------------------------------------------------------------------

    def run(self) -> Trace:
        """Run every strand to its end, or to a deadlock, or until the budget is spent."""
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(limit, 4000))
        BlockInt.compared = False
        try:
            entry = self.program.function(self.kernel.entry)
            arguments = self._arguments()
            for cta in self.ctas:
                for warp in cta.warps:
                    self._add(Strand(self, warp, warp.lanes, entry, arguments, []))
            with collector_at_rest():
                self._schedule()
        except Misjudged:
            return self._again().run()
        except Unsteady:
            return self._again(steady=False).run()
        except Regret as regret:
            return self._again(settled={**self.settled, **regret.answer}).run()
        except HiddenOperations as call:
            self.trace.complete = False
            what = f"{call}: nothing behind it is judged"
            self.incident("unanalysed", call.where, data={"what": what, "error": call})
        except Lost:
            self.trace.complete = False
        except BudgetExceeded as spent:
            self.trace.complete = False
            self.incident("budget", (), data={"limit": str(spent)})
        finally:
            sys.setrecursionlimit(limit)
            self.chains.leave()
            run_has_ended(self.steps)
        if self.steady is not None and self.steady.skipped:
            if any(i.kind == "deadlock" for i in self.trace.incidents):
                return self._again(steady=False).run()
            self.incident("steady", (), data={"rounds": self.steady.skipped})
        self.trace.steps = self.steps
        self.trace.reads_contents = bool(self.chosen_words)
        self.trace.block_dependent = BlockInt.compared
        ending.close(self)
        return self.trace

    def _again(self, steady: bool = True, settled: Mapping[Stack, int] | None = None) -> Machine:
        """The same run from its start, with what its launch has learned, or without leaving rounds out."""
        return Machine(
            self.program,
            self.kernel,
            self.launch,
            budget=self.budget,
            seconds=max(self.deadline - time.thread_time(), 0.0),
            hypothesis=self.hypothesis,
            schedule=self.schedule,
            steady=steady and self.steady is not None,
            contents=self.contents,
            settled=self.settled if settled is None else settled,
            more=self.more,
        )

    def _add(self, strand: Strand, parent: Strand | None = None) -> None:
        strand.number = len(self.strands)
        if strand.number >= MAX_STRANDS:
            raise BudgetExceeded(f"{MAX_STRANDS} strands")
        self.strands.append(strand)
        preds = [(parent.last_event.id, "fork")] if parent is not None and parent.last_event is not None else []
        self.emit(strand, "start", where=(self.kernel.loc,), preds=preds)

    def fork(self, parent: Strand, lanes: int) -> None:
        """A new strand for lanes that leave their strand at a branch; it replays the parent's log to get there."""
        child = Strand(self, parent.warp, lanes, parent.entry, parent.arguments, list(parent.log))
        child.inherit(parent)
        self._add(child, parent)

    def _schedule(self) -> None:
        while True:
            if self.schedule.advance(self) or self._complete_one():
                continue
            if all(s.done for s in self.strands):
                return
            if self._unstick():
                continue
            self._deadlock()
            return

    def step(self, strand: Strand) -> None:
        """Let a strand run until it blocks or ends."""
        self.turns += 1
        if not self.turns & 0x3F and time.thread_time() > self.deadline:
            raise BudgetExceeded("time")
        strand.park = None
        try:
            strand.park = strand.advance()
        except StrandEnd as end:
            if end.trap:
                regretted = strand.regretted()
                if regretted is not None:
                    raise Regret(*regretted) from end
                self.incident(
                    "trap", end.where, strand, data={"reason": end.reason, "waited": strand.denied is not None}
                )
            self._exit(strand)
        except (BudgetExceeded, HiddenOperations, Misjudged, Unsteady):
            raise
        except RecursionError as error:
            self._lose(strand, (self.kernel.loc,), "recursion too deep", error)
        except Exception as error:  # generated code met something that it cannot execute
            self._lose(strand, strand.failure_place(error), _stopped(error), error)
        else:
            if strand.park is None:
                self._exit(strand)

    def _lose(self, strand: Strand, where: Stack, what: str, error: Exception) -> None:
        """A strand cannot go on. Others would wait for what it did not do: the run ends here."""
        self.incident("unanalysed", where, strand, data={"what": what, "error": error})
        raise Lost from error

    def _exit(self, strand: Strand) -> None:
        self._undrained(strand)
        strand.done = True
        strand.park = None
        strand.release_loads()
        event = self.emit(
            strand, "exit", where=(self.kernel.body_end if self.kernel.body_end.line else self.kernel.loc,)
        )
        strand.last_event = event
        warp = strand.warp
        warp.exited |= strand.lanes
        warp.exits.append(event.id)
        for gather in list(warp.gathers.values()):
            meeting.settle(warp, gather)
        for named in list(warp.cta.named.values()):
            meeting.check_named(self, warp.cta, named)
        meeting.check_cluster(self)
        self.progress += 1

    def _undrained(self, strand: Strand) -> None:
        """Bulk stores that the ending threads issued and never waited for."""
        groups = strand.groups.get("bulk")
        if groups is None:
            return
        for op in (o for g in [groups.open, *groups.committed] for o in g):
            if op.lanes & strand.lanes:
                self.incident(
                    "undrained",
                    op.event.where,
                    strand,
                    event=op.event.id,
                    data={"instr": op.event.data["instr"], "committed": op not in groups.open},
                )

    def _complete_one(self) -> bool:
        for op in self.queue:
            if op.ready is None or op.ready():
                self.complete(op)
                return True
        if self.queue:  # nothing is ready: the oldest has to go, whatever it waits for
            self.complete(self.queue[0])
            return True
        return False

    def complete(self, op: AsyncOp) -> None:
        """An operation in flight completes."""
        self.queue.remove(op)
        self.finish(op)

    def finish(self, op: AsyncOp) -> None:
        """An asynchronous operation completes."""
        if not op.done:
            op.done = op.source_read = True
            self.progress += 1
            op.complete()

    def finish_until(self, ops: Sequence[AsyncOp]) -> None:
        """Complete these operations now, if nothing holds them back."""
        for op in ops:
            if not op.done:
                if op in self.queue:
                    self.queue.remove(op)
                self.finish(op)

    def _unstick(self) -> bool:
        """Nothing can run, nothing is in flight: wake what may see a negative poll, or what waits in vain for lanes."""
        for strand in self.strands:
            park = strand.park
            if not strand.done and park is not None and park.polls and strand.may_see_no(self.progress, park.polls):
                park.negative = True
                self.step(strand)
                return True
        for strand in self.strands:
            park = strand.park
            if (
                not strand.done
                and park is not None
                and park.gather is not None
                and park.gather.lead is None
                and (self._hopeless(strand, park.gather))
            ):
                park.gather.lead = park.gather.members[0][0]
                park.gather.partial = True
                return True
        for strand in self.strands:
            park = strand.park
            if not strand.done and park is not None and park.kind == "uninitialised" and not park.hopeless:
                park.hopeless = True
                self.step(strand)
                return True
        return False

    def _hopeless(self, strand: Strand, gather: Gather) -> bool:
        """Whether the lanes that a gather waits for went to another meeting or ended.

        Lanes that are blocked at a barrier would still come.
        """
        missing = gather.need & ~gather.lanes & ~strand.warp.exited
        return all(
            s.park is not None and s.park.gather is not None
            for s in self.strands
            if s.warp is strand.warp and not s.done and s.lanes & missing
        )

    def _deadlock(self) -> None:
        self.trace.complete = False
        aborted = next((i for i in self.trace.incidents if i.kind == "trap" and not i.data["waited"]), None)
        if aborted is not None:  # a trap ends the whole grid: nobody waits for what its thread did not do
            what = "a thread traps with the values that were chosen: what others wait for then is not judged"
            self.incident("unanalysed", aborted.where, data={"what": what, "error": aborted.data["reason"]})
            return
        for strand in self.strands:
            if strand.done or strand.park is None:
                continue
            data = dict(strand.park.data)
            data["waiting"] = strand.park.kind
            self.incident("deadlock", data.pop("where", ()), strand, data=data)

    # ---- observing --------------------------------------------------------------------------------------------

    def emit(
        self,
        strand: Strand | None,
        kind: str,
        *,
        where: Stack | None = None,
        lanes: int | None = None,
        accesses: list[Access] | None = None,
        preds: Sequence[tuple[int, str]] = (),
        cta: int | None = None,
        data: dict[str, Any] | None = None,
    ) -> Event:
        """Write an event down. With a strand it takes the strand's pending predecessors along."""
        events = self.trace.events
        if strand is None:
            event = Event(
                len(events), kind, cta or 0, -1, 0, 0, -1, where or (), list(preds), accesses or [], data or {}
            )
            if "issuer" in event.data:
                event.data["warp"] = events[event.data["issuer"]].warp
            events.append(event)
            return event
        warp = strand.warp
        warp.time += 1
        all_preds = list(preds)
        if strand.pending:
            all_preds += strand.pending
            strand.pending = []
        event = Event(
            len(events),
            kind,
            warp.cta.rank,
            warp.number,
            strand.lanes if lanes is None else lanes,
            warp.time,
            strand.number,
            where if where is not None else self.where(),
            all_preds,
            accesses or [],
            data or {},
        )
        events.append(event)
        strand.last_event = event
        if strand.open_memory and kind not in ("ld", "st"):
            strand.close_memory()
        return event

    def where(self) -> Stack:
        """The call chain of the running strand, from the Python frames of the generated code."""
        return self.chains.at(self.accessing or generated_frame(sys._getframe(1)))

    def incident(
        self,
        kind: str,
        where: Stack,
        strand: Strand | None = None,
        *,
        event: int | None = None,
        cta: int = 0,
        lanes: int = 0,
        related: list[tuple[Stack, str]] | None = None,
        data: dict[str, Any] | None = None,
    ) -> None:
        """Write an incident down; repeated ones (same kind, place and CTA) only count."""
        if strand is not None:
            cta = strand.warp.cta.rank
            lanes = lanes or strand.lanes
        warp = strand.warp.number if strand is not None else -1
        key = (kind, where, warp if kind == "deadlock" else -1, strand.number if strand and kind == "deadlock" else -1)
        if key in self.seen:
            return
        self.seen.add(key)
        self.trace.incidents.append(Incident(kind, where, event, cta, warp, lanes, related or [], data or {}))

    def charge(self) -> None:
        """Count a step against the budget."""
        self.steps += 1
        if self.steps >= self._next_look:
            self._look()

    def _look(self) -> None:
        """See whether the budget is spent, and choose the step at which to look again."""
        if self.steps > self.budget:
            self.trace.block_dependent = BlockInt.compared
            budget = self.more(self.trace)
            if budget <= self.budget:
                raise BudgetExceeded(f"{self.budget} steps")
            self.budget = budget
        if self.steps % STEPS_A_LOOK == 0 and time.thread_time() > self.deadline:
            raise BudgetExceeded("time")
        self._next_look = min(self.steps - self.steps % STEPS_A_LOOK + STEPS_A_LOOK, self.budget + 1)

    # ---- addresses --------------------------------------------------------------------------------------------

    def shared_target(self, address: int) -> tuple[Cta, int] | None:
        """Owner and byte offset of a shared address (32-bit, or generic); None when it names no CTA of the cluster."""
        if address >= SHARED_WINDOW:
            address -= SHARED_WINDOW
        rank, offset = address >> CTA_SHIFT, address & ((1 << CTA_SHIFT) - 1)
        if 0 <= rank < len(self.ctas):
            return self.ctas[rank], offset
        return None

    def global_base(self, number: int) -> int:
        """Address of the allocation that pointer argument ``number`` points to."""
        return GLOBAL_WINDOW + (number + 1) * GLOBAL_STRIDE

    def global_addr(self, key: str) -> int:
        """Address of a ``__device__`` or ``__constant__`` variable."""
        address = self.global_vars.get(key)
        if address is None:
            address = CONST_WINDOW + len(self.global_vars) * GLOBAL_STRIDE
            self.global_vars[key] = address
        return address

    # ---- mbarriers --------------------------------------------------------------------------------------------

    def barrier_at(self, cta: Cta, offset: int) -> BarrierState | None:
        state = cta.barriers.get(offset)
        return state if state is not None and state.valid else None

    def init_barrier(self, cta: Cta, offset: int, count: int, name: str, event: Event) -> BarrierState:
        record = Barrier(cta.rank, offset, name, count, event.id)
        index = len(self.trace.barriers)
        self.trace.barriers.append(record)
        unit = Mbarrier.init(self.hypothesis.counts.get(event.where, count))
        unit.any_bytes = event.where in self.hypothesis.any_bytes
        state = BarrierState(unit, record, index)
        state.current = self._new_phase()
        if offset not in cta.barriers:
            self.landmarks.forget()
        cta.barriers[offset] = state
        self.progress += 1
        return state

    @staticmethod
    def _new_phase() -> dict[str, Any]:
        return {"arrivals": [], "expected": [], "copies": [], "waits": [], "event": None}

    def barrier_step(
        self,
        state: BarrierState,
        action: Callable[[Mbarrier], bool],
        pred: tuple[int, str],
        where: Stack,
        strand: Strand | None,
        *,
        arrivals: int = 0,
    ) -> None:
        """Apply an operation to a barrier; write the phase event when it completes the phase."""
        self.progress += 1
        state.contributions.append(pred)
        try:
            flipped = action(state.unit)
        except BarrierTrap as trap:
            self.incident(
                trap.kind,
                where,
                strand,
                event=pred[0],
                cta=state.record.cta,
                data={
                    "bar": state.index,
                    "detail": trap.detail,
                    "phase": state.unit.phase,
                    "count": arrivals,
                    "init": state.record.init_count,
                    "pending": state.unit.pending,
                    "tx": state.unit.tx,
                },
            )
            unit = state.unit
            if trap.kind == "over_arrival" and unit.pending and unit.tx == 0:
                flipped = unit.arrive(unit.pending)  # go on as if the surplus were not there
            else:
                flipped = False
        if flipped:
            preds = state.contributions
            if state.phase_events:
                preds = [*preds, (state.phase_events[-1], "phase")]
            event = self.emit(
                None,
                "phase",
                where=where,
                preds=preds,
                cta=state.record.cta,
                data={"bar": state.index, "index": state.unit.phase - 1},
            )
            state.current["event"] = event.id
            state.record.phases.append(state.current)
            if state.copies_due and self._due(state):
                self.incident(
                    "early_phase",
                    where,
                    strand,
                    event=event.id,
                    cta=state.record.cta,
                    data={"bar": state.index, "phase": state.unit.phase - 1, "copies": state.copies_due},
                )
            carried = [c for c in state.current["copies"] if not c.get("landed")]
            state.current = self._new_phase()
            state.current["copies"] = list(carried)
            state.contributions = []
            state.phase_events.append(event.id)

    @staticmethod
    def _due(state: BarrierState) -> bool:
        """Whether a copy that this phase should have waited for is still in flight."""
        return any(not c.get("landed") for c in state.current["copies"])


Blocking = Generator[Park, None, Any]
__all__ = ["ALL_LANES", "Blocking", "BudgetExceeded", "Machine"]
