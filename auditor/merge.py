"""Joins what several kernels, inputs and architectures have to say about one place."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from auditor.findings import Coverage, Finding

H = TypeVar("H", bound=Hashable)


def merge_findings(runs: Sequence[tuple[str, Sequence[Finding]]]) -> list[Finding]:
    """One finding a code and place, sorted by place. ``runs`` pairs an architecture with its findings.

    The worst finding of a place is kept (of equals the first); its context names the other kernels and, when not
    every architecture shows it, the architectures.
    """
    groups: dict[tuple[str, str, int, int], list[tuple[str, Finding]]] = {}
    for arch, findings in runs:
        for finding in findings:
            key = (finding.code, finding.loc.file, finding.loc.line, finding.loc.column)
            groups.setdefault(key, []).append((arch, finding))
    merged = [_join(group, [arch for arch, _ in runs]) for group in groups.values()]
    return sorted(merged, key=lambda finding: (finding.loc, finding.code))


def _join(group: Sequence[tuple[str, Finding]], arches: Sequence[str]) -> Finding:
    kept = max((finding for _, finding in group), key=lambda finding: finding.level.rank)
    context = list(kept.context)
    others = _distinct(finding.kernel for _, finding in group if finding.kernel not in ("", kept.kernel))
    if others:
        context.append(("also in kernel" if len(others) == 1 else "also in kernels", ", ".join(others)))
    shown = _distinct(arch for arch, _ in group)
    if len(shown) < len(set(arches)):
        context.append(("only for", ", ".join(shown)))
    inputs = _distinct(finding.inputs for _, finding in group if finding.kernel == kept.kernel)
    if len(inputs) > 1:
        context.append(("also with", f"{len(inputs) - 1} more of the inputs tried"))
    return replace(kept, context=tuple(context))


def merge_coverage(parts: Sequence[Coverage]) -> Coverage:
    """Coverage over all architectures: kernels and notes that several of them share count once."""
    return Coverage(
        kernels=max((part.kernels for part in parts), default=0),
        executed=min((part.executed for part in parts), default=0),
        notes=_distinct(note for part in parts for note in part.notes),
    )


def _distinct(items: Iterable[H]) -> list[H]:
    """The items in order, each once."""
    return list(dict.fromkeys(items))
