"""What an inline asm statement says: template, constraints and operand expressions."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any, NamedTuple

from auditor.frontend.clang_api import Cursor, CXString, function, text
from auditor.quick_dataclass import dataclass


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
    ask = _queries()
    out_constraints, outputs = _operands(cursor, ask.outputs, ask.output)
    in_constraints, inputs = _operands(cursor, ask.inputs, ask.input)
    return AsmParts(
        template=text(ask.template(cursor)),
        constraints=(*out_constraints, *in_constraints),
        outputs=tuple(outputs),
        inputs=tuple(inputs),
        clobbers=tuple(text(ask.clobber(cursor, index)) for index in range(ask.clobbers(cursor))),
        volatile=bool(ask.volatile(cursor)),
    )


class _Queries(NamedTuple):
    """libclang's functions for asm statements. ``outputs``, ``inputs`` and ``clobbers`` count."""

    template: Any
    outputs: Any
    output: Any
    inputs: Any
    input: Any
    clobbers: Any
    clobber: Any
    volatile: Any


@cache
def _queries() -> _Queries:
    count = (Cursor,), ctypes.c_uint
    operand = (Cursor, ctypes.c_uint, ctypes.POINTER(CXString), ctypes.POINTER(Cursor)), ctypes.c_uint
    return _Queries(
        function("clang_Cursor_getGCCAssemblyTemplate", (Cursor,), CXString),
        function("clang_Cursor_getGCCAssemblyNumOutputs", *count),
        function("clang_Cursor_getGCCAssemblyOutput", *operand),
        function("clang_Cursor_getGCCAssemblyNumInputs", *count),
        function("clang_Cursor_getGCCAssemblyInput", *operand),
        function("clang_Cursor_getGCCAssemblyNumClobbers", *count),
        function("clang_Cursor_getGCCAssemblyClobber", (Cursor, ctypes.c_uint), CXString),
        function("clang_Cursor_isGCCAssemblyVolatile", *count),
    )


def _operands(cursor: Any, count: Any, get: Any) -> tuple[list[str], list[Any]]:
    constraints: list[str] = []
    expressions: list[Any] = []
    for index in range(count(cursor)):
        constraint, expression = CXString(), Cursor()
        get(cursor, index, ctypes.byref(constraint), ctypes.byref(expression))
        expression._tu = cursor._tu
        constraints.append(text(constraint))
        expressions.append(expression)
    return constraints, expressions
