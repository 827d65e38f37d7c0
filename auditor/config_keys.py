"""The keys of a configuration file: what each means, which values it takes, and how they are read.

The JSON schema (docs/config.schema.json) is made from the same table, so that the two cannot disagree.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from auditor.config import Dim3, KernelOptions
from auditor.quick_dataclass import dataclass

LEVELS = ("error", "warning", "note")
FAIL_LEVELS = (*LEVELS, "never")
SCHEMA = "https://json-schema.org/draft/2020-12/schema"


class ConfigError(Exception):
    """A configuration file that cannot be used. The message is one line and names the file."""


class Invalid(Exception):  # noqa: N818 - caught where the key's place is known
    """A value of the wrong kind. The message completes the sentence "key: ..."."""


@dataclass(frozen=True)
class Key:
    """A key: its name in the file, its meaning, the JSON schema of its values and the reader that checks one."""

    name: str
    meaning: str
    schema: Mapping[str, Any]
    read: Callable[[Any], Any]


def read_table(table: Mapping[str, Any], keys: Iterable[Key], where: str = "") -> dict[str, Any]:
    """The checked values of a table by key name. Raises Invalid; ``where`` is the table's own name, for messages."""
    known = {key.name: key for key in keys}
    out = {}
    for name, value in table.items():
        if name not in known:
            raise Invalid(f"unknown key {where + name!r}{_suggestion(name, known)}")
        try:
            out[name] = known[name].read(value)
        except Invalid as error:
            raise Invalid(f"{where}{name}: {error}") from None
    return out


def _suggestion(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name.replace("_", "-"), list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else f"; known are {', '.join(known)}"


# ---- readers ----


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise Invalid(f"{value!r} is not a text")
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise Invalid(f"{value!r} is neither true nor false")
    return value


def _list(read: Callable[[Any], Any]) -> Callable[[Any], tuple[Any, ...]]:
    def read_list(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise Invalid(f"{value!r} is not a list")
        return tuple(read(item) for item in value)

    return read_list


def _one_of(words: tuple[str, ...]) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if value not in words:
            raise Invalid(f"{value!r} is not one of {', '.join(words)}")
        return str(value)

    return read


def _integer(least: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise Invalid(f"{value!r} is not a whole number of at least {least}")
        return value

    return read


def _seconds(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < float("inf"):
        raise Invalid(f"{value!r} is not a positive number")
    return float(value)


def _scalar(value: Any) -> int | float:
    if not isinstance(value, (int, float)):
        raise Invalid(f"{value!r} is not a number")
    return int(value) if isinstance(value, bool) else value


def _dimension(value: Any) -> Dim3:
    parts = value if isinstance(value, list) else [value]
    if not 1 <= len(parts) <= 3:
        raise Invalid(f"{value!r} is not one to three positive numbers")
    x, y, z = [_integer(1)(part) for part in parts] + [1] * (3 - len(parts))
    return (x, y, z)


def _prefix(value: Any) -> str:
    from auditor import registry

    prefix = _text(value).upper()
    if not any(code.startswith(prefix) for code in registry.stems()):
        raise Invalid(f"no rule has a code that begins with {value!r}")
    return prefix


def _architecture(value: Any) -> str:
    match = re.fullmatch(r"(?:sm_|compute_)?(\d{2,3}[af]?)", _text(value).lower())
    if match is None:
        raise Invalid(f"{value!r} is not an architecture such as sm_90a")
    return f"sm_{match[1]}"


def _table(read: Callable[[str, Any], Any]) -> Callable[[Any], tuple[tuple[str, Any], ...]]:
    """A reader of a table whose keys are the user's: (key, value) pairs in the file's order."""

    def read_pairs(value: Any) -> tuple[tuple[str, Any], ...]:
        if not isinstance(value, dict):
            raise Invalid(f"{value!r} is not a table")
        out = []
        for name, item in value.items():
            try:
                out.append((name, read(name, item)))
            except Invalid as error:
                raise Invalid(f"{name}: {error}") from None
        return tuple(out)

    return read_pairs


def _level(code: str, value: Any) -> str:
    from auditor import registry

    if code not in registry.stems():
        raise Invalid("is not the code of a rule" + _suggestion(code, registry.stems()).partition("; known")[0])
    return _one_of(LEVELS)(value)


def _kernel(name: str, value: Any) -> KernelOptions:
    if not isinstance(value, dict):
        raise Invalid(f"{value!r} is not a table")
    given = read_table(value, LAUNCH_KEYS)
    given["values"] = given.pop("set", ())
    return KernelOptions(name, **given)


# ---- tables ----

_TEXT = {"type": "string", "minLength": 1}
_TEXTS = {"type": "array", "items": _TEXT}
_CODES = {"type": "array", "items": {"type": "string", "pattern": "^[Bb][Ww]?[0-9]{0,3}$"}}
_POSITIVE = {"type": "integer", "minimum": 1}
_DIMENSION = {"anyOf": [_POSITIVE, {"type": "array", "items": _POSITIVE, "minItems": 1, "maxItems": 3}]}
_VALUES = {"type": "object", "additionalProperties": {"type": ["number", "boolean"]}}

LAUNCH_KEYS = (
    Key("set", "Values of scalar kernel arguments, by name.", _VALUES, _table(lambda name, value: _scalar(value))),
    Key("block", "Threads of a block: a number or a list of up to three.", _DIMENSION, _dimension),
    Key("grid", "Blocks of the grid: a number or a list of up to three.", _DIMENSION, _dimension),
    Key("cluster", "Blocks of a cluster: a number or a list of up to three.", _DIMENSION, _dimension),
    Key("smem", "Dynamic shared memory of a block, in bytes.", {"type": "integer", "minimum": 0}, _integer(0)),
)


def _object(keys: Iterable[Key]) -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": {key.name: {"description": key.meaning, **key.schema} for key in keys},
    }


def _choice(words: Iterable[str]) -> dict[str, Any]:
    return {"enum": list(words)}


KEYS = (
    Key("select", "Report only rules whose code begins so.", _CODES, _list(_prefix)),
    Key("ignore", "Leave these rules out; the longer prefix wins.", _CODES, _list(_prefix)),
    Key("strict", "Report notes too.", {"type": "boolean"}, _flag),
    Key("fail-on", "Least level for which the exit code is 1.", _choice(FAIL_LEVELS), _one_of(FAIL_LEVELS)),
    Key(
        "levels",
        "The level of a rule, in place of its own.",
        {
            "type": "object",
            "propertyNames": {"pattern": "^BW[0-9]{3}$"},
            "additionalProperties": _choice(LEVELS),
        },
        _table(_level),
    ),
    Key(
        "per-file-ignores",
        "Rules to leave out, by pattern of the path relative to this file.",
        {"type": "object", "additionalProperties": _CODES},
        _table(lambda pattern, value: _list(_prefix)(value)),
    ),
    Key("exclude", "Patterns of paths that a search of folders leaves out.", _TEXTS, _list(_text)),
    Key("baseline", "File of findings that are known, relative to this file.", _TEXT, _text),
    Key(
        "jobs", "Processes that audit at the same time; 0: one a core.", {"type": "integer", "minimum": 0}, _integer(0)
    ),
    Key("arch", "Architectures to audit for, such as sm_100a.", _TEXTS, _list(_architecture)),
    Key("include", "Folders of headers, relative to this file.", _TEXTS, _list(_text)),
    Key("define", "Macros, as NAME or NAME=VALUE.", _TEXTS, _list(_text)),
    Key("std", "C++ standard, such as c++17.", _TEXT, _text),
    Key("cuda-path", "Folder of a CUDA toolkit whose headers are used, relative to this file.", _TEXT, _text),
    Key("instantiate", "Instances of kernel templates to audit, as NAME<ARGS>.", _TEXTS, _list(_text)),
    Key("budget", "Seconds that one kernel may take.", {"type": "number", "exclusiveMinimum": 0}, _seconds),
    *LAUNCH_KEYS,
    Key(
        "kernels",
        "Launch and argument values of the kernels of one name.",
        {"type": "object", "additionalProperties": _object(LAUNCH_KEYS)},
        _table(_kernel),
    ),
)


def json_schema() -> dict[str, Any]:
    """The JSON schema of a configuration file."""
    return {"$schema": SCHEMA, "title": "Configuration of bw-audit", **_object(KEYS)}
