"""Call chains of generated code, read from the Python frames that execute it."""

from __future__ import annotations

from collections.abc import Sequence
from types import FrameType

from auditor.program import Program
from auditor.source import Loc, Stack

_FILE = Program.FILENAME


def generated_frame(frame: FrameType | None) -> FrameType | None:
    """The innermost frame of generated code at or above ``frame``."""
    while frame is not None and frame.f_code.co_filename != _FILE:
        frame = frame.f_back
    return frame


def generated_lines(frame: FrameType | None) -> tuple[int, ...]:
    """Line numbers of the generated functions that are executing, innermost first."""
    frame = generated_frame(frame)
    lines = []
    while frame is not None and frame.f_code.co_filename == _FILE:
        lines.append(frame.f_lineno)
        frame = frame.f_back
    return tuple(lines)


def instructions(frame: FrameType | None) -> tuple[int, ...]:
    """What tells one call chain of generated code from others: each function, and how far it has come.

    Python finds a line number by walking through the function's code, which for a large kernel takes longer than what
    is done there; an instruction's number it knows.
    """
    chain: list[int] = []
    while frame is not None:
        code = frame.f_code
        if code.co_filename == _FILE:
            chain += (id(code), frame.f_lasti)
        elif chain:
            break
        frame = frame.f_back
    return tuple(chain)


def source_places(lines: Sequence[int], table: Sequence[Loc | None]) -> Stack:
    """The C++ places of generated lines; a place that repeats at once counts once."""
    places: list[Loc] = []
    for n in lines:
        loc = table[n] if n < len(table) else None
        if loc is not None and (not places or places[-1] != loc):
            places.append(loc)
    return tuple(places)


class CallChains:
    """The call chains of one run, each as one object however often it is met.

    ``table``: the C++ place of each generated line; ``outermost``: what stands for a chain without any.
    """

    def __init__(self, table: Sequence[Loc | None], outermost: Loc) -> None:
        self._table = table
        self._outermost: Stack = (outermost,)
        self._by_instructions: dict[tuple[int, ...], Stack] = {}
        self._equal: dict[Stack, Stack] = {}
        # The generated function that was met last. While it lives, its callers stand where they stood, so that its own
        # instruction tells the chain: loops over data are asked for it all the time.
        self._function: FrameType | None = None
        self._within: dict[int, Stack] = {}

    def at(self, function: FrameType | None) -> Stack:
        """The chain of a generated function that is executing and of those that called it."""
        if function is None:
            return self._outermost
        if function is not self._function:
            self._function, self._within = function, {}
        stack = self._within.get(function.f_lasti)
        if stack is None:
            stack = self._within[function.f_lasti] = self._found(function)
        return stack

    def leave(self) -> None:
        """Let go of the function that was met last."""
        self._function, self._within = None, {}

    def _found(self, function: FrameType) -> Stack:
        key = instructions(function)
        stack = self._by_instructions.get(key)
        if stack is None:
            stack = source_places(generated_lines(function), self._table) or self._outermost
            stack = self._by_instructions[key] = self._equal.setdefault(stack, stack)
        return stack
