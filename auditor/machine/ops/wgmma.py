"""wgmma: asynchronous warpgroup MMA of Hopper (PTX ISA 9.7.15). Modelled warp by warp."""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from auditor.machine.execute import Exec, op
from auditor.machine.ops.common import finish, gather, gathered_preds, number
from auditor.machine.state import AsyncOp, Park
from auditor.ptx import descriptors as d
from auditor.ptx.grammar import Instr, VectorOperand
from auditor.trace import Access
from auditor.values import Loaded, Opaque

if TYPE_CHECKING:
    from auditor.machine.core import Machine
    from auditor.machine.strand import Strand

_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)$")
_BITS = {"tf32": 32, "f16": 16, "bf16": 16, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8, "b1": 1}


class Result:
    """Accumulator registers of a wgmma, which may be used when it has been waited for."""

    __slots__ = ("machine", "operation", "strand", "told", "waited")

    def __init__(self, machine: Machine, strand: Strand, operation: AsyncOp) -> None:
        self.machine = machine
        self.strand = strand
        self.operation = operation
        self.waited = self.told = False

    @property
    def consumed(self) -> bool:
        return self.waited

    @consumed.setter
    def consumed(self, _: bool) -> None:
        """One of the registers is used (``Loaded.used``)."""
        if not self.waited and not self.told:
            self.told = True
            data = {"problem": "in flight", "op": self.operation.event.id}
            self.machine.incident("wgmma_registers", self.machine.where(), self.strand, data=data)


@op("wgmma.fence")
def fence(x: Exec, i: Instr) -> Generator[Park, None, None]:
    g = yield from gather(x, i, ("wgmma.fence", x.m.where()), 0xFFFFFFFF, strict=True)
    if g.lead is x.s:
        x.s.warp.wgmma_fenced = True
        finish(x, g, x.m.emit(x.s, "wgmma.fence", lanes=g.lanes, preds=gathered_preds(g)))


@op("wgmma.mma_async")
def mma(x: Exec, i: Instr) -> Generator[Park, None, None]:
    m, s = x.m, x.s
    where = m.where()
    operands = i.operands
    for v in _registers(x, operands):
        if isinstance(v, Opaque):
            v.used()
    g = yield from gather(x, i, ("wgmma", where), 0xFFFFFFFF, strict=True)
    if g.lead is s:
        shape = next((mm for mod in i.mods if (mm := _SHAPE.match(mod))), None)
        types = [mod for mod in i.mods if mod in _BITS]
        bits = _BITS[types[-1]] if types else 16
        n, k = (int(shape[2]), int(shape[3])) if shape else (64, 16)
        k_bytes = k * bits // 8
        immediates = [x.val(o) for o in operands[4:]]
        trans_a = number(x, immediates[-2]) if len(immediates) >= 4 else 0
        trans_b = number(x, immediates[-1]) if bits == 16 and len(immediates) >= 3 else 0
        accesses: list[Access] = []
        data: dict[str, Any] = {}
        if not isinstance(operands[1], VectorOperand):
            _operand(x, operands[1], 64, k_bytes, "MN" if trans_a else "K", bits, accesses, "A", data)
        _operand(x, operands[2], n, k_bytes, "MN" if trans_b else "K", bits, accesses, "B", data)
        if not s.warp.wgmma_fenced and not _accumulated(x, operands[0]):
            m.incident("wgmma_registers", where, s, data={"problem": "no fence"})
            s.warp.wgmma_fenced = True
        issue = m.emit(s, "issue", where=where, lanes=g.lanes, preds=gathered_preds(g), data={"instr": "wgmma"})
        event = m.emit(
            None,
            "async",
            where=where,
            cta=s.warp.cta.rank,
            preds=[(issue.id, "issue")],
            accesses=accesses,
            data={"instr": "wgmma", "issuer": issue.id, "bar": None, "n": n, **data},
        )
        issue.data["op"] = event.id
        operation = AsyncOp(event, lambda: None)
        m.queue.append(operation)
        s.warp.wgmma.open.append(operation)
        s.warp.wgmma.ever = True
        s.warp.wgmma_issued.append(operation)
        s.warp.wgmma_results.append(Result(m, s, operation))
        finish(x, g, issue, s.warp.wgmma_results[-1])
    if isinstance(operands[0], VectorOperand):
        x.set_all(operands[0], Loaded(g.result))


def _accumulated(x: Exec, operand: Any) -> bool:
    """Whether the accumulator registers hold what an earlier wgmma left there, untouched since."""
    items = operand.items if isinstance(operand, VectorOperand) else (operand,)
    value = x.val(items[0])
    return isinstance(value, Loaded) and isinstance(value.record, Result)


def _registers(x: Exec, operands: tuple[Any, ...]) -> list[Any]:
    out: list[Any] = []
    if len(operands) > 1 and isinstance(operands[1], VectorOperand):
        out += x.val(operands[1])
    return out


def _operand(
    x: Exec,
    operand: Any,
    rows: int,
    k_bytes: int,
    major: str,
    bits: int,
    accesses: list[Access],
    name: str,
    data: dict[str, Any],
) -> None:
    value = x.s.uniform(x.val(operand), x.lanes)
    if not isinstance(value, int):
        x.m.incident("unanalysed", x.m.where(), x.s, data={"what": f"wgmma descriptor of {name} that is not known"})
        return
    desc = d.WgmmaDescriptor.decode(value & 0xFFFF_FFFF_FFFF_FFFF)
    problems = desc.problems()
    if problems:
        x.m.incident(
            "descriptor",
            x.m.where(),
            x.s,
            data={"what": f"wgmma descriptor of {name}", "problems": problems, "value": value, "entry": "TC-60"},
        )
    data |= {f"{name}_swizzle": desc.swizzle, f"{name}_start": desc.start, f"{name}_base": desc.base_offset}
    data[f"{name}_layout"] = (major, rows, k_bytes, desc.sbo)
    rank = x.s.warp.cta.rank
    for lo, hi in d.operand_footprint(desc, rows, k_bytes, major, bits):
        accesses.append(Access("shared", False, "async", rank, lo, hi))


@op("wgmma.commit_group")
def commit(x: Exec, i: Instr) -> Generator[Park, None, None]:
    g = yield from gather(x, i, ("wgmma.commit", x.m.where()), 0xFFFFFFFF, strict=True)
    if g.lead is x.s:
        groups = x.s.warp.wgmma
        event = x.m.emit(
            x.s, "wgmma.commit", lanes=g.lanes, preds=gathered_preds(g), data={"ops": [o.event.id for o in groups.open]}
        )
        groups.committed.append(groups.open)
        groups.open = []
        finish(x, g, event)


@op("wgmma.wait_group")
def wait(x: Exec, i: Instr) -> Generator[Park, None, None]:
    where = x.m.where()
    g = yield from gather(x, i, ("wgmma.wait", where), 0xFFFFFFFF, strict=True)
    if g.lead is x.s:
        groups = x.s.warp.wgmma
        n = number(x, x.val(i.operands[0])) if i.operands else 0
        done: list[AsyncOp] = []
        while len(groups.committed) > max(n, 0):
            done += groups.committed.popleft()
        if not done and groups.open and not groups.committed:
            x.m.incident(
                "uncommitted",
                where,
                x.s,
                data={"kind": "wgmma", "ops": [o.event.id for o in groups.open], "waited": True},
            )
        count = len(x.s.warp.wgmma_issued) - len(groups.open) - sum(len(c) for c in groups.committed)
        siblings = [w for w in x.s.warp.cta.warps if w.index // 4 == x.s.warp.index // 4 and w is not x.s.warp]
        if done:
            # One wgmma is an operation of the whole warpgroup: it is complete for all of its warps at once.
            yield Park(
                lambda: all(len(w.wgmma_issued) >= count or not w.live for w in siblings), "warpgroup", {"where": where}
            )
            done += [o for w in siblings for o in w.wgmma_issued[x.s.warp.wgmma_waited : count]]
        x.m.finish_until(done)
        x.s.warp.wgmma_fenced = False
        for result in x.s.warp.wgmma_results[x.s.warp.wgmma_waited : count]:
            result.waited = True
        x.s.warp.wgmma_waited = count
        event = x.m.emit(
            x.s,
            "wgmma.wait",
            where=where,
            lanes=g.lanes,
            preds=gathered_preds(g) + [(o.event.id, "complete") for o in done],
            data={"ops": [o.event.id for o in done], "n": n, "read": False},
        )
        finish(x, g, event)
