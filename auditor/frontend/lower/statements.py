"""Statements and control flow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from auditor.frontend.lower.core import is_simple
from auditor.frontend.lower.declarations import Declarations
from auditor.frontend.lower.forms import Val, settled
from auditor.frontend.lower.nodes import (
    ASM, BINARY, BREAK, CASE, CATCH, COMPOUND, COMPOUND_ASSIGN, CONTINUE, DECL, DECL_REF, DEFAULT, DO, FOR, GOTO, IF,
    LABEL, NULL, POST_DEC, POST_INC, PRE_DEC, PRE_INC, RANGE_FOR, RETURN, SWITCH, TRY, UNARY, UNEXPOSED_STMT, VAR_DECL,
    WHILE, Node, is_expression,
)  # fmt: skip

_LOOPS = frozenset((FOR, WHILE, DO, RANGE_FOR))


@dataclass
class Frame:
    """An enclosing construct: what to run on leaving it, and how ``break`` and ``continue`` leave it."""

    kind: str  # "block", "loop", "switch" or "function"
    cleanups: list[Callable[[], None]] = field(default_factory=list)
    on_continue: Callable[[], None] | None = None
    flag: str = ""  # of a switch: set when a ``continue`` inside it concerns the loop outside


class Statements(Declarations):
    """``statement``."""

    frames: list[Frame]

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

    def _compound_statement(self, node: Node) -> None:
        frame = Frame("block")
        self.frames.append(frame)
        for kid in node.kids:
            self.statement(kid)
        self.frames.pop()
        if node.kids and node.kids[-1].kind not in (RETURN, BREAK, CONTINUE):
            self._clean(frame)

    def _clean(self, frame: Frame) -> None:
        for cleanup in reversed(frame.cleanups):
            cleanup()

    def body(self, node: Node) -> None:
        """A statement as the suite of a control structure."""
        with self.out.block():
            if node.kind == COMPOUND:
                self._compound_statement(node)
            else:
                frame = Frame("block")
                self.frames.append(frame)
                self.statement(node)
                self.frames.pop()
                self._clean(frame)

    def _leave(self, how: str) -> None:
        """``break`` or ``continue``."""
        for frame in reversed(self.frames):
            self._clean(frame)
            if frame.kind == "switch":
                if how == "break":
                    self.line("break")
                    return
                frame.flag = frame.flag or self.temp()
                self.line(f"{frame.flag} = True")
                self.line("break")
                return
            if frame.kind == "loop":
                if how == "continue" and frame.on_continue is not None:
                    frame.on_continue()
                    return
                self.line(how)
                return
        self.line("pass")

    def _return(self, node: Node) -> None:
        values = node.expressions
        code = ""
        if values:
            code = self.return_value(values[0])
            pending = any(frame.cleanups for frame in self.frames)
            if pending and not is_simple(code):
                name = self.temp()
                self.line(f"{name} = {code}", node)
                code = name
        for frame in reversed(self.frames):
            self._clean(frame)
        self.line(f"return {code}" if code else "return None", node)

    # ---- selection

    def condition(self, node: Node) -> Val:
        return settled(self.rvalue(node))

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
            chosen = then if test.const else other
            if chosen is not None:
                self.statement(chosen)
        else:
            self.line(f"if {self.branch(test)}:", kids[0])
            self.body(then)
            if other is not None and not (other.kind == COMPOUND and not other.kids):
                self.line("else:")
                self.body(other)
        self.frames.pop()
        self._clean(frame)

    # ---- loops

    def _loop_head(self, node: Node) -> None:
        self.line(f"S.loop({self.build.loop_number(node, self.lowered)})", node)

    def _for(self, node: Node) -> None:
        init, test, step, body = self._for_parts(node)
        outer = Frame("block")
        self.frames.append(outer)
        if init is not None:
            self.statement(init)
        if not self._counted(node, init, test, step, body):
            self._general_loop(node, test, step, body)
        self.frames.pop()
        self._clean(outer)

    def _for_parts(self, node: Node) -> tuple[Node | None, Node | None, Node | None, Node]:
        """Clang leaves missing parts out: tell the others apart by their kinds."""
        *head, body = node.kids
        init = test = step = None
        if head and head[0].kind == DECL:
            init = head.pop(0)
        if len(head) == 3 or (len(head) == 2 and init is None and not self._is_test(head[0])):
            init = head.pop(0)
        for part in head:
            if test is None and step is None and self._is_test(part):
                test = part
            else:
                step = part
        return init, test, step, body

    def _is_test(self, node: Node) -> bool:
        if node.kind == VAR_DECL:
            return True
        if not is_expression(node.kind) or node.kind == COMPOUND_ASSIGN:
            return False
        if node.kind == BINARY and self.ast.binary(node) in ("=", ","):
            return False
        return self.types.of(node).kind == "bool"

    def _counted(self, node: Node, init: Node | None, test: Node | None, step: Node | None, body: Node) -> bool:
        """``for (int i = A; i < B; i += C)`` with constants and an untouched ``i`` is a Python range."""
        if init is None or test is None or step is None or init.kind != DECL or len(init.kids) != 1:
            return False
        decl = init.kids[0]
        if decl.kind != VAR_DECL or test.kind != BINARY:
            return False
        key = self.ast.decl_key(decl.cursor)
        place = self.vars.get(key)
        ctype = self.types.of(decl)
        if place is None or not place.decl or not ctype.integral or key in self.facts.cells:
            return False
        start = self.read(place, None)
        stride = self._stride(step, key)
        op = self.ast.binary(test)
        left, right = test.expressions[:2]
        if stride == 0 or start.lo is None or start.lo != start.hi or op not in ("<", "<=", ">", ">=", "!="):
            return False
        if not self._is_variable(left, key) or self.build.assigns(body, key):
            return False
        with self.out.capture() as lines:
            bound = settled(self.rvalue(right))
        if lines or not isinstance(bound.const, int):
            return False
        first, limit = start.lo, bound.const
        if op in ("<=", ">="):
            limit += 1 if op == "<=" else -1
        elif op == "!=" and (limit - first) % stride:
            return False
        if (stride > 0) != (op in ("<", "<=") or (op == "!=" and limit >= first)):
            return False
        values = range(first, limit, stride)
        self._counted_loop(node, key, values, step, body)
        return True

    def _counted_loop(self, node: Node, key: int, values: range, step: Node, body: Node) -> None:
        if not values:
            return
        place = self.vars[key]
        self.vars[key] = self.loop_variable(place, min(values), max(values))
        arguments = f"{values.start}, {values.stop}" + (f", {values.step}" if values.step != 1 else "")
        self.line(f"for {place.code} in range({arguments}):", node)
        self.out.depth += 1
        self._loop_head(node)
        self.out.depth -= 1
        self.frames.append(Frame("loop"))
        self.body(body)
        self.frames.pop()

    def _stride(self, step: Node, key: int) -> int:
        if step.kind == UNARY and self._is_variable(step.expressions[-1], key):
            return {PRE_INC: 1, POST_INC: 1, PRE_DEC: -1, POST_DEC: -1}.get(self.ast.unary(step), 0)
        if step.kind == COMPOUND_ASSIGN and self._is_variable(step.expressions[0], key):
            value = self.ast.evaluate(step.expressions[1])
            if isinstance(value, int):
                return {"+=": value, "-=": -value}.get(self.ast.binary(step), 0)
        return 0

    def _is_variable(self, node: Node, key: int) -> bool:
        inner = self.peel(node)
        if inner.kind != DECL_REF:
            return False
        target = self.ast.reference(inner)
        return target is not None and self.ast.decl_key(target) == key

    def _general_loop(self, node: Node, test: Node | None, step: Node | None, body: Node) -> None:
        self.line("while True:", node)
        self.out.depth += 1
        scope = Frame("block")
        self.frames.append(scope)
        if test is not None:
            if test.kind == VAR_DECL:
                self.declare(test)
                self._exit_unless(self._variable_test(test), test)
            else:
                self._exit_unless(self.condition(test), test)
        self._loop_head(node)

        def again() -> None:
            if step is not None:
                self.effect(step)
            self.line("continue")

        self.frames.append(Frame("loop", on_continue=again))
        self.out.depth -= 1
        self.body(body)
        self.out.depth += 1
        self.frames.pop()
        if step is not None:
            self.effect(step)
        self.frames.pop()
        self.out.depth -= 1

    def _variable_test(self, decl: Node) -> Val:
        place = self.vars[self.ast.decl_key(decl.cursor)]
        value = self.read(place, decl)
        return Val(f"({value.code} != 0)", value.type)

    def _exit_unless(self, test: Val, node: Node) -> None:
        if test.const is not None:
            if not test.const:
                self.line("break")
            return
        self.line(f"if not ({self.branch(test)}): break", node)

    def _while(self, node: Node) -> None:
        kids = node.kids
        if len(kids) == 3 and kids[0].kind == VAR_DECL:
            self.line("while True:", node)
            self.out.depth += 1
            self.declare(kids[0])
            self._exit_unless(self.condition(kids[1]), kids[1])
            self._loop_head(node)
            self.frames.append(Frame("loop"))
            self.out.depth -= 1
            self.body(kids[2])
            self.frames.pop()
            return
        self._general_loop(node, kids[0], None, kids[-1])

    def _do(self, node: Node) -> None:
        body, test = node.kids[0], node.kids[-1]

        def again() -> None:
            value = self.condition(test)
            if value.const is not None:
                self.line("continue" if value.const else "break")
                return
            self.line(f"if {self.branch(value)}: continue", test)
            self.line("break")

        value = self.ast.evaluate(test)
        if value == 0 and not _jumps(body):
            self.statement(body)  # do { ... } while (0)
            return
        self.line("while True:", node)
        self.out.depth += 1
        self._loop_head(node)
        self.frames.append(Frame("loop", on_continue=again))
        self.out.depth -= 1
        self.body(body)
        self.frames.pop()
        self.out.depth += 1
        if value == 0:
            self.line("break")
        else:
            self._exit_unless(self.condition(test), test)
        self.out.depth -= 1

    def _range_for(self, node: Node) -> None:
        """``for (auto x : array)``; other ranges are iterated when their size is known."""
        decl = next((k for k in node.kids if k.kind == VAR_DECL), None)
        ranges = node.expressions
        if decl is None or not ranges:
            self.unanalysed("range for", node)
            return
        span = ranges[0]
        body = node.kids[-1]
        ctype = self.types.of(span)
        if ctype.kind != "array":
            self.unanalysed("range for over a class", node)
            return
        array = self.lvalue(span)
        index = self.fresh("index")
        self.line(f"for {index} in range({ctype.count}):", node)
        self.out.depth += 1
        self._loop_head(node)
        self.frames.append(Frame("loop"))
        value = Val(index, self.index_type, lo=0, hi=max(ctype.count - 1, 0), plain=True)
        self.bind_element(decl, self.subscript(array, value))
        self.out.depth -= 1
        self.body(body)
        self.frames.pop()

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
        else:
            start = self.temp()
            self._select_case(node, value, cases, len(groups), start)
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
            code = f"({value.code} == {labels[0]})"
            for label in labels[1:]:
                code = f"lor({code}, {value.code} == {label})"
            self.line(f"{word} {self.branch(Val(code, self.index_type, plain=value.plain and len(labels) == 1))}:", node)
            self.line(f" {start} = {group}")
            word = "elif"
        if word == "if":
            self.line(f"{start} = {default}")
        else:
            self.line("else:")
            self.line(f" {start} = {default}")

    def _run_groups(self, groups: list[list[Node]], start: str) -> None:
        """The groups from the selected one on, in a loop that ``break`` can leave."""
        frame = Frame("switch")
        self.frames.append(frame)
        with self.out.capture() as lines:
            for number, group in enumerate(groups):
                if start.isdigit():
                    if number >= int(start):
                        for statement in group:
                            self.statement(statement)
                    continue
                self.line(f"if {start} <= {number}:")
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


def _jumps(node: Node) -> bool:
    """Whether a ``break`` or ``continue`` in the body belongs to the loop around it."""
    stack = list(node.kids)
    while stack:
        item = stack.pop()
        if item.kind in (BREAK, CONTINUE):
            return True
        if item.kind not in (FOR, WHILE, DO, RANGE_FOR) and not is_expression(item.kind):
            stack.extend(item.kids)
    return False
