"""Statements, constants and edits of a source text."""

from __future__ import annotations

import pytest

from auditor.edits import apply_edits, kept_lines
from auditor.findings import Edit
from auditor.repair.constants import Constants
from auditor.repair.layout import Layout
from auditor.repair.spelling import statement
from auditor.source import Loc

SOURCE = """\
#define TWICE(x) \\
    x; x;
struct Tile { int rows[2] = {1, 2}; };
__global__ void __launch_bounds__(128) kernel(int n)
{
    const char* text = "} ; {";  // a comment } with ; braces {
    for (int i = 0; i < n; ++i) {
        if (i % 2) first(Tile{{i, 1}}); else second(i);
        switch (i) { case 1: third(); break; default: fourth(); }
    }
    do { fifth(); } while (n--);
    auto run = [&](int k) { sixth(k); };
    TWICE(seventh());
}
"""


def path_at(name: str) -> list[str]:
    layout = Layout(SOURCE)
    return [SOURCE[s.start : s.end] for s in layout.path(SOURCE.index(name))]


@pytest.mark.parametrize(
    ("name", "innermost", "depth"),
    [
        ("first(", "if (i % 2) first(Tile{{i, 1}}); else second(i);", 2),
        ("second(", "if (i % 2) first(Tile{{i, 1}}); else second(i);", 2),
        ("third(", "third();", 3),
        ("fourth(", "fourth();", 3),
        ("fifth(", "fifth();", 2),
        ("sixth(", "sixth(k);", 1),  # a lambda is a function of its own
        ("seventh(", "TWICE(seventh());", 1),
        ("text =", 'const char* text = "} ; {";', 1),
    ],
)
def test_statements_around_a_place(name: str, innermost: str, depth: int) -> None:
    path = path_at(name)
    assert (path[-1], len(path)) == (innermost, depth)


def test_no_statement_outside_functions_and_in_directives() -> None:
    layout = Layout(SOURCE)
    assert layout.path(SOURCE.index("rows")) == []
    assert layout.offset(Loc("a.cu", 2, 5)) is None
    assert layout.offset(Loc("a.cu", 99, 1)) is None


def test_unbalanced_brackets_give_no_statement() -> None:
    text = "void f() { a((; b(); }"
    assert Layout(text).path(text.index("b(")) == []


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("kBytes", 4096),
        ("2 * kBytes", 8192),
        ("STAGES * sizeof(float)", 12),
        ("static_cast<uint32_t>(kRows) * 0x10u", 512),
        ("(unsigned)kRows + 1'000", 1032),
        ("kRows << 2 | 1", 129),
        ("010", 8),
        ("kTwice", None),  # two definitions
        ("kRows / 0", None),
        ("1.5f", None),
        ("unknown + 1", None),
        ("rows[0]", None),
        ("kLoop", None),
        ("1 << 1 << 60 << 60", None),
        ("9" * 500, None),
    ],
)
def test_constants(expression: str, value: int | None) -> None:
    text = """\
#define STAGES 3
constexpr int kRows = 32, kCols = 64;
static constexpr uint32_t kBytes = kRows * kCols * sizeof(__half);
constexpr int kLoop = kLoop + 1;
void f() { constexpr int kTwice = 1; }
void g() { constexpr int kTwice = 2; }
"""
    assert Constants(Layout(text)).value(expression) == value


@pytest.mark.parametrize(
    ("prelude", "written"),
    [
        ('inline __device__ void done() { asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory"); }', "done();"),
        ("#include <cuda/ptx>", "cuda::ptx::tcgen05_wait_ld();"),
        ("#include <cuda/ptx>\nnamespace p = cuda::ptx;", "p::tcgen05_wait_ld();"),
        (
            'struct Tmem { __device__ void done() { asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory"); } };',
            'asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");',
        ),
        ("", 'asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");'),
    ],
)
def test_an_instruction_in_the_words_of_the_file(prelude: str, written: str) -> None:
    text = f"{prelude}\nvoid f() {{ }}\n"
    assert statement(Layout(text), "tcgen05.wait::ld.sync.aligned", text.index("void f")) == written


def test_edits_and_the_lines_that_they_keep() -> None:
    text = "Größe();\n  b(1);\nc();\n"
    edits = [
        Edit(Loc("a.cu", 2, 3, 2, 3), "new();\n  "),
        Edit(Loc("a.cu", 1, 11, 1, 11), "\nx();"),  # a column of bytes, behind the two-byte letters
        Edit(Loc("a.cu", 2, 5, 2, 6), "2 * 1"),
    ]
    assert apply_edits(text, edits) == "Größe();\nx();\n  new();\n  b(2 * 1);\nc();\n"
    assert kept_lines(text, edits) == {1: 1, 4: 2, 5: 3}


@pytest.mark.parametrize("loc", [Loc("a.cu", 9, 1, 9, 1), Loc("a.cu", 1, 3, 1, 2)])
def test_edits_outside_the_text(loc: Loc) -> None:
    with pytest.raises(ValueError, match="edit"):
        apply_edits("abc", [Edit(loc, "")])


def test_edits_that_overlap() -> None:
    edits = [Edit(Loc("a.cu", 1, 1, 1, 3), ""), Edit(Loc("a.cu", 1, 2, 1, 4), "")]
    with pytest.raises(ValueError, match="overlap"):
        apply_edits("abcd", edits)


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("first(", "first(Tile{{i, 1}});"),
        ("second(", "second(i);"),
        ("third(", None),
        ("fifth(", None),
        ("inner(", "inner();"),
        ("braced(", None),
        ("head(", None),
        ("last(", "last();"),
    ],
)
def test_bodies_without_braces(name: str, body: str | None) -> None:
    text = SOURCE + "void g() { if (a) while (b) inner(); if (head()) { braced(); } else if (c) x(); else last(); }"
    layout = Layout(text)
    offset = text.index(name)
    found = layout.lone_body(layout.path(offset)[-1], offset)
    assert (found and text[found.start : found.end]) == body
