"""The brackets and statements of a C++ source text, found without a parser.

Only the shape of the text is read, to find a place for an edit. Whether the edited source is right is never decided
here: ``auditor.repair.verify`` audits it.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import cached_property

from auditor.comments import tokens
from auditor.quick_dataclass import dataclass
from auditor.source import Loc

_LINE_END = re.compile(r"\r\n|\n|\r")
_DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\r?\n|[^\r\n])*", re.M)
_CLOSING = {")": "(", "]": "[", "}": "{"}
_CONTROL = re.compile(r"(if|for|while|switch)\b(?:\s*constexpr\b)?")
_LABEL = re.compile(r"(?:case\b[^:;{}]*|default|[A-Za-z_]\w*)\s*:(?!:)\s*")
_FUNCTION_HEAD = re.compile(r"(?:\)|\])\s*(?:(?:const|noexcept|mutable|override|final)\s*|->[\w:<>,&*\s]+)*$")
_LONGEST_HEAD = 400  # characters between the parameters of a function and its brace


@dataclass(frozen=True)
class Statement:
    """A statement by character offsets; ``end`` is behind its semicolon or brace."""

    start: int
    end: int


class Layout:
    """What a source text looks like. ``code`` is the text with comments, literals and directives blanked."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
        self.tokens = list(tokens(text))
        blank = list(text)
        for kind, start, end in self.tokens:
            if kind != "number":
                _blank(blank, start, end)
        self.directives = [match.span() for match in _DIRECTIVE.finditer("".join(blank))]
        for start, end in self.directives:
            _blank(blank, start, end)
        self.code = "".join(blank)
        self.partner = self._brackets()

    # ---- places ----

    def offset(self, loc: Loc) -> int | None:
        """The character at which a place starts; None outside the text and in preprocessor directives."""
        if not 1 <= loc.line <= len(self._starts):
            return None
        start = self._starts[loc.line - 1]
        line = self.text[start : self._line_end(start)].encode("utf-8", "replace")
        offset = start + len(line[: max(loc.column - 1, 0)].decode("utf-8", "ignore"))
        return None if any(first <= offset < last for first, last in self.directives) else offset

    def loc(self, file: str, start: int, end: int) -> Loc:
        """The place of the characters from ``start`` to ``end``."""
        (line, column), (end_line, end_column) = self._position(start), self._position(end)
        return Loc(file, line, column, end_line, end_column)

    def _position(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._starts, offset)
        return line, len(self.text[self._starts[line - 1] : offset].encode("utf-8", "replace")) + 1

    def line_start(self, offset: int) -> int:
        return self._starts[bisect_right(self._starts, offset) - 1]

    def _line_end(self, offset: int) -> int:
        match = _LINE_END.search(self.text, offset)
        return match.start() if match else len(self.text)

    def end_of_line(self, offset: int) -> int | None:
        """Where the line of ``offset`` ends, when only blanks and one-line comments follow on it."""
        end = self._line_end(offset)
        if self.code[offset:end].strip() or self.text[offset:end].endswith("\\"):
            return None
        return None if any(first < end < last for _, first, last in self.tokens) else end

    @property
    def newline(self) -> str:
        match = _LINE_END.search(self.text)
        return match[0] if match else "\n"

    # ---- brackets ----

    def _brackets(self) -> dict[int, int]:
        """The partner of each bracket that has one."""
        partner: dict[int, int] = {}
        stack: list[int] = []
        for match in re.finditer(r"[(){}\[\]]", self.code):
            char, at = match[0], match.start()
            if char not in _CLOSING:
                stack.append(at)
            elif stack and self.code[stack[-1]] == _CLOSING[char]:
                opening = stack.pop()
                partner[opening], partner[at] = at, opening
        return partner

    @cached_property
    def _outer(self) -> dict[int, int]:
        """For each opening bracket, by offset, the one around it; -1 where there is none."""
        outer: dict[int, int] = {}
        stack: list[int] = []
        for opening in sorted(a for a, b in self.partner.items() if a < b):
            while stack and self.partner[stack[-1]] < opening:
                stack.pop()
            outer[opening] = stack[-1] if stack else -1
            stack.append(opening)
        return outer

    @cached_property
    def _openings(self) -> list[int]:
        return list(self._outer)

    def around(self, offset: int, brackets: str = "{") -> Iterator[int]:
        """The opening brackets of these kinds around an offset, innermost first."""
        before = bisect_left(self._openings, offset)
        opening = self._openings[before - 1] if before else -1
        while opening >= 0:
            if offset <= self.partner[opening] and self.code[opening] in brackets:
                yield opening
            opening = self._outer[opening]

    # ---- statements ----

    def body(self, offset: int) -> int | None:
        """The opening brace of the innermost function or lambda body around an offset."""
        return next((brace for brace in self.around(offset) if self._begins_body(brace)), None)

    def _begins_body(self, brace: int) -> bool:
        begin = max(brace - _LONGEST_HEAD, 0)
        head = self.code[begin:brace].rstrip()
        match = _FUNCTION_HEAD.search(head)
        if match is None:
            return False
        if head[match.start()] == "]":
            return True
        opening = self.partner.get(begin + match.start())
        return opening is not None and not self.ends_with(opening, r"if|for|while|switch|constexpr")

    def ends_with(self, offset: int, words: str) -> bool:
        """Whether one of some words, a regular expression, is what stands before an offset, blanks aside."""
        return bool(re.search(rf"\b(?:{words})\s*$", self.code[max(offset - _LONGEST_HEAD, 0) : offset]))

    def path(self, offset: int) -> list[Statement]:
        """The statements around an offset that stand directly in a block, from the function's body inwards.

        The lone body of a control statement is part of it. Empty outside functions.
        """
        out: list[Statement] = []
        block = self.body(offset)
        while block is not None:
            statement = self._in_block(block, offset)
            if statement is None:
                break
            out.append(statement)
            block = self._next_block(statement, offset)
        return out

    def is_loop(self, statement: Statement) -> bool:
        """Whether a statement is ``for``, ``while`` or ``do``."""
        return bool(re.compile(r"(?:for|while|do)\b").match(self.code, statement.start))

    def first_statement(self, name: int) -> Statement | None:
        """The first statement of the function whose name stands at an offset."""
        parameters = self.code.find("(", name)
        brace = self.code.find("{", self.partner.get(parameters, len(self.code)))
        start = self._skip(brace + 1)
        end = self._statement_end(start) if brace >= 0 and self._begins_body(brace) else None
        return None if end is None else Statement(start, end)

    def lone_body(self, statement: Statement, offset: int) -> Statement | None:
        """The statement at an offset when it is the body of a control statement without braces, else None."""
        at = statement.start
        while control := _CONTROL.match(self.code, at):
            closing = self.partner.get(self._skip(control.end()))
            if closing is None:
                return None
            at = self._skip(closing + 1)
            end = self._statement_end(at)
            if end is None:
                return None
            if offset >= end:  # not this branch: the other one
                otherwise = self._skip(end)
                if not self.code.startswith("else", otherwise):
                    return None
                at = self._skip(otherwise + len("else"))
                if not _CONTROL.match(self.code, at):
                    end = self._statement_end(at)
        if at == statement.start or self.code.startswith("{", at) or end is None or not at <= offset < end:
            return None
        return Statement(at, end)

    def _in_block(self, brace: int, offset: int) -> Statement | None:
        """The statement of a block that holds an offset."""
        end = self.partner.get(brace, len(self.code))
        at = self._skip(brace + 1)
        while at < end:
            label = _LABEL.match(self.code, at)
            if label:
                at = label.end()
                continue
            after = self._statement_end(at)
            if after is None or after > end:
                return None
            if at <= offset < after:
                return Statement(at, after)
            at = self._skip(after)
        return None

    def _next_block(self, statement: Statement, offset: int) -> int | None:
        """The outermost block inside a statement that holds an offset, when it is no function body of its own."""
        braces = [brace for brace in self.around(offset) if statement.start <= brace]
        return braces[-1] if braces and not self._begins_body(braces[-1]) else None

    def _statement_end(self, at: int, depth: int = 0) -> int | None:
        """The end of the statement that begins at an offset; None when it cannot be made out."""
        if depth > 50:
            return None
        if self.code.startswith("{", at):
            closing = self.partner.get(at)
            return None if closing is None else closing + 1
        control = _CONTROL.match(self.code, at)
        if control:
            closing = self.partner.get(self._skip(control.end()))
            if closing is None:
                return None
            end = self._statement_end(self._skip(closing + 1), depth + 1)
            follows = self._skip(end) if end is not None else 0
            if end is not None and control[1] == "if" and re.compile(r"else\b").match(self.code, follows):
                return self._statement_end(self._skip(follows + 4), depth + 1)
            return end
        if re.compile(r"do\b").match(self.code, at):
            end = self._statement_end(self._skip(at + 2), depth + 1)
            return None if end is None else self._to_semicolon(end)
        return self._to_semicolon(at)

    def _to_semicolon(self, at: int) -> int | None:
        while at < len(self.code):
            char = self.code[at]
            if char == ";":
                return at + 1
            if char in "([{":
                closing = self.partner.get(at)
                if closing is None:
                    return None
                at = closing
            elif char in ")]}":
                return None
            at += 1
        return None

    def _skip(self, at: int) -> int:
        """The first character from an offset on that is not blank."""
        while at < len(self.code) and self.code[at].isspace():
            at += 1
        return at


def _blank(chars: list[str], start: int, end: int) -> None:
    chars[start:end] = [char if char in "\r\n" else " " for char in chars[start:end]]
