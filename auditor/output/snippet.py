"""A few source lines with the interesting part underlined."""

from __future__ import annotations

from auditor.output.columns import characters, expand
from auditor.output.sources import Sources
from auditor.output.style import Style
from auditor.source import Loc

_WIDTH = 140  # cells of source that a snippet shows


def snippet(loc: Loc, sources: Sources, style: Style, role: str, context: int) -> list[str]:
    """Lines of a snippet: ``context`` lines around the location's first line, and carets. Empty without source."""
    total = len(sources.lines(loc.file))
    if not 1 <= loc.line <= total:
        return []
    first, last = max(loc.line - context, 1), min(loc.line + context, total)
    gutter = len(str(last))
    out = []
    for number in range(first, last + 1):
        line = sources.line(loc.file, number)
        if number != loc.line:
            if line.strip():
                out.append(_row(str(number), _clip(expand(line)[0], 0), gutter, style))
            continue
        shown, left, length = _underline(line, sources.span(loc))
        start = max(left - _WIDTH // 2, 0) if left + length > _WIDTH else 0
        out.append(_row(str(number), _clip(shown, start), gutter, style))
        carets = " " * (left - start) + style.paint(role, "^" * max(min(length, _WIDTH - left + start), 1))
        out.append(_row("", carets, gutter, style))
    return out


def _underline(line: str, span: Loc) -> tuple[str, int, int]:
    """The expanded line, and first cell and number of cells to underline."""
    shown, starts = expand(line)
    begin = characters(line, span.column)
    end = characters(line, span.end_column) if span.end_line == span.line else len(line.rstrip())
    left = starts[min(begin, len(line))]
    return shown, left, starts[max(min(end, len(line)), min(begin, len(line)))] - left


def _clip(shown: str, start: int) -> str:
    """The part of a line that fits, with dots where something is left out."""
    part = shown[start : start + _WIDTH]
    if start:
        part = "..." + part[3:]
    if start + _WIDTH < len(shown):
        part = part[:-3] + "..."
    return part.rstrip()


def _row(number: str, text: str, gutter: int, style: Style) -> str:
    return f"{style.paint('dim', f'{number:>{gutter}} |')} {text}".rstrip()
