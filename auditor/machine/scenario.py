"""Scenarios: the launches to execute for a kernel.

What host code says is used as it is. What it does not say, and everything when there is no launch, is chosen: a typical
problem first, then a long and a very small one, so that loops run once, about a ring and more than a ring; one that is
longer still is held ready for rings that were not gone round. Where host code computes sizes from parameters that
nobody gives it, it is run with longer ones as well. Last comes a problem that is no multiple of the usual tiles.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from functools import cached_property
from typing import Any

from auditor.machine.boxes import Boxes
from auditor.machine.host import REAL_SMS, UNLIMITED_SMS, survey
from auditor.machine.host_facts import HostFacts, HostLaunch
from auditor.machine.launch import Launch
from auditor.machine.scenario_args import Arguments
from auditor.machine.scenario_code import counted_parameters, strides_over_grid, wants_cluster
from auditor.machine.scenario_shape import (
    Shape,
    guess_block,
    guess_grid,
    known_shape,
    last_cluster,
    shared_room,
    text,
    volume,
)
from auditor.machine.scenario_values import DEEP, LARGE, LONG, RAGGED, SINGLE, SMALL, TYPICAL
from auditor.program import Kernel, Program
from auditor.quick_dataclass import dataclass

MAX_RUNS = 4
_WIDE = (REAL_SMS, 16 * REAL_SMS, 1 << 16)  # chosen grids that leave a CTA of a persistent kernel ever fewer tiles
LONG_COST = 3  # how much longer the long problem takes than the typical one
DEEP_COST = 12  # and the longest
SHAPE_INPUTS = ("block", "grid", "cluster", "shared")
MAX_HOST_LAUNCHES = 2
TILES_ENOUGH = 3  # a persistent CTA that sees this many tiles shows how it goes from one to the next


@dataclass(frozen=True)
class ScenarioSettings:
    """What the user fixed. ``values`` are by parameter name, members of structures as "params.k"."""

    block: Shape | None = None
    grid: Shape | None = None
    cluster: Shape | None = None
    shared_bytes: int | None = None
    values: Mapping[str, int] = field(default_factory=dict)


def plan(
    program: Program, kernel: Kernel, settings: ScenarioSettings | None = None, facts: HostFacts | None = None
) -> list[Launch]:
    """The runs to make for a kernel, the most typical first.

    A ``reduced`` launch at the end stands in for the others when they exceed their budget. ``facts`` is the ``survey``
    of the program, made here when it is not given.
    """
    settings = settings or ScenarioSettings()
    facts = facts if facts is not None else survey(program, settings.values)
    planner = _Planner(program, kernel, settings)
    wanted = _distinct(facts.real.of(kernel.entry))
    return planner.from_host(facts, wanted) if wanted else planner.without_host()


def _distinct(launches: list[HostLaunch]) -> list[tuple[int, HostLaunch]]:
    """Launches of different shape or arguments, with their number among all; pointers do not count."""
    found: dict[str, tuple[int, HostLaunch]] = {}
    for number, launch in enumerate(launches):
        scalars = [a for a in launch.args if isinstance(a, int) and abs(a) < 1 << 40]
        key = repr((launch.grid, launch.block, launch.cluster, launch.shared_bytes, scalars))
        found.setdefault(key, (number, launch))
    return list(found.values())[:MAX_HOST_LAUNCHES]


class _Planner:
    """Makes the launches of one kernel."""

    def __init__(self, program: Program, kernel: Kernel, settings: ScenarioSettings) -> None:
        self.program = program
        self.kernel = kernel
        self.settings = settings
        self.boxes = Boxes()  # what one run finds out of the copies holds for the others
        self.alone = False  # no cluster is chosen, although the kernel addresses peers

    @cached_property
    def _strides(self) -> bool:
        return strides_over_grid(self.program, self.kernel.entry)

    @cached_property
    def _wants_cluster(self) -> bool:
        return wants_cluster(self.program, self.kernel.entry)

    def without_host(self) -> list[Launch]:
        """Runs without a launch, and without a cluster if one had to be chosen: code that asks how large it is, as a
        library's does, may be made for one CTA."""
        runs = self.chosen()
        if "cluster" not in runs[0].chosen:
            return runs
        self.alone = True
        return [*runs, *(replace(run, alone=True) for run in self.chosen())]

    def chosen(self) -> list[Launch]:
        """Runs with chosen values, all with the same cluster."""
        typical = self._make(None, TYPICAL)
        ends = [replace(run, extra=1) for run in _at_end(typical)]
        if all(name in SHAPE_INPUTS for name in typical.chosen):
            return [typical, *ends]
        wide = _WIDE if self._strides else (0,)
        small = [self._make(None, SMALL, ctas=n) for n in wide[:2]]
        single = self._make(None, SINGLE, ctas=wide[-1])
        runs = [
            replace(typical, replaceable=True),
            replace(single, fallback=True, replaceable=True),
            *(replace(run, reduced=True, replaceable=True) for run in (*small, *_at_end(small[-1]))),
            replace(single, fallback=True),
            *ends,
            replace(self._make(None, LONG), extra=LONG_COST),
            replace(self._make(None, DEEP), extra=DEEP_COST, deep=True),
            *_ragged(self._make(None, RAGGED)),
            *(replace(self._make(None, LARGE, ctas=n), larger=True) for n in wide),
        ]
        return [run for n, run in enumerate(runs) if not any(_same_run(run, other) for other in runs[:n])]

    def from_host(self, facts: HostFacts, wanted: list[tuple[int, HostLaunch]]) -> list[Launch]:
        """Runs of the launches that host code makes."""
        runs: list[Launch] = []
        ends: list[Launch] = []
        for number, launch in wanted:
            run = self._make(launch, TYPICAL, grid=self._persistent_grid(facts, number, launch))
            runs.append(run)
            ends += _at_end(run)
        first = runs[0]
        small = self._make(wanted[0][1], SINGLE, shrink=True)
        runs = [*runs, *ends][:MAX_RUNS] + self._varied(facts, *wanted[0], first)
        if small.reduced or small.grid != first.grid:
            runs.append(replace(small, reduced=True))
        return runs

    def _varied(self, facts: HostFacts, number: int, launch: HostLaunch, first: Launch) -> list[Launch]:
        """The first launch with other values where the host code leaves them open, as long as nothing but its grid
        and its arguments differ: a size that the shape depends on may have limits that only callers know."""
        runs = [first]
        full = known_shape(launch.grid)
        grid = first.grid if full is not None and full != first.grid else None  # reduced
        for variant, cost in ((LONG, LONG_COST), (DEEP, DEEP_COST), (RAGGED, 1)):
            same = facts.varied[variant].of(self.kernel.entry) if variant in facts.varied else []
            run = self._make(same[number] if number < len(same) else launch, variant, grid=grid)
            if _shape(run) == _shape(first) and run.inputs not in [other.inputs for other in runs]:
                more = replace(run, extra=cost, deep=variant == DEEP)
                runs += _ragged(more) if variant == RAGGED else [more]
        return runs[1:]

    def _persistent_grid(self, facts: HostFacts, number: int, launch: HostLaunch) -> Shape | None:
        """A smaller grid for a launch with a CTA for each SM, so that each CTA sees several tiles; None: keep it."""
        shapes = []
        for run in (facts.real, facts.few, facts.unlimited):
            same = run.of(self.kernel.entry) if run is not None else []
            shapes.append(known_shape(same[number].grid) if number < len(same) else None)
        real, few, unlimited = shapes
        cluster, _ = self._cluster(launch)
        if launch.assumed and real is not None and self._strides:
            small = guess_grid(cluster)  # the problem is ours and small: a grid as large as the GPU would idle
            return small if volume(small) < volume(real) else None
        if real is None or few is None or few == real or volume(few) % volume(cluster):
            return None
        tiles = volume(unlimited) if unlimited is not None and volume(unlimited) < UNLIMITED_SMS // 2 else None
        if tiles is not None and tiles >= TILES_ENOUGH * volume(real):
            return None
        return few

    def _cluster(self, launch: HostLaunch | None) -> tuple[Shape, bool]:
        """The cluster, and whether it had to be chosen."""
        told = launch.cluster if launch is not None else None
        known = self.settings.cluster or known_shape(told) or known_shape(self.kernel.cluster_dims)
        if known is not None:
            return known, False
        unsaid = not self.alone and (launch is None or told is not None)
        return ((2, 1, 1), True) if unsaid and self._wants_cluster else ((1, 1, 1), False)

    def _make(
        self, host: HostLaunch | None, variant: int, *, grid: Shape | None = None, shrink: bool = False, ctas: int = 0
    ) -> Launch:
        kernel, settings = self.kernel, self.settings
        arguments = Arguments(kernel, variant, settings.values, shrink, counted_parameters(self.program, kernel))
        inputs: dict[str, str] = {}
        chosen: list[str] = []

        def shape(name: str, given: Shape | None, told: Any, guess: Shape) -> Shape:
            known = given or known_shape(told)
            value = known or guess
            note = " (given)" if given else "" if known else " (chosen)"
            if not known:
                chosen.append(name)
            inputs[name] = text(value) + note
            return value

        cluster, guessed = self._cluster(host)
        full = known_shape(host.grid) if host is not None else None
        grid_used = shape("grid", settings.grid, grid or full, guess_grid(cluster, ctas))
        if grid is not None and full is not None and settings.grid is None:
            inputs["grid"] = f"{text(grid)} (reduced from {text(full)})"
        block = shape("block", settings.block, _block(host), guess_block(kernel, self.program.sources))
        if cluster != (1, 1, 1):
            inputs["cluster"] = text(cluster) + (" (chosen)" if guessed else "")
        if guessed:
            chosen.append("cluster")
        args = arguments.fill(host.args if host is not None else None)
        shared = self._shared(host, inputs, chosen)
        inputs |= arguments.inputs
        for name, number in host.assumed.items() if host is not None else ():
            if inputs.setdefault(name, str(number)) == str(number):
                inputs[name] += " (chosen)"
                chosen.append(name)
        where = host.where if host is not None else None
        return Launch(
            kernel.entry, grid_used, block, cluster, shared, args,
            origin=f"launch at {where[0]}" if where else "launch" if host is not None else "chosen",
            shared_limit_set=host.shared_limit if host is not None else None, where=where,
            inputs=inputs, programmatic=host is not None and host.programmatic,
            cluster_attribute=known_shape(host.cluster) if host is not None else None,
            nonportable=host is not None and host.nonportable, cooperative=host is not None and host.cooperative,
            chosen=(*chosen, *arguments.chosen), reduced=arguments.changed, boxes=self.boxes,
        )  # fmt: skip

    def _shared(self, host: HostLaunch | None, inputs: dict[str, str], chosen: list[str]) -> int:
        given = self.settings.shared_bytes
        told = host.shared_bytes if host is not None and isinstance(host.shared_bytes, int) else None
        if given is not None or told is not None:
            value = int(given if given is not None else told or 0)
            if value:
                inputs["dynamic shared memory"] = f"{value} bytes" + (" (given)" if given is not None else "")
            return value
        value = shared_room(self.kernel)
        if value:
            chosen.append("shared")
            inputs["dynamic shared memory"] = f"{value} bytes (size not known: the most that a block can have)"
        return value


def _same_run(a: Launch, b: Launch) -> bool:
    """Whether a launch has the inputs of another one, and no more time."""
    return a.inputs == b.inputs and not a.once_more


def _shape(run: Launch) -> tuple[Any, ...]:
    """What a launch has beside its grid and its arguments."""
    return run.where, run.block, run.cluster, run.shared_bytes


def _block(host: HostLaunch | None) -> tuple[Any, Any, Any] | None:
    """The block of a launch; unknown or absent y and z count as 1 when x is known."""
    if host is None or not isinstance(host.block[0], int):
        return None
    x, y, z = host.block
    return x, y if isinstance(y, int) else 1, z if isinstance(z, int) else 1


def _at_end(run: Launch) -> list[Launch]:
    """The same launch seen from its last cluster, when it has several."""
    index = last_cluster(run.grid, run.cluster)
    if index == (0, 0, 0):
        return []
    return [replace(run, block_index=index, inputs={**run.inputs, "blockIdx": text_index(index)})]


def _ragged(run: Launch) -> list[Launch]:
    """A launch with a part that is smaller than the others, wherever that may be: in each CTA, or in the last one."""
    return [replace(end, extra=1, ragged=True) for end in (run, *_at_end(run))]


def text_index(index: Shape) -> str:
    """A block index as CUDA programmers write it."""
    return f"({index[0]}, {index[1]}, {index[2]})"
