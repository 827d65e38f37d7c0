"""Reports for the terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from auditor.reports.blocks import Block, Bullets, Paragraph, Section, Table, TimelineFigure, TmemFigure
from auditor.reports.document import sections
from auditor.reports.draw import timeline_lines, tmem_lines
from auditor.reports.model import FileReport

WIDTH = 118
_GAP = "  "


def render(reports: list[FileReport]) -> str:
    """All files' reports as text."""
    return "".join(
        document(f"{k.kernel} ({report.path}:{k.line}, {k.arch})", sections(k))
        for report in reports
        for k in report.kernels
    )


def document(title: str, parts: list[Section]) -> str:
    """A titled document as text."""
    lines = [title, "=" * min(len(title), WIDTH), ""]
    for section in parts:
        lines += [section.title.upper() if section.level == 2 else section.title]
        lines += [("-" if section.level == 2 else "~") * len(section.title), ""]
        for block in section.blocks:
            lines += [*_block(block), ""]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _block(block: Block) -> Iterator[str]:
    if isinstance(block, Paragraph):
        yield from textwrap.wrap(block.text, WIDTH)
    elif isinstance(block, Bullets):
        for item in block.items:
            yield from textwrap.wrap(item, WIDTH, initial_indent="- ", subsequent_indent="  ")
    elif isinstance(block, Table):
        yield from _table(block)
    elif isinstance(block, TmemFigure):
        yield from tmem_lines(block.tmem)
    elif isinstance(block, TimelineFigure):
        yield from timeline_lines(block.timeline)


def _table(table: Table) -> Iterator[str]:
    yield table.caption + ":"
    if not table.rows:
        yield "  none"
        return
    widths = _widths(table)
    yield from _row(table.head, widths, frozenset())
    yield _GAP.join("-" * w for w in widths)
    for row in table.rows:
        yield from _row(row, widths, table.numbers)


def _row(cells: tuple[str, ...], widths: list[int], numbers: frozenset[int]) -> Iterator[str]:
    wrapped = [textwrap.wrap(cell, w, break_on_hyphens=False) or [""] for cell, w in zip(cells, widths)]
    for n in range(max(len(w) for w in wrapped)):
        parts = [w[n] if n < len(w) else "" for w in wrapped]
        yield _GAP.join(p.rjust(w) if c in numbers else p.ljust(w) for c, (p, w) in enumerate(zip(parts, widths)))


def _widths(table: Table) -> list[int]:
    """Column widths that fit the page: what a column wants, and when that is too much the widest give way first."""
    columns = list(zip(table.head, *table.rows))
    wanted = [max(len(cell) for cell in column) for column in columns]
    least = [max(max((len(word) for word in cell.split()), default=1) for cell in column) for column in columns]
    widths = list(wanted)
    room = WIDTH - len(_GAP) * (len(columns) - 1)
    while sum(widths) > room:
        spare = [w - m for w, m in zip(widths, least)]
        if max(spare) <= 0:
            break
        widest = max((n for n in range(len(widths)) if spare[n] > 0), key=lambda n: widths[n])
        widths[widest] -= 1
    return [max(w, 1) for w in widths]
