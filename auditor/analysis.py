"""What the pipeline finds in one file, before the user's wishes about reporting are applied to it.

An analysis depends only on the source, the headers it read and the options that the pipeline sees, so it can be
computed in another process and kept in a cache. ``auditor.conclude`` turns it into a ``FileResult``.
"""

from __future__ import annotations

from dataclasses import field

from auditor.findings import Coverage, Finding
from auditor.quick_dataclass import dataclass
from auditor.source import Loc


@dataclass(frozen=True)
class KernelPlace:
    """A kernel as findings name it, where its name is declared, and from where to where its body goes, if it stands
    in the source as it is."""

    display: str
    loc: Loc
    body: Loc | None = None


@dataclass
class ArchRun:
    """The findings of a file for one architecture, none merged and none left out."""

    arch: str
    findings: list[Finding]
    coverage: Coverage
    kernels: list[KernelPlace] = field(default_factory=list)


@dataclass
class Analysis:
    """``failure`` says in one line why nothing could be audited. ``headers`` are the files read besides the source.

    ``seconds`` is the time that it took; ``stages`` divides it by stage of the pipeline.
    """

    path: str
    runs: list[ArchRun] = field(default_factory=list)
    sources: dict[str, str] = field(default_factory=dict)
    headers: list[str] = field(default_factory=list)
    failure: str = ""
    seconds: float = 0.0
    stages: dict[str, float] = field(default_factory=dict)
    cached: bool = False
