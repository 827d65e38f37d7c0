"""The generated text: lines with their C++ places, blocks, and the final assembly of the module."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field

from auditor.quick_dataclass import dataclass
from auditor.source import Loc

# A branch on a condition that may differ between lanes, or be opaque.
CONDITION = re.compile(
    r"if (?:\((?P<temp>\w+) := (?P<code>.*)\) is True or (?P=temp)|(?P<name>\w+) is True or (?P=name))"
    r" is not False and S\.cond\((?P<asked>\w+)\):"
)
CALL_MARK = "\x00"  # stands for "yield from " or nothing, once generators are known


@dataclass(slots=True)
class Line:
    indent: int
    text: str
    loc: Loc | None = None
    callee: int = -1  # number of the generated function that is called here


@dataclass
class Function:
    """A generated function. ``blocking``: it waits itself; callees are looked at later."""

    number: int
    name: str
    lines: list[Line] = field(default_factory=list)
    callees: set[int] = field(default_factory=set)
    blocking: bool = False
    done: bool = False


class Writer:
    """Collects the lines of one function."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.depth = 1

    def line(self, text: str, loc: Loc | None = None, callee: int = -1) -> None:
        self.lines.append(Line(self.depth, text, loc, callee))

    @contextmanager
    def block(self) -> Iterator[None]:
        """An indented suite; an empty one gets ``pass``."""
        start = len(self.lines)
        self.depth += 1
        try:
            yield
        finally:
            if len(self.lines) == start:
                self.line("pass")
            self.depth -= 1

    @contextmanager
    def capture(self) -> Iterator[list[Line]]:
        """Lines go to a list of their own, to be inspected and spliced in later."""
        outer, depth = self.lines, self.depth
        inner: list[Line] = []
        self.lines, self.depth = inner, 0
        try:
            yield inner
        finally:
            self.lines, self.depth = outer, depth

    def splice(self, lines: list[Line]) -> None:
        for item in lines:
            self.lines.append(Line(item.indent + self.depth, item.text, item.loc, item.callee))


def suite_end(lines: Sequence[Line], start: int) -> int:
    """Index behind the suite of the compound statement at a line."""
    end = start + 1
    while end < len(lines) and lines[end].indent > lines[start].indent:
        end += 1
    return end


def callees_first(functions: Sequence[Function]) -> Iterator[Function]:
    """Each function behind those that it calls; a recursive one is met again while it is on its way."""
    by_number = {function.number: function for function in functions}
    visited: set[int] = set()

    def visit(function: Function) -> Iterator[Function]:
        if function.number not in visited:
            visited.add(function.number)
            for callee in function.callees:
                if callee in by_number:
                    yield from visit(by_number[callee])
            yield function

    for function in functions:
        yield from visit(function)


def generators(functions: Sequence[Function]) -> set[int]:
    """Numbers of the functions that wait, directly or through a callee."""
    callers: dict[int, set[int]] = {}
    for function in functions:
        for callee in function.callees:
            callers.setdefault(callee, set()).add(function.number)
    found = {f.number for f in functions if f.blocking}
    work = list(found)
    while work:
        for caller in callers.get(work.pop(), ()):
            if caller not in found:
                found.add(caller)
                work.append(caller)
    return found


def assemble(header: str, functions: list[Function]) -> tuple[str, list[Loc | None]]:
    """The module text and the C++ place of each of its lines."""
    waiting = generators(functions)
    out = header.splitlines()
    locs: list[Loc | None] = [None] * (len(out) + 1)
    for function in functions:
        for line in function.lines:
            text = line.text
            if line.callee >= 0:
                text = text.replace(CALL_MARK, "yield from " if line.callee in waiting else "")
            out.append(" " * line.indent + text)
            locs.append(line.loc)
    return "\n".join(out) + "\n", locs
