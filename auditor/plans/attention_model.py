"""A plan of an attention kernel as data."""

from __future__ import annotations

from dataclasses import dataclass

from auditor.plans.attention_spec import AttentionSpec
from auditor.plans.model import BarrierPlan, Fitting, MapPlan, RegionPlan


@dataclass(frozen=True)
class MmaPlan:
    """One of the two products. ``a`` and ``b``: where the operands lie; ``step``: of B's address for one K step.

    ``instruction``: the instruction descriptor. ``matrix``: the matrix descriptor of B without its address. ``step``
    is in bytes; within a swizzle row for K-major operands, over rows of keys for V.
    """

    name: str
    m: int
    n: int
    k: int
    a: str
    b: str
    instruction: int
    matrix: int
    step: int
    count: int


@dataclass(frozen=True)
class RolePlan:
    """A role: its warps [first, end), and the registers a thread that setmaxnreg leaves it."""

    name: str
    first: int
    end: int
    registers: int

    @property
    def warps(self) -> str:
        return str(self.first) if self.end == self.first + 1 else f"{self.first}-{self.end - 1}"


@dataclass(frozen=True)
class AttentionPlan:
    """Everything that follows from a request. ``reasons`` against it make it impossible; ``warnings`` wasteful.

    Sizes are bytes. ``q_bytes``: of one tile of 128 queries; ``kv_bytes``: of one stage of K, and as many of V.
    ``chunk``: columns of one tcgen05.ld or st of S and P, ``chunk_o`` of O.
    """

    spec: AttentionSpec
    reasons: tuple[str, ...]
    warnings: tuple[str, ...]
    kind: str
    tiles: int
    stages: int
    q_bytes: int
    kv_bytes: int
    vector_bytes: int
    shared_bytes: int
    fittings: tuple[Fitting, ...]
    swizzle: int
    maps: tuple[MapPlan, ...]
    barriers: tuple[BarrierPlan, ...]
    regions: tuple[RegionPlan, ...]
    columns_used: int
    columns: int
    mmas: tuple[MmaPlan, ...]
    roles: tuple[RolePlan, ...]
    threads: int
    chunk: int
    chunk_o: int
    advice: tuple[str, ...]

    @property
    def possible(self) -> bool:
        return not self.reasons
