"""The programs about groups as CUDA files through the whole auditor."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from multiprocessing import Pool
from pathlib import Path

from auditor.engine import audit_file
from tests.conformance.audited import OPTIONS
from tests.conformance.cuda_groups import write
from tests.conformance.groups import GroupProgram
from tests.conformance.groups_check import Values

UNCOMMITTED = "BW208"  # a store that no group takes, so that a wait does not cover it, also where nobody needs that


@dataclass
class AuditedGroup:
    """What the auditor said of one program. ``races``: whether the machine leaves a value in shared memory open."""

    id: str
    shape: str
    races: bool
    codes: tuple[str, ...]
    problem: str = ""
    messages: list[str] = field(default_factory=list)

    @property
    def told(self) -> bool:
        """Whether there is a finding just where something is open."""
        return not self.problem and bool(set(self.codes) - (set() if self.races else {UNCOMMITTED})) == self.races


def audit(p: GroupProgram) -> AuditedGroup:
    """Write the program as CUDA, audit it, and compare with its graph on the machine."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{p.id}.cu"
        path.write_text(write(p), encoding="utf-8")
        result = audit_file(str(path), OPTIONS)
    notes = [message for kind, message, _ in result.coverage.notes if kind in ("unanalysed", "budget")]
    return AuditedGroup(
        p.id, p.shape, Values(p).races(), tuple(sorted({f.code for f in result.findings})),
        result.failure or "; ".join(notes), [f"line {f.loc.line}: {f.code} {f.message}" for f in result.findings],
    )


def audit_all(programs: Iterable[GroupProgram], jobs: int) -> list[AuditedGroup]:
    """Results in the order of the programs."""
    with Pool(jobs) as pool:
        return list(pool.imap(audit, programs, 4))
