"""Reports as Markdown, in the dialect of GitHub."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.reports.blocks import Block, Bullets, Paragraph, Section, Table, TimelineFigure, TmemFigure
from auditor.reports.document import sections
from auditor.reports.draw import timeline_lines, tmem_lines
from auditor.reports.model import FileReport


def render(reports: list[FileReport]) -> str:
    """All files' reports as Markdown."""
    lines: list[str] = []
    for report in reports:
        for k in report.kernels:
            lines += [f"# {_text(k.kernel)}", "", f"{_text(report.path)}, line {k.line}, {k.arch}", ""]
            lines += _sections(sections(k))
    return "\n".join(lines).rstrip("\n") + "\n"


def document(title: str, parts: list[Section]) -> str:
    """A titled document as Markdown."""
    return "\n".join([f"# {_text(title)}", "", *_sections(parts)]).rstrip("\n") + "\n"


def _sections(parts: list[Section]) -> Iterator[str]:
    for section in parts:
        yield from (f"{'#' * section.level} {_text(section.title)}", "")
        for block in section.blocks:
            yield from (*_block(block), "")


def _block(block: Block) -> Iterator[str]:
    if isinstance(block, Paragraph):
        yield f"**{_text(block.text)}**" if block.tone else _text(block.text)
    elif isinstance(block, Bullets):
        yield from (f"- {_text(item)}" for item in block.items)
    elif isinstance(block, Table):
        yield from _table(block)
    elif isinstance(block, TmemFigure):
        yield from ("```text", *tmem_lines(block.tmem), "```")
    elif isinstance(block, TimelineFigure):
        yield from ("```text", *timeline_lines(block.timeline), "```")


def _table(table: Table) -> Iterator[str]:
    yield f"{_text(table.caption)}:"
    yield ""
    yield "| " + " | ".join(_text(cell) for cell in table.head) + " |"
    yield "|" + "|".join("---:" if n in table.numbers else "---" for n in range(len(table.head))) + "|"
    for row in table.rows:
        yield "| " + " | ".join(_text(cell) for cell in row) + " |"


def _text(text: str) -> str:
    """Text in which nothing is markup."""
    for char in "\\`*_<>|[]#":
        text = text.replace(char, "\\" + char)
    return text.replace("\n", " ")
