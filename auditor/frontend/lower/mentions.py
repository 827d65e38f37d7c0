"""What the lines of a generated function say of names, looked up once for all branches and loops of the function.

Branches and loops are rewritten from the end of a function on. What stands above one is then still as it was, so that
the line where a name was first met answers for every place.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from keyword import kwlist
from typing import NamedTuple

from auditor.frontend.lower.emit import CALL_MARK, Line

_VARIABLE = re.compile(r"(?<![\w.])[A-Za-z_]\w*")  # not an attribute
_LINES = 1 << 14  # that are remembered: functions are looked at twice, and kernels of one generator are much alike


class Mentions:
    """Names in the lines of one function, as they were before any was rewritten."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._lines = list(lines)

    def before(self, line: int, name: str) -> bool:
        """Whether a variable is mentioned above a line. It is assigned where it is declared; no other has its name."""
        return self._variables.get(name, line) < line

    def bound(self, line: int, name: str) -> bool:
        """Whether a parameter or a statement above a line assigns a variable, or what it holds."""
        return self._bound.get(name, line) < line

    def variables(self, lo: int, hi: int) -> set[str]:
        """Names in lines [lo, hi) that are no attributes."""
        return set().union(*[_variables(item.text) for item in self._lines[lo:hi]])

    def assigned(self, lo: int, hi: int) -> list[str]:
        """Names that lines [lo, hi) assign, in the order of their first assignment. A comprehension has its counter to
        itself."""
        found = [_assignments(item.text) for item in self._lines[lo:hi]]
        inside = {name for line in found for name in line.counters}
        return [name for name in dict.fromkeys(name for line in found for name in line.stores) if name not in inside]

    @cached_property
    def _variables(self) -> dict[str, int]:
        """For each name that is no attribute, the first line that mentions it."""
        first: dict[str, int] = {}
        for number in range(len(self._lines) - 1, -1, -1):
            first.update(dict.fromkeys(_variables(self._lines[number].text), number))
        return first

    @cached_property
    def _bound(self) -> dict[str, int]:
        """For each variable that a parameter or a statement assigns, the first line that does."""
        found = dict.fromkeys(_VARIABLE.findall(self._lines[0].text.partition("(")[2]), 0)
        for number, item in enumerate(self._lines):
            for name in _assignments(item.text).bound:
                found.setdefault(name, number)
        found.pop("S", None)
        return found


class Assignments(NamedTuple):
    """What one line assigns. ``bound``: names in the targets of the statement, be they a list or an index; ``stores``:
    variables that it gives a value, in the order of Python's tree; ``counters``: those of its comprehensions."""

    bound: tuple[str, ...] = ()
    stores: tuple[str, ...] = ()
    counters: tuple[str, ...] = ()


_NOTHING = Assignments()
_KEYWORDS = frozenset(kwlist)
_TARGET = re.compile(r"(?P<names>[A-Za-z_]\w*(?:, [A-Za-z_]\w*)*),? = ")
_COUNTER = re.compile(r"for (?P<name>[A-Za-z_]\w*) in ")
_WALRUS = re.compile(r"([A-Za-z_]\w*) := ")
_AUGMENTED = re.compile(r" (?:[-+*/%&|^@]|//|\*\*|<<|>>)= ")


@lru_cache(_LINES)
def _variables(text: str) -> frozenset[str]:
    return frozenset(_VARIABLE.findall(text))


@lru_cache(_LINES)
def _assignments(text: str) -> Assignments:
    """What a line assigns. Most lines are of a few forms, for which Python's parser would take ten times as long."""
    target = _TARGET.match(text)
    rest = text[target.end() :] if target else text
    nested = ":=" in text or " for " in text
    names: tuple[str, ...] = ()
    if target:
        names = tuple(target["names"].split(", "))
    elif counted := _COUNTER.match(text):
        names = (counted["name"],)
    elif text.startswith("for "):
        return _parsed_assignments(text)
    elif " = " in text:
        names = ()
        left, _, rest = text.partition(" = ")
        if nested or ", " in left or "'" in left or '"' in left:  # several targets: some may be variables
            return _parsed_assignments(text)
        bound = tuple(name for name in _VARIABLE.findall(left) if name not in _KEYWORDS)
        return Assignments(bound) if " = " not in rest else _parsed_assignments(text)
    if " = " in rest or _AUGMENTED.search(text):
        return _parsed_assignments(text)
    if not nested:
        return Assignments(names, names) if names else _NOTHING
    inner = _WALRUS.findall(text)
    if len(inner) != text.count(":=") or len(inner) > 1 or "'" in text or '"' in text:
        return _parsed_assignments(text)
    counters = tuple(match["name"] for match in _COUNTER.finditer(rest)) if " for " in text else ()
    if len(counters) != text.count(" for "):
        return _parsed_assignments(text)
    return Assignments(names, (*names, *inner, *counters), counters)


def _parsed_assignments(text: str) -> Assignments:
    """The same by Python's parser, for a line of any form."""
    line = text.replace(CALL_MARK, "yield from ")
    if line.startswith("elif "):
        line = line[2:]
    statement = ast.parse(line + " pass" if line.endswith(":") else line).body[0]
    targets = [*getattr(statement, "targets", ()), getattr(statement, "target", None)]
    bound = [name.id for part in targets if part is not None for name in ast.walk(part) if isinstance(name, ast.Name)]
    stores, counters = [], []
    for node in _outside_suites(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            stores.append(node.id)
        elif isinstance(node, ast.comprehension):
            counters += [name.id for name in ast.walk(node.target) if isinstance(name, ast.Name)]
    return Assignments(tuple(bound), tuple(stores), tuple(counters))


def _outside_suites(statement: ast.stmt) -> Iterator[ast.AST]:
    """The nodes of one statement, without those of its suites."""
    for name, value in ast.iter_fields(statement):
        if name not in ("body", "orelse"):
            for part in value if isinstance(value, list) else [value]:
                if isinstance(part, ast.AST):
                    yield from ast.walk(part)
