"""CTA barriers in the search: who has come to which, and who may go on.

``meet`` and ``signal`` are ``barrier.sync`` and ``barrier.arrive`` with a number of warps; ``whole`` is
``barrier.sync`` of all threads of the CTA, which does not wait for those that have ended.
"""

from __future__ import annotations

from typing import NamedTuple

from tests.conformance.recorded import Op, Recorded

KINDS = ("meet", "signal", "whole")


class Standing(NamedTuple):
    """``waiting``: bit mask of the warps inside a barrier. ``rounds``: how many warps have come to each named one."""

    waiting: int = 0
    rounds: tuple[int, ...] = ()


class Meetings:
    """The CTA barriers of one program. Positions are those of all warps; one past the end: the warp has ended."""

    def __init__(self, p: Recorded) -> None:
        self.code = p.code
        self.cta = [p.cta(w) for w in range(len(p.code))]
        named = sorted({(p.cta(w), op.value) for w, _, op in p.ops() if op.kind in ("meet", "signal")})
        self.index = {key: n for n, key in enumerate(named)}
        self.whole = any(op.kind == "whole" for _, _, op in p.ops())
        self.start = Standing(0, (0,) * len(named))

    def bit(self, w: int, op: Op) -> int:
        """A number of its own for what an operation touches: the named barrier, or that of the CTA."""
        return len(self.index) + self.cta[w] if op.kind == "whole" else self.index[self.cta[w], op.value]

    def arrive(self, at: tuple[int, ...], now: Standing, w: int) -> tuple[tuple[int, ...], Standing]:
        """Positions and barriers after warp ``w`` has come to the barrier that is its next operation."""
        op = self.code[w][at[w]]
        if op.kind == "whole":
            return self._complete(at, now._replace(waiting=now.waiting | 1 << w), w)
        n = self.index[self.cta[w], op.value]
        came = now.rounds[n] + 1
        waiting = now.waiting | (op.kind == "meet") << w
        if op.kind == "signal":
            at = (*at[:w], at[w] + 1, *at[w + 1:])
        if came == op.rank:
            free = [o for o in range(len(at)) if waiting >> o & 1 and self._inside(o, at[o]) == (self.cta[w], op.value)]
            at = tuple(k + (o in free) for o, k in enumerate(at))
            waiting &= ~sum(1 << o for o in free)
            came = 0
        return at, Standing(waiting, (*now.rounds[:n], came, *now.rounds[n + 1:]))

    def leave(self, at: tuple[int, ...], now: Standing, w: int) -> tuple[tuple[int, ...], Standing]:
        """Positions and barriers after a warp has ended."""
        return self._complete((*at[:w], at[w] + 1, *at[w + 1:]), now, w)

    def _complete(self, at: tuple[int, ...], now: Standing, w: int) -> tuple[tuple[int, ...], Standing]:
        """Let the warps at the barrier of a CTA go on when nobody else is due there."""
        mates = [o for o in range(len(at)) if self.cta[o] == self.cta[w]]
        free = [o for o in mates if now.waiting >> o & 1 and self.code[o][at[o]].kind == "whole"]
        if any(o not in free and at[o] <= len(self.code[o]) for o in mates):
            return at, now
        at = tuple(k + (o in free) for o, k in enumerate(at))
        return at, now._replace(waiting=now.waiting & ~sum(1 << o for o in free))

    def _inside(self, w: int, n: int) -> tuple[int, int] | None:
        op = self.code[w][n] if n < len(self.code[w]) else None
        return (self.cta[w], op.value) if op is not None and op.kind == "meet" else None
