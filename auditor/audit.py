"""The audit of one program: run its kernels, build their graphs, let the rules judge.

``Audit`` is what a rule sees: one kernel under one set of inputs, executed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from auditor.causes import Diagnosis
from auditor.config import AuditOptions
from auditor.findings import Coverage, Finding, Fix, Level, Related
from auditor.graph import HappensBefore
from auditor.machine.contents import Contents, ascending
from auditor.machine.core import Machine
from auditor.machine.host import survey
from auditor.machine.host_facts import HostFacts
from auditor.machine.hypothesis import Hypothesis
from auditor.machine.launch import Launch
from auditor.machine.scenario import ScenarioSettings, plan
from auditor.machine.schedule import LAZY, TRUTHFUL, Lazy, Slow
from auditor.machine.series import More, Series
from auditor.program import Kernel, Program
from auditor.registry import all_rules, get
from auditor.rule import Rule
from auditor.source import SHIM_ROOT, UNKNOWN, Loc, Stack
from auditor.starved import served, starved
from auditor.story import Story
from auditor.trace import Event, Incident, Trace

STEP_BUDGET = 500_000
SHORT_HANG = 4_000  # steps of a run that hangs, up to which it is no matter that its cause was looked for before
WITHOUT_BODY = "BW003"  # empty-kernel


class Audit:
    """One kernel, executed under one launch."""

    def __init__(
        self,
        program: Program,
        kernel: Kernel,
        launch: Launch,
        trace: Trace,
        deadline: float,
        schedule: Lazy = LAZY,
        told: Container[tuple[str, Loc]] = (),
    ) -> None:
        """``told``: codes and places of what other runs have shown, for which no more repairs are asked."""
        self.program = program
        self.kernel = kernel
        self.launch = launch
        self.trace = trace
        self.deadline = deadline
        self.schedule = schedule
        self.told = told

    @cached_property
    def hb(self) -> HappensBefore:
        return HappensBefore(self.trace)

    @cached_property
    def story(self) -> Story:
        return Story(self)

    @cached_property
    def diagnosis(self) -> Diagnosis:
        return Diagnosis(self)

    def rerun(
        self, hypothesis: Hypothesis, launch: Launch | None = None, contents: Contents = ascending
    ) -> Audit | None:
        """The same run with one detail changed, with another launch, or with other contents of global memory; None when
        no time is left."""
        launch = launch or self.launch
        left = self.deadline - time.thread_time()
        if left <= 0.05:
            return None
        trace = Machine(
            self.program,
            self.kernel,
            launch,
            budget=STEP_BUDGET,
            seconds=left,
            hypothesis=hypothesis,
            schedule=self.schedule,
            contents=contents,
        ).run()
        return Audit(self.program, self.kernel, launch, trace, self.deadline, self.schedule)

    def incidents(self, *kinds: str) -> Iterator[Incident]:
        return (i for i in self.trace.incidents if i.kind in kinds)

    def has(self, *kinds: str) -> bool:
        """Whether an event of one of these kinds, or an operation of that instruction, took place."""
        return not self._kinds.isdisjoint(kinds)

    @cached_property
    def _kinds(self) -> set[str]:
        return {*self._by_kind, *(str(e.data["instr"]) for e in self.of_kind("async"))}

    def of_kind(self, kind: str) -> Sequence[Event]:
        """The events of a kind, in order."""
        return self._by_kind.get(kind, ())

    @cached_property
    def _by_kind(self) -> dict[str, list[Event]]:
        out: dict[str, list[Event]] = {}
        for e in self.trace.events:
            out.setdefault(e.kind, []).append(e)
        return out

    @cached_property
    def peeks(self) -> bool:
        """Whether a poll that was answered "no" never became a wait at its place: its answer decides what follows."""
        waits = {e.where for e in self.of_kind("mbar.wait")}
        return any(poll.where not in waits for poll in self.trace.polls)

    def event(self, number: int) -> Event:
        return self.trace.events[number]

    def user(self, stack: Stack) -> Loc:
        """The user's line of a call chain: the first place that is not inside a wrapper of a few instructions."""
        for n, loc in enumerate(stack):
            if self.program.is_system(loc):
                continue
            if loc not in self.program.wrappers or self._is_handed_over(loc, stack[n + 1 :]):
                return loc
        return stack[-1] if stack else self.kernel.loc

    def _is_handed_over(self, loc: Loc, callers: Stack) -> bool:
        """Whether a place is in a lambda that some other function calls, for whoever wrote it: where that one is called
        says less. ``callers``: the call sites outwards, the nearest first."""
        if any(call.encloses(loc) for call in callers):
            return True
        body = self.kernel.body
        return body.encloses(loc) and any(body.encloses(c) for c in callers) and not body.encloses(callers[0])

    def inside(self, stack: Stack) -> tuple[Loc, ...]:
        """The places inside wrappers, innermost first."""
        user = self.user(stack)
        out = []
        for loc in stack:
            if loc == user:
                break
            if not loc.file.startswith(SHIM_ROOT):  # nobody could look at it
                out.append(loc)
        return tuple(out)

    def finding(
        self,
        rule: type[Rule],
        where: Stack,
        message: str,
        *,
        level: Level | None = None,
        related: Iterable[tuple[Stack, str]] = (),
        flow: Iterable[tuple[Stack, str]] = (),
        hint: str = "",
        context: Iterable[tuple[str, str]] = (),
        repair: Callable[[], tuple[Fix, ...]] | None = None,
    ) -> Finding:
        """A finding at the user's line of ``where``, with the wrapper's line and the other places related.

        ``repair`` proposes repairs; it is not asked for those of mere notes.
        """
        loc = self.user(where)
        places: list[Related] = []
        for stack, text in related:
            if stack:
                places.append(Related(self.user(stack), text))
        inside = self.inside(where)
        places += [Related(inner, "the instruction, in this wrapper") for inner in inside[:1]]
        places += [Related(outer, "which this wrapper calls") for outer in inside[1:3]]
        places += [Related(outer, "called from here") for outer in self.callers(where)[:2]]
        steps = tuple(Related(self.user(stack), text) for stack, text in flow if stack)
        unique = tuple(dict.fromkeys(places))
        return Finding(
            code=rule.code,
            level=level or rule.level,
            message=message,
            loc=loc,
            kernel=self.kernel.display,
            related=unique,
            flow=steps if len(steps) > 1 else (),
            inputs=tuple(self.trace.inputs.items()),
            context=tuple(context),
            hint=hint,
            candidates=repair() if self._wants_repair(rule, level, loc) and repair is not None else (),
        )

    def _wants_repair(self, rule: type[Rule], level: Level | None, loc: Loc) -> bool:
        return (level or rule.level) is not Level.NOTE and (rule.code, loc) not in self.told

    def callers(self, stack: Stack) -> tuple[Loc, ...]:
        """Call sites outside the user's line, innermost first."""
        user = self.user(stack)
        places = list(stack)
        index = places.index(user) if user in places else len(places)
        return tuple(places[index + 1 :])


def audit_program(program: Program, options: AuditOptions) -> tuple[list[Finding], Coverage]:
    """Audit every kernel of a program."""
    findings: list[Finding] = []
    coverage = Coverage(kernels=len(program.kernels))
    for note in program.notes:
        coverage.notes.append((note.kind, note.message, note.loc))
    facts = survey(program, whole_values(options)) if program.host_entries else None
    for kernel in program.kernels:
        if kernel.empty:
            coverage.notes.append(("empty", f"kernel {kernel.display} has no body for {program.arch}", kernel.loc))
            findings += _without_body(program, kernel, options)
            continue
        if options.only and kernel.display not in options.only:
            continue
        got, complete = audit_kernel(program, kernel, options, coverage, facts)
        findings += got
        coverage.executed += complete
    return findings, coverage


def _without_body(program: Program, kernel: Kernel, options: AuditOptions) -> Iterator[Finding]:
    """The finding on a kernel that has nothing to run: no other rule could say anything of it."""
    if options.selects(WITHOUT_BODY):
        blank = Launch(kernel.name)
        audit = Audit(program, kernel, blank, Trace(kernel.display, {}, 1, 1), time.thread_time())
        yield from get(WITHOUT_BODY).check(audit)


def audit_kernel(
    program: Program, kernel: Kernel, options: AuditOptions, coverage: Coverage, facts: HostFacts | None = None
) -> tuple[list[Finding], bool]:
    """Run one kernel under its scenarios. Returns its findings and whether every run came to an end."""
    deadline = time.thread_time() + options.budget
    options = options.for_kernel(kernel.name, kernel.display)
    findings: dict[tuple[str, Loc], Finding] = {}
    complete = True
    seen = _Seen()
    launches = plan(program, kernel, scenario_settings(options), facts)

    def judge(audit: Audit) -> None:
        for rule in all_rules():
            if not options.selects(rule.code):
                continue
            for finding in rule.check(audit):
                told = _of_a_guess(finding) if _guessed(audit) else finding
                findings.setdefault((finding.code, finding.loc), told)

    def run(launch: Launch, steps: int, more: More) -> Trace | None:
        left = deadline - time.thread_time()
        if left <= 0:
            coverage.notes.append(
                ("budget", f"kernel {kernel.display}: time budget spent before all inputs were tried", kernel.loc)
            )
            return None
        share = left / 2 if launches[-1].reduced and not launch.reduced else left  # keep time for the stand-in
        return Machine(program, kernel, launch, budget=steps, seconds=share, more=more).run()

    for launch, trace in Series(launches, STEP_BUDGET, run):
        if seen.holds(launch, trace):
            continue  # another CTA or launch that does the same: nothing new to judge
        audit = _fed(Audit(program, kernel, launch, trace, deadline, told=findings))
        complete &= _note_coverage(audit, coverage)
        judge(audit)
        left = deadline - time.thread_time()
        if not findings and trace.complete and left > 0 and audit.peeks:
            skipping = Machine(program, kernel, launch, budget=STEP_BUDGET, seconds=left, schedule=TRUTHFUL).run()
            judge(Audit(program, kernel, launch, skipping, deadline, TRUTHFUL))
    return [_with_inputs(f, kernel) for f in findings.values()], complete


def scenario_settings(options: AuditOptions) -> ScenarioSettings:
    """What the user fixed of the runs."""
    return ScenarioSettings(
        block=options.block,
        grid=options.grid,
        cluster=options.cluster,
        shared_bytes=options.smem,
        values=whole_values(options),
    )


def whole_values(options: AuditOptions) -> dict[str, int]:
    """The scalar arguments that the user set, as integers: the protocol depends on no others."""
    return {name: int(value) for name, value in options.values}


def _fed(audit: Audit) -> Audit:
    """The audit, or one of a run in which threads that had nothing to read are slow; see ``auditor/starved.py``."""
    warps = starved(audit.trace)
    left = audit.deadline - time.thread_time()
    if not warps or left <= 0:
        return audit
    schedule = Slow(warps)
    trace = Machine(
        audit.program, audit.kernel, audit.launch, budget=STEP_BUDGET, seconds=left, schedule=schedule
    ).run()
    if not served(trace, warps):
        return audit
    return Audit(audit.program, audit.kernel, audit.launch, trace, audit.deadline, schedule, audit.told)


class _Seen:
    """Runs that were judged."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int, bool], list[Trace]] = {}  # by what is soon compared
        self._hangs: set[frozenset[Stack]] = set()

    def holds(self, launch: Launch, trace: Trace) -> bool:
        """Whether another run did the same, or hung at the same places before a long one that only adds to it: its
        cause would be looked for in many more runs. If not, this one is taken up."""
        hang = frozenset(i.where for i in trace.incidents if i.kind == "deadlock")
        if launch.extra and hang in self._hangs and trace.steps > SHORT_HANG:
            return True
        if hang:
            self._hangs.add(hang)
        known = self._known.setdefault((len(trace.events), len(trace.incidents), trace.complete), [])
        if any(_did_the_same(trace, other) for other in known):
            return True
        known.append(trace)
        return False


def _did_the_same(a: Trace, b: Trace) -> bool:
    """Whether two runs of as many events and incidents did the same at the same places with the same shared memory."""
    return all(map(_alike, a.events, b.events)) and all(
        i.kind == other.kind and i.where == other.where for i, other in zip(a.incidents, b.incidents)
    )


def _alike(a: Event, b: Event) -> bool:
    return (
        a.kind == b.kind
        and a.warp == b.warp
        and a.lanes == b.lanes
        and a.where == b.where
        and _touched(a) == _touched(b)
    )


def _touched(event: Event) -> list[tuple[str, int, int, bool]]:
    return [(a.space, a.lo, a.hi, a.write) for a in event.accesses if a.space != "global"]


def _note_coverage(audit: Audit, coverage: Coverage) -> bool:
    """Write down what the run could not analyse; True when every role ran to its end."""
    whole = True
    for incident in audit.incidents("unanalysed"):
        loc = audit.user(incident.where) if incident.where else UNKNOWN
        coverage.notes.append(("unanalysed", f"kernel {audit.kernel.display}: {incident.data['what']}", loc))
        if "error" in incident.data:
            whole = False
    for incident in audit.incidents("budget"):
        coverage.notes.append(
            ("budget", f"kernel {audit.kernel.display}: stopped after {incident.data['limit']}", audit.kernel.loc)
        )
        whole = False
    for incident in audit.incidents("steady"):
        rounds = f"{incident.data['rounds']} rounds of a loop in its steady state were not executed one by one"
        coverage.notes.append(("steady", f"kernel {audit.kernel.display}: {rounds}", audit.kernel.loc))
    return whole


def _guessed(audit: Audit) -> bool:
    """Whether neither the template arguments nor the block are known, which may not fit together then."""
    return audit.kernel.instantiation == "guess" and "block" in audit.launch.chosen


def _of_a_guess(finding: Finding) -> Finding:
    if finding.level is Level.NOTE:
        return finding
    why = (
        "template arguments and block are guesses, which may not fit together: name them with --instantiate and --block"
    )
    return replace(finding, level=Level.NOTE, message=f"{finding.message} ({why})")


def _with_inputs(finding: Finding, kernel: Kernel) -> Finding:
    return finding if finding.kernel else replace(finding, kernel=kernel.display)
