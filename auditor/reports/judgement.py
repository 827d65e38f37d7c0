"""What follows from the tables: the conclusion and what it rests on."""

from __future__ import annotations

from dataclasses import dataclass

from auditor.audit import Audit
from auditor.findings import Coverage, Finding
from auditor.reports.descriptors import DIFFER
from auditor.reports.model import (
    BarrierRow,
    Fact,
    MapRow,
    Problem,
    Ring,
    SharedMemory,
    TensorMemory,
)


@dataclass(frozen=True)
class Tables:
    """The extracted tables of one kernel, for what is concluded from them."""

    barriers: tuple[BarrierRow, ...]
    rings: tuple[Ring, ...]
    shared: SharedMemory
    maps: tuple[MapRow, ...]
    tmem: TensorMemory | None

    @property
    def operand_rings(self) -> list[Ring]:
        """Rings that copies fill, those that are refilled first, then the deepest."""
        filled = [r for r in self.rings if r.space == "shared" and r.ready != "generic writes, proxy fence"]
        return sorted(filled, key=lambda r: (r.free == "none", -r.depth, -r.stage_size))

    @property
    def main_ring(self) -> Ring | None:
        """The deepest ring of operands."""
        return next(iter(self.operand_rings), None)


def problems(findings: list[Finding]) -> tuple[Problem, ...]:
    """The audit's errors and warnings, gravest first."""
    graver = sorted((f for f in findings if f.level.rank), key=lambda f: (-f.level.rank, f.loc.line, f.code))
    return tuple(Problem(f.code, f.level.value, f.message, f.loc.line) for f in graver)


def verdict(found: tuple[Problem, ...], complete: bool, unknown: int) -> str:
    """The conclusion in a word."""
    if found:
        return "findings"
    return "clean" if complete and not unknown else "incomplete"


def gaps(coverage: Coverage) -> int:
    """How many things could not be analysed."""
    return sum(kind == "unanalysed" for kind, _, _ in coverage.notes)


def conclusion(
    tables: Tables, found: tuple[Problem, ...], complete: bool, unknown: int, runs: int, chosen: bool
) -> tuple[str, ...]:
    """A few sentences: is the protocol sound, and what does the kernel spend.

    ``unknown``: see ``gaps``. ``chosen``: the launch and its arguments are ours.
    """
    out = []
    if found:
        errors = sum(p.level == "error" for p in found)
        out.append(
            f"The protocol has faults: {count(errors, 'error')}, {count(len(found) - errors, 'warning')} "
            f"in {count(runs, 'run')}."
        )
    elif complete and unknown:
        out.append(
            f"No fault found in {count(runs, 'run')} of the model, but {count(unknown, 'thing')} could not be "
            "analysed: this is not a statement about all of it."
        )
    elif complete:
        out.append(
            f"No fault found in {count(runs, 'run')} of the model: every wait has its arrivals, every read its "
            "completion, every refill its release."
        )
    else:
        out.append(
            "No fault found, but some of the kernel could not be executed: this is not a statement about all of it."
        )
    if chosen:
        out.append(
            "No launch of this kernel is in the file: it holds for inputs that were chosen, see the assumptions."
        )
    unusual = {"none": ", never refilled", "nothing": ", refilled although nothing tells that they are free"}
    for ring in tables.operand_rings:
        released = unusual.get(ring.free, f", released through {ring.free}")
        out.append(
            f"Copies to {ring.name} pass through {count(ring.depth, 'stage')} of {ring.stage_size:,} bytes, "
            f"announced by {ring.ready}{released}."
        )
    if tables.tmem is not None:
        t = tables.tmem
        out.append(
            f"Tensor memory: {t.rounded} columns allocated, {t.touched} touched, {t.peak} live at once in model time."
        )
    bound = min(tables.shared.bounds, key=lambda b: b[1])
    out.append(
        f"A CTA takes {tables.shared.total:,} bytes of shared memory; an SM holds {count(bound[1], 'CTA')}, "
        f"limited by {bound[0]}."
    )
    differ = [f"{m.name}: {c.item}" for m in tables.maps for c in m.checks if c.verdict == DIFFER]
    if differ:
        out.append(f"Host and kernel differ in {count(len(differ), 'item')}: {'; '.join(differ[:3])}.")
    return tuple(out)


def count(n: int, noun: str) -> str:
    """A number with its noun: "1 stage", "3 stages"."""
    return f"{n:,} {noun}" + ("" if n == 1 else "s")


def evidence(audit: Audit) -> tuple[Fact, ...]:
    """What the run rests on, with where it came from."""
    launch = audit.launch
    facts = [
        Fact("architecture", audit.program.arch, "source"),
        Fact("launch", launch.origin, _origin(launch.origin, "")),
    ]
    for name, value in launch.inputs.items():
        facts.append(Fact(name, value, "chosen" if name in launch.chosen else _origin(launch.origin, value)))
    seen = f"{count(audit.trace.ctas, 'CTA')} of {audit.trace.warps_per_cta} warps, executed "
    facts.append(Fact("run", seen + ("to the end" if audit.trace.complete else "until it stopped"), "run"))
    return tuple(facts)


def _origin(origin: str, value: str) -> str:
    if "(given)" in value:
        return "command line"
    if "(chosen)" in value or "not known" in value or origin == "chosen":
        return "chosen"
    return "host code"


def assumptions(audit: Audit, coverage: Coverage) -> tuple[str, ...]:
    """What was taken for granted because nothing told it."""
    out = [
        f"{fact.name} = {fact.value.removesuffix(' (chosen)')} was chosen"
        for fact in evidence(audit)
        if fact.origin == "chosen" and fact.name != "launch"
    ]
    if audit.launch.origin == "chosen":
        out.insert(0, "no launch of this kernel was found: its shape and arguments are ours")
    out += [
        f"not analysed, line {loc.line}: {message}"
        for kind, message, loc in coverage.notes
        if kind in ("unanalysed", "budget")
    ][:6]
    out.append("values of global memory are made up; the order of operations is judged for all schedules of this run")
    return tuple(dict.fromkeys(out))
