"""Columns and underlines over tabs, multi-byte, wide and combining characters."""

from __future__ import annotations

import pytest

from auditor.findings import FileResult
from auditor.output.columns import characters, expand, utf16_column
from auditor.output.snippet import snippet
from auditor.output.sources import Sources
from auditor.output.style import Style
from auditor.source import Loc


@pytest.mark.parametrize(
    ("line", "column", "before", "utf16"),
    [
        ("abc", 1, 0, 1),
        ("abc", 3, 2, 3),
        ("aé b", 4, 2, 3),  # é is two bytes, one unit
        ("𝟙 b", 6, 2, 4),  # four bytes, two units
        ("abc", 99, 3, 4),
        ("", 1, 0, 1),
    ],
)
def test_byte_columns(line: str, column: int, before: int, utf16: int) -> None:
    assert characters(line, column) == before
    assert utf16_column(line, column) == utf16


def test_expand_tabs_wide_and_control_characters() -> None:
    assert expand("a\tb") == ("a   b", [0, 1, 4, 5])
    assert expand("漢b") == ("漢b", [0, 2, 3])
    assert expand("e\u0301b")[1] == [0, 1, 1, 2]
    assert expand("\x1b[31m")[0] == "\N{REPLACEMENT CHARACTER}[31m"


def lines_of(text: str, loc: Loc, context: int = 0) -> list[str]:
    sources = Sources([FileResult("k.cu", sources={"k.cu": text})])
    return snippet(loc, sources, Style(), "error", context)


def test_carets_stand_under_their_text() -> None:
    line = "\té = 漢;\tissue(x);"
    start = len(line[: line.index("issue")].encode()) + 1
    rows = lines_of(line, Loc("k.cu", 1, start, 1, start + 8))
    assert rows[0] == "1 |     é = 漢; issue(x);"
    # the wide character takes two cells and is one character of the row
    assert rows[1].index("^") == rows[0].index("issue") + 1
    assert rows[1].count("^") == len("issue(x)")


def test_unknown_end_underlines_the_name() -> None:
    assert lines_of("  cuda::ptx::wait(b);", Loc("k.cu", 1, 3))[1].count("^") == len("cuda::ptx::wait")
    assert lines_of("a + b", Loc("k.cu", 1, 3))[1] == "  |   ^"


def test_range_over_lines_is_underlined_to_the_end_of_the_first() -> None:
    assert lines_of("  asm(x,  \n  y);", Loc("k.cu", 1, 3, 2, 5))[1] == "  |   ^^^^^^"


def test_context_skips_blank_lines_and_aligns_numbers() -> None:
    text = "\n".join(f"line{n}" for n in range(1, 12))
    assert lines_of(text, Loc("k.cu", 9, 1), 1) == [" 8 | line8", " 9 | line9", "   | ^^^^^", "10 | line10"]
    assert lines_of("a\n\n", Loc("k.cu", 1, 1), 1) == ["1 | a", "  | ^"]


@pytest.mark.parametrize("line", [0, 3, 900])
def test_no_snippet_outside_the_source(line: int) -> None:
    assert lines_of("one\ntwo", Loc("k.cu", line, 1)) == []


def test_long_line_shows_the_part_that_matters() -> None:
    text = "x " * 3000 + "issue(y); " + "z " * 3000
    rows = lines_of(text, Loc("k.cu", 1, 6001, 1, 6009))
    at = rows[1].index("^")
    assert rows[0][at : at + 8] == "issue(y)"
    assert max(len(row) for row in rows) < 160
