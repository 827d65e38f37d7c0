"""The arithmetic of an attention plan: S = Q K^T and O += P V on tcgen05, softmax and correction between them."""

from __future__ import annotations

from auditor.plans.attention_model import AttentionPlan, MmaPlan, RolePlan
from auditor.plans.attention_spec import AttentionSpec
from auditor.plans.kinds import KINDS, Kind, instruction_descriptor, matrix_descriptor
from auditor.plans.model import BarrierPlan, Fitting, MapPlan, RegionPlan
from auditor.ptx.descriptors import TMEM_COLUMNS, InstructionDescriptor, k_extent
from auditor.reports.memory import LIMIT, PER_SM
from auditor.values import SHARED_RESERVED

MAX_STAGES = 8
ROWS = 128  # queries of a tile: M of one MMA, and the threads of a softmax warpgroup
WARPS = 4  # of a warpgroup
MOST_IN_REGISTERS = 128  # scores that a softmax thread can hold beside what else it needs
N_MAJOR = 1 << 16  # bit of the instruction descriptor (PTX ISA 9.7.16.4.2): V lies with the head contiguous


def plan_attention(spec: AttentionSpec) -> AttentionPlan:
    """The plan of a request; ``reasons`` say why it is impossible."""
    kind = KINDS[spec.dtype]
    tiles = spec.tiles
    row_bytes = spec.d * kind.bits // 8
    span = next((s for s in (128, 64, 32) if row_bytes % s == 0), 0)
    q_bytes, kv_bytes = ROWS * row_bytes, spec.n * row_bytes
    vectors = 2 * tiles * ROWS * 4
    fittings = _fittings(spec, q_bytes, kv_bytes, vectors)
    stages = spec.stages if spec.stages is not None else max((f.stages for f in fittings), default=1)
    regions, used = _regions(spec)
    columns = max(32, 1 << max(used - 1, 0).bit_length())
    mmas = _mmas(spec, kind, span)
    return AttentionPlan(
        spec=spec,
        reasons=tuple(_reasons(spec, kind, span, stages, fittings, columns, mmas)),
        warnings=tuple(_warnings(spec, span, stages, used, columns)),
        kind=kind.kind,
        tiles=tiles,
        stages=stages,
        q_bytes=q_bytes,
        kv_bytes=kv_bytes,
        vector_bytes=vectors,
        shared_bytes=_total(spec, q_bytes, kv_bytes, vectors, stages),
        fittings=fittings,
        swizzle=span,
        maps=_maps(spec, kind, span),
        barriers=_barriers(spec, stages, q_bytes, kv_bytes),
        regions=regions,
        columns_used=used,
        columns=columns,
        mmas=mmas,
        roles=_roles(tiles),
        threads=32 * WARPS * (tiles + 2),
        chunk=_chunk(spec.n),
        chunk_o=_chunk(spec.d),
        advice=_advice(spec),
    )


def _chunk(width: int) -> int:
    """Columns of one tcgen05.ld or st: as many as divide the region, up to 32."""
    return next(n for n in (32, 16, 8, 4, 2, 1) if width % n == 0)


def _total(spec: AttentionSpec, q_bytes: int, kv_bytes: int, vectors: int, stages: int) -> int:
    """Dynamic shared memory: tiles, a factor and a sum for each row, barriers, the slot of the address."""
    return spec.tiles * q_bytes + 2 * stages * kv_bytes + vectors + 8 * (4 * stages + 6 * spec.tiles) + 8


def _fittings(spec: AttentionSpec, q_bytes: int, kv_bytes: int, vectors: int) -> tuple[Fitting, ...]:
    """Every stage count that fits a CTA."""
    found = []
    for stages in range(1, MAX_STAGES + 1):
        size = _total(spec, q_bytes, kv_bytes, vectors, stages)
        if size > LIMIT:
            break
        found.append(Fitting(stages, size, PER_SM // (size + SHARED_RESERVED)))
    return tuple(found)


def _maps(spec: AttentionSpec, kind: Kind, span: int) -> tuple[MapPlan, ...]:
    """Tensor maps. A box is one swizzle row wide; boxes lie side by side along the head."""
    if not span:
        return ()
    inner = span * 8 // kind.bits
    boxes = spec.d // inner
    return tuple(
        MapPlan(name, kind.map_type, (inner, rows), boxes, span, span * rows)
        for name, rows in (("Q", ROWS), ("K", spec.n), ("V", spec.n))
    )


def _mmas(spec: AttentionSpec, kind: Kind, span: int) -> tuple[MmaPlan, ...]:
    """S = Q K^T with both operands K-major, and O += P V with P in tensor memory and V as it lies in memory."""
    extent = k_extent(kind.kind)
    scores = MmaPlan(
        "S = Q K^T",
        ROWS,
        spec.n,
        spec.d,
        "Q, K-major",
        "K, K-major",
        instruction_descriptor(kind, ROWS, spec.n, "f32"),
        matrix_descriptor(span) if span else 0,
        extent.a_bytes,
        spec.d // extent.elements,
    )
    # Swizzle atoms of V: span bytes of the head by 8 keys. The leading offset leads to the next span bytes.
    v = matrix_descriptor(span) & ~(0x3FFF << 16) | (spec.n * span >> 4 & 0x3FFF) << 16 if span else 0
    output = MmaPlan(
        "O += P V",
        ROWS,
        spec.d,
        spec.n,
        "P, tensor memory",
        "V, N-major",
        instruction_descriptor(kind, ROWS, spec.d, "f32") | N_MAJOR,
        v,
        extent.elements * span,
        spec.n // extent.elements,
    )
    return scores, output


def _of(array: str, tiles: int, tile: int) -> str:
    """A member of an array of one for each tile, as the report calls it."""
    return f"{array} {tile}" if tiles > 1 else array


def _regions(spec: AttentionSpec) -> tuple[tuple[RegionPlan, ...], int]:
    """Regions of tensor memory by column, and the columns that they take."""
    tiles = spec.tiles
    found = []
    outputs = tiles * spec.n
    own = outputs + tiles * spec.d
    for t in range(tiles):
        lo = t * spec.n
        free = f"o_full[{t}], waited for by the MMA thread" if spec.p == "alias" else f"p_full[{t}]"
        found.append(RegionPlan(_of("scores S", tiles, t), lo, lo + spec.n, "MMA of S", f"softmax warpgroup {t}", free))
        at = lo if spec.p == "alias" else own + t * spec.p_columns
        free = f"s_full[{t}]" if spec.p == "alias" else f"o_full[{t}], waited for by the softmax warpgroup"
        found.append(
            RegionPlan(
                _of("operand A (P)", tiles, t),
                at,
                at + spec.p_columns,
                f"softmax warpgroup {t}",
                "MMA of O",
                free,
            )
        )
        lo = outputs + t * spec.d
        found.append(
            RegionPlan(
                _of("output O", tiles, t),
                lo,
                lo + spec.d,
                "MMA of O; correction warps",
                "correction warps",
                f"p_full[{t}], which the correction warps arrive on too",
            )
        )
    used = own + (tiles * spec.p_columns if spec.p == "own" else 0)
    return tuple(sorted(found, key=lambda r: (r.lo, r.hi))), used


def _barriers(spec: AttentionSpec, stages: int, q_bytes: int, kv_bytes: int) -> tuple[BarrierPlan, ...]:
    """The ready and free protocol. What the first use of a thing waits for is its first parity."""
    tiles = spec.tiles
    copy, commit = "arrive.expect_tx by the load warp", "tcgen05.commit"
    alias = spec.p == "alias"
    arrival = "arrive by lane 0 of each softmax warp"
    o_waiters = "correction warps, MMA thread" if alias else "correction warps, softmax warpgroup"
    rows = [BarrierPlan("q_full", tiles, 1, copy, q_bytes, "MMA thread", 0, "Q readable")]
    for name in ("k", "v"):
        rows.append(BarrierPlan(f"{name}_full", stages, 1, copy, kv_bytes, "MMA thread", 0, f"{name.upper()} readable"))
        rows.append(BarrierPlan(f"{name}_empty", stages, 1, commit, 0, "load warp", 1, "stage free"))
    rows += [
        BarrierPlan("s_full", tiles, 1, commit, 0, "softmax warpgroup", 0, "S readable"),
        BarrierPlan(
            "p_full",
            tiles,
            2 * WARPS,
            "arrive by lane 0 of each softmax warp and of each correction warp",
            0,
            "MMA thread",
            0,
            "P readable, O corrected, S free" if not alias else "P readable, O corrected",
        ),
        BarrierPlan(
            "o_full", tiles, 1, commit, 0, o_waiters, 0, "O readable, " + ("S and P" if alias else "P") + " free"
        ),
        *(
            BarrierPlan(name, tiles, WARPS, arrival, 0, "correction warps", 0, makes)
            for name, makes in (
                ("factor_full", "factor of each row readable"),
                ("sum_full", "sum of each row readable"),
            )
        ),
    ]
    return tuple(rows)


def _roles(tiles: int) -> tuple[RolePlan, ...]:
    """Warpgroups by role; registers are what setmaxnreg leaves each thread, within those of the launch."""
    softmax, correction, issue = {1: (240, 160, 104)}.get(tiles, (192, 80, 48))
    rest = WARPS * tiles
    out = [RolePlan(f"softmax of tile {t}", WARPS * t, WARPS * (t + 1), softmax) for t in range(tiles)]
    return (
        *out,
        RolePlan("correction and result", rest, rest + WARPS, correction),
        RolePlan("MMA and tensor memory", rest + WARPS, rest + WARPS + 1, issue),
        RolePlan("load", rest + WARPS + 1, rest + WARPS + 2, issue),
        RolePlan("idle: setmaxnreg counts warpgroups", rest + WARPS + 2, rest + 2 * WARPS, issue),
    )


def _reasons(
    spec: AttentionSpec,
    kind: Kind,
    span: int,
    stages: int,
    fittings: tuple[Fitting, ...],
    columns: int,
    mmas: tuple[MmaPlan, ...],
) -> list[str]:
    """Why the plan is impossible."""
    found = []
    if spec.m not in (ROWS, 2 * ROWS):
        found.append(
            f"{spec.m} queries a CTA: a softmax warpgroup has a thread for each of {ROWS} queries, use 128 or 256"
        )
    for mma in mmas:
        if mma.n % 8 or mma.n > 256:
            found.append(f"{mma.name}: N = {mma.n} cannot be written in an instruction descriptor")
        else:
            decoded = InstructionDescriptor.decode(mma.instruction, kind.kind)
            in_tmem = mma.a.startswith("P")
            found += [
                f"{mma.name}: {text}"
                for text in (*decoded.problems(arch=spec.arch), *decoded.warnings(a_in_tmem=in_tmem))
            ]
        step = k_extent(kind.kind).elements
        if mma.k % step:
            found.append(f"{mma.name}: K = {mma.k} is not a multiple of {step}, the K of one MMA")
    if not span:
        found.append(f"a head of {spec.d} elements is not a multiple of 32 bytes: no swizzle fits")
    if spec.p == "alias" and spec.n > MOST_IN_REGISTERS:
        found.append(
            f"P over S: a softmax thread has to hold all {spec.n} scores of its row before it writes P over them; "
            f"at most {MOST_IN_REGISTERS} fit its registers"
        )
    if columns > TMEM_COLUMNS:
        found.append(f"{columns} columns of tensor memory are needed, an SM has {TMEM_COLUMNS}")
    fit = max((f.stages for f in fittings), default=0)
    if not fit:
        found.append("not even one stage of K and V fits shared memory")
    elif stages > fit:
        found.append(f"{stages} stages of K and V do not fit shared memory; {fit} do")
    return found


def _warnings(spec: AttentionSpec, span: int, stages: int, used: int, columns: int) -> list[str]:
    """What the plan wastes."""
    found = []
    if columns - used >= columns // 4 and columns > 32:
        found.append(
            f"{columns - used} of {columns} columns of tensor memory are never used: allocations are powers of two"
        )
    if spec.p == "alias" and used + spec.tiles * spec.p_columns <= columns:
        found.append(
            "P has room for columns of its own: with --p own the next S is issued without waiting for the MMA of O"
        )
    if spec.m == ROWS:
        found.append("one tile of queries: the tensor core idles while its softmax runs; two tiles take turns")
    if span and span < 128:
        found.append(f"a swizzle of {span} bytes: rows of 128 bytes give fewer bank conflicts and larger copies")
    if stages == 1:
        found.append("one stage: K and V are never fetched ahead")
    return found


def _advice(spec: AttentionSpec) -> tuple[str, ...]:
    """When tensor copies suit, how the protocol fits together, and what completes what."""
    out = ["Tensor copies suit: Q, K and V are dense tiles, and the hardware swizzles them as the MMA wants them."]
    out.append(
        "V is read as it lies in memory, the head contiguous (N-major B): no transposition. Paged keys need one copy a "
        "page, or copies of threads with the swizzle by hand."
    )
    if spec.p == "alias":
        out.append(
            "P over S: MMAs with different accumulators have no order of their own (PTX ISA 9.7.16.6.2), so the next S "
            "is issued only after the MMA of O that reads P has completed. Kernels that leave this wait out count on "
            "the tensor core to take the MMAs of a thread in turn."
        )
    else:
        out.append("P apart from S: the next S is computed while P waits for its MMA; P is written again after o_full.")
    out.append(
        "The first block needs no correction: its MMA of O does not accumulate, and the correction warps only arrive."
    )
    out.append("Results are stored by threads: nothing is in flight when the kernel ends.")
    return tuple(out)
