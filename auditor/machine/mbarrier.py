"""The mbarrier object: counts and phases, nothing else (PTX ISA, "Parallel Synchronization: mbarrier").

Every rule here agrees with what an H200 did with thousands of small programs; see tests/conformance.
"""

from __future__ import annotations

from auditor.quick_dataclass import dataclass

COUNT_BITS = 20
MAX_COUNT = (1 << COUNT_BITS) - 1
MAX_TX = (1 << 20) - 1


class BarrierTrap(Exception):  # noqa: N818 - what hardware does, not a defect
    """What traps on hardware: an arrival of more than is pending, a tx-count out of range."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail


@dataclass
class Mbarrier:
    """Counts of one mbarrier. ``phase`` is the number of completed phases; tx counts bytes still due (may be negative).

    Pending arrivals and tx-count both zero complete the phase: pending becomes the expected count again. ``stuck``: the
    init count was out of range in a way that keeps the phase bit at 1.
    """

    expected: int
    pending: int
    tx: int = 0
    phase: int = 0
    any_bytes: bool = False  # a counterfactual run: byte counts do not hold the phase open
    stuck: bool = False

    @classmethod
    def init(cls, count: int) -> Mbarrier:
        """A fresh object in phase 0. Counts are 20 bits wide on hardware, kept negated below the phase bit, which takes
        the borrow whenever the count is loaded."""
        borrow = not -count >> COUNT_BITS & 1
        count &= MAX_COUNT
        return cls(count, count, stuck=borrow)

    @property
    def parity(self) -> int:
        """Parity of the open phase."""
        return 1 if self.stuck else self.phase & 1

    def arrive(self, count: int, tx: int = 0, drop: bool = False) -> bool:
        """``tx`` bytes more are expected, then ``count`` arrivals happen. True when the phase completed."""
        if tx:
            self._add_tx(tx)
        if count > self.pending:
            raise BarrierTrap("over_arrival", f"{count} arrivals where {self.pending} are pending")
        self.pending -= count
        if drop:
            self.expected -= count
        return self._flip()

    def expect(self, tx: int) -> bool:
        """``expect_tx``: more bytes are due. True when that completed the phase (surplus bytes were expected now)."""
        self._add_tx(tx)
        return self._flip() if tx else False

    def extend(self, count: int) -> bool:
        """``cp.async.mbarrier.arrive``: so many arrivals more are pending in this phase, and will come. Never completes
        it."""
        self.pending += count
        return False

    def complete(self, tx: int) -> bool:
        """``complete_tx``: bytes have arrived. True when the phase completed."""
        self.tx -= tx
        return self._flip()

    def passes(self, parity: int) -> bool:
        """What a test of that parity sees: True when the open phase has the other parity."""
        return self.parity != (parity & 1)

    def beyond(self, phase: int) -> bool:
        """Whether the phase of that number is over."""
        return self.phase > phase

    def _add_tx(self, tx: int) -> None:
        if not 0 <= tx <= MAX_TX:
            raise BarrierTrap("tx_overflow", f"expect_tx of {tx} bytes, the limit is {MAX_TX}")
        self.tx += tx
        if self.tx > MAX_TX + 1:
            raise BarrierTrap("tx_overflow", f"{self.tx} bytes expected in one phase, the limit is {MAX_TX}")

    def _flip(self) -> bool:
        if self.pending or (self.tx and not self.any_bytes):
            return False
        self.tx = 0
        self.pending = self.expected
        self.phase += 1
        return True
