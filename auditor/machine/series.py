"""Which of the planned launches of a kernel are run, and which of the runs count, from how the earlier ones went."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from auditor.machine.core import no_more
from auditor.machine.laps import goes_round, grows, in_first_laps, is_longer
from auditor.machine.launch import Launch
from auditor.machine.tails import cuts_copies, smallest_copies
from auditor.trace import Trace

REPLACEABLE_STEPS = 30_000  # what a chosen problem may take before a smaller one stands in for it
LARGER = 1.5  # a larger problem takes at least so many times the steps of one that hung
FAR = 4  # and is followed for so many times as many,
FAR_STEPS = 20_000  # or for so many, before another one is tried,
FARTHEST = 50_000  # but for no more than that
EXTRA_STEPS = 45_000  # what a launch that only adds to the others may be expected to take
DEEPER = 4  # the longest problem takes about so many times as long as the long one
DEEP_STEPS = 15_000  # what it may be expected to take
LITTLE = 5_000  # a longer problem is always tried after one that takes no more steps
EXTRA_PATIENCE = 3  # times so many steps are allowed to it, as expectations may be wrong

WRONG = frozenset(("deadlock", "over_arrival", "tx_overflow", "cluster_rank"))
NO_MORE = 0.01  # of the events: what two runs that were cut differ by when their size makes no difference

More = Callable[[Trace], int]
Run = Callable[[Launch, int, More], "Trace | None"]


class Series:
    """The runs of one kernel.

    ``budget``: steps that a launch may take that nothing stands in for. ``run`` executes a launch within a number of
    steps, or what a function allows when they are spent, or returns None when no time is left. Where something goes
    wrong in the cluster that was chosen, and nothing without one, the runs without it count.
    """

    def __init__(self, launches: Sequence[Launch], budget: int, run: Run) -> None:
        self._together = _Runs([launch for launch in launches if not launch.alone], budget, run)
        alone = [launch for launch in launches if launch.alone]
        self._alone = _Runs(alone, budget, run) if alone else None

    def __iter__(self) -> Iterator[tuple[Launch, Trace]]:
        """Launches and traces that are to be judged: at least one, if any was run."""
        if self._alone is None:
            yield from self._together
            return
        first = list(self._together)
        second = list(self._alone) if any(_goes_wrong(trace) for _, trace in first) else []
        yield from first if not second or any(_goes_wrong(trace) for _, trace in second) else second


class _Runs:
    """The runs in clusters of one size; see ``Series``."""

    def __init__(self, launches: Sequence[Launch], budget: int, run: Run) -> None:
        self._launches = [launch for launch in launches if not launch.larger]
        self._larger = [launch for launch in launches if launch.larger]
        self._budget = budget
        self._run = run
        self._first: Trace | None = None
        self._longest: Trace | None = None  # of longer problems
        self._smallest: Trace | None = None  # of the smallest problem
        self._least = 0  # steps that every problem takes, as far as the smallest one tells
        self._exceeded = False
        self._too_long = False  # an extra launch was
        self._completed = False
        self._cut: list[tuple[Launch, Trace]] = []  # runs that were too long to count
        self._alike: list[Launch] = []  # launches whose CTAs all do the same

    def __iter__(self) -> Iterator[tuple[Launch, Trace]]:
        """Launches and traces that are to be judged: at least one, if any was run."""
        counted = False
        for launch, trace in self._runs():
            if self._hangs_for_its_size(launch, trace):
                instead = self._without_hang(trace)
                if instead is not None:
                    yield instead
                    return
            if self._counts(launch, trace):
                counted = True
                yield launch, trace
        if not counted and self._cut:
            yield max(self._cut, key=lambda cut: cut[1].steps)

    def _runs(self) -> Iterator[tuple[Launch, Trace]]:
        """The smallest problem is run first, since it tells whether others can be short enough, and judged in turn."""
        first = next((launch for launch in self._launches if launch.fallback and launch.replaceable), None)
        smallest = self._run(first, self._steps(first), self._more) if first is not None else None
        if smallest is not None:
            self._smallest = smallest
            self._least = _at_least(smallest)
        for launch in self._launches:
            if launch is first:
                trace = smallest
            elif self._wants(launch):
                trace = self._run(launch, self._steps(launch), self._more if launch.fallback else no_more)
            else:
                continue
            if trace is None:
                return
            yield launch, trace

    def _wants(self, launch: Launch) -> bool:
        if launch.reduced:
            if not self._exceeded or self._least > REPLACEABLE_STEPS // 2 or self._no_better(launch):
                return False
        elif launch.replaceable and self._least > REPLACEABLE_STEPS:
            if self._smallest is not None and not self._smallest.block_dependent:
                self._alike.append(launch)
            return False
        if launch.once_more and (self._completed or any(cut.steps >= self._budget for _, cut in self._cut)):
            return False
        if launch.extra and not self._wants_extra(launch):
            return False
        return not any(_another_cta(launch, other) for other in self._alike)

    def _wants_extra(self, launch: Launch) -> bool:
        """Whether a launch that only adds to the others is worth its time: more where a ring was not gone round."""
        if self._exceeded or self._too_long or self._first is None or _has(self._first, "budget"):
            return False
        if launch.ragged and not smallest_copies(self._first):
            return False
        if launch.extra > 1 and self._smallest is not None and not is_longer(self._first, self._smallest):
            return False
        if launch.extra > 1 and self._first.steps > LITTLE and goes_round(self._first):
            return False
        if not launch.deep:
            patience = EXTRA_PATIENCE if launch.extra > 1 and in_first_laps(self._first) else 1
            return launch.extra * self._first.steps <= patience * EXTRA_STEPS
        last = self._longest
        return (
            last is not None
            and not _goes_wrong(last)
            and grows(self._first, last)
            and DEEPER * last.steps <= DEEP_STEPS
        )

    def _steps(self, launch: Launch) -> int:
        if launch.replaceable:
            return min(self._budget, REPLACEABLE_STEPS)
        if launch.deep:
            return min(self._budget, EXTRA_STEPS)
        return min(self._budget, EXTRA_PATIENCE * EXTRA_STEPS) if launch.extra else self._budget

    def _more(self, trace: Trace) -> int:
        """The budget of a smallest problem that has taken all that a chosen one may: no other one can be expected to be
        shorter, unless for another CTA."""
        return 0 if trace.block_dependent else self._budget

    def _counts(self, launch: Launch, trace: Trace) -> bool:
        """Take note of a run. False when it was too long and another problem stands in for it."""
        if self._first is None:
            self._first = trace
        exceeded = _has(trace, "budget")
        if launch.extra:
            self._too_long |= exceeded
            if launch.extra > 1:
                self._longest = trace
        else:
            self._exceeded = exceeded or (self._exceeded and not launch.reduced)
        if launch.ragged and not cuts_copies(self._first, trace):
            return False
        if not trace.block_dependent:
            self._alike.append(launch)
        spared = launch.fallback and any(cut.steps >= trace.steps for _, cut in self._cut)
        if exceeded and (launch.replaceable or launch.extra or spared):
            self._cut.append((launch, trace))
            return False
        self._completed |= not exceeded
        return True

    def _no_better(self, launch: Launch) -> bool:
        """Whether the size of the problem has made no difference for the CTA of this launch so far."""
        if len(self._cut) < 2:
            return False
        (_, first), (last, second) = self._cut[-2:]
        # The smallest one has so many CTAs that the last ones may have nothing to do: the typical one tells.
        alike = launch.block_index == last.block_index or not first.block_dependent
        return _as_many(first, second) and alike

    def _hangs_for_its_size(self, launch: Launch, trace: Trace) -> bool:
        """Whether a chosen problem hangs, perhaps because it is smaller than any that the kernel is made for."""
        return not launch.extra and bool(self._larger) and _has(trace, "deadlock")

    def _without_hang(self, hung: Trace) -> tuple[Launch, Trace] | None:
        """A larger problem that does not hang, and gets further than the one that did.

        That is the one with the most tiles for a CTA, unless it is too long; then the one with the fewest, for which
        there is all the time; and where that one ends too early, the others.
        """
        (most, *others), self._larger = self._larger, []
        least = others[-1] if others else most
        some = min(self._budget, FARTHEST, max(FAR * hung.steps, FAR_STEPS))
        for launch in (most, *reversed(others)):
            trace = self._run(launch, self._budget if launch is least else some, no_more)
            if trace is None or _has(trace, "deadlock"):
                return None
            if _has(trace, "budget") and launch is not least:
                continue
            if trace.steps >= LARGER * hung.steps:
                return launch, trace
            if launch is most:
                return None  # it does not get as far as the hang, and the others end earlier
        return None


def _at_least(smallest: Trace) -> int:
    """The steps that every problem takes, as far as the smallest one tells."""
    cut = _has(smallest, "budget")
    return 0 if _goes_wrong(smallest) or (cut and smallest.block_dependent) else smallest.steps


def _as_many(a: Trace, b: Trace) -> bool:
    """Whether about as many events took place in two runs."""
    return abs(len(a.events) - len(b.events)) <= NO_MORE * len(b.events)


def _has(trace: Trace, kind: str) -> bool:
    return any(incident.kind == kind for incident in trace.incidents)


def _goes_wrong(trace: Trace) -> bool:
    """Whether a run hangs, traps, or addresses a CTA that the cluster does not have."""
    return any(incident.kind in WRONG for incident in trace.incidents)


def _another_cta(a: Launch, b: Launch) -> bool:
    """Whether two launches differ in nothing but the CTA that is looked at, and in it they do."""
    shape, other = ((x.kernel, x.grid, x.block, x.cluster, x.shared_bytes) for x in (a, b))
    return shape == other and a.args == b.args and a.block_index != b.block_index
