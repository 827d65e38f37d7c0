"""tcgen05 and tensor memory (PTX ISA 9.7.16)."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from auditor.machine.execute import Exec, op
from auditor.machine.ops.common import (
    FULL,
    finish,
    gather,
    gathered_preds,
    gathered_value,
    number,
    shared_operand,
    together,
)
from auditor.machine.ops.mbar import by_address, object_access
from auditor.machine.recording import LoadRecord
from auditor.machine.state import Allocation, AsyncOp, Cta, Gather, Park
from auditor.ptx import descriptors as d
from auditor.ptx.grammar import Addr, Imm, Instr, VectorOperand
from auditor.source import Stack
from auditor.trace import Access
from auditor.values import OPAQUE, Loaded, Opaque, Vec

LEGAL_COLUMNS = (32, 64, 128, 256, 512)


def _group(i: Instr) -> int:
    return int(i.mod_prefix("cta_group::") or 1)


def _pair(x: Exec, i: Instr) -> list[Cta]:
    """The CTAs whose tensor memory an operation works on: the own one, or both of the pair."""
    own = x.s.warp.cta
    if _group(i) == 2 and len(x.m.ctas) > (own.rank | 1):
        return [x.m.ctas[own.rank & ~1], x.m.ctas[own.rank | 1]]
    return [own]


@op("tcgen05.alloc")
def alloc(x: Exec, i: Instr) -> Generator[Park, None, None]:
    m, s, cta = x.m, x.s, x.s.warp.cta
    where = m.where()
    g = yield from gather(x, i, ("alloc", where), 0xFFFFFFFF, strict=True)
    if g.lead is not s:
        return
    columns = number(x, x.val(i.operands[1]), -1)
    if columns < 0:
        m.incident("unanalysed", where, s, data={"what": "tcgen05.alloc column count that is not known"})
        columns = 32
    if columns not in LEGAL_COLUMNS:
        m.incident("alloc_columns", where, s, data={"columns": columns, "instr": "tcgen05.alloc"})
    if cta.relinquished is not None:
        m.incident("alloc_after_relinquish", where, s, related=[(cta.relinquished, "permit given up here")])
    taken = max(1 << max(columns - 1, 0).bit_length(), 32)
    live = [a for a in cta.allocations if not a.freed]
    if taken + sum(a.columns for a in live) > d.TMEM_COLUMNS:
        m.incident(
            "alloc_overflow",
            where,
            s,
            related=[(a.where, f"{a.columns} columns are still allocated here") for a in live],
            data={"columns": columns, "live": sum(a.columns for a in live)},
        )
    if live and min(a.columns for a in live) < taken:
        m.incident(
            "alloc_grows",
            where,
            s,
            related=[(live[-1].where, "earlier allocation")],
            data={"columns": columns, "earlier": min(a.columns for a in live)},
        )
    taken = min(taken, d.TMEM_COLUMNS)
    base = cta.free_base(taken)
    if base is None:
        yield Park(lambda: cta.free_base(taken) is not None, "tmem", {"where": where, "columns": columns})
        base = cta.free_base(taken)
        assert base is not None
    target = shared_operand(x, x.s.uniform(x.val(i.operands[0])))
    accesses = [Access("tmem", True, "tmem", cta.rank, base, base + taken, lane_hi=d.TMEM_LANES, what="alloc")]
    if target is not None:
        accesses.append(Access("shared", True, "generic", target[0].rank, target[1], target[1] + 4))
        target[0].values.put(target[1], 4, base)
    event = m.emit(
        s,
        "tcgen05.alloc",
        where=where,
        lanes=g.lanes,
        preds=gathered_preds(g),
        accesses=accesses,
        data={"cols": columns, "base": base, "group": _group(i), "slot": target[1] if target else None},
    )
    cta.allocations.append(
        Allocation(base, columns if columns in LEGAL_COLUMNS else taken, _group(i), event.id, s.warp.index, where)
    )
    cta.tmem_written -= set(range(base, base + taken))
    m.progress += 1
    finish(x, g, event)


@op("tcgen05.dealloc")
def dealloc(x: Exec, i: Instr) -> Generator[Park, None, None]:
    m, s, cta = x.m, x.s, x.s.warp.cta
    where = m.where()
    g = yield from gather(x, i, ("dealloc", where), 0xFFFFFFFF, strict=True)
    if g.lead is not s:
        return
    s.release_loads()
    base, columns = x.s.uniform(x.val(i.operands[0])), number(x, x.val(i.operands[1]), -1)
    accesses, freed = [], None
    if isinstance(base, int):
        freed = next((a for a in cta.allocations if not a.freed and a.base == base & 0xFFFF and base >> 16 == 0), None)
    live = [a for a in cta.allocations if not a.freed]
    if columns not in LEGAL_COLUMNS:
        m.incident("alloc_columns", where, s, data={"columns": columns, "instr": "tcgen05.dealloc"})
    if isinstance(base, Opaque) and live:
        freed = live[0]  # an address that is not known: taken as the oldest allocation
    if freed is None:
        again = next((a for a in cta.allocations if a.freed and isinstance(base, int) and a.base == base), None)
        m.incident(
            "dealloc_mismatch",
            where,
            s,
            related=[(a.where, "allocated here") for a in cta.allocations[-1:]],
            data={"problem": "freed twice" if again else "not an allocated base", "base": base, "columns": columns},
        )
        freed = live[0] if len(live) == 1 else None
    elif columns != freed.columns:
        m.incident(
            "dealloc_mismatch",
            where,
            s,
            related=[(freed.where, f"{freed.columns} columns allocated here")],
            data={"problem": "columns", "columns": columns, "allocated": freed.columns},
        )
    if freed is not None:
        accesses.append(
            Access(
                "tmem",
                True,
                "tmem",
                cta.rank,
                freed.base,
                freed.base + freed.columns,
                lane_hi=d.TMEM_LANES,
                what="alloc",
            )
        )
        freed.freed = True
    event = m.emit(
        s,
        "tcgen05.dealloc",
        where=where,
        lanes=g.lanes,
        preds=gathered_preds(g),
        accesses=accesses,
        data={"cols": columns, "base": base if isinstance(base, int) else None, "group": _group(i)},
    )
    m.progress += 1
    finish(x, g, event)


@op("tcgen05.relinquish_alloc_permit")
def relinquish(x: Exec, i: Instr) -> Generator[Park, None, None]:
    where = x.m.where()
    g = yield from gather(x, i, ("relinquish", where), 0xFFFFFFFF, strict=True)
    if g.lead is x.s:
        event = x.m.emit(
            x.s, "tcgen05.relinquish", where=where, lanes=g.lanes, preds=gathered_preds(g), data={"group": _group(i)}
        )
        x.s.warp.cta.relinquished = where
        finish(x, g, event)


def tmem_access(
    x: Exec, cta: Cta, address: Any, lanes: tuple[int, int], columns: int, *, write: bool, where: Stack, what: str
) -> Access | None:
    """An access to tensor memory, checked against what is allocated. ``lanes`` is relative to the address's lane."""
    if not isinstance(address, int):
        x.m.incident("unanalysed", where, x.s, data={"what": f"tensor-memory address of {what} that is not known"})
        return None
    lane, column = d.tmem_split(address)
    # Scale-factor addresses carry the scale id in bits 30 and 31; lanes have seven bits.
    lane &= 0x7F
    if column + columns > d.TMEM_COLUMNS or cta.owner(column, column + columns) is None:
        owner = cta.owner(column, column + 1)
        x.m.incident(
            "tmem_range",
            where,
            x.s,
            related=[(owner.where, f"{owner.columns} columns allocated here")] if owner else [],
            data={
                "what": what,
                "column": column,
                "columns": columns,
                "allocated": owner.columns if owner else 0,
                "base": owner.base if owner else None,
                "any": bool(cta.allocations),
                "freed": any(a.freed for a in cta.allocations),
            },
        )
    return Access(
        "tmem",
        write,
        "tmem",
        cta.rank,
        column,
        min(column + columns, d.TMEM_COLUMNS),
        lane_lo=lane + lanes[0],
        lane_hi=min(lane + lanes[1], d.TMEM_LANES),
    )


def _check_single(x: Exec, i: Instr, where: Stack) -> int:
    """tcgen05.mma, cp, shift and commit are issued by one thread."""
    if x.lanes & (x.lanes - 1):
        x.m.incident("multi_issue", where, x.s, lanes=x.lanes, data={"instr": i.opcode, "lanes": x.lanes.bit_count()})
    return x.lanes


def _async(x: Exec, i: Instr, where: Stack, accesses: list[Access], data: dict[str, Any]) -> None:
    """Put a tcgen05 operation in flight; later commits of the same thread cover it."""
    issue = x.m.emit(x.s, "issue", where=where, lanes=x.lanes, data={"instr": data["instr"]})
    event = x.m.emit(
        None,
        "async",
        where=where,
        cta=x.s.warp.cta.rank,
        preds=[(issue.id, "issue")],
        accesses=accesses,
        data={**data, "issuer": issue.id, "bar": None, "group": _group(i)},
    )
    issue.data["op"] = event.id
    operation = AsyncOp(event, lambda: None, lanes=x.lanes)
    x.m.queue.append(operation)
    x.s.tensor_ops.append((operation, x.lanes))
    x.s.warp.cta.tensor_issues.append((operation, x.s.warp.number, x.lanes))


@op("tcgen05.mma")
def mma(x: Exec, i: Instr) -> None:
    m, s = x.m, x.s
    where = m.where()
    _check_single(x, i, where)
    kind = i.mod_prefix("kind::") or "f16"
    ws, sparse, group = i.has("ws"), i.has("sp"), _group(i)
    operands = list(i.operands)
    dest, a, b = operands[:3]
    rest = operands[3:]
    if sparse:
        rest = rest[1:]
    idesc_value = x.uniform(rest[0]) if rest else OPAQUE
    scales = [o for o in rest[1:] if isinstance(o, Addr)]
    tail = [o for o in rest[1:] if not isinstance(o, (Addr, VectorOperand))]
    accumulate = x.uniform(tail[0]) if tail else 1
    data: dict[str, Any] = {
        "instr": "mma.ws" if ws else "mma",
        "kind": kind,
        "accumulate": accumulate if isinstance(accumulate, int) else None,
        "idesc": idesc_value if isinstance(idesc_value, int) else None,
    }
    if not isinstance(idesc_value, int):
        m.incident("unanalysed", where, s, data={"what": "instruction descriptor that is not known"})
        _async(x, i, where, [], data)
        return
    idesc = d.InstructionDescriptor.decode(idesc_value & 0xFFFFFFFF, kind)
    scale_vec = i.mod_prefix("scale_vec::") or i.mod_in(("block16", "block32")) or ""
    problems = idesc.problems(group, ws, sparse, m.program.arch, scale_vec)
    if problems:
        m.incident(
            "descriptor",
            where,
            s,
            data={"what": "instruction descriptor", "problems": problems, "value": idesc_value, "entry": "TC-50"},
        )
    data |= {"m": idesc.m, "n": idesc.n}
    if problems or idesc.m == 0 or idesc.n == 0:  # what it would touch is anybody's guess
        _async(x, i, where, [], data)
        return
    columns = d.accumulator_columns(idesc.m, idesc.n, group, ws, sparse)
    accesses: list[Access] = []
    ctas = _pair(x, i)
    target = x.s.uniform(x.val(dest), x.lanes)
    accumulator_lanes = d.accumulator_lanes(idesc.m, group, ws, sparse)
    half = (idesc.m == 64 and not ws) or (idesc.m == 128 and group == 2 and sparse)
    for what, operand in (("accumulator", dest), ("operand A", a)):
        base = x.s.uniform(x.val(operand), x.lanes) if isinstance(operand, Addr) else None
        if isinstance(base, int) and base >> 16 & 0x7F not in ((0, 16) if half else (0,)):
            data_lanes = {"instr": i.opcode, "lane": base >> 16 & 0x7F, "what": what, "m": idesc.m, "half": half}
            m.incident("tmem_base_lane", where, s, data=data_lanes)
    data |= {"d": target, "columns": columns}
    for owner in ctas:
        for lanes in accumulator_lanes:
            access = tmem_access(x, owner, target, lanes, columns, write=True, where=where, what="the accumulator")
            if access is not None:
                accesses.append(access)
    data["accumulators"] = len(accesses)
    if isinstance(target, int):
        _accumulate(x, target & 0xFFFF, columns, accumulate, where, ctas)
    extent = d.k_extent(kind, sparse)
    if isinstance(a, Addr):
        k_columns = max(extent.a_bytes // 4, 1)
        for owner in ctas:
            access = tmem_access(
                x,
                owner,
                x.s.uniform(x.val(a), x.lanes),
                (0, min(idesc.a_rows(group), d.TMEM_LANES)),
                k_columns,
                write=False,
                where=where,
                what="operand A",
            )
            if access is not None:
                accesses.append(access)
    else:
        _operand(x, a, "A", idesc.a_rows(group), extent.a_bytes, idesc.a_major, ctas, accesses, where, data)
    _operand(x, b, "B", idesc.b_rows(group), extent.b_bytes, idesc.b_major, ctas, accesses, where, data)
    for n, scale in enumerate(scales[:2]):
        rows = idesc.a_rows(group) if n == 0 else idesc.n
        for owner in ctas:
            access = tmem_access(
                x,
                owner,
                x.s.uniform(x.val(scale), x.lanes),
                (0, d.TMEM_LANES),
                d.scale_columns(rows),
                write=False,
                where=where,
                what="scale factors of " + "AB"[n],
            )
            if access is not None:
                access.lane_lo, access.lane_hi = 0, d.TMEM_LANES
                accesses.append(access)
    _overlap_itself(x, where, accesses)
    _async(x, i, where, accesses, data)


def _overlap_itself(x: Exec, where: Stack, accesses: list[Access]) -> None:
    """An MMA whose accumulator lies over its own operand or scale factors in tensor memory."""
    tmem = [a for a in accesses if a.space == "tmem"]
    for w in tmem:
        for r in tmem:
            if (
                w.write and not r.write and w.cta == r.cta
                and w.lo < r.hi and r.lo < w.hi and w.lane_lo < r.lane_hi and r.lane_lo < w.lane_hi
            ):  # fmt: skip
                x.m.incident("tmem_overlap", where, x.s, data={"written": (w.lo, w.hi), "read": (r.lo, r.hi)})
                return


def _accumulate(x: Exec, column: int, columns: int, accumulate: Any, where: Stack, ctas: list[Cta]) -> None:
    """Track which columns hold a value: an MMA that adds to columns that nothing wrote is noticed (TC-30)."""
    span = range(column, column + columns)
    for cta in ctas:
        if accumulate.__class__ is int and accumulate and not cta.tmem_written.issuperset(span):
            x.m.incident("first_accumulate", where, x.s, data={"column": column, "columns": columns})
        cta.tmem_written.update(span)


def _operand(
    x: Exec,
    operand: Any,
    name: str,
    rows: int,
    k_bytes: int,
    major: str,
    ctas: list[Cta],
    accesses: list[Access],
    where: Stack,
    data: dict[str, Any],
) -> None:
    """Shared memory that an MMA reads through a matrix descriptor."""
    value = x.s.uniform(x.val(operand), x.lanes)
    if not isinstance(value, int):
        x.m.incident("unanalysed", where, x.s, data={"what": f"matrix descriptor of {name} that is not known"})
        return
    desc = d.MatrixDescriptor.decode(value & 0xFFFF_FFFF_FFFF_FFFF, x.m.program.arch)
    problems = desc.problems()
    if problems:
        x.m.incident(
            "descriptor",
            where,
            x.s,
            data={"what": f"matrix descriptor of {name}", "problems": problems, "value": value, "entry": "TC-60"},
        )
    data[f"{name}_swizzle"] = desc.swizzle
    data[f"{name}_start"] = desc.start
    data[f"{name}_base"] = desc.base_offset
    data[f"{name}_layout"] = (major, rows, k_bytes, desc.sbo)
    bits = 32 if data["kind"] == "tf32" else 16 if data["kind"] == "f16" else 8
    try:
        ranges = d.operand_footprint(desc, rows, k_bytes, major, bits)
    except (ValueError, KeyError, ZeroDivisionError):
        return
    for cta in ctas:
        for lo, hi in ranges:
            if hi > cta.shared_end:
                x.m.incident(
                    "smem_range",
                    where,
                    x.s,
                    data={"lo": lo, "hi": hi, "end": cta.shared_end, "write": False, "proxy": "async", "operand": name},
                )
            accesses.append(Access("shared", False, "async", cta.rank, lo, hi))


@op("tcgen05.cp")
def cp(x: Exec, i: Instr) -> None:
    where = x.m.where()
    _check_single(x, i, where)
    shape = i.mod_in(("128x256b", "4x256b", "128x128b", "64x128b", "32x128b")) or "128x256b"
    lanes, columns = d.cp_extent(shape)
    data: dict[str, Any] = {"instr": "tcgen05.cp", "shape": shape}
    accesses = []
    value = x.uniform(i.operands[1])
    for cta in _pair(x, i):
        access = tmem_access(
            x,
            cta,
            x.s.uniform(x.val(i.operands[0]), x.lanes),
            (0, lanes),
            columns,
            write=True,
            where=where,
            what="tcgen05.cp",
        )
        if access is not None:
            accesses.append(access)
            cta.tmem_written.update(range(access.lo, access.hi))
        if isinstance(value, int):
            desc = d.MatrixDescriptor.decode(value & 0xFFFF_FFFF_FFFF_FFFF, x.m.program.arch)
            problems = desc.problems()
            if problems:
                x.m.incident(
                    "descriptor",
                    where,
                    x.s,
                    data={
                        "what": "matrix descriptor of tcgen05.cp",
                        "problems": problems,
                        "value": value,
                        "entry": "TC-60",
                    },
                )
            accesses.append(Access("shared", False, "async", cta.rank, desc.start, desc.start + d.cp_bytes(shape)))
            data["swizzle"] = desc.swizzle
    if not isinstance(value, int):
        x.m.incident("unanalysed", where, x.s, data={"what": "matrix descriptor of tcgen05.cp that is not known"})
    _async(x, i, where, accesses, data)


@op("tcgen05.shift")
def shift(x: Exec, i: Instr) -> None:
    where = x.m.where()
    _check_single(x, i, where)
    accesses = []
    base = x.s.uniform(x.val(i.operands[0]), x.lanes)
    if isinstance(base, int) and (base >> 16) % 32:
        x.m.incident("tmem_base_lane", where, x.s, data={"instr": i.opcode, "lane": base >> 16, "what": "", "m": 0})
    for cta in _pair(x, i):
        access = tmem_access(
            x,
            cta,
            base,
            (0, 32),
            8,
            write=True,
            where=where,
            what="tcgen05.shift",
        )
        if access is not None:
            accesses.append(access)
    _async(x, i, where, accesses, {"instr": "tcgen05.shift"})


@op("tcgen05.commit")
def commit(x: Exec, i: Instr) -> None:
    """An arrival, on completion of all earlier asynchronous tcgen05 operations of the executing thread."""
    m, s = x.m, x.s
    where = m.where()
    lanes = _check_single(x, i, where)
    s.release_loads()
    covered = [o for o, mask in s.tensor_ops if mask & lanes]
    s.tensor_ops = [(o, mask & ~lanes) for o, mask in s.tensor_ops if mask & ~lanes]
    mask = number(x, x.val(i.operands[1])) if len(i.operands) > 1 else None
    event = m.emit(
        s,
        "commit",
        where=where,
        lanes=lanes,
        data={"ops": [o.event.id for o in covered], "bar": [], "group": _group(i), "mask": mask},
    )
    if not covered and s.last_committed is None:
        others = [
            (o, w, k) for o, w, k in s.warp.cta.tensor_issues if not o.done and not (w == s.warp.number and k & lanes)
        ]
        m.incident(
            "empty_commit",
            where,
            s,
            event=event.id,
            lanes=lanes,
            related=[(others[-1][0].event.where, "issued here by another thread")] if others else [],
            data={"others": len(others)},
        )
    previous = s.last_committed
    for lane_mask, address in by_address(x, x.val(i.operands[0])):
        target = shared_operand(x, address)
        if target is None:
            continue
        cta, offset = target
        owners = [cta] if mask is None else [c for c in m.ctas if mask >> c.rank & 1]
        if mask is not None and (not mask or mask >> len(m.ctas)):
            m.incident("cluster_rank", where, s, data={"mask": mask, "ctas": len(m.ctas)})
        for owner in owners:
            state = owner.barriers.get(offset)
            if state is None or not state.valid:
                m.incident(
                    "use_before_init" if state is None else "use_after_inval",
                    where,
                    s,
                    data={
                        "what": "tcgen05.commit",
                        "offset": offset,
                        "owner": owner.rank,
                        "bar": state.index if state else None,
                        "events": len(m.trace.events),
                    },
                )
                continue
            event.accesses.append(object_access(owner, offset, False))
            event.data["bar"].append(state.index)
            state.current["arrivals"].append(event.id)
            m.queue.append(AsyncOp(event, _arrival(x, state, event, covered, previous, lane_mask.bit_count(), where)))
    s.last_committed = event


def _arrival(x: Exec, state: Any, event: Any, covered: list[AsyncOp], previous: Any, lanes: int, where: Stack) -> Any:
    m, s = x.m, x.s

    def complete() -> None:
        m.finish_until(covered)
        preds = [(event.id, "commit")] + [(o.event.id, "complete") for o in covered]
        if previous is not None and previous.data.get("done") is not None:
            preds.append((previous.data["done"], "commit"))
        done = m.emit(None, "committed", where=where, cta=state.record.cta, preds=preds, data={"bar": state.index})
        event.data["done"] = done.id
        for _ in range(lanes):
            m.barrier_step(state, lambda u: u.arrive(1), (done.id, "commit"), where, s, arrivals=1)

    return complete


_SHAPES = ("32x32b", "16x64b", "16x128b", "16x256b", "16x32bx2")
_NUMS = {f"x{n}": n for n in (1, 2, 4, 8, 16, 32, 64, 128)}


@op("tcgen05.ld", "tcgen05.st")
def ld_st(x: Exec, i: Instr) -> Generator[Park, None, None] | None:
    where = x.m.where()
    write = i.opcode.endswith("st")
    regs = i.operands[-1] if write else i.operands[0]
    memory_operand = i.operands[0] if write else next(o for o in i.operands[1:] if isinstance(o, Addr))
    if write:
        x.use(regs)

    def met(g: Gather) -> None:
        if g.lead is x.s:
            _transferred(x, i, write, where, g)
        if not write:
            count = len(regs.items) if isinstance(regs, VectorOperand) else 1
            record = g.result
            values = tuple([Loaded(record) if record is not None else OPAQUE for _ in range(count)])
            x.set(regs, values if isinstance(regs, VectorOperand) else values[0])

    return together(x, i, i.opcode, FULL, met, (x.val(memory_operand),))


def _transferred(x: Exec, i: Instr, write: bool, where: Stack, g: Gather) -> None:
    """The strand that leads moves the data of all lanes."""
    m, s = x.m, x.s
    shape = i.mod_in(_SHAPES) or "32x32b"
    num = _NUMS.get(i.mod_in(_NUMS) or "x1", 1)
    lanes, columns = d.tmem_ld_extent(shape, num, i.has("pack::16b") or i.has("unpack::16b"))
    address = _common_address(x, i, g, where)
    accesses = []
    quarter = s.warp.index % 4 * 32
    if isinstance(address, int):
        lane = address >> 16
        # The hardware only reaches the warp's own quarter; an address in the first one is taken relative to that.
        inside = lane - quarter if lane >= 32 else lane
        if not 0 <= inside <= 32 - lanes:
            m.incident(
                "tmem_lanes",
                where,
                s,
                data={"lane": lane, "first": quarter, "warp": s.warp.index, "instr": i.opcode},
            )
            inside = 0
        lane = quarter + inside
        address = lane << 16 | address & 0xFFFF
        offsets = [0]
        if shape == "16x32bx2":
            half = next((o.value for o in i.operands if isinstance(o, Imm)), columns)
            offsets.append(half if isinstance(half, int) else columns)
        for right in offsets:
            access = tmem_access(
                x, s.warp.cta, address + right, (0, lanes), columns, write=write, where=where, what=i.opcode
            )
            if access is not None:
                access.end = -1
                accesses.append(access)
                if write:
                    s.warp.cta.tmem_written.update(range(access.lo, access.hi))
    elif not s.warp.cta.allocations:  # read from where the base address has yet to be written
        m.incident(
            "tmem_range",
            where,
            s,
            data={
                "what": i.opcode,
                "column": None,
                "columns": columns,
                "any": False,
                "allocated": 0,
                "base": None,
                "freed": False,
            },
        )
    else:
        m.incident("unanalysed", where, s, data={"what": f"address of {i.opcode} that is not known"})
    if write:
        _overwritten(x, accesses)
    event = m.emit(
        s,
        i.opcode,
        where=where,
        lanes=g.lanes,
        preds=gathered_preds(g),
        accesses=accesses,
        data={"shape": shape, "num": num},
    )
    s.warp.tmem_pending += [(write, a) for a in accesses]
    record = LoadRecord(accesses[0]) if accesses and not write else None
    if record is not None:
        s.track(record)
    finish(x, g, event, record)


def _common_address(x: Exec, i: Instr, g: Gather, where: Stack) -> Any:
    """The address of a load or store, which all lanes have to give alike (9.7.16.8.3); if they do not, the first's."""
    if len(g.members) == 1 and g.members[0][2][0].__class__ is not Vec:
        return g.members[0][2][0]
    given = {n: v for n, v in enumerate(gathered_value(g, 0)) if g.lanes >> n & 1}
    first, last = min(given), max(given)
    if len(set(given.values())) > 1:
        if not all(isinstance(v, int) for v in given.values()):
            return OPAQUE
        x.m.incident(
            "tmem_addresses",
            where,
            x.s,
            data={
                "instr": i.opcode,
                "warp": x.s.warp.index,
                "lanes": (first, last),
                "given": (given[first], given[last]),
            },
        )
    return given[first]


def _overwritten(x: Exec, stores: list[Access]) -> None:
    """Loads of the warp that a store overwrites: note whether their values were consumed before it."""
    for record in x.s.warp.loads:
        a = record.access
        if (
            a.space == "tmem"
            and a.consumed is None
            and any(a.lo < b.hi and b.lo < a.hi and a.lane_lo < b.lane_hi and b.lane_lo < a.lane_hi for b in stores)
        ):
            a.consumed = record.consumed


@op("tcgen05.wait")
def wait(x: Exec, i: Instr) -> Generator[Park, None, None] | None:
    write = any(mod.endswith("st") for mod in i.mods)

    def met(g: Gather) -> None:
        if g.lead is not x.s:
            return
        event = x.m.emit(x.s, "wait.st" if write else "wait.ld", lanes=g.lanes, preds=gathered_preds(g))
        for _, access in (p for p in x.s.warp.tmem_pending if p[0] == write):
            access.end = event.time
        x.s.warp.tmem_pending = [p for p in x.s.warp.tmem_pending if p[0] != write]
        finish(x, g, event)

    return together(x, i, ("tcgen05.wait", write), FULL, met)


@op("tcgen05.fence")
def fence(x: Exec, i: Instr) -> None:
    which = "before" if any("before" in mod for mod in i.mods) else "after"
    x.m.emit(x.s, "tcgen05.fence", lanes=x.lanes, data={"which": which})
