"""A plan as data: bytes, columns, counts and descriptors."""

from __future__ import annotations

from dataclasses import dataclass

from auditor.plans.spec import GemmSpec


@dataclass(frozen=True)
class MapPlan:
    """A tensor map to encode. ``box`` is elements, innermost first; ``boxes`` copies make one stage."""

    name: str
    element: str
    box: tuple[int, int]
    boxes: int
    swizzle: int
    bytes: int


@dataclass(frozen=True)
class BarrierPlan:
    """An array of barriers. ``wait_parity``: of the waiting side's first wait."""

    name: str
    stages: int
    init_count: int
    arrival: str
    expected_bytes: int
    waiter: str
    wait_parity: int
    makes: str


@dataclass(frozen=True)
class RegionPlan:
    """Columns [lo, hi) of tensor memory."""

    name: str
    lo: int
    hi: int
    writer: str
    reader: str
    guard: str


@dataclass(frozen=True)
class Fitting:
    """How many stages fit: (stages, bytes of a CTA, CTAs an SM)."""

    stages: int
    bytes: int
    ctas_per_sm: int


@dataclass(frozen=True)
class GemmPlan:
    """Everything that follows from a request. ``reasons`` against it make it impossible; ``warnings`` wasteful."""

    spec: GemmSpec
    reasons: tuple[str, ...]
    warnings: tuple[str, ...]
    kind: str
    stages: int
    mma_k: int
    mmas_per_stage: int
    a_bytes: int
    b_bytes: int
    scale_bytes: int
    stage_bytes: int
    expected_bytes: int
    staging_bytes: int
    shared_bytes: int
    fittings: tuple[Fitting, ...]
    swizzle: int
    maps: tuple[MapPlan, ...]
    barriers: tuple[BarrierPlan, ...]
    regions: tuple[RegionPlan, ...]
    columns_used: int
    columns: int
    instruction: int
    matrix: int
    matrix_step: int
    threads: int
    load_shape: str
    loads_per_tile: int
    advice: tuple[str, ...]

    @property
    def possible(self) -> bool:
        return not self.reasons
