"""What an inline asm statement says: template, constraints and operand expressions."""

from __future__ import annotations

import ctypes
from typing import Any

from auditor.frontend.clang_api import Cursor, CXString, function, text
from auditor.quick_dataclass import dataclass

_STRING_POINTER = ctypes.POINTER(CXString)
_CURSOR_POINTER = ctypes.POINTER(Cursor)


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


def asm_parts(cursor: Any) -> AsmParts:
    """The parts of an ``ASM_STMT`` cursor."""
    template = text(function("clang_Cursor_getGCCAssemblyTemplate", (Cursor,), CXString)(cursor))
    out_constraints, outputs = _operands("Output", cursor)
    in_constraints, inputs = _operands("Input", cursor)
    clobber = function("clang_Cursor_getGCCAssemblyClobber", (Cursor, ctypes.c_uint), CXString)
    clobbers = tuple(text(clobber(cursor, index)) for index in range(_number("getGCCAssemblyNumClobbers", cursor)))
    volatile = bool(_number("isGCCAssemblyVolatile", cursor))
    return AsmParts(template, (*out_constraints, *in_constraints), tuple(outputs), tuple(inputs), clobbers, volatile)


def _number(name: str, cursor: Any) -> int:
    return int(function("clang_Cursor_" + name, (Cursor,), ctypes.c_uint)(cursor))


def _operands(kind: str, cursor: Any) -> tuple[list[str], list[Any]]:
    get = function(
        f"clang_Cursor_getGCCAssembly{kind}",
        (Cursor, ctypes.c_uint, _STRING_POINTER, _CURSOR_POINTER),
        ctypes.c_uint,
    )
    constraints: list[str] = []
    expressions: list[Any] = []
    for index in range(_number(f"getGCCAssemblyNum{kind}s", cursor)):
        constraint, expression = CXString(), Cursor()
        get(cursor, index, ctypes.byref(constraint), ctypes.byref(expression))
        expression._tu = cursor._tu
        constraints.append(text(constraint))
        expressions.append(expression)
    return constraints, expressions
