"""Colours of terminal output."""

from __future__ import annotations

import os
from typing import IO

from auditor.quick_dataclass import dataclass

_CODES = {"error": "1;31", "warning": "1;33", "note": "1;36", "bold": "1", "dim": "2", "related": "34", "fix": "32"}


@dataclass(frozen=True)
class Style:
    """Paints text, or leaves it as it is."""

    colour: bool = False

    def paint(self, role: str, text: str) -> str:
        """``text`` in the colour of ``role`` ("error", "bold", ...)."""
        return f"\x1b[{_CODES[role]}m{text}\x1b[0m" if self.colour and text else text


def wants_colour(stream: IO[str], choice: str) -> bool:
    """Whether to colour ``stream``. ``choice`` is "always", "never" or "auto", which NO_COLOR turns off."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty()
