"""The committed record: one line a file, and how the outcomes of a run differ from it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

RECORD = Path(__file__).parent / "record.json"

Lines = dict[str, str]


def load(path: Path = RECORD) -> dict[str, Lines]:
    """The record of each corpus, by its name."""
    if not path.exists():
        return {}
    found: dict[str, Lines] = json.loads(path.read_text(encoding="utf-8"))
    return found


def save(records: Mapping[str, Lines], path: Path = RECORD) -> None:
    """Write the record, sorted, so that a change shows as the lines that changed."""
    text = json.dumps({name: dict(sorted(lines.items())) for name, lines in sorted(records.items())}, indent=1)
    path.write_text(text + "\n", encoding="utf-8")


def differences(known: Lines, outcomes: Mapping[str, str]) -> list[str]:
    """Lines that tell what changed for the files that were audited."""
    return [
        f"{name}: {known.get(name, 'not in the record')} -> {now}"
        for name, now in sorted(outcomes.items())
        if known.get(name) != now
    ]
