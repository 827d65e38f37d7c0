"""Host code: launches, runtime calls, and what of it is not run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from auditor.frontend.clang_api import in_system_header
from auditor.frontend.lower.core import blank, opaque_object
from auditor.frontend.lower.forms import Lvalue, Val, literal, opaque, settled
from auditor.frontend.lower.nodes import (
    BINARY,
    CALL,
    COMPOUND_ASSIGN,
    DECL_REF,
    DEREF,
    DO,
    MEMBER_EXPR,
    NEW,
    PAREN,
    POST_DEC,
    POST_INC,
    PRE_DEC,
    PRE_INC,
    RANGE_FOR,
    SUBSCRIPT,
    UNARY,
    UNEXPOSED_EXPR,
    VARIABLE_KINDS,
    Node,
)  # fmt: skip
from auditor.frontend.lower.signatures import Signature
from auditor.frontend.lower.statements import Statements
from auditor.frontend.lower.types import VOID, CType

_API = re.compile(r"cu(da)?[A-Z]\w*")
_ENCODERS = {12: "cuTensorMapEncodeTiled", 15: "cuTensorMapEncodeIm2col"}
_LARGEST_ARRAY = 4096  # bytes of a local array that a host loop may fill


class Host(Statements):
    """The parts that differ for functions that the host runs."""

    def launch(self, node: Node, target: Any) -> Val:
        """``kernel<<<grid, block, smem, stream>>>(...)``."""
        if not self.host:
            return self.unanalysed("launch from device code", node, VOID)
        entry = self.build.kernel_entry(self.build.signature(target)) if target is not None else None
        kernel = repr(entry) if entry is not None else self.simple(self.rvalue(node.kids[0])).code
        shape = self.ast.arguments(node.kids[1])
        grid = self._dimensions(shape[0]) if shape else "(OPAQUE,) * 3"
        block = self._dimensions(shape[1]) if len(shape) > 1 else "(OPAQUE,) * 3"
        memory = self._scalar(shape[2]) if len(shape) > 2 else "0"
        stream = self._scalar(shape[3]) if len(shape) > 3 else "0"
        values = [self.owned(self.rvalue(a)).code for a in node.kids[2:]]
        packed = "(" + "".join(v + ", " for v in values) + ")"
        self.line(f"S.launch({kernel}, {grid}, {block}, {memory}, {stream}, {packed})", node)
        return Val("None", VOID)

    def _dimensions(self, node: Node) -> str:
        name = self.temp()
        value = self.rvalue(node)
        if not value.type.aggregate:
            self.line(f"{name} = {settled(value).code}")
            return f"({name}, 1, 1)"
        self.line(f"{name} = {value.code}", node)
        return f"({name}[0], {name}[1], {name}[2])"

    def _scalar(self, node: Node) -> str:
        if node.kind == UNEXPOSED_EXPR and not node.kids:
            return "0"
        return settled(self.rvalue(node)).code

    def host_call(self, node: Node, signature: Signature, arguments: list[Node], ctype: CType) -> Val | None:
        name = signature.name
        library = signature.body is None or in_system_header(signature.cursor)
        if library and _API.fullmatch(name) and not name.startswith("cute"):
            codes = [self._api_argument(a) for a in arguments]
            packed = "(" + "".join(c + ", " for c in codes) + ")"
            if ctype.kind == "void":
                self.line(f"S.api({name!r}, {packed})", node)
                return Val("None", VOID)
            value = self.hoist(f"S.api({name!r}, {packed})", ctype, node)
            return opaque_object(ctype) if ctype.aggregate else value
        if name == "getenv" and signature.body is None:
            return literal(0, ctype)
        if signature.body is None or self.build.reaches(signature):
            return None
        quiet = ctype.kind == "void" and not any(
            t.kind == "pointer" or (t.kind == "ref" and not t.element.const) for t in signature.param_types
        )
        if (quiet and not signature.method) or self.build.too_much_host_code():
            # The arguments count as used: a status that is handed to a checker was looked at.
            result = self._opaque_call(node, name, arguments, ctype)
            return self.read(result, node) if isinstance(result, Lvalue) else result
        return None

    def _api_argument(self, node: Node) -> str:
        if node.kind == UNEXPOSED_EXPR and not node.kids:
            return "0"
        return self.owned(self.rvalue(node)).code

    def host_indirect(self, node: Node, arguments: Sequence[Node], ctype: CType) -> Val | None:
        """A call through a pointer: of the tensor map encoder, or opaque."""
        name = self._encoder(node)
        codes = [self._api_argument(a) for a in arguments]
        packed = "(" + "".join(c + ", " for c in codes) + ")"
        if name is not None:
            return self.hoist(f"S.api({name!r}, {packed})", ctype, node)
        kind, bits, _ = ctype.memory() if ctype.scalar else ("float", 32, False)
        value = self.hoist(f"S.opaque_call('*', {packed}, {kind!r}, {bits})", ctype, node)
        return opaque_object(ctype) if ctype.aggregate else value

    def _encoder(self, node: Node) -> str | None:
        callee = self.types.of(node.kids[0])
        function = callee.element if callee.kind == "pointer" else callee
        if function.kind != "function" or function.clang is None:
            return None
        types = list(function.clang.argument_types())
        if not types or "CUtensorMap" not in types[0].get_canonical().spelling:
            return None
        return _ENCODERS.get(len(types))

    # ---- loops that are not run

    def skip_loop(self, node: Node) -> bool:
        if node.kind == DO and self.ast.evaluate(node.kids[-1]) == 0:
            return False  # the usual wrapping of a macro
        if self.build.reaches_node(node) or (node.kind != RANGE_FOR and self._cheap(node)):
            return False
        for kid in node.walk():
            target = _assigned(kid, self)
            if target is not None:
                self._forget(target)
        return True

    def _cheap(self, node: Node) -> bool:
        """Whether a loop only computes with local scalars and small local arrays."""
        for item in node.walk():
            kind = item.kind
            if kind in (CALL, NEW) or (kind == UNARY and self.ast.unary(item) == DEREF):
                return False
            if kind == SUBSCRIPT:
                base = self.peel(item.kids[0])
                if self.types.of(base).kind != "array" or self.types.of(base).size > _LARGEST_ARRAY:
                    return False
            if kind == MEMBER_EXPR and item.kids and self.types.of(item.kids[0]).kind == "pointer":
                return False
        return True

    def _forget(self, node: Node) -> None:
        """A variable that a skipped loop assigns is unknown from here on."""
        target = self.ast.reference(node)
        place = self.vars.get(self.ast.decl_key(target)) if target is not None else None
        if place is None or place.kind != "py" or not place.code:
            return
        if place.type.aggregate:
            if place.type.size <= 1 << 16:
                self.line(f"{place.code}[:] = {blank(place.type)}", node)
            return
        self.write(place, opaque(place.type), node)


def _assigned(node: Node, lower: Host) -> Node | None:
    """The variable that an assignment-like node changes, as the node that names it."""
    kind = node.kind
    if kind == COMPOUND_ASSIGN or (kind == BINARY and lower.ast.binary(node) == "="):
        place = node.expressions[0]
    elif kind == UNARY and lower.ast.unary(node) in (PRE_INC, PRE_DEC, POST_INC, POST_DEC):
        place = node.expressions[-1]
    else:
        return None
    while place.kind in (PAREN, SUBSCRIPT, MEMBER_EXPR, UNEXPOSED_EXPR) and place.expressions:
        if place.kind == SUBSCRIPT and lower.types.of(lower.peel(place.kids[0])).kind != "array":
            return None
        place = place.expressions[0]
    if place.kind != DECL_REF:
        return None
    target = lower.ast.reference(place)
    return place if target is not None and target._kind_id in VARIABLE_KINDS else None
