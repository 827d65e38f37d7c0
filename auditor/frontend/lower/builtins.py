"""Compiler builtins and the few library functions that have no body to translate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from auditor.frontend.lower.forms import ADDRESS, Lvalue, Val, convert, settled
from auditor.frontend.lower.nodes import Node
from auditor.frontend.lower.types import CType

if TYPE_CHECKING:
    from auditor.frontend.lower.calls import Calls
    from auditor.frontend.lower.signatures import Signature

_TRAPS = {"abort", "__builtin_trap", "__assert_fail", "__assertfail", "exit", "_exit", "terminate", "quick_exit"}
_IGNORED = {"__builtin_unreachable", "__builtin_assume", "__builtin_prefetch"}
_FIRST = {"__builtin_expect", "__builtin_expect_with_probability", "__builtin_assume_aligned", "__builtin_launder"}
# Reinterpretations of a number's bits, with the width. Inlined: epilogues apply them to each element.
_BIT_CASTS = {
    "__float_as_uint": 32,
    "__float_as_int": 32,
    "__uint_as_float": 32,
    "__int_as_float": 32,
    "__double_as_longlong": 64,
    "__longlong_as_double": 64,
}
_UNARY = {
    "__builtin_popcount": "population_count({0})",
    "__builtin_popcountl": "population_count({0})",
    "__builtin_popcountll": "population_count({0})",
    "__builtin_popcountg": "population_count({0})",
    "__builtin_clz": "count_leading_zeros({0}, 32)",
    "__builtin_clzl": "count_leading_zeros({0}, 64)",
    "__builtin_clzll": "count_leading_zeros({0}, 64)",
    "__builtin_ffs": "find_first_set({0} & 0xffffffff)",
    "__builtin_ffsl": "find_first_set({0} & 0xffffffffffffffff)",
    "__builtin_ffsll": "find_first_set({0} & 0xffffffffffffffff)",
    "__builtin_ctz": "(find_first_set({0}) - 1)",
    "__builtin_ctzl": "(find_first_set({0}) - 1)",
    "__builtin_ctzll": "(find_first_set({0}) - 1)",
    "__builtin_bitreverse32": "bit_reverse({0}, 32)",
    "__builtin_bitreverse64": "bit_reverse({0}, 64)",
    "__builtin_abs": "select({0} < 0, -{0}, {0})",
}


def builtin_call(
    lower: Calls, node: Node, signature: Signature, arguments: list[Node], ctype: CType
) -> Val | Lvalue | None:
    """The translation of a call to a function that is known by name, or None."""
    name = signature.name
    if signature.body is not None:
        return _inlined(lower, name, arguments, ctype) if name.startswith("__") else None
    if name in _TRAPS:
        for argument in arguments:
            lower.effect(argument)
        lower.line("S.trap()", node)
        return Val("None", ctype)
    if not name.startswith("__builtin_"):
        return None
    if name in _IGNORED:
        return Val("None", ctype)
    if name in _FIRST and arguments:
        return convert(lower.rvalue(arguments[0]), ctype)
    if name == "__builtin_addressof" and arguments:
        return lower.address(lower.lvalue(arguments[0])).retyped(ctype)
    pattern = _UNARY.get(name)
    if pattern is not None and arguments:
        value = lower.simple(settled(lower.rvalue(arguments[0])))
        return Val(pattern.format(value.code), ctype)
    return None


def _inlined(lower: Calls, name: str, arguments: list[Node], ctype: CType) -> Val | None:
    """CUDA functions that are called so often that their one operation replaces the call."""
    if name in _BIT_CASTS and len(arguments) == 1:
        value = settled(lower.rvalue(arguments[0]))
        code = f"bit_cast({value.code}, {_BIT_CASTS[name]}, {ctype.kind == 'float'})"
        return Val(f"i{ctype.bits}({code})" if ctype.integral and ctype.signed else code, ctype)
    if name == "__cvta_generic_to_shared" and len(arguments) == 1:
        with lower.out.capture() as lines:
            pointer = lower.rvalue(arguments[0])
        if pointer.space == ADDRESS:
            lower.out.splice(lines)
            return Val(f"({pointer.code} & 0xffffffff)", ctype, lo=0, hi=0xFFFF_FFFF)
    return None
