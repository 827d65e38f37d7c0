"""Every requirement has a rule, or a reason why it has none; the page in the documentation says so."""

from __future__ import annotations

import re

from auditor import registry
from tests.rulebook.table import PAGE, problems, table


def test_every_entry_has_a_rule_or_a_reason() -> None:
    assert problems() == []


def test_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == table(), "run python -m tests.rulebook"


def test_list_of_codes_agrees_with_the_metadata() -> None:
    page = (PAGE.parent / "rule-codes.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (BW\d{3}) \| ([\w-]+) \| (\w+)[^|]* \|.*\|([^|]*)\|$", page, re.M)
    listed = {code: (name, level, set(entries.split())) for code, name, level, entries in rows}
    rules = {r.code: (r.name, r.level.value, set(r.entries)) for r in registry.all_rules()}
    assert listed == rules
