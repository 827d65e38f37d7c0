"""Loops that wait tell the machine at every round what they carry from round to round.

The machine may then leave rounds out (auditor/machine/steady.py). This works on the generated text, when it is known
which functions wait. Loops with few rounds stay as they are, and so do those that only compute.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from auditor.frontend.lower.emit import Function, Line, generators, suite_end
from auditor.frontend.lower.mentions import Mentions

FEW = 16  # rounds of a loop with constant bounds that is left as it is
MOST = 1 << 62  # and this many: it never ends, and len() could not tell how many they are

_COUNTED = re.compile(r"for (?P<name>\w+) in (?P<range>range\((?P<bounds>[-\d, ]+)\)):")
_HEAD = re.compile(r"S\.loop\(\d+\)")
_EXIT = re.compile(r"if not \((?P<test>.*)\): break")


def tell_rounds(functions: Sequence[Function]) -> None:
    """Rewrite the heads of the loops that wait, in all functions."""
    waiting = generators(functions)
    for function in functions:
        if function.number in waiting:
            _rewrite(function.lines, waiting)


def _rewrite(lines: list[Line], waiting: set[int]) -> None:
    """Innermost loops first: they are further down, so the text is walked from its end."""
    original, mentions = list(lines), Mentions(lines)
    for start in range(len(lines) - 1, -1, -1):
        counted = _COUNTED.fullmatch(lines[start].text)
        if counted is None and lines[start].text != "while True:":
            continue
        if counted is not None:
            values = range(*map(int, counted["bounds"].split(",")))
            if not values[FEW:] or values[MOST:]:
                continue
        end = suite_end(original, start)
        if any(item.callee in waiting or "yield" in item.text for item in original[start + 1 : end]):
            _tell(lines, start, end, counted, mentions)


def _tell(lines: list[Line], start: int, end: int, counted: re.Match[str] | None, mentions: Mentions) -> None:
    """Rewrite one loop; ``end`` is where its suite ends in the function as it was."""
    opening = lines[start]
    inner = opening.indent + 1
    heads = range(start + 1, suite_end(lines, start))
    head = next((n for n in heads if lines[n].indent == inner and _HEAD.fullmatch(lines[n].text)), None)
    if head is None:
        return
    scalars = [name for name in mentions.assigned(start + 1, end) if mentions.before(start, name)]
    if counted is not None:
        scalars.insert(0, counted["name"])
    others = mentions.variables(start + 1, end).difference(scalars)
    boxes = sorted(name for name in others if mentions.bound(start, name))
    loop = f"rounds_{start}"
    left = "" if counted else _distance(lines[head - 1].text)
    arguments = [_tuple(scalars), _tuple(boxes), *([left] if left else [])]
    call = f"{loop}.round({', '.join(arguments)})"
    text = f"{_tuple(scalars)[1:-1]} = {call}" if scalars else call
    lines[head] = Line(inner, text, lines[head].loc)
    lines.insert(heads.stop, Line(opening.indent, f"{loop}.leave()", opening.loc))
    if counted is not None:
        lines[start] = Line(opening.indent, f"for {counted['name']} in {loop}.over({counted['range']}):", opening.loc)
    lines.insert(start, Line(opening.indent, f"{loop} = S.rounds()", opening.loc))


def _tuple(names: Sequence[str]) -> str:
    return f"({', '.join(names)}{',' if len(names) == 1 else ''})"


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
