"""Mutants that change nothing that can be observed, each with the argument why."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).with_name("equivalent.toml")
_ENTRY = re.compile(r'^(\w+) = "((?:[^"\\]|\\.)*)"$')


@dataclass(frozen=True)
class Equivalent:
    """One excluded mutant."""

    kernel: str
    operator: str
    site: str
    why: str

    @property
    def key(self) -> tuple[str, str, str]:
        return self.kernel, self.operator, self.site


@dataclass(frozen=True)
class Practice:
    """A rule whose notes are about what reference code does: a mutant that only they tell of is no mistake."""

    rule: str
    why: str


def load(path: Path = FILE) -> list[Equivalent]:
    """The excluded mutants. Raises ValueError for a line that is not understood."""
    return [Equivalent(e["kernel"], e["operator"], e["site"], e["why"]) for e in _tables(path, "mutant")]


def practices(path: Path = FILE) -> list[Practice]:
    """The rules whose notes excuse a mutant. Raises ValueError for a line that is not understood."""
    return [Practice(e["rule"], e["why"]) for e in _tables(path, "practice")]


def _tables(path: Path, name: str) -> list[dict[str, str]]:
    """The tables ``[[name]]`` with plain strings, a subset of TOML that every Python version can read."""
    tables: list[tuple[str, dict[str, str]]] = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        text = line.strip()
        if text in ("[[mutant]]", "[[practice]]"):
            tables.append((text.strip("[]"), {}))
        elif text and not text.startswith("#"):
            match = _ENTRY.match(text)
            if match is None or not tables:
                raise ValueError(f"{path.name}:{number}: not understood: {text}")
            tables[-1][1][match[1]] = match[2]
    return [entries for kind, entries in tables if kind == name]
