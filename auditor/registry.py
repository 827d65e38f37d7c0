"""Finds the rules. A rule module is imported when its rule is first needed, never at start-up.

What a rule says about itself can be read without importing it, since its module loads the whole machine.
"""

from __future__ import annotations

import ast
import pkgutil
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from auditor.findings import Level
from auditor.quick_dataclass import dataclass
from auditor.rule import Rule

_PACKAGE = "auditor.rules"
_STEM = re.compile(r"bw(\d{3})_[a-z0-9_]+")


@dataclass(frozen=True)
class RuleInfo:
    """What a rule's class says: see ``Rule``."""

    code: str
    name: str
    level: Level
    confidence: str
    entries: tuple[str, ...]


@cache
def stems() -> dict[str, str]:
    """Module name of each rule, by code and in the order of codes. Imports no rule."""
    found: dict[str, str] = {}
    for info in sorted(pkgutil.iter_modules(import_module(_PACKAGE).__path__), key=lambda info: info.name):
        match = _STEM.fullmatch(info.name)
        if match is None:
            continue
        code = f"BW{match[1]}"
        if code in found:
            raise ImportError(f"two rules have the code {code}: {found[code]} and {info.name}")
        found[code] = info.name
    return found


@cache
def get(code: str) -> Rule:
    """The rule of that code. Raises KeyError for an unknown one."""
    stem = stems()[code]
    module = import_module(f"{_PACKAGE}.{stem}")
    rules = [
        value
        for value in vars(module).values()
        # not isinstance(value, type): to Python 3.10 an alias such as tuple[int, int] is one
        if issubclass(type(value), type) and issubclass(value, Rule) and value.__module__ == module.__name__
    ]
    rules = [rule for rule in rules if getattr(rule, "code", None) == code]
    if len(rules) != 1:
        raise ImportError(f"{stem}.py must define exactly one rule with the code {code}")
    rule: Rule = rules[0]()
    return rule


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule, in the order of codes."""
    return tuple(get(code) for code in stems())


@cache
def info(code: str) -> RuleInfo:
    """The metadata of the rule of that code, read from its source. Raises KeyError for an unknown one."""
    source = (_folder() / f"{stems()[code]}.py").read_text(encoding="utf-8")
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.ClassDef):
            values = dict(_assigned(statement))
            if values.get("code") == code:
                return RuleInfo(**values)
    raise ImportError(f"{stems()[code]}.py must define a rule with the code {code} and literal metadata")


def _assigned(body: ast.ClassDef) -> Iterator[tuple[str, Any]]:
    """Names and values of the metadata that a class assigns."""
    for statement in body.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            name, value = statement.targets[0].id, statement.value
            if name in RuleInfo.__dataclass_fields__:
                yield name, Level[value.attr] if isinstance(value, ast.Attribute) else ast.literal_eval(value)


def documentation(code: str) -> str:
    """The rule's documentation, Markdown. Raises KeyError for an unknown code."""
    return (_folder() / f"{stems()[code]}.md").read_text(encoding="utf-8")


def _folder() -> Path:
    return Path(next(iter(import_module(_PACKAGE).__path__)))


def section(code: str, heading: str) -> str:
    """The text under one heading of a rule's documentation; empty when there is no such heading."""
    match = re.search(rf"^##? {re.escape(heading)}\s*\n(.*?)(?=^##? |\Z)", documentation(code), re.M | re.S)
    return match[1].strip() if match else ""
