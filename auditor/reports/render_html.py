"""Reports as one HTML page that needs nothing else: inline SVG, light and dark, fit for print, keyboard and reader."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from importlib import resources

from auditor.output.tool import NAME, VERSION
from auditor.reports.blocks import Block, Bullets, Paragraph, Table, TimelineFigure, TmemFigure
from auditor.reports.document import sections
from auditor.reports.model import FileReport, KernelReport, Timeline
from auditor.reports.svg import timeline_svg, tmem_svg

_RANGE = re.compile(r"\b\d+-\d+\b")


def render(reports: list[FileReport]) -> str:
    """All files' reports as a page."""
    kernels = [(report, k) for report in reports for k in report.kernels]
    title = "Report on " + (", ".join(dict.fromkeys(k.kernel for _, k in kernels)) or "no kernel")
    style = resources.files("auditor.reports").joinpath("page.css").read_text(encoding="utf-8")
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        f"<title>{escape(title)}</title>",
        f"<style>\n{style}</style>",
        "</head>",
        "<body>",
        '<a class="skip" href="#main">Skip to the report</a>',
        f"<header><p>{NAME} {VERSION}</p>",
        _contents(kernels),
        "</header>",
        '<main id="main">',
    ]
    for n, (report, k) in enumerate(kernels):
        parts += _kernel(report, k, f"k{n}")
    return "\n".join([*parts, "</main>", "</body>", "</html>"]) + "\n"


def _contents(kernels: list[tuple[FileReport, KernelReport]]) -> str:
    items = []
    for n, (_, k) in enumerate(kernels):
        inner = "".join(
            f'<li><a href="#k{n}-{m}">{escape(s.title)}</a></li>' for m, s in enumerate(sections(k)) if s.level == 2
        )
        items.append(f'<li><a href="#k{n}">{escape(k.kernel)}</a><ul>{inner}</ul></li>')
    return f'<nav aria-label="Contents"><ul class="toc">{"".join(items)}</ul></nav>'


def _kernel(report: FileReport, k: KernelReport, name: str) -> Iterator[str]:
    yield f'<article aria-labelledby="{name}">'
    yield f'<h1 id="{name}">{escape(k.kernel)}</h1>'
    yield f'<p class="place">{escape(report.path)}, line {k.line}, {escape(k.arch)}</p>'
    for n, section in enumerate(sections(k)):
        yield f'<h{section.level} id="{name}-{n}">{escape(section.title)}</h{section.level}>'
        for m, block in enumerate(section.blocks):
            yield from _block(block, f"{name}-{n}-{m}")
    yield "</article>"


def _block(block: Block, name: str) -> Iterator[str]:
    if isinstance(block, Paragraph):
        tone = f' class="{block.tone}"' if block.tone else ""
        yield f"<p{tone}>{escape(block.text)}</p>"
    elif isinstance(block, Bullets):
        yield "<ul>" + "".join(f"<li>{escape(item)}</li>" for item in block.items) + "</ul>"
    elif isinstance(block, Table):
        yield from _table(block, name)
    elif isinstance(block, TmemFigure):
        yield _figure("Map of tensor memory", tmem_svg(block.tmem, name))
    elif isinstance(block, TimelineFigure):
        yield _figure("Timeline", timeline_svg(block.timeline, name))
        yield "<details><summary>Every span of the timeline</summary>"
        yield from _table(_spans(block.timeline), name + "-s")
        yield "</details>"


def _figure(label: str, svg: str) -> str:
    return f'<figure tabindex="0" role="group" aria-label="{label}">{svg}</figure>'


def _spans(t: Timeline) -> Table:
    rows = tuple((row.name, str(s.start), str(s.end), s.label) for row in t.rows for s in row.spans)
    return Table("Spans by row", ("Row", "From", "To", "What"), rows, frozenset((1, 2)))


def _table(table: Table, name: str) -> Iterator[str]:
    yield f'<div class="scroll" tabindex="0" role="region" aria-labelledby="{name}-c"><table>'
    yield f'<caption id="{name}-c">{escape(table.caption)}</caption>'
    yield "<thead><tr>" + "".join(
        f'<th scope="col"{_class(n, table)}>{escape(h)}</th>' for n, h in enumerate(table.head)
    )
    yield "</tr></thead><tbody>"
    for row in table.rows:
        first = f'<th scope="row"{_class(0, table)}>{_text(row[0])}</th>'
        yield f"<tr>{first}" + "".join(_cell(n, cell, table) for n, cell in enumerate(row[1:], 1)) + "</tr>"
    yield "</tbody></table></div>"


def _text(text: str) -> str:
    """A cell's text; ranges such as 0-31 stay on one line."""
    return _RANGE.sub(r'<span class="whole">\g<0></span>', escape(text))


def _cell(n: int, cell: str, table: Table) -> str:
    verdict = {"agree": "good", "differ": "bad", "error": "bad"}.get(cell, "")
    if verdict:
        return f'<td class="{verdict}">{escape(cell)}</td>'
    return f"<td{_class(n, table)}>{_text(cell)}</td>"


def _class(n: int, table: Table) -> str:
    return ' class="number"' if n in table.numbers else ""
