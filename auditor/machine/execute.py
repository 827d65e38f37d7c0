"""Executes the PTX of an asm statement for a strand.

Registers are private to one execution of the block. Predicates and branches may differ between lanes: ``Exec.lanes``
is the active subset, and lanes that branch forwards or leave a loop wait at their target for the others.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

from auditor.ptx import alu
from auditor.ptx.dataflow import data_only
from auditor.ptx.grammar import (
    Addr,
    AsmBlock,
    Imm,
    Instr,
    Not,
    Operand,
    Pair,
    Param,
    Reg,
    Sink,
    Special,
    Symbol,
    VectorOperand,
)
from auditor.values import OPAQUE, Loaded, Opaque, Ref, Vec, collapse, lane_values, lnot

if TYPE_CHECKING:
    from auditor.machine.core import Machine
    from auditor.machine.state import Park
    from auditor.machine.strand import Strand

Handler = Callable[["Exec", Instr], Generator["Park", None, None] | None]
PASSED_ON = (Ref, list, Loaded)  # values that a move hands on as they are
HANDLERS: dict[str, Handler] = {}


def op(*opcodes: str) -> Callable[[Handler], Handler]:
    """Register the handler of instructions. It returns None when they are executed, and when the strand may have to
    wait before they are, a generator that parks it and executes them."""

    def register(f: Handler) -> Handler:
        for name in opcodes:
            HANDLERS[name] = f
        return f

    return register


class Plan:
    """How a block is executed, worked out when that happens first: most blocks are executed thousands of times.

    ``steps``: the instructions with their handlers. ``targets``: of instructions that branch, by their number, the
    number of the instruction that follows; -1 for those that end the block.
    ``data``: the results of a block that computes with data alone, None for others; ``used`` and ``opaque``: see
    ``dataflow.DataOnly``.
    """

    __slots__ = ("data", "opaque", "steps", "targets", "used")

    def __init__(self, block: AsmBlock) -> None:
        self.steps = [(_handler(i), i) for i in block.instrs]
        self.targets: dict[int, int] = {}
        for n, i in enumerate(block.instrs):
            if i.opcode in ("bra", "bra.uni"):
                self.targets[n] = _target(block, i, len(block.instrs))
            elif i.opcode in ("ret", "exit"):
                self.targets[n] = -1
        self.data: tuple[Opaque, ...] | None = None
        self.used: tuple[int, ...] = ()
        self.opaque: tuple[int, ...] = ()
        flow = data_only(block)
        if flow is not None:
            self.data = (OPAQUE,) * block.n_outputs
            self.used, self.opaque = flow


def plan(block: AsmBlock) -> Plan:
    """The plan of a block that is executed for the first time."""
    made = Plan(block)
    object.__setattr__(block, "plan", made)  # blocks do not change: this only remembers
    return made


class Exec:
    """One execution of one asm block: operands, registers and the active lanes."""

    __slots__ = ("block", "ins", "lanes", "m", "outs", "regs", "s", "types")

    def __init__(self, strand: Strand, block: AsmBlock, ins: tuple[Any, ...]) -> None:
        self.s = strand
        self.m: Machine = strand.machine
        self.block = block
        self.ins = ins
        if block.tied and len(block.tied) == block.n_outputs:  # all "+": accumulators can be 128 of them
            self.outs: list[Any] = list(ins[block.n_inputs : block.n_inputs + block.n_outputs])
        else:
            self.outs = [OPAQUE] * block.n_outputs
            for k, index in enumerate(block.tied):
                self.outs[index] = ins[block.n_inputs + k]
        self.regs: dict[str, Any] = {}
        self.lanes = strand.lanes

    def val(self, o: Any) -> Any:
        """The value of an operand."""
        c = o.__class__
        if c is Param:
            n = o.index - self.block.n_outputs
            return self.outs[o.index] if n < 0 else self.ins[n]
        if c is Imm:
            return o.value
        if c is Reg:
            return self.regs.get(o.name, 0)
        if c is Addr:
            base = self.val(o.base) if o.base is not None else 0
            if o.offset.__class__ is int:
                return base + o.offset if o.offset else base
            return base + self.val(o.offset)
        if c is Special:
            return special(self.s, o.name)
        if c is VectorOperand:
            return tuple(self.val(i) for i in o.items)
        if c is Not:
            return lnot(self.val(o.operand))
        if c is Symbol or c is Sink:
            return OPAQUE
        return OPAQUE

    def uniform(self, o: Any) -> Any:
        """The operand's common value over the active lanes, or OPAQUE."""
        return self.s.uniform(self.val(o), self.lanes)

    def set(self, o: Any, value: Any) -> None:
        """Assign a result; inactive lanes keep what they had."""
        c = o.__class__
        if c is Param:
            if o.index < len(self.outs):
                whole = self.lanes == self.s.lanes
                self.outs[o.index] = value if whole else self._blend(self.outs[o.index], value)
        elif c is Reg:
            whole = self.lanes == self.s.lanes
            self.regs[o.name] = value if whole else self._blend(self.regs.get(o.name, 0), value)
        elif c is Pair:
            first, second = value if value.__class__ is tuple else (value, OPAQUE)
            self.set(o.first, first)
            self.set(o.second, second)
        elif c is VectorOperand:
            values = value if value.__class__ is tuple and len(value) >= len(o.items) else (OPAQUE,) * len(o.items)
            for item, part in zip(o.items, values):
                self.set(item, part)

    def use(self, o: Any) -> None:
        """An operation consumes an operand whose value it does not depend on."""
        if o.__class__ is VectorOperand:
            for item in o.items:
                self.use(item)
            return
        value = self.val(o)
        if value.__class__ is Loaded:
            value.record.consumed = True

    def set_all(self, o: Any, value: Opaque) -> None:
        """Give all registers of a vector operand the same opaque data (accumulators can have 128 of them)."""
        for item in o.items:
            if item.__class__ is Param:
                self.outs[item.index] = value
            else:
                self.set(item, value)

    def _blend(self, old: Any, new: Any) -> Any:
        """What a register holds that only some lanes write."""
        if not isinstance(new, (int, float, Vec)):
            return new
        if not isinstance(old, (int, float, Vec)):
            old = 0  # an output that only some lanes write: the others hold garbage
        a, b, mask = lane_values(old), lane_values(new), self.lanes
        return collapse(b[n] if mask >> n & 1 else a[n] for n in range(32))

    def per_lane(self, v: Any) -> list[tuple[int, Any]]:
        """(lane, value) of the active lanes."""
        if v.__class__ is Vec:
            values = v.v
            return [(n, values[n]) for n in self.s.lane_list(self.lanes)]
        return [(n, v) for n in self.s.lane_list(self.lanes)]


def special(s: Strand, name: str) -> Any:
    """The value of a special register (PTX ISA, "Special Registers")."""
    base, _, axis = name.partition(".")
    launch = s.machine.launch
    cx, cy, cz = launch.cluster
    index = {"x": 0, "y": 1, "z": 2}.get(axis, 0)
    rank = s.warp.cta.rank
    cid = (rank % cx, rank // cx % cy, rank // (cx * cy))
    triple = {
        "%tid": s.tid,
        "%ntid": s.bdim,
        "%ctaid": s.bid,
        "%nctaid": s.gdim,
        "%cluster_ctaid": cid,
        "%cluster_nctaid": launch.cluster,
        "%clusterid": tuple(b // c for b, c in zip(s.bid, launch.cluster)),
        "%nclusterid": tuple(-(-g // c) for g, c in zip(s.gdim, launch.cluster)),
    }.get(base)
    if triple is not None:
        return triple[index]
    if name == "%laneid":
        return Vec(tuple(range(32)))
    if name == "%warpid":
        return s.warp.index
    if name == "%nwarpid":
        return s.machine.warps_per_cta
    if name == "%cluster_ctarank":
        return rank
    if name == "%cluster_nctarank":
        return cx * cy * cz
    if name == "%is_explicit_cluster":
        return 1 if cx * cy * cz > 1 else 0
    if name.startswith("%lanemask_"):
        kind = name[10:]
        table = {
            "eq": lambda n: 1 << n,
            "lt": lambda n: (1 << n) - 1,
            "le": lambda n: (2 << n) - 1,
            "gt": lambda n: 0xFFFFFFFF & ~((2 << n) - 1),
            "ge": lambda n: 0xFFFFFFFF & ~((1 << n) - 1),
        }
        f = table.get(kind)
        return Vec(tuple(f(n) for n in range(32))) if f else OPAQUE
    if name in ("%smid", "%nsmid", "%gridid"):
        return 0 if name != "%nsmid" else 148
    if name in ("%dynamic_smem_size",):
        return launch.shared_bytes
    if name in ("%total_smem_size",):
        return s.warp.cta.shared_end
    return OPAQUE  # clocks, timers, performance counters


def run_plain(s: Strand, n: int, ins: tuple[Any, ...]) -> tuple[Any, ...]:
    """Execute a block that never parks."""
    machine = s.machine
    block = machine.program.asm[n]
    way: Plan = block.plan or plan(block)
    machine.charge()
    data = way.data
    if data is not None:
        for k in way.opaque:
            if not isinstance(ins[k], Opaque):
                break
        else:
            for k in way.used:
                value = ins[k]
                if value.__class__ is Loaded:
                    value.record.consumed = True
            return data
    x = Exec(s, block, ins)
    machine.accessing = sys._getframe(2)
    try:
        if block.straight:
            for handler, i in way.steps:
                parks = handler(x, i)
                if parks is not None:
                    _never(parks, i)
        else:
            for _ in _run(x, way):
                raise RuntimeError(f"asm statement {n} parked although it was taken as non-blocking")
    finally:
        machine.accessing = None
    return tuple(x.outs)


def run_blocking(s: Strand, n: int, ins: tuple[Any, ...]) -> Generator[Park, None, tuple[Any, ...]]:
    """Execute a block that may park the strand."""
    machine = s.machine
    block = machine.program.asm[n]
    way: Plan = block.plan or plan(block)
    machine.charge()
    x = Exec(s, block, ins)
    if block.straight:
        caller = sys._getframe(1)
        for handler, i in way.steps:
            machine.accessing = caller
            try:
                parks = handler(x, i)
            finally:
                machine.accessing = None
            if parks is not None:
                yield from parks
    else:
        yield from _run(x, way)
    out = tuple(x.outs)
    s.log.append(out)
    return out


def _never(parks: Generator[Park, None, None], i: Instr) -> None:
    for _ in parks:
        raise RuntimeError(f"{i.opcode} parked although it was taken as non-blocking")


def _run(x: Exec, way: Plan) -> Generator[Park, None, None]:
    """The instructions of a block, with lanes that branch away and meet again."""
    steps, targets = way.steps, way.targets
    waiting: dict[int, int] = {}  # instruction index -> lanes that wait there for the others
    pc = 0
    count = len(steps)
    while True:
        if waiting:
            if pc in waiting:
                x.lanes |= waiting.pop(pc)
            if not x.lanes and waiting:
                pc = min(waiting)
                x.lanes = waiting.pop(pc)
        if pc >= count:
            break
        handler, i = steps[pc]
        target = targets.get(pc)
        pc += 1
        active = x.lanes
        if i.pred is not None:
            x.lanes = _predicated(x, i.pred)
        if target is None:
            if x.lanes:
                parks = handler(x, i)
                if parks is not None:
                    yield from parks
            x.lanes = active
        elif target < 0:
            x.lanes = active & ~x.lanes
            if not x.lanes and not waiting:
                break
        else:
            taken = x.lanes
            rest = active & ~taken
            if not taken:
                x.lanes = active
                continue
            x.m.charge()
            if not rest:
                pc = target
            elif target >= pc:
                waiting[target] = waiting.get(target, 0) | taken
                x.lanes = rest
            else:
                waiting[pc] = waiting.get(pc, 0) | rest
                x.lanes = taken
                pc = target


def _handler(i: Instr) -> Handler:
    """What executes an instruction for the active lanes."""
    handler = HANDLERS.get(i.opcode)
    if handler is not None:
        return handler
    if i.opcode in ("cvta", "mov"):
        return _moved
    return _computed if i.opcode in alu.PURE else _unknown


def _computed(x: Exec, i: Instr) -> None:
    x.set(i.operands[0], alu.evaluate(i, [x.val(o) for o in i.operands[1:]]))


def _moved(x: Exec, i: Instr) -> None:
    args = [x.val(o) for o in i.operands[1:]]
    passes = args[0].__class__ in PASSED_ON
    x.set(i.operands[0], args[0] if passes else alu.evaluate(i, args))


def _predicated(x: Exec, pred: tuple[bool, Operand]) -> int:
    """Active lanes whose predicate holds."""
    negated, operand = pred
    p = x.val(operand)
    if isinstance(p, Opaque):
        p.used()
        p = 0
    if p.__class__ is Vec:
        return x.lanes & (~p.lanes_set if negated else p.lanes_set)
    return x.lanes if bool(p) != negated else 0


def _target(block: AsmBlock, i: Instr, count: int) -> int:
    o = i.operands[0] if i.operands else None
    name = o.name if isinstance(o, (Symbol, Reg)) else ""
    return block.labels.get(name, count)


def _unknown(x: Exec, i: Instr) -> None:
    """An instruction that the machine does not model: its results are opaque, and that is said."""
    x.m.incident("unanalysed", x.m.where(), x.s, data={"what": f"PTX instruction {i.written}"})
    if i.operands:
        x.set(i.operands[0], OPAQUE)
