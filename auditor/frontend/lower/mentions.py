"""What the lines of a generated function say of names, looked up once for all branches and loops of the function.

Branches and loops are rewritten from the end of a function on. What stands above one is then still as it was, so that
the line where a name was first met answers for every place.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from auditor.frontend.lower.emit import CALL_MARK, Line

_WORD = re.compile(r"[A-Za-z_]\w*")
_VARIABLE = re.compile(r"(?<![\w.])[A-Za-z_]\w*")  # not an attribute


class Mentions:
    """Names in the lines of one function, as they were before any was rewritten."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._lines = list(lines)

    def before(self, line: int, name: str) -> bool:
        """Whether a name is mentioned above a line, be it as an attribute. A variable is assigned where it is declared,
        and its name is used for no other."""
        return self._words.get(name, line) < line

    def bound(self, line: int) -> set[str]:
        """Variables that a parameter or a statement above a line assigns."""
        return {name for name, first in self._bound.items() if first < line}

    def variables(self, lo: int, hi: int) -> set[str]:
        """Names in lines [lo, hi) that are no attributes."""
        return set().union(*self._variables[lo:hi])

    def assigned(self, lo: int, hi: int) -> list[str]:
        """Names that lines [lo, hi) assign, in the order of their first assignment. A comprehension has its counter to
        itself."""
        stores = [name for line in range(lo, hi) for name in self._stores.get(line, ())]
        inside = {name for line in range(lo, hi) for name in self._counters.get(line, ())}
        return [name for name in dict.fromkeys(stores) if name not in inside]

    @cached_property
    def _words(self) -> dict[str, int]:
        return _first((n, name) for n, item in enumerate(self._lines) for name in _WORD.findall(item.text))

    @cached_property
    def _variables(self) -> list[set[str]]:
        return [set(_VARIABLE.findall(item.text)) for item in self._lines]

    @cached_property
    def _bound(self) -> dict[str, int]:
        """For each variable that a parameter or a statement assigns, the first line that does."""
        found = dict.fromkeys(_VARIABLE.findall(self._lines[0].text.partition("(")[2]), 0)
        for statement in self._statements:
            for target in (*getattr(statement, "targets", ()), getattr(statement, "target", None)):
                for name in ast.walk(target) if target is not None else ():
                    if isinstance(name, ast.Name):
                        found.setdefault(name.id, statement.lineno - 1)
        found.pop("S", None)
        return found

    @property
    def _stores(self) -> dict[int, list[str]]:
        return self._assignments[0]

    @property
    def _counters(self) -> dict[int, list[str]]:
        return self._assignments[1]

    @cached_property
    def _assignments(self) -> tuple[dict[int, list[str]], dict[int, list[str]]]:
        """By line, the names that are assigned there and those that a comprehension there counts with."""
        stores: dict[int, list[str]] = {}
        counters: dict[int, list[str]] = {}
        for statement in self._statements:
            line = statement.lineno - 1
            for node in _assigning(statement, self._lines[line].text):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    stores.setdefault(line, []).append(node.id)
                elif isinstance(node, ast.comprehension):
                    names = [name.id for name in ast.walk(node.target) if isinstance(name, ast.Name)]
                    counters.setdefault(line, []).extend(names)
        return stores, counters

    @cached_property
    def _statements(self) -> list[ast.stmt]:
        """All statements, in the order in which they stand."""
        text = "\n".join(" " * item.indent + item.text for item in self._lines)
        work: list[ast.stmt] = ast.parse(text.replace(CALL_MARK, "yield from ")).body[::-1]
        found = []
        while work:
            statement = work.pop()
            found.append(statement)
            work += [*getattr(statement, "orelse", ())][::-1] + [*getattr(statement, "body", ())][::-1]
        return found


def _assigning(statement: ast.stmt, text: str) -> Iterator[ast.AST]:
    """The nodes of one statement, without its suites, among which it may assign: those of its targets, and all where
    its line holds what assigns inside of an expression."""
    everything = ":=" in text or " for " in text
    for name, value in ast.iter_fields(statement):
        if name in ("body", "orelse") or not (everything or name in ("target", "targets")):
            continue
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, ast.AST):
                yield from ast.walk(part)


def _first(found: Iterator[tuple[int, str]]) -> dict[str, int]:
    first: dict[str, int] = {}
    for line, name in found:
        first.setdefault(name, line)
    return first
