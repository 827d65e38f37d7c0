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


def load(path: Path = FILE) -> list[Equivalent]:
    """Read the list: tables ``[[mutant]]`` with plain strings, a subset of TOML that every Python version can read.

    Raises ValueError for anything else.
    """
    entries: list[dict[str, str]] = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        text = line.strip()
        if text == "[[mutant]]":
            entries.append({})
        elif text and not text.startswith("#"):
            match = _ENTRY.match(text)
            if match is None or not entries:
                raise ValueError(f"{path.name}:{number}: not understood: {text}")
            entries[-1][match[1]] = match[2]
    return [Equivalent(e["kernel"], e["operator"], e["site"], e["why"]) for e in entries]
