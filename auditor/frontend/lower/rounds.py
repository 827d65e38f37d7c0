"""Loops that wait tell the machine at every round what they carry from round to round.

The machine may then leave rounds out (auditor/machine/steady.py). This works on the generated text, when it is known
which functions wait. Loops with few rounds stay as they are, and so do those that only compute.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from auditor.frontend.lower.emit import CALL_MARK, Function, Line, generators, suite_end

FEW = 16  # rounds of a loop with constant bounds that is left as it is

_COUNTED = re.compile(r"for (?P<name>\w+) in (?P<range>range\((?P<bounds>[-\d, ]+)\)):")
_HEAD = re.compile(r"S\.loop\(\d+\)")
_EXIT = re.compile(r"if not \((?P<test>.*)\): break")
_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*")  # of a variable, not of an attribute


def tell_rounds(functions: Sequence[Function]) -> None:
    """Rewrite the heads of the loops that wait, in all functions."""
    waiting = generators(functions)
    for function in functions:
        if function.number in waiting:
            _rewrite(function.lines, waiting)


def _rewrite(lines: list[Line], waiting: set[int]) -> None:
    """Innermost loops first: they are further down, so the text is walked from its end."""
    for start in range(len(lines) - 1, -1, -1):
        counted = _COUNTED.fullmatch(lines[start].text)
        if counted is None and lines[start].text != "while True:":
            continue
        if counted is not None and len(range(*map(int, counted["bounds"].split(",")))) <= FEW:
            continue
        end = suite_end(lines, start)
        suite = lines[start + 1 : end]
        if any(item.callee in waiting or "yield" in item.text for item in suite):
            _tell(lines, start, end, counted)


def _tell(lines: list[Line], start: int, end: int, counted: re.Match[str] | None) -> None:
    opening = lines[start]
    inner = opening.indent + 1
    head = next((n for n in range(start + 1, end) if lines[n].indent == inner and _HEAD.fullmatch(lines[n].text)), None)
    if head is None:
        return
    known = set(_NAME.findall("\n".join(item.text for item in lines[:start])))
    suite = lines[start + 1 : end]
    assigned = _assigned(suite, inner)
    mentioned = set(_NAME.findall("\n".join(item.text for item in suite)))
    scalars = [name for name in assigned if name in known]
    if counted is not None:
        scalars.insert(0, counted["name"])
    boxes = sorted((mentioned & _variables(lines[:start])) - set(scalars))
    loop = f"rounds_{start}"
    left = "" if counted else _distance(lines[head - 1].text)
    arguments = [_tuple(scalars), _tuple(boxes), *([left] if left else [])]
    call = f"{loop}.round({', '.join(arguments)})"
    text = f"{_tuple(scalars)[1:-1]} = {call}" if scalars else call
    lines[head] = Line(inner, text, lines[head].loc)
    if counted is not None:
        lines[start] = Line(opening.indent, f"for {counted['name']} in {loop}.over({counted['range']}):", opening.loc)
    lines.insert(start, Line(opening.indent, f"{loop} = S.rounds()", opening.loc))


def _tuple(names: Sequence[str]) -> str:
    return f"({', '.join(names)}{',' if len(names) == 1 else ''})"


def _assigned(suite: Sequence[Line], indent: int) -> list[str]:
    """Names that the lines of a body assign, in the order of their first assignment."""
    text = "\n".join(" " * (item.indent - indent) + item.text for item in suite).replace(CALL_MARK, "yield from ")
    found: dict[str, None] = {}
    inside: set[str] = set()  # a comprehension has its counter to itself
    for node in ast.walk(ast.parse(f"def f():\n{_indented(text)}")):
        if isinstance(node, ast.comprehension):
            inside.update(name.id for name in ast.walk(node.target) if isinstance(name, ast.Name))
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found[node.id] = None
    return [name for name in found if name not in inside]


def _indented(text: str) -> str:
    return "\n".join(" " + line for line in text.splitlines())


def _variables(lines: Sequence[Line]) -> set[str]:
    """Names that earlier lines of a function bind: parameters and what is assigned."""
    found = set(_NAME.findall(lines[0].text.partition("(")[2]))
    for item in lines[1:]:
        target, sign, _ = item.text.partition(" = ")
        if sign:
            found.update(_NAME.findall(target))
    return found - {"S"}


def _distance(text: str) -> str:
    """What shrinks from round to round until the test for leaving a loop holds; empty when that is not plain."""
    exit_test = _EXIT.fullmatch(text)
    if exit_test is None:
        return ""
    tests = [
        node
        for node in ast.walk(ast.parse(exit_test["test"], mode="eval"))
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.NotEq))
    ]
    if len(tests) != 1 or any(isinstance(inner, (ast.Call, ast.NamedExpr)) for inner in ast.walk(tests[0])):
        return ""
    return f"{ast.unparse(tests[0].comparators[0])} - ({ast.unparse(tests[0].left)})"
