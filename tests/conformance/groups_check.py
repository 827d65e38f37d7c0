"""The programs about groups on the machine: which values its happens-before graph allows each look.

A read may return any write that can be the last one before it: none that comes after the read, and none that another
one covers which comes before the read for certain. Stores and MMAs read and write in turn. What hardware showed has to
be allowed; where only one value is allowed, hardware has to show that one in every run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from multiprocessing import Pool

from auditor.graph import HappensBefore
from auditor.machine.core import Machine
from auditor.machine.launch import Launch
from auditor.program import Kernel, Program, SharedVar
from auditor.ptx.grammar import AsmBlock, parse_asm
from auditor.source import Loc
from auditor.trace import Event, Trace
from auditor.values import GLOBAL_STRIDE, GLOBAL_WINDOW
from tests.conformance.direct import FILE, STRIDE
from tests.conformance.groups import LOOKS, MIXED, SLOTS, GroupProgram, Step

ANY = -2  # what shared memory holds before anything is written to it
BYTES = 512  # of a slot here: 16 a lane
TILE = 2048
DEST = GLOBAL_WINDOW + GLOBAL_STRIDE
SOURCE = GLOBAL_WINDOW + 2 * GLOBAL_STRIDE
_ONE = "{ .reg .pred p; setp.ne.b32 p, $0, 0; @p %s }"  # operand 0 selects the executing lanes
_ACC = "{$0, $1, $2, $3}"
_ASM: dict[str, tuple[str, str]] = {
    "write": ("st.shared.v4.b32 [$0], {$1, $1, $1, $1};", "r r"),
    "fence": ("fence.proxy.async;", ""),
    "store": (_ONE % "cp.async.bulk.global.shared::cta.bulk_group [$1], [$2], $3;", "r l r r"),
    "commit": (_ONE % "cp.async.bulk.commit_group;", "r"),
    "look": ("ld.volatile.global.v4.b32 {$0, $1, $2, $3}, [$4];", "=r =r =r =r l"),
    "fetch": ("cp.async.cg.shared.global [$0], [$1], 16;", "r l"),
    "fetch_commit": ("cp.async.commit_group;", ""),
    "see": ("ld.volatile.shared.v4.b32 {$0, $1, $2, $3}, [$4];", "=r =r =r =r r"),
    "mma_fence": ("wgmma.fence.sync.aligned;", ""),
    "mma": ("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 " + _ACC + ", $4, $5, 0, 1, 1, 0, 0;",
            "+f +f +f +f l l"),
    "mma_commit": ("wgmma.commit_group.sync.aligned;", ""),
    "sync": ("barrier.sync 0;", ""),
    "turn": ("bar.warp.sync 0xffffffff;", ""),
} | {f"{kind}{n}": (_ONE % f"{instr} {n};", "r") for n in range(4) for kind, instr in (
    ("wait", "cp.async.bulk.wait_group"), ("wait_read", "cp.async.bulk.wait_group.read"))
} | {f"{kind}{n}": (f"{instr} {n};", "") for n in range(4) for kind, instr in (
    ("fetch_wait", "cp.async.wait_group"), ("mma_wait", "wgmma.wait_group.sync.aligned"))}
_NUMBER = {name: n for n, name in enumerate(_ASM)}


@cache
def _blocks() -> list[AsmBlock]:
    blocks = []
    for text, constraints in _ASM.values():
        operands = constraints.split()
        blocks.append(parse_asm(text, operands, sum(o.startswith(("=", "+")) for o in operands), {}))
    return blocks


class _Writer:
    def __init__(self) -> None:
        self.lines: list[str] = []
        self.places: list[Loc | None] = [None]
        self.line = 0

    def put(self, text: str) -> None:
        self.lines.append(text)
        self.places.append(Loc(FILE, self.line) if self.line else None)

    def asm(self, name: str, *args: object, out: str = "") -> None:
        blocking = _blocks()[_NUMBER[name]].blocking
        operands = "(" + "".join(f"{a}, " for a in args) + ")"
        call = "yield from S.wait_asm" if blocking else "S.asm"
        self.put(f"  {out}{call}({_NUMBER[name]}, {operands})")


def translate(p: GroupProgram) -> tuple[Program, Kernel]:
    """The program as generated code; operation n of warp w is at "line" w * STRIDE + n + 1."""
    w = _Writer()
    tiles = p.shape == "wgmma"
    w.put("def kernel(S):")
    w.put(" slot = S.shared_addr('slot') & 0xffffffff")
    w.put(" lane = S.tid[0] & 31")
    w.put(" warp = S.tid[0] >> 5")
    w.put(" first = lane == 0")
    w.put(" acc = [[0.0] * 4 for _ in range(3)]")
    for warp, code in enumerate(p.code):
        w.put(" if True:" if tiles else f" if S.cond(warp == {warp}):")
        w.put("  pass")
        for n, step in enumerate(code):
            w.line = warp * STRIDE + n + 1
            _operation(w, step)
            w.asm("turn")
        w.line = 0
    w.put(" return")
    where = Loc(FILE, 0)
    slot = SharedVar("slot", "slot", (SLOTS + 1) * TILE, 1024, False, None, where)
    kernel = Kernel("kernel", "kernel", "kernel", (), (slot,), where)
    text = "\n".join(w.lines) + "\n"
    blocks = _blocks()
    return Program(FILE, "sm_90a", (kernel,), text, w.places, blocks, [where] * len(blocks)), kernel


def _operation(w: _Writer, step: Step) -> None:
    at, v = step.at, step.value
    slot = f"slot + {at * TILE}"
    if step.kind == "write":
        w.asm("write", f"{slot} + 16 * lane", v)
    elif step.kind == "store":
        w.asm("store", "first", DEST + v * BYTES, slot, BYTES)
    elif step.kind == "commit":
        w.asm("commit", "first")
    elif step.kind in ("wait", "wait_read"):
        w.asm(f"{step.kind}{at}", "first")
    elif step.kind in ("fetch_wait", "mma_wait"):
        w.asm(f"{step.kind}{at}")
    elif step.kind == "look":
        w.asm("look", f"{DEST + at * BYTES} + 16 * lane")
    elif step.kind == "fetch":
        w.asm("fetch", f"{slot} + 16 * lane", f"{SOURCE + v * BYTES} + 16 * lane")
    elif step.kind == "see":
        w.asm("see", f"{slot} + 16 * lane")
    elif step.kind == "fill":
        w.asm("write", f"{slot} + 16 * S.tid[0]", v)
    elif step.kind == "mma":
        w.asm("mma_fence")
        ones = f"(slot + {SLOTS * TILE} >> 4) | {1024 >> 4 << 16 | 128 >> 4 << 32}"
        tile = f"({slot} >> 4) | {1024 >> 4 << 16 | 128 >> 4 << 32}"
        w.asm("mma", tile, ones, *(f"acc[{v}][{k}]" for k in range(4)), out=f"acc[{v}] = ")
    elif step.kind == "result":
        for k in range(4):
            w.put(f"  S.store({DEST} + 16 * S.tid[0] + {4 * k}, 'float', 32, acc[{at}][{k}])")
    else:
        w.asm(step.kind)


@dataclass
class GroupVerdict:
    """``forbidden``: looks whose measured value the machine rules out, (look, value). ``open``: looks that it leaves
    open; ``shown``: of those, how many hardware showed more than one value of. ``silent``: the graph leaves a value in
    shared memory open and yet reports no conflict, or the other way round."""

    id: str
    shape: str
    bug: str
    looks: int
    open: int = 0
    shown: int = 0
    forbidden: list[tuple[int, int]] = field(default_factory=list)
    silent: bool = False
    error: str = ""

    @property
    def agrees(self) -> bool:
        return not self.forbidden and not self.silent and not self.error


class Values:
    """What each look of a program may see, by the graph of one run of the machine."""

    def __init__(self, p: GroupProgram) -> None:
        self.p = p
        program, kernel = translate(p)
        threads = 128 if p.shape == "wgmma" else 32 * len(p.code)
        self.trace: Trace = Machine(program, kernel, Launch("kernel", block=(threads, 1, 1))).run()
        self.hb = HappensBefore(self.trace)
        self.events: dict[tuple[int, int], list[Event]] = defaultdict(list)
        for e in self.trace.events:
            line = e.where[0].line - 1 if e.where else -1
            if line < 0:
                continue
            op = line // STRIDE, line % STRIDE
            if e.kind in ("st", "ld", "async") or (e.kind == "warp.sync" and self.step(op).kind == "look"):
                self.events[op].append(e)  # global memory leaves no events: the lanes meet right after the look
        self.writes: dict[tuple[str, int], list[tuple[int, int]]] = defaultdict(list)  # cell -> operations
        for w, n, step in p.steps():
            cell = written(step)
            if cell is not None:
                self.writes[cell].append((w, n))
        self.open_shared = False  # a value in shared memory is left open

    def step(self, op: tuple[int, int]) -> Step:
        return self.p.code[op[0]][op[1]]

    def possible(self, op: tuple[int, int]) -> set[int]:
        """Values that the operation may read."""
        cell = read(self.step(op))
        assert cell is not None
        if cell[0] == "acc":  # registers: the MMA before it in its own thread
            return self.possible(max(o for o in self.writes[cell] if o < op))
        candidates = [o for o in self.writes[cell] if not self._all(op, o, self._read_before)]
        certain = [o for o in candidates if self._all(o, op, self._written_before)]
        last = [o for o in candidates
                if not any(self._all(o, other, self._overwritten) for other in certain if other != o)]
        if cell[0] != "dest" and len(last) + (not certain) > 1:
            self.open_shared = True
        values = set() if certain else {0 if cell[0] == "dest" else ANY}
        return values.union(*(self._value(o) for o in last))

    def _value(self, op: tuple[int, int]) -> set[int]:
        """Values that an operation may write."""
        step = self.step(op)
        return self.possible(op) if step.kind in ("store", "mma") else {step.value}

    def final(self, dest: int) -> set[int]:
        """Values that a destination may have when all is done."""
        stores = self.writes.get(("dest", dest), [])
        last = [o for o in stores if not any(self._all(o, other, self._overwritten) for other in stores if other != o)]
        return set().union(*(self._value(o) for o in last)) if last else {0}

    # ---- order ------------------------------------------------------------------------------------------------

    def _all(self, a: tuple[int, int], b: tuple[int, int], ordered: object) -> bool:
        """Whether an order holds between all events of two operations."""
        assert callable(ordered)
        return all(ordered(x, y) for x in self.events[a] for y in self.events[b])

    def _start(self, e: Event) -> Event:
        """Where an operation begins: the issue of an asynchronous one."""
        return self.trace.events[e.data["issuer"]] if e.kind == "async" else e

    def _written_before(self, w: Event, r: Event) -> bool:
        """The read sees the write for certain, or a later one."""
        start = self._start(r)
        if w.kind == "async":
            return self.hb.clock(start.id).done(w.id)
        if not self.hb.ordered(w.id, start.id):
            return False
        if r.kind != "async" or r.data["instr"] == "cp.async":
            return True
        clock = self.hb.clock(start.id)
        return all(clock.visible(w.warp, lane, "shared") >= w.time for lane in range(32) if w.lanes >> lane & 1)

    def _read_before(self, r: Event, w: Event) -> bool:
        """The read is over before the write begins."""
        start = self._start(w)
        if r.kind == "async":
            return self.hb.clock(start.id).read(r.id)
        return self.hb.ordered(r.id, start.id)

    def _overwritten(self, w: Event, later: Event) -> bool:
        """The first write is over before the second begins."""
        start = self._start(later)
        if w.kind == "async":
            return self.hb.clock(start.id).done(w.id)
        return self.hb.ordered(w.id, start.id)

    def races(self) -> bool:
        """Whether a value in shared memory is left open: to a read, or by two writes."""
        for w, n, step in self.p.steps():
            if read(step) is not None:
                self.possible((w, n))
        return self.open_shared or self._crossing_writes()

    def _crossing_writes(self) -> bool:
        """Whether two writes to the same shared memory are in no order."""
        return any(
            not self._all(a, b, self._overwritten) and not self._all(b, a, self._overwritten)
            for cell, ops in self.writes.items() if cell[0] == "slot"
            for n, a in enumerate(ops) for b in ops[n + 1:]
        )


def read(step: Step) -> tuple[str, int] | None:
    """The cell that an operation reads."""
    cells = {"store": "slot", "see": "slot", "mma": "slot", "look": "dest", "result": "acc"}
    return (cells[step.kind], step.at) if step.kind in cells else None


def written(step: Step) -> tuple[str, int] | None:
    """The cell that an operation writes."""
    if step.kind in ("write", "fetch", "fill"):
        return "slot", step.at
    if step.kind == "store":
        return "dest", step.value
    return ("acc", step.value) if step.kind == "mma" else None


def check(p: GroupProgram) -> GroupVerdict:
    """Compare what hardware showed with what the machine allows."""
    values = Values(p)
    verdict = GroupVerdict(p.id, p.shape, p.bug, len(p.looks) + p.stored)
    bad = [i for i in values.trace.incidents if i.kind in ("unanalysed", "budget", "deadlock", "wgmma_registers")]
    if bad:
        verdict.error = f"{bad[0].kind}: {bad[0].data}"
        return verdict
    allowed = [values.possible(op) for op in p.looks] + [values.final(d) for d in range(p.stored)]
    for k, may in enumerate(allowed):
        shown = {seen[k] for seen in p.seen}
        verdict.open += len(may) > 1
        verdict.shown += len(may) > 1 and len(shown) > 1
        verdict.forbidden += [(k, v) for v in sorted(shown - may) if ANY not in may and (v != MIXED or len(may) == 1)]
    verdict.silent = bool(values.hb.conflicts) != values.races()
    return verdict


def check_all(programs: Iterable[GroupProgram], jobs: int) -> list[GroupVerdict]:
    """Verdicts in the order of the programs."""
    with Pool(jobs) as pool:
        return list(pool.imap(check, programs, 16))


__all__ = ["LOOKS", "GroupVerdict", "Values", "check", "check_all"]
