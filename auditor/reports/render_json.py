"""Reports as JSON, and the schema of that JSON, both made from the dataclasses of ``auditor.reports.model``."""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from typing import Any

from auditor.output.tool import NAME, VERSION
from auditor.reports import model

FORMAT = 1
_SCALARS = {str: "string", int: "integer", bool: "boolean", float: "number"}
# Values that a property adds to a dataclass in JSON.
_DERIVED: dict[type, dict[str, str]] = {
    model.BarrierRow: {"stages": "integer"},
    model.SharedMemory: {"total": "integer", "ctas_per_sm": "integer"},
    model.TensorMemory: {"rounded": "integer", "waste": "integer"},
}


def render(reports: list[model.FileReport]) -> str:
    """All files' reports as one object."""
    document = {"format": FORMAT, "tool": {"name": NAME, "version": VERSION}, "files": [_plain(r) for r in reports]}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [f.name for f in dataclasses.fields(value)] + list(_DERIVED.get(type(value), ()))
        return {_key(name): _plain(getattr(value, name)) for name in names}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def _key(name: str) -> str:
    """A Python name as a JSON key: init_count is initCount."""
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of ``render``'s output. Readers should ignore keys that they do not know."""
    definitions: dict[str, Any] = {}
    file = _type(model.FileReport, definitions)
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


def _type(hint: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """The schema of a type; dataclasses become definitions."""
    if hint in _SCALARS:
        return {"type": _SCALARS[hint]}
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        if hint.__name__ not in definitions:
            definitions[hint.__name__] = {}
            definitions[hint.__name__] = _definition(hint, definitions)
        return {"$ref": f"#/$defs/{hint.__name__}"}
    arguments = typing.get_args(hint)
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return {"anyOf": [{"type": "null"} if a is type(None) else _type(a, definitions) for a in arguments]}
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        return {"type": "array", "items": _type(arguments[0], definitions)}
    return {
        "type": "array",
        "prefixItems": [_type(a, definitions) for a in arguments],
        "minItems": len(arguments),
        "maxItems": len(arguments),
    }


def _definition(cls: type, definitions: dict[str, Any]) -> dict[str, Any]:
    hints = typing.get_type_hints(cls)
    properties = {_key(name): _type(hint, definitions) for name, hint in hints.items()}
    properties |= {_key(name): {"type": kind} for name, kind in _DERIVED.get(cls, {}).items()}
    text = " ".join((cls.__doc__ or "").replace("``", "").split())
    return {"type": "object", "description": text, "required": list(properties), "properties": properties}
