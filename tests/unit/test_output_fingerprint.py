"""The line hash agrees with the values that GitHub's own implementation gives."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.output.fingerprint import line_hashes

GREETINGS = [
    "e9496ae3ebfced30:1",
    "fb7c023a8b9ccb3f:1",
    "ce8ba1a563dcdaca:1",
    "e20e36e16fcb0cc8:1",
    "b3edc88f2938467e:1",
    "c8e28b0b4002a3a0:1",
    "c129715d7a2bc9a3:1",
]


@pytest.mark.parametrize(
    ("text", "hashes"),
    [
        ("", ["c129715d7a2bc9a3:1"]),
        (
            " a\nb\n  \t\tc\n d",
            ["271789c17abda88f:1", "54703d4cd895b18:1", "180aee12dab6264:1", "a23a3dc5e078b07b:1"],
        ),
        (" hello; \t\nworld!!!\n\n\n  \t\tGreetings\n End\n", GREETINGS),
        (" hello; \t\nworld!!!\r\r\r  \t\tGreetings\r End\r", GREETINGS),
        (" hello; \t\r\nworld!!!\r\n\r\n\r\n  \t\tGreetings\r\n End\r\n", GREETINGS),
        (" hello; \t\nworld!!!\r\n\n\r  \t\tGreetings\r End\r\n", GREETINGS),
        (
            "Lorem ipsum dolor sit amet.\n" * 10,
            [f"a7f2ff13bc495cf2:{n}" for n in range(1, 7)]
            + ["a7f2ff1481e87703:1", "a9cf91f7bbf1862b:1", "55ec222b86bcae53:1", "cc97dc7b1d7d8f7b:1"]
            + ["c129715d7a2bc9a3:1"],
        ),
    ],
)
def test_known_hashes(text: str, hashes: list[str]) -> None:
    assert line_hashes(text) == hashes


def test_hash_survives_indentation_and_earlier_lines() -> None:
    body = "issue(copy);\n" + "rest of the kernel;\n" * 20
    moved = "// a new line\n\t\t" + body
    assert line_hashes(moved)[1].split(":")[0] == line_hashes(body)[0].split(":")[0]


def by_definition(units: list[int], start: int) -> int:
    """The polynomial over 100 units from ``start`` on."""
    window = (units[start:] + [0] * 100)[:100]
    value = 0
    for unit in window:
        value = value * 37 + unit
    return value % 2**64


@given(st.text(alphabet="ab \t\n\r𝟙", max_size=300))
def test_rolling_hash_equals_its_definition(text: str) -> None:
    kept = re.sub(r"[ \t]", "", re.sub(r"\r\n?", "\n", text))
    raw = kept.encode("utf-16-le")
    units = [int.from_bytes(raw[at : at + 2], "little") for at in range(0, len(raw), 2)] + [0xFFFF]
    starts = [0] + [at + 1 for at, unit in enumerate(units) if unit == 10]
    expected = [f"{by_definition(units, start):x}" for start in starts]
    assert [entry.split(":")[0] for entry in line_hashes(text)] == expected
