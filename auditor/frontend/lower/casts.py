"""Conversions: implicit ones, casts, bit casts and placement new."""

from __future__ import annotations

from auditor.frontend.lower.core import opaque_object, zero_object
from auditor.frontend.lower.forms import ADDRESS, Val, convert, literal, opaque, settled
from auditor.frontend.lower.nodes import (
    ADDRSPACE_CAST,
    BINARY,
    CASTS,
    DECL_REF,
    INIT_LIST,
    MEMBER_EXPR,
    STRING,
    Node,
)  # fmt: skip
from auditor.frontend.lower.places import Places
from auditor.frontend.lower.types import POINTER_BITS, CType, base_path


class Casts(Places):
    """What turns a value of one type into a value of another."""

    def _implicit(self, node: Node) -> Val:
        inner = node.expressions
        ctype = self.types.of(node)
        if not inner:
            value = self.ast.evaluate(node)
            if value is not None:
                return literal(value, ctype)
            return zero_object(ctype) if ctype.kind != "other" else self.unanalysed("unresolved expression", node)
        child = inner[0]
        source = self.types.of(child)
        if ctype.kind == "pointer" and source.kind == "array":
            return self._decayed(child, ctype)
        if ctype.kind in ("pointer", "function") and source.kind == "function":
            return self.function_value(child)
        if ctype.kind == "record" and source.kind == "record":
            if source.record is not None and ctype.record is not None and source.record.key != ctype.record.key:
                return self.read(self._base_object(self.lvalue(child), ctype), node)
            return self.rvalue(child)
        if ctype.kind == "other" and source.kind == "other" and len(inner) > 1:
            return self.unanalysed("unresolved expression", node)
        if ctype.kind == "pointer" and source.kind == "pointer":
            return self._pointer_cast(self.rvalue(child), ctype)
        return convert(self.rvalue(child), ctype)

    def _pointer_cast(self, value: Val, ctype: CType) -> Val:
        """A pointer conversion; to a base class it moves to the subobject."""
        pointee, wanted = value.type.element, ctype.element
        if value.space != ADDRESS and pointee.scalar and pointee.size and wanted.size not in (0, pointee.size):
            return Val(f"recast({value.code}, {pointee.size})", ctype)
        if wanted.scalar and value.space != ADDRESS:
            if pointee.kind == "array" or _uniform(pointee, wanted):
                return Val(f"S.field({value.code}, 0, 0)", ctype)
            if pointee.aggregate or pointee.kind == "void":
                return Val(f"scalar_pointer({value.code})", ctype)
        source, target = pointee.record, wanted.record
        if source is not None and target is not None and source.key != target.key:
            place = self._find_base(self.deref(value, value.type.element), target.key)
            if place is not None:
                return self.address(place).retyped(ctype)
            path = base_path(target, source.key)
            if path is not None:
                return self.derived_pointer(value, path, ctype)
        return value.retyped(ctype)

    def _decayed(self, child: Node, ctype: CType) -> Val:
        inner = self.peel(child)
        if inner.kind == STRING:
            return Val(repr(self._string(inner)), ctype)
        return self.decay(self.lvalue(child)).retyped(ctype)

    def _string(self, node: Node) -> str:
        text = self.ast.spelling(node)
        return text[1:-1] if len(text) >= 2 and text[0] == '"' else text

    def _cast(self, node: Node) -> Val:
        inner = node.expressions
        ctype = self.types.of(node)
        if not inner:
            return zero_object(ctype)
        child = inner[-1]
        if ctype.kind == "void":
            self.effect(child)
            return Val("None", ctype)
        if child.kind == INIT_LIST:
            return self.initialise(ctype, child)
        source = self.types.of(child)
        if ctype.aggregate or (ctype.kind == "record" and source.kind == "record"):
            if source.kind == "record" and self.is_lvalue(node):
                return self.read(self.lvalue(node), node)
            return self.rvalue(child)
        if ctype.kind == "pointer" and source.kind == "array":
            return self._decayed(child, ctype)
        if source.aggregate or self.is_lvalue(node):
            return self.read(self.lvalue(node), node)
        value = self.rvalue(child)
        if ctype.kind == "pointer" and value.type.kind == "pointer":
            return self._pointer_cast(value, ctype) if node.kind != ADDRSPACE_CAST else value.retyped(ctype)
        if ctype.kind == "pointer" and value.type.bits == ctype.bits:
            self._address(child)
        return convert(value, ctype)

    def _address(self, node: Node) -> None:
        """An integer becomes a pointer: the variable that it comes from, alone or with a distance, holds an address."""
        wide = []
        work = [node]
        while work:
            inner = self.peel(work.pop())
            if inner.kind in CASTS or (inner.kind == BINARY and self.ast.binary(inner) == "+"):
                work += inner.expressions
            elif inner.kind in (DECL_REF, MEMBER_EXPR) and self.types.of(inner).bits == POINTER_BITS:
                wide.append(inner)
        declared = self.ast.reference(wide[0]) if len(wide) == 1 else None
        if declared is not None:
            self.types.holds_address(declared.data[0])

    def _bit_cast(self, value: Val, ctype: CType) -> Val:
        if value.type.aggregate:
            return opaque_object(ctype) if ctype.aggregate else Val(f"view({value.code})", ctype)
        if ctype.aggregate:
            return opaque_object(ctype)
        if (value.type.kind == "float") != (ctype.kind == "float"):
            return Val(f"bit_cast({settled(value).code}, {ctype.bits}, {ctype.kind == 'float'})", ctype)
        return convert(value, ctype)

    def _new(self, node: Node, ctype: CType) -> Val:
        inner = node.expressions
        places = [k for k in inner if self.types.of(k).kind == "pointer"]
        built = next((k for k in inner if self.types.of(k).kind == ctype.element.kind), None)
        if not places or self.host:
            return opaque(ctype)
        pointer = self.simple(self.rvalue(places[0]).retyped(ctype))
        place = self.deref(pointer, ctype.element)
        if built is not None:
            value = self.initialise(ctype.element, built)
            self.write(place, value, node)
        return pointer


def _uniform(ctype: CType, scalar: CType) -> bool:
    """Whether a class is nothing but scalars of that size, such as uint4."""
    record = ctype.record
    if record is None or not ctype.aggregate or not record.fields:
        return False
    return all(f.type.scalar and f.type.size == scalar.size for f in record.fields)
