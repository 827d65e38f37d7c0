"""Findings: what rules report and outputs print."""

from __future__ import annotations

from dataclasses import field
from enum import Enum

from auditor.quick_dataclass import dataclass
from auditor.source import Loc


class Level(str, Enum):
    """error: proved under plausible inputs; warning: the specification is broken but practice often forgives;
    note: pedantic, shown with ``--strict``."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"

    @property
    def rank(self) -> int:
        return {"note": 0, "warning": 1, "error": 2}[self.value]


@dataclass(frozen=True)
class Related:
    """Another place that a finding refers to."""

    loc: Loc
    message: str


@dataclass(frozen=True)
class Edit:
    """The text that replaces a place in a source; ``loc`` has both ends known, equal for an insertion."""

    loc: Loc
    text: str


@dataclass(frozen=True)
class Fix:
    """A repair: ``edits`` of one file that do not overlap, in order, and in a few words what they do."""

    description: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True)
class Finding:
    """One problem. ``loc`` is the user's line (never a wrapper's inside, which goes to ``related``).

    ``flow`` tells the story in order; ``inputs`` are the values under which it happened ("k_blocks": "10");
    ``context`` are role, stage, iteration and the like, for the text output. ``candidates`` are repairs that a rule
    proposes, the best first; ``fix`` is the one that an audit of the repaired source has confirmed, the only one that
    is shown.
    """

    code: str
    level: Level
    message: str
    loc: Loc
    kernel: str = ""
    related: tuple[Related, ...] = ()
    flow: tuple[Related, ...] = ()
    inputs: tuple[tuple[str, str], ...] = ()
    context: tuple[tuple[str, str], ...] = ()
    hint: str = ""
    candidates: tuple[Fix, ...] = ()
    fix: Fix | None = None


@dataclass
class Coverage:
    """What was and was not analysed in one file."""

    kernels: int = 0
    executed: int = 0
    notes: list[tuple[str, str, Loc]] = field(default_factory=list)  # (kind, message, place)


@dataclass
class FileResult:
    """Everything that auditing one file yields. ``failure`` is set when nothing could be audited.

    ``hidden`` counts findings that were made and are not reported, by the reason. ``stages`` are seconds by stage of
    the pipeline; ``cached`` says that they were spent in an earlier run.
    """

    path: str
    findings: list[Finding] = field(default_factory=list)
    coverage: Coverage = field(default_factory=Coverage)
    sources: dict[str, str] = field(default_factory=dict)
    failure: str = ""
    seconds: float = 0.0
    hidden: dict[str, int] = field(default_factory=dict)
    stages: dict[str, float] = field(default_factory=dict)
    cached: bool = False
