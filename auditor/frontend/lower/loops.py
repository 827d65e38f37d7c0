"""Loops."""

from __future__ import annotations

from collections.abc import Sequence

from auditor.frontend.lower.forms import Val, settled
from auditor.frontend.lower.nodes import (
    BINARY,
    BREAK,
    COMPOUND_ASSIGN,
    CONTINUE,
    DECL,
    DECL_REF,
    DO,
    FOR,
    INIT_LIST,
    POST_DEC,
    POST_INC,
    PRE_DEC,
    PRE_INC,
    RANGE_FOR,
    UNARY,
    VAR_DECL,
    WHILE,
    Node,
    is_expression,
)  # fmt: skip
from auditor.frontend.lower.scopes import Frame, Scopes
from auditor.quick_dataclass import dataclass


@dataclass(frozen=True)
class _Limit:
    """Of a loop that counts: its variable, by key, and up or down to what it does so by how much."""

    variable: int
    op: str
    bound: Node
    stride: int


class Loops(Scopes):
    """``for``, ``while``, ``do`` and range-for."""

    def _loop_head(self, node: Node) -> None:
        self.line(f"S.loop({self.build.loop_number(node, self.lowered)})", node)

    def _for(self, node: Node) -> None:
        init, test, step, body = self._for_parts(node)
        outer = Frame("block")
        self.frames.append(outer)
        if init is not None:
            self.statement(init)
        limit = self._limit(init, test, step, body)
        if limit is None or init is None:
            self._general_loop(node, test, step, body)
        elif not self._counted(node, init, limit, body):
            with self.forecast.under(init, limit.bound):
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

    def _limit(self, init: Node | None, test: Node | None, step: Node | None, body: Node) -> _Limit | None:
        """How far a loop counts that has the form of ``for (int i = A; i < B; i += C)`` with an untouched ``i``."""
        if init is None or test is None or step is None or init.kind != DECL or len(init.kids) != 1:
            return None
        decl = init.kids[0]
        if decl.kind != VAR_DECL or test.kind != BINARY or not self.types.of(decl).integral:
            return None
        key = self.ast.decl_key(decl.cursor)
        stride = self._stride(step, key)
        op = self.ast.binary(test)
        left, right = test.expressions[:2]
        if stride == 0 or op not in ("<", "<=", ">", ">=", "!="):
            return None
        if not self._is_variable(left, key) or self.build.assigns(body, key):
            return None
        return _Limit(key, op, right, stride)

    def _counted(self, node: Node, init: Node, limit: _Limit, body: Node) -> bool:
        """Such a loop with constants is a Python range. Whether it is one."""
        key, op, stride = limit.variable, limit.op, limit.stride
        place = self.vars.get(key)
        if place is None or not place.decl or key in self.facts.cells:
            return False
        start = self.forecast.assumed.get(key) or self.read(place, None)
        if start.lo is None or start.lo != start.hi:
            return False
        temps, notes = self._temps, len(self.notes)
        with self.out.capture() as lines:
            bound = settled(self.rvalue(limit.bound))
        if lines or not isinstance(bound.const, int):
            self._temps = temps  # as if it had not been asked for
            del self.notes[notes:]
            return False
        first, last = start.lo, bound.const
        if op in ("<=", ">="):
            last += 1 if op == "<=" else -1
        elif op == "!=" and (last - first) % stride:
            return False
        if (stride > 0) != (op in ("<", "<=") or (op == "!=" and last >= first)):
            return False
        if self.forecast.assumed.pop(key, None) is not None:
            self.constants.add(key)
        self._counted_loop(node, key, range(first, last, stride), body)
        return True

    def _counted_loop(self, node: Node, key: int, values: range, body: Node) -> None:
        if not values:
            return
        place = self.vars[key]
        self.vars[key] = self.loop_variable(place, *sorted((values[0], values[-1])))
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
        listed = next((n for n in span.walk() if n.kind == INIT_LIST), None)
        of_list = ctype.record is not None and ctype.record.name.startswith("initializer_list")
        if listed is not None and of_list and not _jumps(body):
            self._for_each(node, decl, listed.expressions, body)
            return
        array = self.lvalue(span)
        if ctype.record is not None and not ctype.packed:
            arrays = [f for f in ctype.record.fields if f.type.kind == "array"]
            if len(arrays) == len(ctype.record.fields) == 1:  # std::array and its like
                array = self.member(array, arrays[0])
                ctype = array.type
        if ctype.kind != "array":
            self.unanalysed("range for over a class", node)
            return
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


    def _for_each(self, node: Node, decl: Node, elements: Sequence[Node], body: Node) -> None:
        """``for (auto x : {a, b})``: the body once for each element."""
        for element in elements:
            self.line(f"for {self.fresh('once')} in range(1):", node)
            self.out.depth += 1
            self._loop_head(node)
            self.frames.append(Frame("loop"))
            place = self.lvalue(element) if self.is_lvalue(element) else self.materialised(self.rvalue(element))
            self.bind_element(decl, place)
            self.out.depth -= 1
            self.body(body)
            self.frames.pop()


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
