"""Dataclasses as JSON, and as JSON Schema (2020-12)."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping
from typing import Any

_SCALARS = {str: "string", int: "integer", bool: "boolean", float: "number"}
Derived = Mapping[type, Mapping[str, str]]  # values that a property adds to a dataclass, with their types in JSON


def plain(value: Any, derived: Derived) -> Any:
    """A value in types that json can write."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [f.name for f in dataclasses.fields(value)] + list(derived.get(type(value), ()))
        return {key(name): plain(getattr(value, name), derived) for name in names}
    if isinstance(value, (list, tuple)):
        return [plain(item, derived) for item in value]
    return value


def key(name: str) -> str:
    """A Python name as a JSON key: init_count is initCount."""
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def type_of(hint: Any, definitions: dict[str, Any], derived: Derived) -> dict[str, Any]:
    """The schema of a type; dataclasses become ``definitions``."""
    if hint in _SCALARS:
        return {"type": _SCALARS[hint]}
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        if hint.__name__ not in definitions:
            definitions[hint.__name__] = {}
            definitions[hint.__name__] = _definition(hint, definitions, derived)
        return {"$ref": f"#/$defs/{hint.__name__}"}
    arguments = typing.get_args(hint)
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        kinds = [{"type": "null"} if a is type(None) else type_of(a, definitions, derived) for a in arguments]
        return {"anyOf": kinds}
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        return {"type": "array", "items": type_of(arguments[0], definitions, derived)}
    return {
        "type": "array",
        "prefixItems": [type_of(a, definitions, derived) for a in arguments],
        "minItems": len(arguments),
        "maxItems": len(arguments),
    }


def _definition(cls: type, definitions: dict[str, Any], derived: Derived) -> dict[str, Any]:
    hints = typing.get_type_hints(cls)
    properties = {key(name): type_of(hint, definitions, derived) for name, hint in hints.items()}
    properties |= {key(name): {"type": kind} for name, kind in derived.get(cls, {}).items()}
    text = " ".join((cls.__doc__ or "").replace("``", "").split())
    return {"type": "object", "description": text, "required": list(properties), "properties": properties}
