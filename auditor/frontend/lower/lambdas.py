"""Lambdas: a closure is a Python list of what its body uses of the enclosing function."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from auditor.frontend.lower.core import zero_object
from auditor.frontend.lower.forms import Lvalue, Val
from auditor.frontend.lower.initialisers import Initialisers
from auditor.frontend.lower.nodes import (
    DECL_REF,
    FUNCTION_TEMPLATE,
    MEMBER_EXPR,
    PARM_DECL,
    THIS,
    UNEXPOSED_DECL,
    VAR_DECL,
    VARIABLE_KINDS,
    VARIABLE_REF,
    Node,
)  # fmt: skip
from auditor.frontend.lower.types import CType, pointer_to
from auditor.quick_dataclass import dataclass

COPY, CELL, OBJECT, POINTER = "copy", "cell", "object", "pointer"


@dataclass
class Capture:
    """One slot of a closure. mode: the value itself, a cell, a list object, or a pointer value."""

    key: int
    type: CType
    mode: str
    index: int
    space: str = ""


@dataclass
class Closure:
    """What the body of a lambda finds in its closure list."""

    captures: dict[int, Capture] = field(default_factory=dict)
    this_index: int = -1
    this_type: CType | None = None


class Lambdas(Initialisers):
    """``lambda_value`` and ``captured``."""

    closure: Closure | None = None  # of the lambda whose body is being lowered

    def lambda_value(self, node: Node) -> Val:
        ctype = self.types.of(node)
        record = ctype.record
        if record is None:
            return self.unanalysed("lambda of unresolved type", node, ctype)
        closure = Closure()
        codes: list[str] = []
        self._trees = self._body(record.cursor, node)
        copies = self._explicit(node, closure, codes, record.cursor)
        default_by_reference = self._default_mode(record.fields, len(codes))
        free, uses_this = self._free_variables(self._trees, set(closure.captures) | copies)
        for key, cursor in free:
            place = self.vars.get(key) or self.captured(key)
            if place is not None:
                self._add(closure, codes, key, place, self.types.of(self.ast.tree(cursor)), default_by_reference)
        if uses_this and self._has_this():
            pointer = self.this_pointer()
            closure.this_index = len(codes)
            closure.this_type = pointer.type.element
            codes.append(pointer.code)
        self.build.closures[record.key] = closure
        return Val("[" + ", ".join(codes) + "]", ctype)

    def _has_this(self) -> bool:
        return True

    def _explicit(self, node: Node, closure: Closure, codes: list[str], cursor: Any) -> set[int]:
        """Captures that the lambda names; the keys of init-captures are returned too."""
        names = [k for k in node.kids if k.kind == VARIABLE_REF]
        own: set[int] = set()
        for kid in names:
            target = self.ast.reference(kid)
            if target is None:
                continue
            tree = self.ast.tree(target)
            key = self.ast.decl_key(target)
            ctype = self.types.of(tree)
            if self.ast.name_loc(target) == self.ast.name_loc(kid.cursor) and target._kind_id == VAR_DECL:
                own.add(key)
                self._init_capture(closure, codes, key, tree, ctype)
                continue
            place = self.vars.get(key) or self.captured(key)
            if place is not None:
                self._add(closure, codes, key, place, ctype, self._captured_by_reference(cursor, len(codes), ctype))
        return own

    def _init_capture(self, closure: Closure, codes: list[str], key: int, tree: Node, ctype: CType) -> None:
        init = self.ast.initializer(tree)
        if ctype.kind == "ref" and init is not None:
            pointer = self.reference_value(ctype, init)
            closure.captures[key] = Capture(key, ctype.element, POINTER, len(codes))
            codes.append(pointer.code)
            return
        value = self.initialise(ctype, init) if init is not None else zero_object(ctype)
        closure.captures[key] = Capture(key, ctype, COPY, len(codes))
        codes.append(self.owned(value).code)

    def _captured_by_reference(self, cursor: Any, index: int, ctype: CType) -> bool:
        """Whether the closure's field of that place is a reference."""
        fields = self.types.convert(cursor.type).record
        if fields is None or index >= len(fields.fields):
            return False
        return (fields.fields[index].type.kind == "ref" and ctype.kind != "ref") or (
            fields.fields[index].type.kind == "ref"
        )

    def _default_mode(self, fields: list[Any], explicit: int) -> bool:
        """Whether implicit captures are by reference: the fields behind the explicit ones tell."""
        return any(f.type.kind == "ref" for f in fields[explicit:])

    def _body(self, closure_cursor: Any, node: Node) -> list[Node]:
        """Trees in which captured variables are mentioned: the lambda as written, and its call operator."""
        templates = [c for c in self.ast.children(closure_cursor) if c._kind_id == FUNCTION_TEMPLATE]
        return [node, *map(self.ast.tree, templates)]

    def _free_variables(self, trees: list[Node], known: set[int]) -> tuple[list[tuple[int, Any]], bool]:
        """Variables of enclosing functions that the body mentions, in order of first use."""
        declared: set[int] = set()
        found: dict[int, Any] = {}
        uses_this = False
        for tree in trees:
            for item in tree.walk():
                kind = item.kind
                if kind in (VAR_DECL, PARM_DECL, UNEXPOSED_DECL):
                    declared.add(self.ast.decl_key(item.cursor))
                elif kind == THIS or (kind == MEMBER_EXPR and not item.expressions):
                    uses_this = True
                elif kind == DECL_REF:
                    target = self.ast.reference(item)
                    if target is not None and (target._kind_id in VARIABLE_KINDS or target._kind_id == UNEXPOSED_DECL):
                        found.setdefault(self.ast.decl_key(target), target)
        return [(k, c) for k, c in found.items() if k not in declared and k not in known], uses_this

    def _add(
        self, closure: Closure, codes: list[str], key: int, place: Lvalue, declared: CType, by_reference: bool
    ) -> None:
        """Capture an enclosing function's object."""
        if key in closure.captures:
            return
        index = len(codes)
        ctype = place.type
        fixed = declared.kind != "ref" and place.kind == "mem"  # shared memory and kernel parameters
        if not by_reference and not fixed:
            value = self.owned(self.read(place, None))
            closure.captures[key] = Capture(key, ctype, COPY, index)
            codes.append(value.code)
            return
        if declared.kind != "ref" and ctype.aggregate and place.kind == "py":
            closure.captures[key] = Capture(key, ctype, OBJECT, index)
            codes.append(f"Ref([{place.code}], 0)")
            return
        cell = place.decl or place.code == f"{place.box}[0]"
        if declared.kind != "ref" and place.kind == "py" and cell:
            # by-reference capture of a scalar: it lives in a cell, now or in the next attempt
            if place.decl:
                if self._settled_value(place.decl):
                    closure.captures[key] = Capture(key, ctype, COPY, index)
                    codes.append(place.code)
                    return
                self.facts.cells.add(place.decl)
            closure.captures[key] = Capture(key, ctype, CELL, index)
            codes.append(f"Ref({place.box or '[0]'}, 0)")  # a Ref, so that copying the closure does not copy the cell
            return
        # of what is captured only shared memory is known to have an integer address in each attempt
        closure.captures[key] = Capture(key, ctype, POINTER, index, place.space if fixed else "")
        codes.append(self.reference_pointer(place).code)

    def _settled_value(self, decl: int) -> bool:
        """Whether a variable never changes after its declaration, so that a reference to it may be a copy."""
        if decl not in self.constants or decl in self.facts.mutable:
            return False
        if any(self.build.assigns(tree, decl) for tree in self._trees):
            return False
        self.facts.valued.add(decl)
        return True

    constants: set[int]
    _trees: list[Node]  # the lambda being captured for

    # ---- inside the body

    def captured(self, key: int) -> Lvalue | None:
        if self.closure is None:
            return None
        capture = self.closure.captures.get(key)
        if capture is None:
            return None
        slot = f"this_0[{capture.index}]"
        if capture.mode == COPY:
            if capture.type.kind == "ref":
                return self.bound_reference(Val(slot, capture.type), capture.type.element)
            return Lvalue("py", capture.type, slot, "this_0", str(capture.index))
        if capture.mode == CELL:
            return Lvalue("py", capture.type, f"{slot}.box[0]", f"{slot}.box", "0")
        if capture.mode == OBJECT:
            return Lvalue("py", capture.type, f"{slot}.box[0]")
        return self.bound_reference(Val(slot, pointer_to(capture.type), space=capture.space), capture.type)

    def closure_this(self) -> Val | None:
        """``this`` of the class whose method the lambda was written in."""
        if self.closure is None or self.closure.this_index < 0 or self.closure.this_type is None:
            return None
        return Val(f"this_0[{self.closure.this_index}]", pointer_to(self.closure.this_type))
