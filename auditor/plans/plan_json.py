"""Plans as JSON, and the schema of that JSON."""

from __future__ import annotations

import json
from typing import Any

from auditor.output.tool import NAME, VERSION
from auditor.plans.attention_model import AttentionPlan
from auditor.plans.attention_spec import AttentionSpec
from auditor.plans.model import GemmPlan
from auditor.plans.spec import GemmSpec
from auditor.reports.json_data import plain, type_of

FORMAT = 1


def as_json(plan: GemmPlan | AttentionPlan, nearest: GemmPlan | AttentionPlan | None) -> str:
    """The plan as one JSON object; ``nearest`` is null when the plan is possible or nothing near it is."""
    document = {
        "format": FORMAT,
        "tool": {"name": NAME, "version": VERSION},
        "possible": plan.possible,
        "plan": plain(plan, {}),
        "nearest": plain(nearest.spec, {}) if nearest is not None else None,
    }
    return json.dumps(document, indent=2) + "\n"


def schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of ``as_json``'s output. Readers should ignore keys that they do not know."""
    definitions: dict[str, Any] = {}
    properties = {
        "format": {"const": FORMAT},
        "tool": {
            "type": "object",
            "required": ["name", "version"],
            "properties": {"name": {"type": "string"}, "version": {"type": "string"}},
        },
        "possible": {"type": "boolean"},
        "plan": type_of(GemmPlan | AttentionPlan, definitions, {}),
        "nearest": type_of(GemmSpec | AttentionSpec | None, definitions, {}),
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "bw-audit plan",
        "type": "object",
        "required": list(properties),
        "properties": properties,
        "$defs": dict(sorted(definitions.items())),
    }
