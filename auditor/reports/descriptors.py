"""Tensor maps: what the host encodes against what the kernel assumes of it, item by item."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from auditor.machine.launch import ELEMENT_BITS, SWIZZLE_SPAN, TensorMap
from auditor.ptx.descriptors import InstructionDescriptor, cp_bytes, k_extent
from auditor.reports.buffers import STORES
from auditor.reports.facts import Facts
from auditor.reports.model import Check, MapRow
from auditor.trace import Event

AGREE, DIFFER, UNKNOWN = "agree", "differ", "not known"
# CUtensorMapDataType in order (CUDA driver API).
TYPES = (
    "u8",
    "u16",
    "u32",
    "s32",
    "u64",
    "s64",
    "f16",
    "f32",
    "f64",
    "bf16",
    "f32 (flush)",
    "tf32",
    "tf32 (flush)",
    "16 x u4, 8-byte blocks",
    "16 x u4, 16-byte blocks",
    "16 x u6, 16-byte blocks",
)
_MMA_SPAN = {0: 0, 1: 128, 2: 128, 4: 64, 6: 32}
_WGMMA_SPAN = (0, 128, 64, 32)
_OPERAND_TYPES = {"f16": ("f16",), "bf16": ("bf16",), "tf32": ("f32", "f32 (flush)", "tf32", "tf32 (flush)")}


def maps(facts: Facts) -> tuple[MapRow, ...]:
    """A row for each tensor map that the kernel is given."""
    uses: dict[str, list[Event]] = {}
    for op in facts.ops:
        if op.data.get("map"):
            uses.setdefault(str(op.data["map"]), []).append(op)
    rows = []
    for name, tensor_map in _given(facts):
        ops = uses.get(tensor_map.name, [])
        rows.append(MapRow(name, tuple(_encoded(tensor_map)), tuple(_checks(facts, tensor_map, ops))))
    return tuple(rows)


def _given(facts: Facts) -> Iterator[tuple[str, TensorMap]]:
    """Tensor maps among the arguments, also inside objects, with the parameter's name."""
    audit = facts.audit
    for param, value in zip(audit.kernel.params, audit.launch.args):
        stack: list[Any] = [value]
        while stack:
            item = stack.pop(0)
            if isinstance(item, TensorMap):
                yield param.name, item
            elif isinstance(item, (list, tuple)):
                stack = [*item, *stack]


def _numbers(values: tuple[Any, ...]) -> str:
    return " x ".join(str(v) if isinstance(v, int) else "?" for v in values)


def _encoded(m: TensorMap) -> Iterator[tuple[str, str]]:
    known = isinstance(m.data_type, int) and m.data_type < len(TYPES)
    yield "element", f"{TYPES[m.data_type]}, {m.element_bits} bits" if known else "not known"
    yield "shape (innermost first)", _numbers(m.dims[: m.rank])
    yield "strides in bytes", _numbers(m.strides[: m.rank - 1]) or "none"
    yield "box", _numbers(m.box[: m.rank])
    if any(s != 1 for s in m.element_strides[: m.rank]):
        yield "element strides", _numbers(m.element_strides[: m.rank])
    yield "swizzle", _swizzle(m.swizzle)
    yield (
        "fill outside",
        {0: "zeros", 1: "NaN"}.get(m.oob_fill, "not known") if isinstance(m.oob_fill, int) else "not known",
    )
    yield "result of the encode call", "checked" if m.checked else "not checked"


def _swizzle(code: Any) -> str:
    if not isinstance(code, int):
        return "not known"
    span = SWIZZLE_SPAN.get(code)
    return (
        "none" if span == 0 else f"{span} bytes" + (f" (atom code {code})" if code > 3 else "") if span else "not known"
    )


def _check(item: str, host: Any, kernel: Any, unit: str = "", good: bool | None = None) -> Check:
    known = host is not None and kernel is not None
    verdict = UNKNOWN if not known else AGREE if (host == kernel if good is None else good) else DIFFER

    def show(value: Any) -> str:
        text = f"{value:,}" if isinstance(value, int) else "not known" if value is None else str(value)
        return f"{text} {unit}" if unit and isinstance(value, int) else text

    return Check(item, show(host), show(kernel), verdict)


def _checks(facts: Facts, m: TensorMap, ops: list[Event]) -> Iterator[Check]:
    box = m.box[: m.rank]
    bits = m.element_bits
    inner = box[0] * bits // 8 if box and isinstance(box[0], int) and bits else None
    span = SWIZZLE_SPAN.get(m.swizzle) if isinstance(m.swizzle, int) else None
    if inner is not None and span:
        yield _check(
            "innermost box row within the swizzle span", f"{inner} bytes", f"{span} bytes at most", good=inner <= span
        )
    for n, stride in enumerate(m.strides[: m.rank - 1]):
        if isinstance(stride, int):
            yield _check(f"stride {n + 1} a multiple of 16 bytes", stride, "multiple of 16", good=stride % 16 == 0)
    if not ops:
        yield Check("use", "encoded", "no copy with this map in the run", UNKNOWN)
        return
    if ops[0].data["instr"] in STORES:
        yield from _stored(m, ops)
        return
    yield from _landing(facts, m, ops, span)
    yield from _operand(facts, m, ops, inner, span)


def _stored(m: TensorMap, ops: list[Event]) -> Iterator[Check]:
    source = min(op.accesses[0].lo for op in ops)
    step = 8 * (SWIZZLE_SPAN.get(m.swizzle, 0) if isinstance(m.swizzle, int) else 0) or 128
    yield _check(
        "alignment of the source",
        f"{step} bytes",
        f"offset {source:,}",
        good=all(op.accesses[0].lo % step == 0 for op in ops),
    )


def _landing(facts: Facts, m: TensorMap, ops: list[Event], span: int | None) -> Iterator[Check]:
    """The copies themselves: alignment, and their share of the expected bytes."""
    step = 8 * span if span else 128
    starts = {op.accesses[0].lo for op in ops}
    yield _check(
        "alignment of the destination",
        f"{step} bytes",
        f"offsets from {min(starts):,}",
        good=all(lo % step == 0 for lo in starts),
    )
    bar = next((op.data["bar"] for op in ops if op.data.get("bar") is not None), None)
    if bar is None or not facts.trace.barriers[bar].phases:
        return
    phase = facts.trace.barriers[bar].phases[0]
    expected = sum(tx for _, tx in phase["expected"])
    copies = [facts.trace.events[c["event"]] for c in phase["copies"]]
    ours = sum(1 for c in copies if c.data.get("map") == m.name)
    others = sum(
        (c.data.get("bytes") or c.data.get("assumed_bytes", 0)) * c.data.get("copies", 1)
        for c in copies
        if c.data.get("map") != m.name
    )
    if ours and m.box_bytes is not None:
        yield _check(
            f"bytes of a phase ({ours} of {len(copies)} copies)", m.box_bytes * ours, expected - others, "bytes"
        )


def _operand(facts: Facts, m: TensorMap, ops: list[Event], inner: int | None, span: int | None) -> Iterator[Check]:
    """The MMA that reads what the copies wrote."""
    ranges = sorted({(op.accesses[0].lo, op.accesses[0].hi) for op in ops})
    found = _reader(facts, ranges)
    if found is None and (copy := _copier(facts, ranges)) is not None:
        code = copy.data.get("swizzle")
        yield _check("swizzle (tcgen05.cp)", _span(span), _span(_MMA_SPAN.get(code) if isinstance(code, int) else None))
        size = cp_bytes(str(copy.data["shape"]))
        whole = all((hi - lo) % size == 0 for lo, hi in ranges)
        yield _check(f"pieces of tcgen05.cp.{copy.data['shape']} in a box", m.box_bytes, f"of {size} bytes", good=whole)
        return
    if found is None:
        yield Check("read by an MMA", "a tile in shared memory", "no MMA with a known descriptor reads it", UNKNOWN)
        return
    mma, side = found
    code = mma.data.get(f"{side}_swizzle")
    spans = _WGMMA_SPAN if mma.data["instr"] == "wgmma" else _MMA_SPAN
    theirs = spans[code] if isinstance(code, int) and (code in spans if isinstance(spans, dict) else True) else None
    yield _check(f"swizzle (operand {side} of {mma.data['instr']})", _span(span), _span(theirs))
    if mma.data["instr"] == "wgmma":
        return
    kind = str(mma.data.get("kind", "f16"))
    idesc = InstructionDescriptor.decode(int(mma.data["idesc"]) & 0xFFFF_FFFF, kind)
    group = int(mma.data.get("group", 1))
    rows = idesc.a_rows(group) if side == "A" else idesc.b_rows(group)
    major = idesc.a_major if side == "A" else idesc.b_major
    box = [b for b in m.box[: m.rank] if isinstance(b, int)]
    if len(box) >= 2 and major == "K":
        held = box[1] * len({lo for lo, _ in ranges}) if box[1] < rows else box[1]
        yield _check(f"rows of operand {side}", box[1], rows, good=held % rows == 0 or rows % box[1] == 0)
        step = k_extent(kind).a_bytes
        if inner is not None:
            yield _check(
                "K of the box against one MMA step", f"{inner} bytes", f"steps of {step} bytes", good=inner % step == 0
            )
    elif len(box) >= 2:
        yield _check(
            f"{'M' if side == 'A' else 'N'} extent of operand {side} (MN-major)",
            box[0],
            rows,
            good=rows % box[0] == 0 or box[0] % rows == 0,
        )
    wanted = idesc.a_type if side == "A" else idesc.b_type
    host = TYPES[m.data_type] if isinstance(m.data_type, int) and m.data_type < len(TYPES) else None
    allowed = _OPERAND_TYPES.get(wanted)
    good = host in allowed if allowed else ELEMENT_BITS.get(m.data_type) in (4, 6, 8)
    yield _check(f"element type of operand {side}", host, wanted, good=good)


def _span(span: int | None) -> str | None:
    return None if span is None else "none" if span == 0 else f"{span} bytes"


def _reader(facts: Facts, ranges: list[tuple[int, int]]) -> tuple[Event, str] | None:
    """The first MMA whose descriptor starts inside one of these ranges, and which operand it is."""
    for op in facts.ops:
        if op.data["instr"] not in ("mma", "mma.ws", "wgmma"):
            continue
        for side in "AB":
            start = op.data.get(f"{side}_start")
            if isinstance(start, int) and any(lo <= start < hi for lo, hi in ranges):
                return op, side
    return None


def _copier(facts: Facts, ranges: list[tuple[int, int]]) -> Event | None:
    """The first tcgen05.cp that reads from these ranges."""
    for op in facts.ops:
        if op.data["instr"] == "tcgen05.cp":
            for a in op.accesses:
                if a.space == "shared" and any(lo <= a.lo < hi for lo, hi in ranges):
                    return op
    return None
