"""Reports as JSON, and the schema of that JSON, both made from the dataclasses of ``auditor.reports.model``."""

from __future__ import annotations

import json
from typing import Any

from auditor.output.tool import NAME, VERSION
from auditor.reports import model
from auditor.reports.json_data import plain, type_of

FORMAT = 1
# Values that a property adds to a dataclass in JSON.
_DERIVED: dict[type, dict[str, str]] = {
    model.BarrierRow: {"stages": "integer"},
    model.SharedMemory: {"total": "integer", "ctas_per_sm": "integer"},
    model.TensorMemory: {"rounded": "integer", "waste": "integer"},
}


def render(reports: list[model.FileReport]) -> str:
    """All files' reports as one object."""
    document = {
        "format": FORMAT,
        "tool": {"name": NAME, "version": VERSION},
        "files": [plain(r, _DERIVED) for r in reports],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of ``render``'s output. Readers should ignore keys that they do not know."""
    definitions: dict[str, Any] = {}
    file = type_of(model.FileReport, definitions, _DERIVED)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "bw-audit report",
        "type": "object",
        "required": ["format", "tool", "files"],
        "properties": {
            "format": {"const": FORMAT},
            "tool": {
                "type": "object",
                "required": ["name", "version"],
                "properties": {"name": {"type": "string"}, "version": {"type": "string"}},
            },
            "files": {"type": "array", "items": file},
        },
        "$defs": dict(sorted(definitions.items())),
    }
