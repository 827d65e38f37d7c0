"""Every requirement has a rule, or a reason why it has none; the page in the documentation says so."""

from __future__ import annotations

from tests.rulebook.table import PAGE, problems, table


def test_every_entry_has_a_rule_or_a_reason() -> None:
    assert problems() == []


def test_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == table(), "run python -m tests.rulebook"
