"""Rules as SARIF describes them: what GitHub shows beside an alert."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import sarif_om as om

from auditor import registry

_PRECISION = {"high": "very-high", "medium": "high", "low": "medium"}
_SEVERITY = {"error": "error", "warning": "warning", "note": "recommendation"}
_AREAS = {
    "0": "coverage",
    "1": "mbarrier",
    "2": "bulk-copy",
    "3": "tensor-memory",
    "4": "cluster",
    "5": "resources",
    "6": "threads",
}


def descriptor(code: str, level: str) -> Any:
    """The rule as SARIF describes it. ``level`` describes a code that has no rule."""
    try:
        rule = registry.info(code)
    except KeyError:
        unknown = f"{code} has no documentation."
        return om.ReportingDescriptor(
            id=code,
            short_description=text(unknown),
            full_description=text(unknown),
            help=om.MultiformatMessageString(text=unknown, markdown=unknown),
            default_configuration=om.ReportingConfiguration(level=level),
        )
    short = _first_sentence(registry.section(code, "What it does"))
    full = _plain(registry.section(code, "What it does"))
    document = registry.documentation(code)
    return om.ReportingDescriptor(
        id=code,
        name=_pascal(rule.name),
        short_description=text(short),
        full_description=text(full),
        help=om.MultiformatMessageString(text=_plain(document), markdown=document),
        default_configuration=om.ReportingConfiguration(level=rule.level.value),
        properties={
            "precision": _PRECISION[rule.confidence],
            "problem.severity": _SEVERITY[rule.level.value],
            "tags": _tags(code, rule.entries),
        },
    )


def _tags(code: str, entries: Iterable[str]) -> list[str]:
    return ["cuda", "correctness", _AREAS.get(code[2], "other"), *entries]


def _first_sentence(markdown: str) -> str:
    paragraph = _plain(markdown.split("\n\n", 1)[0])
    match = re.match(r".*?[.!?](?=\s|$)", paragraph, re.S)
    return match[0] if match else paragraph


def _plain(markdown: str) -> str:
    """Markdown without its marks, for readers that show text."""
    out = re.sub(r"^#+\s*", "", markdown, flags=re.M)
    out = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", out)
    out = re.sub(r"^```.*\n?", "", out, flags=re.M)
    return re.sub(r"[`*]", "", out).strip()


def _pascal(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("-"))


def text(value: str) -> Any:
    """A string as SARIF's multiformat message."""
    return om.MultiformatMessageString(text=value)
