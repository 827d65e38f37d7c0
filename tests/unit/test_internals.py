"""docs/internals.md names every kind of event and incident that the machine writes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs" / "internals.md").read_text()


def literals(method: str, position: int) -> Iterator[str]:
    """String arguments at a position of the calls of a method in the machine."""
    for path in sorted((ROOT / "auditor" / "machine").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call) or len(node.args) <= position:
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name == method:
                yield from values(node.args[position])


def values(node: ast.expr) -> Iterator[str]:
    """The strings that an expression can be, as far as it spells them out."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from values(node.body)
        yield from values(node.orelse)


def undocumented(names: Iterator[str]) -> list[str]:
    return sorted({n for n in names if f"`{n}`" not in DOCUMENT})


def test_incidents() -> None:
    assert undocumented(literals("incident", 0)) == []


def test_events() -> None:
    assert undocumented(literals("emit", 1)) == []
