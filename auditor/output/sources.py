"""The text that findings point into."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from auditor.findings import FileResult
from auditor.source import Loc

_WORD = re.compile(r"\w+(?:(?:::|\.|->)\w+)*")


class Sources:
    """Lines of source files, by the name that locations carry: first what the audit read, then the disk."""

    def __init__(self, results: Iterable[FileResult]) -> None:
        self._texts: dict[str, str] = {}
        self._lines: dict[str, list[str]] = {}
        for result in results:
            self._texts.update(result.sources)

    def text(self, file: str) -> str:
        """The whole text; empty when there is none."""
        if file not in self._texts:
            try:
                self._texts[file] = Path(file).read_bytes().decode("utf-8", "replace")
            except (OSError, ValueError):
                self._texts[file] = ""
        return self._texts[file]

    def lines(self, file: str) -> Sequence[str]:
        """All lines, without their ends. Lines end as clang sees it: at LF, CR LF and CR."""
        if file not in self._lines:
            self._lines[file] = re.split(r"\r\n|\n|\r", self.text(file))
        return self._lines[file]

    def line(self, file: str, number: int) -> str:
        """Line ``number`` (from 1); empty outside the file."""
        lines = self.lines(file)
        return lines[number - 1] if 1 <= number <= len(lines) else ""

    def span(self, loc: Loc) -> Loc:
        """The location with both ends known. A lone start spans the name that stands there, or one character."""
        if loc.end_line:
            return loc
        line = self.line(loc.file, loc.line).encode("utf-8", "replace")
        rest = line[max(loc.column - 1, 0) :].decode("utf-8", "replace")
        match = _WORD.match(rest)
        length = len((match[0] if match else rest[:1]).encode("utf-8", "replace"))
        return Loc(loc.file, loc.line, loc.column, loc.line, loc.column + length)
