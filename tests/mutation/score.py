"""Audits mutants and judges the result: killed or not, and whether a finding points at the mistake."""

from __future__ import annotations

import contextlib
import hashlib
import json
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from multiprocessing import Pool
from pathlib import Path

from auditor.config import AuditOptions
from auditor.engine import audit_file, with_deep_stack
from auditor.findings import FileResult, Finding, Level
from tests.mutation.mutants import Mutant

NEAR = 3  # lines
BUDGET = 300.0  # seconds a kernel: a busy machine must not change the score
_TOOL = "BW0"  # what the tool says about itself kills no mutant


@dataclass(frozen=True)
class Outcome:
    """What the auditor said about one mutant.

    ``codes``, ``said``: of the findings that the good kernel lacks. ``places``: all lines that these mention.
    """

    path: str
    operator: str
    site: str
    lines: tuple[int, ...]
    shown: str
    codes: tuple[str, ...]
    said: tuple[str, ...]
    places: tuple[int, ...]
    concerned: tuple[int, ...] = ()
    failure: str = ""
    noted: tuple[str, ...] = ()  # codes of the notes (--strict) at the change or at what it left unordered

    @property
    def killed(self) -> bool:
        return bool(self.codes)

    @property
    def points(self) -> bool:
        """Whether a finding is at the change."""
        return _near(self.places, self.lines)

    @property
    def names(self) -> bool:
        """Whether a finding is at the change or at what it left unordered."""
        return self.points or _near(self.places, self.concerned)

    @property
    def key(self) -> tuple[str, str, str]:
        return Path(self.path).stem, self.operator, self.site


def judge(mutant: Mutant, baseline: frozenset[tuple[str, str]]) -> Outcome:
    """Audit one mutant. ``baseline`` are (code, message) of the findings in the good kernel."""
    result = _audit(mutant.path, mutant.text)
    fresh = [f for f in result.findings if (f.code, f.message) not in baseline and not f.code.startswith(_TOOL)]
    new = [f for f in fresh if f.level is not Level.NOTE]
    notes = {f.code for f in fresh if f.level is Level.NOTE
             and _near(_places(f), (*mutant.lines, *mutant.concerned))}
    return Outcome(
        path=mutant.path, operator=mutant.operator, site=mutant.site, lines=mutant.lines, shown=mutant.shown,
        codes=tuple(sorted({f.code for f in new})),
        said=tuple(f"{f.code}:{f.loc.line}: {f.message}" for f in new),
        places=tuple(sorted({line for f in new for line in _places(f)})),
        concerned=mutant.concerned, failure=result.failure, noted=tuple(sorted(notes)),
    )


def findings_of_good(path: str, text: str) -> frozenset[tuple[str, str]]:
    """(code, message) of what the auditor says about a good kernel."""
    return frozenset((f.code, f.message) for f in _audit(path, text).findings)


def _audit(path: str, text: str) -> FileResult:
    """Audit a text as if it stood in that file."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / Path(path).name
        copy.write_text(text)
        return with_deep_stack(lambda: audit_file(str(copy), AuditOptions(budget=BUDGET, strict=True)))


def _places(finding: Finding) -> Iterator[int]:
    yield finding.loc.line
    yield from (r.loc.line for r in (*finding.related, *finding.flow))


def _near(places: Iterable[int], lines: Iterable[int]) -> bool:
    wanted = set(lines)
    return any(abs(place - line) <= NEAR for place in places for line in wanted)


class Cache:
    """Outcomes of earlier runs, by the text of the mutant and by the state of the auditor."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.state = _state_of_auditor()
        self.kept: dict[str, Outcome] = {}
        if path is not None and path.exists():
            with contextlib.suppress(ValueError, KeyError, TypeError):  # another version wrote it: start afresh
                stored = json.loads(path.read_text())
                if stored["state"] == self.state:
                    self.kept = {key: _outcome(value) for key, value in stored["outcomes"].items()}

    def key(self, mutant: Mutant) -> str:
        facts = (Path(mutant.path).stem, mutant.operator, mutant.site, mutant.text)
        return hashlib.sha256("\0".join(facts).encode()).hexdigest()

    def save(self) -> None:
        if self.path is not None:
            self.path.write_text(json.dumps({"state": self.state, "outcomes": {
                key: asdict(value) for key, value in self.kept.items()}}))


def _outcome(stored: dict[str, object]) -> Outcome:
    lists = {k: tuple(v) if isinstance(v, list) else v for k, v in stored.items()}
    return Outcome(**lists)  # type: ignore[arg-type]


def _state_of_auditor() -> str:
    root = Path(__file__).parents[2]
    digest = hashlib.sha256()
    for folder in ("auditor", "rules"):
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in (".py", ".h", ".cuh") and file.is_file():
                digest.update(file.read_bytes())
    return digest.hexdigest()


def run(tasks: list[tuple[Mutant, frozenset[tuple[str, str]]]], jobs: int, cache: Cache) -> Iterator[Outcome]:
    """Judge mutants, in order."""
    fresh = [task for task in tasks if cache.key(task[0]) not in cache.kept]
    with Pool(jobs, maxtasksperchild=50) as pool:
        results = pool.imap(_judge, fresh)
        for number, (mutant, _) in enumerate(tasks, 1):
            key = cache.key(mutant)
            if key not in cache.kept:
                cache.kept[key] = next(results)
            yield replace(cache.kept[key], path=mutant.path, lines=mutant.lines, concerned=mutant.concerned)
            if number % 50 == 0:
                cache.save()
    cache.save()


def _judge(task: tuple[Mutant, frozenset[tuple[str, str]]]) -> Outcome:
    return judge(*task)
