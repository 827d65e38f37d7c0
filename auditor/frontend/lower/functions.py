"""Lowering of one function: parameters, ``this``, globals, and the attempts until its facts are stable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from auditor.frontend.lower.calls import CELL, INTEGER, OBJECT
from auditor.frontend.lower.core import Facts
from auditor.frontend.lower.emit import Line
from auditor.frontend.lower.forecast import NONE, Suspects, suspects
from auditor.frontend.lower.forms import ADDRESS, Lvalue, Val, literal, opaque
from auditor.frontend.lower.host import Host
from auditor.frontend.lower.nodes import TRY, Node
from auditor.frontend.lower.scopes import Frame
from auditor.frontend.lower.types import CType, pointer_to

if TYPE_CHECKING:
    from auditor.frontend.lower.program_builder import Build, Lowered

_ATTEMPTS = 8
_CUDA_CONSTANT, _CUDA_DEVICE, _CUDA_SHARED = 412, 413, 416
_BUILT_IN = {"threadIdx": "S.tid", "blockIdx": "S.bid", "blockDim": "S.bdim", "gridDim": "S.gdim"}


class FunctionLowerer(Host):
    """One attempt at one function."""

    def __init__(
        self, build: Build, lowered: Lowered, facts: Facts, host: bool, suspects: Suspects = NONE
    ) -> None:
        super().__init__(build, lowered, facts, host, suspects)
        self.frames = [Frame("function")]
        self.constants = set()
        self.closure = None
        self._this: Lvalue | None = None

    # ---- this

    def this_object(self) -> Lvalue:
        inside = self.closure_this()
        if inside is not None:
            return self.deref(inside, inside.type.element)
        return self._this if self._this is not None else Lvalue("none", opaque().type)

    def this_pointer(self) -> Val:
        inside = self.closure_this()
        if inside is not None:
            return inside
        if self._this is None:
            return opaque(pointer_to(opaque().type))
        return self.address(self._this)

    def _has_this(self) -> bool:
        return self._this is not None or self.closure is not None

    # ---- the function

    def function(self) -> None:
        signature = self.lowered.signature
        names = ["S"]
        kinds = list(self.lowered.kinds)
        if signature.method:
            names.append("this_0")
            self._bind_this(kinds.pop(0))
        for param, ctype, kind in zip(signature.params, signature.param_types, kinds, strict=True):
            names.append(self._parameter(param, ctype, kind))
        self.out.lines.insert(0, Line(0, f"def {self.lowered.function.name}({', '.join(names)}):"))
        if signature.constructor:
            self.constructor_prologue(signature)
        body = signature.body
        if body is not None:
            for kid in body.kids if body.kind != TRY else body.kids[:1]:
                self.statement(kid)
        for cleanup in reversed(self.frames[0].cleanups):
            cleanup()
        if len(self.out.lines) == 1:
            self.line("pass")

    def _bind_this(self, kind: str) -> None:
        parent = self.lowered.signature.cursor.semantic_parent
        ctype = self.types.convert(parent.type)
        record = ctype.record
        if record is not None and record.key in self.build.closures:
            self.closure = self.build.closures[record.key]
            if kind != OBJECT:
                self.line("this_0 = object_at(this_0)")
            return
        self._this = reference_parameter("this_0", ctype, kind)

    def _parameter(self, param: Node, ctype: CType, kind: str) -> str:
        name = self.fresh(self.ast.spelling(param) or "unnamed")
        key = self.ast.decl_key(param.cursor)
        if ctype.kind == "ref":
            self.vars[key] = reference_parameter(name, ctype.element, kind)
            return name
        if self.lowered.kernel and ctype.kind == "record":
            self.vars[key] = Lvalue("mem", ctype, name, space=ADDRESS)
            return name
        if ctype.aggregate:
            self.vars[key] = Lvalue("py", ctype, name)
            return name
        if key in self.facts.cells:
            self.line(f"{name} = [{name}]")
            self.vars[key] = Lvalue("py", ctype, f"{name}[0]", name, "0")
            return name
        place = Lvalue("py", ctype, name, decl=key)
        if kind == INTEGER and key not in self.facts.weak:
            place.value_space = ADDRESS
            self.facts.placed.add(key)
        self.vars[key] = place
        self.constants.add(key)
        return name

    # ---- globals

    def global_lvalue(self, node: Node, decl: Node) -> Lvalue:
        ctype = self.types.of(decl)
        name = self.ast.spelling(decl)
        if name in _BUILT_IN:
            return Lvalue("py", ctype, _BUILT_IN[name])
        attributes = {k.kind for k in decl.kids}
        if _CUDA_SHARED in attributes:
            return self._global_shared(decl, ctype)
        if ctype.kind == "ref":
            init = self.ast.initializer(decl)
            return self.lvalue(init) if init is not None else Lvalue("none", ctype.element)
        if ctype.const:
            constant = self._constant_object(node, decl, ctype)
            if constant is not None:
                return constant
        if attributes & {_CUDA_CONSTANT, _CUDA_DEVICE} or (self.build.is_static(decl) and not self.host):
            key = self.build.global_variable(decl, ctype)
            code = f"S.global_addr({key!r})"
            return Lvalue("mem", ctype, code, space=ADDRESS, decayed=ctype.kind == "array")
        return Lvalue("none", ctype)

    def _constant_object(self, node: Node, decl: Node, ctype: CType) -> Lvalue | None:
        if ctype.integral or ctype.kind == "float":
            value = self.ast.evaluate(node)
            if value is None:
                value = self.ast.evaluate(decl)
            if value is None:
                return None
            constant = literal(float(value) if ctype.kind == "float" else int(value), ctype)
            return Lvalue("py", ctype, constant.code, lo=constant.lo, hi=constant.hi, plain=constant.plain)
        if not ctype.aggregate and not ctype.packed:
            return None
        name = self.build.constant(decl, ctype)
        if name is not None:
            return Lvalue("py", ctype, name)
        init = self.ast.initializer(decl)
        if init is None:
            return None
        temp = self.temp()
        self.line(f"{temp} = {self.owned(self.initialise(ctype, init)).code}", node)
        return Lvalue("py", ctype, temp)

    def _global_shared(self, decl: Node, ctype: CType) -> Lvalue:
        with self.out.capture():
            place = self.shared_variable(decl, ctype)
        key = next(reversed(self.shared))
        return Lvalue("mem", ctype, f"S.shared_addr({key!r})", space=ADDRESS, decayed=place.decayed)


def reference_parameter(name: str, ctype: CType, kind: str) -> Lvalue:
    """The object of a reference parameter (or ``this``) that is passed in the given way."""
    if kind == OBJECT:
        return Lvalue("py", ctype, name)
    if kind == CELL:
        return Lvalue("py", ctype, f"{name}[0]", name, "0")
    return Lvalue("mem", ctype, name, space=ADDRESS if kind == INTEGER else "", decayed=ctype.kind == "array")


def lower_function(build: Build, lowered: Lowered, host: bool) -> None:
    """Translate one function; its facts settle in a few attempts.

    How a lambda captures a variable depends on these facts, and callees that take the closure are lowered for it. So a
    function with lambdas is first tried without lowering its callees. For others, the first attempt is the last where
    what it assumes (``forecast``) turns out to be so.
    """
    facts = Facts()
    tree = lowered.signature.tree
    dry = tree is not None and tree.tree.lambdas
    suspected = suspects(build.ast, tree) if tree is not None and not dry and not host else NONE
    for _ in range(_ATTEMPTS):
        facts.begin()
        attempt = FunctionLowerer(build, lowered, facts, host, suspected)
        attempt.dry = dry
        lowered.returned.clear()
        attempt.function()
        suspected = NONE
        certain = attempt.forecast.confirmed()
        if len(certain) != len(attempt.forecast.assumed):
            facts = Facts(certain, facts.asm)
            continue
        if facts.hold():  # a cell that was foreseen is none that was learned of
            if not dry:
                break
            dry = False
        facts.cells.update(-key for key in certain if key < 0)
    lowered.function.lines = attempt.out.lines
    lowered.function.callees = attempt.callees
    lowered.function.blocking = attempt.blocking
    lowered.shared = attempt.shared
    build.notes.extend(attempt.notes)
    spaces = lowered.returned
    lowered.result_space = ADDRESS if spaces and all(s == ADDRESS for s in spaces) else ""
