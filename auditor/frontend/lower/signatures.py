"""Functions as their callers see them."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from auditor.frontend.lower.nodes import COMPOUND, CONSTRUCTOR, CXX_METHOD, DESTRUCTOR, PARM_DECL, TRY, Ast, Node
from auditor.frontend.lower.types import VOID, CType, TypeTable
from auditor.quick_dataclass import dataclass

_FORWARDERS = {"move", "forward", "as_const", "forward_like"}
_FORWARDER_SCOPES = {"std", "__1", "cute", "cuda"}


@dataclass(slots=True)
class Signature:
    """A declared function. ``body`` is None when the unit has no definition of it."""

    key: int
    name: str
    cursor: Any  # the definition when there is one
    params: list[Node] = field(default_factory=list)
    param_types: list[CType] = field(default_factory=list)
    result: CType = field(default_factory=lambda: VOID)
    method: bool = False  # has ``this``
    body: Node | None = None
    tree: Node | None = None
    defaulted: bool = False
    virtual: bool = False
    variadic: bool = False
    forwards: bool = False  # std::move and its kin: gives back its argument
    inherited: tuple[str, ...] | None = None  # a base's constructor that a class took over: its parameter types

    @property
    def constructor(self) -> bool:
        return bool(self.cursor._kind_id == CONSTRUCTOR)


def parameter_types(cursor: Any) -> tuple[str, ...]:
    """The canonical types of a function's parameters."""
    return tuple(str(a.type.get_canonical().spelling) for a in cursor.get_arguments())


class Signatures:
    """Memo of ``Signature`` by declaration."""

    def __init__(self, ast: Ast, types: TypeTable) -> None:
        self.ast = ast
        self.types = types
        self._known: dict[int, Signature] = {}

    def of(self, cursor: Any) -> Signature:
        key = self.ast.decl_key(cursor)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._make(key, cursor)
        return known

    def _make(self, key: int, cursor: Any) -> Signature:
        definition = self.ast.definition(cursor)
        chosen = definition if definition is not None else cursor
        tree = self.ast.tree(chosen)
        out = Signature(key, chosen.spelling, chosen, tree=tree)
        out.params = [k for k in tree.kids if k.kind == PARM_DECL]
        out.param_types = [self.types.of(p) for p in out.params]
        clang = chosen.type
        out.result = self.types.convert(clang.get_result())
        kind = chosen._kind_id
        out.method = kind in (CONSTRUCTOR, DESTRUCTOR) or (
            kind not in (8, 30) and not chosen.is_static_method()
        )
        if kind in (CONSTRUCTOR, CXX_METHOD):
            out.defaulted = bool(chosen.is_default_method()) or (definition is None and kind == CONSTRUCTOR)
            out.virtual = kind == CXX_METHOD and bool(chosen.is_virtual_method())
        if kind == CONSTRUCTOR and not out.params:
            # "using Base::Base" makes a constructor whose parameters are in its type, and nowhere in the tree.
            out.inherited = parameter_types(chosen) or None
        out.body = next((k for k in tree.kids if k.kind in (COMPOUND, TRY)), None)
        out.variadic = bool(clang.is_function_variadic()) if clang._kind_id == 111 else False
        parent = chosen.semantic_parent
        if out.name in _FORWARDERS and parent is not None and parent.spelling in _FORWARDER_SCOPES:
            out.forwards = len(out.params) == 1
        return out
