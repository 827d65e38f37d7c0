"""Which of the planned launches of a kernel are worth running, from how the earlier ones went."""

from __future__ import annotations

from auditor.machine.launch import Launch
from auditor.trace import Trace

REPLACEABLE_STEPS = 60_000  # what a chosen problem may take before a smaller one stands in for it
EXTRA_STEPS = 45_000  # what a launch that only adds to the others may be expected to take


class Series:
    """Follows the runs of one kernel. ``budget``: steps that a launch may take that nothing stands in for."""

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._exceeded = False
        self._steps: int | None = None  # of the first run

    def wants(self, launch: Launch) -> bool:
        """Whether to run this launch at all."""
        if launch.reduced:
            return self._exceeded
        if launch.extra:
            return not self._exceeded and launch.extra * (self._steps or 0) <= EXTRA_STEPS
        return True

    def steps(self, launch: Launch) -> int:
        """The step budget of a run."""
        return min(self._budget, REPLACEABLE_STEPS) if launch.replaceable else self._budget

    def counts(self, launch: Launch, trace: Trace) -> bool:
        """Take note of a run. False when it was too long and a smaller problem stands in for it, so that it is dropped."""
        if self._steps is None:
            self._steps = trace.steps
        exceeded = any(incident.kind == "budget" for incident in trace.incidents)
        self._exceeded = exceeded or (self._exceeded and not launch.reduced)
        return not (exceeded and launch.replaceable)
