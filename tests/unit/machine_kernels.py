"""Small kernels for tests of the machine, assembled from PTX without the frontend.

``Body`` writes the generated code of one kernel: ``ptx`` adds an asm statement whose operands are Python expressions,
``line`` any line. ``run`` executes it and gives the trace.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from auditor.machine.boxes import Boxes
from auditor.machine.core import Machine
from auditor.machine.hypothesis import NONE, Hypothesis
from auditor.machine.launch import Launch
from auditor.program import Kernel, Program, SharedVar
from auditor.ptx.grammar import AsmBlock, parse_asm
from auditor.source import Loc
from auditor.trace import Trace

BARS, TILE, SLOT = 64, 16384, 16
WAIT = "{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [$0], $1; @!p bra again; }"
INIT = "mbarrier.init.shared::cta.b64 [$0], $1;"
ARRIVE = "mbarrier.arrive.shared::cta.b64 _, [$0];"
EXPECT = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;"
COPY = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1], $2, [$3];"
SYNC = "barrier.sync.aligned 0;"
WARP_SYNC = "bar.warp.sync 0xffffffff;"
LOAD = "ld.shared.b32 $0, [$1];"
GLOBAL = 8 << 44 | 1 << 40


@dataclass
class Body:
    """The body of a kernel ``k(S)``; ``bars``, ``tile`` and ``slot`` are shared addresses, ``tid`` is threadIdx.x."""

    lines: list[str] = field(
        default_factory=lambda: [
            "def k(S):",
            " tid = S.tid[0]",
            " bars = S.shared_addr('bars') & 0xffffffff",
            " tile = S.shared_addr('tile') & 0xffffffff",
            " slot = S.shared_addr('slot') & 0xffffffff",
        ]
    )
    asm: list[AsmBlock] = field(default_factory=list)

    def line(self, text: str, indent: int = 1) -> None:
        self.lines.append(" " * indent + text)

    def ptx(self, template: str, *operands: str, indent: int = 1, result: str = "") -> None:
        """An asm statement. ``result``: names of its outputs, "$0" and on, with commas between several."""
        outputs = len(result.split(",")) if result else 0
        block = parse_asm(template, ["=r"] * outputs + ["r"] * len(operands), outputs)
        assert not block.errors
        call = "yield from S.wait_asm" if block.blocking else "S.asm"
        arguments = "".join(f"{o}," for o in operands)
        target = f"{result}{',' if outputs == 1 else ''} = " if result else ""
        self.lines.append(f"{' ' * indent}{target}({call}({len(self.asm)}, ({arguments})))")
        self.asm.append(block)

    def run(
        self,
        threads: int = 64,
        *,
        ctas: int = 1,
        clusters: int = 1,
        boxes: Boxes | None = None,
        hypothesis: Hypothesis = NONE,
        arch: str = "sm_100a",
    ) -> Trace:
        """Execute the kernel; line n of the body is place n of the trace. ``ctas``: of each cluster; ``boxes``: what
        other launches have found out."""
        lines = [*self.lines, " return", " yield"]
        here = [Loc("kernel", n) for n in range(len(lines) + 1)]
        shared = (
            SharedVar("bars", "bars", BARS, 8, False, None, here[0]),
            SharedVar("slot", "slot", SLOT, 16, False, None, here[0]),
            SharedVar("tile", "tile", TILE, 1024, False, None, here[0]),
        )
        kernel = Kernel("k", "k", "k", (), shared, here[0])
        program = Program("kernel", arch, (kernel,), "\n".join(lines), list(here), self.asm, [here[0]] * len(self.asm))
        launch = Launch("k", grid=(clusters * ctas, 1, 1), block=(threads, 1, 1), cluster=(ctas, 1, 1))
        launch.boxes = boxes or launch.boxes
        return Machine(program, kernel, launch, hypothesis=hypothesis).run()


def kinds(trace: Trace) -> set[str]:
    """The kinds of incidents of a run."""
    return {i.kind for i in trace.incidents}


def initialise(body: Body, counts: Iterable[int]) -> None:
    """Thread 0 initialises barriers with these counts, then the block synchronises."""
    body.line("if S.cond(tid == 0):")
    for n, count in enumerate(counts):
        body.ptx(INIT, f"bars + {8 * n}", str(count), indent=2)
    body.ptx(SYNC)


@dataclass(frozen=True)
class Ring:
    """A producer thread and ``consumers`` warps that share a ring of ``stages`` tiles for ``rounds`` steps."""

    stages: int
    rounds: int
    consumers: int
    full_parity: str = "(i // {stages}) & 1"
    empty_parity: str = "((i // {stages}) & 1) ^ 1"
    empty_count: int | None = None
    nbytes: int = 256
    expected: int | None = None
    waits_empty: bool = True

    def body(self) -> Body:
        s, size = self.stages, self.nbytes
        b = Body()
        count = self.consumers if self.empty_count is None else self.empty_count
        initialise(b, [1] * s + [count] * s)
        b.line("warp = tid >> 5")
        b.line(f"if S.cond(warp == {self.consumers}):")
        b.line("if S.cond((tid & 31) == 0):", 2)
        b.line(f"for i in range({self.rounds}):", 3)
        b.line(f"s = i % {s}", 4)
        if self.waits_empty:
            b.ptx(WAIT, f"bars + {8 * s} + 8 * s", self.empty_parity.format(stages=s), indent=4)
        b.ptx(EXPECT, "bars + 8 * s", str(size if self.expected is None else self.expected), indent=4)
        b.ptx(COPY, f"tile + s * {size}", str(GLOBAL), str(size), "bars + 8 * s", indent=4)
        b.line("else:")
        b.line(f"for i in range({self.rounds}):", 2)
        b.line(f"s = i % {s}", 3)
        b.ptx(WAIT, "bars + 8 * s", self.full_parity.format(stages=s), indent=3)
        b.ptx(LOAD, f"tile + s * {size} + (tid & 31) * 4", indent=3, result="v")
        b.line("v + 1", 3)
        b.ptx("fence.proxy.async.shared::cta;", indent=3)
        b.ptx(WARP_SYNC, indent=3)
        b.line("if S.cond((tid & 31) == 0):", 3)
        b.ptx(ARRIVE, f"bars + {8 * s} + 8 * s", indent=4)
        return b

    def run(self, hypothesis: Hypothesis = NONE) -> Trace:
        return self.body().run(32 * (self.consumers + 1), hypothesis=hypothesis)
