"""Code that does nothing at run time goes: calls of functions without a statement, and counted loops without one.

Compilers are told with asm statements that hold no instruction to leave registers alone, often one for each of a
hundred accumulators, at every step of a loop. To walk through them costs more than the rest of such a kernel.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from auditor.frontend.lower.emit import CALL_MARK, Function, Line, callees_first, suite_end

_CALL = re.compile(rf"{CALL_MARK}(f\d+_\w*)\(S(?:, (?:\w+|Ref\(\w+, \w+\)))*\)")
_LOOP = re.compile(r"for (\w+) in range\([-\d, ]+\):")
_NOTHING = re.compile(r"pass|S\.loop\(\d+\)")


def without_idle(functions: Sequence[Function]) -> None:
    """Take such code out of all functions, callees first."""
    idle: set[int] = set()
    for function in callees_first(functions):
        if any(callee in idle for callee in function.callees):
            _clear(function.lines, idle)
            function.callees = {line.callee for line in function.lines if line.callee >= 0} | {
                callee for callee in function.callees if callee not in idle
            }
        if not function.blocking and all(line.text == "pass" for line in function.lines[1:]):
            idle.add(function.number)


def _clear(lines: list[Line], idle: set[int]) -> None:
    """Innermost suites first: they are further down, so the text is walked from its end."""
    for start in range(len(lines) - 1, 0, -1):
        line = lines[start]
        if line.callee in idle and _CALL.fullmatch(line.text):
            lines[start] = Line(line.indent, "pass", line.loc)
            continue
        loop = _LOOP.fullmatch(line.text)
        if loop is None:
            continue
        end = suite_end(lines, start)
        first = start - 1 if re.fullmatch(rf"{loop[1]} = -?\d+", lines[start - 1].text) else start
        outside = [*lines[:first], *lines[end:]]
        if all(_NOTHING.fullmatch(inner.text) for inner in lines[start + 1 : end]) and not any(
            re.search(rf"\b{loop[1]}\b", other.text) for other in outside
        ):
            lines[first:end] = [Line(line.indent, "pass", line.loc)]
