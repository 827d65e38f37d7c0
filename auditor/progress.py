"""Progress on standard error: one line that is written again and again on a terminal, a line a file elsewhere."""

from __future__ import annotations

import shutil
import sys
import time

from auditor.findings import FileResult
from auditor.output.columns import cells
from auditor.output.summary import plural
from auditor.output.tool import NAME

_PAUSE = 0.1  # seconds between two drawings
_BAR = 20


class Progress:
    """Told of each file that is done. ``quiet`` shows nothing; nor is a single file worth a line."""

    def __init__(self, total: int, quiet: bool) -> None:
        self._total = total
        self._silent = quiet or total < 2
        self._terminal = sys.stderr.isatty()
        self._done = 0
        self._findings = 0
        self._failed = 0
        self._drawn = float("-inf")

    def tell(self, result: FileResult) -> None:
        """One more file is done."""
        self._done += 1
        self._findings += len(result.findings)
        self._failed += bool(result.failure)
        if self._silent:
            return
        if not self._terminal:
            outcome = "failed" if result.failure else plural(len(result.findings), "finding")
            spent = "cached" if result.cached else f"{result.seconds:.1f} s"
            _write(f"{NAME}: [{self._done}/{self._total}] {result.path}: {outcome}, {spent}\n")
        elif time.monotonic() - self._drawn >= _PAUSE:
            self._drawn = time.monotonic()
            self._draw(result.path)

    def close(self) -> None:
        """Take the line away."""
        if self._terminal and self._drawn > 0 and not self._silent:
            _write("\r\x1b[K")

    def _draw(self, path: str) -> None:
        filled = _BAR * self._done // self._total
        line = (
            f"[{'#' * filled}{'.' * (_BAR - filled)}] {self._done}/{self._total}, {plural(self._findings, 'finding')}"
        )
        if self._failed:
            line += f", {self._failed} failed"
        room = shutil.get_terminal_size().columns - cells(line) - 4
        while path and cells(path) > room:
            path = path[max(len(path) - room, 1) :]
        _write(f"\r\x1b[K{line}  {path}")


def _write(text: str) -> None:
    encoding = sys.stderr.encoding or "utf-8"
    sys.stderr.write(text.encode(encoding, "replace").decode(encoding))
    sys.stderr.flush()
