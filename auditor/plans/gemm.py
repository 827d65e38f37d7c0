"""The arithmetic of a GEMM plan."""

from __future__ import annotations

from auditor.plans.kinds import KINDS, OUTPUT_BYTES, Kind, instruction_descriptor, matrix_descriptor
from auditor.plans.model import BarrierPlan, Fitting, GemmPlan, MapPlan, RegionPlan
from auditor.plans.spec import GemmSpec
from auditor.ptx.descriptors import (
    TMEM_COLUMNS,
    InstructionDescriptor,
    accumulator_columns,
    k_extent,
)
from auditor.reports.memory import LIMIT, PER_SM
from auditor.values import SHARED_RESERVED

MAX_STAGES = 8
EPILOGUE_WARPS = 4
THREADS = 32 * (2 + EPILOGUE_WARPS)
STAGING_COLUMNS_BYTES = 128  # bytes of a row of a staging buffer: the span of its swizzle
STAGING_BUFFERS = 2
SCALE_BLOCK = 512  # bytes of the scale factors of 128 rows, four of each: what one tcgen05.cp.32x128b copies


def plan_gemm(spec: GemmSpec) -> GemmPlan:
    """The plan of a request; ``reasons`` say why it is impossible."""
    kind = KINDS[spec.dtype]
    group = spec.cta_group
    row_bytes = spec.k * kind.bits // 8
    span = next((s for s in (128, 64, 32) if row_bytes % s == 0), 0)
    a_bytes = spec.m // group * row_bytes
    b_bytes = spec.n // group * row_bytes
    scale_bytes = _scale_bytes(spec, kind)
    stage_bytes = a_bytes + b_bytes + scale_bytes
    staging = STAGING_BUFFERS * result_lanes(spec) * STAGING_COLUMNS_BYTES if spec.epilogue == "tma" else 0
    fittings = _fittings(stage_bytes, staging, spec)
    stages = spec.stages if spec.stages is not None else _automatic(fittings, spec, kind)
    instruction = instruction_descriptor(kind, spec.m, spec.n, spec.acc)
    regions, used = _regions(spec, kind, stages)
    columns = max(32, 1 << max(used - 1, 0).bit_length())
    extent = k_extent(kind.kind)
    return GemmPlan(
        spec=spec,
        reasons=tuple(_reasons(spec, kind, span, stages, fittings, columns, instruction)),
        warnings=tuple(_warnings(spec, span, stages, used, columns)),
        kind=kind.kind,
        stages=stages,
        mma_k=extent.elements,
        mmas_per_stage=spec.k // extent.elements,
        a_bytes=a_bytes,
        b_bytes=b_bytes,
        scale_bytes=scale_bytes,
        stage_bytes=stage_bytes,
        expected_bytes=stage_bytes * group,
        staging_bytes=staging,
        shared_bytes=_total(stage_bytes, staging, stages, spec.accumulators),
        fittings=fittings,
        swizzle=span,
        maps=_maps(spec, kind, span),
        barriers=_barriers(spec, stages, stage_bytes),
        regions=regions,
        columns_used=used,
        columns=columns,
        instruction=instruction,
        matrix=matrix_descriptor(span) if span else 0,
        matrix_step=extent.a_bytes >> 4,
        threads=THREADS,
        load_shape=f"32x32b.x{_load_columns(spec)}",
        loads_per_tile=accumulator_columns(spec.m, spec.n, group) // _load_columns(spec),
        advice=_advice(spec, row_bytes),
    )


def _load_columns(spec: GemmSpec) -> int:
    """Columns of one tcgen05.ld: as many as divide the accumulator, up to 32."""
    width = accumulator_columns(spec.m, spec.n, spec.cta_group)
    return next(n for n in (32, 16, 8, 4, 2, 1) if width % n == 0)


def result_lanes(spec: GemmSpec) -> int:
    """Lanes of tensor memory that hold the result: with M = 64 half of each quarter (PTX ISA 9.7.16.10.5).

    A pair with M = 128 holds 64 rows in each CTA, the two halves of N below one another.
    """
    return 64 if spec.m == 64 else 128


def scale_blocks(rows: int) -> int:
    """Blocks of 128 rows that hold the scale factors of these rows."""
    return -(-rows // 128)


def scale_words(spec: GemmSpec, kind: Kind) -> int:
    """Columns of scale factors along K of a stage, for each 32 rows: a column holds four of a row."""
    return spec.k // kind.block // 4


def _scale_bytes(spec: GemmSpec, kind: Kind) -> int:
    """Scale factors of one stage in a CTA: those of its rows of A, and of all of B, in blocks of 128 rows."""
    if not kind.scaled:
        return 0
    return (scale_blocks(spec.m // spec.cta_group) + scale_blocks(spec.n)) * SCALE_BLOCK * scale_words(spec, kind)


def _total(stage_bytes: int, staging: int, stages: int, accumulators: int) -> int:
    """Dynamic shared memory: stages, staging buffers, barriers and the slot of the tensor-memory address."""
    return stages * stage_bytes + staging + 8 * (2 * stages + 2 * accumulators) + 8


def _fittings(stage_bytes: int, staging: int, spec: GemmSpec) -> tuple[Fitting, ...]:
    """Every stage count that fits a CTA."""
    found = []
    for stages in range(1, MAX_STAGES + 1):
        size = _total(stage_bytes, staging, stages, spec.accumulators)
        if size > LIMIT:
            break
        found.append(Fitting(stages, size, PER_SM // (size + SHARED_RESERVED)))
    return tuple(found)


def _automatic(fittings: tuple[Fitting, ...], spec: GemmSpec, kind: Kind) -> int:
    """The most stages that leave room for the wanted CTAs an SM, also for their scale factors in tensor memory."""
    room = TMEM_COLUMNS // spec.ctas_per_sm
    return max(
        (f.stages for f in fittings if f.ctas_per_sm >= spec.ctas_per_sm and _regions(spec, kind, f.stages)[1] <= room),
        default=1,
    )


def _maps(spec: GemmSpec, kind: Kind, span: int) -> tuple[MapPlan, ...]:
    """Tensor maps of A, B and, for a TMA epilogue, the result. A box is one swizzle row wide."""
    if not span:
        return ()
    inner = span * 8 // kind.bits
    boxes = spec.k * kind.bits // 8 // span
    maps = []
    for name, rows in (("A", spec.m // spec.cta_group), ("B", spec.n // spec.cta_group)):
        maps.append(MapPlan(name, kind.map_type, (inner, rows), boxes, span, span * rows))
    if kind.scaled:
        words = scale_words(spec, kind)
        for name, rows in (("scales of A", spec.m // spec.cta_group), ("scales of B", spec.n)):
            maps.append(MapPlan(name, "UINT32", (SCALE_BLOCK // 4, words), scale_blocks(rows), 0, SCALE_BLOCK * words))
    if spec.epilogue == "tma":
        width = STAGING_COLUMNS_BYTES // OUTPUT_BYTES[spec.out]
        rows = spec.m // spec.cta_group
        out = {"f32": "FLOAT32", "f16": "FLOAT16", "bf16": "BFLOAT16"}[spec.out]
        maps.append(MapPlan("D", out, (width, rows), spec.n // width, 128, 128 * rows))
    return tuple(maps)


def _barriers(spec: GemmSpec, stages: int, stage_bytes: int) -> tuple[BarrierPlan, ...]:
    group = spec.cta_group
    commit = "tcgen05.commit" + (", multicast to both CTAs" if group == 2 else "")
    leader = " of the leader" if group == 2 else ""
    return (
        BarrierPlan(
            "full",
            stages,
            1,
            f"arrive.expect_tx by the producer{leader}",
            stage_bytes * group,
            f"MMA thread{leader}",
            0,
            "A and B readable",
        ),
        BarrierPlan("empty", stages, 1, commit, 0, "producer", 1, "stage free"),
        BarrierPlan("acc_full", spec.accumulators, 1, commit, 0, "epilogue warps", 0, "accumulator readable"),
        BarrierPlan(
            "acc_empty",
            spec.accumulators,
            EPILOGUE_WARPS * group,
            "arrive by lane 0 of each epilogue warp",
            0,
            f"MMA thread{leader}",
            1,
            "accumulator free",
        ),
    )


def _regions(spec: GemmSpec, kind: Kind, stages: int) -> tuple[tuple[RegionPlan, ...], int]:
    """Regions of tensor memory, and the columns that they take."""
    width = accumulator_columns(spec.m, spec.n, spec.cta_group)
    several = spec.accumulators > 1
    regions = [
        RegionPlan(
            f"accumulator {n}" if several else "accumulator",
            n * width,
            (n + 1) * width,
            "MMA",
            "epilogue warps",
            f"acc_empty[{n}]",
        )
        for n in range(spec.accumulators)
    ]
    at = spec.accumulators * width
    if kind.scaled:
        for stage in range(stages):
            for side, rows in (("A", spec.m // spec.cta_group), ("B", spec.n)):
                size = 4 * scale_blocks(rows) * scale_words(spec, kind)
                name = f"scale factors of {side}" + (f", stage {stage}" if stages > 1 else "")
                guard = f"empty[{stage}], then full[{stage}]"
                regions.append(RegionPlan(name, at, at + size, "tcgen05.cp", "MMA", guard))
                at += size
    return tuple(regions), at


def _reasons(
    spec: GemmSpec, kind: Kind, span: int, stages: int, fittings: tuple[Fitting, ...], columns: int, instruction: int
) -> list[str]:
    """Why the plan is impossible."""
    found = []
    if spec.m % spec.cta_group or spec.n % spec.cta_group:
        found.append(f"a pair cannot halve a tile of {spec.m} x {spec.n}")
    if _encodable(spec, kind):
        decoded = InstructionDescriptor.decode(instruction, kind.kind)
        vector = kind.vector
        found += decoded.problems(spec.cta_group, arch=spec.arch, scale_vec=vector)
    else:
        found.append(f"M = {spec.m} and N = {spec.n} cannot be written in an instruction descriptor")
    step = k_extent(kind.kind).elements
    if spec.k % step:
        found.append(f"K = {spec.k} is not a multiple of {step}, the K of one MMA")
    if not span:
        found.append(f"a row of {spec.k} elements is not a multiple of 32 bytes: no swizzle fits")
    if spec.acc == "f16" and (kind.scaled or kind.kind == "tf32"):
        found.append(f"kind::{kind.kind} has f32 accumulators only")
    if columns > TMEM_COLUMNS:
        found.append(f"{columns} columns of tensor memory are needed, an SM has {TMEM_COLUMNS}")
    elif columns * spec.ctas_per_sm > TMEM_COLUMNS:
        found.append(f"{spec.ctas_per_sm} CTAs of {columns} columns do not fit the {TMEM_COLUMNS} columns of an SM")
    fit = max((f.stages for f in fittings if f.ctas_per_sm >= spec.ctas_per_sm), default=0)
    if not fit:
        found.append(f"not even one stage fits shared memory with {spec.ctas_per_sm} CTAs an SM")
    elif stages > fit:
        found.append(f"{stages} stages do not fit shared memory with {spec.ctas_per_sm} CTAs an SM; {fit} do")
    if kind.scaled and spec.k % (4 * kind.block):
        found.append(
            f"K = {spec.k} is not a multiple of {4 * kind.block}: a block of scale factors holds four of each row"
        )
    if kind.scaled and spec.cta_group == 2 and spec.m != 256:
        found.append("a pair with scale factors is planned with M = 256 only")
    chunk = STAGING_COLUMNS_BYTES // OUTPUT_BYTES[spec.out]
    width = accumulator_columns(spec.m, spec.n, spec.cta_group)
    if spec.epilogue == "tma" and width % chunk:
        found.append(f"an accumulator of {width} columns is not a multiple of the staging row of {chunk} elements")
    if width % 8:
        found.append(f"an accumulator of {width} columns cannot be read in steps of 8")
    return found


def _encodable(spec: GemmSpec, kind: Kind) -> bool:
    unit = 128 if kind.scaled else 16
    return spec.m % unit == 0 and 0 < spec.m <= 256 and spec.n % 8 == 0 and 0 < spec.n <= 256


def _warnings(spec: GemmSpec, span: int, stages: int, used: int, columns: int) -> list[str]:
    """What the plan wastes."""
    found = []
    if columns - used >= columns // 4 and columns > 32:
        found.append(
            f"{columns - used} of {columns} columns of tensor memory are never used: allocations are powers of two"
        )
    if span and span < 128:
        found.append(f"a swizzle of {span} bytes: rows of 128 bytes give fewer bank conflicts and larger copies")
    if stages == 1:
        found.append("one stage: copies and MMAs never overlap")
    if spec.m == 64:
        found.append("M = 64 uses half of the lanes of tensor memory, at half the rate")
    if spec.accumulators == 1:
        found.append("one accumulator: the epilogue never overlaps the next tile")
    return found


def _advice(spec: GemmSpec, row_bytes: int) -> tuple[str, ...]:
    """When tensor copies suit, and when not."""
    out = ["Tensor copies suit: both operands are dense tiles, and the hardware swizzles them as the MMA wants them."]
    out.append(
        "They need K times the element size to be a multiple of 16 bytes in global memory, and bases aligned to 16 "
        "bytes; otherwise copy with cp.async and write the swizzle by hand."
    )
    if row_bytes * min(spec.m, spec.n) // spec.cta_group < 4096:
        out.append("The smaller operand's copies are below 4 KiB: the issue of copies may limit the rate.")
    out.append(
        "Loads complete on an mbarrier (bytes); stores complete in the bulk group of the storing thread, and their "
        "source is reused only after cp.async.bulk.wait_group.read."
    )
    return tuple(out)
