"""The first comparison: every measured program on the machine itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from multiprocessing import Pool

from auditor.machine.schedule import LAZY, Eager
from tests.conformance.direct import Runner
from tests.conformance.explore import Explorer, Replay
from tests.conformance.recorded import Outcome, Recorded

# (states, seed) of the searches for an outcome, until it is found: short ones in several directions, then a long one.
SEARCHES = ((3_000, 0), (3_000, 1), (3_000, 2), (30_000, 3), (30_000, 4), (300_000, 5))


@dataclass
class Verdict:
    """How the machine compares with hardware on one program.

    ``outcomes``: how many hardware showed. ``lazy``: what the schedule of an audit gives. ``missing``: measured
    outcomes that no schedule reached.
    ``searched``: outcomes that took a search. ``exhausted``: the search saw every state, so what is missing cannot be.
    """

    id: str
    shape: str
    bug: str
    label: str
    outcomes: int
    lazy: Outcome
    lazy_seen: bool
    eager_seen: bool
    missing: list[Outcome] = field(default_factory=list)
    searched: int = 0
    exhausted: bool = False
    error: str = ""

    @property
    def agrees(self) -> bool:
        """Every outcome that hardware showed is one of the machine's."""
        return not self.missing and not self.error

    @property
    def rare(self) -> bool:
        """The audit's schedule ends in a way that no run on hardware did, on a program with one label."""
        return self.agrees and not self.lazy_seen


def check(p: Recorded) -> Verdict:
    """Run the machine under the schedules that the measured outcomes take."""
    runner = Runner(p)
    wanted = set(p.outcomes)
    lazy, _ = runner.run(LAZY)
    verdict = Verdict(p.id, p.shape, p.bug, p.label, len(wanted), lazy, _seen(lazy, p), True)
    wanted.discard(lazy)
    if wanted:
        eager, _ = runner.run(Eager())
        verdict.eager_seen = _seen(eager, p)
        wanted.discard(eager)
    for states, seed in SEARCHES:
        if not wanted or verdict.exhausted or not p.init[0]:
            break
        explorer = Explorer(p)
        found, verdict.exhausted = explorer.search(wanted, states, seed)
        for outcome, script in found.items():
            got, _ = runner.run(Replay(script, explorer))
            if got != outcome:
                verdict.error = f"the machine ends with {got} where the search expects {outcome}"
            verdict.searched += 1
            wanted.discard(outcome)
    verdict.missing = sorted(wanted, key=repr)
    return verdict


def _seen(outcome: Outcome, p: Recorded) -> bool:
    """Whether hardware stopped at the same operations, whatever its tests and last phases were."""
    return outcome in p.outcomes or outcome.stop in p.stops


def check_all(programs: Iterable[Recorded], jobs: int) -> list[Verdict]:
    """Verdicts in the order of the programs."""
    with Pool(jobs) as pool:
        return list(pool.imap(check, programs, 16))
