"""Names of barriers and buffers as the source has them, found by following an operand out to the kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from auditor.reports import expressions as ex
from auditor.source import Loc, Stack

if TYPE_CHECKING:
    from auditor.audit import Audit


class Names:
    """Expressions of one kernel's operands."""

    def __init__(self, audit: Audit) -> None:
        self._sources = audit.program.sources
        self._source = "\n".join(self._sources.values())
        self._kernel = audit.kernel
        self._found: dict[tuple[Stack, str, int, int], str] = {}

    def expression(self, where: Stack, instruction: str, position: int = 0, nth: int = 0) -> str:
        """What the kernel passes as address operand ``position`` of an instruction; empty when it cannot be told.

        ``nth``: the execution that is meant, where one asm statement has several such instructions.
        """
        nth %= self._times(where, instruction)
        key = (where, instruction, position, nth)
        if key not in self._found:
            self._found[key] = self._follow(where, instruction, position, nth)
        return self._found[key]

    def _times(self, where: Stack, instruction: str) -> int:
        """How many such instructions the asm statement of a place has; at least 1."""
        text = ex.text_at(self._sources, where[0]) if where else ""
        return max(ex.asm_count(text, instruction), 1) if ex.is_asm(text) else 1

    def base(self, where: Stack, instruction: str, position: int = 0) -> str:
        """The name in that expression."""
        return ex.base_name(self.expression(where, instruction, position))

    def _follow(self, where: Stack, instruction: str, position: int, nth: int) -> str:
        expression, inside = "", False
        for loc in where:
            if inside:
                break  # the names are the kernel's own; what follows are callers of its lambdas
            inside = self._in_kernel(loc)
            text = ex.text_at(self._sources, loc)
            if ex.is_asm(text):
                expression = ex.unwrapped(self._source, ex.asm_operand(text, instruction, position, nth))
                continue
            call = ex.call_parts(text) if text else None
            if call is None:
                continue
            names = ex.parameters(self._source, call.callee)
            if not expression:
                expression = self._in_macro(call.callee, instruction, position) or ex.argument(call)
                if ex.root(expression) not in names:
                    continue
            if ex.root(expression) in names:
                index = names.index(ex.root(expression))
                if index < len(call.arguments):
                    expression = self._put(ex.unwrapped(self._source, call.arguments[index]), expression)
            elif call.receiver:
                expression = _member(call.receiver, expression)
        return ex.plain(expression)

    def _in_macro(self, name: str, instruction: str, position: int) -> str:
        """The operand in the body of a macro that holds the asm statement."""
        body = ex.macro_body(self._source, name)
        start = body.find("asm")
        return ex.asm_operand(body[start:], instruction, position) if start >= 0 else ""

    def _in_kernel(self, loc: Loc) -> bool:
        first, last = self._kernel.loc, self._kernel.body_end
        return loc.file == first.file and first.line <= loc.line <= last.line

    @staticmethod
    def _put(argument: str, expression: str) -> str:
        """``expression`` with its root, a parameter, replaced by the argument."""
        tail = ex.rest(expression)
        return ex.plain(argument) + tail if tail.startswith((".", "->", "[")) or not tail else ex.plain(argument)


def _member(receiver: str, expression: str) -> str:
    """An expression inside a method, seen from outside: ``loads.full[i]`` of ``storage_.full[i]``, called on loads."""
    tail = ex.rest(expression)
    return receiver + (tail.replace("->", ".", 1) if tail.startswith((".", "->")) else "")
