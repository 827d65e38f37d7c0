"""A stand-in for the machine: one thread group with plain memory, enough to execute generated code in tests."""

from __future__ import annotations

import inspect
from typing import Any

from auditor.frontend import build_program
from auditor.program import Kernel, Program
from auditor.values import OPAQUE, Opaque, Ref, Vec, collapse, lane_values

OUTPUT = 8 << 44  # where the first pointer argument points


class Trap(Exception):  # noqa: N818 - an end, not an error
    """``S.trap`` was called."""


class FakeStrand:
    """Implements ``S``. Memory is a dictionary by address; asm statements are recorded, a few are evaluated."""

    def __init__(self, program: Program, tid: Any = 0) -> None:
        self.program = program
        self.tid = (tid, 0, 0)
        self.bid = (0, 0, 0)
        self.bdim = (128, 1, 1)
        self.gdim = (1, 1, 1)
        self.memory: dict[int, Any] = {}
        self.asm_calls: list[tuple[str, tuple[Any, ...]]] = []
        self.opaque_calls: list[tuple[str, tuple[Any, ...]]] = []
        self.conditions: list[Any] = []
        self.forced: list[bool] = []
        self.shared: dict[str, int] = {}
        self.loops = 0

    def cond(self, v: Any) -> bool:
        self.conditions.append(v)
        if isinstance(v, (Opaque, Vec)):
            return self.forced.pop(0) if self.forced else False
        return bool(v)

    def loop(self, _k: int) -> None:
        self.loops += 1
        if self.loops > 100_000:
            raise RuntimeError("loop budget")

    def load(self, p: Any, kind: str, bits: int, signed: bool) -> Any:
        if isinstance(p, Ref):
            return p.box[p.key]
        if isinstance(p, Vec):
            return collapse(self.load(a, kind, bits, signed) for a in p.v)
        if isinstance(p, Opaque):
            return OPAQUE
        value = self.memory.get(p, 0)
        if not isinstance(value, int):
            return value
        value &= (1 << bits) - 1
        return value - (1 << bits) if signed and value >> (bits - 1) else value

    def store(self, p: Any, kind: str, bits: int, value: Any) -> None:
        if isinstance(p, Ref):
            p.box[p.key] = value
        elif isinstance(p, Vec):
            for lane, address in enumerate(p.v):
                self.memory[address] = lane_values(value)[lane] if not isinstance(value, Opaque) else value
        elif not isinstance(p, Opaque):
            assert value.__class__ is not bool, "memory holds integers"
            self.memory[p] = value

    def padd(self, p: Any, n: Any, size: int) -> Any:
        return Ref(p.box, p.key + n) if isinstance(p, Ref) else p + n * size

    def pdiff(self, p: Any, q: Any, size: int) -> Any:
        return p.key - q.key if isinstance(p, Ref) else (p - q) // size

    def field(self, p: Any, index: int, offset: int) -> Any:
        return Ref(p.box[p.key], index) if isinstance(p, Ref) else p + offset

    def asm(self, n: int, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        block = self.program.asm[n]
        self.asm_calls.append((block.instrs[0].text if block.instrs else "", inputs))
        assert all(i.__class__ is not bool for i in inputs), "operands are integers"
        name = block.instrs[0].opcode if len(block.instrs) == 1 else ""
        if name in ("mov", "cvta"):
            return (inputs[0],) if inputs else (0,)
        if name == "add":
            return (inputs[0] + inputs[1],)
        return (OPAQUE,) * block.n_outputs

    def wait_asm(self, n: int, inputs: tuple[Any, ...]) -> Any:
        yield ("wait", n)
        return self.asm(n, inputs)

    def shared_addr(self, key: str) -> int:
        return self.shared.setdefault(key, (1 << 44) + 0x400 + 0x10000 * len(self.shared))

    def global_addr(self, key: str) -> int:
        return (9 << 44) + 0x10000 * sorted(self.program.global_vars).index(key)

    def opaque_call(self, name: str, args: tuple[Any, ...], kind: str, bits: int) -> Any:
        self.opaque_calls.append((name, args))
        return OPAQUE

    def unanalysed(self, what: str, line: int) -> Any:
        raise AssertionError(f"unanalysed at line {line}: {what}")

    def trap(self) -> None:
        raise Trap

    def run(self, name: str, *args: Any) -> Any:
        """Call a generated function to its end."""
        result = self.program.function(name)(self, *args)
        if inspect.isgenerator(result):
            while True:
                try:
                    next(result)
                except StopIteration as end:
                    return end.value
        return result


class FakeHost(FakeStrand):
    """Records launches and runtime calls."""

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.launches: list[tuple[Any, ...]] = []
        self.api_calls: list[tuple[str, tuple[Any, ...]]] = []

    def argument(self, name: str, kind: str) -> Any:
        return OPAQUE

    def launch(self, entry: str, grid: Any, block: Any, smem: Any, stream: Any, args: Any) -> None:
        self.launches.append((entry, grid, block, smem, args))

    def api(self, name: str, args: tuple[Any, ...]) -> Any:
        self.api_calls.append((name, args))
        return 0


def outputs(strand: FakeStrand, count: int) -> list[Any]:
    """The 64-bit words that a kernel wrote through its first pointer argument."""
    return [strand.memory.get(OUTPUT + 8 * i) for i in range(count)]


def kernel_named(program: Program, name: str) -> Kernel:
    return next(k for k in program.kernels if k.name == name)


def program_of(source: str) -> Program:
    """The program of a source text."""
    return build_program("test.cu", source)


def run_kernel(source: str, *args: Any, tid: Any = 0) -> FakeStrand:
    """Execute the only kernel of a source; fails on anything that was not translated."""
    program = program_of(source)
    assert [n for n in program.notes if n.kind == "unanalysed"] == []
    strand = FakeStrand(program, tid)
    strand.run(program.kernels[0].entry, *args)
    return strand


def outputs_of(source: str, n: int) -> list[int]:
    """What ``k(long *out, int n)`` writes with ``out[++out[0]] = x``."""
    strand = run_kernel(f"#include <cstdint>\n{source}\nint main() {{ k<<<1, 1>>>(nullptr, {n}); }}", OUTPUT, n)
    values = outputs(strand, strand.memory[OUTPUT] + 1)[1:]
    return [v - (1 << 64) if v >> 63 == 1 else v for v in values]
