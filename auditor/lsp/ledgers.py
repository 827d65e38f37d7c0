"""What the editor shows of barriers and tensor memory: the rows of a report, by the lines that they speak of."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace

from auditor.config import AuditOptions
from auditor.config_keys import ConfigError
from auditor.reports.blocks import Section, Table
from auditor.reports.document_tables import barriers, tmem
from auditor.reports.model import FileReport, KernelReport
from auditor.settings import Configuration

_MARKUP = "\\`*_<>|[]#"


@dataclass(frozen=True)
class Note:
    """A row as Markdown, and the lines of the document on which it is shown."""

    lines: frozenset[int]
    text: str


def notes_on(path: str, text: str) -> list[Note]:
    """The rows of all kernels of a document. They are found in a process of their own; none when that fails."""
    try:
        options = Configuration().options(path, {})
    except ConfigError:
        return []
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        try:
            report = pool.submit(_report, path, text, options).result()
        except BrokenProcessPool:
            return []
    return [note for kernel in report.kernels for note in _notes(kernel)]


def _report(path: str, text: str, options: AuditOptions) -> FileReport:
    from auditor.cli_report import report_file
    from auditor.engine import with_deep_stack

    return with_deep_stack(lambda: report_file(path, options, text=text))


def _notes(kernel: KernelReport) -> Iterator[Note]:
    for row in kernel.barriers:
        lines = {row.init_line, *(n for a in row.arrivals for n in a.lines), *(n for w in row.waiters for n in w.lines)}
        section = barriers(replace(kernel, barriers=(row,)))
        yield Note(frozenset(lines), _text(f"Barrier {row.name}", kernel, section))
    if kernel.tmem is None:
        return
    for region in kernel.tmem.regions:
        section = tmem(replace(kernel.tmem, regions=(region,), allocations=(), reuses=(), read_backs=()))
        yield Note(frozenset(region.lines), _text(f"Tensor memory, columns {region.name}", kernel, section))


def _text(title: str, kernel: KernelReport, section: Section) -> str:
    """The first rows of a section's tables, as lists: an editor's window is too narrow for the tables."""
    lines = [f"**{_escaped(title)}** in {_escaped(kernel.kernel)}", ""]
    for table in section.blocks:
        if isinstance(table, Table) and len(table.rows) == 1 and "first rounds" not in table.caption:
            cells = zip(table.head, table.rows[0], strict=True)
            lines += [f"- {head}: {_escaped(cell)}" for head, cell in cells if cell and head != "Mark"]
    return "\n".join(lines)


def _escaped(text: str) -> str:
    return "".join(f"\\{char}" if char in _MARKUP else char for char in text)
