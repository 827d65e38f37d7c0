"""Functions that have nothing to compute: from objects without data to an object without data.

Template libraries write arithmetic on types as such functions, thousands of them in a kernel of CuTe, and the types
alone say what comes out. A function counts when it is declared constexpr, so that it can neither wait nor touch memory
of the device, and when nothing that it is given can be called to do so.
"""

from __future__ import annotations

from typing import Any

from auditor.frontend.lower.nodes import CONSTRUCTOR, CXX_METHOD, Ast
from auditor.frontend.lower.types import CType, TypeTable


class Empties:
    """Memo of the answers, by declaration."""

    def __init__(self, ast: Ast, types: TypeTable) -> None:
        self.ast = ast
        self.types = types
        self._records: dict[int, bool] = {}
        self._functions: dict[int, bool] = {}

    def computes_nothing(self, function: Any) -> bool:
        """Whether a call of the declared function or constructor may be taken for its result alone."""
        key = self.ast.decl_key(function)
        known = self._functions.get(key)
        if known is None:
            known = self._functions[key] = self._computes_nothing(function)
        return known

    def _computes_nothing(self, function: Any) -> bool:
        clang = function.type
        if clang._kind_id != _PROTOTYPE or clang.is_function_variadic():
            return False
        made = function.semantic_parent.type if function._kind_id == CONSTRUCTOR else clang.get_result()
        if not self._empty(self.types.convert(made)):
            return False
        for given in clang.argument_types():
            ctype = self.types.convert(given)
            if not self._empty(ctype.element if ctype.kind == "ref" else ctype):
                return False
        if function._kind_id == CXX_METHOD and not self._empty(self.types.convert(function.semantic_parent.type)):
            return False
        return self.ast.declared_constexpr(function)

    def _empty(self, ctype: CType) -> bool:
        record = ctype.record
        if ctype.kind != "record" or record is None:
            return False
        known = self._records.get(record.key)
        if known is None:
            known = self._records[record.key] = self._without_data(ctype)
        return known

    def _without_data(self, ctype: CType) -> bool:
        record = ctype.record
        assert record is not None
        if ctype.size != 1 or record.union or record.closure or record.tensor_map or record.destructor is not None:
            return False
        if not all(self._empty(f.type) for f in record.fields):
            return False
        calls = [m for m in ctype.clang.get_methods() if m._kind_id == CXX_METHOD and m.spelling == "operator()"]
        return all(self.ast.declared_constexpr(m) for m in calls)


_PROTOTYPE = 111  # CXType_FunctionProto
