"""Makes the report of a file: audit for the findings, one typical run for the tables."""

from __future__ import annotations

import time

from auditor.audit import STEP_BUDGET, Audit, audit_kernel, scenario_settings, whole_values
from auditor.config import AuditOptions
from auditor.findings import Coverage
from auditor.machine.core import Machine
from auditor.machine.host import survey
from auditor.machine.host_facts import HostFacts
from auditor.machine.launch import Launch
from auditor.machine.scenario import plan
from auditor.program import Kernel, Program
from auditor.reports import judgement, validation
from auditor.reports.actors import roles
from auditor.reports.buffers import loaded, stored
from auditor.reports.clock import Clock
from auditor.reports.descriptors import maps
from auditor.reports.facts import Facts
from auditor.reports.ledger import ledger
from auditor.reports.memory import shared_memory
from auditor.reports.model import KernelReport
from auditor.reports.resources import Resources
from auditor.reports.rings import rings
from auditor.reports.timeline import timeline
from auditor.reports.tmem import tensor_memory
from auditor.reports.tmem_objects import objects


def report_program(program: Program, options: AuditOptions, name: str | None = None) -> tuple[KernelReport, ...]:
    """Reports of a program's kernels; only of those that ``name`` names, with or without template arguments."""
    wanted = [k for k in program.kernels if not k.empty and (name is None or name in (k.name, k.display))]
    host = survey(program, whole_values(options)) if program.host_entries else None
    return tuple(report_kernel(program, kernel, options, host) for kernel in wanted)


def report_kernel(program: Program, kernel: Kernel, options: AuditOptions, host: HostFacts | None) -> KernelReport:
    """The report of one kernel. ``host``: what host code tells, as ``survey`` found it."""
    options = options.for_kernel(kernel.name, kernel.display)
    coverage = Coverage()
    findings, complete = audit_kernel(program, kernel, options, coverage, host)
    launches = plan(program, kernel, scenario_settings(options), host)
    audit = _typical(program, kernel, launches, options.budget)
    facts = Facts(audit)
    clock = Clock(facts)
    cta = min((e.cta for e in facts.ops), default=0)
    held = objects(facts, cta)
    filled, drained = loaded(facts), stored(facts)
    resources = Resources(facts, [*filled, *drained], held)
    rows = ledger(facts, resources)
    tmem = tensor_memory(facts, held, resources, clock, cta)
    tables = judgement.Tables(
        rows,
        rings(facts, resources, rows, filled, held, drained),
        shared_memory(audit, tmem.rounded if tmem is not None else 0),
        maps(facts),
        tmem,
    )
    unknown = judgement.gaps(coverage)
    found = judgement.problems(findings)
    return KernelReport(
        kernel=kernel.display,
        line=kernel.loc.line,
        arch=program.arch,
        verdict=judgement.verdict(found, complete, unknown),
        conclusion=judgement.conclusion(
            tables,
            found,
            complete,
            unknown,
            sum(not (run.reduced or run.deep or run.ragged or run.alone or run.once_more) for run in launches),
            audit.launch.origin == "chosen",
        ),
        problems=found,
        facts=judgement.evidence(audit),
        assumptions=judgement.assumptions(audit, coverage),
        roles=roles(facts),
        barriers=tables.barriers,
        rings=tables.rings,
        shared=tables.shared,
        maps=tables.maps,
        tmem=tmem,
        timeline=timeline(facts, clock),
        trials=validation.trials(audit, tables),
        falsifier=validation.falsifier(tables),
        risks=validation.risks(audit, tables, found),
        fallback=validation.fallback(tables),
    )


def _typical(program: Program, kernel: Kernel, launches: list[Launch], budget: float) -> Audit:
    """The first run that stays within the budget; the first of all when none does."""
    deadline = time.thread_time() + budget
    first: Audit | None = None
    for launch in launches:
        left = max(deadline - time.thread_time(), 0.1)
        trace = Machine(program, kernel, launch, budget=STEP_BUDGET, seconds=left).run()
        audit = Audit(program, kernel, launch, trace, deadline)
        if not any(audit.incidents("budget")):
            return audit
        first = first or audit
    assert first is not None  # plan() makes at least one launch
    return first
