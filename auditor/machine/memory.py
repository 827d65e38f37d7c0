"""Ordinary (generic proxy) memory accesses of strands, and what memory holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from auditor.footprint import spread
from auditor.machine.recording import OFFSET, LoadRecord, add_access, begin_event, open_event, shared_access
from auditor.shapes import extent
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
    Either,
    Loaded,
    Opaque,
    Ref,
    Vec,
    cdiv,
    collapse,
    lane_values,
    pointer_by_lane,
)

if TYPE_CHECKING:
    from auditor.machine.core import Machine
    from auditor.machine.state import Cta
    from auditor.machine.strand import Strand

# A global word that one strand reads this often, without change and without doing anything else, is a flag that it
# spins on: its value becomes opaque. With other work between the reads it takes longer to be sure.
SPIN_READS = 16
WORKING_READS = 256
CHOSEN_SHARED = 2  # an integer from data that one thread shares with the others
SHARED_TURNS = 4  # so often it is zero


def load_local(p: Ref) -> Any:
    """Read a local object through a Ref; out of range or ill-typed reads are opaque."""
    try:
        if p.key.__class__ is Vec:
            items = [p.box[k] if 0 <= k < len(p.box) else OPAQUE for k in p.key.v]
            first = items[0]
            if all(i is first for i in items):
                return first
            if all(isinstance(i, (int, Vec)) for i in items):
                return collapse(i.v[n] if isinstance(i, Vec) else i for n, i in enumerate(items))
            for i in items:
                if isinstance(i, Opaque):
                    i.used()
            return pointer_by_lane(items)
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
                    p.box[k] = (
                        OPAQUE if isinstance(value, Opaque) or isinstance(old, list) else _lane_write(old, n, value)
                    )
            return
        p.box[p.key] = value
    except (IndexError, TypeError):
        return


def overlaid(lanes: int, new: Any, old: Any) -> Any:
    """What a local object holds when only some lanes write a new value to it."""
    if isinstance(new, (int, float, Vec)) and isinstance(old, (int, float, Vec)):
        pairs = zip(lane_values(new), lane_values(old))
        return collapse(a if lanes >> lane & 1 else b for lane, (a, b) in enumerate(pairs))
    if isinstance(new, Opaque):
        new.used()
    return OPAQUE


def step_local(p: Ref, n: Any, size: int) -> Any:
    """A pointer to a local object moved by ``n`` elements of ``size`` bytes."""
    if isinstance(n, Opaque):
        n.used()
        return OPAQUE
    if p.unit:
        n = n * size // p.unit if n.__class__ is int else cdiv(n * size, p.unit)
    return Ref(p.box, p.key + n, p.unit)


def field_local(p: Ref, index: int, offset: int) -> Any:
    """A pointer to a field of a local object, or to an element of an array that is seen as objects."""
    if p.unit:
        return Ref(p.box, p.key + offset // p.unit, p.unit)
    if p.box.__class__ is Either:
        return p.box.field(p.key, index)
    target = load_local(p)
    if isinstance(target, list):
        return Ref(target, index)
    if isinstance(target, Opaque):  # a scalar seen as part of a class: what follows is not known, but it is a use
        target.used()
    return OPAQUE


def load_wide(p: Ref, bits: int) -> Any:
    """Read a local array through a pointer to a type of another size: known when it is made of whole integers."""
    count = bits // 8 // p.unit
    box, key = p.box, p.key
    if box.__class__ is list and key.__class__ is int and 0 <= key <= len(box) - count:
        parts = box[key : key + count]
    else:
        parts = [load_local(Ref(box, key + k)) for k in range(count)] if key.__class__ is int else []
    if parts and all(part.__class__ is int for part in parts):
        width = 8 * p.unit
        return sum((part & ((1 << width) - 1)) << width * k for k, part in enumerate(parts))
    for part in parts or [load_local(p)]:
        if isinstance(part, Opaque):
            part.used()
    return OPAQUE


def store_wide(p: Ref, bits: int, value: Any) -> None:
    """Write a local array through a pointer to a type of another size."""
    count = bits // 8 // p.unit
    width = 8 * p.unit
    box, key = p.box, p.key
    touched = max(count, 1)
    if isinstance(value, Opaque) and box.__class__ is list and key.__class__ is int and 0 <= key <= len(box) - touched:
        box[key : key + touched] = [value] * touched
        return
    for k in range(touched):
        whole = count and value.__class__ is int
        part = value >> width * k & ((1 << width) - 1) if whole else value if isinstance(value, Opaque) else OPAQUE
        store_local(Ref(p.box, p.key + k), part)


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
    given, p = p, _address(p)
    mask = strand.lanes if lanes is None else lanes
    first = of_first_lane(p, mask)
    if SHARED_WINDOW <= first < PARAM_WINDOW:
        return _read_shared(strand, p, first, kind, bits // 8, signed, mask, 1)[0]
    machine = strand.machine
    if first >= GLOBAL_WINDOW:
        if machine.watches_reads:
            _global_read(strand, first, mask)
        data = (first - GLOBAL_WINDOW) // GLOBAL_STRIDE in machine.data_arrays
        if data and kind == "int" and first not in machine.globals:
            return OPAQUE
    if kind == "float":
        if 0 <= first < SHARED_WINDOW:
            _tmem_pointer(strand, first)
        return OPAQUE
    if p.__class__ is not Vec:
        return _plain_value(strand, given, kind, bits, signed)
    out = [_plain_value(strand, address, kind, bits, signed) for address in given.v]
    return collapse(out) if all(isinstance(v, int) for v in out) else OPAQUE


def load_vector(strand: Strand, p: Any, kind: str, bits: int, signed: bool, count: int, lanes: int) -> list[Any]:
    """Read ``count`` adjacent values a lane in one access, as a vector load does; see ``load``."""
    size = bits // 8
    if not isinstance(p, (int, Vec)):
        return [OPAQUE] * count
    whole = _address(p)
    first = of_first_lane(whole, lanes)
    if not SHARED_WINDOW <= first < PARAM_WINDOW:
        return [load(strand, p + k * size, kind, bits, signed, lanes) for k in range(count)]
    return _read_shared(strand, whole, first, kind, size, signed, lanes, count)


def of_first_lane(p: Any, lanes: int) -> int:
    """The address of the first lane of a mask."""
    return int(p.lane((lanes & -lanes).bit_length() - 1) if p.__class__ is Vec else p)


def _read_shared(
    strand: Strand, p: Any, first: int, kind: str, size: int, signed: bool, lanes: int, count: int
) -> list[Any]:
    """Read shared memory: the values that it is known to hold, or opaque data that tells when it is used.

    ``first``: the address of the first active lane; ``count``: adjacent values of ``size`` bytes for each lane.
    """
    touched = shared_access(strand, p, first, size * count, write=False, lanes=lanes)
    if touched is None:
        return [OPAQUE] * count
    access, lo, hi = touched
    if kind == "float" or not strand.machine.ctas[access.cta].values.near(lo, hi):
        return [_loaded(strand, access) for _ in range(count)]
    found = []
    for k in range(count):
        value = _known(strand, p + k * size, size, signed, lanes)
        found.append(_loaded(strand, access) if value is None else value)
    return found


def _known(strand: Strand, p: Any, size: int, signed: bool, lanes: int) -> Any:
    """What the lanes read, if that is known of all of them, else None."""
    if p.__class__ is not Vec:
        value = _shared_value(strand.machine, p, size, signed)
        return value if isinstance(value, int) else None
    values: dict[int, Any] = {}
    for n in strand.lane_list(lanes):
        value = values[n] = _shared_value(strand.machine, p.lane(n), size, signed)
        if not isinstance(value, int):
            return None
    filler = next(iter(values.values()))
    return collapse(values.get(n, filler) for n in range(LANES))


def store(strand: Strand, p: Any, kind: str, bits: int, value: Any, lanes: int | None = None) -> None:
    """Write shared or global memory."""
    if isinstance(p, (Opaque, list, float)) or p is None:
        return
    size = bits // 8
    mask = strand.lanes if lanes is None else lanes
    active = strand.lane_list(mask)
    first = of_first_lane(p, mask)
    if p.__class__ is Vec and isinstance(value, Opaque) and first >= GLOBAL_WINDOW:
        _global_data(strand, first, int(p.lane(active[-1])), size, mask)
        return
    p = _address(p)
    if SHARED_WINDOW <= first < PARAM_WINDOW:
        _write_shared(strand, p, first, kind, size, (value,), mask)
    elif first >= CONST_WINDOW:
        machine = strand.machine
        for n, address in _pairs(p, active):
            machine.globals[address] = (size, _lane(value, n))
        machine.progress += 1
        _global_access(strand, p, size, write=True, lanes=mask)
    elif PARAM_WINDOW <= first < CONST_WINDOW:
        strand.machine.params[first] = value
    else:
        _tmem_pointer(strand, first)


def store_vector(strand: Strand, p: Any, kind: str, bits: int, values: Sequence[Any], lanes: int) -> None:
    """Write adjacent values of each lane in one access, as a vector store does; see ``store``."""
    size = bits // 8
    if not isinstance(p, (int, Vec)):
        return
    whole = _address(p)
    first = of_first_lane(whole, lanes)
    if SHARED_WINDOW <= first < PARAM_WINDOW:
        _write_shared(strand, whole, first, kind, size, values, lanes)
        return
    for k, value in enumerate(values):
        store(strand, p + k * size, kind, bits, value, lanes)


def _write_shared(strand: Strand, p: Any, first: int, kind: str, size: int, values: Sequence[Any], lanes: int) -> None:
    """Write adjacent values of ``size`` bytes for each lane to shared memory."""
    touched = shared_access(strand, p, first, size * len(values), write=True, lanes=lanes)
    if touched is None:
        return
    access, lo, hi = touched
    machine = strand.machine
    cta = machine.ctas[access.cta]
    active = strand.lane_list(lanes)
    cta.values.forget(lo, hi, lambda: [a & OFFSET for _, a in _pairs(p, active)], size * len(values))
    shared = kind == "int" and size == 4 and (p.__class__ is not Vec or len(active) == 1)
    for k, value in enumerate(values):
        if isinstance(value, (Opaque, list)):
            if shared:
                _choose_shared(cta, lo + 4 * k)
            continue
        for n, address in _pairs(p, active):
            target = machine.shared_target(address + k * size)
            if target is not None:
                target[0].values.put(target[1], size, _lane(value, n))


def _pairs(p: Any, active: list[int]) -> list[tuple[int, int]]:
    """(lane, address) of the lanes that write; the last one when all write to the same address."""
    return [(n, p.lane(n)) for n in active] if p.__class__ is Vec else [(active[-1], p)]


def _choose_shared(cta: Cta, offset: int) -> None:
    """One thread shares an integer that comes from data, such as a count or the next tile: chosen here, not where it is
    read, so that all roles see the same. Now and then it is zero, so that what goes on while it is not zero ends."""
    times = cta.chosen[offset] = cta.chosen.get(offset, 0) + 1
    cta.values.put(offset, 4, 0 if times % SHARED_TURNS == 0 else CHOSEN_SHARED)


def _address(p: Any) -> Any:
    """An address as a plain number: looking at which memory it names is not control flow of the kernel."""
    if p.__class__ is BlockInt:
        return int(p)
    return p.plain() if p.__class__ is Vec else p


def _shared_value(machine: Machine, address: int, size: int, signed: bool) -> Any:
    target = machine.shared_target(address)
    if target is None:
        return OPAQUE
    return _as_read(target[0].values.get(target[1], size), size, signed)


def _as_read(value: Any, size: int, signed: bool) -> Any:
    """What was stored, as a number of the type that it is read as."""
    if not isinstance(value, int):
        return value
    half = 1 << (8 * size - 1)
    if signed:
        return value if -half <= value < half else (value + half & 2 * half - 1) - half
    return value if 0 <= value < 2 * half else value & 2 * half - 1


def _lane(value: Any, lane: int) -> Any:
    return value.v[lane] if value.__class__ is Vec else value


def _loaded(strand: Strand, access: Access) -> Loaded:
    """Opaque data of a load, which tells whether it was used."""
    record = LoadRecord(access)
    strand.warp.loads.append(record)
    return Loaded(record)


def _global_data(strand: Strand, first: int, last: int, size: int, lanes: int) -> None:
    """Results that the lanes store to global memory, from the first to the last lane's address.

    Their values are not modelled and no rule asks for single lanes, so a loop of such stores at one place is one access
    with the bounds of all.
    """
    machine = strand.machine
    lo, hi = (first, last + size) if first <= last else (last, first + size)
    machine.progress += 1
    known = machine.globals
    if known:
        near = range(lo, hi) if hi - lo < len(known) else list(known)
        for address in near:
            if lo <= address < hi:
                known.pop(address, None)
    where, opened = open_event(strand, "st", lanes, 0)
    if opened is not None and opened.newest.space == "global":
        opened.newest.lo = min(opened.newest.lo, lo)
        opened.newest.hi = max(opened.newest.hi, hi)
        return
    access = Access("global", True, "generic", 0, lo, hi)
    if opened is not None:
        opened.add(access)
    else:
        begin_event(strand, "st", where, access, lanes)


def _global_read(strand: Strand, address: int, lanes: int) -> None:
    """Note that the strand reads an array of global memory; once a place."""
    machine = strand.machine
    key = (machine.where(), (address - GLOBAL_WINDOW) // GLOBAL_STRIDE)
    if key not in strand.arrays_read:
        strand.arrays_read.add(key)
        machine.emit(strand, "global.read", where=key[0], lanes=lanes, data={"array": key[1]})


def _global_access(strand: Strand, p: Any, size: int, *, write: bool, lanes: int) -> None:
    if p.__class__ is Vec and lanes & (lanes - 1):
        low, high = extent(p.shape, lanes)
        access = Access("global", write, "generic", 0, p.base + low, p.base + high + size, spread(p.shape, lanes, size))
    else:
        (_, address), *_rest = _pairs(p, strand.lane_list(lanes))
        access = Access("global", write, "generic", 0, address, address + size)
    add_access(strand, "st" if write else "ld", access, lanes)


def _plain_value(strand: Strand, given: int, kind: str, bits: int, signed: bool) -> Any:
    """A value of parameter, constant or global memory. Unwritten global integers are chosen: small, ascending, and the
    same for the same address in all roles (design: inputs are chosen, not symbolic). What is chosen for an address that
    follows from blockIdx does so, too."""
    machine = strand.machine
    address = int(given)
    if PARAM_WINDOW <= address < CONST_WINDOW:
        return machine.params.get(address, OPAQUE)
    if address < CONST_WINDOW:
        _tmem_pointer(strand, address)
        return OPAQUE
    entry = machine.globals.get(address)
    if entry is not None and entry[0] == bits // 8:
        if kind == "int":
            return OPAQUE if _spins(strand, address, entry[1]) else _as_read(entry[1], bits // 8, signed)
        return entry[1]
    if kind == "pointer":
        value: Any = machine.global_base(1000 + len(machine.globals))
        machine.globals[address] = (bits // 8, value)
        return value
    if bits < 32:
        return 1 if bits == 8 else OPAQUE  # bytes may be masks, on which control flow depends; half words are data
    if _spins(strand, address, None):
        return OPAQUE
    return _chosen(machine, given, bits // 8)


def _chosen(machine: Machine, address: int, size: int) -> Any:
    """The integer that is chosen for a word that nobody has written."""
    index: Any = int(address) % GLOBAL_STRIDE // size
    if address.__class__ is BlockInt:
        index = index, address.other % GLOBAL_STRIDE // size
    value = machine.chosen.get(index)
    if value is None:
        value = machine.chosen[index] = machine.contents(BlockInt(*index) if index.__class__ is tuple else index)
        machine.chosen_words.add(int(value))
    return value


def _spins(strand: Strand, address: int, value: Any) -> bool:
    """Counts a read of a global word; whether the strand seems to wait for the word to change."""
    if value is not None and value.__class__ is not int:
        return False
    progress = strand.machine.progress
    known, epoch, idle, total = strand.global_reads.get(address, (value, progress, 0, 0))
    if known != value:
        idle = total = 0
    idle = idle + 1 if epoch == progress else 1
    strand.global_reads[address] = (value, progress, idle, total + 1)
    return idle > SPIN_READS or total >= WORKING_READS


def _tmem_pointer(strand: Strand, address: int) -> None:
    """An ordinary access through a small integer: null, or a tensor-memory address used as a pointer."""
    machine = strand.machine
    machine.incident("tmem_generic", machine.where(), strand, data={"address": address})
