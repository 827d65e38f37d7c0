"""C++ types as the lowering needs them: width, signedness, fields and layout."""

from __future__ import annotations

import ctypes
from dataclasses import field
from typing import Any

from auditor.frontend.lower.nodes import (
    CONSTRUCTOR,
    DECL_REF,
    DESTRUCTOR,
    PARM_DECL,
    UNEXPOSED_EXPR,
    UNION_DECL,
    Ast,
    Node,
)  # fmt: skip
from auditor.program import Layout, ScalarType
from auditor.quick_dataclass import dataclass

_INTEGERS = {  # CXTypeKind -> (bits, signed)
    4: (8, False), 5: (8, False), 6: (16, False), 7: (32, False), 8: (16, False), 9: (32, False), 10: (64, False),
    11: (64, False), 12: (128, False), 13: (8, True), 14: (8, True), 15: (32, True), 16: (16, True), 17: (32, True),
    18: (64, True), 19: (64, True), 20: (128, True),
}  # fmt: skip
_FLOATS = {21: 32, 22: 64, 23: 64, 30: 128, 31: 16, 32: 16, 39: 16}


@dataclass(slots=True)
class Field:
    """A data member, or a base-class subobject (``name`` empty and ``base`` set)."""

    name: str
    type: CType
    offset: int  # bits from the start of the record
    index: int  # place in the Python list
    key: int  # identity of the declaration
    width: int = 0  # bits of a bit-field
    base: bool = False
    node: Node | None = None  # the declaration, for its default initialiser


@dataclass(slots=True)
class Record:
    """A class type. ``packed`` ones (unions, bit-fields) are one Python integer; others are lists."""

    name: str
    key: int
    cursor: Any
    fields: list[Field] = field(default_factory=list)
    by_key: dict[int, Field] = field(default_factory=dict)
    packed: bool = False
    union: bool = False
    tensor_map: bool = False
    closure: bool = False
    destructor: Any = None  # a user-provided one
    constructors: list[Any] = field(default_factory=list)


@dataclass(slots=True)
class CType:
    """kind: "int", "bool", "enum", "float", "pointer", "ref", "array", "record", "function", "void" or "other"."""

    kind: str
    name: str
    bits: int = 0
    signed: bool = False
    size: int = 0
    align: int = 1
    const: bool = False
    inner: CType | None = None  # pointee, element
    count: int = 0
    record: Record | None = None
    clang: Any = None

    @property
    def integral(self) -> bool:
        return self.kind in ("int", "bool", "enum")

    @property
    def packed(self) -> bool:
        return self.record is not None and self.record.packed

    @property
    def scalar(self) -> bool:
        """Whether a value is one Python scalar (packed classes are)."""
        return self.kind in ("int", "bool", "enum", "float", "pointer", "function") or self.packed

    @property
    def aggregate(self) -> bool:
        """Whether a value is a Python list."""
        return self.kind == "array" or (self.kind == "record" and not self.packed)

    @property
    def data(self) -> bool:
        """Whether it is made of floating-point numbers or half words, on which no protocol depends."""
        if self.kind == "array":
            return self.element.data
        if self.record is not None and not self.packed:
            return bool(self.record.fields) and all(field.type.data for field in self.record.fields)
        return self.kind == "float" or (self.size == 2 and (self.integral or self.packed))

    @property
    def element(self) -> CType:
        """Pointee, referenced or element type."""
        return self.inner if self.inner is not None else UNKNOWN_TYPE

    def memory(self) -> tuple[str, int, bool]:
        """(kind, bits, signed) of the scalar as ``S.load`` names it."""
        if self.kind == "float":
            return "float", self.bits, False
        if self.kind in ("pointer", "ref", "function"):
            return "pointer", 64, False
        if self.packed:
            return "int", max(8, self.size * 8), False
        return "int", max(8, self.bits), self.signed


UNKNOWN_TYPE = CType("other", "?")
VOID = CType("void", "void")
INT = CType("int", "int", 32, True, 4, 4)
BOOL = CType("bool", "bool", 8, False, 1, 1)
UINT = CType("int", "unsigned int", 32, False, 4, 4)
ULONG = CType("int", "unsigned long", 64, False, 8, 8)
LONG = CType("int", "long", 64, True, 8, 8)
FLOAT = CType("float", "float", 32, True, 4, 4)


def base_path(record: Record, key: int) -> list[Field] | None:
    """The base-class subobjects to go through from a class to its base ``key``; None when that is no base of it."""
    if record.key == key:
        return []
    for f in record.fields:
        inner = base_path(f.type.record, key) if f.base and f.type.record is not None else None
        if inner is not None:
            return [f, *inner]
    return None


POINTER_BITS = 64


def pointer_to(inner: CType) -> CType:
    return CType("pointer", f"{inner.name} *", 64, False, 8, 8, inner=inner)


class TypeTable:
    """Clang types to ``CType``, memoised by clang's own type identity."""

    def __init__(self, ast: Ast) -> None:
        self.ast = ast
        self._entry = ast.type_entry  # asked for every node
        self._types: dict[int, CType] = {}
        self._records: dict[int, CType] = {}
        self._layouts: dict[int, Layout] = {}
        self._addresses: set[int] = set()  # declarations of integers that the source makes pointers of

    def of(self, node: Node) -> CType:
        """The type of an expression or declaration."""
        found = node.ctype
        if found is None:
            found = self._types.get(self._entry(node.entry).identity or 0)
            if found is None:
                found = self.convert(self.ast.type(node))
            if found.kind == "array" and self._is_array_parameter(node):
                found = pointer_to(found.element)
            node.ctype = found
        return found

    def _is_array_parameter(self, node: Node) -> bool:
        """Whether a node is a parameter that is written as an array, or a use of one: it is a pointer.

        The bindings take the array for the type.
        """
        while node.kind == UNEXPOSED_EXPR and len(node.kids) == 1:
            node = node.kids[0]
        target = node.cursor if node.kind == PARM_DECL else self.ast.reference(node) if node.kind == DECL_REF else None
        return target is not None and target._kind_id == PARM_DECL and self.convert(target.type).kind == "array"

    def convert(self, clang: Any) -> CType:
        key: int = clang.data[0] or 0
        known = self._types.get(key)
        if known is None:
            known = self._make(clang)
            self._types[key] = known
        return known

    def _make(self, clang: Any) -> CType:
        canonical = clang.get_canonical()
        kind: int = canonical._kind_id
        const = bool(canonical.is_const_qualified())
        if kind in _INTEGERS:
            bits, signed = _INTEGERS[kind]
            return CType("int", clang.spelling, bits, signed, bits // 8, min(bits // 8, 16), const, clang=clang)
        if kind == 3:
            return CType("bool", "bool", 8, False, 1, 1, const)
        if kind in _FLOATS:
            bits = _FLOATS[kind]
            return CType("float", clang.spelling, bits, True, bits // 8, bits // 8, const)
        if kind == 2:
            return VOID
        if kind == 24:
            return CType("pointer", "std::nullptr_t", 64, False, 8, 8, const, inner=VOID)
        if kind in (101, 103, 104):
            pointee = self.convert(canonical.get_pointee())
            name = "ref" if kind != 101 else "pointer"
            return CType(name, clang.spelling, 64, False, 8, 8, const, inner=pointee)
        if kind in (112, 114):
            inner = self.convert(canonical.get_array_element_type())
            count = max(int(canonical.get_array_size()), 0) if kind == 112 else 0
            # the bindings drop the element's qualifiers
            const = inner.const or str(canonical.spelling).startswith("const ")
            return CType("array", clang.spelling, 0, False, inner.size * count, inner.align, const, inner, count)
        if kind in (113, 176):
            inner = self.convert(canonical.element_type)
            count = int(canonical.element_count)
            return CType("array", clang.spelling, 0, False, inner.size * count, inner.align, const, inner, count)
        if kind == 106:
            underlying = self.convert(canonical.get_declaration().enum_type)
            size = underlying.size
            return CType("enum", clang.spelling, underlying.bits, underlying.signed, size, size, const)
        if kind == 105:
            return self._record(canonical, const)
        if kind in (110, 111):
            return CType("function", clang.spelling, 64, clang=canonical)
        if kind == 117:
            return CType("pointer", clang.spelling, 64, False, 8, 8, const, inner=VOID)
        return CType("other", clang.spelling)

    # ---- classes

    def _record(self, canonical: Any, const: bool) -> CType:
        cursor = canonical.get_declaration()
        key: int = cursor.data[0] or 0
        base = self._records.get(key)
        if base is None:
            size = max(int(canonical.get_size()), 0)
            align = max(int(canonical.get_align()), 1)
            record = Record(canonical.get_declaration().spelling, key, cursor)
            base = CType("record", canonical.spelling, 0, False, size, align, False, record=record, clang=canonical)
            self._records[key] = base
            self._fill(record, canonical, size)
        if not const:
            return base
        return CType("record", base.name, 0, False, base.size, base.align, True, record=base.record, clang=canonical)

    def _fill(self, record: Record, canonical: Any, size: int) -> None:
        record.union = record.cursor._kind_id == UNION_DECL
        record.tensor_map = record.name in ("CUtensorMap", "CUtensorMap_st")
        record.closure = "(lambda at " in canonical.spelling and not canonical.spelling.endswith(">")
        for method in canonical.get_methods():
            kind = method._kind_id
            if kind == DESTRUCTOR and not method.is_default_method():
                record.destructor = method
            elif kind == CONSTRUCTOR:
                record.constructors.append(method)
        if record.tensor_map:
            return
        index = 0
        for specifier in canonical.get_bases():
            base_type = self.convert(specifier.type)
            offset = max(int(specifier.get_base_offsetof(record.cursor)), 0)
            record.fields.append(Field("", base_type, offset, index, 0, base=True))
            index += 1
        bitfields = False
        for cursor in canonical.get_fields():
            key: int = cursor.data[0]
            width = int(cursor.get_bitfield_width()) if cursor.is_bitfield() else 0
            bitfields = bitfields or width > 0
            offset = max(int(cursor.get_field_offsetof()), 0)
            node = self.ast.tree(cursor)
            name = cursor.spelling
            entry = Field("" if "(" in name else name, self.of(node), offset, index, key, width, node=node)
            inner = entry.type
            if not entry.name and inner.kind == "record" and inner.record is not None and inner.record.union:
                bitfields = True
            record.fields.append(entry)
            record.by_key[key] = entry
            index += 1
        record.packed = (record.union or bitfields) and size > 0 and not record.closure

    # ---- layouts

    def layout(self, ctype: CType) -> Layout:
        """The memory layout, for names of sub-objects."""
        known = self._layouts.get(id(ctype))
        if known is None:
            known = self._layouts[id(ctype)] = self._layout(ctype)
        return known

    def _layout(self, ctype: CType) -> Layout:
        if ctype.kind == "array":
            return Layout(ctype.name, ctype.size, ctype.align, element=self.layout(ctype.element), count=ctype.count)
        if ctype.kind == "record" and ctype.record is not None:
            fields = tuple(
                (f.name, f.offset // 8, self.parameter_layout(f.key, f.type))
                for f in ctype.record.fields
                if not f.width
            )
            return Layout(ctype.name, ctype.size, ctype.align, fields=fields)
        kind, bits, signed = ctype.memory()
        return Layout(ctype.name, ctype.size, ctype.align, scalar=ScalarType(kind, bits, signed))

    def parameter_layout(self, key: int, ctype: CType) -> Layout:
        """The layout of a member or parameter: an integer that the source makes a pointer of counts as one."""
        if key in self._addresses and ctype.integral:
            return Layout(ctype.name, ctype.size, ctype.align, scalar=ScalarType("pointer", POINTER_BITS, False))
        return self.layout(ctype)

    def holds_address(self, key: int) -> None:
        """The integer that was declared there holds an address."""
        if key not in self._addresses:
            self._addresses.add(key)
            self._layouts.clear()

    def holds_tensor_map(self, ctype: CType) -> bool:
        """Whether an object of the type is or contains a tensor map."""
        if ctype.kind == "array":
            return self.holds_tensor_map(ctype.element)
        record = ctype.record
        if record is None:
            return False
        return record.tensor_map or any(self.holds_tensor_map(f.type) for f in record.fields)


def is_null(cursor: Any) -> bool:
    """Whether a cursor is clang's null cursor."""
    return cursor is None or 70 <= ctypes.c_int(cursor._kind_id).value <= 73
