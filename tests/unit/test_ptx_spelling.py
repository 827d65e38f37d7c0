"""Misspelled instruction names in source texts."""

from __future__ import annotations

import pytest

from auditor.ptx.spelling import misspelled_names


def lines(text: str) -> list[int]:
    return [number for number, _ in misspelled_names(text)]


def test_name_across_literals_and_comments() -> None:
    text = 'void f() {\n  asm volatile("mbarrier.ini"  // first half\n    "t.shared::bta.b64 [%0], 1;" :: "r"(0));\n}\n'
    assert lines(text) == [2]


@pytest.mark.parametrize(
    "asm",
    [
        '"mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(a), "r"(b)',
        '"{ .reg .pred p;\\n L: mbarrier.try_wait.parity.shared.b64 p, [%0], %1;\\n @!p bra L; }" :: "r"(a), "r"(b)',
        '"setp.ne.u32 p, %0, 0; @p tcgen05.wait::ld.sync.aligned;" :: "r"(a)',
        '"// mbarrier.ival is gone\\n nanosleep.u32 %0;" :: "r"(a)',
        '"barrier.cluster." KIND ".aligned;"',
        'R"(fence.proxy.async.shared::cta;)" ::: "memory"',
    ],
)
def test_right_names(asm: str) -> None:
    assert lines(f"void f() {{ asm volatile({asm}); }}") == []


def test_each_name_is_told_once_at_its_line() -> None:
    text = 'void f() {\n  asm("mbarrier.ival.shared.b64 [%0];" :: "r"(0));\n  asm("wgmma.fense.sync.aligned;");\n}\n'
    assert lines(text) == [2, 3]
