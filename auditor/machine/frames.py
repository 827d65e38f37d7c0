"""Call chains of generated code, read from the Python frames that execute it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from types import CodeType, FrameType

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
    """What tells one call chain of generated code from others: each function, and how far it has come."""
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


class _Lines:
    """The line numbers of a function's instructions.

    Python finds one by walking through the table of the whole function, which for a large kernel takes longer than what
    is done there: here that is done once.
    """

    def __init__(self, code: CodeType) -> None:
        spans = [(start, line) for start, _, line in code.co_lines() if line is not None]
        self._starts = [start for start, _ in spans]
        self._lines = [line for _, line in spans]

    def at(self, instruction: int) -> int:
        return self._lines[bisect_right(self._starts, instruction) - 1]


class ProgramPlaces:
    """What is known of the places in a program's functions, which all its runs share.

    Functions are told apart by the ids of their code, which the program keeps.
    """

    def __init__(self, table: Sequence[Loc | None]) -> None:
        self._table = table
        self._lines: dict[int, _Lines] = {}
        self._by_instructions: dict[tuple[int, ...], Stack] = {}
        self._equal: dict[Stack, Stack] = {}

    def chain(self, function: FrameType) -> Stack:
        """The call chain of a function that is executing, as one object however often it is met."""
        key = instructions(function)
        stack = self._by_instructions.get(key)
        if stack is None:
            stack = source_places(self._chain_lines(function), self._table)
            stack = self._by_instructions[key] = self._equal.setdefault(stack, stack)
        return stack

    def _chain_lines(self, function: FrameType) -> list[int]:
        lines = []
        frame: FrameType | None = function
        while frame is not None and (code := frame.f_code).co_filename == _FILE:
            known = self._lines.get(id(code))
            if known is None:
                known = self._lines[id(code)] = _Lines(code)
            lines.append(known.at(frame.f_lasti))
            frame = frame.f_back
        return lines


class CallChains:
    """The call chains of one run, each as one object however often it is met.

    ``outermost``: what stands for a chain without any place.
    """

    def __init__(self, program: Program, outermost: Loc) -> None:
        if program.places is None:
            program.places = ProgramPlaces(program.line_locs)
        self._places: ProgramPlaces = program.places
        self._outermost: Stack = (outermost,)
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
            stack = self._within[function.f_lasti] = self._places.chain(function) or self._outermost
        return stack

    def leave(self) -> None:
        """Let go of the function that was met last."""
        self._function, self._within = None, {}
