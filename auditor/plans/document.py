"""A plan of a GEMM as a document, and the parts that plans share."""

from __future__ import annotations

from auditor.output.tool import NAME
from auditor.plans.attention_spec import AttentionSpec
from auditor.plans.kinds import KINDS
from auditor.plans.model import BarrierPlan, Fitting, GemmPlan, MapPlan, RegionPlan
from auditor.plans.spec import GemmSpec
from auditor.ptx.descriptors import TMEM_COLUMNS, TMEM_LANES, accumulator_lanes
from auditor.reports.blocks import Block, Bullets, Paragraph, Section, Table, TmemFigure
from auditor.reports.model import Allocation, Region, TensorMemory


def sections(plan: GemmPlan, nearest: GemmPlan | None) -> list[Section]:
    """The document. ``nearest`` is a possible plan, for a request that is not."""
    if not plan.possible:
        return [refusal("gemm", plan.reasons, plan.spec, nearest.spec if nearest else None)]
    return [
        _conclusion(plan),
        Section("Shared memory", 2, (bytes_of(_sizes(plan), plan.shared_bytes), fits(plan.fittings, plan.stages))),
        Section("Tensor maps", 2, (map_table(plan.maps),)),
        Section("Barriers", 2, (barriers(plan.barriers), rounds(plan.barriers))),
        _tmem(plan),
        _instructions(plan),
        _phases(plan),
    ]


def refusal(
    command: str,
    reasons: tuple[str, ...],
    spec: GemmSpec | AttentionSpec,
    nearest: GemmSpec | AttentionSpec | None,
) -> Section:
    """Why a request is impossible, and the nearest one that is not."""
    blocks: list[Block] = [Paragraph("This plan is impossible:", "bad"), Bullets(reasons)]
    if nearest is None:
        blocks.append(Paragraph("No possible plan is near it."))
    else:
        changes = spec.differences(nearest)  # type: ignore[arg-type]  # both are of one command
        blocks.append(Paragraph("The nearest possible plan has " + ", ".join(changes) + ":"))
        blocks.append(Paragraph(f"{NAME} plan {command} {nearest.words()}"))
    return Section("Conclusion", 2, tuple(blocks))


def _conclusion(plan: GemmPlan) -> Section:
    spec = plan.spec
    fit = next((f for f in plan.fittings if f.stages == plan.stages), None)
    text = (
        f"{plan.stages} stages of {plan.stage_bytes:,} bytes; {plan.shared_bytes:,} bytes of dynamic shared memory; "
        f"{plan.columns} columns of tensor memory; CTAs an SM: {fit.ctas_per_sm if fit else 0} by shared memory, "
        f"{TMEM_COLUMNS // plan.columns} by columns."
    )
    blocks: list[Block] = [Paragraph("This plan is possible.", "good"), Paragraph(text)]
    if plan.warnings:
        blocks.append(Bullets(plan.warnings))
    return Section(f"Conclusion on {spec.m} x {spec.n} x {spec.k}, {spec.dtype}", 2, (*blocks, Bullets(plan.advice)))


def _sizes(plan: GemmPlan) -> tuple[tuple[str, int], ...]:
    rows = [("A", plan.a_bytes), ("B", plan.b_bytes)]
    if plan.scale_bytes:
        rows.append(("scale factors", plan.scale_bytes))
    rows += [("stage", plan.stage_bytes), ("expected by a phase of full", plan.expected_bytes)]
    if plan.staging_bytes:
        rows.append(("staging buffers of the epilogue", plan.staging_bytes))
    return tuple(rows)


def bytes_of(sizes: tuple[tuple[str, int], ...], total: int) -> Table:
    """Shared memory by what it holds."""
    rows = tuple((what, f"{n:,}") for what, n in (*sizes, ("dynamic shared memory", total)))
    return Table("Bytes of a CTA", ("What", "Bytes"), rows, frozenset((1,)))


def fits(fittings: tuple[Fitting, ...], chosen: int) -> Table:
    """Every number of stages that fits."""
    rows = tuple(
        (str(f.stages), f"{f.bytes:,}", str(f.ctas_per_sm), "chosen" if f.stages == chosen else "") for f in fittings
    )
    return Table("Stages that fit", ("Stages", "Bytes", "CTAs an SM", ""), rows, frozenset((0, 1, 2)))


def map_table(maps: tuple[MapPlan, ...]) -> Table:
    """Tensor maps to encode."""
    rows = tuple(
        (
            m.name,
            m.element,
            f"{m.box[0]} x {m.box[1]}",
            str(m.boxes),
            f"{m.swizzle} bytes" if m.swizzle else "none",
            f"{m.bytes:,}",
        )
        for m in maps
    )
    plain = any(not m.swizzle for m in maps)
    return Table(
        "Boxes are one swizzle row wide, innermost extent first" + ("; of scale factors 512 bytes, a block" * plain),
        ("Map", "Element", "Box", "Boxes of a tile", "Swizzle", "Bytes of a box"),
        rows,
        frozenset((3, 5)),
    )


def barriers(planned: tuple[BarrierPlan, ...]) -> Table:
    """Who arrives, who waits, and with what parity first."""
    rows = tuple(
        (
            f"{b.name}[{b.stages}]",
            str(b.init_count),
            b.arrival,
            f"{b.expected_bytes:,}",
            b.waiter,
            f"{b.wait_parity} ({'passes at once' if b.wait_parity else 'blocks'})",
            b.makes,
        )
        for b in planned
    )
    return Table(
        "Ready and free protocol",
        ("Barrier", "Count", "Arrival", "Bytes", "Waiter", "First parity", "Makes"),
        rows,
        frozenset((1, 3)),
    )


def rounds(planned: tuple[BarrierPlan, ...]) -> Table:
    """Parities of the first waits."""
    rows = tuple((f"{b.name}[0]", *(str((b.wait_parity + n) % 2) for n in range(4))) for b in planned)
    return Table("Parity of the waits in the first rounds", ("Barrier", *(f"Round {n}" for n in range(4))), rows)


def drawn(
    regions: tuple[RegionPlan, ...], columns: int, used: int, group: int, lanes: tuple[tuple[int, int], ...]
) -> TmemFigure:
    """The map of tensor memory. ``lanes``: of accumulators; other objects take all."""
    return TmemFigure(
        TensorMemory(
            allocations=(Allocation(columns, columns, columns, group, "", 0, 0),),
            regions=tuple(
                Region(
                    name=f"{r.lo}-{r.hi - 1}",
                    object=r.name,
                    lo=r.lo,
                    hi=r.hi,
                    lanes=lanes if r.name.startswith("accumulator") else ((0, TMEM_LANES),),
                    writer=r.writer,
                    reader=r.reader,
                    completion=r.guard,
                    first=0,
                    last=0,
                    uses=0,
                )
                for r in regions
            ),
            reuses=(),
            read_backs=(),
            touched=used,
            peak=used,
        )
    )


def _tmem(plan: GemmPlan) -> Section:
    rows = tuple((r.name, f"{r.lo}-{r.hi - 1}", r.writer, r.reader, r.guard) for r in plan.regions)
    return Section(
        "Tensor memory",
        2,
        (
            Paragraph(
                f"{plan.columns_used} columns used, {plan.columns} allocated: a power of two, at least 32. "
                f"Each epilogue warp reads its 32 lanes with {plan.loads_per_tile} x tcgen05.ld.{plan.load_shape}"
                + ("; 16 of them hold a row." if plan.spec.m == 64 else ".")
            ),
            drawn(
                plan.regions,
                plan.columns,
                plan.columns_used,
                plan.spec.cta_group,
                accumulator_lanes(plan.spec.m, plan.spec.cta_group),
            ),
            Table("Regions", ("Object", "Columns", "Writer", "Reader", "Reuse guarded by"), rows),
        ),
    )


def _instructions(plan: GemmPlan) -> Section:
    kind, group = KINDS[plan.spec.dtype], plan.spec.cta_group
    rows = [
        ("instruction", f"tcgen05.mma.cta_group::{group}.kind::{plan.kind}{kind.modifiers}"),
        ("K of one MMA", f"{plan.mma_k} elements, {plan.mmas_per_stage} MMAs a stage"),
        ("instruction descriptor", f"{plan.instruction:#010x}" + (", without scale factor ids" * kind.scaled)),
        ("matrix descriptor without address", f"{plan.matrix:#018x}"),
        ("advance of a K step", f"{plan.matrix_step} (units of 16 bytes), within a swizzle row"),
        ("threads", f"{plan.threads}: warp 0 producer, warp 1 MMA and allocation, warps 2-5 epilogue"),
    ]
    if kind.scaled:
        each = plan.mma_k // kind.block
        rows += [
            ("scale factors", f"{kind.scale}, one for {kind.block} elements of K, four of a row in a column"),
            (
                "copy of a block of 128 rows",
                f"tcgen05.cp.cta_group::{group}.32x128b.warpx4, before the MMAs of the stage",
            ),
            ("scale factors of an MMA", f"{each}: ids advance by {each} and begin anew in every column"),
        ]
    return Section("Instructions", 2, (Table("Numbers", ("Item", "Value"), tuple(rows)),))


def _phases(plan: GemmPlan) -> Section:
    """The three phases of the main loop, in words."""
    if plan.spec.cta_group == 2:
        end = (
            "the producers of both CTAs wait for every stage before they leave, and a cluster barrier ends the kernel."
        )
    else:
        end = "a CTA barrier ends the kernel before the columns are freed."
    issue = "copy the scale factors and issue the MMAs" if plan.scale_bytes else "issue the MMAs"
    following = (
        "begins in the next accumulator while this one is read"
        if plan.spec.accumulators > 1
        else "waits for acc_empty: the epilogue has read the accumulator"
    )
    steps = (
        f"Prologue: the producer fills {plan.stages} stages; its first waits on empty pass (parity 1).",
        f"Steady state: wait full, {issue} of a stage, commit to empty; the producer refills what was committed. "
        f"After the last K block of a tile, commit to acc_full; the next tile {following}.",
        f"Drain: the epilogue waits for acc_full, reads, and arrives on acc_empty; {end}",
    )
    return Section("Timeline", 2, (Bullets(steps),))
