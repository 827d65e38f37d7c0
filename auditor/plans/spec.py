"""What the user asks of a GEMM kernel."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields

from auditor.plans.kinds import ACCUMULATORS, KINDS, OUTPUT_BYTES


class PlanError(ValueError):
    """A request that is not of the right form."""


@dataclass(frozen=True)
class GemmSpec:
    """A GEMM D = A B^T with K-major operands. With ``cta_group`` 2, ``m`` and ``n`` are those of the CTA pair.

    ``stages`` None: as many as fit. ``ctas_per_sm``: that shared memory has to leave room for.
    """

    m: int = 128
    n: int = 128
    k: int = 64
    dtype: str = "bf16"
    acc: str = "f32"
    out: str = "f32"
    cta_group: int = 1
    stages: int | None = None
    epilogue: str = "direct"
    accumulators: int = 2
    arch: str = "sm_100a"
    ctas_per_sm: int = 1

    def __post_init__(self) -> None:
        for name, allowed in (
            ("dtype", KINDS),
            ("acc", ACCUMULATORS),
            ("out", OUTPUT_BYTES),
            ("cta_group", (1, 2)),
            ("epilogue", ("direct", "tma")),
        ):
            if getattr(self, name) not in allowed:
                raise PlanError(f"{name} is {getattr(self, name)!r}, not one of {', '.join(map(str, allowed))}")
        for name in ("m", "n", "k", "accumulators", "ctas_per_sm"):
            if getattr(self, name) < 1:
                raise PlanError(f"{name} is {getattr(self, name)}, not positive")
        if self.stages is not None and self.stages < 1:
            raise PlanError(f"stages is {self.stages}, not positive")
        if not self.arch.startswith(("sm_100", "sm_103", "sm_110")):
            raise PlanError(f"{self.arch} has no tcgen05; use sm_100a")

    def words(self) -> str:
        """The request as options of the command line."""
        stages = "auto" if self.stages is None else str(self.stages)
        return (
            f"--tile {self.m}x{self.n}x{self.k} --dtype {self.dtype} --acc {self.acc} --out-type {self.out} "
            f"--cta-group {self.cta_group} --stages {stages} --epilogue {self.epilogue} "
            f"--accumulators {self.accumulators} --ctas-per-sm {self.ctas_per_sm} --arch {self.arch}"
        )

    def differences(self, other: GemmSpec) -> tuple[str, ...]:
        """Names and values of ``other`` that differ from ours."""
        return tuple(
            f"{f.name} = {getattr(other, f.name)}"
            for f in fields(self)
            if getattr(self, f.name) != getattr(other, f.name)
        )


def parse_tile(text: str) -> tuple[int, int, int]:
    """ "128x256x64" as M, N and K."""
    match = re.fullmatch(r"\s*(\d+)[x,](\d+)[x,](\d+)\s*", text)
    if match is None:
        raise PlanError(f"{text!r} is not a tile such as 128x256x64")
    m, n, k = (int(group) for group in match.groups())
    return m, n, k
