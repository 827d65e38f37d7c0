"""An attention plan as a document."""

from __future__ import annotations

from auditor.plans.attention_model import AttentionPlan
from auditor.plans.document import barriers, bytes_of, drawn, fits, map_table, refusal, rounds
from auditor.ptx.descriptors import TMEM_LANES
from auditor.reports.blocks import Block, Bullets, Paragraph, Section, Table


def attention_sections(plan: AttentionPlan, nearest: AttentionPlan | None) -> list[Section]:
    """The document. ``nearest`` is a possible plan, for a request that is not."""
    if not plan.possible:
        return [refusal("attention", plan.reasons, plan.spec, nearest.spec if nearest else None)]
    return [
        _conclusion(plan),
        Section("Shared memory", 2, (bytes_of(_sizes(plan), plan.shared_bytes), fits(plan.fittings, plan.stages))),
        Section("Tensor maps", 2, (map_table(plan.maps),)),
        Section("Barriers", 2, (barriers(plan.barriers), rounds(plan.barriers))),
        _tmem(plan),
        _instructions(plan),
        Section("Roles", 2, (_roles(plan),)),
        Section("Timeline", 2, (Bullets(_phases(plan)),)),
    ]


def _conclusion(plan: AttentionPlan) -> Section:
    spec = plan.spec
    text = (
        f"{plan.stages} stages of K and of V, {plan.kv_bytes:,} bytes each; {plan.shared_bytes:,} bytes of dynamic "
        f"shared memory; {plan.columns} columns of tensor memory; {plan.threads} threads; 1 CTA an SM, by registers."
    )
    blocks: list[Block] = [Paragraph("This plan is possible.", "good"), Paragraph(text)]
    if plan.warnings:
        blocks.append(Bullets(plan.warnings))
    title = f"Conclusion on {spec.m} queries x {spec.n} keys, heads of {spec.d}, {spec.dtype}"
    return Section(title, 2, (*blocks, Bullets(plan.advice)))


def _sizes(plan: AttentionPlan) -> tuple[tuple[str, int], ...]:
    return (
        (f"Q, {plan.tiles} x {plan.q_bytes:,}", plan.tiles * plan.q_bytes),
        (f"K, {plan.stages} x {plan.kv_bytes:,}", plan.stages * plan.kv_bytes),
        (f"V, {plan.stages} x {plan.kv_bytes:,}", plan.stages * plan.kv_bytes),
        ("factor and sum of each row", plan.vector_bytes),
    )


def _tmem(plan: AttentionPlan) -> Section:
    rows = tuple((r.name, f"{r.lo}-{r.hi - 1}", r.writer, r.reader, r.guard) for r in plan.regions)
    spec = plan.spec
    budget = [
        ("S", f"{plan.tiles} x {spec.n}", plan.tiles * spec.n),
        (
            "P",
            "columns of S" if spec.p == "alias" else f"{plan.tiles} x {spec.p_columns}",
            0 if spec.p == "alias" else plan.tiles * spec.p_columns,
        ),
        ("O", f"{plan.tiles} x {spec.d}", plan.tiles * spec.d),
        ("used", f"{-(-plan.columns_used // 32)} units of 32", plan.columns_used),
        ("allocated", "the next power of two", plan.columns),
    ]
    return Section(
        "Tensor memory",
        2,
        (
            Paragraph(
                f"Allocated once, before the roles part, freed by the same warp after all have met. A softmax warp "
                f"reads the 32 lanes of its quarter of S with {spec.n // plan.chunk} x tcgen05.ld.32x32b.x{plan.chunk}"
                f"{'' if spec.p == 'alias' else ', twice'}, and writes P with tcgen05.st; a correction warp reads and "
                f"writes O in {spec.d // plan.chunk_o} pieces of 32x32b.x{plan.chunk_o}."
            ),
            Table(
                "Column budget",
                ("What", "Columns of each", "Columns"),
                tuple((what, each, f"{n:,}") for what, each, n in budget),
                frozenset((2,)),
            ),
            drawn(plan.regions, plan.columns, plan.columns_used, 1, ((0, TMEM_LANES),)),
            Table("Regions", ("Object", "Columns", "Writer", "Reader", "Written again after"), rows),
        ),
    )


def _instructions(plan: AttentionPlan) -> Section:
    rows = tuple(
        (
            m.name,
            f"{m.m} x {m.n} x {m.k}",
            m.a,
            m.b,
            str(m.count),
            f"{m.instruction:#010x}",
            f"{m.matrix:#018x}",
            f"{m.step:,} bytes",
        )
        for m in plan.mmas
    )
    return Section(
        "Instructions",
        2,
        (
            Paragraph(f"tcgen05.mma.cta_group::1.kind::{plan.kind}, all issued by one thread."),
            Table(
                "Products of a tile and a block",
                ("Product", "M x N x K", "A", "B", "MMAs", "Instruction", "B without address", "K step of B"),
                rows,
                frozenset((4,)),
            ),
        ),
    )


def _roles(plan: AttentionPlan) -> Table:
    rows = tuple((r.name, r.warps, str(r.registers)) for r in plan.roles)
    return Table(
        "Warps and what setmaxnreg leaves them", ("Role", "Warps", "Registers a thread"), rows, frozenset((2,))
    )


def _phases(plan: AttentionPlan) -> tuple[str, ...]:
    alias = plan.spec.p == "alias"
    each = "each tile in turn" if plan.tiles > 1 else "the tile"
    return (
        f"Prologue: the load warp fetches Q and {plan.stages} stages of K and V, its first waits on k_empty and "
        f"v_empty pass (parity 1); S of block 0 is issued for {each}.",
        f"Steady state: softmax waits s_full, announces its factor (factor_full), writes P. Correction waits "
        f"factor_full and o_full of the block before, rescales O. Both arrive on p_full. The MMA thread, for {each}: "
        f"wait p_full, issue O, commit o_full, "
        + ("wait o_full because S goes over P, " if alias else "")
        + "issue S of the next block, commit s_full.",
        "Drain: the sums have a barrier of their own, because softmax may be a phase ahead of correction; correction "
        "waits for the last o_full, divides and stores. A CTA barrier ends the kernel before the columns are freed.",
    )
