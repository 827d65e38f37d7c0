"""Programs about groups of asynchronous operations: what they are, and what a run made them see.

The first sets observe where warps stop. These programs all end; what is observed is the *value* of each look: of a
destination in global memory that a bulk store wrote, of shared memory that ``cp.async`` filled, of accumulators. It
tells which of several writes an operation had read, or had not yet made visible, and so what a group's wait orders.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data" / "groups.jsonl.gz"
MIXED = -1  # a look found different values at different places
STORES = 6  # destinations in global memory
SLOTS = 4
LOOKS = ("look", "see", "result")


@dataclass(frozen=True)
class Step:
    """One operation, by all lanes of the converged warp unless one lane is said to execute it.

    ``kind``: bulk stores: "write" (value ``value`` into all of slot ``at``), "fence" (fence.proxy.async), "store" (lane
    0: slot ``at`` to destination ``value``), "commit", "wait" and "wait_read" (lane 0; ``at``: groups left), "look" (at
    destination ``at``). cp.async: "fetch" (a source of values ``value`` into slot ``at``), "fetch_commit", "fetch_wait"
    (``at``), "see" (slot ``at``). wgmma, by four warps: "fill" (2 to the power ``value`` into tile ``at``), "mma" (tile
    ``at`` into accumulator ``value``, replacing it), "mma_commit", "mma_wait" (``at``), "result" (of accumulator
    ``at``). "sync": barrier of the CTA.
    """

    kind: str
    at: int = 0
    value: int = 0


@dataclass(frozen=True)
class GroupProgram:
    """A program and what was seen: ``seen`` has a value for each look in the order of warps and operations, then the
    last values of the destinations that are stored to; ``runs`` how often each."""

    id: str
    shape: str
    bug: str
    code: tuple[tuple[Step, ...], ...]
    seen: tuple[tuple[int, ...], ...]
    runs: tuple[int, ...]

    def steps(self) -> Iterator[tuple[int, int, Step]]:
        """(warp, index, operation) of all operations."""
        for w, code in enumerate(self.code):
            for n, step in enumerate(code):
                yield w, n, step

    @property
    def looks(self) -> list[tuple[int, int]]:
        """(warp, index) of the operations that look."""
        return [(w, n) for w, n, step in self.steps() if step.kind in LOOKS]

    @property
    def stored(self) -> int:
        """How many destinations are looked at in the end: all up to the last that is stored to."""
        return max((step.value + 1 for _, _, step in self.steps() if step.kind == "store"), default=0)


def parse(raw: dict[str, Any]) -> GroupProgram:
    """A line of the data."""
    outcomes = raw.get("outcomes", [])
    return GroupProgram(
        raw["id"], raw["shape"], raw["bug"],
        tuple(tuple(Step(*step) for step in code) for code in raw["code"]),
        tuple(tuple(o["seen"]) for o in outcomes), tuple(o["runs"] for o in outcomes),
    )


def load(path: Path = DATA) -> list[GroupProgram]:
    """All measured programs."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [parse(json.loads(line)) for line in lines]
