"""Places in source text."""

from __future__ import annotations

import pytest

from auditor.source import Loc

CALL = Loc("a.cu", 10, 5, 14, 7)


@pytest.mark.parametrize(
    ("inner", "within"),
    [
        (Loc("a.cu", 11, 1, 11, 9), True),
        (Loc("a.cu", 10, 6, 10, 9), True),
        (Loc("a.cu", 14, 1), True),  # only its start is known
        (CALL, False),
        (Loc("a.cu", 10, 4, 10, 9), False),
        (Loc("a.cu", 14, 1, 14, 8), False),
        (Loc("b.cu", 11, 1, 11, 9), False),
    ],
)
def test_a_range_encloses_what_lies_within(inner: Loc, within: bool) -> None:
    assert CALL.encloses(inner) is within


def test_a_mere_start_encloses_nothing() -> None:
    assert not Loc("a.cu", 10).encloses(Loc("a.cu", 10, 2))
