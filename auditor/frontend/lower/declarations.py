"""Variables: where they live, how they start, and what ends with their scope; asm statements."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from auditor.frontend.asm import AsmParts, asm_parts
from auditor.frontend.lower.core import opaque_object
from auditor.frontend.lower.forms import ADDRESS, Lvalue, Val, convert, literal, settled
from auditor.frontend.lower.lambdas import Lambdas
from auditor.frontend.lower.nodes import (
    UNEXPOSED_DECL,
    UNEXPOSED_EXPR,
    VAR_DECL,
    Node,
    is_expression,
)  # fmt: skip
from auditor.frontend.lower.types import INT, CType, pointer_to
from auditor.program import SharedVar

if TYPE_CHECKING:
    from auditor.frontend.lower.scopes import Frame

_SHARED_ATTRIBUTE, _ANNOTATION = 416, 406


class Declarations(Lambdas):
    """``declare`` and ``asm_statement``."""

    index_type = INT
    frames: list[Frame]

    def declare(self, node: Node) -> None:
        if node.kind == VAR_DECL:
            self._variable(node)
        elif node.kind == UNEXPOSED_DECL:
            self._structured(node)

    # ---- variables

    def _variable(self, node: Node) -> None:
        key = self.ast.decl_key(node.cursor)
        ctype = self.types.of(node)
        if any(self._makes_shared(k) for k in node.kids):
            self.vars[key] = self.shared_variable(node, ctype)
            return
        init = self.ast.initializer(node)
        if ctype.kind == "ref":
            if init is not None:
                self.forecast.declared(key, init)
                self.vars[key] = self.alias(self.ast.spelling(node), init, ctype)
            return
        if self.build.is_static(node) and not self.host:
            self.vars[key] = self.global_lvalue(node, node)
            return
        self._local(key, node, ctype, init)

    def _local(self, key: int, node: Node, ctype: CType, init: Node | None) -> None:
        name = self.fresh(self.ast.spelling(node))
        value = self._initial(node, ctype, init)
        if ctype.aggregate:
            self.line(f"{name} = {self.owned(value).code}", node if init is not None else None)
            self.vars[key] = Lvalue("py", ctype, name)
            self._ends(ctype, self.vars[key])
            return
        value = settled(value)
        if key in self.facts.cells or self.forecast.cell(key, name, value):
            if init is not None:
                self.forecast.declared(key, init)
            self.line(f"{name} = [{value.code}]", node if init is not None else None)
            self.vars[key] = Lvalue("py", ctype, f"{name}[0]", name, "0")
            self._ends(ctype, self.vars[key])
            return
        self.line(f"{name} = {value.code}", node if init is not None else None)
        place = Lvalue("py", ctype, name, decl=key)
        changes = init is not None and self.forecast.declared(key, init, value)
        if key not in self.facts.mutable and init is not None and not changes:
            place.lo, place.hi, place.plain = value.lo, value.hi, value.plain
            self.constants.add(key)
            if value.plain or value.lo is not None or value.hi is not None:
                self.facts.valued.add(key)
        if ctype.kind == "pointer" and key not in self.facts.weak and init is not None:
            place.value_space = value.space
            if value.space:
                self.facts.placed.add(key)
        self.vars[key] = place

    def _initial(self, node: Node, ctype: CType, init: Node | None) -> Val:
        if init is None:
            return self.default_value(ctype, node)
        if ctype.integral and ctype.const:
            known = self.ast.evaluate(node)
            if isinstance(known, int):
                return literal(known, ctype)
        return self.initialise(ctype, init)

    def _ends(self, ctype: CType, place: Lvalue) -> None:
        """Run destructors when the scope ends."""
        actions = self.destruction(ctype, place)
        if actions and self.frames:
            self.frames[-1].cleanups.append(lambda: self._destroy(ctype, place))

    def destruction(self, ctype: CType, place: Lvalue) -> bool:
        """Whether destroying an object does anything."""
        if ctype.kind == "array":
            return ctype.count <= 64 and self.destruction(ctype.element, place)
        record = ctype.record
        if record is None or self.host:
            return False
        return record.destructor is not None or any(self.destruction(f.type, place) for f in record.fields)

    def _destroy(self, ctype: CType, place: Lvalue) -> None:
        if ctype.kind == "array":
            for i in reversed(range(ctype.count)):
                self._destroy(ctype.element, self.subscript(place, literal(i, INT)))
            return
        record = ctype.record
        if record is None:
            return
        if record.destructor is not None:
            signature = self.build.signature(record.destructor)
            if signature.body is not None:
                code, kind = self.bind_object(place)
                self.emit_call(signature.tree, signature, [code], (kind,))
        for field in reversed(record.fields):
            if self.destruction(field.type, place) and field.type.kind != "ref":
                self._destroy(field.type, self.member(place, field))

    def loop_variable(self, place: Lvalue, lo: int, hi: int) -> Lvalue:
        """The variable of a counted loop: a plain integer in a known range."""
        return Lvalue("py", place.type, place.code, decl=place.decl, lo=lo, hi=hi, plain=True)

    # ---- references

    def alias(self, spelling: str, init: Node, ctype: CType) -> Lvalue:
        """A reference variable."""
        if ctype.element.kind == "function":
            name = self.fresh(spelling)
            self.line(f"{name} = {self.rvalue(init).code}", init)
            return Lvalue("py", ctype.element, name)
        place = self.lvalue(init) if self.is_lvalue(init) else self.materialised(self.rvalue(init))
        return self.bind_alias(spelling, place)

    def bind_alias(self, spelling: str, place: Lvalue) -> Lvalue:
        """A name for a place that stays the same while the name lives."""
        ctype = place.type
        if place.kind == "py" and place.decl and not ctype.aggregate:
            return place
        if place.kind == "py" and place.code.isidentifier():
            return place
        fixed = place.box.isidentifier() and place.key.isdigit()
        if place.kind == "py" and fixed and not ctype.aggregate:
            return place
        if place.kind in ("py", "dyn") and ctype.aggregate:
            name = self.fresh(spelling)
            self.line(f"{name} = {place.code if place.kind == 'py' else self.dyn_read(place)}")
            return Lvalue("py", ctype, name)
        if place.kind in ("bits", "seen", "none"):
            return place
        pointer = self.reference_pointer(place)
        name = self.fresh(spelling)
        self.line(f"{name} = {pointer.code}")
        return self.bound_reference(Val(name, pointer_to(ctype), space=pointer.space), ctype)

    def bind_element(self, node: Node, place: Lvalue) -> None:
        """The variable of a range-for, for one element."""
        key = self.ast.decl_key(node.cursor)
        ctype = self.types.of(node)
        spelling = self.ast.spelling(node)
        if ctype.kind == "ref":
            self.vars[key] = self.bind_alias(spelling, self.stable(place))
            return
        name = self.fresh(spelling)
        value = self.owned(self.read(place, node))
        if not ctype.aggregate and key in self.facts.cells:
            self.line(f"{name} = [{value.code}]")
            self.vars[key] = Lvalue("py", ctype, f"{name}[0]", name, "0")
            return
        self.line(f"{name} = {value.code}")
        self.vars[key] = Lvalue("py", ctype, name, decl=0 if ctype.aggregate else key)

    def _structured(self, node: Node) -> None:
        """``auto [a, b] = ...``."""
        names = [k for k in node.kids if k.kind == UNEXPOSED_DECL]
        values = [k for k in node.kids if is_expression(k.kind)]
        if not names or not values:
            return
        ctype = self.types.of(node)
        init = values[-1]
        while init.kind == UNEXPOSED_EXPR and init.kids and self.types.of(init).kind == "array":
            init = init.kids[0]  # the copy of an array hides its source
        target = ctype.element if ctype.kind == "ref" else ctype
        if ctype.kind == "ref":
            place = self.alias("pack", init, ctype)
        else:
            name = self.fresh("pack")
            self.line(f"{name} = {self.owned(self.rvalue(init)).code}", node)
            place = Lvalue("py", target, name)
        if any("tuple_element" in self.ast.type(item).spelling for item in names):
            self._bind_tuple(place, names)
            return
        fields = [f for f in target.record.fields if not f.base] if target.record is not None else []
        for index, item in enumerate(names):
            key = self.ast.decl_key(item.cursor)
            if target.kind == "array":
                self.vars[key] = self.subscript(place, literal(index, INT))
            elif index < len(fields):
                self.vars[key] = self.member(place, fields[index])
            else:
                self.vars[key] = Lvalue("none", self.types.of(item))

    def _bind_tuple(self, place: Lvalue, names: list[Node]) -> None:
        """Names for the elements of a class with ``get<i>``: its subobjects of their types, in the order of members.

        Elements without data may have no subobject of their own.
        """
        parts = list(self._subobjects(place))
        for item in names:
            ctype = self.types.of(item)
            ctype = ctype.element if ctype.kind == "ref" else ctype
            found = next((n for n, part in enumerate(parts) if _same_type(part.type, ctype)), None)
            self.vars[self.ast.decl_key(item.cursor)] = Lvalue("none", ctype) if found is None else parts[found]
            if found is not None:
                start = parts[found]
                del parts[: found + 1 + sum(1 for _ in self._subobjects(start))]

    def _subobjects(self, place: Lvalue) -> Iterator[Lvalue]:
        """Members and bases of an object, each before what it consists of."""
        record = place.type.record
        if place.type.kind != "record" or record is None or record.packed:
            return
        for field in record.fields:
            part = self.member(place, field)
            yield part
            yield from self._subobjects(part)

    # ---- shared memory

    def _makes_shared(self, attribute: Node) -> bool:
        """Whether this is ``__shared__``, or what stands for it where clang would not take it."""
        if attribute.kind == _ANNOTATION:
            return self.ast.spelling(attribute) == "bw.shared"
        return attribute.kind == _SHARED_ATTRIBUTE

    def shared_variable(self, node: Node, ctype: CType) -> Lvalue:
        dynamic = self.build.is_extern(node)
        spelling = self.ast.spelling(node)
        wanted = spelling if dynamic else f"{self.lowered.display}::{spelling}"
        key = self.build.unique_key(wanted, self.ast.decl_key(node.cursor))
        align = max(self.build.alignment(node), ctype.align, 1)
        self.shared[key] = SharedVar(
            key, spelling, 0 if dynamic else ctype.size, align, dynamic, self.types.layout(ctype),
            self.ast.name_loc(node.cursor),
        )  # fmt: skip
        name = self.fresh(spelling)
        self.line(f"{name} = S.shared_addr({key!r})", node)
        return Lvalue("mem", ctype, name, space=ADDRESS, decayed=ctype.kind == "array")

    # ---- asm

    def asm_statement(self, node: Node) -> None:
        parts, outputs, inputs = self._asm_operands(node)
        constants: dict[int, int] = {}
        codes: list[str] = []
        for index, operand in enumerate(inputs):
            constraint = parts.constraints[len(outputs) + index]
            value = self._operand(operand)
            if ("n" in constraint or "i" in constraint) and isinstance(value.const, int):
                constants[len(outputs) + index] = value.const
            codes.append(value.code)
        places = [self.stable(self.lvalue(o)) for o in outputs]
        number, block = self.build.asm(node, parts, constants, self.facts)
        if places and not block.instrs and all(c.startswith("+") for c in parts.constraints[: len(places)]):
            return  # it only keeps the compiler from moving something
        for place, constraint, operand in zip(places, parts.constraints, outputs, strict=False):
            if constraint.startswith("+"):
                codes.append(self._number(self.read(place, operand)).code)
        packed = "(" + "".join(c + ", " for c in codes) + ")"
        if block.blocking:
            self.blocking = True
            text = f"yield from S.wait_asm({number}, {packed})"
        else:
            text = f"S.asm({number}, {packed})"
        if not places:
            self.line(text, node)
            return
        names = [self._output_target(place) for place in places]
        self.line(f"{', '.join(names)}{',' if len(names) == 1 else ''} = {text}", node)
        for place, name in zip(places, names, strict=True):
            if name != place.code:
                self._store_output(place, name)

    def _asm_operands(self, node: Node) -> tuple[AsmParts, list[Node], list[Node]]:
        """What an asm statement says, with the nodes of its outputs and inputs."""
        if node.asm is None:
            parts = asm_parts(node.cursor)
            operands = {k.key: k for k in node.kids}
            outputs = [operands.get(c.data[1]) or self.ast.tree(c) for c in parts.outputs]
            inputs = [operands.get(c.data[1]) or self.ast.tree(c) for c in parts.inputs]
            node.asm = parts, outputs, inputs
        return node.asm  # type: ignore[no-any-return]

    def _output_target(self, place: Lvalue) -> str:
        """Where the asm statement's result goes: the variable itself when it needs no conversion."""
        ctype = place.type
        direct = (ctype.integral and not ctype.signed and ctype.kind != "bool") or ctype.kind in ("float", "pointer")
        if place.kind != "py" or not direct:
            return self.temp()
        if place.decl:
            self.assigned(place.decl, Val(place.code, ctype, space=ADDRESS))
        return place.code

    def _store_output(self, place: Lvalue, name: str) -> None:
        ctype = place.type
        if ctype.aggregate:
            self.write(place, opaque_object(ctype), None)
            return
        value = Val(name, ctype, space=ADDRESS if ctype.kind == "pointer" else "")
        if ctype.integral and ctype.signed and ctype.bits in (8, 16, 32, 64):
            value = Val(f"i{ctype.bits}({name})", ctype)
        elif ctype.kind == "bool":
            value = Val(f"({name} & 1)", ctype)
        self.write(place, value, None)

    def _operand(self, node: Node) -> Val:
        """An input operand's value."""
        ctype = self.types.of(node)
        if ctype.kind == "array":
            return self.decay(self.lvalue(node))
        if ctype.aggregate:
            return Val(f"view({self.rvalue(node).code})", ctype)
        return self._number(self.rvalue(node))

    def _number(self, value: Val) -> Val:
        """A register operand: never a Python bool."""
        value = settled(value)
        if value.type.kind == "bool" and value.const is None:
            return convert(value, INT)
        return value

    # ---- returning

    def return_value(self, node: Node) -> str:
        result = self.lowered.signature.result
        if result.kind == "ref":
            place = self.lvalue(node) if self.is_lvalue(node) else self.materialised(self.rvalue(node))
            pointer = self.reference_pointer(place)
            self.lowered.returned.append(pointer.space)
            return pointer.code
        if result.kind == "void":
            self.effect(node)
            return ""
        value = self.initialise(result, node)
        if result.kind == "pointer":
            self.lowered.returned.append(value.space)
        return value.code


def _same_type(a: CType, b: CType) -> bool:
    if a.kind != b.kind or a.bits != b.bits or a.signed != b.signed or a.count != b.count:
        return False
    if a.record is not None or b.record is not None:
        return a.record is not None and b.record is not None and a.record.key == b.record.key
    return a.inner is None or b.inner is None or _same_type(a.inner, b.inner)
