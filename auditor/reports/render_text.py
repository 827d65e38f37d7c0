"""Reports for the terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from auditor.reports.blocks import Block, Bullets, Paragraph, Section, Table, TimelineFigure, TmemFigure
from auditor.reports.document import sections
from auditor.reports.draw import timeline_lines, tmem_lines
from auditor.reports.model import FileReport

WIDTH = 118  # of a page that goes to no terminal
NARROWEST = 60
TALLEST = 6  # lines of a cell; a table whose cells are taller reads better row by row
_GAP = "  "


def page_width(columns: int | None) -> int:
    """Width of a page for a terminal of so many columns; None: for no terminal."""
    return WIDTH if columns is None else min(max(columns, NARROWEST), WIDTH)


def render(reports: list[FileReport], width: int = WIDTH) -> str:
    """All files' reports as text, ``width`` characters a line."""
    return "".join(
        document(f"{k.kernel} ({report.path}:{k.line}, {k.arch})", sections(k), width)
        for report in reports
        for k in report.kernels
    )


def document(title: str, parts: list[Section], width: int = WIDTH) -> str:
    """A titled document as text."""
    lines = [*textwrap.wrap(title, width), "=" * min(len(title), width), ""]
    for section in parts:
        lines += [section.title.upper() if section.level == 2 else section.title]
        lines += [("-" if section.level == 2 else "~") * len(section.title), ""]
        for block in section.blocks:
            lines += [*_block(block, width), ""]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _block(block: Block, width: int) -> Iterator[str]:
    if isinstance(block, Paragraph):
        yield from textwrap.wrap(block.text, width)
    elif isinstance(block, Bullets):
        for item in block.items:
            yield from textwrap.wrap(item, width, initial_indent="- ", subsequent_indent="  ")
    elif isinstance(block, Table):
        yield from _table(block, width)
    elif isinstance(block, TmemFigure):
        yield from tmem_lines(block.tmem, min(width, 100))
    elif isinstance(block, TimelineFigure):
        yield from timeline_lines(block.timeline, min(width - 4, 96))


def _table(table: Table, width: int) -> Iterator[str]:
    yield from textwrap.wrap(table.caption + ":", width)
    if not table.rows:
        yield "  none"
        return
    widths = _widths(table, width)
    if widths is None:
        yield from _records(table, width)
        return
    yield from _row(table.head, widths, frozenset())
    yield _GAP.join("-" * w for w in widths)
    for row in table.rows:
        yield from _row(row, widths, table.numbers)


def _records(table: Table, width: int) -> Iterator[str]:
    """A table that is too wide for the page: each row as lines of heading and cell."""
    indent = max(len(head) for head in table.head) + 4
    for row in table.rows:
        yield f"- {row[0]}"
        for head, cell in zip(table.head[1:], row[1:]):
            if cell:
                first = f"  {head}:".ljust(indent)
                yield from textwrap.wrap(
                    cell, width, initial_indent=first, subsequent_indent=" " * indent, break_on_hyphens=False
                )


def _row(cells: tuple[str, ...], widths: list[int], numbers: frozenset[int]) -> Iterator[str]:
    wrapped = [textwrap.wrap(cell, w, break_on_hyphens=False) or [""] for cell, w in zip(cells, widths)]
    for n in range(max(len(w) for w in wrapped)):
        parts = [w[n] if n < len(w) else "" for w in wrapped]
        yield _GAP.join(p.rjust(w) if c in numbers else p.ljust(w) for c, (p, w) in enumerate(zip(parts, widths)))


def _widths(table: Table, width: int) -> list[int] | None:
    """Column widths that fit the page: what a column wants, and when that is too much the widest give way first.

    None when not even the longest words fit, or cells would become columns of words.
    """
    columns = list(zip(table.head, *table.rows))
    wanted = [max(len(cell) for cell in column) for column in columns]
    least = [max(max((len(word) for word in cell.split()), default=1) for cell in column) for column in columns]
    widths = list(wanted)
    room = width - len(_GAP) * (len(columns) - 1)
    while sum(widths) > room:
        spare = [w - m for w, m in zip(widths, least)]
        if max(spare) <= 0:
            return None
        widest = max((n for n in range(len(widths)) if spare[n] > 0), key=lambda n: widths[n])
        widths[widest] -= 1
    tall = max(-(-want // w) for want, w in zip(wanted, widths))
    return None if tall > TALLEST and len(columns) > 3 else [max(w, 1) for w in widths]
