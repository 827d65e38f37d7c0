"""Functions and statements of a CUDA source text, found by its brackets and keywords.

Only as much of C++ as mutants need: where a statement starts and ends, what encloses it, which condition guards it.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import pairwise

from tests.mutation.tokens import Lexed, Macro, Span, Token, lex

_SCOPES = ("namespace", "struct", "class", "union", "extern")
_NOT_A_NAME = ("__launch_bounds__", "__cluster_dims__", "__align__", "__attribute__", "alignas", "decltype", "if",
               "for", "while", "switch", "noexcept", "__maxnreg__", "static_assert", "return", "sizeof")


@dataclass(eq=False)
class Node:
    """A function, lambda or statement. ``header`` is what stands in the parentheses of if, for, while and switch.

    kind: "function", "lambda", "block", "if", "for", "while", "do", "switch", "label" or "simple". The first child of
    an if is what its condition guards; a second one is the other branch.
    """

    kind: str
    start: int
    end: int
    parent: Node | None = None
    children: list[Node] = field(default_factory=list)
    header: Span | None = None
    name: str = ""
    parameters: tuple[str, ...] = ()

    @property
    def span(self) -> Span:
        return Span(self.start, self.end)

    def ancestors(self) -> list[Node]:
        """Enclosing nodes, innermost first."""
        out: list[Node] = []
        node = self.parent
        while node is not None:
            out.append(node)
            node = node.parent
        return out

    @property
    def function(self) -> Node:
        """The function or lambda that this node belongs to."""
        node = self
        while node.parent is not None and node.kind not in ("function", "lambda"):
            node = node.parent
        return node

    @property
    def siblings(self) -> list[Node]:
        return self.parent.children if self.parent is not None else [self]


class Source:
    """A source text with its functions."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self.lexed: Lexed = lex(text)
        self.tokens: list[Token] = self.lexed.tokens
        self.macros: dict[str, Macro] = self.lexed.macros
        self._starts = [t.start for t in self.tokens]
        self._lines = [0]
        for index, character in enumerate(text):
            if character == "\n":
                self._lines.append(index + 1)
        self.functions: list[Node] = []
        self._scope(0, len(self.tokens))

    # ---- places -----------------------------------------------------------------------------------------------------

    def offset(self, line: int, column: int) -> int:
        """The offset of a place; columns count bytes."""
        start = self._lines[line - 1]
        end = self._lines[line] if line < len(self._lines) else len(self.text)
        return start + len(self.text[start:end].encode()[: column - 1].decode(errors="ignore"))

    def line(self, offset: int) -> int:
        return bisect_right(self._lines, offset)

    def line_text(self, offset: int) -> str:
        """The line at an offset."""
        return self.text.split("\n")[self.line(offset) - 1]

    def token_at(self, offset: int) -> int:
        """Index of the first token that starts at or behind an offset."""
        index = bisect_right(self._starts, offset)
        return index - 1 if index and self._starts[index - 1] == offset else index

    def between(self, span: Span) -> list[Token]:
        return self.tokens[self.token_at(span.start): self.token_at(span.end)]

    def cut(self, span: Span) -> str:
        return self.text[span.start:span.end]

    def node_at(self, offset: int) -> Node | None:
        """The innermost statement at an offset."""
        node = next((f for f in self.functions if f.start <= offset < f.end), None)
        while node is not None:
            inner = next((c for c in node.children if c.start <= offset < c.end), None)
            if inner is None:
                return node
            node = inner
        return None

    # ---- declarations -----------------------------------------------------------------------------------------------

    def _scope(self, index: int, end: int) -> None:
        """The declarations between two tokens, at namespace or class scope."""
        first = index
        while index < end:
            token = self.tokens[index]
            label = token.text == ":" and self.tokens[index - 1].text in ("public", "private", "protected")
            if token.text == ";" or label:
                first = index + 1
            elif token.text in ("(", "["):
                index = self.lexed.partner.get(index, end)
            elif token.text == "{":
                close = self.lexed.partner.get(index, end)
                words = [t.text for t in self.tokens[first:index]]
                if self._is_body(first, index):
                    self.functions.append(self._function(first, index, close))
                    first = close + 1
                elif any(w in _SCOPES for w in words) and "=" not in words and "enum" not in words:
                    self._scope(index + 1, close)
                index = close
            index += 1

    def _is_body(self, first: int, brace: int) -> bool:
        before = self.tokens[brace - 1].text if brace else ""
        return (before in (")", "const", "noexcept", "override") and any(
            t.text == "(" for t in self.tokens[first:brace]) and all(t.text != "=" for t in self._flat(first, brace)))

    def _flat(self, first: int, end: int) -> list[Token]:
        """The tokens outside of brackets."""
        out = []
        index = first
        while index < end:
            token = self.tokens[index]
            if token.text == "operator":
                index += 2
                continue
            if token.text == "template" and self.tokens[index + 1].text == "<":
                index = self._close_angle(index + 1)
            elif token.text in ("(", "[", "{"):
                index = self.lexed.partner.get(index, end)
            else:
                out.append(token)
            index += 1
        return out

    def _close_angle(self, index: int) -> int:
        depth = 0
        while index < len(self.tokens):
            depth += {"<": 1, ">": -1, ">>": -2}.get(self.tokens[index].text, 0)
            if depth <= 0:
                return index
            index += 1
        return index

    def _function(self, first: int, brace: int, close: int) -> Node:
        name = ""
        parameters: tuple[str, ...] = ()
        index = first
        while index < brace:
            token = self.tokens[index]
            if token.text == "(":
                end = self.lexed.partner[index]
                before = self.tokens[index - 1]
                named = before.kind == "word" and before.text not in _NOT_A_NAME
                if named or "operator" in (t.text for t in self.tokens[index - 3:index]):
                    name = before.text
                    parameters = self._parameters(index, end)
                    break
                index = end
            index += 1
        node = Node("function", self.tokens[first].start, self.tokens[close].end, name=name, parameters=parameters)
        self._statements(node, brace + 1, close)
        return node

    def _parameters(self, opening: int, closing: int) -> tuple[str, ...]:
        """The names in a parameter list; "" for one without a name."""
        names: list[str] = []
        depth = 0
        last = ""
        for token in self.tokens[opening + 1:closing]:
            depth += {"<": 1, ">": -1, ">>": -2, "(": 1, ")": -1, "[": 1, "]": -1}.get(token.text, 0)
            if token.text == "," and depth == 0:
                names.append(last)
                last = ""
            elif token.kind == "word":
                last = token.text
        if closing > opening + 1:
            names.append(last)
        return tuple(names)

    # ---- statements -------------------------------------------------------------------------------------------------

    def _statements(self, parent: Node, index: int, end: int) -> None:
        while index < end:
            index = self._statement(parent, index, end)

    def _statement(self, parent: Node, index: int, end: int) -> int:
        """Add the statement that starts at a token. Returns the index behind it."""
        tokens, partner = self.tokens, self.lexed.partner
        word = tokens[index].text
        node = Node("simple", tokens[index].start, 0, parent)
        parent.children.append(node)
        if word == "{":
            node.kind = "block"
            close = partner.get(index, end)
            self._statements(node, index + 1, close)
            index = close + 1
        elif word in ("if", "for", "while", "switch"):
            node.kind = word
            opening = index + 1
            while tokens[opening].text != "(":
                opening += 1
            close = partner[opening]
            node.header = Span(tokens[opening].end, tokens[close].start)
            index = self._statement(node, close + 1, end)
            if word == "if" and index < end and tokens[index].text == "else":
                index = self._statement(node, index + 1, end)
        elif word == "do":
            node.kind = "do"
            index = self._statement(node, index + 1, end)
            close = partner[index + 1]
            node.header = Span(tokens[index + 1].end, tokens[close].start)
            index = close + 2
        elif word in ("case", "default") and tokens[index + 1].text != "(":
            node.kind = "label"
            while tokens[index].text != ":":
                index += 1
            index += 1
        else:
            index = self._simple(node, index, end)
        node.end = tokens[min(index, len(tokens)) - 1].end
        return index

    def _simple(self, node: Node, index: int, end: int) -> int:
        tokens, partner = self.tokens, self.lexed.partner
        while index < end and tokens[index].text != ";":
            if tokens[index].text == "{":
                close = partner.get(index, end)
                if tokens[index - 1].text in ("]", ")", "mutable"):
                    self._lambda(node, index, close)
                index = close
            elif tokens[index].text in ("(", "["):
                self._lambdas_in(node, index + 1, partner.get(index, end))
                index = partner.get(index, end)
            index += 1
        return index + 1

    def _lambdas_in(self, node: Node, index: int, end: int) -> None:
        while index < end:
            if self.tokens[index].text == "{" and self.tokens[index - 1].text in ("]", ")", "mutable"):
                close = self.lexed.partner.get(index, end)
                self._lambda(node, index, close)
                index = close
            index += 1

    def _lambda(self, node: Node, brace: int, close: int) -> None:
        name = ""
        parameters: tuple[str, ...] = ()
        opening = brace
        if self.tokens[brace - 1].text == ")":
            opening = self.lexed.partner[brace - 1]
            parameters = self._parameters(opening, brace - 1)
        before = self.tokens[self.token_at(node.start): opening]
        names = [t.text for t, following in pairwise(before) if following.text == "=" and t.kind == "word"]
        if names:
            name = names[0]
        inner = Node("lambda", self.tokens[brace].start, self.tokens[close].end, node, name=name, parameters=parameters)
        node.children.append(inner)
        self._statements(inner, brace + 1, close)
