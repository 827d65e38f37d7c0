"""What the user asks of a GEMM kernel."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from auditor.plans.kinds import ACCUMULATORS, KINDS, OUTPUT_BYTES


class PlanError(ValueError):
    """A request that is not of the right form."""


def changed_fields(own: Any, other: Any) -> tuple[str, ...]:
    """Names and values of ``other`` that differ, of two objects of one dataclass."""
    values = ((f.name, getattr(own, f.name), getattr(other, f.name)) for f in fields(own))
    return tuple(f"{name} = {there}" for name, here, there in values if here != there)


def check_request(given: Mapping[str, Any], choices: Mapping[str, Collection[Any]], positive: Iterable[str]) -> None:
    """Raises PlanError for a value that no plan can have. Every request has ``stages`` (None: auto) and ``arch``."""
    for name, allowed in choices.items():
        if given[name] not in allowed:
            raise PlanError(f"{name} is {given[name]!r}, not one of {', '.join(map(str, allowed))}")
    for name in positive:
        if given[name] < 1:
            raise PlanError(f"{name} is {given[name]}, not positive")
    if given["stages"] is not None and given["stages"] < 1:
        raise PlanError(f"stages is {given['stages']}, not positive")
    if not given["arch"].startswith(("sm_100", "sm_103", "sm_110")):
        raise PlanError(f"{given['arch']} has no tcgen05; use sm_100a")


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
        choices: dict[str, Collection[Any]] = {
            "dtype": KINDS,
            "acc": ACCUMULATORS,
            "out": OUTPUT_BYTES,
            "cta_group": (1, 2),
            "epilogue": ("direct", "tma"),
        }
        check_request(vars(self), choices, ("m", "n", "k", "accumulators", "ctas_per_sm"))

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
        return changed_fields(self, other)


def parse_tile(text: str) -> tuple[int, int, int]:
    """ "128x256x64" as M, N and K."""
    match = re.fullmatch(r"\s*(\d+)[x,](\d+)[x,](\d+)\s*", text)
    if match is None:
        raise PlanError(f"{text!r} is not a tile such as 128x256x64")
    m, n, k = (int(group) for group in match.groups())
    return m, n, k
