"""Compiler builtins and the few library functions that have no body to translate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from auditor.frontend.lower.forms import Lvalue, Val, convert, settled
from auditor.frontend.lower.nodes import Node
from auditor.frontend.lower.types import CType

if TYPE_CHECKING:
    from auditor.frontend.lower.calls import Calls
    from auditor.frontend.lower.signatures import Signature

_TRAPS = {"abort", "__builtin_trap", "__assert_fail", "__assertfail", "exit", "_exit", "terminate", "quick_exit"}
_IGNORED = {"__builtin_unreachable", "__builtin_assume", "__builtin_prefetch"}
_FIRST = {"__builtin_expect", "__builtin_expect_with_probability", "__builtin_assume_aligned", "__builtin_launder"}
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
        return None
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
