"""Queries that libclang answers but its Python bindings do not offer, and fast walks.

The bindings are untyped: cursors are ``Any`` everywhere in the frontend.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from functools import cache
from typing import Any

import clang.cindex as _ci

from auditor.source import UNKNOWN, Loc

# libclang would parse in a thread of its own with a small stack, which a deeply nested source overflows: that ends the
# process. Parsed in the calling thread, a source has the deep stack of the audit (engine.with_deep_stack).
os.environ.setdefault("LIBCLANG_NOTHREADS", "1")

cindex: Any = _ci
CursorKind: Any = cindex.CursorKind
Cursor: Any = cindex.Cursor
CXString: Any = cindex._CXString

SKIP, ENTER = 1, 2  # what a visitor answers: leave out the children of this cursor, or visit them too

_UINT_POINTER = ctypes.POINTER(ctypes.c_uint)
_POINTER_POINTER = ctypes.POINTER(ctypes.c_void_p)
_VISITOR: Any = ctypes.CFUNCTYPE(ctypes.c_int, Cursor, Cursor, ctypes.c_void_p)


@cache
def function(name: str, arguments: tuple[Any, ...], result: Any) -> Any:
    """A function of the shared library with its C signature.

    Indexing the library makes a function object of our own: the signatures that the bindings have set stay as they are.
    """
    found = cindex.conf.lib[name]
    found.argtypes = list(arguments)
    found.restype = result
    return found


def text(value: Any) -> str:
    """The text of a CXString."""
    return str(CXString.from_result(value))


def visit(cursor: Any, visitor: Callable[[Any], int]) -> None:
    """Call ``visitor`` for the descendants of a cursor, parents first. About ten times faster than the bindings."""
    unit = cursor._tu

    def step(child: Any, _parent: Any, _data: Any) -> int:
        child._tu = unit  # the bindings keep the unit alive through this
        return visitor(child)

    function("clang_visitChildren", (Cursor, _VISITOR, ctypes.c_void_p), ctypes.c_uint)(cursor, _VISITOR(step), None)


def children(cursor: Any) -> list[Any]:
    """The direct children of a cursor."""
    out: list[Any] = []

    def keep(child: Any) -> int:
        out.append(child)
        return SKIP

    visit(cursor, keep)
    return out


def template_of(function_cursor: Any) -> Any:
    """The function template of which a function is an instantiation."""
    found = function("clang_getSpecializedCursorTemplate", (Cursor,), Cursor)(function_cursor)
    found._tu = function_cursor._tu
    return found


def in_system_header(cursor: Any) -> bool:
    """Whether a cursor stands in a system header; ours are system headers too. True for builtins."""
    place = cursor.location
    return bool(cindex.conf.lib.clang_Location_isInSystemHeader(place)) or place.file is None


def evaluate(cursor: Any) -> int | None:
    """The value of an integer constant expression."""
    void = ctypes.c_void_p
    result = function("clang_Cursor_Evaluate", (Cursor,), void)(cursor)
    if not result:
        return None
    try:
        if function("clang_EvalResult_getKind", (void,), ctypes.c_int)(result) != 1:
            return None
        if function("clang_EvalResult_isUnsignedInt", (void,), ctypes.c_uint)(result):
            return int(function("clang_EvalResult_getAsUnsigned", (void,), ctypes.c_ulonglong)(result))
        return int(function("clang_EvalResult_getAsLongLong", (void,), ctypes.c_longlong)(result))
    finally:
        function("clang_EvalResult_dispose", (void,), None)(result)


def spelling_place(cursor: Any) -> Loc:
    """Where the text of a cursor stands: for code from a macro, the place in the macro's definition."""
    file, line, column = ctypes.c_void_p(), ctypes.c_uint(), ctypes.c_uint()
    get = function(
        "clang_getSpellingLocation",
        (cindex.SourceLocation, _POINTER_POINTER, _UINT_POINTER, _UINT_POINTER, _UINT_POINTER),
        None,
    )
    get(cursor.location, ctypes.byref(file), ctypes.byref(line), ctypes.byref(column), None)
    if not file:
        return UNKNOWN
    name = text(function("clang_getFileName", (ctypes.c_void_p,), CXString)(file))
    return Loc(name, line.value, column.value)


class _RangeList(ctypes.Structure):
    _fields_ = (("count", ctypes.c_uint), ("ranges", ctypes.POINTER(cindex.SourceRange)))


def skipped_ranges(tu: Any) -> list[tuple[str, int, int]]:
    """(file, offset, end offset) of the text that the preprocessor left out of each file."""
    listing = ctypes.POINTER(_RangeList)
    found = function("clang_getAllSkippedRanges", (ctypes.c_void_p,), listing)(tu._as_parameter_)
    if not found:
        return []
    try:
        out = []
        for index in range(found.contents.count):
            item = found.contents.ranges[index]
            if item.start.file is not None:
                out.append((str(item.start.file.name), int(item.start.offset), int(item.end.offset)))
        return out
    finally:
        function("clang_disposeSourceRangeList", (listing,), None)(found)
