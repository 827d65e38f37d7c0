"""Which planned launches are run, and which runs count."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from auditor.machine.launch import Launch
from auditor.machine.series import (
    DEEP_STEPS,
    DEEPER,
    EXTRA_PATIENCE,
    EXTRA_STEPS,
    FAR,
    FAR_STEPS,
    LITTLE,
    REPLACEABLE_STEPS,
    More,
    Series,
)
from auditor.source import Loc
from auditor.trace import Event, Incident, Trace

TYPICAL = Launch("typical", replaceable=True)
SMALL = Launch("small", reduced=True, replaceable=True)
SINGLE = Launch("single", fallback=True, replaceable=True)
LAST = Launch("last", fallback=True)
LONG = Launch("long", extra=3)
LARGE = Launch("large", larger=True)
DEEP = Launch("deep", extra=12, deep=True)
ALL = [TYPICAL, SINGLE, SMALL, LAST, LONG, LARGE]
RING = [TYPICAL, LONG, DEEP]
LOOP = {"typical": [0, 0, 0]}  # barriers of the waits, as in "waits" below: three rounds for the same one
PAIR = [TYPICAL, LONG, Launch("typical alone", alone=True), Launch("long alone", extra=3, alone=True)]


def judged(
    steps: dict[str, int],
    hang: tuple[str, ...] = (),
    runs: int = 9,
    launches: list[Launch] = ALL,
    budget: int = 400_000,
    waits: dict[str, list[int]] | None = None,
    places: dict[int, int] | None = None,
    incident: str = "deadlock",
    block_dependent: bool | tuple[str, ...] = True,
    kind: str = "mbar.wait",
) -> tuple[list[str], list[str]]:
    """Names of the launches that were run and of those that count, when each takes so many steps.

    ``hang``: those with that ``incident``; ``runs``: there is no time for more; ``waits``: barriers, as a loop
    waits; ``places``: lines of the waits for some of them; ``kind``: what
    they are instead of waits.
    """
    ran: list[str] = []

    def run(launch: Launch, budget: int, more: More) -> Trace | None:
        if len(ran) == runs:
            return None
        ran.append(launch.kernel)
        trace = Trace(launch.kernel, {}, 1, 1)
        if isinstance(block_dependent, tuple):
            trace.block_dependent = launch.kernel in block_dependent
        else:
            trace.block_dependent = block_dependent
        for n, bar in enumerate((waits or {}).get(launch.kernel, [])):
            where = (Loc("k.cu", (places or {}).get(bar, 7)),)
            trace.events.append(Event(n, kind, 0, 0, 1, n, 0, where, data={"bar": bar}))
        if steps.get(launch.kernel, 100) > budget:
            budget = max(budget, more(trace))
        trace.steps = min(steps.get(launch.kernel, 100), budget + 1)
        if launch.kernel in hang:
            trace.incidents.append(Incident(incident, ()))
        elif steps.get(launch.kernel, 100) > budget:
            trace.incidents.append(Incident("budget", ()))
        return trace

    return ran, [launch.kernel for launch, _ in Series(launches, budget, run)]


def test_short_runs_all_count() -> None:
    assert judged({}, waits=LOOP) == (["single", "typical", "long"], ["typical", "single", "long"])


def test_a_longer_problem_needs_a_loop_that_was_longer_in_the_typical_one_than_in_the_smallest() -> None:
    assert judged({}, waits={**LOOP, "single": [0, 0, 0]})[1] == ["typical", "single"]
    assert judged({}, waits={"typical": [0]})[1] == ["typical", "single"]  # that is no loop
    assert judged({}, waits=LOOP, launches=[TYPICAL, LONG])[0] == ["typical", "long"]


def test_a_smaller_problem_stands_in_for_one_that_is_too_long() -> None:
    ran, counted = judged({"typical": REPLACEABLE_STEPS + 1})
    assert ran == ["single", "typical", "small"]
    assert counted == ["single", "small"]


def test_no_other_problem_is_tried_where_the_smallest_is_long_already() -> None:
    steps = {"typical": REPLACEABLE_STEPS + 1, "single": REPLACEABLE_STEPS // 2}
    assert "small" in judged(steps)[0]
    assert judged({**steps, "single": REPLACEABLE_STEPS // 2 + 1}) == (["single", "typical"], ["single"])


def test_a_typical_problem_is_not_run_where_the_smallest_takes_all_that_it_may() -> None:
    steps = {"single": REPLACEABLE_STEPS + 1}
    assert judged(steps, block_dependent=False) == (["single"], ["single"])
    assert judged({"single": REPLACEABLE_STEPS}, block_dependent=False)[0] == ["single", "typical"]
    assert judged(steps, ("single",), block_dependent=False)[1] == ["typical", "single"]  # it is too small
    end = Launch("typical", extra=1, block_index=(1, 0, 0))
    assert judged(steps, launches=[TYPICAL, SINGLE, end], block_dependent=False)[0] == ["single"]


def test_the_last_resort_counts_even_when_it_is_too_long() -> None:
    long = REPLACEABLE_STEPS + 1
    steps = {"typical": long, "single": long, "small": long, "last": 500_000}
    assert judged(steps, waits={"small": [0]})[1] == ["last"]


def test_a_last_resort_that_is_too_long_does_not_count_where_another_has_ended() -> None:
    long = REPLACEABLE_STEPS + 1
    steps = {"typical": long, "single": long}
    assert judged(steps, waits={"single": [0]}) == (["single", "typical", "small"], ["small"])


def test_a_run_that_is_too_long_counts_when_there_is_no_time_for_another() -> None:
    long = REPLACEABLE_STEPS + 1
    assert judged({"typical": long, "single": long}, runs=2) == (["single", "typical"], ["typical"])


def test_of_runs_that_were_all_cut_the_longest_counts() -> None:
    long = REPLACEABLE_STEPS + 1
    few = {"typical": long, "single": long, "small": long, "last": 500_000}
    assert judged(few, budget=REPLACEABLE_STEPS // 2)[1] == ["typical"]
    assert judged(few)[1] == ["last"]


def test_a_smaller_problem_that_made_no_difference_is_not_tried_again_for_the_same_cta() -> None:
    long = REPLACEABLE_STEPS + 1
    others = [replace(SMALL, kernel="smaller"), replace(SMALL, kernel="end", block_index=(1, 0, 0))]
    steps = {"typical": long, "single": long, "smaller": 100, "end": 100}
    launches = [TYPICAL, SINGLE, SMALL, *others, LAST]
    assert judged(steps, launches=launches)[0] == ["single", "typical", "end"]
    assert judged({**steps, "small": long}, launches=launches, waits={"single": [0]})[0][2:] == ["small", "smaller"]


def test_the_smallest_problem_goes_on_where_no_other_cta_can_do_less() -> None:
    steps = {"typical": 100, "single": 2 * REPLACEABLE_STEPS}
    run = partial(judged, steps, block_dependent=False)
    assert run() == (["single"], ["single"])
    assert run(budget=REPLACEABLE_STEPS) == (["single"], ["single"])  # although it is cut, too
    assert judged(steps)[1] == ["typical", "small"]


def test_the_smallest_problem_is_run_again_where_only_its_many_ctas_make_a_difference() -> None:
    end = replace(SMALL, kernel="end", block_index=(1, 0, 0))
    steps = {"typical": 2 * REPLACEABLE_STEPS, "single": 2 * REPLACEABLE_STEPS, "last": 2 * REPLACEABLE_STEPS}
    run = partial(judged, steps, launches=[TYPICAL, SINGLE, end, LAST])
    assert run(block_dependent=("single", "last")) == (["single", "typical", "last"], ["last"])
    assert run(block_dependent=True)[0] == ["single", "typical", "end"]


def test_another_cta_is_looked_at_where_it_may_do_something_else() -> None:
    launches = [TYPICAL, SINGLE, Launch("typical", extra=1, block_index=(1, 0, 0))]
    assert judged({}, launches=launches)[0] == ["single", "typical", "typical"]
    assert judged({}, launches=launches, block_dependent=False)[0] == ["single", "typical"]


def test_an_end_of_the_grid_that_is_alike_is_no_better_where_sizes_make_no_difference() -> None:
    launches = [TYPICAL, SINGLE, replace(SMALL, block_index=(1, 0, 0)), LAST]
    steps = {"typical": REPLACEABLE_STEPS + 1, "single": REPLACEABLE_STEPS + 1, "last": 100}
    assert judged(steps, launches=launches)[0] == ["single", "typical", "small"]
    assert judged(steps, launches=launches, block_dependent=False)[0] == ["single"]


def test_an_extra_launch_that_is_longer_than_expected_does_not_count() -> None:
    ran, counted = judged({"long": EXTRA_PATIENCE * EXTRA_STEPS + 1}, waits=LOOP)
    assert ran == ["single", "typical", "long"]
    assert counted == ["typical", "single"]


def test_extra_launches_follow_only_short_ones() -> None:
    assert "long" in judged({"typical": EXTRA_STEPS // 3}, waits=LOOP, kind="st")[0]
    assert "long" not in judged({"typical": EXTRA_STEPS // 3 + 1}, waits=LOOP, kind="st")[0]


def test_a_hang_that_a_larger_problem_does_not_show_is_not_the_kernel_s() -> None:
    assert judged({"large": 150}, ("typical",)) == (["single", "typical", "large"], ["large"])
    assert judged({"large": 149}, ("typical",))[1][0] == "typical"  # it ends before it gets as far as the hang
    assert judged({}, ("typical", "large"))[1][0] == "typical"


def test_of_larger_problems_that_with_the_fewest_tiles_follows_one_that_is_too_long() -> None:
    larger = [Launch(name, larger=True) for name in ("most", "some", "least")]
    steps = {"typical": 1000, "most": FAR_STEPS + 1, "some": 1500, "least": 1500}
    run = partial(judged, hang=("typical",), launches=[TYPICAL, *larger])
    assert run(steps) == (["typical", "most", "least"], ["least"])
    assert run({**steps, "most": FAR_STEPS})[1] == ["most"]
    assert run({**steps, "least": 1499})[1] == ["some"]
    assert run({**steps, "least": 1499, "some": 1499})[1] == ["typical"]
    hung = FAR_STEPS // 2
    assert run({**steps, "typical": hung, "most": FAR * hung}) == (["typical", "most"], ["most"])


def test_a_ring_that_was_not_gone_round_is_run_with_the_longest_problem() -> None:
    stages = list(range(8))
    assert judged({}, launches=RING, waits={"typical": stages[:4], "long": [*stages, *stages[:4]]})[1][-1] == "deep"
    assert judged({}, launches=RING, waits={"typical": stages[:4], "long": stages * 3})[1][-1] == "long"
    assert judged({}, launches=RING, waits={"typical": stages[:1], "long": stages[:1]})[1][-1] == "deep"  # one round
    done = [0, 1, 1, 1]  # a wait outside the loop of the other
    assert judged({}, launches=RING, waits={"typical": done, "long": done}, places={0: 9})[1][-1] == "long"
    assert judged({}, launches=RING)[1][-1] == "long"


def test_the_longest_problem_is_left_out_where_it_says_nothing_or_takes_too_long() -> None:
    first = {"typical": [0], "long": [0, 1]}
    most = DEEP_STEPS // DEEPER
    assert judged({"long": most}, launches=RING, waits=first)[0][-1] == "deep"
    assert judged({"long": most + 1}, launches=RING, waits=first)[0][-1] == "long"
    assert judged({}, ("long",), launches=RING, waits=first)[0][-1] == "long"  # it hangs: there is a finding
    assert judged({}, ("long",), launches=RING, waits=first, incident="steady")[0][-1] == "long"


def test_more_patience_with_a_long_problem_where_a_ring_was_not_gone_round() -> None:
    steps = {"typical": EXTRA_STEPS // 3 + 1}
    assert judged(steps, waits={"typical": [0, 1, 2, 0]})[1][-1] == "long"
    assert judged(steps, waits={"typical": [0, 1, 2] * 3})[1][-1] == "single"
    whole = Launch("typical")
    long = judged({"typical": EXTRA_STEPS + 1}, launches=[whole, LONG], waits={"typical": [0, 1]})
    assert long[1] == ["typical"]
    end = Launch("end", extra=1)
    assert judged({"typical": EXTRA_STEPS + 1}, launches=[whole, end], waits={"typical": [0, 1]})[1] == ["typical"]


def test_nothing_is_added_to_a_problem_that_was_cut() -> None:
    end = Launch("typical", extra=1, block_index=(1, 0, 0))
    steps = {"typical": REPLACEABLE_STEPS + 1}
    assert judged(steps, launches=[TYPICAL, SINGLE, SMALL, end])[0] == ["single", "typical", "small"]


def test_a_long_problem_is_spared_where_all_rings_were_gone_round_and_it_takes_long() -> None:
    steps = {"typical": LITTLE + 1}
    assert judged(steps, waits={"typical": [0, 1] * 3})[1][-1] == "single"
    assert judged(steps, waits={"typical": [0, 1] * 2})[1][-1] == "long"
    assert judged(steps, waits={"typical": [*[0, 1] * 3, 2, 3, 2]}, places={2: 9, 3: 9})[1][-1] == "long"
    assert judged({"typical": LITTLE}, waits={"typical": [0, 1] * 3})[1][-1] == "long"


def test_an_extra_launch_that_is_too_long_calls_for_no_smaller_problem() -> None:
    ran, counted = judged({"long": 500_000}, launches=[TYPICAL, LONG, DEEP, SMALL])
    assert (ran, counted) == (["typical", "long"], ["typical"])


def test_a_cluster_that_was_chosen_is_left_away_where_all_is_well_without() -> None:
    assert judged({}, launches=PAIR)[0] == ["typical", "long"]
    ran, counted = judged({}, ("typical",), launches=PAIR)
    assert ran == ["typical", "long", "typical alone", "long alone"]
    assert counted == ["typical alone", "long alone"]
    assert judged({}, ("long",), launches=PAIR)[1] == counted
    assert judged({}, ("typical", "long alone"), launches=PAIR)[1] == ["typical", "long"]
    assert judged({}, ("typical",), launches=PAIR, runs=2)[1] == ["typical", "long"]
    assert judged({}, ("typical",), launches=PAIR, incident="over_arrival")[1][0] == "typical alone"
    assert judged({}, ("typical",), launches=PAIR, incident="leak")[1][0] == "typical"


@pytest.mark.parametrize(
    ("whole", "size", "counts"), [(512, 64, True), (512, 512, False), (32, 64, False), (None, 64, False)]
)
def test_a_part_that_is_not_full_counts_where_a_copy_is_smaller_for_it(
    whole: int | None, size: int | None, counts: bool
) -> None:
    ragged = Launch("ragged", extra=1, ragged=True)

    ran: list[Launch] = []

    def run(launch: Launch, steps: int, more: More) -> Trace:
        ran.append(launch)
        trace = Trace(launch.kernel, {}, 1, 1)
        data = {"instr": "bulk.load", "bytes": size if launch.ragged else whole}
        trace.events = [Event(0, "async", 0, -1, 0, 0, 0, (Loc("k.cu", 7),), data=data)]
        return trace

    counted = [launch for launch, _ in Series([TYPICAL, ragged], 400_000, run)]
    assert counted == [TYPICAL, ragged][: 1 + counts]
    assert (ragged in ran) == (whole is not None)  # no copies at all: none can be smaller
