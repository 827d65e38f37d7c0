"""Lvalues: which object an expression names, and what assigns to it."""

from __future__ import annotations

from dataclasses import replace

from auditor.frontend.lower.arithmetic import Arithmetic
from auditor.frontend.lower.forms import ADDRESS, Lvalue, Val, convert, literal, settled
from auditor.frontend.lower.nodes import (
    BINARY,
    CALL,
    CASTS,
    COMPOUND_ASSIGN,
    CONDITIONAL,
    DECL_REF,
    DEREF,
    FUNCTION_KINDS,
    MEMBER_EXPR,
    PAREN,
    POST_INC,
    PRE_DEC,
    PRE_INC,
    STRING,
    SUBSCRIPT,
    THIS,
    UNARY,
    UNEXPOSED_DECL,
    UNEXPOSED_EXPR,
    VARIABLE_KINDS,
    Node,
)  # fmt: skip
from auditor.frontend.lower.objects import Objects
from auditor.frontend.lower.types import LONG, VOID, CType, Field, base_path, pointer_to


class Places(Arithmetic, Objects):
    """``lvalue`` and the operators that assign."""

    def peel(self, node: Node) -> Node:
        """Through parentheses and implicit nodes that do not change the type's kind."""
        while node.kind in (PAREN, UNEXPOSED_EXPR):
            inner = node.expressions
            if not inner:
                return node
            node = inner[0]
        return node

    def is_lvalue(self, node: Node) -> bool:
        kind = node.kind
        if kind in (PAREN, UNEXPOSED_EXPR):
            inner = node.expressions
            return bool(inner) and self.types.of(inner[0]).kind == self.types.of(node).kind and self.is_lvalue(inner[0])
        if kind == DECL_REF:
            target = self.ast.reference(node)
            if target is None:
                return False
            return target._kind_id in VARIABLE_KINDS or target._kind_id == UNEXPOSED_DECL
        if kind in (MEMBER_EXPR, SUBSCRIPT, STRING):
            return True
        if kind == UNARY:
            return self.ast.unary(node) in (DEREF, PRE_INC, PRE_DEC)
        if kind == BINARY:
            op = self.ast.binary(node)
            return op == "=" or (op == "," and self.is_lvalue(node.expressions[-1]))
        if kind == COMPOUND_ASSIGN:
            return True
        if kind == CONDITIONAL:
            inner = node.expressions
            return len(inner) == 3 and all(self.is_lvalue(side) for side in inner[1:]) and self._same_type(*inner[1:])
        if kind in CASTS:
            inner = node.expressions
            return bool(inner) and inner[-1].kind not in (UNEXPOSED_EXPR, CALL) and self.is_lvalue(inner[-1])
        if kind == CALL:
            return self.returns_reference(node)
        return False

    def _same_type(self, *nodes: Node) -> bool:
        """Whether a pointer could point to any of these objects: numbers of one type, and no bit-fields."""
        peeled = [self.peel(node) for node in nodes]
        types = [self.types.of(node) for node in peeled]
        if any(node.kind == MEMBER_EXPR and self._is_bit_field(node) for node in peeled):
            return False
        return len({(t.kind, t.bits, t.signed) for t in types}) == 1

    def _is_bit_field(self, node: Node) -> bool:
        target = self.ast.reference(node)
        return target is not None and bool(target.is_bitfield())

    def returns_reference(self, node: Node) -> bool:
        target = self.ast.reference(node)
        if target is not None and target._kind_id in FUNCTION_KINDS:
            return self.build.signature(target).result.kind == "ref"
        return False

    def lvalue(self, node: Node) -> Lvalue:
        kind = node.kind
        ctype = self.types.of(node)
        inner = node.expressions
        if kind in (PAREN, UNEXPOSED_EXPR) and inner:
            return self._implicit_lvalue(node, inner[0], ctype)
        if kind == DECL_REF:
            return self._named_object(node, ctype)
        if kind == MEMBER_EXPR:
            return self._member_object(node, ctype)
        if kind == SUBSCRIPT and len(inner) >= 2:
            return self._subscript(inner[0], inner[1])
        if kind == UNARY:
            op = self.ast.unary(node)
            if op == DEREF:
                return self._deref(inner[0], ctype)
            if op in (PRE_INC, PRE_DEC):
                return self._step(node, inner[0])
        if kind == BINARY:
            name = self.ast.binary(node)
            if name == "=":
                return self._assign(node)
            if name == ",":
                self.effect(inner[0])
                return self.lvalue(inner[1])
        if kind == COMPOUND_ASSIGN:
            return self._compound(node)
        if kind == CONDITIONAL and self.is_lvalue(node):
            return self._conditional_object(node, ctype)
        if kind in CASTS and inner and self.is_lvalue(node):
            return self._reinterpreted(self.lvalue(inner[-1]), ctype)
        if kind == CALL:
            place = self.call_lvalue(node)
            if place is not None:
                return place
        return self.materialised(self.rvalue(node))

    def materialised(self, value: Val) -> Lvalue:
        """A temporary object that holds ``value``."""
        value = self.owned(value)
        name = self.temp()
        if value.type.aggregate:
            self.line(f"{name} = {value.code}")
            return Lvalue("py", value.type, name)
        self.line(f"{name} = [{value.code}]")
        return Lvalue("py", value.type, f"{name}[0]", name, "0", value_space=value.space)

    def _implicit_lvalue(self, node: Node, child: Node, ctype: CType) -> Lvalue:
        source = self.types.of(child)
        if source.kind == "record" and ctype.kind == "record" and self.is_lvalue(child):
            place = self.lvalue(child)
            same = source.record is not None and ctype.record is not None and source.record.key == ctype.record.key
            return place if same else self._base_object(place, ctype)
        if self.is_lvalue(child) and source.kind == ctype.kind and source.bits == ctype.bits:
            return self.lvalue(child)
        if source.kind == ctype.kind == "record" and child.kind != CALL:
            return self.lvalue(child)
        return self.materialised(self.rvalue(node))

    def _deref(self, node: Node, ctype: CType) -> Lvalue:
        """The object that a pointer expression points to."""
        inner = self.peel(node)
        if inner.kind == THIS:
            this = self.this_object()
            if this.type.record is not None and ctype.record is not None and this.type.record.key != ctype.record.key:
                return self._base_object(this, ctype)
            return this
        return self.deref(self.rvalue(node), ctype)

    def _subscript(self, base: Node, index: Node) -> Lvalue:
        if self.types.of(base).kind != "pointer" and self.types.of(index).kind == "pointer":
            base, index = index, base
        inner = base
        while inner.kind in (PAREN, UNEXPOSED_EXPR) and inner.expressions:
            inner = inner.expressions[0]
        if self.types.of(inner).kind == "array" and inner.kind != STRING:
            place = self.lvalue(inner)
            if place.type.kind == "array" and place.type.count == 0 and place.kind == "mem":
                pointer = self.padd(self.decay(place), self.rvalue(index), place.type.element.size)
                return self.deref(pointer, place.type.element)
            return self.subscript(place, self.rvalue(index))
        pointer = self.rvalue(base)
        element = self.types.of(base).element
        if pointer.code.startswith(("'", '"')):
            return Lvalue("none", element)
        return self.deref(self.padd(pointer, self.rvalue(index), max(element.size, 1)), element)

    def _named_object(self, node: Node, ctype: CType) -> Lvalue:
        target = self.ast.reference(node)
        if target is None:
            inner = node.expressions
            return self.lvalue(inner[-1]) if inner else Lvalue("none", ctype)
        key = self.ast.decl_key(target)
        place = self.vars.get(key) or self.captured(key)
        if place is not None:
            return place
        if target._kind_id in VARIABLE_KINDS:
            return self.global_lvalue(node, self.ast.tree(target))
        return Lvalue("none", ctype)

    def _member_object(self, node: Node, ctype: CType) -> Lvalue:
        target = self.ast.reference(node)
        if target is None:
            return Lvalue("none", ctype)
        if target._kind_id in VARIABLE_KINDS:  # a static member
            return self.global_lvalue(node, self.ast.tree(target))
        return self._find_member(self._member_owner(node), target, ctype)

    def _member_owner(self, node: Node) -> Lvalue:
        """The object whose member a member expression names."""
        kids = node.expressions
        owner = self.types.of(kids[0]) if kids else VOID
        if owner.kind == "pointer":
            return self._deref(kids[0], owner.element)
        if not kids or owner.integral:  # an integer is no object: it is a template argument of the member
            return self.this_object()
        return self.lvalue(kids[0])

    def _find_member(self, base: Lvalue, target: object, ctype: CType) -> Lvalue:
        record = base.type.record
        key = target.data[0]  # type: ignore[attr-defined]
        if record is None:
            return Lvalue("none", ctype)
        field = record.by_key.get(key)
        if field is not None:
            return self.member(base, field)
        for candidate in record.fields:
            inner = candidate.type.record
            if inner is not None and (candidate.base or not candidate.name) and _declares(candidate.type, key):
                return self._find_member(self.member(base, candidate), target, ctype)
        name = self.ast.tree(target).cursor.spelling
        field = next((f for f in record.fields if f.name == name and name), None)
        return self.member(base, field) if field is not None else Lvalue("none", ctype)

    def _conditional_object(self, node: Node, ctype: CType) -> Lvalue:
        inner = node.expressions
        condition = settled(self.rvalue(inner[0]))
        if condition.const is not None:
            return self.lvalue(inner[1] if condition.const else inner[2])
        result = self.temp()
        spaces = []
        condition_code = self.branch(condition)
        self.line(f"if {condition_code}:", inner[0])
        for index, side in enumerate(inner[1:]):
            with self.out.block(), self.forecast.under(inner[0]):
                pointer = self.reference_pointer(self.lvalue(side))
                spaces.append(pointer.space)
                self.line(f"{result} = {pointer.code}")
            if index == 0:
                self.line("else:")
        space = ADDRESS if all(s == ADDRESS for s in spaces) else ""
        return Lvalue("mem", ctype, result, space=space, decayed=ctype.kind == "array")

    def _reinterpreted(self, place: Lvalue, ctype: CType) -> Lvalue:
        """An object seen as another type."""
        if place.type.kind == ctype.kind and place.type.record is ctype.record:
            return place
        if place.type.record is not None and ctype.record is not None and not ctype.packed:
            found = self._find_base(place, ctype.record.key) or self._derived_object(place, ctype)
            if found is not None:
                return found
        if place.kind == "mem":
            return Lvalue("mem", ctype, place.code, space=place.space)
        if place.kind == "py" and not place.type.aggregate and not ctype.aggregate:
            return Lvalue("py", ctype, place.code, place.box, place.key, decl=place.decl)
        if place.kind == "py" and ctype.scalar:
            return Lvalue("seen", ctype, place.code)
        return Lvalue("none", ctype)

    def _base_object(self, place: Lvalue, ctype: CType) -> Lvalue:
        if ctype.record is not None:
            found = self._find_base(place, ctype.record.key)
            if found is not None:
                return found
        return Lvalue("none", ctype)

    def _find_base(self, place: Lvalue, key: int) -> Lvalue | None:
        record = place.type.record
        if record is None:
            return None
        if record.key == key:
            return place
        for field in record.fields:
            if field.base:
                if field.type.record is None or base_path(field.type.record, key) is None:
                    continue
                inner = self.member(place, field)
                if inner.kind == "py" and inner.box:
                    self.line(f"part({inner.box}, {inner.key})")
                elif inner.kind == "mem" and inner.space != ADDRESS:
                    inner = replace(inner, code=f"part_at({inner.code})")
                return self._find_base(inner, key)
        return None

    def _derived_object(self, place: Lvalue, ctype: CType) -> Lvalue | None:
        """The object of a derived class that a base-class subobject belongs to; None when the classes are unrelated."""
        path = base_path(ctype.record, place.type.record.key) if ctype.record and place.type.record else None
        if path is None:
            return None
        return self.deref(self.derived_pointer(self.address(place), path, pointer_to(ctype)), ctype)

    def derived_pointer(self, value: Val, path: list[Field], ctype: CType) -> Val:
        """A pointer to the base at the end of ``path``, as a pointer to the class at its start."""
        offset = sum(field.offset for field in path) // 8
        if value.space == ADDRESS:
            return Val(f"({value.code} - {offset})" if offset else value.code, ctype, space=ADDRESS)
        return Val(f"whole({value.code}, {len(path)}, {offset})", ctype, space=value.space)

    def _assign(self, node: Node) -> Lvalue:
        left, right = node.expressions[:2]
        ctype = self.types.of(left)
        if ctype.aggregate:
            place = self.lvalue(left)
            self.write(place, self.rvalue(right), node)
            return place
        value = self.rvalue(right)
        place = self.stable(self.lvalue(left))
        self.write(place, value, node)
        return place

    def _compound(self, node: Node) -> Lvalue:
        """``a op= b``: computed in the common type, converted back."""
        left, right = node.expressions[:2]
        op = self.ast.binary(node)[:-1]
        b = self.rvalue(right)
        place = self.stable(self.lvalue(left))
        a = self.read(place, left)
        a.const = a.lo = a.hi = None
        ctype = place.type
        if ctype.kind == "pointer":
            new = self._pointer_arithmetic(op, a, b, ctype)
        elif op in ("<<", ">>"):
            new = self.binary(op, a, b, ctype)
        else:
            common = _common(ctype, b.type)
            new = self.binary(op, convert(a, common), convert(b, common), common)
        self.write(place, new, node)
        return place

    def _step(self, node: Node, child: Node) -> Lvalue:
        place = self.stable(self.lvalue(child))
        self._add_one(place, self.read(place, child), self.ast.unary(node) in (PRE_INC, POST_INC), node)
        return place

    def _add_one(self, place: Lvalue, old: Val, up: bool, node: Node) -> None:
        ctype = place.type
        old.lo = old.hi = old.const = None
        if ctype.kind == "pointer":
            new = self.padd(old, literal(1 if up else -1, LONG), max(ctype.element.size, 1))
        else:
            common = _common(ctype, ctype)
            new = self.binary("+" if up else "-", convert(old, common), literal(1, common), common)
        self.write(place, new, node)

    def _pointer_arithmetic(self, op: str, a: Val, b: Val, ctype: CType) -> Val:
        if op in ("+", "-") and ctype.kind == "pointer":
            pointer, index = (a, b) if a.type.kind == "pointer" else (b, a)
            if op == "-":
                index = self.negate(settled(index), LONG)
            return self.padd(pointer, index, max(pointer.type.element.size, 1))
        if op == "-":
            return Val(f"S.pdiff({a.code}, {b.code}, {max(a.type.element.size, 1)})", ctype)
        return self.compare(op, a, b)


def _common(a: CType, b: CType) -> CType:
    """The usual arithmetic conversions."""
    if a.kind == "float" or b.kind == "float":
        return a if a.kind == "float" and (b.kind != "float" or a.bits >= b.bits) else b
    wide = max(a.bits, b.bits, 32)
    signed = not ((not a.signed and a.bits == wide and a.kind != "bool") or (not b.signed and b.bits == wide))
    return CType("int", "int", wide, signed, wide // 8, wide // 8)


def _declares(ctype: CType, key: int) -> bool:
    record = ctype.record
    if record is None:
        return False
    return key in record.by_key or any(_declares(f.type, key) for f in record.fields if f.base or not f.name)
