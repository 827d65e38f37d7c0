"""What an inline asm statement says: template, constraints and operand expressions.

libclang exports these queries (since version 21) but its Python bindings do not wrap them.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from functools import cache
from typing import Any

import clang.cindex as _ci

_cindex: Any = _ci
_CXString: Any = _cindex._CXString
_CursorType: Any = _cindex.Cursor


@dataclass(frozen=True)
class AsmParts:
    """An asm statement.

    ``template`` is in LLVM's notation: ``$0`` for operand 0, ``$$`` for a dollar sign, a plain ``%``; named operands
    are numbered. ``constraints`` covers the outputs, then the inputs.
    """

    template: str
    constraints: tuple[str, ...]
    outputs: tuple[Any, ...]
    inputs: tuple[Any, ...]
    clobbers: tuple[str, ...]
    volatile: bool


@cache
def _function(name: str, arguments: tuple[Any, ...], result: Any) -> Any:
    function = getattr(_cindex.conf.lib, "clang_Cursor_" + name)
    function.argtypes = list(arguments)
    function.restype = result
    return function


def _text(value: Any) -> str:
    return str(_CXString.from_result(value))


def _count(name: str, cursor: Any) -> int:
    return int(_function(name, (_CursorType,), ctypes.c_uint)(cursor))


def _operands(kind: str, cursor: Any) -> tuple[list[str], list[Any]]:
    get = _function(
        f"getGCCAssembly{kind}",
        (_CursorType, ctypes.c_uint, ctypes.POINTER(_CXString), ctypes.POINTER(_CursorType)),
        ctypes.c_uint,
    )
    constraints: list[str] = []
    expressions: list[Any] = []
    for index in range(_count(f"getGCCAssemblyNum{kind}s", cursor)):
        constraint, expression = _CXString(), _CursorType()
        get(cursor, index, ctypes.byref(constraint), ctypes.byref(expression))
        expression._tu = cursor._tu  # the bindings keep the unit alive through this
        constraints.append(_text(constraint))
        expressions.append(expression)
    return constraints, expressions


def asm_parts(cursor: Any) -> AsmParts:
    """The parts of an ``ASM_STMT`` cursor."""
    template = _text(_function("getGCCAssemblyTemplate", (_CursorType,), _CXString)(cursor))
    out_constraints, outputs = _operands("Output", cursor)
    in_constraints, inputs = _operands("Input", cursor)
    clobber = _function("getGCCAssemblyClobber", (_CursorType, ctypes.c_uint), _CXString)
    clobbers = tuple(_text(clobber(cursor, index)) for index in range(_count("getGCCAssemblyNumClobbers", cursor)))
    volatile = bool(_count("isGCCAssemblyVolatile", cursor))
    return AsmParts(template, (*out_constraints, *in_constraints), tuple(outputs), tuple(inputs), clobbers, volatile)
