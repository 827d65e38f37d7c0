"""Expressions: values and effects, by kind of cursor."""

from __future__ import annotations

from auditor.frontend.lower.arithmetic import INVERSE
from auditor.frontend.lower.casts import Casts
from auditor.frontend.lower.forms import Val, boolean, convert, literal, opaque, settled
from auditor.frontend.lower.nodes import (
    ADDRESS as ADDRESS_OF,
)
from auditor.frontend.lower.nodes import (
    BINARY,
    BIT_CAST,
    BOOL_LITERAL,
    CALL,
    CASTS,
    CHARACTER,
    COMPOUND_ASSIGN,
    COMPOUND_LITERAL,
    CONCEPT_EXPR,
    CONDITIONAL,
    DECL_REF,
    DELETE,
    DEREF,
    ENUM_CONSTANT,
    FIELD_DECL,
    FLOATING,
    FUNCTION_KINDS,
    GNU_NULL,
    INIT_LIST,
    INTEGER,
    LAMBDA,
    LNOT,
    MEMBER_EXPR,
    MINUS,
    NEW,
    NOT,
    NULLPTR,
    PAREN,
    PAREN_LIST_INIT,
    POST_DEC,
    POST_INC,
    PRE_DEC,
    PRE_INC,
    REQUIRES_EXPR,
    SIZEOF,
    SIZEOF_PACK,
    STMT_EXPR,
    STRING,
    SUBSCRIPT,
    THIS,
    THROW,
    UNARY,
    UNEXPOSED_DECL,
    UNEXPOSED_EXPR,
    VARIABLE_KINDS,
    VOID_STATEMENTS,
    Node,
)  # fmt: skip
from auditor.frontend.lower.types import BOOL, CType

_CONSTANT_KINDS = frozenset(
    (INTEGER, FLOATING, CHARACTER, BOOL_LITERAL, SIZEOF, SIZEOF_PACK, CONCEPT_EXPR, REQUIRES_EXPR)
)
_SPECIAL = {"threadIdx": ("tid", (1023, 1023, 63)), "blockIdx": ("bid", (2**31 - 1, 65535, 65535))}
_EXTENT = {"blockDim": ("bdim", (1024, 1024, 64)), "gridDim": ("gdim", (2**31 - 1, 65535, 65535))}


class Expressions(Casts):
    """``rvalue`` and ``effect``."""

    # ---- rvalues

    def rvalue(self, node: Node) -> Val:
        kind = node.kind
        if kind in (UNEXPOSED_EXPR, PAREN):
            return self._implicit(node)
        if kind in _CONSTANT_KINDS:
            return self._constant(node)
        if kind == DECL_REF:
            return self._name(node)
        if kind in (MEMBER_EXPR, SUBSCRIPT):
            return self._object_value(node)
        if kind == CALL:
            return self.call(node)
        if kind == BINARY:
            return self._binary(node)
        if kind == UNARY:
            return self._unary(node)
        if kind in CASTS:
            return self._cast(node)
        if kind == CONDITIONAL:
            return self._conditional(node)
        if kind == COMPOUND_ASSIGN:
            return self.read(self._compound(node), node)
        if kind == INIT_LIST:
            return self.initialise(self.types.of(node), node)
        if kind in (NULLPTR, GNU_NULL):
            return literal(0, self.types.of(node))
        return self._unusual(node)

    def _unusual(self, node: Node) -> Val:
        kind = node.kind
        ctype = self.types.of(node)
        inner = node.expressions
        if kind == THIS:
            return self.this_pointer()
        if kind == LAMBDA:
            return self.lambda_value(node)
        if kind == STRING:
            return Val(repr(self._string(node)), ctype)
        if kind == COMPOUND_LITERAL and inner:
            return self.initialise(ctype, inner[-1])
        if kind == PAREN_LIST_INIT:
            return self.initialise(ctype, node)
        if kind == BIT_CAST and inner:
            return self._bit_cast(self.rvalue(inner[-1]), ctype)
        if kind == STMT_EXPR and node.kids:
            body = node.kids[0].kids
            for statement in body[:-1]:
                self.statement(statement)
            if body and (100 <= body[-1].kind < 200):
                return self.rvalue(body[-1])
            for statement in body[-1:]:
                self.statement(statement)
            return opaque(ctype)
        if kind == THROW:
            self.line("S.trap()", node)
            return opaque(ctype)
        if kind == DELETE:
            return opaque(ctype)
        if kind == NEW:
            return self._new(node, ctype)
        if kind in VOID_STATEMENTS:
            self.statement(node)
            return opaque(ctype)
        return self.unanalysed(f"expression of kind {node.cursor.kind.name}", node, ctype)

    def _constant(self, node: Node) -> Val:
        ctype = self.types.of(node)
        value = self.ast.evaluate(node)
        if value is None:
            return self.unanalysed("constant that clang does not evaluate", node, ctype)
        if ctype.kind == "bool":
            value = 1 if value else 0
        return literal(float(value) if ctype.kind == "float" else value, ctype)

    def _name(self, node: Node) -> Val:
        target = self.ast.reference(node)
        ctype = self.types.of(node)
        if target is None:
            inner = node.expressions  # a substituted template argument
            if inner:
                value = self.rvalue(inner[-1])
                return convert(value, ctype) if ctype.scalar and value.type.scalar else value
            return self.unanalysed("unresolved name", node, ctype)
        kind = target._kind_id
        if kind == ENUM_CONSTANT:
            return literal(int(target.enum_value), ctype)
        if kind in FUNCTION_KINDS:
            return self.function_value(node)
        if kind == UNEXPOSED_DECL and ctype.scalar:
            known = self.ast.evaluate(node)  # a specialised variable template; a structured binding gives None
            if known is not None:
                return literal(known, ctype)
        if kind in VARIABLE_KINDS or kind == UNEXPOSED_DECL:
            return self.read(self.lvalue(node), node)
        if kind == FIELD_DECL:
            return opaque(ctype)  # a pointer to member
        known = self.ast.evaluate(node)
        if known is not None:
            return literal(known, ctype)
        return self.unanalysed(f"name {self.ast.spelling(node)!r} that is no value here", node, ctype)

    def _object_value(self, node: Node) -> Val:
        special = self._builtin_variable(node)
        if special is not None:
            return special
        if node.kind == MEMBER_EXPR:
            target = self.ast.reference(node)
            if target is None:
                return self.unanalysed("unresolved member", node, self.types.of(node))
            if target._kind_id in FUNCTION_KINDS:
                return self.function_value(node)
            if target._kind_id == ENUM_CONSTANT:
                return literal(int(target.enum_value), self.types.of(node))
        return self.read(self.lvalue(node), node)

    def _builtin_variable(self, node: Node) -> Val | None:
        """``threadIdx.x`` and the like."""
        if node.kind != MEMBER_EXPR or not node.kids:
            return None
        base = self.peel(node.kids[0])
        if base.kind != DECL_REF:
            return None
        name = self.ast.spelling(base)
        entry = _SPECIAL.get(name) or _EXTENT.get(name)
        axis = "xyz".find(self.ast.spelling(node))
        if entry is None or axis < 0:
            return None
        attribute, tops = entry
        low = 1 if name in _EXTENT else 0
        return Val(f"S.{attribute}[{axis}]", self.types.of(node), lo=low, hi=tops[axis])

    # ---- unary operators

    def _unary(self, node: Node) -> Val:
        op = self.ast.unary(node)
        child = node.expressions[-1]
        ctype = self.types.of(node)
        if op == DEREF:
            return self.read(self.lvalue(node), node)
        if op == ADDRESS_OF:
            return self._address_of(child, ctype)
        if op in (PRE_INC, PRE_DEC):
            return self.read(self._step(node, child), node)
        if op in (POST_INC, POST_DEC):
            place = self.stable(self.lvalue(child))
            old = self.read(place, child)
            kept = self.temp()
            self.line(f"{kept} = {settled(old).code}")
            self._add_one(place, Val(kept, old.type, space=old.space), op == POST_INC, node)
            return Val(kept, old.type, space=old.space)
        if op == LNOT:
            inner = self.peel(child)
            if inner.kind == BINARY and self.ast.binary(inner) in INVERSE:
                return self._binary(inner, invert=True)
            inside = self.rvalue(child)
            if inside.code.endswith(" != 0)") and inside.code.count("(") == 1 and inside.const is None:
                return boolean(inside.code.replace(" != 0)", " == 0)"), inside.plain)
            return self.logical_not(inside)
        value = self.rvalue(child)
        if op == MINUS:
            return self.negate(value, ctype)
        if op == NOT:
            return self.invert(value, ctype)
        return value

    def _address_of(self, child: Node, ctype: CType) -> Val:
        inner = self.peel(child)
        if inner.kind == DECL_REF or inner.kind == MEMBER_EXPR:
            target = self.ast.reference(inner)
            if target is not None and target._kind_id in FUNCTION_KINDS:
                return self.function_value(inner)
            if target is not None and target._kind_id == FIELD_DECL and inner.kind == DECL_REF:
                return opaque(ctype)
        return self.address(self.lvalue(child)).retyped(ctype)

    # ---- binary operators

    def _binary(self, node: Node, invert: bool = False) -> Val:
        op = self.ast.binary(node)
        inner = node.expressions
        if len(inner) < 2:  # clang hides operands such as sizeof...(pack)
            known = self.ast.evaluate(node)
            if known is not None:
                return literal(known, self.types.of(node))
            return self.unanalysed("operator without operands", node, self.types.of(node))
        left, right = inner[0], inner[1]
        ctype = self.types.of(node)
        if op == ",":
            self.effect(left)
            return self.rvalue(right)
        if op == "=":
            return self.read(self._assign(node), node)
        if op in ("&&", "||"):
            return self._logical(op, left, right)
        if ctype.kind == "other":
            self.effect(left)
            self.effect(right)
            return self.unanalysed("operator on unresolved operands", node)
        a = self.rvalue(left)
        b = self.rvalue(right)
        if invert:
            op = INVERSE[op]
        if a.type.kind == "pointer" or b.type.kind == "pointer":
            return self._pointer_arithmetic(op, a, b, ctype)
        if not (a.type.scalar and b.type.scalar):
            return self.unanalysed(f"operator {op!r} on objects", node, ctype)
        return self.binary(op, a, b, ctype)

    def _logical(self, op: str, left: Node, right: Node) -> Val:
        a = self.rvalue(left)
        if a.const is not None and bool(a.const) == (op == "||"):
            return literal(int(op == "||"), BOOL)
        with self.out.capture() as lines, self.forecast.under(left):
            b = self.rvalue(right)
        if not lines:
            return self.logical(op, a, b)
        if a.const is not None:
            self.out.splice(lines)
            return b
        result = self.temp()
        short = "False" if op == "&&" else "True"
        condition = self.branch(a)
        self.line(f"if {condition}:" if op == "&&" else f"if not ({condition}):", left)
        with self.out.block():
            self.out.splice(lines)
            self.line(f"{result} = {settled(b).code}")
        self.line("else:")
        with self.out.block():
            self.line(f"{result} = {short}")
        return boolean(result)

    def _conditional(self, node: Node) -> Val:
        inner = node.expressions
        ctype = self.types.of(node)
        if len(inner) != 3:
            return self.unanalysed("conditional without its operands", node, ctype)
        condition = settled(self.rvalue(inner[0]))
        if condition.const is not None:
            return self.rvalue(inner[1] if condition.const else inner[2])
        with self.forecast.under(inner[0]):
            with self.out.capture() as first:
                a = self.owned(self.rvalue(inner[1]))
            with self.out.capture() as second:
                b = self.owned(self.rvalue(inner[2]))
        if not first and not second and ctype.scalar:
            return self.chosen(condition, a, b, ctype)
        result = self.temp()
        self.line(f"if {self.branch(condition)}:", inner[0])
        for lines, value in ((first, a), (second, b)):
            with self.out.block():
                self.out.splice(lines)
                self.line(f"{result} = {value.code}" if ctype.kind != "void" else "pass")
            if lines is first:
                self.line("else:")
        return Val(result, ctype, space=a.space if a.space == b.space else "")

    # ---- effects

    def effect(self, node: Node) -> None:
        """Evaluate an expression for its side effects."""
        kind = node.kind
        if kind in (PAREN, UNEXPOSED_EXPR):
            for kid in node.expressions[:1]:
                self.effect(kid)
            return
        if kind == CALL:
            self.call(node, want=False)
            return
        if kind == BINARY:
            op = self.ast.binary(node)
            if op == "=":
                self._assign(node)
                return
            if op == ",":
                for kid in node.expressions:
                    self.effect(kid)
                return
        if kind == COMPOUND_ASSIGN:
            self._compound(node)
            return
        if kind == UNARY and self.ast.unary(node) in (PRE_INC, PRE_DEC, POST_INC, POST_DEC):
            self._step(node, node.expressions[-1])
            return
        if kind in CASTS and self.types.of(node).kind == "void":
            for kid in node.expressions[-1:]:
                self.effect(kid)
            return
        if kind in (DECL_REF, *_CONSTANT_KINDS, STRING):
            return
        self.rvalue(node)
