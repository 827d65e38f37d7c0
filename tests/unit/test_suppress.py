"""Suppression comments: where they reach, what is wrong with them, and how they are written for the user."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from auditor.add_ignores import with_ignores
from auditor.analysis import Analysis, ArchRun, KernelPlace
from auditor.comments import Layout
from auditor.conclude import conclude
from auditor.config import AuditOptions
from auditor.findings import Coverage, FileResult, Finding, Level
from auditor.source import Loc

FILE = "k.cu"
IGNORE = "bw-audit: ignore[BW202]"


def finding(line: int, code: str = "BW202", kernel: str = "ring<4>", end: int = 0) -> Finding:
    return Finding(code, Level.ERROR, "m", Loc(FILE, line, 1, end, 9 if end else 0), kernel=kernel)


def audited(
    text: str,
    *findings: Finding,
    kernels: tuple[KernelPlace, ...] = (),
    executed: int = 1,
    options: AuditOptions | None = None,
) -> FileResult:
    run = ArchRun("sm_100a", list(findings), Coverage(1, executed), list(kernels))
    return conclude(Analysis(FILE, [run], {FILE: text}), options or AuditOptions())


def told(result: FileResult) -> list[tuple[str, int]]:
    return [(f.code, f.loc.line) for f in result.findings]


@pytest.mark.parametrize(
    ("text", "line", "hidden"),
    [
        (f"copy();  // {IGNORE} same warp\n", 1, True),
        (f"copy();  /* {IGNORE} same warp */\n", 1, True),
        (f"copy();  // as measured  // {IGNORE} same warp\n", 1, True),
        (f"// {IGNORE} same warp\ncopy();\n", 2, True),
        (f"// {IGNORE} same warp\n// and more words\ncopy();\n", 3, True),
        (f"/* {IGNORE} same\n * warp */\ncopy();\n", 3, True),
        (f"// {IGNORE} same warp\nother();\ncopy();\n", 3, False),
        (f"// {IGNORE} same warp\n\ncopy();\n", 3, False),
        (f"other();  // {IGNORE} same warp\ncopy();\n", 2, False),
        (f'const char* s = "// {IGNORE} same warp";\n', 1, False),
        (f'const char* s = R"(\n// {IGNORE} same warp\n)"; copy();\n', 3, False),
        (f"int n = 1'000; // {IGNORE} same warp\n", 1, True),
        (f"char q = '\"'; // {IGNORE} same warp\n", 1, True),
        (f"\r\n// {IGNORE} same warp\r\ncopy();\r\n", 3, True),
        (f"// Größe 𝟙\ncopy(); // {IGNORE} gleiche Warp\n", 2, True),
        ("copy();  // bw-audit: ignore[BW101, BW202] same warp\n", 1, True),
        ("copy();  // bw-audit: ignore[BW201] same warp\n", 1, False),
        (f"// words\n// bw-audit: ignore-file[BW202] test data\n\n{'x();' * 3}\ncopy();\n", 5, True),
    ],
)
def test_reach(text: str, line: int, hidden: bool) -> None:
    result = audited(text, finding(line))
    assert ("BW202" not in [f.code for f in result.findings]) is hidden
    assert result.hidden == ({"suppressed": 1} if hidden else {})


def test_a_statement_of_several_lines_is_covered_by_a_comment_on_any() -> None:
    text = f"copy(a,\n     b,  // {IGNORE} same warp\n     c);\n"
    assert told(audited(text, finding(1, end=3))) == []
    assert told(audited(text, finding(1, end=1))) == [("BW202", 1), ("BW004", 2)]


KERNELS = f"""\
// {IGNORE} refills are ordered by the host
template <int N>
__global__ void
ring(float* o) {{
    copy();
}}
__global__ void other() {{
    copy();
}}
"""


def test_kernel_scope() -> None:
    places = (KernelPlace("ring<4>", Loc(FILE, 4, 1)), KernelPlace("other", Loc(FILE, 7, 17)))
    result = audited(KERNELS, finding(5), finding(8, kernel="other"), kernels=places)
    assert told(result) == [("BW202", 8)]
    assert result.hidden == {"suppressed": 1}


def test_a_kernels_suppression_does_not_hide_what_another_kernel_shows() -> None:
    places = (KernelPlace("ring<4>", Loc(FILE, 4, 1)), KernelPlace("other", Loc(FILE, 7, 17)))
    shared = [finding(8), finding(8, kernel="other")]  # one line that both kernels call
    result = audited(KERNELS, *shared, kernels=places)
    assert [(f.loc.line, f.kernel) for f in result.findings] == [(8, "other")]
    assert result.hidden == {}


def test_a_comment_behind_the_kernels_name_covers_the_kernel() -> None:
    text = f"__global__ void ring() {{  // {IGNORE} ordered elsewhere\n  copy();\n}}\n"
    assert told(audited(text, finding(2), kernels=(KernelPlace("ring<4>", Loc(FILE, 1, 17)),))) == []


@pytest.mark.parametrize(
    ("comment", "why"),
    [
        ("bw-audit: ignore[BW202]", "it gives no reason"),
        ("bw-audit: ignore[BW202] - ", "it gives no reason"),
        ("bw-audit: ignore[] because", "it names no rule"),
        ("bw-audit: ignore because", "it has the form"),
        ("bw-audit: ignored[BW202] because", "it has the form"),
        ("bw-audit: ignore[202] because", "'202' is not the code of a rule"),
        ("bw-audit: ignore[BW999] because", "'BW999' is not the code of a rule"),
        ("bw-audit: ignore-file[BW202] because", "ignore-file stands behind the first line of code"),
    ],
)
def test_malformed(comment: str, why: str) -> None:
    result = audited(f"int first;\ncopy();  // {comment}\n", finding(2))
    assert told(result) == [("BW202", 2), ("BW004", 2)]
    assert why in result.findings[1].message
    assert result.findings[1].loc.column == 10


def test_words_about_the_tool_are_no_suppression() -> None:
    assert told(audited("// See the bw-audit: manual, and ignore[BW202].\n")) == []


def test_unused_is_reported_code_by_code() -> None:
    text = "copy();  // bw-audit: ignore[BW202, BW203] same warp\n"
    result = audited(text, finding(1))
    assert told(result) == [("BW004", 1)]
    assert result.findings[0].message == "unused suppression: nothing to ignore here for BW203"


def test_unused_is_reported_only_when_it_is_known() -> None:
    text = f"copy();  // {IGNORE} same warp\n"
    assert told(audited(text)) == [("BW004", 1)]
    assert told(audited(text, executed=0)) == []  # what was not run may hold the finding
    assert told(audited(text, options=AuditOptions(select=("BW1", "BW004")))) == []
    assert told(audited(text, options=AuditOptions(ignore=("BW004",)))) == []


def test_levels_apply_before_notes_are_left_out() -> None:
    up = AuditOptions(levels=(("BW001", "error"),))
    note = Finding("BW001", Level.NOTE, "m", Loc(FILE, 1))
    assert told(audited("x();\n", note)) == []
    assert [f.level for f in audited("x();\n", note, options=up).findings] == [Level.ERROR]
    down = AuditOptions(levels=(("BW202", "note"),))
    assert told(audited("x();\n", finding(1), options=down)) == []


@pytest.mark.parametrize(
    ("before", "line", "after"),
    [
        ("copy();\n", 1, "copy();  // bw-audit: ignore[BW202] known\n"),
        ("  copy(); // why\r\n", 1, "  // bw-audit: ignore[BW202] known\r\n  copy(); // why\r\n"),
        ("#define C copy(); \\\n  x()\n", 1, "#define C copy();  /* bw-audit: ignore[BW202] known */ \\\n  x()\n"),
        ("#define C x(); \\\n  copy()\n", 2, "#define C x(); \\\n  copy()  // bw-audit: ignore[BW202] known\n"),
        ('  f(R"(a\nb)");\n', 1, '  // bw-audit: ignore[BW202] known\n  f(R"(a\nb)");\n'),
        ("copy();", 1, "copy();  // bw-audit: ignore[BW202] known"),
    ],
)
def test_added_comments_hide_the_finding(before: str, line: int, after: str) -> None:
    changed, left = with_ignores(before, [finding(line)], "known")
    assert (changed, left) == (after, [])
    moved = next(n for n, text in enumerate(Layout(changed).lines, 1) if "copy" in text or "f(R" in text)
    assert told(audited(changed, finding(moved))) == []


def test_no_comment_is_added_where_none_can_stand() -> None:
    for text, line in (('f(R"(a\nb)", R"(c\nd)");\n', 2), ("#define C f() /* a \\\n b */\n", 1)):
        changed, left = with_ignores(text, [finding(line)], "known")
        assert changed == text
        assert [f.loc.line for f in left] == [line]


def test_one_comment_for_all_findings_of_a_line() -> None:
    found = [finding(1, "BW202"), finding(1, "BW106"), finding(1, "BW004")]
    changed, _ = with_ignores("copy();\n", found, "known")
    assert changed == "copy();  // bw-audit: ignore[BW106, BW202] known\n"


PIECES = st.sampled_from(
    [
        "copy();",
        "//",
        "/*",
        "*/",
        '"',
        "'",
        "\\",
        'R"(',
        ')"',
        "\n",
        "\r\n",
        " ",
        "#define X",
        "1'0",
        "\xe9",
        IGNORE,
        " why",
    ]
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(PIECES, max_size=30).map("".join))
def test_any_text_keeps_its_lines_and_added_comments_are_understood(text: str) -> None:
    layout = Layout(text)
    assert layout.lines == re.split(r"\r\n|\n|\r", text)
    for number, line in enumerate(layout.lines, 1):
        assert len(layout.code(number, number)) == len(line)
    covered = [number for number in range(1, len(layout.lines) + 1) if layout.has_code(number)]
    changed, left = with_ignores(text, [finding(number, "BW101") for number in covered], "known")
    added = Layout(changed).lines
    removed = re.compile(r"  // bw-audit: ignore\[BW101\] known|  /\* bw-audit: ignore\[BW101\] known \*/")
    own = re.compile(r"[ \t]*// bw-audit: ignore\[BW101\] known")
    kept = [line for line in added if not own.fullmatch(line)]
    assert ["".join(removed.sub("", line).split()) for line in kept] == ["".join(line.split()) for line in layout.lines]
    findings = [finding(at, "BW101") for at in range(1, len(added) + 1) if not own.fullmatch(added[at - 1])]
    reported = [f.loc.line for f in audited(changed, *findings).findings if f.code == "BW101"]
    assert len(reported) == len(findings) - (len(covered) - len(left))
