"""Ordinary loads and stores in PTX, ldmatrix and stmatrix, and cp.async (PTX ISA 9.7.9)."""

from __future__ import annotations

from collections.abc import Generator
from functools import cache, partial
from typing import Any

from auditor.footprint import footprint, spread
from auditor.machine import memory
from auditor.machine.execute import Exec, op
from auditor.machine.ops.common import FULL, finish, number, shared_operand, together
from auditor.machine.ops.mbar import OWN_SPACE, by_address, check_space, find, object_access
from auditor.machine.recording import OFFSET, LoadRecord, add_access
from auditor.machine.state import AsyncOp, Gather, Groups, Park
from auditor.ptx.grammar import Instr, VectorOperand
from auditor.shapes import extent
from auditor.trace import Access
from auditor.values import OPAQUE, SHARED_WINDOW, Loaded, Opaque, Vec

ROW = 16  # bytes of a row of a matrix
MOST_ZEROS = 1 << 14  # bytes of one bulk fill that are remembered: counters, not tiles
_TYPE_BITS = {"8": 8, "16": 16, "32": 32, "64": 64, "128": 128, "16x2": 32}


def scalar_type(i: Instr) -> tuple[str, int, bool]:
    """Kind, bits and signedness of the type modifier."""
    return _scalar_type(i.mods)


@cache
def _scalar_type(mods: tuple[str, ...]) -> tuple[str, int, bool]:
    for m in reversed(mods):
        kind, bits = m[:1], m[1:]
        if m.startswith("bf"):
            kind, bits = "f", m[2:]
        if kind in ("b", "u", "s", "f") and bits in _TYPE_BITS:
            return ("float" if kind == "f" else "int"), _TYPE_BITS[bits], kind == "s"
    return "int", 32, False


@cache
def _in_shared(mods: tuple[str, ...]) -> bool:
    return any(m.startswith("shared") for m in mods)


def _vector(i: Instr) -> int:
    return {"v2": 2, "v4": 4, "v8": 8}.get(i.mod_in(("v2", "v4", "v8")) or "", 1)


def pointer(i: Instr, address: Any) -> Any:
    """The generic address that an operand means in the instruction's state space."""
    if _in_shared(i.mods):
        if address.__class__ is Vec:
            shape = address.shape
            if shape is not None:
                if address.base + shape.high < SHARED_WINDOW:
                    return address + SHARED_WINDOW
                if address.base + shape.low >= SHARED_WINDOW:
                    return address
            return Vec(tuple([a if a >= SHARED_WINDOW else a + SHARED_WINDOW for a in address.v]))
        if isinstance(address, int) and address < SHARED_WINDOW:
            return address + SHARED_WINDOW
    return address


@op("ld", "ldu")
def ld(x: Exec, i: Instr) -> None:
    kind, bits, signed = scalar_type(i)
    n = _vector(i)
    if i.has("param"):
        x.set(i.operands[0], OPAQUE)
        return
    if i.mod_in(("acquire",)):
        x.m.emit(x.s, "fence", lanes=x.lanes, data={"sem": "acquire", "scope": ""})
    address = pointer(i, x.val(i.operands[1]))
    if isinstance(address, Opaque):
        address.used()
        x.set(i.operands[0], OPAQUE)
        return
    _check_window(x, i, address)
    if isinstance(i.operands[0], VectorOperand):
        x.set(i.operands[0], tuple(memory.load_vector(x.s, address, kind, bits, signed, n, x.lanes)))
    else:
        x.set(i.operands[0], memory.load(x.s, address, kind, bits, signed, x.lanes))


def _check_window(x: Exec, i: Instr, address: Any) -> None:
    """A load or store of the own CTA's shared memory with an address in that of another."""
    if len(x.m.ctas) > 1 and i.mod_in(OWN_SPACE):
        for _, a in by_address(x, address)[:1]:
            target = x.m.shared_target(a) if isinstance(a, int) else None
            if target is not None:
                check_space(x, i, target[0], x.m.where())


@op("st")
def st(x: Exec, i: Instr) -> None:
    kind, bits, _ = scalar_type(i)
    address = pointer(i, x.val(i.operands[0]))
    value = x.val(i.operands[1])
    if i.mod_in(("release",)):
        x.s.release_loads()
        x.m.emit(
            x.s,
            "fence",
            lanes=x.lanes,
            data={"sem": "release", "scope": i.mod_in(("cta", "cluster", "gpu", "sys")) or ""},
        )
    values = value if value.__class__ is tuple else (value,)
    for v in values:
        if v.__class__ is Loaded:
            v.record.consumed = True
    if isinstance(address, Opaque):
        address.used()
        return
    _check_window(x, i, address)
    if len(values) > 1:
        memory.store_vector(x.s, address, kind, bits, values, x.lanes)
    else:
        memory.store(x.s, address, kind, bits, values[0], x.lanes)


@op("st.bulk")
def st_bulk(x: Exec, i: Instr) -> None:
    """A thread fills shared memory with zeros (PTX ISA 9.7.9, "st.bulk"): a weak store of the generic proxy."""
    address = pointer(i, x.val(i.operands[0]))
    size = number(x, x.val(i.operands[1]))
    for lane, start in by_address(x, address):
        target = shared_operand(x, start)
        if target is None or not size:
            continue
        cta, offset = target
        check_space(x, i, cta, x.m.where())
        end = offset + size
        if end > cta.shared_end:
            data = {"lo": offset, "hi": end, "end": cta.shared_end, "write": True, "proxy": "generic"}
            x.m.incident("smem_range", x.m.where(), x.s, data=data)
        add_access(x.s, "st", Access("shared", True, "generic", cta.rank, offset, end), lane)
        cta.values.forget(offset, end, partial(tuple[int, ...], (offset,)), size)
        for word in range(offset, min(end, offset + MOST_ZEROS), 4):
            cta.values.put(word, 4, 0)
        x.m.progress += 1


@op("ldmatrix")
def ldmatrix(x: Exec, i: Instr) -> None:
    _matrix(x, i, i.operands[1], write=False)


@op("stmatrix")
def stmatrix(x: Exec, i: Instr) -> None:
    x.use(i.operands[1])
    _matrix(x, i, i.operands[0], write=True)


@op("mma", "wmma.mma", "movmatrix")
def register_matrix(x: Exec, i: Instr) -> Generator[Park, None, None] | None:
    """Matrix operations between registers: all lanes of the warp take part, and the result is data."""
    for operand in i.operands[1:]:
        x.use(operand)

    def multiplied(g: Gather) -> None:
        if g.lead is x.s:
            finish(x, g, None)
        if isinstance(i.operands[0], VectorOperand):
            x.set_all(i.operands[0], OPAQUE)
        else:
            x.set(i.operands[0], OPAQUE)

    return together(x, i, i.opcode, FULL, multiplied, order=False)


def _by_lane(rank: int, offsets: list[tuple[int, int]], size: int, write: bool) -> Access:
    """An access of lanes that touch so many bytes each, at offsets (lane, byte) in the shared memory of a CTA."""
    low, high = min(o for _, o in offsets), max(o for _, o in offsets) + size
    lanes = footprint([(lane, o, o + size) for lane, o in offsets])
    return Access("shared", write, "generic", rank, low, high, lanes)


def _matrix(x: Exec, i: Instr, operand: Any, *, write: bool) -> None:
    """Each of the first 8*n lanes gives the address of a 16-byte row; every lane gets or gives elements of all rows."""
    n = {"x1": 1, "x2": 2, "x4": 4}.get(i.mod_in(("x1", "x2", "x4")) or "x1", 1)
    address = pointer(i, x.val(operand))
    if isinstance(address, Opaque):
        address.used()
        x.m.incident("unanalysed", x.m.where(), x.s, data={"what": f"{i.opcode} address that is not known"})
        return
    lanes = x.lanes & ((1 << 8 * n) - 1)
    if not lanes:
        return
    target = x.m.shared_target(memory.of_first_lane(address, x.lanes))
    if target is None:
        return
    if address.__class__ is Vec and address.shape is not None and address.base.__class__ is int:
        start, shape = address.shape.masked(address.base, OFFSET)
        low, high = extent(shape, lanes) if shape is not None else (0, 0)
        access = Access(
            "shared", write, "generic", target[0].rank, start + low, start + high + ROW, spread(shape, lanes, ROW)
        )
    else:
        rows = [(lane, a & OFFSET) for lane, a in x.per_lane(address) if lanes >> lane & 1]
        access = _by_lane(target[0].rank, rows, ROW, write)
    add_access(x.s, "st" if write else "ld", access, x.lanes)
    if write:
        return
    record = LoadRecord(access)
    x.s.track(record)
    dest = i.operands[0]
    x.set(dest, tuple([Loaded(record) for _ in dest.items]) if isinstance(dest, VectorOperand) else Loaded(record))


def groups_of(x: Exec, kind: str) -> Groups:
    return x.s.groups.setdefault(kind, Groups())


@op("cp.async")
def cp_async(x: Exec, i: Instr) -> None:
    """A per-thread asynchronous copy of 4, 8 or 16 bytes in the generic proxy."""
    dest = pointer(i, x.val(i.operands[0]))
    size = number(x, x.val(i.operands[2]), 16)
    if isinstance(dest, Opaque):
        x.m.incident("unanalysed", x.m.where(), x.s, data={"what": "cp.async address that is not known"})
        return
    where = x.m.where()
    issue = x.m.emit(x.s, "issue", where=where, lanes=x.lanes, data={"instr": "cp.async"})
    pairs = [(lane, a & 0xFFFFFF) for lane, a in x.per_lane(dest)]
    target = x.m.shared_target(x.per_lane(dest)[0][1])
    if target is None:
        return
    access = _by_lane(target[0].rank, pairs, size, write=True)
    event = x.m.emit(
        None,
        "async",
        where=where,
        cta=target[0].rank,
        preds=[(issue.id, "issue")],
        accesses=[access],
        data={"instr": "cp.async", "issuer": issue.id, "bar": None, "bytes": size},
    )
    issue.data["op"] = event.id
    operation = AsyncOp(event, lambda: None, lanes=x.lanes)
    x.m.queue.append(operation)
    groups = groups_of(x, "cpasync")
    groups.open.append(operation)
    groups.ever = True


@op("cp.async.commit_group")
def cp_commit(x: Exec, i: Instr) -> None:
    commit(x, "cpasync")


def commit(x: Exec, kind: str) -> None:
    """Close the open group of this thread."""
    groups = groups_of(x, kind)
    x.m.emit(x.s, f"{kind}.commit", lanes=x.lanes, data={"ops": [o.event.id for o in groups.open]})
    groups.committed.append(groups.open)
    groups.open = []


@op("cp.async.wait_group", "cp.async.wait_all")
def cp_wait(x: Exec, i: Instr) -> None:
    groups = groups_of(x, "cpasync")
    if i.opcode.endswith("wait_all"):
        groups.committed.append(groups.open)
        groups.open = []
        n = 0
    else:
        n = number(x, x.val(i.operands[0])) if i.operands else 0
    wait_groups(x, "cpasync", n, read=False)


def wait_groups(x: Exec, kind: str, n: int, *, read: bool) -> None:
    """Wait until at most the ``n`` newest committed groups of this thread are incomplete."""
    groups = groups_of(x, kind)
    groups.waited = True
    where = x.m.where()
    done: list[AsyncOp] = []
    while len(groups.committed) > max(n, 0):
        done += groups.committed.popleft()
    if not groups.ever:
        x.m.idle_waits.append((where, x.s, kind, x.lanes))
    elif not done and groups.open and not groups.committed:
        x.m.incident(
            "uncommitted",
            where,
            x.s,
            lanes=x.lanes,
            data={"kind": kind, "ops": [o.event.id for o in groups.open], "waited": True},
        )
    for o in done:
        if read:
            o.source_read = True
    if not read:
        x.m.finish_until(done)
    x.m.emit(
        x.s,
        f"{kind}.wait",
        where=where,
        lanes=x.lanes,
        data={"ops": [o.event.id for o in done], "n": n, "read": read},
        preds=[(o.event.id, "read" if read else "complete") for o in done],
    )
    if read:  # the writes of these groups are still due: a later plain wait covers them
        history = x.s.groups.setdefault(kind + ".read", Groups())
        history.committed.append(done)
    else:
        earlier = x.s.groups.get(kind + ".read")
        if earlier is not None and n == 0:
            late = [o for g in earlier.committed for o in g]
            earlier.committed.clear()
            x.m.finish_until(late)
            x.s.pending += [(o.event.id, "complete") for o in late]


@op("cp.async.mbarrier.arrive")
def cp_mbarrier_arrive(x: Exec, i: Instr) -> None:
    """An arrival that happens when the thread's earlier cp.async copies have landed.

    Without ``.noinc`` it raises the pending count first: it needs no place in the init count, and holds the phase open.
    """
    where = x.m.where()
    groups = groups_of(x, "cpasync")
    ops = list(groups.open) + [o for g in groups.committed for o in g]
    noinc = i.has("noinc")
    for mask, a in by_address(x, x.val(i.operands[0])):
        found = find(x, a, i.opcode, where)
        if not found:
            continue
        cta, offset, state = found
        lanes = mask.bit_count()
        event = x.m.emit(
            x.s,
            "mbar.arrive",
            where=where,
            lanes=mask,
            accesses=[object_access(cta, offset, False)],
            preds=[],
            data={
                "bar": state.index,
                "count": lanes if noinc else 0,
                "phase": state.unit.phase,
                "tx": 0,
                "sem": "release",
                "remote": False,
                "instr": "cp.async.mbarrier.arrive",
            },
        )
        state.current["arrivals"].append(event.id)

        def complete(state: Any = state, event: Any = event, lanes: int = lanes) -> None:
            x.m.finish_until(ops)
            state.contributions += [(o.event.id, "complete") for o in ops]
            for _ in range(lanes):
                x.m.barrier_step(state, lambda u: u.arrive(1), (event.id, "arrive"), where, x.s, arrivals=1)

        if not noinc:
            state.unit.extend(lanes)

        marker = x.m.emit(
            None,
            "async",
            where=where,
            cta=cta.rank,
            preds=[(event.id, "issue")],
            data={"instr": "cp.async.arrive", "issuer": event.id, "bar": state.index, "bytes": 0},
        )
        x.m.queue.append(AsyncOp(marker, complete))


__all__ = ["commit", "groups_of", "pointer", "scalar_type", "shared_operand", "wait_groups"]
