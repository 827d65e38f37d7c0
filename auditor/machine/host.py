"""Host code: executes the translated host functions of a program and collects the kernels that they launch.

The host side is run only for what it tells about launches. Calls of the CUDA runtime succeed, heap memory and all
that comes from outside is opaque, and an opaque condition is false. When a kernel was not launched that way, host
functions are run again with one opaque condition or another true.
"""

from __future__ import annotations

import math
import re
import sys
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from types import GeneratorType
from typing import Any

from auditor.machine import memory
from auditor.machine.frames import generated_frame, generated_lines, source_places
from auditor.machine.host_api import HANDLERS, exits, is_cuda, transfer
from auditor.machine.host_facts import Assumed, HostFacts, HostLaunch, HostRun, Status
from auditor.machine.launch import TensorMap
from auditor.machine.scenario_values import DEEP, LONG, RAGGED, TYPICAL, by_name
from auditor.program import Program
from auditor.source import Stack
from auditor.values import GLOBAL_STRIDE, GLOBAL_WINDOW, OPAQUE, Opaque, Ref, Vec, copy_value

REAL_SMS = 148
UNLIMITED_SMS = 1 << 20
MAX_STEPS = 200_000
MAX_LAUNCHES = 64
MAX_ATTEMPTS = 8  # runs of one host function with other opaque conditions true
MAX_TRUE = 16  # times that a condition chosen to be true is so in one run, so that loops on it end
TILES_EACH = 4  # that a persistent CTA should see
SECONDS = 0.3
TOTAL_SECONDS = 1.0

Choices = frozenset[tuple[int, ...]]


class HostStop(Exception):  # noqa: N818 - the ordinary end of a run, not an error
    """The run of a host function ends here: the program exits, or the budget is spent."""


class HostEnv:
    """The first argument of generated host functions; see docs/internals.md for its methods.

    ``chosen_true``: opaque conditions (by the generated lines of their call chain) that are true. ``values``: values
    that the user gave for parameters. ``variant``: which values are chosen for others.
    """

    def __init__(
        self,
        program: Program,
        sms: int = REAL_SMS,
        chosen_true: Choices = frozenset(),
        values: Mapping[str, int] | None = None,
        deadline: float | None = None,
        variant: int = TYPICAL,
    ) -> None:
        self.program = program
        self.values = values or {}
        self.variant = variant
        self.sms = sms
        self.asked_sms = False
        self.chosen_true = chosen_true
        self.times_true: dict[tuple[int, ...], int] = {}
        self.chosen_false: list[tuple[int, ...]] = []
        self.deadline = time.thread_time() + SECONDS if deadline is None else deadline
        self.steps = 0
        self.stopped = ""
        self.assumed: dict[str, int] = {}
        self.memory: dict[int, Any] = {}
        self.allocations = 0
        self.attributes: dict[tuple[str, int], Any] = {}
        self.launches: list[HostLaunch] = []
        self.encoded: list[tuple[TensorMap, Status]] = []
        self._known: set[str] = set()

    # ---- running ----------------------------------------------------------------------------------------------

    def execute(self, entry: str) -> None:
        """Run a host function."""
        try:
            result = self.program.function(entry)(self)
            if isinstance(result, GeneratorType):
                result = deque(result, maxlen=0)
            if isinstance(result, Status):
                result.looked = True  # handed to a caller that is not in this file
        except HostStop as stop:
            self.stopped = str(stop)
        except Exception as error:  # generated code met something that it cannot execute: what it collected counts
            self.stopped = f"{type(error).__name__}: {error}"

    def argument(self, name: str, kind: str) -> Any:
        """The value of a parameter of the function that is run: integers are chosen by their names."""
        if kind != "int":
            return OPAQUE
        if name in self.values:
            return self.values[name]
        value = by_name(name, self.variant, frozenset(self.assumed), default=OPAQUE)
        if isinstance(value, int):
            self.assumed[name] = value
            return Assumed(value)
        return value

    def charge(self) -> None:
        """Count a step against the budget."""
        self.steps += 1
        if self.steps > MAX_STEPS or (not self.steps & 0x3F and time.thread_time() > self.deadline):
            raise HostStop("budget")

    def where(self) -> Stack:
        """The call chain of the running host function."""
        return source_places(generated_lines(sys._getframe(1)), self.program.line_locs)

    def collected(self) -> tuple[list[HostLaunch], list[TensorMap]]:
        """Launches and tensor maps so far, each map with whether its result was looked at by now."""
        final = {id(m): replace(m, checked=status.looked) for m, status in self.encoded}

        def settle(value: Any) -> Any:
            if isinstance(value, list):
                return [settle(item) for item in value]
            return final.get(id(value), value)

        launches = [replace(launch, args=settle(launch.args)) for launch in self.launches]
        return launches, list(final.values())

    # ---- control ----------------------------------------------------------------------------------------------

    def cond(self, v: Any) -> bool:
        """A value as a branch condition."""
        self.charge()
        if isinstance(v, Opaque):
            return self._choose(generated_lines(sys._getframe(1)))
        if v.__class__ is Vec:
            return bool(v.v[0])
        return bool(v)

    def _choose(self, key: tuple[int, ...]) -> bool:
        n = self.times_true.get(key, 0)
        if key in self.chosen_true and n < MAX_TRUE:
            self.times_true[key] = n + 1
            return True
        if key not in self.chosen_false and key not in self.chosen_true:
            self.chosen_false.append(key)
        return False

    def loop(self, k: int) -> None:
        """Head of a loop body: counts steps."""
        self.charge()

    def trap(self) -> None:
        """The program ends."""
        raise HostStop("exit")

    # ---- memory -----------------------------------------------------------------------------------------------

    def load(self, p: Any, kind: str = "int", bits: int = 32, signed: bool = False) -> Any:
        """Read through a pointer: local objects, and device memory that host code wrote itself."""
        self.charge()
        if p.__class__ is Ref:
            return memory.load_local(p)
        return self.memory.get(p, OPAQUE) if isinstance(p, int) else OPAQUE

    def store(self, p: Any, kind: str, bits: int, value: Any) -> None:
        """Write through a pointer."""
        self.charge()
        if p.__class__ is Ref:
            memory.store_local(p, value)
        elif isinstance(p, int):
            self.memory[p] = value

    def padd(self, p: Any, n: Any, size: int) -> Any:
        """Pointer arithmetic in elements."""
        if p.__class__ is Ref:
            return memory.step_local(p, n, size)
        return p + n * size

    def pdiff(self, p: Any, q: Any, size: int) -> Any:
        """Pointer difference in elements."""
        if p.__class__ is Ref and q.__class__ is Ref:
            return p.key - q.key
        if isinstance(p, int) and isinstance(q, int):
            return (p - q) // max(size, 1)
        return OPAQUE

    def field(self, p: Any, index: int, offset: int) -> Any:
        """Address of a field."""
        if p.__class__ is Ref:
            return memory.field_local(p, index, offset)
        return p + offset

    def shared_addr(self, key: str) -> Any:
        """Shared memory has no address on the host."""
        return OPAQUE

    def global_addr(self, key: str) -> Any:
        """Device variables have no address that host code could use."""
        return OPAQUE

    def allocate(self) -> int:
        """Address of a new device allocation."""
        self.allocations += 1
        return GLOBAL_WINDOW + self.allocations * GLOBAL_STRIDE

    def put(self, p: Any, value: Any) -> None:
        """Write an API result through a pointer: into the only slot of a class object, or as a scalar."""
        if p.__class__ is Ref:
            target = memory.load_local(p)
            if isinstance(target, list) and target:
                target[0] = value
            else:
                memory.store_local(p, value)
        elif isinstance(p, int):
            self.memory[p] = value

    def name_of(self, p: Any) -> str:
        """The C++ name of the local variable that a pointer points to, empty when there is none."""
        if p.__class__ is not Ref:
            return ""
        target = memory.load_local(p)
        frame = generated_frame(sys._getframe(1))
        while frame is not None and frame.f_code.co_filename == Program.FILENAME:
            for name, value in frame.f_locals.items():
                if name != "this" and isinstance(value, list) and (value is target or value is p.box):
                    return re.sub(r"_\d+$", "", name)
            frame = frame.f_back
        return ""

    # ---- operations -------------------------------------------------------------------------------------------

    def asm(self, n: int, inputs: tuple[Any, ...]) -> Any:
        """Assembly on the host: as many opaque outputs as anyone could ask for."""
        return (OPAQUE,) * 32

    wait_asm = asm

    def opaque_call(self, name: str, args: Any, kind: str = "int", bits: int = 32) -> Any:
        """A function without a body here."""
        self.charge()
        plain = name.rsplit("::", 1)[-1]
        if is_cuda(plain):
            return self.api(plain, args)
        _look_at(args)
        if exits(plain):
            raise HostStop("exit")
        transfer(self, plain, args)
        return OPAQUE

    def unanalysed(self, what: str, line: int = 0) -> Any:
        """An expression that was not translated."""
        return OPAQUE

    def api(self, name: str, args: Any) -> Any:
        """A call of the CUDA runtime or driver; all of them succeed."""
        self.charge()
        _look_at(args)
        handler = HANDLERS.get(re.sub(r"(_v\d+|_ptsz|_ptds)+$", "", name))
        result = handler(self, list(args)) if handler is not None else None
        return 0 if result is None else result

    def launch(
        self, kernel: Any, grid: Any, block: Any, smem: Any = 0, stream: Any = 0, args: Any = (), **attributes: Any
    ) -> None:
        """A kernel launch. ``attributes`` are members of ``HostLaunch``."""
        self.charge()
        if not isinstance(kernel, str):
            return
        limit = self.attributes.get((kernel, 8))
        found = HostLaunch(
            kernel, _dim3(grid), _dim3(block), smem, [copy_value(a) for a in args], self.where(), shared_limit=limit,
            nonportable=bool(self.attributes.get((kernel, 14), 0)), assumed=dict(self.assumed), **attributes,
        )  # fmt: skip
        key = repr(found)
        if key in self._known:
            return
        self._known.add(key)
        self.launches.append(found)
        if len(self.launches) >= MAX_LAUNCHES:
            raise HostStop("launches")


def _look_at(args: Any) -> None:
    """A status that is handed to another function is looked at there."""
    for a in args:
        if isinstance(a, Status):
            a.looked = True


def _dim3(value: Any) -> tuple[Any, Any, Any]:
    if isinstance(value, (list, tuple)):
        x, y, z = (*value, 1, 1, 1)[:3]
        return x, y, z
    return value, 1, 1


def survey(program: Program, values: Mapping[str, int] | None = None) -> HostFacts:
    """Run the host functions of a program, also with other numbers of SMs and chosen values when they ask for these."""
    end = time.thread_time() + TOTAL_SECONDS
    facts = HostFacts(_run(program, REAL_SMS, values or {}, end))
    if facts.real.asked_sms:
        facts.unlimited = _run(program, UNLIMITED_SMS, values or {}, end)
        facts.few = _run(program, _few_sms(program, facts), values or {}, end)
    if any(launch.assumed for launch in facts.real.launches):
        for variant in (LONG, DEEP, RAGGED):
            facts.varied[variant] = _run(program, REAL_SMS, values or {}, end, variant)
    return facts


def _few_sms(program: Program, facts: HostFacts) -> int:
    """So many SMs that the CTAs of the largest launch see a handful of tiles each, in whole clusters."""
    unlimited = facts.unlimited.launches if facts.unlimited is not None else []
    clusters = [_volume(launch.cluster) for launch in unlimited if launch.cluster is not None]
    clusters += [_volume(kernel.cluster_dims) for kernel in program.kernels if kernel.cluster_dims is not None]
    unit = max([1, *clusters])
    tiles = [n for n in (_volume(launch.grid) for launch in unlimited) if n < UNLIMITED_SMS // 2]
    return max(2, max([0, *tiles]) // TILES_EACH // unit * unit, unit)


def _volume(shape: tuple[Any, Any, Any]) -> int:
    return math.prod(n for n in shape if isinstance(n, int))


def _run(program: Program, sms: int, values: Mapping[str, int], end: float, variant: int = TYPICAL) -> HostRun:
    """One pass over all host functions. A kernel's launches come from the first function that launches it."""
    run = HostRun()
    missing = {kernel.entry for kernel in program.kernels}
    seen: set[str] = set()
    for entry in program.host_entries:
        tried: list[Choices] = [frozenset()]
        for attempt in range(MAX_ATTEMPTS):
            if attempt >= len(tried) or not missing or time.thread_time() > end:
                break
            env = HostEnv(program, sms, tried[attempt], values, min(end, time.thread_time() + SECONDS), variant)
            env.execute(entry)
            run.asked_sms = run.asked_sms or env.asked_sms
            if env.stopped:
                run.stopped.append(f"{entry}: {env.stopped}")
            launches, encodes = env.collected()
            fresh = [launch for launch in launches if launch.kernel in missing]
            if fresh or not attempt:
                run.launches += fresh
                for tensor_map in encodes:
                    key = repr(tensor_map)
                    if key not in seen:
                        seen.add(key)
                        run.encodes.append(tensor_map)
            missing -= {launch.kernel for launch in fresh}
            # A program that exits most likely took a wrong turn just before.
            turns = env.chosen_false[::-1] if env.stopped == "exit" else env.chosen_false
            tried += [tried[attempt] | {turn} for turn in turns if tried[attempt] | {turn} not in tried]
    return run
