"""Comments of C++ source, found without a parser: strings and character literals are told from comments."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from auditor.quick_dataclass import dataclass

_TOKEN = re.compile(
    r"""
    (?P<comment>//(?:\\\r?\n|[^\r\n])*|/\*.*?(?:\*/|\Z))
  | (?P<raw>\bu?8?[uUL]?R"(?P<mark>[^()\\\s]{0,16})\(.*?(?:\)(?P=mark)"|\Z))
  | (?P<string>"(?:\\(?:\r\n|.)|[^"\\\r\n])*"?)
  | (?P<number>\b\d[\w'.]*)
  | (?P<char>'(?:\\.|[^'\\\r\n])*'?)
    """,
    re.X | re.S,
)
_LINE_END = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True)
class Comment:
    """A comment: lines from 1, the byte column of its start, its text without the marks, and what is beside it."""

    line: int
    column: int
    end_line: int
    text: str
    alone: bool  # no code on its lines


class Layout:
    """Where the comments and the code of one source text are."""

    def __init__(self, text: str) -> None:
        self.lines = _LINE_END.split(text)
        self._starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
        self._literals: list[tuple[int, int]] = []  # (first line, last line) of comments and strings over several lines
        blank = list(text)
        spans = []
        for kind, start, end in tokens(text):
            first, last = self._line(start), self._line(max(end - 1, start))
            if first != last:
                self._literals.append((first, last))
            if kind == "comment":
                spans.append((start, end))
                blank[start:end] = [char if char in "\r\n" else " " for char in text[start:end]]
        self._code = _LINE_END.split("".join(blank))
        self.comments = [self._comment(text, start, end) for start, end in spans]

    def has_code(self, line: int) -> bool:
        """Whether line ``line`` (from 1) holds anything but blanks and comments."""
        return 1 <= line <= len(self._code) and not self._code[line - 1].isspace() and self._code[line - 1] != ""

    def code(self, first: int, last: int) -> str:
        """The lines from ``first`` to ``last``, inclusive, with their comments blanked."""
        return "\n".join(self._code[max(first - 1, 0) : last])

    def is_open_at_end(self, line: int) -> bool:
        """Whether a comment or a string goes on from this line to the next one."""
        return any(first <= line < last for first, last in self._literals)

    def _comment(self, text: str, start: int, end: int) -> Comment:
        first, last = self._line(start), self._line(max(end - 1, start))
        body = text[start:end]
        inner = body[2:].removesuffix("*/") if body.startswith("/*") else body[2:]
        before = text[self._starts[first - 1] : start]
        alone = not any(self.has_code(line) for line in range(first, last + 1))
        return Comment(first, len(before.encode("utf-8", "replace")) + 1, last, inner, alone)

    def _line(self, offset: int) -> int:
        return bisect_right(self._starts, offset)


def tokens(text: str) -> Iterator[tuple[str, int, int]]:
    """(kind, start, end) of each comment, literal and number of a source text, by character offsets.

    Kinds: "comment", "string", "raw" (a raw string), "char" and "number".
    """
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup if match.lastgroup != "mark" else "raw"
        yield str(kind), match.start(), match.end()
