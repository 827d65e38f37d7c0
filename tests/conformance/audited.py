"""The second comparison: every measured program as a CUDA file through the whole auditor."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from multiprocessing import Pool
from pathlib import Path

from auditor.config import AuditOptions
from auditor.engine import audit_file
from auditor.findings import Finding
from tests.conformance.cuda import Source, write
from tests.conformance.explore import Explorer
from tests.conformance.faults import Fault, fault
from tests.conformance.recorded import Recorded

OPTIONS = AuditOptions(arches=("sm_90a",))
# What says that a program hangs, or may: waits without end, and the disagreements that lead to them.
HANG = frozenset({"BW101", "BW102", "BW103", "BW104", "BW105", "BW106", "BW115", "BW211", "BW602", "BW603"})
# What says that hardware stops with an error.
TRAP = frozenset({"BW107", "BW111", "BW212", "BW404"}) | HANG
STATES = 100_000
_BARRIER = re.compile(r"\bbar\[(\d+)\](?: of CTA (\d+))?")


@dataclass
class Audited:
    """What the auditor said of one program.

    ``cause``: whether a finding names the changed operation; None where the change is not known. ``may``: of a program
    that always ended and has a finding of a hang, whether a search over the interleavings found one that fails; None
    where it did not come to its end.
    """

    id: str
    shape: str
    bug: str
    label: str
    codes: tuple[str, ...]
    cause: bool | None = None
    may: bool | None = None
    problem: str = ""
    messages: list[str] = field(default_factory=list)

    @property
    def told(self) -> bool:
        """Whether the findings say what hardware showed: that it hangs, may hang or traps."""
        if self.problem:
            return False
        if self.label == "ends":
            return not HANG.intersection(self.codes)
        return bool((TRAP if self.label == "traps" else HANG).intersection(self.codes))


def auditable(p: Recorded) -> bool:
    """Whether CUDA source of this form can express it: barriers in their place and initialised, copies aligned."""
    return not p.misalign and bool(p.init[0]) and all(op.shift == (0, 0) for _, _, op in p.ops())


def audit(p: Recorded) -> Audited:
    """Write the program as CUDA, audit it, and compare."""
    source = write(p)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{p.id}.cu"
        path.write_text(source.text, encoding="utf-8")
        result = audit_file(str(path), OPTIONS)
    changed = fault(p) if p.label == "hangs" else None
    notes = [message for kind, message, _ in result.coverage.notes if kind in ("unanalysed", "budget")]
    audited = Audited(
        p.id, p.shape, p.bug, p.label, tuple(sorted({f.code for f in result.findings})),
        None if changed is None else any(names(f, changed, source) for f in result.findings), None,
        result.failure or "; ".join(notes),
        [f"line {f.loc.line}: {f.code} {f.message}" for f in result.findings],
    )
    if p.label == "ends" and not audited.told and not audited.problem:
        audited.may = Explorer(p).may_fail(STATES)
    return audited


def names(finding: Finding, changed: Fault, source: Source) -> bool:
    """Whether a finding is about the change: at the changed operation or init, or about the barrier that it starves."""
    lines = {source.places[op] for op in changed.ops} | {source.inits[bar] for bar in changed.barriers}
    if finding.loc.line in lines:
        return True
    first = _BARRIER.search(finding.message)
    return first is not None and (int(first[2] or 0), int(first[1])) in changed.barriers


def audit_all(programs: Iterable[Recorded], jobs: int) -> list[Audited]:
    """Results in the order of the programs."""
    with Pool(jobs) as pool:
        return list(pool.imap(audit, filter(auditable, programs), 4))
