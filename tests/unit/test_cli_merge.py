"""Findings of several kernels, inputs and architectures at one place become one."""

from __future__ import annotations

from auditor.findings import Coverage, Finding, Level
from auditor.merge import merge_coverage, merge_findings
from auditor.source import UNKNOWN, Loc


def finding(
    line: int = 1, code: str = "BW201", level: Level = Level.ERROR, kernel: str = "k", inputs: str = "1"
) -> Finding:
    return Finding(code, level, f"in {kernel}", Loc("a.cu", line, 1), kernel=kernel, inputs=(("n", inputs),))


def test_sorted_by_place_then_code() -> None:
    merged = merge_findings([("sm_90a", [finding(2), finding(1, "BW301"), finding(1)])])
    assert [(item.loc.line, item.code) for item in merged] == [(1, "BW201"), (1, "BW301"), (2, "BW201")]


def test_kernels_and_inputs_are_counted() -> None:
    same = [finding(), finding(inputs="2"), finding(kernel="j"), finding(kernel="l"), finding(kernel="j")]
    (merged,) = merge_findings([("sm_90a", same)])
    assert merged.kernel == "k"
    assert merged.context == (("also in kernels", "j, l"), ("also with", "1 more of the inputs tried"))


def test_worst_level_is_kept() -> None:
    (merged,) = merge_findings([("sm_90a", [finding(level=Level.WARNING), finding(level=Level.ERROR, kernel="j")])])
    assert (merged.level, merged.kernel) == (Level.ERROR, "j")
    assert merged.context == (("also in kernel", "k"),)


def test_architectures_are_named_when_not_all_show_it() -> None:
    merged = merge_findings([("sm_90a", [finding(1), finding(2)]), ("sm_100a", [finding(1)])])
    assert [item.context for item in merged] == [(), (("only for", "sm_90a"),)]


def test_coverage() -> None:
    note = ("opaque call", "f()", UNKNOWN)
    merged = merge_coverage([Coverage(2, 2, [note]), Coverage(2, 1, [note, ("budget", "k", UNKNOWN)])])
    assert (merged.kernels, merged.executed) == (2, 1)
    assert merged.notes == [note, ("budget", "k", UNKNOWN)]
