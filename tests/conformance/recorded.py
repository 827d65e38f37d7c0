"""The measured programs: what each of them does, and what hardware did with it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data" / "programs.jsonl.gz"
SECOND = Path(__file__).parent / "data" / "second.jsonl.gz"
THIRD = Path(__file__).parent / "data" / "third.jsonl.gz"


@dataclass(frozen=True)
class Op:
    """One operation of a warp.

    ``kind``: "arrive" (``value`` is the count), "remote_arrive" (count; ``rank`` of the barrier's CTA), "arrive_tx",
    "expect_tx" and "copy" (bytes), "wait" and "test" (parity), "sync" (all warps of the CTA). ``lanes``: 1, or 32 for
    an operation of the whole converged warp. ``slot``: the copy's buffer; ``shift``: bytes that its destination and
    its source are off.

    In the second set also "drop" (``arrive_drop``, count), "complete_tx" (bytes), "multicast" (a copy to the CTAs of
    the mask ``rank``), "push" (a copy to the peer CTA and its barrier), "async_arrive" (``lanes`` lanes copy with
    cp.async and let the barrier know; ``value``: 1 for .noinc), "meet" and "signal" (named barrier ``value`` of
    ``rank`` warps: sync and arrive) and "cluster" (the cluster barrier). In the third set also "whole" (the barrier of
    all threads of the CTA).
    """

    kind: str
    barrier: int = 0
    value: int = 0
    lanes: int = 1
    slot: int = 0
    shift: tuple[int, int] = (0, 0)
    rank: int = 0


@dataclass(frozen=True)
class Outcome:
    """How a run ended. ``stop``: for each warp of the cluster the operation that it is stuck at, None: done."""

    stop: tuple[int | None, ...]
    tests: tuple[tuple[int, ...], ...] = ()
    phase: tuple[int, ...] = ()
    trap: bool = False


TRAP = Outcome((), trap=True)


@dataclass(frozen=True)
class Recorded:
    """One measured program. ``code`` and everything by warp runs over the warps of the whole cluster."""

    id: str
    shape: str
    bug: str
    ctas: int
    warps: int
    init: tuple[tuple[int, ...], ...]
    code: tuple[tuple[Op, ...], ...]
    label: str
    outcomes: tuple[Outcome, ...]
    runs: tuple[int, ...]
    misalign: int = 0

    def cta(self, warp: int) -> int:
        return warp // self.warps

    def ops(self) -> Iterator[tuple[int, int, Op]]:
        """(warp, index, operation) of all operations."""
        for w, code in enumerate(self.code):
            for n, op in enumerate(code):
                yield w, n, op

    @property
    def stops(self) -> set[tuple[int | None, ...]]:
        return {o.stop for o in self.outcomes if not o.trap}


def _op(raw: list[Any], cta: int) -> Op:
    kind, *rest = raw
    if kind == "arrive":
        return Op(kind, rest[0], rest[1], rest[2])
    if kind == "remote_arrive":
        return Op(kind, rest[0], rest[1], rank=rest[2] if len(rest) > 2 else 1 - cta)
    if kind == "copy":
        return Op(kind, rest[0], rest[1], slot=rest[2], shift=(rest[3], rest[4]) if len(rest) > 3 else (0, 0))
    if kind in ("multicast", "push"):
        return Op(kind, rest[0], rest[1], slot=rest[2], rank=rest[3] if len(rest) > 3 else 1 - cta)
    if kind == "async_arrive":
        return Op(kind, rest[0], rest[2], lanes=rest[1])
    if kind in ("meet", "signal"):
        return Op(kind, value=rest[0], rank=rest[1])
    return Op(kind, *rest)


def _outcome(raw: dict[str, Any]) -> Outcome:
    return Outcome(
        tuple(s for cta in raw["stop"] for s in cta),
        tuple(tuple(t) for cta in raw["tests"] for t in cta),
        tuple(p for cta in raw["phase"] for p in cta),
    )


def parse(raw: dict[str, Any]) -> Recorded:
    """A line of the data."""
    outcomes = [(_outcome(o), int(o["runs"])) for o in raw["outcomes"]]
    if raw["label"] == "traps":
        outcomes.append((TRAP, 1))
    return Recorded(
        raw["id"], raw["shape"], raw["bug"], raw["ctas"], raw["warps"],
        tuple(tuple(c) for c in raw["init"]),
        tuple(tuple(_op(o, c) for o in code) for c, cta in enumerate(raw["code"]) for code in cta),
        raw["label"], tuple(o for o, _ in outcomes), tuple(n for _, n in outcomes), raw.get("misalign", 0),
    )


def load(path: Path = DATA) -> list[Recorded]:
    """All measured programs."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [parse(json.loads(line)) for line in lines]


def sample(programs: list[Recorded], n: int) -> list[Recorded]:
    """About ``n`` programs spread over the set, so that every shape and label is in it; equal for equal ``n``."""
    step = max(len(programs) // max(n, 1), 1)
    kinds = sorted(programs, key=lambda p: (p.label, p.shape, p.bug, p.id))
    return kinds[::step]
