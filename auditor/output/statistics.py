"""Tables about a whole run: findings by rule, time by file and stage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from auditor import registry
from auditor.findings import FileResult, Level
from auditor.output.summary import plural

SLOWEST = 10


def statistics(results: Sequence[FileResult]) -> list[str]:
    """Findings of each rule, the most frequent first: count, code, worst level, name of the rule."""
    counts: Counter[str] = Counter()
    levels: dict[str, Level] = {}
    for result in results:
        for finding in result.findings:
            counts[finding.code] += 1
            levels[finding.code] = max(
                levels.get(finding.code, finding.level), finding.level, key=lambda level: level.rank
            )
    width = len(str(max(counts.values(), default=0)))
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [f"{count:>{width}}  {code}  {levels[code].value:<7}  {_name(code)}" for code, count in ordered]


def timing(results: Sequence[FileResult], wall: float) -> list[str]:
    """Seconds of the run, of each stage over all files, and of the slowest files.

    What the cache answered counts as no time.
    """
    fresh = [result for result in results if not result.cached and not result.failure]
    cached = sum(result.cached for result in results)
    spent = sum(result.seconds for result in fresh)
    lines = [f"{wall:8.2f} s  whole run; {plural(cached, 'file')} of {len(results)} from the cache"]
    if not fresh:
        return lines
    lines.append(f"{spent:8.2f} s  audits of {plural(len(fresh), 'file')}, of which")
    stages: Counter[str] = Counter()
    for result in fresh:
        stages.update(result.stages)
    lines += [f"{seconds:8.2f} s    {stage}" for stage, seconds in stages.items()]
    slowest = sorted(fresh, key=lambda result: -result.seconds)[:SLOWEST]
    return lines + [f"{result.seconds:8.2f} s  {result.path}" for result in slowest]


def _name(code: str) -> str:
    return registry.info(code).name if code in registry.stems() else ""
