"""Skeletons as text with holes: lines that hold under conditions, and values between @ signs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import resources


def filled(name: str, values: Mapping[str, object], conditions: Mapping[str, bool]) -> str:
    """The template ``name`` of this package. ``?condition`` at the start of a line keeps it where that holds."""
    template = resources.files("auditor.plans").joinpath(name).read_text(encoding="utf-8")
    lines = [text for line in template.splitlines() if (text := _kept(line, conditions)) is not None]
    return re.sub(r"@(\w+)@", lambda match: str(values[match[1]]), "\n".join(lines)) + "\n"


def _kept(line: str, conditions: Mapping[str, bool]) -> str | None:
    """A line of the template without its conditions; None when one of them does not hold."""
    while (match := re.match(r"\?(\w+)(?: |$)", line)) is not None:
        if not conditions[match[1]]:
            return None
        line = line[match.end() :]
    return line
