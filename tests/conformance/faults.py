"""Which operation of a program was changed, found again from the program and the name of the change.

The data names the change but not its place. The generators are regular, so that the place shows: a ring's barriers are
its full ones followed by its empty ones, warp 0 of a CTA produces and the others consume, round ``i`` uses stage
``i % stages`` and parity ``i // stages % 2``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from tests.conformance.recorded import Op, Recorded


@dataclass
class Fault:
    """``ops``: changed operations, (warp, index). ``barriers``: (CTA, number) of those with a wrong init count or a
    missing arrival, where no operation stands for the change."""

    ops: set[tuple[int, int]] = field(default_factory=set)
    barriers: set[tuple[int, int]] = field(default_factory=set)


def fault(p: Recorded) -> Fault | None:
    """The change of a program; None when it has none, or none that can be told."""
    find = _FINDERS.get((p.shape, p.bug))
    found = find(p) if find else None
    return found if found is not None and (found.ops or found.barriers) else None


def _waits(p: Recorded, w: int, low: int = 0, high: int = 64) -> list[tuple[int, Op]]:
    """(index, operation) of a warp's waits on barriers of a range."""
    return [(n, op) for n, op in enumerate(p.code[w]) if op.kind == "wait" and low <= op.barrier < high]


def _consumers(p: Recorded) -> list[int]:
    return [w for w in range(len(p.code)) if w % p.warps]


def _producers(p: Recorded) -> list[int]:
    return [w for w in range(len(p.code)) if w % p.warps == 0]


def _stages(p: Recorded) -> int:
    return len(p.init[0]) // 2


# ---- init counts ------------------------------------------------------------------------------------------------


def _odd_counts(p: Recorded, right: Callable[[int], int]) -> Fault:
    return Fault(barriers={(c, b) for c, counts in enumerate(p.init) for b, n in enumerate(counts) if n != right(b)})


def _ring_init(p: Recorded) -> Fault:
    lanes = max((op.lanes for _, _, op in p.ops() if op.kind == "arrive" and op.barrier >= _stages(p)), default=1)
    return _odd_counts(p, lambda b: 1 if b < _stages(p) else len(_consumers(p)) * lanes)


def _cluster_ring_init(p: Recorded) -> Fault:
    return _odd_counts(p, lambda b: 1 if b < _stages(p) else len(_consumers(p)))


def _lanes(p: Recorded) -> Fault:
    """Consumers arrive with one lane where all 32 are counted, or the other way round."""
    return Fault({(w, n) for w in _consumers(p) for n, op in enumerate(p.code[w]) if op.kind == "arrive"},
                 {(0, b) for b in range(_stages(p), 2 * _stages(p))})


# ---- parities ---------------------------------------------------------------------------------------------------


def _producer_parity(p: Recorded) -> Fault:
    """Producer's waits on empty barriers whose parity is not the one of their round."""
    stages, ops = _stages(p), set()
    for w in _producers(p):
        for i, (n, op) in enumerate(_waits(p, w, stages)):
            if op.value != (i // stages & 1) ^ 1:
                ops.add((w, n))
    return Fault(ops)


# ---- bytes ------------------------------------------------------------------------------------------------------


def _fills(p: Recorded, w: int) -> Iterator[list[int]]:
    """Operations between the producer's waits."""
    fill: list[int] = []
    for n, op in enumerate(p.code[w]):
        if op.kind == "wait":
            if fill:
                yield fill
            fill = []
        else:
            fill.append(n)
    if fill:
        yield fill


def _bad_load(p: Recorded) -> Fault:
    """Fills whose expected bytes are not the copied ones, or are expected after the arrival."""
    ops = set()
    for w in _producers(p):
        for fill in _fills(p, w):
            code = [p.code[w][n] for n in fill]
            kinds = [op.kind for op in code]
            want = sum(op.value for op in code if op.kind in ("expect_tx", "arrive_tx"))
            got = sum(op.value for op in code if op.kind == "copy")
            late = "arrive" in kinds and "expect_tx" in kinds and kinds.index("arrive") < kinds.index("expect_tx")
            if want != got or (late and kinds[0] == "arrive"):
                ops |= {(w, n) for n in fill}
    return Fault(ops)


# ---- missing and surplus operations --------------------------------------------------------------------------------


def _unreleased(p: Recorded) -> Fault:
    """Stages that a consumer waited for and did not release."""
    stages, barriers = _stages(p), set()
    for w in _consumers(p):
        code = p.code[w]
        for n, op in _waits(p, w):
            after = code[n + 1] if n + 1 < len(code) else None
            if after is None or after.kind != "arrive" or after.barrier != op.barrier + stages:
                barriers.add((p.cta(w), op.barrier + stages))
    return Fault(barriers=barriers)


def _one_sided(p: Recorded) -> Fault:
    """A CTA whose consumers never release the other's producer."""
    silent = [c for c in range(2) if not any(op.kind == "remote_arrive" and p.cta(w) == c for w, _, op in p.ops())]
    return Fault(barriers={(1 - c, b) for c in silent for b in range(_stages(p), 2 * _stages(p))})


def _lost_ping(p: Recorded) -> Fault:
    """The CTA that gets a token less than the other; both, when now both wait first."""
    sent = Counter(op.rank for _, _, op in p.ops() if op.kind == "remote_arrive")
    low = min(sent[0], sent[1])
    nobody = all(code[0].kind == "wait" for code in p.code if code)
    return Fault(barriers={(c, 0) for c in range(2) if nobody or sent[c] == low})


def _lost_turn(p: Recorded) -> Fault:
    """The barrier that gets a turn less than the others; all, when now everybody waits first."""
    turns = Counter(op.barrier for _, _, op in p.ops() if op.kind == "arrive")
    low = min(turns[b] for b in range(p.warps))
    nobody = all(code[0].kind == "wait" for code in p.code if code)
    return Fault(barriers={(0, b) for b in range(p.warps) if nobody or turns[b] == low})


def _extra_rounds(p: Recorded, w: int, kept: int) -> set[tuple[int, int]]:
    """A warp's operations from its wait number ``kept`` on."""
    waits = _waits(p, w)
    return {(w, n) for n in range(waits[kept][0], len(p.code[w]))} if len(waits) > kept else set()


def _more_in(p: Recorded) -> Fault:
    rounds = max(len(_waits(p, w)) for w in _consumers(p))
    return Fault(_extra_rounds(p, 0, rounds))


def _more_out(p: Recorded) -> Fault:
    rounds = len(_waits(p, 0))
    return Fault({x for w in _consumers(p) for x in _extra_rounds(p, w, rounds)})


def _one_more(p: Recorded) -> Fault:
    rounds = min(len(_waits(p, w)) for w in range(p.warps))
    return Fault({(w, n) for w in range(p.warps) if len(_waits(p, w)) > rounds
                  for n in range(max(_waits(p, w)[rounds][0] - 1, 0), len(p.code[w]))})


def _wrong_stage(p: Recorded) -> Fault:
    """A consumer's round on the stage after the one whose turn it is."""
    stages, ops = _stages(p), set()
    for w in _consumers(p):
        for i, (n, op) in enumerate(_waits(p, w)):
            if op.barrier != i % stages:
                ops |= {(w, n), (w, n + 1)}
    return Fault({(w, n) for w, n in ops if n < len(p.code[w])})


def _skip_warp(p: Recorded) -> Fault:
    """An arrival at the warp after the next one."""
    astray = [(w, n) for w, n, op in p.ops() if op.kind == "arrive" and op.barrier != (w + 1) % p.warps]
    return Fault(set(astray), {(0, (w + 1) % p.warps) for w, _ in astray})


def _first_waits(p: Recorded) -> Fault:
    """Everybody waits first: the change is the first wait of whoever should have gone first."""
    return Fault({(w, 0) for w in range(len(p.code)) if p.code[w] and p.code[w][0].kind == "wait"})


_FINDERS: dict[tuple[str, str], Callable[[Recorded], Fault]] = {
    ("ring", "init_full"): _ring_init,
    ("ring", "init_empty"): _ring_init,
    ("ring", "lanes"): _lanes,
    ("ring", "producer_parity"): _producer_parity,
    ("ring", "wrong_slot_parity"): _producer_parity,
    ("ring", "bad_load"): _bad_load,
    ("ring", "bad_load_once"): _bad_load,
    ("ring", "lost_arrive"): _unreleased,
    ("ring", "more_in"): _more_in,
    ("ring", "more_out"): _more_out,
    ("ring", "wrong_stage"): _wrong_stage,
    ("cluster_ring", "init_full"): _cluster_ring_init,
    ("cluster_ring", "init_empty"): _cluster_ring_init,
    ("cluster_ring", "parity"): _producer_parity,
    ("cluster_ring", "bad_load"): _bad_load,
    ("cluster_ring", "one_sided"): _one_sided,
    ("cluster_ping", "init"): lambda p: _odd_counts(p, lambda b: p.warps if b == 0 else 1),
    ("cluster_ping", "lost"): _lost_ping,
    ("cluster_ping", "both_first"): _first_waits,
    ("rendezvous", "init"): lambda _: Fault(barriers={(0, 0)}),
    ("rendezvous", "lost"): lambda _: Fault(barriers={(0, 0)}),
    ("rendezvous", "absent"): lambda _: Fault(barriers={(0, 0)}),
    ("rendezvous", "one_more"): _one_more,
    ("order", "init"): lambda p: _odd_counts(p, lambda b: 1),
    ("order", "lost"): _lost_turn,
    ("order", "nobody_first"): _first_waits,
    ("order", "skip_warp"): _skip_warp,
}
