"""Calls: of generated functions, of functions without a body, through pointers; argument passing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from auditor.frontend.lower.builtins import builtin_call
from auditor.frontend.lower.core import opaque_object, zero_object
from auditor.frontend.lower.emit import CALL_MARK
from auditor.frontend.lower.expressions import Expressions
from auditor.frontend.lower.forms import ADDRESS, Lvalue, Val, convert, literal, opaque, settled
from auditor.frontend.lower.nodes import ADDRESS as ADDRESS_OF
from auditor.frontend.lower.nodes import (
    CALL,
    CONSTRUCTOR,
    DECL_REF,
    DEREF,
    FUNCTION_KINDS,
    MEMBER_EXPR,
    OVERLOADED_REF,
    UNARY,
    UNEXPOSED_EXPR,
    Node,
)  # fmt: skip
from auditor.frontend.lower.signatures import Signature
from auditor.frontend.lower.types import VOID, CType, pointer_to
from auditor.program import ELSEWHERE

# How a reference, pointer or ``this`` argument is passed, which the callee is specialised for.
OBJECT = "o"  # the Python list of a local object
CELL = "c"  # the one-element list that holds a local scalar
INTEGER = "i"  # an integer address
POINTER = ""  # a pointer value of any kind

FUNCTION_PROTOTYPE = 111  # CXType_FunctionProto
CONFIGURE = ("cudaConfigureCall", "__cudaPushCallConfiguration")


class Calls(Expressions):
    """``call`` and ``call_lvalue``."""

    def call_target(self, node: Node) -> Any:
        """The declaration that a call names, also through a substituted template argument."""
        target = self.ast.reference(node)
        callee = node.kids[0] if node.kids else None
        if target is not None:
            inner = self.peel(callee) if callee is not None else None
            if inner is not None and inner.kind == CALL and self.ast.reference(inner) == target:
                # f()(x): clang names the inner function for the call of its result, too. An operator stands by itself.
                return target if any(self._refers(kid, target) for kid in node.kids[1:]) else None
            return target
        while callee is not None:
            if callee.kind in (DECL_REF, MEMBER_EXPR):
                found = self.ast.reference(callee)
                if found is not None:
                    return found
            if callee.kind not in (UNEXPOSED_EXPR, DECL_REF, UNARY) or not callee.kids:
                return None
            callee = callee.kids[0]
        return None

    def _refers(self, node: Node, target: Any) -> bool:
        inner = self.peel(node)
        return inner.kind == DECL_REF and self.ast.reference(inner) == target

    def call(self, node: Node, want: bool = True) -> Val:
        result = self._call(node, want)
        if isinstance(result, Lvalue):
            return self.read(result, node) if want else opaque(result.type)
        return result

    def call_lvalue(self, node: Node) -> Lvalue | None:
        result = self._call(node, True)
        if isinstance(result, Lvalue):
            return result
        return self.materialised(result) if result.type.kind != "void" else None

    def _call(self, node: Node, want: bool) -> Val | Lvalue:
        ctype = self.types.of(node)
        target = self.call_target(node)
        if len(node.kids) > 1 and node.kids[1].kind == CALL and self.ast.spelling(node.kids[1]) in CONFIGURE:
            return self.launch(node, target if target is not None and target._kind_id in FUNCTION_KINDS else None)
        if target is None:
            return self.rvalue(node.kids[0]) if self._elided(node, ctype) else self._unresolved(node, ctype)
        kind = target._kind_id
        if not self.host and ctype.kind == "record" and self.build.empties.computes_nothing(target):
            return self._nothing(node, ctype)
        if kind == CONSTRUCTOR:
            return self.construct(node, ctype)
        if kind not in FUNCTION_KINDS:
            return self._indirect(node, ctype)
        signature = self.build.signature(target)
        if ctype.integral and want and not self.host:
            value = self.ast.evaluate(node)
            if value is not None and ctype.kind != "other":
                return literal(int(value), ctype)
        arguments = self.ast.arguments(node)
        if signature.forwards and arguments:
            return self.lvalue(arguments[0]) if self.is_lvalue(arguments[0]) else self.rvalue(arguments[0])
        built_in = builtin_call(self, node, signature, arguments, ctype)
        if built_in is not None:
            return built_in
        special = self.host_call(node, signature, arguments, ctype) if self.host else None
        if special is not None:
            return special
        return self._direct(node, signature, arguments, ctype)

    def _elided(self, node: Node, ctype: CType) -> bool:
        """Whether a call is a copy that is left out, and its operand the object: clang names no constructor then."""
        if ctype.record is None or len(node.kids) != 1 or self.ast.spelling(node):
            return False
        source = self.types.of(node.kids[0]).record
        return source is not None and source.key == ctype.record.key

    def _nothing(self, node: Node, ctype: CType) -> Val:
        """A call that computes nothing: what its arguments do remains."""
        if node.kids and node.kids[0].kind == MEMBER_EXPR:
            self._discard_receiver(node)
        for argument in self.ast.arguments(node):
            self.effect(argument)
        return zero_object(ctype)

    # ---- hooks of the host layer

    def launch(self, node: Node, target: Any) -> Val:
        raise NotImplementedError

    def host_call(self, node: Node, signature: Signature, arguments: list[Node], ctype: CType) -> Val | None:
        raise NotImplementedError

    # ---- direct calls

    def _direct(self, node: Node, signature: Signature, arguments: list[Node], ctype: CType) -> Val | Lvalue:
        codes: list[str] = []
        kinds: list[str] = []
        if signature.method:
            base, arguments = self._receiver(node, arguments)
            if signature.virtual and not self._static_class(base):
                return self._opaque_call(node, signature.name, arguments, ctype, "virtual call")
            code, kind = self.bind_object(base)
            codes.append(code)
            kinds.append(kind)
        elif node.kids and node.kids[0].kind == MEMBER_EXPR and signature.cursor._kind_id not in (8,):
            self._discard_receiver(node)
        if signature.defaulted and self.ast.spelling(node) == "operator=" and arguments:
            return self._memberwise(node, base if signature.method else None, arguments[0])
        if signature.body is None:
            model = None if self.host else self.build.model(signature.name)
            if model is None:
                return self._bodiless(node, signature, arguments, ctype)
            signature = model
        after: list[tuple[Lvalue, str]] = []
        for index, ptype in enumerate(signature.param_types):
            argument = arguments[index] if index < len(arguments) else None
            code, kind = self.bind_argument(argument, ptype, signature.params[index], after)
            codes.append(code)
            kinds.append(kind)
        for extra in arguments[len(signature.param_types) :]:
            self.effect(extra)
        return self.emit_call(node, signature, codes, tuple(kinds), after)

    def emit_call(
        self, node: Node | None, signature: Signature, codes: list[str], kinds: tuple[str, ...],
        after: list[tuple[Lvalue, str]] | None = None,
    ) -> Val | Lvalue:  # fmt: skip
        """Call the translation of a function that is specialised for these kinds of arguments."""
        callee = self.build.dummy if self.dry else self.build.function(signature, kinds, self.host)
        self.callees.add(callee.function.number)
        result = signature.result
        text = f"{CALL_MARK}{callee.function.name}({', '.join(['S', *codes])})"
        if result.kind == "void" or signature.constructor:
            self.line(text, node, callee.function.number)
            value: Val | Lvalue = Val("None", VOID)
        else:
            name = self.temp()
            self.line(f"{name} = {text}", node, callee.function.number)
            space = callee.result_space if result.kind in ("ref", "pointer") else ""
            value = Val(name, result, space=space)
            if result.kind == "ref":
                value = self.bound_reference(value, result.element)
            elif result.kind == "bool":
                value.lo, value.hi = 0, 1
        for place, cell in after or ():
            self.write(place, Val(f"{cell}[0]", place.type), node)
        return value

    def _receiver(self, node: Node, arguments: list[Node]) -> tuple[Lvalue, list[Node]]:
        """The object of a member call and the remaining arguments."""
        first = node.kids[0] if node.kids else None
        named = self.ast.reference(first) if first is not None and first.kind == MEMBER_EXPR else None
        if first is not None and named is not None and named._kind_id in FUNCTION_KINDS:
            base = self._member_owner(first)
        elif arguments:
            base, arguments = self.lvalue(arguments[0]), arguments[1:]
        else:
            base = self.this_object()
        target = self.call_target(node)
        owner_class = target.semantic_parent if target is not None else None
        if owner_class is not None and base.type.record is not None:
            found = self._find_base(base, owner_class.data[0])
            base = found if found is not None else base
        return base, arguments

    def _discard_receiver(self, node: Node) -> None:
        """A static member function called on an object expression."""
        for kid in node.kids[0].expressions[:1]:
            if kid.kind == CALL:
                self.effect(kid)

    def _static_class(self, base: Lvalue) -> bool:
        """Whether the dynamic class of an object is known: only local objects are."""
        return base.kind == "py"

    def _memberwise(self, node: Node, base: Lvalue | None, source: Node) -> Val | Lvalue:
        """A defaulted copy or move assignment."""
        if base is None:
            return opaque()
        value = self.owned(self.rvalue(source))
        self.write(base, value, node)
        return base

    # ---- arguments

    def bind_object(self, place: Lvalue) -> tuple[str, str]:
        """``this`` for a method on ``place``."""
        return self.bind_reference(place, False, [])

    def bind_reference(self, place: Lvalue, const: bool, after: list[tuple[Lvalue, str]]) -> tuple[str, str]:
        """A reference argument to an object: (code, kind)."""
        ctype = place.type
        if place.kind == "mem":
            pointer = self.decay(place) if ctype.kind == "array" else Val(place.code, ctype, space=place.space)
            return pointer.code, INTEGER if pointer.space == ADDRESS else POINTER
        if ctype.aggregate and place.kind in ("py", "dyn"):
            return (place.code if place.kind == "py" else self.dyn_read(place)), OBJECT
        if place.kind == "py" and place.key == "0" and place.code == f"{place.box}[0]":
            return place.box, CELL
        if place.kind in ("py", "dyn") and place.box:
            return f"Ref({place.box}, {place.key})", POINTER
        if place.kind == "py" and place.decl and not const:
            self.facts.cells.add(place.decl)
            return f"[{place.code}]", CELL
        if place.kind == "none":
            return (opaque_object(ctype).code, OBJECT) if ctype.aggregate else ("[OPAQUE]", CELL)
        value = settled(self.read(place, None))
        if ctype.aggregate:
            return value.code, OBJECT
        if const or place.kind == "py":
            return f"[{value.code}]", CELL
        name = self.temp()
        self.line(f"{name} = [{value.code}]")
        after.append((place, name))
        return name, CELL

    def bind_argument(
        self, node: Node | None, ptype: CType, param: Node, after: list[tuple[Lvalue, str]]
    ) -> tuple[str, str]:
        """The argument for one parameter: (code, kind)."""
        if node is not None and node.kind == UNEXPOSED_EXPR and not node.kids and self._line_of(node) == 0:
            node = None  # a defaulted argument
        if node is None:
            return self._default_argument(ptype, param, after)
        if ptype.kind == "ref":
            target = ptype.element
            if target.kind == "function":
                return self.rvalue(node).code, POINTER
            place = self.lvalue(node) if self.is_lvalue(node) else self.materialised(self.rvalue(node))
            return self.bind_reference(place, target.const, after)
        value = self.owned(self.rvalue(node))
        if ptype.scalar and value.type.scalar:
            value = settled(convert(value, ptype))
        return value.code, INTEGER if ptype.kind == "pointer" and value.space == ADDRESS else POINTER

    def _line_of(self, node: Node) -> int:
        return self.ast.loc(node).line

    def _default_argument(self, ptype: CType, param: Node, after: list[tuple[Lvalue, str]]) -> tuple[str, str]:
        value = self.build.default_argument(param)
        if value is not None:
            return self.bind_argument(value, ptype, param, after)
        if ptype.kind == "ref":
            return "[OPAQUE]", CELL
        return opaque_object(ptype).code, INTEGER if ptype.kind == "pointer" else POINTER

    def argument_codes(self, arguments: list[Node]) -> list[str]:
        """Arguments of a call that is not translated: lvalues by their pointer when they are objects."""
        codes = []
        for node in arguments:
            ctype = self.types.of(node)
            if self.is_lvalue(node) and ctype.kind in ("record", "array"):
                codes.append(self.reference_pointer(self.lvalue(node)).code)
            else:
                codes.append(settled(self.rvalue(node)).code)
        return codes

    # ---- calls that are not translated

    def _bodiless(self, node: Node, signature: Signature, arguments: list[Node], ctype: CType) -> Val | Lvalue:
        """A call of a function whose body is not in this unit. One that returns a number for numbers computes it; any
        other may synchronise, unless it is known not to."""
        name = signature.name
        if not self.host and self.build.is_foreign(signature):
            self.note(f"{name} is defined in another file", node)
            if not ctype.scalar or not all(t.scalar and t.kind != "pointer" for t in signature.param_types):
                name = ELSEWHERE + name
                arguments = [a for a, t in zip(arguments, signature.param_types) if t.kind != "ref"]
        return self._opaque_call(node, name, arguments, ctype)

    def _opaque_call(
        self, node: Node, name: str, arguments: list[Node], ctype: CType, why: str = ""
    ) -> Val | Lvalue:
        if why:
            self.note(f"{why} of {name}", node)
        codes = self.argument_codes(arguments)
        if ctype.kind == "float":  # a mathematical function
            return Val(f"consume({', '.join(codes)})", ctype)
        kind, bits, _ = ctype.memory() if ctype.scalar else ("float", 32, False)
        packed = "(" + "".join(c + ", " for c in codes) + ")"
        text = f"S.opaque_call({name!r}, {packed}, {kind!r}, {bits})"
        if ctype.kind == "void":
            self.line(text, node)
            return Val("None", VOID)
        target = self.call_target(node)
        reference = target is not None and target._kind_id in FUNCTION_KINDS and self.returns_reference(node)
        if reference:
            pointer = self.hoist(f"S.opaque_call({name!r}, {packed}, 'pointer', 64)", pointer_to(ctype), node)
            return Lvalue("mem", ctype, pointer.code)
        if not ctype.scalar:
            self.line(text, node)
            return opaque_object(ctype)
        return self.hoist(text, ctype, node, ADDRESS if ctype.kind == "pointer" else "")

    def _unresolved(self, node: Node, ctype: CType) -> Val:
        callee = node.kids[0] if node.kids else None
        function = self.types.of(callee) if callee is not None else None
        if function is not None and function.kind in ("pointer", "function") and not _overloaded(node):
            return self._indirect(node, ctype)
        for argument in node.expressions[1:]:
            self.effect(argument)
        name = self.ast.spelling(node) or (self.ast.spelling(callee) if callee is not None else "")
        return self.unanalysed(f"call of unresolved {name!r}", node, ctype)

    def _indirect(self, node: Node, ctype: CType) -> Val:
        """A call through a function pointer."""
        arguments = node.expressions[1:]
        if self.host:
            encoded = self.host_indirect(node, arguments, ctype)
            if encoded is not None:
                return encoded
        callee = self.simple(self.rvalue(node.kids[0]))
        references = self._references(node.kids[0])
        after: list[tuple[Lvalue, str]] = []
        codes = [
            self._pointer_to(a, after) if n in references else self.owned(self.rvalue(a)).code
            for n, a in enumerate(arguments)
        ]
        kind, bits, _ = ctype.memory() if ctype.scalar else ("float", 32, False)
        packed = "(" + "".join(c + ", " for c in codes) + ")"
        name = self.temp()
        self.blocking = True
        self.line(
            f"{name} = {callee.code}({', '.join(['S', *codes])}) if callable({callee.code})"
            f" else S.opaque_call('*', {packed}, {kind!r}, {bits})",
            node,
        )
        self.line(f"if {name}.__class__ is Generator: {name} = yield from {name}", node)
        for place, cell in after:
            self.write(place, Val(f"{cell}[0]", place.type), node)
        if ctype.aggregate:
            return opaque_object(ctype)
        return Val(name, ctype)

    def _references(self, callee: Node) -> set[int]:
        """Which parameters of the functions that an expression points to are references."""
        ctype = self.types.of(callee)
        clang = (ctype.element if ctype.kind == "pointer" else ctype).clang
        if clang is None or clang.get_canonical()._kind_id != FUNCTION_PROTOTYPE:
            return set()
        given = [self.types.convert(t) for t in clang.get_canonical().argument_types()]
        return {n for n, ctype in enumerate(given) if ctype.kind == "ref"}

    def _pointer_to(self, node: Node, after: list[tuple[Lvalue, str]]) -> str:
        """A reference argument as functions take it that are called through a pointer."""
        place = self.lvalue(node) if self.is_lvalue(node) else self.materialised(self.rvalue(node))
        code, kind = self.bind_reference(place, False, after)
        return {CELL: f"Ref({code}, 0)", OBJECT: f"Ref([{code}], 0)"}.get(kind, code)

    def host_indirect(self, node: Node, arguments: Sequence[Node], ctype: CType) -> Val | None:
        raise NotImplementedError

    # ---- functions as values

    def function_value(self, node: Node) -> Val:
        """A function used as a value: the translated function, or the kernel's entry name on the host."""
        ctype = self.types.of(node)
        node = self.peel(node)
        if node.kind == UNARY and self.ast.unary(node) in (DEREF, ADDRESS_OF):
            return self.rvalue(node.expressions[-1]).retyped(ctype)
        target = self.ast.reference(node)
        if target is not None and target._kind_id not in FUNCTION_KINDS:
            return self.read(self.lvalue(node), node).retyped(ctype)
        if target is None:
            inner = node.expressions
            if inner:
                inside = self.rvalue(inner[-1])
                return inside.retyped(ctype)
            return opaque(ctype)
        signature = self.build.signature(target)
        entry = self.build.kernel_entry(signature)
        if entry is not None:
            return Val(repr(entry), ctype)
        if signature.body is None or signature.method:
            return Val(repr(signature.name), ctype)
        kinds = (POINTER,) * len(signature.params)
        callee = self.build.dummy if self.dry else self.build.function(signature, kinds, self.host)
        return Val(callee.function.name, ctype)


def _overloaded(node: Node) -> bool:
    return any(k.kind == OVERLOADED_REF for k in node.kids[0].walk()) if node.kids else False
