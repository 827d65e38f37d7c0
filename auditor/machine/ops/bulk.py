"""Bulk and tensor copies (TMA), their groups and tensor maps (PTX ISA 9.7.9.25 to 9.7.9.28)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from auditor.machine import boxes
from auditor.machine.execute import Exec, op
from auditor.machine.launch import SWIZZLE_SPAN, Launch, TensorMap
from auditor.machine.mbarrier import Mbarrier
from auditor.machine.ops.atomic import atom
from auditor.machine.ops.common import number, shared_operand
from auditor.machine.ops.data import commit, groups_of, st, wait_groups
from auditor.machine.ops.mbar import check_space, find
from auditor.machine.schedule import PEER_PIECE, PIECE
from auditor.machine.state import AsyncOp, BarrierState, Cta
from auditor.ptx.grammar import Addr, Instr, VectorOperand
from auditor.source import Stack
from auditor.trace import Access, Event
from auditor.values import CONST_WINDOW, GLOBAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, Opaque, Ref, Vec

MAX_BULK = 1_048_560  # bytes of one bulk operation (PTX ISA 9.7.9.25.4.1)
CLUSTERS_HANDED_OUT = 3  # to a cluster that asks for further work
UNKNOWN_BYTES = 128  # what is assumed of a tensor store whose map is not known


@op("cp.async.bulk", "cp.reduce.async.bulk")
def bulk(x: Exec, i: Instr) -> None:
    """1-D bulk copies. Direction by the state spaces, destination first."""
    spaces = [m for m in i.mods if m in ("global", "shared::cta", "shared::cluster")]
    reduces = i.opcode.startswith("cp.reduce")
    to_global = bool(spaces) and spaces[0] == "global"
    dest, source, size, *rest = i.operands
    d, s, n = x.val(dest), x.val(source), x.val(size)
    for lanes, (dv, sv, nv) in _per_issue(x, (d, s, n)):
        if not isinstance(nv, int):
            x.m.incident("unanalysed", x.m.where(), x.s, data={"what": "bulk copy size that is not known"})
            nv = None
        elif nv % 16 or not 0 <= nv <= MAX_BULK:
            x.m.incident("bulk_size", x.m.where(), x.s, data={"bytes": nv})
            nv -= nv % 16  # measured: the hardware copies whole 16 bytes
        if to_global:
            _store(x, i, lanes, sv, dv, nv, "bulk.reduce" if reduces else "bulk.store")
        elif "shared::cta" in spaces[1:] and spaces[0] == "shared::cluster":
            _to_peer(x, i, lanes, dv, sv, nv, x.val(rest[0]))
        else:
            mask = x.val(rest[1]) if i.has("multicast::cluster") and len(rest) > 1 else None
            _load(x, i, lanes, dv, nv, x.val(rest[0]), mask, "bulk.load", sv, None)


@op("cp.async.bulk.tensor")
def tensor(x: Exec, i: Instr) -> None:
    """Tensor copies. Loads: [dst], [map, coords], [mbar] {, im2col offsets} {, mask}; stores: [map, coords], [src]."""
    spaces = [m for m in i.mods if m in ("global", "shared::cta", "shared::cluster")]
    if spaces and spaces[0] == "global":
        _tensor_store(x, i, "tma.store")
        return
    dest, source, bar, *rest = i.operands
    assert isinstance(source, Addr)
    rest = [o for o in rest if not isinstance(o, VectorOperand)]
    mask = x.val(rest[0]) if i.has("multicast::cluster") and rest else None
    coords = tuple(x.val(c) for c in source.coords)
    for lanes, values in _per_issue(x, (x.val(dest), x.val(Addr(source.base, source.offset)), x.val(bar), *coords)):
        d, m, b = values[:3]
        tensor_map = map_at(x, m, coords=values[3:])
        _load(x, i, lanes, d, _gathered_bytes(i, tensor_map), b, mask, "tma.load", m, tensor_map)


def _gathered_bytes(i: Instr, tensor_map: TensorMap | None) -> int | None:
    """Bytes of one tensor load; gather4 fetches four rows of the box's row."""
    if tensor_map is None:
        return None
    n = tensor_map.box_bytes
    if n is not None and i.has("tile::gather4"):
        rows = tensor_map.box[1] if tensor_map.rank > 1 and isinstance(tensor_map.box[1], int) else 1
        return n // max(rows, 1) * 4
    return n


@op("cp.reduce.async.bulk.tensor")
def tensor_reduce(x: Exec, i: Instr) -> None:
    _tensor_store(x, i, "tma.reduce")


def _tensor_store(x: Exec, i: Instr, instr: str) -> None:
    target, source = i.operands[0], i.operands[1]
    assert isinstance(target, Addr)
    coords = tuple(x.val(c) for c in target.coords)
    for lanes, values in _per_issue(x, (x.val(Addr(target.base, target.offset)), x.val(source), *coords)):
        m, s = values[:2]
        tensor_map = map_at(x, m, coords=values[2:])
        for n, c in enumerate(values[2:]):
            if isinstance(c, int) and -(1 << 20) < int(c) < 0:
                x.m.incident(
                    "descriptor",
                    x.m.where(),
                    x.s,
                    data={"what": "store coordinate", "dim": n, "value": c, "entry": "TL-20"},
                )
        size = tensor_map.box_bytes if tensor_map is not None else None
        _store(x, i, lanes, s, m, size, instr, tensor_map)


def _per_issue(x: Exec, operands: tuple[Any, ...]) -> list[tuple[int, tuple[Any, ...]]]:
    """(lane mask, operand values) of each different operation that the active lanes issue.

    Lanes with equal operands issue the same operation several times over: one entry whose mask has several bits.
    """
    if all(v.__class__ is not Vec for v in operands):
        return [(x.lanes, operands)]
    groups: dict[tuple[Any, ...], int] = {}
    for lane in x.s.lane_list(x.lanes):
        key = tuple(v.v[lane] if v.__class__ is Vec else v if isinstance(v, int) else id(v) for v in operands)
        groups[key] = groups.get(key, 0) | 1 << lane
    out = []
    for mask in groups.values():
        lane = (mask & -mask).bit_length() - 1
        out.append((mask, tuple(v.v[lane] if v.__class__ is Vec else v for v in operands)))
    return out


def map_at(x: Exec, address: Any, coords: tuple[Any, ...] = ()) -> TensorMap | None:
    """The tensor map at an address; incidents when it lies where a map may not."""
    where = x.m.where()
    if isinstance(address, Ref):
        x.m.incident("tensormap_space", where, x.s, data={"space": "local"})
        value = address.box
        while isinstance(value, list) and value:
            value = value[0]
        return value if isinstance(value, TensorMap) else None
    if not isinstance(address, int):
        return None
    if SHARED_WINDOW <= address < PARAM_WINDOW:
        x.m.incident("tensormap_space", where, x.s, data={"space": "shared"})
        return None
    found: Any = x.m.params.get(address)
    if PARAM_WINDOW <= address < CONST_WINDOW:
        for lo, hi, param in x.m.param_objects:
            if lo <= address < hi:
                if not param.grid_constant:
                    x.m.incident(
                        "tensormap_space",
                        where,
                        x.s,
                        related=[((param.loc,), "by-value parameter")],
                        data={"space": "parameter copy", "param": param.name},
                    )
                if (address - lo) % 64:
                    x.m.incident(
                        "misaligned", where, x.s, data={"what": "tensor map", "offset": address - lo, "need": 64}
                    )
    if not isinstance(found, TensorMap):
        return None
    if coords and found.rank != len(coords) and not any(isinstance(c, Opaque) for c in coords):
        x.m.incident(
            "descriptor",
            where,
            x.s,
            data={"what": "coordinates", "rank": found.rank, "given": len(coords), "entry": "TL-16"},
        )
    return found


def _check_shared(
    x: Exec, offset: int, size: int | None, cta: Cta, where: Stack, need: int, what: str, tensor_map: TensorMap | None
) -> None:
    if offset % need:
        x.m.incident("misaligned", where, x.s, data={"what": what, "offset": offset, "need": need})
    elif tensor_map is not None and isinstance(tensor_map.swizzle, int) and SWIZZLE_SPAN.get(tensor_map.swizzle):
        period = SWIZZLE_SPAN[tensor_map.swizzle] * 8
        if offset % period:
            x.m.incident(
                "misaligned",
                where,
                x.s,
                data={
                    "what": "swizzled tile",
                    "offset": offset,
                    "need": period,
                    "swizzle": SWIZZLE_SPAN[tensor_map.swizzle],
                },
            )
    if size is not None and (offset + size > cta.shared_end or offset < 0):
        x.m.incident(
            "smem_range",
            where,
            x.s,
            data={"lo": offset, "hi": offset + size, "end": cta.shared_end, "write": True, "proxy": "async"},
        )


def _load(
    x: Exec,
    i: Instr,
    lanes: int,
    dest: Any,
    size: int | None,
    bar: Any,
    mask: Any,
    instr: str,
    source: Any,
    tensor_map: TensorMap | None,
) -> None:
    """A copy from global to shared memory that completes on an mbarrier."""
    m, where = x.m, x.m.where()
    target = shared_operand(x, dest)
    if target is None:
        return
    cta, offset = target
    check_space(x, i, cta, where)
    bar_target = shared_operand(x, bar)
    if bar_target is None:
        return
    bar_cta, bar_offset = bar_target
    copies = lanes.bit_count()
    if copies > 1:
        m.incident("multi_issue", where, x.s, lanes=lanes, data={"instr": instr, "lanes": copies, "bytes": size})
    _check_shared(
        x,
        offset,
        size,
        cta,
        where,
        128 if instr == "tma.load" else 16,
        "tensor copy" if instr == "tma.load" else "bulk copy",
        tensor_map,
    )
    if instr == "bulk.load" and isinstance(source, int) and int(source) >= GLOBAL_WINDOW and source % 16:
        m.incident("misaligned", where, x.s, data={"what": "bulk copy source", "offset": source % 16, "need": 16})
    destinations = [cta]
    if mask is not None:
        bits = number(x, mask)
        if not bits or bits >> len(m.ctas):
            m.incident("cluster_rank", where, x.s, data={"mask": bits, "ctas": len(m.ctas)})
        destinations = [c for c in m.ctas if bits >> c.rank & 1]
    pair = i.has("cta_group::2")
    if bar_cta is not cta and not pair and mask is None:
        m.incident("descriptor", where, x.s, data={"what": "mbarrier of another CTA", "entry": "TL-22"})
    issue = m.emit(x.s, "issue", where=where, lanes=lanes, data={"instr": instr})
    found = find(x, bar, instr, where) if mask is None else None
    for dst in destinations:
        state = None
        if mask is None:
            state = found[2] if found else None
        else:
            owner = dst
            if pair:
                owner = (
                    m.ctas[(dst.rank & ~1) | (bar_cta.rank & 1)]
                    if (dst.rank | 1) < len(m.ctas) or len(m.ctas) > 1
                    else dst
                )
            state = owner.barriers.get(bar_offset)
            if state is None or not state.valid:
                m.incident(
                    "use_before_init",
                    where,
                    x.s,
                    data={"what": instr, "offset": bar_offset, "owner": owner.rank, "events": len(m.trace.events)},
                )
                state = None
        hi = offset + (size if size is not None else 16)
        origin = int(source) if isinstance(source, int) else where
        boxes.aim(m, dst.rank, offset, origin)
        event = m.emit(
            None,
            "async",
            where=where,
            cta=dst.rank,
            preds=[(issue.id, "issue")],
            accesses=[Access("shared", True, "async", dst.rank, offset, hi)],
            data={
                "instr": instr,
                "issuer": issue.id,
                "bar": state.index if state else None,
                "bytes": size,
                "map": tensor_map.name if tensor_map else None,
                "map_address": source if instr == "tma.load" and isinstance(source, int) else None,
                "copies": copies,
                "origin": origin,
                "source_cta": x.s.warp.cta.rank,
                "swizzle": tensor_map.swizzle if tensor_map else None,
                "row": tensor_map.row_bytes if tensor_map else None,
            },
        )
        if instr == "bulk.load" and isinstance(source, int) and int(source) >= GLOBAL_WINDOW and size is not None:
            event.accesses.append(Access("global", False, "async", 0, int(source), int(source) + size))
        if state is not None:
            event.accesses.append(
                Access(
                    "shared",
                    False,
                    "generic",
                    state.record.cta,
                    state.record.offset,
                    state.record.offset + 8,
                    what="mbarrier",
                )
            )
        issue.data["op"] = event.id
        _launch(x, event, state, size, copies, where)


def _launch(
    x: Exec,
    event: Event,
    state: BarrierState | None,
    size: int | None,
    copies: int,
    where: Stack,
    piece: int = PIECE,
) -> None:
    """Put a copy in flight; when it lands it completes bytes on its barrier."""
    m, s = x.m, x.s
    if state is None:
        m.queue.append(AsyncOp(event, lambda: None))
        return
    bar = state
    pieces: Sequence[int | None] = m.schedule.pieces(size, piece) if size is not None else (None,)
    entry: dict[str, Any] = {"event": event.id, "bytes": size, "landed": False, "left": len(pieces)}
    bar.current["copies"].append(entry)
    bar.copies_due += 1
    if size is None:
        boxes.issued(m, bar, event, s)

    def expected() -> bool:
        return size is not None or bar.unit.tx > 0

    def land(part: int | None) -> None:
        n = part if part is not None else boxes.landed(m, event, bar)
        entry["left"] -= 1
        if not entry["left"]:
            entry["landed"] = True
            bar.copies_due -= 1
        for _ in range(copies):
            m.barrier_step(bar, partial(Mbarrier.complete, tx=n), (event.id, "complete"), where, s)

    for part in pieces:
        m.queue.append(AsyncOp(event, partial(land, part), expected, landing=part or 0))


def _to_peer(x: Exec, i: Instr, lanes: int, dest: Any, source: Any, size: int | None, bar: Any) -> None:
    """Shared memory to the shared memory of another CTA; completes on that CTA's mbarrier (TS-08)."""
    m, where = x.m, x.m.where()
    to, frm = shared_operand(x, dest), shared_operand(x, source)
    found = find(x, bar, "bulk.dsmem", where)
    if to is None or frm is None:
        return
    if to[0] is x.s.warp.cta:
        m.incident("state_space", where, x.s, data={"what": i.opcode, "owner": to[0].rank, "needs_peer": True})
    if found and found[0] is not to[0]:
        m.incident("descriptor", where, x.s, data={"what": "mbarrier of another CTA", "entry": "TL-22"})
    n = size if size is not None else 16
    issue = m.emit(x.s, "issue", where=where, lanes=lanes, data={"instr": "bulk.dsmem"})
    event = m.emit(
        None,
        "async",
        where=where,
        cta=to[0].rank,
        preds=[(issue.id, "issue")],
        accesses=[
            Access("shared", True, "async", to[0].rank, to[1], to[1] + n),
            Access("shared", False, "async", frm[0].rank, frm[1], frm[1] + n),
        ],
        data={
            "instr": "bulk.dsmem",
            "issuer": issue.id,
            "bar": found[2].index if found else None,
            "bytes": size,
            "copies": lanes.bit_count(),
            "source_cta": x.s.warp.cta.rank,
        },
    )
    if found:
        event.accesses.append(
            Access("shared", False, "generic", found[0].rank, found[1], found[1] + 8, what="mbarrier")
        )
    issue.data["op"] = event.id
    _launch(x, event, found[2] if found else None, size, lanes.bit_count(), where, PEER_PIECE)


def _store(
    x: Exec,
    i: Instr,
    lanes: int,
    source: Any,
    dest: Any,
    size: int | None,
    instr: str,
    tensor_map: TensorMap | None = None,
) -> None:
    """Shared to global memory; completes through the issuing thread's bulk groups."""
    m, where = x.m, x.m.where()
    target = shared_operand(x, source)
    if target is None:
        return
    cta, offset = target
    if lanes & (lanes - 1):
        m.incident(
            "multi_issue", where, x.s, lanes=lanes, data={"instr": instr, "lanes": lanes.bit_count(), "bytes": size}
        )
    _check_shared(
        x,
        offset,
        size,
        cta,
        where,
        128 if instr.startswith("tma") else 16,
        "tensor copy" if instr.startswith("tma") else "bulk copy",
        tensor_map,
    )
    if not instr.startswith("tma") and isinstance(dest, int) and int(dest) >= GLOBAL_WINDOW and dest % 16:
        m.incident("misaligned", where, x.s, data={"what": "bulk copy destination", "offset": dest % 16, "need": 16})
    n = size if size is not None else UNKNOWN_BYTES
    issue = m.emit(x.s, "issue", where=where, lanes=lanes, data={"instr": instr})
    accesses = [Access("shared", False, "async", cta.rank, offset, offset + n, done="read")]
    if isinstance(dest, int) and int(dest) >= GLOBAL_WINDOW and not instr.startswith("tma"):
        accesses.append(Access("global", True, "async", 0, int(dest), int(dest) + n))
    event = m.emit(
        None,
        "async",
        where=where,
        cta=cta.rank,
        preds=[(issue.id, "issue")],
        accesses=accesses,
        data={
            "instr": instr,
            "issuer": issue.id,
            "bar": None,
            "bytes": size,
            "map": tensor_map.name if tensor_map else None,
            "map_address": dest if instr.startswith("tma") and isinstance(dest, int) else None,
        },
    )
    issue.data["op"] = event.id
    operation = AsyncOp(event, lambda: None, lanes=lanes)
    if i.has("mbarrier::complete_tx::bytes"):
        m.queue.append(operation)
        return
    m.queue.append(operation)
    groups = groups_of(x, "bulk")
    groups.open.append(operation)
    groups.ever = True


@op("cp.async.bulk.commit_group")
def bulk_commit(x: Exec, i: Instr) -> None:
    commit(x, "bulk")


@op("cp.async.bulk.wait_group")
def bulk_wait(x: Exec, i: Instr) -> None:
    wait_groups(x, "bulk", number(x, x.val(i.operands[0])) if i.operands else 0, read=i.has("read"))


_FIELDS = {"rank": (0, 4), "box_dim": (1, 256), "element_stride": (1, 8), "global_dim": (1, 1 << 32)}


def _check_field(x: Exec, i: Instr) -> None:
    """Numbers that a tensor map cannot hold (TL-15). The rank is written as rank - 1; there is a stride less."""
    field = i.mod_in(("rank", "box_dim", "element_stride", "global_dim", "global_stride"))
    if field is None:
        return
    values = [x.s.uniform(x.val(o), x.lanes) for o in i.operands[1:]]
    if values and isinstance(values[-1], int) and int(values[-1]) in x.m.chosen_words:
        return  # most likely read from global memory, where it was chosen
    lo, hi = _FIELDS.get(field, (0, (1 << 40) - 1))
    ordinals = 1 if field == "rank" else 4 if field == "global_stride" else 5
    problem = ""
    if len(values) == 2 and isinstance(values[0], int) and not 0 <= values[0] < ordinals:
        problem = f"ordinal {values[0]} of {field}, of which there are {ordinals}"
    elif values and isinstance(values[-1], int) and not lo <= values[-1] <= hi:
        counted = "rank - 1, " if field == "rank" else ""
        problem = f"{field} of {values[-1]}, which is {counted}at least {lo} and at most {hi}"
    elif field == "global_stride" and values and isinstance(values[-1], int) and values[-1] % 16:
        problem = f"global_stride of {values[-1]} bytes, which is no multiple of 16"
    if problem:
        data = {"what": "tensor map field", "problem": problem, "entry": "TL-15"}
        x.m.incident("descriptor", x.m.where(), x.s, data=data)


@op("tensormap.replace", "tensormap.cp_fenceproxy")
def tensormap_edit(x: Exec, i: Instr) -> None:
    """Edits of a tensor map in memory: the map is no longer the one that the host encoded."""
    address = x.s.uniform(x.val(i.operands[0]), x.lanes)
    if i.opcode == "tensormap.replace":
        _check_field(x, i)
    x.m.emit(x.s, "tensormap", lanes=x.lanes, data={"instr": i.opcode,
                                                    "address": address if isinstance(address, int) else None})


@op("clusterlaunchcontrol.try_cancel")
def try_cancel(x: Exec, i: Instr) -> None:
    """The answer is 16 bytes written asynchronously, completed on an mbarrier (rulebook OT-12)."""
    m, where = x.m, x.m.where()
    target = shared_operand(x, x.uniform(i.operands[0]))
    bar = x.uniform(i.operands[1])
    if target is None:
        return
    everywhere = any(mod.startswith("multicast") for mod in i.mods)
    own = shared_operand(x, bar)
    m.cancels += 1
    answer = _answer(m.launch, m.cancels)
    issue = m.emit(x.s, "issue", where=where, lanes=x.lanes, data={"instr": "try_cancel"})
    for cta in m.ctas if everywhere else [target[0]]:
        state = cta.barriers.get(own[1]) if own else None
        event = m.emit(
            None,
            "async",
            where=where,
            cta=cta.rank,
            preds=[(issue.id, "issue")],
            accesses=[Access("shared", True, "async", cta.rank, target[1], target[1] + 16)],
            data={
                "instr": "try_cancel",
                "issuer": issue.id,
                "bar": state.index if state else None,
                "bytes": 16,
                "copies": 1,
            },
        )
        issue.data["op"] = event.id
        cta.values.put(target[1], 16, answer)  # nobody may look before it has landed, so it can be there now
        _launch(x, event, state, 16, x.lanes.bit_count(), where)


def _answer(launch: Launch, request: int) -> int:
    """The answer to a cluster's request for more work: the next CTA for the first few, then that none is left.

    The layout is ours: bit 0 tells success, words 1 to 3 are the CTA's coordinates.
    """
    if request > CLUSTERS_HANDED_OUT:
        return 0
    x, y, z = launch.block_index
    return 1 | (x + request * launch.cluster[0]) % max(launch.grid[0], 1) << 32 | y << 64 | z << 96


@op("clusterlaunchcontrol.query_cancel")
def query_cancel(x: Exec, i: Instr) -> None:
    """What an answer says. One that is not known says that no further CTA is handed out, so that loops end."""
    dest = i.operands[0]
    answer = x.val(i.operands[1])
    if not isinstance(answer, int):
        answer = 0
    words = tuple(answer >> 32 * n & 0xFFFF_FFFF for n in (1, 2, 3))
    if i.has("is_canceled"):
        x.set(dest, answer & 1)
    elif isinstance(dest, VectorOperand):
        x.set(dest, (*words, 0))
    else:
        axis = (i.mod_prefix("get_first_ctaid::") or "x")[:1]
        x.set(dest, words["xyz".index(axis)])


@op("st.async", "red.async")
def st_async(x: Exec, i: Instr) -> None:
    """A store into a peer's shared memory that completes bytes on the peer's mbarrier (PTX ISA 9.7.9.12).

    The form without an mbarrier goes to global memory, where nothing waits for it.
    """
    if len(i.operands) < 3:
        (atom if i.opcode == "red.async" else st)(x, i)
        return
    m, where = x.m, x.m.where()
    bits = 64 if any(mod.endswith("64") for mod in i.mods) else 32
    vector = {"v2": 2, "v4": 4}.get(i.mod_in(("v2", "v4")) or "", 1)
    size = bits // 8 * vector
    value = x.val(i.operands[1])
    for v in value if value.__class__ is tuple else (value,):
        if isinstance(v, Opaque):
            v.used()
    for lanes, (d, b) in _per_issue(x, (x.val(i.operands[0]), x.val(i.operands[2]))):
        to = shared_operand(x, d)
        found = find(x, b, i.opcode, where)
        if to is None:
            continue
        issue = m.emit(x.s, "issue", where=where, lanes=lanes, data={"instr": "st.async"})
        event = m.emit(
            None,
            "async",
            where=where,
            cta=to[0].rank,
            preds=[(issue.id, "issue")],
            accesses=[Access("shared", True, "generic", to[0].rank, to[1], to[1] + size)],
            data={
                "instr": "st.async",
                "issuer": issue.id,
                "bar": found[2].index if found else None,
                "bytes": size,
                "copies": lanes.bit_count(),
                "source_cta": x.s.warp.cta.rank,
            },
        )
        issue.data["op"] = event.id
        _launch(x, event, found[2] if found else None, size, lanes.bit_count(), where)
