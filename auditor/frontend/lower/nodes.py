"""A light copy of the clang AST, read in one pass a function.

Cursor properties are slow through ctypes, so a function's cursors are collected by one recursive visit and everything
else is asked at most once a node. Only this module and ``types`` touch clang.
"""

from __future__ import annotations

import ctypes
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import clang.cindex as _cindex

from auditor.source import UNKNOWN, Loc

if TYPE_CHECKING:
    from auditor.frontend.lower.types import CType

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

_OPERATIONS = frozenset((UNARY, BINARY, COMPOUND_ASSIGN, ASM))

# Unary operators (CXUnaryOperatorKind).
POST_INC, POST_DEC, PRE_INC, PRE_DEC, ADDRESS, DEREF, PLUS, MINUS, NOT, LNOT = range(1, 11)
# Binary operators (CXBinaryOperatorKind) by spelling.
BINARY_NAMES = (
    "", ".*", "->*", "*", "/", "%", "+", "-", "<<", ">>", "<=>", "<", ">", "<=", ">=", "==", "!=", "&", "^", "|",
    "&&", "||", "=", "*=", "/=", "%=", "+=", "-=", "<<=", ">>=", "&=", "^=", "|=", ",",
)  # fmt: skip


def is_expression(kind: int) -> bool:
    return 100 <= kind < 200 or kind == BIT_CAST


class _Entry(ctypes.Structure):
    """CXCursor with a name for each field. The bindings' ``Cursor`` holds an array, and makes an object of it at each
    access: too slow for what is done with every node of a tree."""

    _fields_ = (
        ("kind", ctypes.c_int),
        ("xdata", ctypes.c_int),
        ("declaration", ctypes.c_void_p),
        ("statement", ctypes.c_void_p),
        ("unit", ctypes.c_void_p),
    )


class _TypeEntry(ctypes.Structure):
    """CXType. ``identity`` is the same for the same type."""

    _fields_ = (("kind", ctypes.c_int), ("identity", ctypes.c_void_p), ("unit", ctypes.c_void_p))


def _pointer(entry: Any) -> int:
    """The address of the clang object behind a cursor, which identifies it among its siblings."""
    return (entry.statement if 100 <= entry.kind < 350 else entry.declaration) or 0


class Tree:
    """What is known of all nodes below one cursor, numbered in the order in which they stand."""

    def __init__(self, unit: Any) -> None:
        self.unit = unit
        self.lambdas = False
        self.uses: list[Node] = []  # names that stand for more than a value, as the targets of assignments do
        self.places: list[int] = []  # their numbers
        self.operands: list[tuple[Node, Node]] = []  # those of them that an operator or asm statement has, with it

    def uses_below(self, node: Node) -> list[Node]:
        last = node
        while last.kids:
            last = last.kids[-1]
        return self.uses[bisect_right(self.places, node.number) : bisect_right(self.places, last.number)]


class Node:
    """One cursor with its children. ``Ast`` and ``TypeTable`` fill in the other attributes on demand."""

    kids: Sequence[Node] = ()
    ctype: CType | None = None
    spelling: str | None = None
    loc: Loc | None = None
    reference: Any = False  # None: asked for, but there is none; so for those that follow
    value: Any = False
    initializer: Any = False
    member_initialiser: Any = False
    operator: Any = None
    arguments: list[Node] | None = None
    asm: Any = None
    _expressions: Sequence[Node] | None = None

    def __init__(self, entry: Any, kind: int, key: int, number: int, tree: Tree) -> None:
        self.entry = entry
        self.kind = kind
        self.key = key
        self.number = number
        self.tree = tree

    @property
    def cursor(self) -> Any:
        """The cursor, as an object of the bindings."""
        made = _ci.Cursor.from_buffer_copy(self.entry)
        made._tu = self.tree.unit
        return made

    def walk(self) -> Iterator[Node]:
        """This node and everything below it, parents first."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.kids))

    @property
    def expressions(self) -> Sequence[Node]:
        """The children that are expressions."""
        found = self._expressions
        if found is None:
            found = self._expressions = [k for k in self.kids if 100 <= k.kind < 200 or k.kind == BIT_CAST]
        return found


_Visitor = ctypes.CFUNCTYPE(ctypes.c_int, _Entry, _Entry, ctypes.c_void_p)
_CursorVisitor = ctypes.CFUNCTYPE(ctypes.c_int, _ci.Cursor, _ci.Cursor, ctypes.c_void_p)


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
        cursor, entry, void, uint = _ci.Cursor, _Entry, ctypes.c_void_p, ctypes.c_uint
        self._visit = _function("clang_visitChildren", [cursor, _Visitor, void], uint)
        self._visit_cursors = _function("clang_visitChildren", [cursor, _CursorVisitor, void], uint)
        self._unary = _function("clang_getCursorUnaryOperatorKind", [entry], ctypes.c_int)
        self._binary = _function("clang_getCursorBinaryOperatorKind", [entry], ctypes.c_int)
        self._type = _function("clang_getCursorType", [entry], _ci.Type)
        self.type_entry = _function("clang_getCursorType", [entry], _TypeEntry)  # of a node's entry
        self._initializer = _function("clang_Cursor_getVarDeclInitializer", [entry], entry)
        self._reference = _function("clang_getCursorReferenced", [entry], entry)
        self._definition = _function("clang_getCursorDefinition", [cursor], cursor)
        self._canonical = _function("clang_getCanonicalCursor", [cursor], cursor)
        self._argument_count = _function("clang_Cursor_getNumArguments", [entry], ctypes.c_int)
        self._argument = _function("clang_Cursor_getArgument", [entry, uint], entry)
        self._extent = _function("clang_getCursorExtent", [cursor], _ci.SourceRange)
        self._entry_extent = _function("clang_getCursorExtent", [entry], _ci.SourceRange)
        self._place = _function("clang_getCursorLocation", [cursor], _ci.SourceLocation)
        range_end = [_ci.SourceRange]
        self._start = _function("clang_getRangeStart", range_end, _ci.SourceLocation)
        self._end = _function("clang_getRangeEnd", range_end, _ci.SourceLocation)
        self._expansion = _function("clang_getExpansionLocation", [_ci.SourceLocation, void, void, void, void], None)
        self._file, self._line, self._column, self._offset = void(), uint(), uint(), uint()  # where it puts its answer
        self._answer = [ctypes.byref(x) for x in (self._file, self._line, self._column, self._offset)]
        self._file_name = _function("clang_getFileName", [void], _ci._CXString)
        self._evaluate = _function("clang_Cursor_Evaluate", [entry], void)
        self._result_kind = _function("clang_EvalResult_getKind", [void], ctypes.c_int)
        self._result_unsigned = _function("clang_EvalResult_isUnsignedInt", [void], uint)
        self._result_long = _function("clang_EvalResult_getAsLongLong", [void], ctypes.c_longlong)
        self._result_ulong = _function("clang_EvalResult_getAsUnsigned", [void], ctypes.c_ulonglong)
        self._result_double = _function("clang_EvalResult_getAsDouble", [void], ctypes.c_double)
        self._result_free = _function("clang_EvalResult_dispose", [void], None)
        self._files: dict[int | None, str] = {}
        self._trees: dict[int, Node] = {}
        self._keys: dict[int, int] = {}
        self._referenced: dict[tuple[int, int, int, int], Any] = {}

    # ---- trees

    def tree(self, cursor: Any) -> Node:
        """The node of a cursor with its whole subtree; memoised for declarations."""
        own = _Entry.from_buffer_copy(cursor)
        key = _pointer(own)
        known = self._trees.get(key)
        if known is not None and known.kind == own.kind:
            return known
        tree = Tree(self.unit)
        root = Node(own, own.kind, key, 0, tree)
        stack = [root]
        number = 0

        def visit(child: Any, parent: Any, _data: Any) -> int:
            nonlocal number
            number += 1
            kind = child.kind
            node = Node(child, kind, (child.statement if 100 <= kind < 350 else child.declaration) or 0, number, tree)
            above = parent.kind
            key = (parent.statement if 100 <= above < 350 else parent.declaration) or 0
            owner = stack[-1]
            if owner.key != key or owner.kind != above:
                owner = _unwind(stack, above, key)
            if owner.kids:
                owner.kids.append(node)  # type: ignore[attr-defined]  # most nodes have none, and no list
            else:
                owner.kids = [node]
            stack.append(node)
            if kind == DECL_REF:
                if owner.kind != UNEXPOSED_EXPR:
                    tree.uses.append(node)
                    tree.places.append(number)
                    if owner.kind in _OPERATIONS:
                        tree.operands.append((owner, node))
            elif kind == LAMBDA:
                tree.lambdas = True
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

        self._visit_cursors(cursor, _CursorVisitor(visit), None)
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
        found = node.reference
        if found is False:
            found = node.reference = self._declaration(self._reference(node.entry))
        return found

    def _declaration(self, entry: Any) -> Any:
        """The cursor of a declaration, one for all that refer to it."""
        kind = entry.kind
        if 70 <= kind <= 73:
            return None
        key = kind, entry.xdata, entry.declaration, entry.statement
        found = self._referenced.get(key)
        if found is None:
            found = self._referenced[key] = _ci.Cursor.from_buffer_copy(entry)
            found._tu = self.unit
        return found

    def definition(self, cursor: Any) -> Any:
        """The definition of a declaration, or None when the unit has none."""
        return self._adopt(self._definition(cursor))

    def decl_key(self, cursor: Any) -> int:
        """Identity of a declared entity, the same for all its redeclarations."""
        own = cursor.data[0]
        known = self._keys.get(own)
        if known is None:
            known = self._keys[own] = int(self._canonical(cursor).data[0] or own)
        return known

    def arguments(self, node: Node) -> list[Node]:
        """The argument nodes of a call, which are among its children (defaulted ones included)."""
        found = node.arguments
        if found is None:
            by_key = {kid.key: kid for kid in node.kids}
            found = node.arguments = []
            for index in range(max(self._argument_count(node.entry), 0)):
                entry = self._argument(node.entry, index)
                if 70 <= entry.kind <= 73:
                    continue
                kid = by_key.get(_pointer(entry))
                found.append(kid if kid is not None else self.tree(self._declaration(entry)))
        return found

    def initializer(self, node: Node) -> Node | None:
        """The initialiser expression of a variable."""
        found = node.initializer
        if found is False:
            entry = self._initializer(node.entry)
            found = None
            if not 70 <= entry.kind <= 73:
                pointer = _pointer(entry)
                found = next((k for k in node.kids if k.key == pointer and is_expression(k.kind)), None)
                if found is None:
                    found = next((k for k in reversed(node.kids) if is_expression(k.kind)), None)
            node.initializer = found
        return found  # type: ignore[no-any-return]

    # ---- facts

    def spelling(self, node: Node) -> str:
        found = node.spelling
        if found is None:
            found = node.spelling = node.cursor.spelling
        return found

    def type(self, node: Node) -> Any:
        """Clang's type of a node, without the checks that the bindings make."""
        found = self._type(node.entry)
        found._tu = self.unit
        return found

    def unary(self, node: Node) -> int:
        found = node.operator
        if found is None:
            found = node.operator = int(self._unary(node.entry))
        return found  # type: ignore[no-any-return]

    def binary(self, node: Node) -> str:
        found = node.operator
        if found is None:
            index = int(self._binary(node.entry))
            found = node.operator = BINARY_NAMES[index] if 0 <= index < len(BINARY_NAMES) else ""
        return found  # type: ignore[no-any-return]

    def evaluate(self, node: Node) -> int | float | None:
        """The value of a constant expression. Never ask for a mutable variable's declaration."""
        found = node.value
        if found is False:
            found = node.value = self._evaluated(node.entry)
        return found  # type: ignore[no-any-return]

    def _evaluated(self, entry: Any) -> int | float | None:
        result = self._evaluate(entry)
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
        self._expansion(location, *self._answer)
        file = self._file.value
        name = self._files.get(file)
        if name is None:
            name = ""
            if file:
                name = str(_ci._CXString.from_result(self._file_name(file)) or "")
            self._files[file] = name
        return name, self._line.value, self._column.value

    def loc(self, node: Node) -> Loc:
        """The place of a node; of a macro use, the place where the user wrote it."""
        found = node.loc
        if found is None:
            found = node.loc = self._range(self._entry_extent(node.entry))
        return found

    def loc_of(self, cursor: Any) -> Loc:
        return self._range(self._extent(cursor))

    def _range(self, extent: Any) -> Loc:
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


def _unwind(stack: list[Node], kind: int, key: int) -> Node:
    """Take from the stack of nodes what is not around the children of a cursor, and give the innermost that is."""
    depth = len(stack) - 1
    while depth and (stack[depth].key != key or stack[depth].kind != kind):
        depth -= 1
    if not depth and stack[0].key != key:
        # clang does not visit the wrapper of a lambda's init-capture
        depth = max((i for i, n in enumerate(stack) if n.kind == LAMBDA), default=len(stack) - 1)
    del stack[depth + 1 :]
    return stack[-1]
