"""What the user asks of an attention kernel."""

from __future__ import annotations

from dataclasses import dataclass

from auditor.plans.kinds import KINDS, OUTPUT_BYTES
from auditor.plans.spec import changed_fields, check_request

DTYPES = ("bf16", "f16", "e4m3", "e5m2")
PLACES = ("alias", "own")


@dataclass(frozen=True)
class AttentionSpec:
    """O = softmax(Q K^T) V for ``m`` queries a CTA, ``n`` keys an iteration and heads of ``d`` elements.

    ``p``: whether P takes columns of S ("alias") or has its own. ``stages`` None: as many of K and V as fit.
    One CTA takes an SM: its softmax threads share out all registers.
    """

    m: int = 256
    n: int = 128
    d: int = 128
    dtype: str = "bf16"
    out: str = "bf16"
    p: str = "alias"
    stages: int | None = None
    arch: str = "sm_100a"

    def __post_init__(self) -> None:
        check_request(vars(self), {"dtype": DTYPES, "out": OUTPUT_BYTES, "p": PLACES}, ("m", "n", "d"))

    @property
    def tiles(self) -> int:
        """Tiles of 128 queries: each has a softmax warpgroup, and its own S, P and O."""
        return max(self.m // 128, 1)

    @property
    def p_columns(self) -> int:
        """Columns of P of one tile: elements of 8 or 16 bits, packed into 32-bit columns."""
        return self.n * KINDS[self.dtype].bits // 32

    def words(self) -> str:
        """The request as options of the command line."""
        stages = "auto" if self.stages is None else str(self.stages)
        return (
            f"--tile {self.m}x{self.n}x{self.d} --dtype {self.dtype} --out-type {self.out} --p {self.p} "
            f"--stages {stages} --arch {self.arch}"
        )

    def differences(self, other: AttentionSpec) -> tuple[str, ...]:
        """Names and values of ``other`` that differ from ours."""
        return changed_fields(self, other)
