"""A small report made by hand, with everything that a renderer has to show and characters that are markup."""

from __future__ import annotations

from auditor.reports.model import (
    Allocation,
    Arrival,
    BarrierRow,
    Check,
    Fact,
    FileReport,
    KernelReport,
    MapRow,
    Operand,
    Problem,
    ReadBack,
    Region,
    Reuse,
    Ring,
    Role,
    Row,
    SharedMemory,
    Span,
    TensorMemory,
    Timeline,
    Trial,
    Waiter,
)

FULL = BarrierRow(
    name="sh.full", addresses=(1024, 1032), ctas="its CTA", scope="CTA", init_count=1, init_line=12,
    arrivals=(Arrival("warp 0 lane 0", "arrive.expect_tx", 1, 4096, (20,)),), expected_bytes=4096, delivered_bytes=4096,
    waiters=(Waiter("warp 1 lane 0", (30,), (0, 1, 0), False),), resources=("sh.a readable",), phases=(2, 3),
)  # fmt: skip
EMPTY = BarrierRow(
    name="sh.empty", addresses=(1040, 1048), ctas="its CTA", scope="CTA", init_count=1, init_line=13,
    arrivals=(Arrival("warp 1 lane 0", "tcgen05.commit", 1, 0, (35,)),), expected_bytes=0, delivered_bytes=0,
    waiters=(Waiter("warp 0 lane 0", (19, 21), (1, 0, 1), True),), resources=("sh.a free",), phases=(2, 3),
)  # fmt: skip
RING = Ring(
    name="sh.a", space="shared", depth=2, unit="bytes", operands=(Operand("sh.a", 4096, 2048, 4096),), stage_size=4096,
    ready="sh.full[2]", free="sh.empty[2]", issuer="warp 0 lane 0", consumers="warp 1 lane 0",
    fill_parity="1 (passes at once)", use_parity="0 (waits for the first phase)", prologue=2, rounds=5,
    drain="no extra waits: the end is ordered by what follows the last use",
)  # fmt: skip
TMEM = TensorMemory(
    allocations=(Allocation(64, 64, 64, 1, "warp 2", 14, 0),),
    regions=(
        Region("0-31", "accumulator", 0, 32, ((0, 128),), "MMA by warp 1 lane 0", "tcgen05.ld by warps 0-3",
               "commit on sh.done", 10, 60, 1),
        Region("40-43", "scale factors of A", 40, 44, ((0, 32), (64, 96)), "tcgen05.cp by warp 1 lane 0",
               "MMA by warp 1 lane 0", "order of the issuing thread (tcgen05.cp before MMA)", 8, 40, 3),
    ),
    reuses=(
        Reuse("40-43", "MMA reads scale factors of A", "tcgen05.cp writes scale factors of A", "sh.empty, then sh.full", 2, 2),
    ),
    read_backs=(ReadBack("accumulator", "32x32b.x16", 2, 32, 1, "warps 0-3"),), touched=36, peak=36,
)  # fmt: skip
TIMELINE = Timeline(
    rows=(
        Row("producer: warp 0 lane 0", (Span(0, 1, "arrive", "arrives on sh.full[0]"), Span(1, 2, "issue", "issues tma.load"),
                                        Span(2, 40, "wait", "waits for sh.empty[0], parity 0"))),
        Row("flight to sh.full[0]", (Span(2, 26, "flight", "copies to sh.full[0]"),)),
        Row("tensor core", (Span(27, 39, "compute", "mma until the commit on sh.empty[0]"),)),
        Row("reads of tensor memory: warps 0-3 (warp 0 shown)", (Span(40, 44, "use", "reads TMEM"),)),
    ),
    end=44,
)  # fmt: skip
KERNEL = KernelReport(
    kernel="ring<128, 'a|b'>", line=10, arch="sm_100a", verdict="findings",
    conclusion=("The protocol has faults: 1 error, 0 warnings in 2 runs.", "An SM holds 4 CTAs & more."),
    problems=(Problem("BW202", "error", "sh.a[stage] is refilled while <warp 1> reads it", 21),),
    facts=(Fact("grid", "2", "host code"), Fact("k_blocks", "4", "chosen")), assumptions=("k_blocks = 4 was chosen",),
    roles=(Role("producer (copies to shared memory)", "warp 0 lane 0", (20, 22)),), barriers=(FULL, EMPTY), rings=(RING,),
    shared=SharedMemory(16, 8192, 1024, 232448, False, (("shared memory", 25), ("threads", 16))),
    maps=(MapRow("map_a", (("element", "bf16, 16 bits"), ("box", "64 x 32")),
                 (Check("swizzle (operand A of mma)", "128 bytes", "64 bytes", "differ"),)),),
    tmem=TMEM, timeline=TIMELINE,
    trials=(Trial("trip counts around the ring depth", "k_blocks = 1, 2, 3, 5", "2 stages: a wrong parity shows"),),
    falsifier="Delay the consumers: any difference refutes it.", risks=("Findings stand.",), fallback=("Set the depth to 1.",),
)  # fmt: skip
REPORTS = [FileReport("src/ring.cu", (KERNEL,))]
