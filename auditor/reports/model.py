"""The content of a report, as data: what every format shows. Bytes, TMEM columns and lanes, and lines of the source."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fact:
    """Something that the report rests on. ``origin``: "source", "host code", "command line", "chosen" or "run"."""

    name: str
    value: str
    origin: str


@dataclass(frozen=True)
class Problem:
    """A finding of the audit, short."""

    code: str
    level: str
    message: str
    line: int


@dataclass(frozen=True)
class Role:
    """What some threads do. ``lines``: where they do it, at most three."""

    duty: str
    threads: str
    lines: tuple[int, ...]


@dataclass(frozen=True)
class Arrival:
    """Arrivals on a barrier by some threads. ``count`` and ``bytes`` (expected) are those of one phase."""

    threads: str
    how: str
    count: int
    bytes: int
    lines: tuple[int, ...]


@dataclass(frozen=True)
class Waiter:
    """Threads that wait. ``parities``: what they wait for on the first stage, in order.

    ``starts_free``: their first wait passes on the fresh barrier, for the phase "before the first".
    """

    threads: str
    lines: tuple[int, ...]
    parities: tuple[int, ...]
    starts_free: bool


@dataclass(frozen=True)
class BarrierRow:
    """A line of the ledger: one barrier, or an array of them.

    ``addresses``: byte offsets in the CTA's shared memory, one a stage. ``scope``: "CTA" or "cluster". ``phases``:
    (least, most) completed phases of a stage. ``resources``: what a completed phase makes readable or free.
    """

    name: str
    addresses: tuple[int, ...]
    ctas: str
    scope: str
    init_count: int
    init_line: int
    arrivals: tuple[Arrival, ...]
    expected_bytes: int
    delivered_bytes: int
    waiters: tuple[Waiter, ...]
    resources: tuple[str, ...]
    phases: tuple[int, int]
    note: str = ""

    @property
    def stages(self) -> int:
        return len(self.addresses)


@dataclass(frozen=True)
class Operand:
    """A buffer of a ring: offset of its first stage, bytes of a stage, and the distance of two stages."""

    name: str
    bytes: int
    offset: int
    stride: int


@dataclass(frozen=True)
class Ring:
    """A ring of stages in shared or tensor memory.

    ``unit`` is "bytes" or "columns". ``prologue``: fills that found the ring empty from the start; ``rounds``: all
    fills of the run; ``drain``: how the end is reached.
    """

    name: str
    space: str
    depth: int
    unit: str
    operands: tuple[Operand, ...]
    stage_size: int
    ready: str
    free: str
    issuer: str
    consumers: str
    fill_parity: str
    use_parity: str
    prologue: int
    rounds: int
    drain: str


@dataclass(frozen=True)
class SharedMemory:
    """Shared memory of a CTA in bytes, and the CTAs of an SM that each resource allows."""

    static: int
    dynamic: int
    reserved: int
    limit: int
    dynamic_chosen: bool
    bounds: tuple[tuple[str, int], ...]

    @property
    def total(self) -> int:
        return self.static + self.dynamic + self.reserved

    @property
    def ctas_per_sm(self) -> int:
        return min((n for _, n in self.bounds), default=0)


@dataclass(frozen=True)
class Check:
    """One item of a tensor map against what the kernel assumes. ``verdict``: "agree", "differ" or "not known"."""

    item: str
    host: str
    kernel: str
    verdict: str


@dataclass(frozen=True)
class MapRow:
    """A tensor map: what the host encodes, and the checks."""

    name: str
    encoded: tuple[tuple[str, str], ...]
    checks: tuple[Check, ...]


@dataclass(frozen=True)
class Allocation:
    """A tcgen05.alloc. ``asked`` columns, ``rounded`` to what the hardware gives; ``needed`` by what is touched."""

    asked: int
    rounded: int
    needed: int
    group: int
    threads: str
    line: int
    base: int


@dataclass(frozen=True)
class Region:
    """Columns [lo, hi) of tensor memory with one object. ``lanes``: ranges [first, end).

    ``first`` and ``last``: model time of the first write and last read, over the whole run. ``uses``: how often the
    object was written anew. ``lines``: where it is used.
    """

    name: str
    object: str
    lo: int
    hi: int
    lanes: tuple[tuple[int, int], ...]
    writer: str
    reader: str
    completion: str
    first: int
    last: int
    uses: int
    lines: tuple[int, ...] = ()


@dataclass(frozen=True)
class Reuse:
    """Columns that change hands: what must be over, what follows, and the barrier phases on the way between them."""

    columns: str
    before: str
    after: str
    guard: str
    hops: int
    count: int


@dataclass(frozen=True)
class ReadBack:
    """How an object is read into registers: for one warp and one reading of the whole object."""

    region: str
    shape: str
    loads: int
    words: int
    waits: int
    threads: str


@dataclass(frozen=True)
class TensorMemory:
    """Tensor memory of one CTA: columns."""

    allocations: tuple[Allocation, ...]
    regions: tuple[Region, ...]
    reuses: tuple[Reuse, ...]
    read_backs: tuple[ReadBack, ...]
    touched: int
    peak: int

    @property
    def rounded(self) -> int:
        return sum(a.rounded for a in self.allocations)

    @property
    def waste(self) -> int:
        return self.rounded - self.touched


@dataclass(frozen=True)
class Span:
    """Something that lasts, in model time [start, end). ``kind``: see ``auditor.reports.draw.MEANINGS``."""

    start: int
    end: int
    kind: str
    label: str


@dataclass(frozen=True)
class Row:
    """One line of the timeline: a thread of a role, or an asynchronous unit."""

    name: str
    spans: tuple[Span, ...]


@dataclass(frozen=True)
class Timeline:
    """The first iterations. Model time: every operation has a nominal cost, waits last as long as they must."""

    rows: tuple[Row, ...] = ()
    end: int = 0


@dataclass(frozen=True)
class Trial:
    """A test that should be run on hardware."""

    name: str
    inputs: str
    why: str


@dataclass(frozen=True)
class KernelReport:
    """Everything about one kernel."""

    kernel: str
    line: int
    arch: str
    verdict: str  # "clean", "findings" or "incomplete"
    conclusion: tuple[str, ...]
    problems: tuple[Problem, ...]
    facts: tuple[Fact, ...]
    assumptions: tuple[str, ...]
    roles: tuple[Role, ...]
    barriers: tuple[BarrierRow, ...]
    rings: tuple[Ring, ...]
    shared: SharedMemory
    maps: tuple[MapRow, ...]
    tmem: TensorMemory | None
    timeline: Timeline
    trials: tuple[Trial, ...]
    falsifier: str
    risks: tuple[str, ...]
    fallback: tuple[str, ...]


@dataclass(frozen=True)
class FileReport:
    """The reports of a file's kernels. ``failure`` says why there are none."""

    path: str
    kernels: tuple[KernelReport, ...] = ()
    failure: str = ""
