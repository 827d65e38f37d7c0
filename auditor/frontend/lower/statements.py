"""Statements and control flow."""

from __future__ import annotations

from auditor.frontend.lower.forms import Val
from auditor.frontend.lower.loops import Loops
from auditor.frontend.lower.nodes import (
    ASM,
    BREAK,
    CASE,
    CATCH,
    COMPOUND,
    CONTINUE,
    DECL,
    DEFAULT,
    DO,
    FOR,
    GOTO,
    IF,
    LABEL,
    NULL,
    RANGE_FOR,
    RETURN,
    SWITCH,
    TRY,
    UNEXPOSED_STMT,
    VAR_DECL,
    WHILE,
    Node,
    is_expression,
)  # fmt: skip
from auditor.frontend.lower.scopes import Frame

_LOOPS = frozenset((FOR, WHILE, DO, RANGE_FOR))


class Statements(Loops):
    """``statement``."""

    def statement(self, node: Node) -> None:
        kind = node.kind
        if self.host and kind in _LOOPS and self.skip_loop(node):
            return
        if is_expression(kind):
            self.effect(node)
        elif kind == COMPOUND:
            self._compound_statement(node)
        elif kind == DECL:
            for kid in node.kids:
                self.declare(kid)
        elif kind == IF:
            self._if(node)
        elif kind == FOR:
            self._for(node)
        elif kind == WHILE:
            self._while(node)
        elif kind == DO:
            self._do(node)
        elif kind == RETURN:
            self._return(node)
        elif kind == ASM:
            self.asm_statement(node)
        elif kind == SWITCH:
            self._switch(node)
        else:
            self._other(node)

    def _other(self, node: Node) -> None:
        kind = node.kind
        if kind == BREAK:
            self._leave("break")
        elif kind == CONTINUE:
            self._leave("continue")
        elif kind == RANGE_FOR:
            self._range_for(node)
        elif kind in (UNEXPOSED_STMT, LABEL, TRY):
            for kid in node.kids:
                if kid.kind != CATCH:
                    self.statement(kid)
        elif kind in (CASE, DEFAULT):
            self.statement(node.kids[-1])
        elif kind == GOTO:
            self.unanalysed("goto", node)
        elif kind == VAR_DECL:
            self.declare(node)
        elif kind != NULL:
            self.unanalysed(f"statement of kind {node.cursor.kind.name}", node)

    def skip_loop(self, node: Node) -> bool:
        """Whether a loop of host code is not to be run."""
        raise NotImplementedError

    # ---- scopes






    # ---- selection


    def _if(self, node: Node) -> None:
        kids = [k for k in node.kids if k.kind != NULL or k is node.kids[-1]]
        frame = Frame("block")
        self.frames.append(frame)
        while len(kids) > 2 and kids[0].kind in (DECL, VAR_DECL):
            self.statement(kids.pop(0))
        if kids and kids[0].kind == VAR_DECL:
            self.statement(kids.pop(0))
        if len(kids) < 2:
            self.frames.pop()
            for kid in kids:
                self.statement(kid)
            return
        test = self.condition(kids[0])
        then, other = kids[1], kids[2] if len(kids) > 2 else None
        if test.const is not None:
            chosen, left_out = (then, other) if test.const else (other, then)
            if chosen is not None:
                self.statement(chosen)
            if left_out is not None:
                self.build.left_out.add(left_out.key)
        else:
            self.line(f"if {self.branch(test)}:", kids[0])
            with self.forecast.under(kids[0]):
                self.body(then)
                if other is not None and not (other.kind == COMPOUND and not other.kids):
                    self.line("else:")
                    self.body(other)
        self.frames.pop()
        self._clean(frame)

    # ---- loops















    # ---- switch

    def _switch(self, node: Node) -> None:
        kids = list(node.kids)
        frame = Frame("block")
        self.frames.append(frame)
        while len(kids) > 2:
            self.statement(kids.pop(0))
        value = self.simple(self.condition(kids[0]))
        cases, groups = self._cases(kids[-1])
        if value.const is not None:
            chosen = next((g for v, g in cases if v == value.const), None)
            if chosen is None:
                chosen = next((g for v, g in cases if v is None), None)
            start = f"{chosen if chosen is not None else len(groups)}"
        elif len(groups) == 1 and all(label is not None for label, _ in cases):
            start = self.branch(self._is_one_of(value, [label for label, _ in cases if label is not None]))
            if groups[0][-1].kind == BREAK:  # without it all lanes may walk through
                groups[0].pop()
        else:
            start = self.temp()
            self._select_case(node, value, cases, len(groups), start)
        with self.forecast.under(kids[0]):
            self._run_groups(groups, start)
        self.frames.pop()
        self._clean(frame)

    def _cases(self, body: Node) -> tuple[list[tuple[int | None, int]], list[list[Node]]]:
        """Labels with the number of the statement group that they stand before."""
        cases: list[tuple[int | None, int]] = []
        groups: list[list[Node]] = []
        for statement in body.kids if body.kind == COMPOUND else [body]:
            inner = statement
            labelled = False
            while inner.kind in (CASE, DEFAULT):
                if not labelled:
                    groups.append([])
                    labelled = True
                label: int | None = None
                if inner.kind == CASE:
                    found = self.ast.evaluate(inner.kids[0])
                    label = int(found) if found is not None else -(1 << 70)
                cases.append((label, len(groups) - 1))
                inner = inner.kids[-1]
            if not groups:
                groups.append([])
            groups[-1].append(inner)
        return cases, groups

    def _select_case(self, node: Node, value: Val, cases: list[tuple[int | None, int]], none: int, start: str) -> None:
        default = next((g for v, g in cases if v is None), none)
        by_group: dict[int, list[int]] = {}
        for label, group in cases:
            if label is not None and group != default:
                by_group.setdefault(group, []).append(label)
        word = "if"
        for group, labels in by_group.items():
            self.line(f"{word} {self.branch(self._is_one_of(value, labels))}:", node)
            with self.out.block():
                self.line(f"{start} = {group}")
            word = "elif"
        if word == "if":
            self.line(f"{start} = {default}")
        else:
            self.line("elif True:")  # no branch for all lanes to walk through: the number of the group is one for all
            with self.out.block():
                self.line(f"{start} = {default}")

    def _is_one_of(self, value: Val, labels: list[int]) -> Val:
        code = f"({value.code} == {labels[0]})"
        for label in labels[1:]:
            code = f"lor({code}, {value.code} == {label})"
        return Val(code, self.index_type, plain=value.plain and len(labels) == 1)

    def _run_groups(self, groups: list[list[Node]], start: str) -> None:
        """The groups from the selected one on, in a loop that ``break`` can leave.

        ``start``: a number, the variable with one, or the condition for the only group.
        """
        frame = Frame("switch")
        self.frames.append(frame)
        with self.out.capture() as lines:
            for number, group in enumerate(groups):
                if start.isdigit():
                    if number >= int(start):
                        for statement in group:
                            self.statement(statement)
                    continue
                self.line(f"if {start} <= {number}:" if start.isidentifier() else f"if {start}:")
                with self.out.block():
                    for statement in group:
                        self.statement(statement)
            self.line("break")
        self.frames.pop()
        if frame.flag:
            self.line(f"{frame.flag} = False")
        self.line("while True:")
        self.out.depth += 1
        self.out.splice(lines)
        self.out.depth -= 1
        if frame.flag:
            self.line(f"if {frame.flag}:")
            self.out.depth += 1
            self._leave("continue")
            self.out.depth -= 1
