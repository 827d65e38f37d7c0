"""Results as JSON. The schema is documented in docs/json.md; ``FORMAT`` changes when a reader would break."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from auditor.findings import FileResult, Finding, Fix, Related
from auditor.output.summary import level_counts
from auditor.output.tool import NAME, VERSION
from auditor.source import Loc

FORMAT = 1


def write_json(results: Sequence[FileResult]) -> str:
    """The whole run as one JSON object."""
    document = {
        "format": FORMAT,
        "tool": {"name": NAME, "version": VERSION},
        "summary": {
            "files": len(results),
            "failed": sum(1 for result in results if result.failure),
            "kernels": sum(result.coverage.kernels for result in results),
            "executed": sum(result.coverage.executed for result in results),
            "findings": level_counts(results),
        },
        "files": [_file(result) for result in results],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _file(result: FileResult) -> dict[str, Any]:
    return {
        "path": result.path,
        "failure": result.failure or None,
        "seconds": round(result.seconds, 3),
        "cached": result.cached,
        "hidden": result.hidden,
        "coverage": {
            "kernels": result.coverage.kernels,
            "executed": result.coverage.executed,
            "notes": [
                {"kind": kind, "message": message, "location": _place(loc)}
                for kind, message, loc in result.coverage.notes
            ],
        },
        "findings": [_finding(finding) for finding in result.findings],
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "level": finding.level.value,
        "message": finding.message,
        "location": _place(finding.loc),
        "kernel": finding.kernel or None,
        "related": [_related(place) for place in finding.related],
        "flow": [_related(step) for step in finding.flow],
        "inputs": dict(finding.inputs),
        "context": dict(finding.context),
        "hint": finding.hint or None,
        "fix": _fix(finding.fix) if finding.fix else None,
    }


def _fix(fix: Fix) -> dict[str, Any]:
    return {
        "description": fix.description,
        "edits": [{"location": _place(edit.loc), "text": edit.text} for edit in fix.edits],
    }


def _related(place: Related) -> dict[str, Any]:
    return {"message": place.message, "location": _place(place.loc)}


def _place(loc: Loc) -> dict[str, Any] | None:
    """A location; null when unknown. The end is null when only the start is known."""
    if not loc.line:
        return None
    return {
        "file": loc.file,
        "line": loc.line,
        "column": loc.column,
        "endLine": loc.end_line or None,
        "endColumn": loc.end_column if loc.end_line else None,
    }
