"""Which asm statements compute with data alone, so that their results are known to be opaque without executing them.

Most of the statements that a kernel executes are such: floating-point arithmetic of one instruction or a few, whose
arguments come from memory and whose results go there. What is left of them is that they use their arguments.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from auditor.ptx import alu
from auditor.ptx.grammar import AsmBlock, Imm, Instr, Pair, Param, Reg, Sink, VectorOperand


class DataOnly(NamedTuple):
    """``used``: the values passed to the statement that it uses; ``opaque``: those that have to be opaque for all its
    results to be. Both are positions among the inputs, where "+" operands come last."""

    used: tuple[int, ...]
    opaque: tuple[int, ...]


class _Value(NamedTuple):
    """What is known of a register. ``certain``: it is opaque; ``passed``: the inputs that it may be the very value of,
    which is used when the register is."""

    certain: bool
    passed: frozenset[int] = frozenset()


_NUMBER = _Value(False)
_DATA = _Value(True)


class _Unclear(Exception):  # noqa: N818 - an answer, not a defect
    """The block does something that is not followed here."""


def data_only(block: AsmBlock) -> DataOnly | None:
    """Whether all results of a block without branches and predicates are opaque, whatever lanes execute it.

    Not so for a block of instructions other than ``alu.PURE``, or when it takes more to tell.
    """
    if not block.straight or not block.n_outputs or any(i.opcode not in alu.PURE for i in block.instrs):
        return None
    return _followed(block, inputs_opaque=False) or _followed(block, inputs_opaque=True)


def _followed(block: AsmBlock, inputs_opaque: bool) -> DataOnly | None:
    flow = _Flow(block, inputs_opaque)
    try:
        for i in block.instrs:
            flow.execute(i)
    except _Unclear:
        return None
    if any(out != _DATA for out in flow.outs):
        return None
    return DataOnly(tuple(sorted(flow.used)), tuple(sorted(flow.read)) if inputs_opaque else ())


class _Flow:
    """The registers of a block while its instructions are followed in order, as ``machine.execute`` and ``alu`` treat
    them."""

    def __init__(self, block: AsmBlock, inputs_opaque: bool) -> None:
        count = block.n_inputs + len(block.tied)
        self.n_outputs = block.n_outputs
        self.ins = [_Value(inputs_opaque, frozenset((n,))) for n in range(count)]
        self.outs = [_DATA] * block.n_outputs
        for n, index in enumerate(block.tied):
            self.outs[index] = self.ins[block.n_inputs + n]
        self.regs: dict[str, _Value] = {}
        self.used: set[int] = set()
        self.read: set[int] = set()

    def execute(self, i: Instr) -> None:
        if len(i.operands) < 2:
            raise _Unclear
        target, *sources = i.operands
        if isinstance(target, VectorOperand):  # the parts of a register, which pass nothing on
            part = _Value(self.value(sources[0]).certain)
            for item in target.items:
                self.set(item, part)
        elif i.opcode == "mov" and not isinstance(target, Pair):
            parts = sources[0].items if isinstance(sources[0], VectorOperand) else ()
            self.set(target, self.use(parts) if parts else self.value(sources[0]))
        elif i.opcode in ("mov", "cvta", "isspacep", "selp", "slct"):  # what they do to a value depends on its kind
            raise _Unclear
        else:
            result = self.use(sources)
            if alu.is_data(i):
                result = _DATA
            for item in (target.first, target.second) if isinstance(target, Pair) else (target,):
                self.set(item, result)

    def use(self, operands: Any) -> _Value:
        """The result of an operation that uses these operands."""
        values = [self.value(o) for o in operands]
        for value in values:
            self.used |= value.passed
        return _DATA if any(value.certain for value in values) else _NUMBER

    def value(self, o: Any) -> _Value:
        if isinstance(o, Param):
            found = self.outs[o.index] if o.index < self.n_outputs else self.ins[o.index - self.n_outputs]
            self.read |= found.passed
            return found
        if isinstance(o, Reg):
            return self.regs.get(o.name, _NUMBER)
        if isinstance(o, Imm):
            return _NUMBER
        raise _Unclear

    def set(self, o: Any, value: _Value) -> None:
        if isinstance(o, Param) and o.index < self.n_outputs:
            self.outs[o.index] = value
        elif isinstance(o, Reg):
            self.regs[o.name] = value
        elif not isinstance(o, Sink):
            raise _Unclear
