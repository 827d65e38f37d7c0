"""A stand-in for everything between reading a file and its findings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from auditor.analysis import Analysis, ArchRun
from auditor.config import AuditOptions
from auditor.findings import Coverage, Finding, Level
from auditor.source import Loc

RING = "src/ring.cu"


@dataclass
class Pipeline:
    """Reports the findings that it was given, and keeps what it was called with."""

    findings: list[Finding] = field(default_factory=list)
    calls: list[tuple[str, str, AuditOptions]] = field(default_factory=list)
    act: Callable[[str], None] = lambda path: None

    def __call__(self, path: str, text: str, arch: str, options: AuditOptions, analysis: Analysis) -> ArchRun:
        self.calls.append((path, arch, options))
        self.act(path)
        return ArchRun(arch, [finding for finding in self.findings if finding.loc.file == path], Coverage(1, 1))

    @property
    def options(self) -> AuditOptions:
        return self.calls[-1][2]

    @property
    def arches(self) -> list[str]:
        return [arch for _, arch, _ in self.calls]


def finding(level: Level = Level.ERROR, code: str = "BW202", file: str = RING, line: int = 6) -> Finding:
    return Finding(code, level, "a message", Loc(file, line, 3), kernel="ring")
