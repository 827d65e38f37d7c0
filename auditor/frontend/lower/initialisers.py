"""Initialisation: constructors, aggregates, default values."""

from __future__ import annotations

from dataclasses import replace

from auditor.frontend.lower.calls import OBJECT, Calls
from auditor.frontend.lower.core import LARGEST, blank, opaque_object, zero_object
from auditor.frontend.lower.forms import Lvalue, Val, convert, settled
from auditor.frontend.lower.nodes import (
    CALL,
    CASTS,
    CONSTRUCTOR,
    INIT_LIST,
    LAMBDA,
    MEMBER_REF,
    PAREN,
    PAREN_LIST_INIT,
    STRING,
    UNEXPOSED_EXPR,
    Node,
    is_expression,
)  # fmt: skip
from auditor.frontend.lower.signatures import Signature, parameter_types
from auditor.frontend.lower.types import CType, Field

_LARGEST_LITERAL = 4096


class Initialisers(Calls):
    """``initialise``, ``construct`` and ``default_value``."""

    def initialise(self, ctype: CType, node: Node | None, target: Lvalue | None = None) -> Val:
        """A new value of the type from an initialiser expression (None: default initialisation)."""
        if node is None:
            return self.default_value(ctype, None)
        inner = node
        while inner.kind in (UNEXPOSED_EXPR, PAREN) and ctype.aggregate and len(inner.expressions) == 1:
            if self.types.of(inner.expressions[0]).kind != ctype.kind and inner.expressions[0].kind != INIT_LIST:
                break
            inner = inner.expressions[0]
        if inner.kind in (INIT_LIST, PAREN_LIST_INIT):
            return self._list(ctype, inner)
        if ctype.kind == "array" and inner.kind == STRING:
            return opaque_object(ctype)
        if ctype.kind == "array" and inner.kind == CALL:
            return self.default_value(ctype, inner)
        if ctype.kind == "record" and not self._is_record(inner) and not ctype.packed:
            return self._converted(ctype, inner)
        if ctype.kind == "pointer" and self.types.of(inner).kind == "array":
            return self._decayed(inner, ctype)  # a list as written hides conversions
        value = self.rvalue(inner)
        if ctype.scalar and value.type.scalar:
            return settled(convert(value, ctype))
        return self.owned(value)

    def _is_record(self, node: Node) -> bool:
        return self.types.of(node).kind in ("record", "other") or node.kind in (LAMBDA, *CASTS)

    def _converted(self, ctype: CType, node: Node) -> Val:
        """A class object from a value of another type: an initialiser list as written hides the constructor call."""
        record = ctype.record
        source = self.types.of(node)
        if record is not None:
            for cursor in record.constructors:
                signature = self.build.signature(cursor)
                if len(signature.param_types) == 1 and signature.body is not None:
                    ptype = signature.param_types[0]
                    plain = ptype.element if ptype.kind == "ref" else ptype
                    if plain.kind == source.kind:
                        return self._run_constructor(node, signature, [node], ctype)
        self.effect(node)
        return opaque_object(ctype)

    # ---- lists

    def _list(self, ctype: CType, node: Node) -> Val:
        items = [k for k in node.kids if is_expression(k.kind)]
        if ctype.kind == "array":
            return self._array_list(ctype, items)
        if ctype.kind == "record" and ctype.record is not None:
            if len(items) == 1 and self._same_record(items[0], ctype):
                return self.owned(self.rvalue(items[0]))
            return self._record_list(ctype, items)
        if not items:
            return zero_object(ctype)
        return self.initialise(ctype, items[0])

    def _same_record(self, node: Node, ctype: CType) -> bool:
        source, record = self.types.of(node).record, ctype.record
        return source is not None and record is not None and source.key == record.key and node.kind != INIT_LIST

    def _array_list(self, ctype: CType, items: list[Node]) -> Val:
        element = ctype.element
        if items and _braceless(items, element, self):
            queue = list(items)
            values: list[str] = []
            while queue and len(values) < ctype.count:
                values.append(self._take_flat(element, queue))
        else:
            values = [self.initialise(element, item).code for item in items[: ctype.count]]
        missing = ctype.count - len(values)
        if ctype.size > LARGEST:
            return Val(blank(ctype), ctype)
        if missing > 0:
            filler = self.zero_value(element)
            if not values and not element.aggregate:
                return Val(f"[{filler.code}] * {ctype.count}", ctype)
            if element.aggregate and missing > 8:
                tail = f"[{filler.code} for _ in range({missing})]"
                return Val(f"[{', '.join(values)}, *{tail}]" if values else tail, ctype)
            if missing > 8:
                return Val(f"[{', '.join(values)}] + [{filler.code}] * {missing}", ctype)
            values += [self.zero_value(element).code for _ in range(missing)]
        return Val("[" + ", ".join(values) + "]", ctype)

    def _take_flat(self, ctype: CType, queue: list[Node]) -> str:
        """The next object of an initialiser list with elided braces."""
        if (queue and (queue[0].kind == INIT_LIST or self._same_record(queue[0], ctype))) or not ctype.aggregate:
            return self.initialise(ctype, queue.pop(0)).code if queue else self.zero_value(ctype).code
        if ctype.kind == "array":
            parts = [self._take_flat(ctype.element, queue) for _ in range(ctype.count)]
        elif ctype.record is not None:
            parts = [self._take_flat(f.type, queue) for f in ctype.record.fields]
        else:
            parts = []
        return "[" + ", ".join(parts) + "]"

    def zero_value(self, ctype: CType) -> Val:
        """Value initialisation: default member initialisers apply, the rest is zero."""
        if ctype.kind == "record" and ctype.record is not None and not ctype.packed and not ctype.record.tensor_map:
            default = self._default_constructor(ctype)
            if default is not None and not default.defaulted:
                return self.default_value(ctype, None)
            return Val("[" + ", ".join(self._member_default(f, True).code for f in ctype.record.fields) + "]", ctype)
        return zero_object(ctype)

    def _record_list(self, ctype: CType, items: list[Node]) -> Val:
        record = ctype.record
        assert record is not None
        if record.tensor_map:
            return Val("[OPAQUE]", ctype)
        given: dict[int, Node] = {}
        position = 0
        fields = [f for f in record.fields if f.name or f.base or f.type.kind == "record"]
        flat = list(items)
        codes: dict[int, str] = {}
        while flat:
            item = flat[0]
            designator = _designated(item, self)
            if designator is not None:
                key, value = designator
                flat.pop(0)
                field = record.by_key.get(key)
                if field is not None and value is not None:
                    given[field.index] = value
                    position = fields.index(field) + 1
                continue
            if position >= len(fields):
                break
            field = fields[position]
            position += 1
            if field.type.aggregate and item.kind != INIT_LIST and not self._compatible(item, field.type):
                codes[field.index] = self._take_flat(field.type, flat)
            else:
                given[field.index] = flat.pop(0)
        for field in record.fields:
            if field.index in given:
                codes[field.index] = self._field_value(field, given[field.index]).code
            elif field.index not in codes and not record.union:
                codes[field.index] = self._member_default(field, True).code
        if ctype.packed:
            return self._pack(ctype, codes)
        return Val("[" + ", ".join(codes[f.index] for f in record.fields) + "]", ctype)

    def _compatible(self, node: Node, ctype: CType) -> bool:
        source = self.types.of(node)
        return source.kind == ctype.kind or (ctype.kind == "record" and source.kind == "record")

    def _pack(self, ctype: CType, codes: dict[int, str]) -> Val:
        """A packed class from the values of its fields."""
        assert ctype.record is not None
        whole = self.temp()
        self.line(f"{whole} = 0")
        place = Lvalue("py", replace(ctype, kind="int", record=None, bits=ctype.size * 8), whole)
        base = Lvalue("py", ctype, whole)
        for field in ctype.record.fields:
            code = codes.get(field.index)
            if code is not None and code != "0":
                slot = self.member(base, field)
                slot.parent = place
                self.write(slot, Val(code, field.type), None)
        return Val(whole, ctype)

    def _field_value(self, field: Field, node: Node) -> Val:
        if field.type.kind == "ref":
            return self.reference_value(field.type, node)
        return self.initialise(field.type, node)

    def reference_value(self, ctype: CType, node: Node) -> Val:
        """The pointer that a reference member or variable holds."""
        place = self.lvalue(node) if self.is_lvalue(node) else self.materialised(self.rvalue(node))
        return self.reference_pointer(place)

    # ---- defaults

    def default_value(self, ctype: CType, node: Node | None) -> Val:
        """Default initialisation: constructors and member initialisers run, scalars are unknown."""
        if ctype.kind == "array" and ctype.element.kind == "record" and not _inert(ctype.element):
            if ctype.count > _LARGEST_LITERAL:
                return Val(blank(ctype), ctype)
            items = [self.default_value(ctype.element, None).code for _ in range(ctype.count)]
            return Val("[" + ", ".join(items) + "]", ctype)
        if ctype.kind != "record" or ctype.record is None or ctype.record.tensor_map:
            return Val(blank(ctype), ctype) if ctype.aggregate else opaque_object(ctype)
        default = self._default_constructor(ctype)
        if default is not None and not default.defaulted and default.body is not None:
            return self._run_constructor(node, default, [], ctype)
        if ctype.packed:
            return Val("0", ctype)
        return Val("[" + ", ".join(self._member_default(f, False).code for f in ctype.record.fields) + "]", ctype)

    def _default_constructor(self, ctype: CType) -> Signature | None:
        record = ctype.record
        if record is None:
            return None
        for cursor in record.constructors:
            if cursor.is_default_constructor() and not cursor.is_deleted_method():
                return self.build.signature(cursor)
        return None

    def _member_default(self, field: Field, zero: bool) -> Val:
        """A member that no initialiser mentions."""
        node = self.build.member_initialiser(field)
        if node is not None:
            return self._field_value(field, node)
        if zero:
            return self.zero_value(field.type)
        return self.default_value(field.type, None)

    # ---- constructors

    def construct(self, node: Node, ctype: CType, target: Lvalue | None = None) -> Val:
        """The value of a constructor call."""
        cursor = self.ast.reference(node)
        if ctype.kind == "array":
            return self.default_value(ctype, node)
        if cursor is None or ctype.record is None:
            return self.unanalysed("unresolved constructor", node, ctype)
        signature = self.build.signature(cursor)
        arguments = self.ast.arguments(node)
        if cursor.is_copy_constructor() or cursor.is_move_constructor():
            if (signature.defaulted or ctype.record.tensor_map) and arguments:
                value = self.rvalue(arguments[0])
                return self.owned(value if value.type.kind == "record" else value.retyped(ctype))
        elif signature.defaulted and not arguments:
            return self.default_value(ctype, node)
        if signature.inherited is not None:
            return self._run_inherited(node, signature.inherited, arguments, ctype)
        return self._run_constructor(node, signature, arguments, ctype)

    def _run_inherited(self, node: Node, wanted: tuple[str, ...], arguments: list[Node], ctype: CType) -> Val:
        """An object whose class takes over a constructor of a base: that runs, other members have their defaults."""
        chosen = self._base_with(ctype, wanted)
        if ctype.record is None or chosen is None:
            return self.unanalysed("unresolved constructor", node, ctype)
        base, signature = chosen
        items = []
        for field in ctype.record.fields:
            if field is not base:
                value = self._member_default(field, False)
            elif signature is not None:
                value = self._run_constructor(node, signature, arguments, field.type)
            else:
                value = self._run_inherited(node, wanted, arguments, field.type)
            items.append(value.code)
        return Val("[" + ", ".join(items) + "]", ctype)

    def _base_with(self, ctype: CType, wanted: tuple[str, ...]) -> tuple[Field, Signature | None] | None:
        """The base that has a constructor with these parameters; its signature is None where a base of it has it."""
        for field in ctype.record.fields if ctype.record is not None else ():
            if not field.base or field.type.record is None:
                continue
            for cursor in field.type.record.constructors:
                if parameter_types(cursor) == wanted:
                    signature = self.build.signature(cursor)
                    return field, signature if signature.inherited is None else None
            if self._base_with(field.type, wanted) is not None:
                return field, None
        return None

    def _run_constructor(self, node: Node | None, signature: Signature, arguments: list[Node], ctype: CType) -> Val:
        if signature.body is None:
            codes = self.argument_codes(arguments)
            if node is not None:
                packed = "(" + "".join(c + ", " for c in codes) + ")"
                self.line(f"S.opaque_call({signature.name!r}, {packed}, 'float', 32)", node)
            return opaque_object(ctype)
        name = self.temp()
        self.line(f"{name} = {self._raw(ctype)}")
        if ctype.packed:
            name_cell = self.temp()
            self.line(f"{name_cell} = [{name}]")
            self.construct_at(node, signature, arguments, name_cell, "c")
            return Val(f"{name_cell}[0]", ctype)
        self.construct_at(node, signature, arguments, name, OBJECT)
        return Val(name, ctype)

    def _raw(self, ctype: CType) -> str:
        """An object before its constructor runs: every slot is there."""
        return blank(ctype)

    def construct_at(
        self, node: Node | None, signature: Signature, arguments: list[Node], this: str, kind: str
    ) -> None:
        """Run a constructor on an object that exists."""
        codes, kinds = [this], [kind]
        after: list[tuple[Lvalue, str]] = []
        for index, ptype in enumerate(signature.param_types):
            argument = arguments[index] if index < len(arguments) else None
            code, passed = self.bind_argument(argument, ptype, signature.params[index], after)
            codes.append(code)
            kinds.append(passed)
        self.emit_call(node, signature, codes, tuple(kinds), after)

    def constructor_prologue(self, signature: Signature) -> None:
        """Initialise bases and members in their order, as a constructor does before its body."""
        this = self.this_object()
        record = this.type.record
        if record is None or signature.tree is None:
            return
        written, delegated = _member_initialisers(signature.tree, self)
        if delegated is not None:
            self._delegate(delegated)
            return
        for field in record.fields:
            key = -1 - field.type.record.key if field.base and field.type.record is not None else field.key
            self._initialise_field(this, field, written.get(key), record.union)

    def _initialise_field(self, this: Lvalue, field: Field, node: Node | None, union: bool) -> None:
        if node is None and (union or (self.build.member_initialiser(field) is None and _inert(field.type))):
            return
        if field.type.kind == "ref":
            if node is not None:
                self._bind_member(this, field, node)
            return
        value = self._field_value(field, node) if node is not None else self._member_default(field, False)
        slot = self.member(this, field)
        if slot.kind == "py" and field.type.aggregate:
            self.line(f"{slot.code} = {self.owned(value).code}", node)
        else:
            self.write(slot, value, node)

    def _bind_member(self, this: Lvalue, field: Field, node: Node) -> None:
        pointer = self.reference_value(field.type, node)
        if this.kind == "mem":
            place = self._memory_member(this, field)
            self.line(f"S.store({place.code}, 'pointer', 64, {pointer.code})", node)
        elif this.kind == "py":
            self.line(f"{this.code}[{field.index}] = {pointer.code}", node)

    def _delegate(self, node: Node) -> None:
        this = self.this_object()
        cursor = self.ast.reference(node)
        if cursor is None:
            return
        code, kind = self.bind_object(this)
        self.construct_at(node, self.build.signature(cursor), self.ast.arguments(node), code, kind)


def _inert(ctype: CType) -> bool:
    """Whether default initialisation of the type runs nothing."""
    if ctype.kind == "array":
        return _inert(ctype.element)
    record = ctype.record
    if record is None or record.tensor_map:
        return True
    if any(not c.is_default_method() and c.is_default_constructor() for c in record.constructors):
        return False
    return all(_inert(f.type) and not _has_default(f) for f in record.fields)


def _has_default(field: Field) -> bool:
    return field.node is not None and any(is_expression(k.kind) for k in field.node.kids)


def _braceless(items: list[Node], element: CType, lower: Initialisers) -> bool:
    return element.aggregate and all(i.kind != INIT_LIST for i in items) and not any(
        lower.types.of(i).kind in ("record", "array") for i in items
    )


def _designated(node: Node, lower: Initialisers) -> tuple[int, Node | None] | None:
    """(field, value) of a designated initialiser."""
    if node.kids and node.kids[0].kind == MEMBER_REF:
        target = lower.ast.reference(node.kids[0])
        values = node.expressions
        if target is not None:
            return target.data[0], values[-1] if values else None
    return None


def _member_initialisers(tree: Node, lower: Initialisers) -> tuple[dict[int, Node], Node | None]:
    """Initialisers that a constructor writes: by field key, or by -1 - class key for bases; and a delegated call."""
    found: dict[int, Node] = {}
    pending: int | None = None
    own = tree.cursor.semantic_parent
    for kid in tree.kids:
        if kid.kind == MEMBER_REF:
            target = lower.ast.reference(kid)
            pending = target.data[0] if target is not None else None
        elif is_expression(kid.kind):
            if pending is not None:
                found[pending] = kid
                pending = None
                continue
            record = lower.types.of(kid).record
            if record is None:
                continue
            if own is not None and record.key == own.data[0] and kid.kind == CALL:
                target = lower.ast.reference(kid)
                if target is not None and target._kind_id == CONSTRUCTOR:
                    return found, kid
            found[-1 - record.key] = kid
    return found, None
