"""Reading, writing and addressing objects, wherever they live: Python locals, lists, packed integers or memory."""

from __future__ import annotations

import re
from dataclasses import replace

from auditor.frontend.lower.core import Core, blank, is_integer, is_simple, opaque_object
from auditor.frontend.lower.forms import ADDRESS, Lvalue, Val, convert, literal, mask_text, opaque, settled
from auditor.frontend.lower.nodes import Node
from auditor.frontend.lower.types import UNKNOWN_TYPE, CType, Field, pointer_to

_UNROLLED_COPY = 64  # arrays above this many scalars are not copied element by element
_WIDEST_LOAD = 16  # bytes
_SEEN_AS_SCALAR = re.compile(r"scalar_pointer\(Ref\(\[(\w+)\], 0\)\)")  # a local object, read through a cast pointer


class Objects(Core):
    """Operations on lvalues."""

    # ---- navigation

    def deref(self, pointer: Val, ctype: CType) -> Lvalue:
        """``*pointer``."""
        target = pointer.points_to
        if target is not None and ctype.scalar and ctype.size == target.type.size:
            return Lvalue("py", ctype, target.code, target.box, target.key)
        return Lvalue("mem", ctype, pointer.code, space=pointer.space)

    def bound_reference(self, pointer: Val, ctype: CType) -> Lvalue:
        """The object of a reference whose value is ``pointer``; references to arrays hold the decayed pointer."""
        return Lvalue("mem", ctype, pointer.code, space=pointer.space, decayed=ctype.kind == "array")

    def padd(self, pointer: Val, index: Val, size: int) -> Val:
        """``pointer + index`` elements of ``size`` bytes."""
        index = settled(index)
        if index.const == 0:
            return pointer
        if pointer.space == ADDRESS:
            if isinstance(index.const, int):
                delta = index.const * size
                code = f"({pointer.code} + {delta})" if delta >= 0 else f"({pointer.code} - {-delta})"
            elif size == 1:
                code = f"({pointer.code} + {index.code})"
            else:
                code = f"({pointer.code} + {index.code} * {size})"
            return Val(code, pointer.type, space=ADDRESS)
        target, step = pointer.points_to, index.const
        if target is not None and isinstance(step, int) and size == target.type.size and 0 <= step <= target.after:
            key = _plus(target.key, step)
            there = replace(target, code=f"{target.box}[{key}]", key=key, after=target.after - step)
            return Val(f"Ref({target.box}, {key})", pointer.type, points_to=there)
        return Val(f"S.padd({pointer.code}, {index.code}, {size})", pointer.type)

    def decay(self, array: Lvalue) -> Val:
        """The pointer to an array's first element."""
        to = pointer_to(array.type.element)
        if array.kind == "py":
            return Val(f"Ref({array.code}, 0)", to, points_to=_first(array))
        if array.kind == "dyn":
            return Val(f"Ref({self.dyn_read(array)}, 0)", to)
        if array.kind == "mem":
            if array.decayed or array.space == ADDRESS:
                return Val(array.code, to, space=array.space)
            return Val(f"S.field({array.code}, 0, 0)", to)
        return opaque(to)

    def subscript(self, array: Lvalue, index: Val) -> Lvalue:
        """``array[index]`` of an array object."""
        index = settled(index)
        element = array.type.element
        if array.kind in ("py", "dyn"):
            code = array.code if array.kind == "py" else self.dyn_read(array)
            count = array.type.count
            if index.plain and index.lo is not None and index.hi is not None and index.lo >= 0 and index.hi < count:
                after = count - 1 - index.hi
                return Lvalue("py", element, f"{code}[{index.code}]", code, index.code, after=after)
            if not is_simple(code) and not is_simple(index.code):
                code = self.simple(Val(code, array.type)).code
            return Lvalue("dyn", element, box=code, key=self.simple(index).code)
        if array.kind == "mem":
            pointer = self.padd(self.decay(array), index, element.size)
            return Lvalue("mem", element, pointer.code, space=pointer.space)
        if array.kind == "bits":
            step = element.size * 8
            if index.const is not None:
                key = _plus(array.key, index.const * step)
            else:
                key = f"({array.key} + {index.code} * {step})"
            return Lvalue("bits", element, key=key, parent=array.parent, width=step)
        return Lvalue("none", element)

    def member(self, base: Lvalue, field: Field) -> Lvalue:
        """A data member or base subobject; reference members are followed."""
        record = base.type.record
        if record is not None and record.packed:
            return self._packed_member(base, field)
        if base.kind in ("py", "dyn"):
            code = base.code if base.kind == "py" else self.dyn_read(base)
            slot = Lvalue("py", field.type, f"{code}[{field.index}]", code, str(field.index))
        elif base.kind == "mem":
            slot = self._memory_member(base, field)
        elif base.kind == "bits":
            width = field.width or _bits(field.type)
            slot = replace(base, type=field.type, key=_plus(base.key, field.offset), width=width)
        else:
            return Lvalue("none", field.type)
        if field.type.kind == "ref":
            return self.bound_reference(self.read(slot, None), field.type.element)
        return slot

    def _memory_member(self, base: Lvalue, field: Field) -> Lvalue:
        offset = field.offset // 8
        if base.space == ADDRESS:
            code = f"({base.code} + {offset})" if offset else base.code
            return Lvalue("mem", field.type, code, space=ADDRESS)
        return Lvalue("mem", field.type, f"S.field({base.code}, {field.index}, {offset})")

    def _packed_member(self, base: Lvalue, field: Field) -> Lvalue:
        width = field.width or _bits(field.type)
        if base.kind == "mem" and (base.space == ADDRESS or base.type.size > _WIDEST_LOAD):
            if not field.width:
                return self._memory_member(base, field)
            unit = field.type.size * 8
            start = field.offset // unit * unit
            storage = Field("", replace(field.type, kind="int", signed=False), start, field.index, 0)
            parent = self._memory_member(base, storage)
            return Lvalue("bits", field.type, key=str(field.offset - start), parent=parent, width=width)
        if base.kind == "bits":
            return replace(base, type=field.type, key=_plus(base.key, field.offset), width=width)
        return Lvalue("bits", field.type, key=str(field.offset), parent=base, width=width)

    def stable(self, place: Lvalue) -> Lvalue:
        """The same place with its address computed once, for read-modify-write."""
        if place.kind == "mem" and not is_simple(place.code):
            name = self.temp()
            self.line(f"{name} = {place.code}")
            return replace(place, code=name)
        if place.kind == "bits" and place.parent is not None:
            return replace(place, parent=self.stable(place.parent))
        return place

    # ---- reading

    def dyn_read(self, place: Lvalue) -> str:
        box, key = place.box, place.key
        if is_simple(box) and is_simple(key):
            return f"({box}[{key}] if {is_integer(key)} and 0 <= {key} < len({box}) else element({box}, {key}))"
        return f"element({box}, {key})"

    def read(self, place: Lvalue, node: Node | None) -> Val:
        """The value of an object. Lists are borrowed: copy them before keeping them."""
        ctype = place.type
        if place.kind == "py":
            if place.plain and place.lo is not None and place.lo == place.hi:
                return literal(place.lo, ctype)
            return Val(
                place.code, ctype, lo=place.lo, hi=place.hi, plain=place.plain, space=place.value_space,
                borrowed=ctype.aggregate,
            )  # fmt: skip
        if place.kind == "dyn":
            return Val(self.dyn_read(place), ctype, borrowed=ctype.aggregate)
        if place.kind == "mem":
            return self._load(place, node)
        if place.kind == "seen":
            return Val(f"view({place.code})", ctype)
        if place.kind == "bits" and place.parent is not None:
            return self._read_bits(place, node)
        return opaque_object(ctype)

    def _load(self, place: Lvalue, node: Node | None) -> Val:
        ctype = place.type
        if ctype.aggregate:
            return self._load_object(place, node)
        if not ctype.scalar and ctype.kind != "ref":
            return opaque(ctype)
        kind, bits, signed = ctype.memory()
        if bits > 128:
            return opaque(ctype)
        seen = _SEEN_AS_SCALAR.fullmatch(place.code)
        loaded = f"scalar_of({seen[1]})" if seen else f"S.load({place.code}, {kind!r}, {bits}, {signed})"
        value = self.hoist(loaded, ctype, node)
        if ctype.kind == "bool":
            value.lo, value.hi = 0, 1
        return value

    def _load_object(self, place: Lvalue, node: Node | None) -> Val:
        ctype = place.type
        if ctype.kind == "array":
            if ctype.count > _UNROLLED_COPY:
                return opaque_object(ctype)
            first = Lvalue("mem", ctype, self.simple(self.decay(place)).code, space=place.space, decayed=True)
            items = [self._take(self.subscript(first, literal(i, UNKNOWN_TYPE)), node) for i in range(ctype.count)]
            return Val("[" + ", ".join(items) + "]", ctype)
        record = ctype.record
        if record is None or record.tensor_map:
            return Val("[OPAQUE]", ctype)
        base = self.stable(place)
        items = []
        for field in record.fields:
            slot = self._memory_member(base, field)
            items.append(self._take(slot, node))
        return Val("[" + ", ".join(items) + "]", ctype)

    def _take(self, slot: Lvalue, node: Node | None) -> str:
        return self.owned(self.read(slot, node)).code

    def _read_bits(self, place: Lvalue, node: Node | None) -> Val:
        assert place.parent is not None
        ctype = place.type
        whole = settled(self.read(place.parent, node))
        if ctype.aggregate:
            record = ctype.record
            if record is None or ctype.kind == "array":
                return opaque_object(ctype)
            items = [self._take(self.member(place, f), node) for f in record.fields]
            return Val("[" + ", ".join(items) + "]", ctype)
        shifted = whole.code if place.key == "0" else f"({whole.code} >> {place.key})"
        code = f"({shifted} & {mask_text(place.width)})"
        if ctype.kind == "float":
            return Val(f"bit_cast({code}, {ctype.bits}, True)", ctype)
        if ctype.kind == "pointer":
            return Val(code, ctype, space=ADDRESS)
        if ctype.signed:
            half = 1 << (place.width - 1)
            return Val(f"(({code} ^ {hex(half)}) - {hex(half)})", ctype, lo=-half, hi=half - 1)
        return Val(code, ctype, lo=0, hi=(1 << place.width) - 1)

    def owned(self, value: Val) -> Val:
        """``value`` as something that may be kept: lists are copied unless they are new."""
        value = settled(value)
        if value.type.aggregate and value.borrowed:
            record = value.type.record
            if record is not None and not (record.fields or record.closure or record.tensor_map):
                return replace(value, code="[]", borrowed=False)  # a tag
            code = f"list({value.code})" if value.code.startswith("S.") else f"copy_value({value.code})"
            return replace(value, code=code, borrowed=False)
        return value

    # ---- writing

    def write(self, place: Lvalue, value: Val, node: Node | None) -> None:
        """Assign a value of the place's own type (scalars are converted)."""
        ctype = place.type
        if ctype.aggregate:
            self._write_object(place, value, node)
            return
        value = settled(convert(value, ctype)) if ctype.kind != "other" else settled(value)
        if place.kind == "py":
            if place.decl:
                self.assigned(place.decl, value)
            self.line(f"{place.code} = {value.code}", node)
        elif place.kind == "dyn":
            self.line(f"set_element({place.box}, {place.key}, {value.code})", node)
        elif place.kind == "mem":
            kind, bits, _ = ctype.memory()
            code = f"({value.code} | 0)" if ctype.kind == "bool" and value.const is None else value.code
            self.line(f"S.store({place.code}, {kind!r}, {bits}, {code})", node)
        elif place.kind == "seen":
            self.line(f"overwrite({place.code}, {value.code})", node)
        elif place.kind == "bits" and place.parent is not None:
            parent = self.stable(place.parent)
            whole = settled(self.read(parent, node))
            mask = mask_text(place.width)
            new = value.code if ctype.kind != "float" else f"bit_cast({value.code}, {ctype.bits}, False)"
            kept = f"{whole.code} & ~({mask} << {place.key})"
            self.write(parent, Val(f"({kept} | ({new} & {mask}) << {place.key})", parent.type), node)

    def assigned(self, decl: int, value: Val) -> None:
        """A variable that is assigned after its declaration has no static value any more.

        Where this attempt took it for a constant, another one follows. What is left of this one looks at the branches
        that the variable decides as well, for they may assign others: ``if (++stage == 4) { stage = 0; phase ^= 1; }``.
        """
        facts, place = self.facts, self.vars.get(decl)
        facts.mutable.add(decl)
        self.forecast.assigned(decl)
        if decl in facts.valued and place is not None:
            place.lo = place.hi = None
            place.plain = False
        if value.type.kind == "pointer" and value.space != ADDRESS:
            facts.weak.add(decl)
            if decl in facts.placed and place is not None:
                place.value_space = ""

    def _write_object(self, place: Lvalue, value: Val, node: Node | None) -> None:
        ctype = place.type
        if place.kind in ("py", "dyn"):
            code = place.code if place.kind == "py" else self.dyn_read(place)
            self.line(f"{code}[:] = {self.owned(value).code}", node)
            return
        if place.kind == "mem":
            self.store_object(self.stable(place), self.simple_object(value), node)
            return
        if place.kind == "bits" and ctype.record is not None:
            source = Lvalue("py", ctype, self.simple_object(value).code)
            for field in ctype.record.fields:
                self.write(self.member(place, field), self.read(self.member(source, field), node), node)

    def simple_object(self, value: Val) -> Val:
        if is_simple(value.code):
            return value
        name = self.temp()
        self.line(f"{name} = {value.code}")
        return replace(value, code=name)

    def store_object(self, place: Lvalue, value: Val, node: Node | None) -> None:
        """Store a list into memory, scalar by scalar."""
        ctype = place.type
        if ctype.kind == "array":
            if ctype.count > _UNROLLED_COPY:
                self.note("copy of a large array", node)
                return
            base = Lvalue("mem", ctype, self.simple(self.decay(place)).code, space=place.space, decayed=True)
            for i in range(ctype.count):
                slot = self.subscript(base, literal(i, UNKNOWN_TYPE))
                self._store_item(slot, Val(f"{value.code}[{i}]", ctype.element, borrowed=True), node)
            return
        record = ctype.record
        if record is None or record.tensor_map:
            return
        for field in record.fields:
            slot = self._memory_member(place, field)
            self._store_item(slot, Val(f"{value.code}[{field.index}]", field.type, borrowed=True), node)

    def _store_item(self, slot: Lvalue, value: Val, node: Node | None) -> None:
        if slot.type.aggregate:
            self.store_object(self.stable(slot), value, node)
        else:
            self.write(slot, value, node)

    # ---- addresses

    def address(self, place: Lvalue) -> Val:
        """``&place``."""
        to = pointer_to(place.type)
        if place.kind == "mem":
            if place.decayed and place.space != ADDRESS and place.type.kind == "array":
                return Val(f"(Ref([{place.code}.box], 0) if {place.code}.__class__ is Ref else {place.code})", to)
            return Val(place.code, to, space=place.space)
        if place.kind == "dyn":
            return Val(f"Ref({place.box}, {place.key})", to)
        if place.kind == "py":
            if place.box:
                self.forecast.addressed(place.box)
                return Val(f"Ref({place.box}, {place.key})", to, points_to=place if place.type.scalar else None)
            if place.type.aggregate:
                return Val(f"Ref([{place.code}], 0)", to)
            if place.decl:
                self.facts.cells.add(place.decl)
            return Val(f"Ref([{place.code}], 0)", to)
        if place.kind == "bits" and place.parent is not None and place.key == "0":
            return self.address(place.parent).retyped(to)
        return opaque(to)

    def reference_pointer(self, place: Lvalue) -> Val:
        """The pointer value that a reference to ``place`` holds."""
        if place.type.kind == "array":
            return self.decay(place)
        return self.address(place)

    def blank_object(self, ctype: CType) -> str:
        return blank(ctype)


def _first(array: Lvalue) -> Lvalue | None:
    """The first element of a local array of scalars."""
    element, count = array.type.element, array.type.count
    if not element.scalar or not count:
        return None
    return Lvalue("py", element, f"{array.code}[0]", array.code, "0", after=count - 1)


def _bits(ctype: CType) -> int:
    return max(ctype.size, 1) * 8


def _plus(key: str, offset: int | float) -> str:
    return str(int(key) + int(offset)) if key.isdigit() else f"({key} + {int(offset)})"
