"""Where a kernel departs from its plan: the numbers of the report against those of the plan."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.plans.attention_model import AttentionPlan
from auditor.plans.model import GemmPlan
from auditor.reports.descriptors import AGREE, DIFFER
from auditor.reports.model import BarrierRow, Check, KernelReport, Ring

Item = tuple[str, int, int | None]  # what is compared, planned, found


def departures(plan: GemmPlan, report: KernelReport) -> list[Check]:
    """Item by item: the plan's number in ``host``, the kernel's in ``kernel``."""
    return _checks(_items(plan, report))


def attention_departures(plan: AttentionPlan, report: KernelReport) -> list[Check]:
    """The same for an attention kernel."""
    return _checks(_attention_items(plan, report))


def _checks(items: Iterator[Item]) -> list[Check]:
    return [
        Check(
            item, f"{planned:,}", f"{found:,}" if found is not None else "none", AGREE if planned == found else DIFFER
        )
        for item, planned, found in items
    ]


def _items(plan: GemmPlan, report: KernelReport) -> Iterator[Item]:
    """Barriers are matched by the part that they play, not by name."""
    rows = {b.name: b for b in report.barriers}
    filled = [r for r in report.rings if r.space == "shared" and _named(rows, r.ready)]
    operands = max(filled, key=lambda r: (r.depth, r.stage_size), default=None)
    held = next((r for r in report.rings if r.space == "tensor"), None)
    full, empty, acc_full, acc_empty = plan.barriers
    yield "stages of operands", plan.stages, operands.depth if operands else None
    yield "bytes of a stage", plan.stage_bytes, operands.stage_size if operands else None
    yield "dynamic shared memory in bytes", plan.shared_bytes, report.shared.dynamic
    ready, free = _sides(rows, operands)
    yield "arrivals of a full stage", full.init_count, ready.init_count if ready else None
    yield "bytes that a phase expects", full.expected_bytes, ready.expected_bytes if ready else None
    yield "first parity of the consumer", full.wait_parity, _parity(ready)
    yield "arrivals of an empty stage", empty.init_count, free.init_count if free else None
    yield "first parity of the producer", empty.wait_parity, _parity(free)
    ready, free = _sides(rows, held)
    yield "accumulators", acc_full.stages, held.depth if held else None
    yield "arrivals of a full accumulator", acc_full.init_count, ready.init_count if ready else None
    yield "arrivals of an empty accumulator", acc_empty.init_count, free.init_count if free else None
    yield "columns of tensor memory", plan.columns, report.tmem.rounded if report.tmem else None
    yield "columns in use", plan.columns_used, report.tmem.touched if report.tmem else None


def _attention_items(plan: AttentionPlan, report: KernelReport) -> Iterator[Item]:
    """Q is the ring without a free side; K and V have the deepest ones. Regions are counted by what they hold."""
    rows = {b.name: b for b in report.barriers}
    shared = [r for r in report.rings if r.space == "shared" and _named(rows, r.ready)]
    rings = sorted((r for r in shared if _named(rows, r.free)), key=lambda r: (r.depth, r.stage_size), reverse=True)[:2]
    k_full = next(b for b in plan.barriers if b.name == "k_full")
    for n, name in enumerate(("first", "second")):
        ring = rings[n] if n < len(rings) else None
        ready, free = _sides(rows, ring)
        yield f"stages of the {name} operand of keys", plan.stages, ring.depth if ring else None
        yield f"bytes of its stage ({name})", plan.kv_bytes, ring.stage_size if ring else None
        yield f"bytes that its phase expects ({name})", k_full.expected_bytes, ready.expected_bytes if ready else None
        yield f"first parity of its producer ({name})", 1, _parity(free)
    yield "dynamic shared memory in bytes", plan.shared_bytes, report.shared.dynamic
    regions = report.tmem.regions if report.tmem else ()
    for what, title in (("scores S", "S"), ("operand A (P)", "P"), ("output O", "O")):
        planned = [r for r in plan.regions if r.name.startswith(what)]
        found = [r for r in regions if r.object.startswith(what)]
        yield f"regions of {title}", len(planned), len(found)
        yield f"columns of {title}", planned[0].hi - planned[0].lo, found[0].hi - found[0].lo if found else None
    announced = [b for b in report.barriers if any("(P)" in r and r.endswith("readable") for r in b.resources)]
    p_full = next(b for b in plan.barriers if b.name == "p_full")
    yield "arrivals that announce P", p_full.init_count, announced[0].init_count if announced else None
    yield "columns of tensor memory", plan.columns, report.tmem.rounded if report.tmem else None
    yield "columns in use", plan.columns_used, report.tmem.touched if report.tmem else None


def _named(rows: dict[str, BarrierRow], label: str) -> BarrierRow | None:
    """The ledger's row for a ring's label, such as ``full[4]``."""
    return rows.get(label.split("[")[0])


def _sides(rows: dict[str, BarrierRow], ring: Ring | None) -> tuple[BarrierRow | None, BarrierRow | None]:
    return (None, None) if ring is None else (_named(rows, ring.ready), _named(rows, ring.free))


def _parity(row: BarrierRow | None) -> int | None:
    return row.waiters[0].parities[0] if row is not None and row.waiters and row.waiters[0].parities else None
