"""Work grows with the number of events, not with its square. Counted, not timed."""

from __future__ import annotations

import pytest

from auditor.graph import HappensBefore
from auditor.trace import Trace
from tests.unit.graph_traces import TraceBuilder, shared, tmem

STAGES = 3
TILE = 16384


def pipeline(laps: int, *, broken: bool = False, resident: bool = False) -> Trace:
    """Producer, MMA issuer and four epilogue warps over a ring of stages.

    broken: stages are freed by a plain arrival that does not wait for the MMA. resident: an operand that every MMA
    reads and nothing overwrites.
    """
    b = TraceBuilder()
    producer, issuer = b.strand(0, 1), b.strand(1, 1)
    epilogue = [b.strand(2 + n) for n in range(4)]
    b.sync(producer, issuer, *epilogue)
    for lap in range(laps):
        for stage in range(STAGES):
            lo = stage * TILE
            copy = b.issue(producer, "tma.load", [shared(lo, lo + TILE, write=True, proxy="async")], line=1)
            b.hand_over(producer, issuer, copy, bar=stage, phase=lap)
            ops = []
            for k in range(4):
                operands = [shared(lo + 32 * k, lo + TILE - 96 + 32 * k, proxy="async"), tmem(0, 128, write=True)]
                if resident:
                    operands.append(shared(6 * TILE, 7 * TILE, proxy="async"))
                ops.append(b.issue(issuer, "mma", operands, line=2, group=1))
            b.hand_over(issuer, producer, *(() if broken else ops), bar=STAGES + stage, phase=lap)
        for n, strand in enumerate(epilogue):
            b.hand_over(issuer, strand, *([] if broken else ops), bar=20 + n, phase=lap)
            access = tmem(0, 128, lanes=(32 * n, 32 * n + 32), end=-1)
            b.add(strand, "tcgen05.ld", [access], line=3)
            access.end = b.add(strand, "wait.ld").time
            base = 4 * TILE + 4096 * n
            rows = tuple((lane, base + 128 * lane, base + 128 * lane + 16) for lane in range(32))
            b.add(strand, "st", [shared(base, base + 3984, write=True, lanes=rows)], line=4)
            b.add(strand, "fence.proxy", which="async.shared::cta")
            b.hand_over(strand, issuer, bar=30 + n, phase=lap)
            store = b.issue(strand, "bulk.store", [shared(base, base + 4096, proxy="async", done="read")], line=5)
            b.add(strand, "bulk.wait", preds=[(store, "read")])
            b.add(strand, "warp.sync")
    return b.trace


def test_a_sound_pipeline_has_no_conflicts() -> None:
    graph = HappensBefore(pipeline(6))
    assert graph.conflicts == []
    assert graph.overruns == []


@pytest.mark.parametrize("options", [{}, {"broken": True}, {"resident": True}])
def test_linear_growth(options: dict[str, bool]) -> None:
    small, large = pipeline(8, **options), pipeline(80, **options)
    assert len(large.events) > 9 * len(small.events)
    assert HappensBefore(large).work <= 12 * HappensBefore(small).work


def test_copies_that_nothing_completes() -> None:
    def trace(n: int) -> Trace:
        b = TraceBuilder()
        s, t = b.strand(0, 1), b.strand(1)
        for i in range(n):
            b.issue(s, "tma.load", [shared(0, 1024 * (1 + i % 3), write=True, proxy="async")], line=1)
            b.add(t, "ld", [shared(64, 128)], line=2)
        return b.trace

    assert HappensBefore(trace(2000)).work <= 12 * HappensBefore(trace(200)).work


def test_work_stays_small_for_wide_accesses() -> None:
    from auditor.trace import Access

    b = TraceBuilder()
    s = b.strand(0, 1)
    for n in range(300):
        lo = n << 32
        b.add(s, "st", [Access("global", True, "generic", 0, lo, lo + (1 << 32))])
    assert HappensBefore(b.trace).work < 3000
