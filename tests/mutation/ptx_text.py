"""Operands of asm statements as text: which C++ expression or literal is the barrier, the count, the bytes."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tests.mutation.tokens import Span, Token, lex_piece, split_list
from tests.mutation.tree import Source

# instruction (a regular expression) -> names of its operands in order; "_" stands for one that no operator changes
_FORMS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"mbarrier\.init", ("bar", "count")),
    (r"mbarrier\.arrive(?:\.noComplete)?\.expect_tx", ("_", "bar", "bytes")),
    (r"mbarrier\.expect_tx", ("bar", "bytes")),
    (r"mbarrier\.arrive", ("_", "bar", "arrivals")),
    (r"mbarrier\.(?:try|test)_wait\.parity", ("_", "bar", "parity")),
    (r"cp\.async\.bulk\.tensor[\w.:]*\.mbarrier", ("dst", "map", "bar", "mask")),
    (r"cp\.async\.bulk\.shared[\w.:]*\.mbarrier", ("dst", "src", "size", "bar", "mask")),
    (r"cp\.(?:reduce\.)?async\.bulk\.tensor[\w.:]*\.bulk_group", ("map", "src")),
    (r"cp\.(?:reduce\.)?async\.bulk\.global[\w.:]*\.bulk_group", ("dst", "src", "size")),
    (r"cp\.async\.bulk\.wait_group", ("groups",)),
    (r"cp\.async\.wait_group", ("groups",)),
    (r"wgmma\.wait_group", ("groups",)),
    (r"wgmma\.mma_async", ("_", "a", "b", "scale")),
    (r"tcgen05\.alloc", ("slot", "columns")),
    (r"tcgen05\.dealloc", ("base", "columns")),
    (r"tcgen05\.commit", ("bar", "mask")),
    (r"tcgen05\.mma[\w.:]*block_scale", ("d", "a", "b", "format", "scale_a", "scale_b", "accumulate")),
    (r"tcgen05\.mma", ("d", "a", "b", "format", "accumulate")),
    (r"tcgen05\.ld", ("_", "tmem")),
    (r"tcgen05\.st", ("tmem", "_")),
    (r"tcgen05\.cp", ("tmem", "a")),
    (r"mapa", ("_", "address", "rank")),
    (r"barrier\.cluster", ()),
    (r"(?:bar|barrier)(?:\.cta)?\.sync", ("id", "threads")),
    (r"setmaxnreg", ("registers",)),
)


@dataclass(frozen=True)
class Operand:
    """An operand of an instruction in the source text. ``literal``: it stands inside the template string."""

    span: Span
    literal: bool


def operands(source: Source, asm: Span) -> dict[str, Operand]:
    """The operands of the first known instruction of an asm statement, by role."""
    tokens = lex_piece(source.text, asm)
    template, places = _template(source, tokens)
    for pattern, roles in _FORMS:
        found = re.search(pattern + r"[\w.:]*\s*([^;]*)", template)
        if found is None:
            continue
        items = _items(found[1])
        expressions = _expressions(tokens)
        out: dict[str, Operand] = {}
        for role, (start, item) in zip(roles, items):
            operand = _operand(template, item.strip("[] \n"), found.start(1) + start, places, expressions)
            if operand is not None and role != "_":
                out[role] = operand
        return out
    return {}


def _template(source: Source, tokens: list[Token]) -> tuple[str, list[int]]:
    """The template string of an asm statement, and the offset in the source of each of its characters."""
    text: list[str] = []
    places: list[int] = []
    started = False
    for token in tokens:
        if token.kind == "string":
            started = True
            body = source.text[token.start + 1:token.end - 1]
            skip = False
            for offset, character in enumerate(body):
                if character == "\\" and not skip:
                    skip = True
                    continue
                text.append(" " if skip else character)
                places.append(token.start + 1 + offset)
                skip = False
        elif started and token.text in (":", "::", ")"):
            break
    return "".join(text), places


def _items(text: str) -> list[tuple[int, str]]:
    """(offset, text) of the operands of an instruction."""
    out: list[tuple[int, str]] = []
    depth = start = 0
    for index, character in enumerate(text + ","):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(character, 0)
        if character == "," and depth == 0:
            out.append((start, text[start:index]))
            start = index + 1
    return out


def _expressions(tokens: list[Token]) -> list[Span | None]:
    """The expressions of the operands of an asm statement, in order; None for one that a macro hides."""
    out: list[Span | None] = []
    index = 0
    marks = 0
    while index < len(tokens):
        token = tokens[index]
        marks += {":": 1, "::": 2}.get(token.text, 0) if token.kind == "mark" else 0
        if marks and token.kind == "string" and index + 1 < len(tokens) and tokens[index + 1].text == "(":
            depth = 0
            for end in range(index + 1, len(tokens)):
                depth += {"(": 1, ")": -1}.get(tokens[end].text, 0)
                if depth == 0:
                    break
            out.append(Span(tokens[index + 2].start, tokens[end - 1].end) if end > index + 2 else None)
            index = end
        elif marks and token.kind == "word":
            out += [None] * 64  # a macro that stands for operands: what follows has no known number
            for end in range(index + 1, len(tokens)):
                if tokens[end].text in (":", "::", ","):
                    break
        index += 1
    return out


def _operand(template: str, item: str, start: int, places: list[int], expressions: list[Span | None]) -> Operand | None:
    numbered = re.match(r"%(\d+)\b", item)
    if numbered:
        number = int(numbered[1])
        span = expressions[number] if number < len(expressions) else None
        return Operand(span, False) if span is not None else None
    literal = re.match(r"\d+$", item)
    if literal:
        begin = template.index(item, start)
        return Operand(Span(places[begin], places[begin + len(item) - 1] + 1), True)
    carried = re.match(r"[a-zA-Z]\w*$", item)
    if carried:  # a predicate or register that the same asm sets from an operand
        # setp.ne.u32 p, %4, 0;   or   mapa.shared::cluster.u32 remote, %0, %1;
        source = re.search(r"\bsetp[\w.]*\s+" + re.escape(item) + r"\s*,\s*(%\d+)", template)
        if source:
            return _operand(template, source[1], 0, places, expressions)
    return None


def arguments(source: Source, call: Span) -> list[Span]:
    """Spans of the arguments of a call or macro invocation."""
    tokens = lex_piece(source.text, call)
    depth = 0
    opening = closing = -1
    for index, token in enumerate(tokens):
        if token.text in ("(", "[", "{"):
            if depth == 0 and token.text == "(":
                opening = index
            depth += 1
        elif token.text in (")", "]", "}"):
            depth -= 1
            if depth == 0 and token.text == ")":
                closing = index
    return split_list(tokens[opening + 1:closing]) if 0 <= opening < closing else []
