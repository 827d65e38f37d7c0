"""How a report looks: on narrow terminals, with objects that share columns, with roles that have the same duty."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from auditor.cli_report import report_file
from auditor.config import AuditOptions
from auditor.plans.attention import plan_attention
from auditor.plans.attention_emit import emit_attention
from auditor.plans.attention_spec import AttentionSpec
from auditor.reports.blocks import Section, Table
from auditor.reports.document_tables import barriers, lines
from auditor.reports.draw import tmem_lines
from auditor.reports.model import FileReport
from auditor.reports.render_text import NARROWEST, WIDTH, document, page_width, render
from auditor.reports.svg import tmem_svg
from tests.unit.report_kernels import KERNELS, file_report


@cache
def attention() -> FileReport:
    """The report on a skeleton in which P takes columns of S."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "planned.cu"
        path.write_text(emit_attention(plan_attention(AttentionSpec(256, 64, 64))), encoding="utf-8")
        return report_file(str(path), AuditOptions())


@pytest.mark.parametrize("stem", KERNELS)
def test_pages_fit_a_terminal_of_80_columns(stem: str) -> None:
    text = render([file_report(stem)], page_width(80))
    assert max(len(line) for line in text.splitlines()) <= 80


def test_width_of_a_page() -> None:
    assert [page_width(n) for n in (None, 300, 100, 20)] == [WIDTH, WIDTH, 100, NARROWEST]


def test_a_table_that_is_too_wide_is_told_row_by_row() -> None:
    cells = ("name_" * 6, "value_" * 6, "", "several words in a cell " * 4)
    table = Table("Wide", ("Name", "Value", "Nothing", "Text"), (cells,))
    text = document("title", [Section("Section", 2, (table,))], 60)
    assert f"- {cells[0]}\n  Value:   {cells[1]}\n  Text:    several words in a cell several" in text
    assert "Nothing" not in text and max(map(len, text.splitlines())) <= 60


def test_objects_that_share_columns_are_both_drawn() -> None:
    tmem = attention().kernels[0].tmem
    assert tmem is not None
    drawn = tmem_lines(tmem)
    assert drawn[1][9:41] == "A" * 8 + "B" * 8 + "C" * 8 + "D" * 8
    assert drawn[2][9:41] == "B" * 16 + "D" * 16
    assert any("letters in turn" in line for line in drawn)
    svg = tmem_svg(tmem, "m")
    assert svg.index("B: scores S 0, columns 0-63") < svg.index("A: operand A (P) 0, columns 0-31")
    assert "a strip in a region" in svg


def test_warps_with_one_duty_but_other_barriers_are_other_roles() -> None:
    report = attention().kernels[0]
    assert [r.threads for r in report.roles if r.duty == "reads of tensor memory"] == ["warps 0-7", "warps 8-11"]
    names = [row.name for row in report.timeline.rows]
    assert "reads and writes of tensor memory: warps 8-11 (warp 8 shown)" in names


def test_all_rings_that_are_refilled_come_first_in_the_conclusion() -> None:
    told = [text.split()[2] for text in attention().kernels[0].conclusion if text.startswith("Copies to")]
    assert told == ["sh.k", "sh.v", "sh.q"]


def test_numbered_things_and_lines_are_told_together() -> None:
    table = barriers(attention().kernels[0]).blocks[0]
    assert isinstance(table, Table)
    makes = {row[0]: row[-1] for row in table.rows}
    assert makes["sh.p_full[2]"] == "operand A (P) 0, 1 readable; output O 0, 1 free; scores S 0, 1 free"
    assert lines((3, 4, 5, 8, 10, 11)) == "3-5, 8, 10-11"
