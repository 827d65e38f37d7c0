"""Ordinary (generic proxy) memory accesses of strands, and what memory holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from auditor.trace import Access
from auditor.values import (
    CONST_WINDOW,
    GLOBAL_STRIDE,
    GLOBAL_WINDOW,
    LANES,
    OPAQUE,
    PARAM_WINDOW,
    SHARED_WINDOW,
    BlockInt,
    Loaded,
    Opaque,
    Ref,
    Vec,
    collapse,
)

if TYPE_CHECKING:
    from auditor.machine.core import Machine
    from auditor.machine.state import Cta
    from auditor.machine.strand import Strand

# A global word that is read this often by one strand without change is a spin on a flag: its value becomes opaque.
SPIN_READS = 16


def load_local(p: Ref) -> Any:
    """Read a local object through a Ref; out of range or ill-typed reads are opaque."""
    try:
        if p.key.__class__ is Vec:
            items = [p.box[k] if 0 <= k < len(p.box) else OPAQUE for k in p.key.v]
            first = items[0]
            if all(i is first for i in items):
                return first
            if all(isinstance(i, int) for i in items):
                return collapse(items)
            for i in items:
                if isinstance(i, Opaque):
                    i.used()
            return OPAQUE
        return p.box[p.key] if p.key >= 0 else OPAQUE
    except (IndexError, TypeError):
        return OPAQUE


def store_local(p: Ref, value: Any) -> None:
    """Write a local object through a Ref; writes out of range are dropped."""
    try:
        if p.key.__class__ is Vec:
            for n, k in enumerate(p.key.v):
                if 0 <= k < len(p.box):
                    old = p.box[k]
                    p.box[k] = OPAQUE if isinstance(value, Opaque) or isinstance(old, list) else _lane_write(old, n, value)
            return
        p.box[p.key] = value
    except (IndexError, TypeError):
        return


def _lane_write(old: Any, lane: int, value: Any) -> Any:
    if not isinstance(old, (int, float, Vec)) or not isinstance(value, (int, float, Vec)):
        return OPAQUE
    lanes = list(old.v if isinstance(old, Vec) else (old,) * LANES)
    lanes[lane] = value.v[lane] if isinstance(value, Vec) else value
    return collapse(lanes)


def load(strand: Strand, p: Any, kind: str, bits: int, signed: bool, lanes: int | None = None) -> Any:
    """Read shared, global, constant or parameter memory. Returns per-lane or uniform values, or opaque data."""
    if isinstance(p, (Opaque, list, float)) or p is None:
        return OPAQUE
    size = bits // 8
    p = _address(p)
    if p.__class__ is Vec:
        mask = strand.lanes if lanes is None else lanes
        active = strand.lane_list(mask)
        addresses = p.v
        first = addresses[active[0]]
        if SHARED_WINDOW <= first < PARAM_WINDOW:
            record = _shared_access(strand, [(n, addresses[n]) for n in active], size, write=False, lanes=mask)
            if record is None:
                return OPAQUE
            if kind == "float" or not _knows(strand.machine.ctas[record.access.cta], record.access):
                return Loaded(record)
            values = [_shared_value(strand.machine, addresses[n], size, signed) for n in active]
            if all(v.__class__ is int for v in values):
                out = [0] * LANES
                for n, v in zip(active, values):
                    out[n] = v
                if len(active) < LANES:
                    filler = values[0]
                    for n in range(LANES):
                        if not mask >> n & 1:
                            out[n] = filler
                return collapse(out)
            return Loaded(record)
        if kind == "float":
            if 0 <= first < SHARED_WINDOW:
                _tmem_pointer(strand, first)
            return OPAQUE
        out = [_plain_value(strand, addresses[n], kind, bits, signed) for n in range(LANES)]
        if all(isinstance(v, int) for v in out):
            return collapse(out)
        return OPAQUE
    if SHARED_WINDOW <= p < PARAM_WINDOW:
        mask = strand.lanes if lanes is None else lanes
        record = _shared_access(strand, [(-1, p)], size, write=False, lanes=mask)
        value = _shared_value(strand.machine, p, size, signed)
        if value.__class__ is int and kind != "float":
            return value
        return Loaded(record) if record is not None else OPAQUE
    if kind == "float":
        if 0 <= p < SHARED_WINDOW:
            _tmem_pointer(strand, p)
        return OPAQUE
    return _plain_value(strand, p, kind, bits, signed)


def store(strand: Strand, p: Any, kind: str, bits: int, value: Any, lanes: int | None = None) -> None:
    """Write shared or global memory."""
    if isinstance(p, (Opaque, list, float)) or p is None:
        return
    size = bits // 8
    p = _address(p)
    mask = strand.lanes if lanes is None else lanes
    active = strand.lane_list(mask)
    if p.__class__ is Vec:
        pairs = [(n, p.v[n]) for n in active]
    else:
        pairs = [(-1, p)]
    first = pairs[0][1]
    if SHARED_WINDOW <= first < PARAM_WINDOW:
        access = _shared_access(strand, pairs, size, write=True, lanes=mask)
        if isinstance(value, (Opaque, list)) and access is not None:
            forget_shared(strand.machine.ctas[access.cta], access)
            return
        for n, address in pairs:
            target = strand.machine.shared_target(address)
            if target is not None:
                put_shared(target[0], target[1], size, _lane(value, n if n >= 0 else active[-1]))
    elif first >= GLOBAL_WINDOW or CONST_WINDOW <= first < GLOBAL_WINDOW:
        machine = strand.machine
        for n, address in pairs:
            machine.globals[address] = (size, _lane(value, n if n >= 0 else active[-1]))
        machine.progress += 1
        _global_access(strand, pairs, size, write=True, lanes=mask)
    elif PARAM_WINDOW <= first < CONST_WINDOW:
        strand.machine.params[first] = value
    else:
        _tmem_pointer(strand, first)


def _address(p: Any) -> Any:
    """An address as a plain number: looking at which memory it names is not control flow of the kernel."""
    if p.__class__ is BlockInt:
        return int(p)
    if p.__class__ is Vec and p.v[0].__class__ is BlockInt:
        return Vec(tuple([int(a) for a in p.v]))
    return p


def put_shared(cta: Cta, offset: int, size: int, value: Any) -> None:
    """Remember what was stored, dropping what it overlaps."""
    values = cta.values
    for start in range(offset - 15, offset + size):
        old = values.get(start)
        if old is not None and start + old[0] > offset:
            del values[start]
    values[offset] = (size, value)


def forget_shared(cta: Cta, access: Access) -> None:
    """Data that is not modelled was stored: what was known of these bytes is gone."""
    values = cta.values
    ranges = [(lo, hi) for _, lo, hi in access.lanes] if access.lanes is not None else [(access.lo, access.hi)]
    lowest, highest = access.lo, access.hi
    for start in [k for k, (size, _) in values.items() if k < highest and k + size > lowest]:
        if any(start < hi and start + values[start][0] > lo for lo, hi in ranges):
            del values[start]


def shared_value(cta: Cta, offset: int, size: int) -> Any:
    """The value of ``size`` bytes at an offset: known when it was stored whole, or in parts."""
    entry = cta.values.get(offset)
    if entry is not None and entry[0] == size:
        return entry[1]
    if entry is not None and entry[0] > size and isinstance(entry[1], int):
        return entry[1] & ((1 << 8 * size) - 1)
    for step in (8, 4, 2, 1):  # several smaller stores, or the inside of a larger one
        if step < size:
            parts = [cta.values.get(offset + k) for k in range(0, size, step)]
            if all(e is not None and e[0] == step and isinstance(e[1], int) for e in parts):
                return sum((e[1] & ((1 << 8 * step) - 1)) << 8 * step * k for k, e in enumerate(parts) if e is not None)
    for back in range(1, 16):
        entry = cta.values.get(offset - back)
        if entry is not None and entry[0] >= back + size and isinstance(entry[1], int):
            return entry[1] >> 8 * back & ((1 << 8 * size) - 1)
    return OPAQUE


def _knows(cta: Cta, access: Access) -> bool:
    """Whether any value in the range of an access may be known; most of shared memory holds data that is not modelled."""
    values = cta.values
    if len(values) > 256:
        return True
    return any(access.lo - 16 < k < access.hi for k in values)


def _shared_value(machine: Machine, address: int, size: int, signed: bool) -> Any:
    target = machine.shared_target(address)
    if target is None:
        return OPAQUE
    value = shared_value(target[0], target[1], size)
    if value.__class__ is int and signed and value >> (8 * size - 1) & 1:
        return value - (1 << 8 * size)
    return value


def _lane(value: Any, lane: int) -> Any:
    return value.v[lane] if value.__class__ is Vec else value


def _shared_access(strand: Strand, pairs: list[tuple[int, int]], size: int, *, write: bool, lanes: int) -> Any:
    """Record a generic access. Returns a load record for reads, the access for writes, None when there is no such memory."""
    from auditor.machine.strand import LoadRecord

    machine = strand.machine
    target = machine.shared_target(pairs[0][1])
    if target is None:
        machine.incident("cluster_rank", machine.where(), strand, data={"address": pairs[0][1]})
        return None
    cta = target[0]
    detail = None
    if len(pairs) == 1:  # one lane, or all lanes touch the same bytes
        lo = target[1]
        hi = lo + size
    else:
        offsets = [a & 0xFFFFFF for _, a in pairs]
        lo = min(offsets)
        hi = max(offsets) + size
        detail = tuple([(pair[0], o, o + size) for pair, o in zip(pairs, offsets)])
    if hi > cta.shared_end or lo < 0:
        machine.incident("smem_range", machine.where(), strand,
                         data={"lo": lo, "hi": hi, "end": cta.shared_end, "write": write, "proxy": "generic"})
    access = Access("shared", write, "generic", cta.rank, lo, hi, detail)
    add_access(strand, "st" if write else "ld", access, lanes)
    if write:
        machine.progress += 1
        return access
    record = LoadRecord(access)
    strand.track(record)
    return record


def _global_access(strand: Strand, pairs: list[tuple[int, int]], size: int, *, write: bool, lanes: int) -> None:
    addresses = [a for _, a in pairs]
    detail = tuple([(n, a, a + size) for n, a in pairs]) if len(pairs) > 1 else None
    access = Access("global", write, "generic", 0, min(addresses), max(addresses) + size, detail)
    add_access(strand, "st" if write else "ld", access, lanes)


def add_access(strand: Strand, kind: str, access: Access, lanes: int) -> None:
    """Append to the strand's open memory event when nothing came between and the place is the same."""
    machine = strand.machine
    where = machine.where()
    opened = strand.open_memory
    if opened is not None and opened[1] == (kind, where, lanes):
        opened[0].accesses.append(access)
        return
    event = machine.emit(strand, kind, where=where, lanes=lanes, accesses=[access])
    strand.open_memory = (event, (kind, where, lanes))


def _plain_value(strand: Strand, address: int, kind: str, bits: int, signed: bool) -> Any:
    """A value of parameter, constant or global memory. Unwritten global integers are chosen: small, ascending, and the
    same for the same address in all roles (design: inputs are chosen, not symbolic)."""
    machine = strand.machine
    if PARAM_WINDOW <= address < CONST_WINDOW:
        return machine.params.get(address, OPAQUE)
    if address < CONST_WINDOW:
        _tmem_pointer(strand, address)
        return OPAQUE
    entry = machine.globals.get(address)
    if entry is not None and entry[0] == bits // 8:
        return entry[1]
    if kind == "pointer":
        value: Any = machine.global_base(1000 + len(machine.globals))
        machine.globals[address] = (bits // 8, value)
        return value
    if bits < 32:
        return OPAQUE
    reads = strand.global_reads.get(address, 0) + 1
    strand.global_reads[address] = reads
    if reads > SPIN_READS:
        return OPAQUE
    index = address % GLOBAL_STRIDE // (bits // 8)
    return 4 * (index % 16) + 4


def _tmem_pointer(strand: Strand, address: int) -> None:
    """An ordinary access through a small integer: null, or a tensor-memory address used as a pointer."""
    machine = strand.machine
    machine.incident("tmem_generic", machine.where(), strand, data={"address": address})
