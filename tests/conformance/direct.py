"""Feeds a measured program to the machine: one strand a warp, one line of generated code an operation."""

from __future__ import annotations

from functools import cache

from auditor.machine.core import Machine
from auditor.machine.launch import Launch
from auditor.machine.schedule import LAZY, Lazy
from auditor.program import Kernel, Program, SharedVar
from auditor.ptx.grammar import AsmBlock, parse_asm
from auditor.source import Loc
from auditor.trace import Incident
from auditor.values import GLOBAL_STRIDE, GLOBAL_WINDOW
from tests.conformance.recorded import TRAP, Op, Outcome, Recorded

STRIDE = 1000  # operation n of warp w is at "line" w * STRIDE + n + 1
SLOT_BYTES = 4096
SLOTS = 48
FILE = "program"

_ONE = "{ .reg .pred p; setp.ne.b32 p, $0, 0; @p %s }"  # operand 0 selects the executing lanes
_ASM: dict[str, tuple[str, str]] = {
    "rank": ("mov.u32 $0, %cluster_ctarank;", "=r"),
    "start": ("barrier.cluster.arrive.release; barrier.cluster.wait.acquire;", ""),
    "init": (_ONE % "mbarrier.init.shared::cta.b64 [$1], $2;", "r r r"),
    "arrive": (_ONE % "mbarrier.arrive.shared::cta.b64 _, [$1], $2;", "r r r"),
    "arrive_tx": (_ONE % "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$1], $2;", "r r r"),
    "expect_tx": (_ONE % "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [$1], $2;", "r r r"),
    "copy": (_ONE % "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$2], [$3], $4, [$1];",
             "r r r l r"),
    "remote_arrive": ("{ .reg .pred p; .reg .b32 a; setp.ne.b32 p, $0, 0; mapa.shared::cluster.u32 a, $1, $3;"
                      " @p mbarrier.arrive.release.cluster.shared::cluster.b64 _, [a], $2; }", "r r r r"),
    "wait": ("{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [$0], $1; @!p bra again; }", "r r"),
    "test": ("{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [$0], $1; }", "r r"),
    "sync": ("barrier.sync 0;", ""),
    "drop": (_ONE % "mbarrier.arrive_drop.shared::cta.b64 _, [$1], $2;", "r r r"),
    "complete_tx": (_ONE % "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [$1], $2;", "r r r"),
    "multicast": (_ONE % ("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
                          " [$2], [$3], $4, [$1], $5;"), "r r r l r h"),
    "push": ("{ .reg .pred p; .reg .b32 bar, to; setp.ne.b32 p, $0, 0; mapa.shared::cluster.u32 bar, $1, $5;"
             " mapa.shared::cluster.u32 to, $2, $5;"
             " @p cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [to], [$3], $4, [bar]; }",
             "r r r r r r"),
    "cp_async": (_ONE % "cp.async.ca.shared.global [$1], [$2], 16;", "r r l"),
    "async_arrive": (_ONE % "cp.async.mbarrier.arrive.shared.b64 [$1];", "r r"),
    "async_arrive_noinc": (_ONE % "cp.async.mbarrier.arrive.noinc.shared.b64 [$1];", "r r"),
    "meet": ("barrier.sync $0, $1;", "r r"),
    "signal": ("barrier.arrive $0, $1;", "r r"),
    "whole": ("barrier.sync 0;", ""),
    "cluster": ("barrier.cluster.arrive.release; barrier.cluster.wait.acquire;", ""),
    "turn": ("bar.warp.sync 0xffffffff;", ""),
}
_NUMBER = {name: n for n, name in enumerate(_ASM)}
_TRAPS = ("over_arrival", "tx_overflow", "misaligned", "cluster_rank")


@cache
def _blocks() -> list[AsmBlock]:
    blocks = []
    for text, constraints in _ASM.values():
        operands = constraints.split()
        blocks.append(parse_asm(text, operands, sum(o.startswith("=") for o in operands), {}))
    return blocks


class Writer:
    """Generated code with the place of each of its lines."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.places: list[Loc | None] = [None]

    def put(self, text: str, line: int = 0) -> None:
        self.lines.append(text)
        self.places.append(Loc(FILE, line) if line else None)

    def asm(self, indent: int, name: str, *args: object, line: int = 0) -> None:
        operands = "(" + "".join(f"{a}, " for a in args) + ")"
        call = "yield from S.wait_asm" if _blocks()[_NUMBER[name]].blocking else "S.asm"
        self.put(" " * indent + f"{call}({_NUMBER[name]}, {operands})", line)


def translate(p: Recorded) -> tuple[Program, Kernel]:
    """The program as generated code. Operations of one lane are predicated, so that a warp stays one strand; between
    two operations the warp converges, which is where an exploring schedule may switch."""
    w = Writer()
    w.put("def kernel(S):")
    w.put(f" base = (S.shared_addr('bars') & 0xffffffff) + {p.misalign}")
    w.put(" stage = S.shared_addr('stage') & 0xffffffff")
    w.put(f" rank = S.asm({_NUMBER['rank']}, ())[0]")
    w.put(" lane = S.tid[0] & 31")
    w.put(" warp = S.tid[0] >> 5")
    w.put(" first, every = lane == 0, 1")
    for cta, counts in enumerate(p.init):
        if counts:
            w.put(f" if rank == {cta}:")
            for b, n in enumerate(counts):
                w.asm(2, "init", "S.tid[0] == 0", f"base + {8 * b}", n)
    w.asm(1, "start")
    w.asm(1, "turn")
    for warp, code in enumerate(p.code):
        w.put(f" if rank == {p.cta(warp)} and S.cond(warp == {warp % p.warps}):")
        w.put("  pass")
        for n, op in enumerate(code):
            line = warp * STRIDE + n + 1
            _operation(w, op, line)
            w.asm(2, "turn", line=line)
    w.put(" return")
    where = Loc(FILE, 0)
    shared = (SharedVar("bars", "bars", 128, 128, False, None, where),
              SharedVar("stage", "stage", SLOTS * SLOT_BYTES, 128, False, None, where))
    kernel = Kernel("kernel", "kernel", "kernel", (), shared, where)
    blocks = _blocks()
    text = "\n".join(w.lines) + "\n"
    return Program(FILE, "sm_90a", (kernel,), text, w.places, blocks, [where] * len(blocks)), kernel


def _operation(w: Writer, op: Op, line: int) -> None:
    lanes = "every" if op.lanes == 32 else "first"
    bar = f"base + {8 * op.barrier}"
    if op.kind in ("arrive", "arrive_tx", "expect_tx", "drop", "complete_tx"):
        w.asm(2, op.kind, lanes, bar, op.value, line=line)
    elif op.kind == "remote_arrive":
        w.asm(2, op.kind, lanes, bar, op.value, op.rank, line=line)
    elif op.kind == "copy":
        to, source = op.slot * SLOT_BYTES + op.shift[0], GLOBAL_WINDOW + GLOBAL_STRIDE + op.shift[1]
        w.asm(2, "copy", lanes, bar, f"stage + {to}", source, op.value, line=line)
    elif op.kind == "multicast":
        to = op.slot * SLOT_BYTES
        w.asm(2, op.kind, lanes, bar, f"stage + {to}", GLOBAL_WINDOW + GLOBAL_STRIDE, op.value, op.rank, line=line)
    elif op.kind == "push":
        to, source = op.slot * SLOT_BYTES, (SLOTS - 1) * SLOT_BYTES
        w.asm(2, op.kind, lanes, bar, f"stage + {to}", f"stage + {source}", op.value, op.rank, line=line)
    elif op.kind == "async_arrive":
        at = f"stage + {(SLOTS - 2) * SLOT_BYTES} + 16 * lane"
        w.asm(2, "cp_async", lanes, at, GLOBAL_WINDOW + GLOBAL_STRIDE, line=line)
        w.asm(2, op.kind + "_noinc" * op.value, lanes, bar, line=line)
    elif op.kind in ("meet", "signal"):
        w.asm(2, op.kind, op.value, 32 * op.rank, line=line)
    elif op.kind in ("cluster", "whole"):
        w.asm(2, op.kind, line=line)
    elif op.kind in ("wait", "test"):
        w.asm(2, op.kind, bar, op.value, line=line)
    else:
        w.asm(2, "sync", line=line)


class Runner:
    """Runs one program under several schedules."""

    def __init__(self, p: Recorded) -> None:
        self.recorded = p
        self.program, self.kernel = translate(p)
        self.launch = Launch("kernel", grid=(p.ctas, 1, 1), block=(32 * p.warps, 1, 1), cluster=(p.ctas, 1, 1))

    def run(self, schedule: Lazy = LAZY) -> tuple[Outcome, list[Incident]]:
        """What the machine makes of it under a schedule, and the incidents."""
        machine = Machine(self.program, self.kernel, self.launch, schedule=schedule)
        trace = machine.run()
        incidents = trace.incidents
        failed = next((i for i in incidents if i.kind in ("unanalysed", "budget")), None)
        if failed is not None:
            raise RuntimeError(f"{self.recorded.id}: {failed.data}")
        if any(_traps(i) for i in incidents):
            return TRAP, incidents
        passed = {e.where[0].line for e in trace.events if e.kind == "mbar.wait"}
        stop = tuple(self._stuck(w, incidents) for w in range(len(self.recorded.code)))
        tests = tuple(
            tuple(int(w * STRIDE + n + 1 in passed) for n, op in enumerate(code)
                  if op.kind == "test" and (stop[w] is None or n < (stop[w] or 0)))
            for w, code in enumerate(self.recorded.code))
        units = [cta.barriers.get(cta.shared["bars"] + self.recorded.misalign + 8 * b)
                 for cta, counts in zip(machine.ctas, self.recorded.init) for b in range(len(counts))]
        return Outcome(stop, tests, tuple(u.unit.parity for u in units if u is not None)), incidents

    @staticmethod
    def _stuck(warp: int, incidents: list[Incident]) -> int | None:
        """The operation that a warp is blocked at."""
        lines = [i.where[0].line - 1 for i in incidents if i.kind == "deadlock" and i.where]
        return next((line % STRIDE for line in lines if line // STRIDE == warp), None)


def _traps(i: Incident) -> bool:
    """Whether hardware would have stopped there."""
    if i.kind == "use_before_init":
        return "wait" not in str(i.data["what"])
    if i.kind == "init_count":
        return bool(i.data.get("arrive"))
    return i.kind in _TRAPS
