"""A light copy of the clang AST, read in one pass a function.

Cursor properties are slow through ctypes, so a function's cursors are collected by one recursive visit and everything
else is asked at most once a node. Only this module and ``types`` touch clang.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import clang.cindex as _cindex

from auditor.source import UNKNOWN, Loc

_ci: Any = _cindex

# Cursor kinds (CXCursorKind).
STRUCT_DECL, UNION_DECL, CLASS_DECL, ENUM_DECL, FIELD_DECL, ENUM_CONSTANT = 2, 3, 4, 5, 6, 7
FUNCTION_DECL, VAR_DECL, PARM_DECL, CXX_METHOD, CONSTRUCTOR, DESTRUCTOR, CONVERSION = 8, 9, 10, 21, 24, 25, 26
UNEXPOSED_DECL, TEMPLATE_PARAM, FUNCTION_TEMPLATE, BASE_SPECIFIER = 1, 28, 30, 44
TYPE_REF, TEMPLATE_REF, NAMESPACE_REF, MEMBER_REF, OVERLOADED_REF, VARIABLE_REF = 43, 45, 46, 47, 49, 50
UNEXPOSED_EXPR, DECL_REF, MEMBER_EXPR, CALL = 100, 101, 102, 103
INTEGER, FLOATING, STRING, CHARACTER, PAREN, UNARY, SUBSCRIPT, BINARY = 106, 107, 109, 110, 111, 112, 113, 114
COMPOUND_ASSIGN, CONDITIONAL, CSTYLE_CAST, COMPOUND_LITERAL, INIT_LIST, STMT_EXPR = 115, 116, 117, 118, 119, 121
GNU_NULL, STATIC_CAST, DYNAMIC_CAST, REINTERPRET_CAST, CONST_CAST, FUNCTIONAL_CAST = 123, 124, 125, 126, 127, 128
BOOL_LITERAL, NULLPTR, THIS, THROW, NEW, DELETE, SIZEOF = 130, 131, 132, 133, 134, 135, 136
SIZEOF_PACK, LAMBDA, ADDRSPACE_CAST, PAREN_LIST_INIT, BIT_CAST = 143, 144, 152, 155, 280
CONCEPT_EXPR, REQUIRES_EXPR = 153, 154
UNEXPOSED_STMT, LABEL, COMPOUND, CASE, DEFAULT, IF, SWITCH, WHILE, DO, FOR = range(200, 210)
GOTO, CONTINUE, BREAK, RETURN, ASM, TRY, RANGE_FOR, NULL, DECL = 210, 212, 213, 214, 215, 224, 225, 230, 231
CATCH = 223

CASTS = frozenset(
    (CSTYLE_CAST, STATIC_CAST, REINTERPRET_CAST, CONST_CAST, FUNCTIONAL_CAST, ADDRSPACE_CAST, DYNAMIC_CAST)
)
VOID_STATEMENTS = frozenset((NULL, ASM, COMPOUND))
FUNCTION_KINDS = frozenset((FUNCTION_DECL, CXX_METHOD, CONSTRUCTOR, DESTRUCTOR, CONVERSION))
VARIABLE_KINDS = frozenset((VAR_DECL, PARM_DECL))

# Unary operators (CXUnaryOperatorKind).
POST_INC, POST_DEC, PRE_INC, PRE_DEC, ADDRESS, DEREF, PLUS, MINUS, NOT, LNOT = range(1, 11)
# Binary operators (CXBinaryOperatorKind) by spelling.
BINARY_NAMES = (
    "", ".*", "->*", "*", "/", "%", "+", "-", "<<", ">>", "<=>", "<", ">", "<=", ">=", "==", "!=", "&", "^", "|",
    "&&", "||", "=", "*=", "/=", "%=", "+=", "-=", "<<=", ">>=", "&=", "^=", "|=", ",",
)  # fmt: skip


def is_expression(kind: int) -> bool:
    return 100 <= kind < 200 or kind == BIT_CAST


def _pointer(cursor: Any) -> int:
    """The address of the clang object behind a cursor, which identifies it among its siblings."""
    kind = cursor._kind_id
    pointer = cursor.data[1] if 100 <= kind < 350 else cursor.data[0]
    return pointer or 0


class Node:
    """One cursor with its children. ``ast`` fills the cached properties on demand."""

    __slots__ = ("_expressions", "cursor", "key", "kids", "kind", "memo")

    def __init__(self, cursor: Any) -> None:
        self.cursor = cursor
        self.kind: int = cursor._kind_id
        self.key: int = _pointer(cursor)
        self.kids: list[Node] = []
        self.memo: dict[str, Any] = {}
        self._expressions: list[Node] | None = None

    def walk(self) -> Iterator[Node]:
        """This node and everything below it, parents first."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.kids))

    @property
    def expressions(self) -> list[Node]:
        """The children that are expressions."""
        found = self._expressions
        if found is None:
            found = self._expressions = [k for k in self.kids if 100 <= k.kind < 200 or k.kind == BIT_CAST]
        return found


_Visitor = ctypes.CFUNCTYPE(ctypes.c_int, _ci.Cursor, _ci.Cursor, ctypes.c_void_p)


def _function(name: str, arguments: list[Any], result: Any) -> Any:
    # Indexing makes a private function object, so the prototypes that the bindings set are not disturbed.
    function = _ci.conf.lib[name]
    function.argtypes = arguments
    function.restype = result
    return function


class Ast:
    """Queries on one translation unit."""

    def __init__(self, unit: Any) -> None:
        self.unit = unit
        self._constant_functions: dict[tuple[str, int, int], bool] = {}  # by the place of the name
        cursor, void, uint = _ci.Cursor, ctypes.c_void_p, ctypes.c_uint
        self._visit = _function("clang_visitChildren", [cursor, _Visitor, void], uint)
        self._unary = _function("clang_getCursorUnaryOperatorKind", [cursor], ctypes.c_int)
        self._binary = _function("clang_getCursorBinaryOperatorKind", [cursor], ctypes.c_int)
        self._type = _function("clang_getCursorType", [cursor], _ci.Type)
        self._initializer = _function("clang_Cursor_getVarDeclInitializer", [cursor], cursor)
        self._reference = _function("clang_getCursorReferenced", [cursor], cursor)
        self._definition = _function("clang_getCursorDefinition", [cursor], cursor)
        self._canonical = _function("clang_getCanonicalCursor", [cursor], cursor)
        self._argument_count = _function("clang_Cursor_getNumArguments", [cursor], ctypes.c_int)
        self._argument = _function("clang_Cursor_getArgument", [cursor, uint], cursor)
        self._extent = _function("clang_getCursorExtent", [cursor], _ci.SourceRange)
        self._place = _function("clang_getCursorLocation", [cursor], _ci.SourceLocation)
        range_end = [_ci.SourceRange]
        self._start = _function("clang_getRangeStart", range_end, _ci.SourceLocation)
        self._end = _function("clang_getRangeEnd", range_end, _ci.SourceLocation)
        pointer = ctypes.POINTER
        self._expansion = _function(
            "clang_getExpansionLocation",
            [_ci.SourceLocation, pointer(void), pointer(uint), pointer(uint), pointer(uint)],
            None,
        )
        self._file_name = _function("clang_getFileName", [void], _ci._CXString)
        self._evaluate = _function("clang_Cursor_Evaluate", [cursor], void)
        self._result_kind = _function("clang_EvalResult_getKind", [void], ctypes.c_int)
        self._result_unsigned = _function("clang_EvalResult_isUnsignedInt", [void], uint)
        self._result_long = _function("clang_EvalResult_getAsLongLong", [void], ctypes.c_longlong)
        self._result_ulong = _function("clang_EvalResult_getAsUnsigned", [void], ctypes.c_ulonglong)
        self._result_double = _function("clang_EvalResult_getAsDouble", [void], ctypes.c_double)
        self._result_free = _function("clang_EvalResult_dispose", [void], None)
        self._files: dict[int | None, str] = {}
        self._trees: dict[int, Node] = {}

    # ---- trees

    def tree(self, cursor: Any) -> Node:
        """The node of a cursor with its whole subtree; memoised for declarations."""
        key = _pointer(cursor)
        known = self._trees.get(key)
        if known is not None and known.kind == cursor._kind_id:
            return known
        root = Node(cursor)
        stack = [root]
        unit = self.unit

        def visit(child: Any, parent: Any, _data: Any) -> int:
            child._tu = unit
            node = Node(child)
            pointer, kind = _pointer(parent), parent._kind_id
            depth = len(stack) - 1
            while depth and (stack[depth].key != pointer or stack[depth].kind != kind):
                depth -= 1
            if not depth and root.key != pointer:
                # clang does not visit the wrapper of a lambda's init-capture
                depth = max((i for i, n in enumerate(stack) if n.kind == LAMBDA), default=len(stack) - 1)
            del stack[depth + 1 :]
            stack[-1].kids.append(node)
            stack.append(node)
            return 2  # recurse

        self._visit(cursor, _Visitor(visit), None)
        self._trees[key] = root
        return root

    def children(self, cursor: Any) -> list[Any]:
        """The direct children of a cursor."""
        found: list[Any] = []
        unit = self.unit

        def visit(child: Any, _parent: Any, _data: Any) -> int:
            child._tu = unit
            found.append(child)
            return 1

        self._visit(cursor, _Visitor(visit), None)
        return found

    # ---- relations

    def _adopt(self, cursor: Any) -> Any:
        """``cursor`` tied to the unit, or None for the null cursor."""
        kind = cursor._kind_id
        if 70 <= kind <= 73:
            return None
        cursor._tu = self.unit
        return cursor

    def reference(self, node: Node) -> Any:
        """The declaration that an expression refers to, or None."""
        memo = node.memo
        if "ref" not in memo:
            memo["ref"] = self._adopt(self._reference(node.cursor))
        return memo["ref"]

    def definition(self, cursor: Any) -> Any:
        """The definition of a declaration, or None when the unit has none."""
        return self._adopt(self._definition(cursor))

    def decl_key(self, cursor: Any) -> int:
        """Identity of a declared entity, the same for all its redeclarations."""
        canonical = self._canonical(cursor)
        return int(canonical.data[0] or cursor.data[0])

    def arguments(self, node: Node) -> list[Node]:
        """The argument nodes of a call, which are among its children (defaulted ones included)."""
        memo = node.memo
        if "args" not in memo:
            by_key = {kid.key: kid for kid in node.kids}
            out: list[Node] = []
            for index in range(max(self._argument_count(node.cursor), 0)):
                cursor = self._adopt(self._argument(node.cursor, index))
                if cursor is None:
                    continue
                kid = by_key.get(_pointer(cursor))
                out.append(kid if kid is not None else self.tree(cursor))
            memo["args"] = out
        return memo["args"]  # type: ignore[no-any-return]

    def initializer(self, node: Node) -> Node | None:
        """The initialiser expression of a variable."""
        memo = node.memo
        if "init" not in memo:
            cursor = self._adopt(self._initializer(node.cursor))
            found: Node | None = None
            if cursor is not None:
                pointer = _pointer(cursor)
                found = next((k for k in node.kids if k.key == pointer and is_expression(k.kind)), None)
                if found is None:
                    found = next((k for k in reversed(node.kids) if is_expression(k.kind)), None)
            memo["init"] = found
        return memo["init"]  # type: ignore[no-any-return]

    # ---- facts

    def spelling(self, node: Node) -> str:
        memo = node.memo
        if "spelling" not in memo:
            memo["spelling"] = node.cursor.spelling
        return memo["spelling"]  # type: ignore[no-any-return]

    def type(self, node: Node) -> Any:
        """Clang's type of a node, without the checks that the bindings make."""
        found = self._type(node.cursor)
        found._tu = self.unit
        return found

    def unary(self, node: Node) -> int:
        memo = node.memo
        if "op" not in memo:
            memo["op"] = int(self._unary(node.cursor))
        return memo["op"]  # type: ignore[no-any-return]

    def binary(self, node: Node) -> str:
        memo = node.memo
        if "op" not in memo:
            index = int(self._binary(node.cursor))
            memo["op"] = BINARY_NAMES[index] if 0 <= index < len(BINARY_NAMES) else ""
        return memo["op"]  # type: ignore[no-any-return]

    def evaluate(self, node: Node) -> int | float | None:
        """The value of a constant expression. Never ask for a mutable variable's declaration."""
        memo = node.memo
        if "value" not in memo:
            memo["value"] = self.evaluate_cursor(node.cursor)
        return memo["value"]  # type: ignore[no-any-return]

    def evaluate_cursor(self, cursor: Any) -> int | float | None:
        result = self._evaluate(cursor)
        if not result:
            return None
        try:
            kind = self._result_kind(result)
            if kind == 1:
                if self._result_unsigned(result):
                    return int(self._result_ulong(result))
                return int(self._result_long(result))
            if kind == 2:
                return float(self._result_double(result))
            return None
        finally:
            self._result_free(result)

    # ---- places

    def _expand(self, location: Any) -> tuple[str, int, int]:
        file, line, column = ctypes.c_void_p(), ctypes.c_uint(), ctypes.c_uint()
        offset = ctypes.c_uint()
        self._expansion(
            location, ctypes.byref(file), ctypes.byref(line), ctypes.byref(column), ctypes.byref(offset)
        )
        name = self._files.get(file.value)
        if name is None:
            name = ""
            if file.value:
                name = str(_ci._CXString.from_result(self._file_name(file)) or "")
            self._files[file.value] = name
        return name, line.value, column.value

    def loc(self, node: Node) -> Loc:
        """The place of a node; of a macro use, the place where the user wrote it."""
        memo = node.memo
        if "loc" not in memo:
            memo["loc"] = self.loc_of(node.cursor)
        return memo["loc"]  # type: ignore[no-any-return]

    def loc_of(self, cursor: Any) -> Loc:
        extent = self._extent(cursor)
        file, line, column = self._expand(self._start(extent))
        if not line:
            return UNKNOWN
        _, end_line, end_column = self._expand(self._end(extent))
        return Loc(file, line, column, end_line, end_column)

    def declared_constexpr(self, function: Any) -> bool:
        """Whether ``constexpr`` or ``consteval`` stands before the name of a function where it is written."""
        at = self._expand(self._place(function))
        known = self._constant_functions.get(at)
        if known is None:
            # Where macros such as __host__ were written: the range between locations inside of them would be empty.
            places = [self._expand(self._start(self._extent(function))), at]
            ends = [_ci.SourceLocation.from_position(self.unit, self.unit.get_file(f), n, c) for f, n, c in places]
            tokens = self.unit.get_tokens(extent=_ci.SourceRange.from_locations(*ends))
            known = self._constant_functions[at] = any(t.spelling in ("constexpr", "consteval") for t in tokens)
        return known

    def name_loc(self, cursor: Any) -> Loc:
        """The place of a declaration's name."""
        file, line, column = self._expand(self._place(cursor))
        return Loc(file, line, column) if line else UNKNOWN
