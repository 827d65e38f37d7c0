"""Tokens of a CUDA source text, with offsets. Comments are dropped; preprocessor lines are kept apart."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/)
      |(?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
      |(?P<word>[A-Za-z_]\w*)
      |(?P<number>\d(?:[\w.]|'\w)*)
      |(?P<mark>\#|->|::|<<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||\+\+|--|[-+*/%&|^]=|.)""",
    re.VERBOSE | re.DOTALL,
)
_OPEN, _CLOSE = "([{", ")]}"


@dataclass(frozen=True)
class Span:
    """A piece of the text, half open."""

    start: int
    end: int

    def holds(self, other: Span) -> bool:
        return self.start <= other.start and other.end <= self.end


@dataclass(frozen=True)
class Token:
    kind: str  # "string", "word", "number" or "mark"
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Macro:
    """A function-like or object-like macro: its parameters, and where its body stands."""

    name: str
    parameters: tuple[str, ...]
    body: Span


@dataclass
class Lexed:
    tokens: list[Token]
    partner: dict[int, int]  # index of a bracket token -> index of the one that matches it
    macros: dict[str, Macro] = field(default_factory=dict)


def lex(text: str) -> Lexed:
    """Split a source text; brackets that never close stay without a partner."""
    tokens: list[Token] = []
    macros: dict[str, Macro] = {}
    at = 0
    fresh = True  # only white space since the start of the line
    while at < len(text):
        match = _TOKEN.match(text, at)
        assert match is not None  # the last alternative takes any character
        kind = str(match.lastgroup)
        if kind == "space":
            fresh |= "\n" in match[0]
            at = match.end()
            continue
        if match[0] == "#" and fresh:
            at = _directive(text, at, macros)
            continue
        fresh = False
        tokens.append(Token(kind, match[0], at, match.end()))
        at = match.end()
    return Lexed(tokens, _partners(tokens), macros)


def lex_piece(text: str, span: Span) -> list[Token]:
    """The tokens of a piece of the text, with offsets into the whole."""
    piece = text[span.start:span.end].replace("\\\n", "  ")
    return [Token(t.kind, t.text, t.start + span.start, t.end + span.start) for t in lex(piece).tokens]


def _directive(text: str, at: int, macros: dict[str, Macro]) -> int:
    end = at
    while True:
        stop = text.find("\n", end)
        if stop < 0:
            stop = len(text)
        if text[stop - 1:stop] != "\\" or stop == len(text):
            break
        end = stop + 1
    defined = re.match(r"#\s*define\s+(\w+)(\(([^)]*)\))?", text[at:stop])
    if defined:
        parameters = tuple(p.strip() for p in (defined[3] or "").split(",") if p.strip())
        macros[defined[1]] = Macro(defined[1], parameters, Span(at + defined.end(), stop))
    return stop


def _partners(tokens: list[Token]) -> dict[int, int]:
    stack: list[int] = []
    partner: dict[int, int] = {}
    for index, token in enumerate(tokens):
        if token.kind != "mark":
            continue
        if token.text in _OPEN:
            stack.append(index)
        elif token.text in _CLOSE and stack and tokens[stack[-1]].text == _OPEN[_CLOSE.index(token.text)]:
            partner[index] = stack.pop()
            partner[partner[index]] = index
    return partner


def split_list(tokens: list[Token]) -> list[Span]:
    """Spans of the items of a list that top-level commas separate. ``tokens`` are those between the brackets."""
    items: list[Span] = []
    depth = 0
    first: Token | None = None
    last: Token | None = None
    for token in tokens:
        if token.kind == "mark" and token.text in _OPEN:
            depth += 1
        elif token.kind == "mark" and token.text in _CLOSE:
            depth -= 1
        if token.text == "," and depth == 0:
            if first is not None and last is not None:
                items.append(Span(first.start, last.end))
            first = None
            continue
        first = first or token
        last = token
    if first is not None and last is not None:
        items.append(Span(first.start, last.end))
    return items
