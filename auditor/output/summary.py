"""Counts of a whole run, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from auditor.findings import FileResult


def plural(count: int, word: str) -> str:
    """ "1 error", "2 errors"."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def level_counts(results: Sequence[FileResult]) -> dict[str, int]:
    """Number of findings of each level, worst level first; every level is present."""
    counts = Counter(finding.level.value for result in results for finding in result.findings)
    return {level: counts[level] for level in ("error", "warning", "note")}


def verdict(results: Sequence[FileResult]) -> str:
    """The findings in one line: "2 errors, 1 warning in 1 file of 3"."""
    counts = level_counts(results)
    audited = [result for result in results if not result.failure]
    failed = len(results) - len(audited)
    found = ", ".join(plural(count, level) for level, count in counts.items() if count)
    if found:
        files = sum(1 for result in audited if result.findings)
        line = f"{found} in {plural(files, 'file')}" + (f" of {len(audited)}" if len(audited) > 1 else "")
    else:
        line = f"no findings in {plural(len(audited), 'file')}"
    hidden: Counter[str] = Counter()
    for result in results:
        hidden.update(result.hidden)
    for reason, count in sorted(hidden.items()):
        line += f"; {count} {reason}"
    return line + (f"; {plural(failed, 'file')} could not be audited" if failed else "")


def coverage(results: Sequence[FileResult]) -> str:
    """What was executed, in one line."""
    kernels = sum(result.coverage.kernels for result in results)
    executed = sum(result.coverage.executed for result in results)
    notes = Counter(kind for result in results for kind, _, _ in result.coverage.notes)
    if not kernels:
        line = "coverage: no kernels"
    elif executed == kernels:
        line = f"coverage: {plural(kernels, 'kernel')} executed to the end"
    else:
        line = f"coverage: {executed} of {plural(kernels, 'kernel')} executed to the end"
    if notes:
        line += "; " + ", ".join(f"{count} x {kind}" for kind, count in sorted(notes.items()))
    return line
