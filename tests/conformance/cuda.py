"""Writes a measured program as a CUDA kernel, as a person would write it by hand."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.conformance.recorded import Op, Recorded

_PARTS = {
    "address": """\
__device__ inline unsigned smem(const void* p)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(p));
}""",
    "init": """\
__device__ inline void init(Barrier& b, int arrivals)
{
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(smem(&b)), "r"(arrivals));
}""",
    "arrive": """\
__device__ inline void arrive(Barrier& b, int n = 1)
{
    asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0], %1;" :: "r"(smem(&b)), "r"(n) : "memory");
}""",
    "arrive_tx": """\
__device__ inline void arrive_and_expect(Barrier& b, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;"
                 :: "r"(smem(&b)), "r"(bytes) : "memory");
}""",
    "expect_tx": """\
__device__ inline void expect(Barrier& b, int bytes)
{
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" :: "r"(smem(&b)), "r"(bytes) : "memory");
}""",
    "copy": """\
__device__ inline void load(void* to, const void* from, int bytes, Barrier& b)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 :: "r"(smem(to)), "l"(from), "r"(bytes), "r"(smem(&b)) : "memory");
}""",
    "remote_arrive": """\
__device__ inline void arrive_at_peer(Barrier& b, unsigned rank, int n = 1)
{
    asm volatile("{\\n\\t.reg .b32 peer;\\n\\t"
                 "mapa.shared::cluster.u32 peer, %0, %1;\\n\\t"
                 "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [peer], %2;\\n\\t}"
                 :: "r"(smem(&b)), "r"(rank), "r"(n) : "memory");
}""",
    "wait": """\
__device__ inline void wait(Barrier& b, int parity)
{
    asm volatile("{\\n\\t.reg .pred over;\\n"
                 "again:\\n\\tmbarrier.try_wait.parity.acquire.cta.shared::cta.b64 over, [%0], %1;\\n\\t"
                 "@!over bra again;\\n\\t}"
                 :: "r"(smem(&b)), "r"(parity) : "memory");
}""",
    "test": """\
__device__ inline int test(Barrier& b, int parity)
{
    int over;
    asm volatile("{\\n\\t.reg .pred p;\\n\\t"
                 "mbarrier.test_wait.parity.acquire.cta.shared::cta.b64 p, [%1], %2;\\n\\t"
                 "selp.b32 %0, 1, 0, p;\\n\\t}"
                 : "=r"(over) : "r"(smem(&b)), "r"(parity) : "memory");
    return over;
}""",
    "drop": """\
__device__ inline void arrive_and_drop(Barrier& b, int n = 1)
{
    asm volatile("mbarrier.arrive_drop.release.cta.shared::cta.b64 _, [%0], %1;" :: "r"(smem(&b)), "r"(n) : "memory");
}""",
    "complete_tx": """\
__device__ inline void complete(Barrier& b, int bytes)
{
    asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], %1;" :: "r"(smem(&b)), "r"(bytes) : "memory");
}""",
    "multicast": """\
__device__ inline void load_to_all(void* to, const void* from, int bytes, Barrier& b, unsigned short mask)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                 "[%0], [%1], %2, [%3], %4;"
                 :: "r"(smem(to)), "l"(from), "r"(bytes), "r"(smem(&b)), "h"(mask) : "memory");
}""",
    "push": """\
__device__ inline void push(void* to, const void* from, int bytes, Barrier& b, unsigned rank)
{
    asm volatile("{\\n\\t.reg .b32 there, bar;\\n\\t"
                 "mapa.shared::cluster.u32 there, %0, %4;\\n\\t"
                 "mapa.shared::cluster.u32 bar, %3, %4;\\n\\t"
                 "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [there], [%1], %2, [bar];"
                 "\\n\\t}"
                 :: "r"(smem(to)), "r"(smem(from)), "r"(bytes), "r"(smem(&b)), "r"(rank) : "memory");
}""",
    "async_arrive": """\
template <bool NoInc>
__device__ inline void fetch_and_arrive(void* to, const void* from, Barrier& b)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" :: "r"(smem(to)), "l"(from) : "memory");
    if (NoInc)
        asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" :: "r"(smem(&b)) : "memory");
    else
        asm volatile("cp.async.mbarrier.arrive.shared::cta.b64 [%0];" :: "r"(smem(&b)) : "memory");
}""",
    "meet": """\
__device__ inline void meet(int id, int threads)
{
    asm volatile("barrier.sync %0, %1;" :: "r"(id), "r"(threads) : "memory");
}""",
    "signal": """\
__device__ inline void signal(int id, int threads)
{
    asm volatile("barrier.arrive %0, %1;" :: "r"(id), "r"(threads) : "memory");
}""",
    "cluster": """\
__device__ inline void cluster_sync()
{
    asm volatile("barrier.cluster.arrive.release;\\n\\tbarrier.cluster.wait.acquire;" ::: "memory");
}

__device__ inline unsigned cluster_rank()
{
    unsigned r;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
    return r;
}""",
}


@dataclass
class Source:
    """A CUDA file. ``places``: line of each operation by (warp, index); ``inits``: line that initialises a barrier."""

    text: str = ""
    places: dict[tuple[int, int], int] = field(default_factory=dict)
    inits: dict[tuple[int, int], int] = field(default_factory=dict)


Offsets = dict[tuple[int, int], int]
COPIES = ("copy", "multicast", "push")
ALL_LANES = ("wait", "sync", "meet", "signal", "cluster", "whole")  # operations of the whole warp


class _File:
    """Lines under way, with indentation."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.depth = 0

    def put(self, text: str = "") -> int:
        """Append a line (or several) and return the number of the last one."""
        for line in text.split("\n"):
            self.lines.append("    " * self.depth + line if line else "")
        return len(self.lines)

    def open(self, head: str) -> None:
        self.put(f"{head} {{" if head else "{")
        self.depth += 1

    def close(self, tail: str = "}") -> None:
        self.depth -= 1
        self.put(tail)


def write(p: Recorded) -> Source:
    """The program as a kernel with one branch a warp, and a host function that launches it."""
    f, source = _File(), Source()
    kinds = {op.kind for _, _, op in p.ops()}
    slots = sorted({op.slot for _, _, op in p.ops() if op.kind in COPIES})
    offsets = _offsets(p)
    room = max([128, *(-(-(offsets[w, n] + op.value) // 128) * 128 for w, n, op in p.ops() if op.kind in COPIES)])
    cluster = p.ctas > 1
    f.put(f"// {p.id}: {p.shape}, changed: {p.bug}\n#include <cuda_runtime.h>\n\nusing Barrier = unsigned long long;\n")
    for name, text in _PARTS.items():
        if name in kinds or name in ("address", "init") or (name == "cluster" and cluster):
            f.put(text + "\n")
    attribute = f"__cluster_dims__({p.ctas}, 1, 1) " if cluster else ""
    f.put(f"__global__ void {attribute}__launch_bounds__({32 * p.warps}) protocol(const char* in, int* out)\n{{")
    f.depth = 1
    if slots:
        f.put(f"__shared__ alignas(128) char stage[{len(slots)}][{room}];")
    if "push" in kinds:
        f.put(f"__shared__ alignas(128) char outbox[{room}];")
    if "async_arrive" in kinds:
        f.put(f"__shared__ alignas(16) char fetched[{len(_fetches(p))}][32][16];")
    f.put(f"__shared__ Barrier bar[{max(len(p.init[0]), 1)}];")
    f.put("const int warp = threadIdx.x / 32;\nconst int lane = threadIdx.x % 32;")
    if cluster:
        f.put("const unsigned rank = cluster_rank();")
    _initialise(f, p, source)
    f.put("cluster_sync();" if cluster else "__syncthreads();")
    for cta in range(p.ctas):
        if cluster:
            f.open(f"if (rank == {cta})")
        for warp in range(p.warps):
            w = cta * p.warps + warp
            if p.code[w]:
                f.open(f"if (warp == {warp})")
                _body(f, p, w, source, slots, offsets)
                f.close()
        if cluster:
            f.close()
    if cluster:
        f.put("cluster_sync();")
    f.close()
    f.put(f"\nvoid launch(const char* in, int* out)\n{{\n    protocol<<<{p.ctas}, {32 * p.warps}>>>(in, out);\n}}")
    source.text = "\n".join(f.lines) + "\n"
    return source


def _offsets(p: Recorded) -> Offsets:
    """Where each copy goes in its slot: parts of one fill behind one another, from the beginning after a wait."""
    out: Offsets = {}
    for w, code in enumerate(p.code):
        filled: dict[int, int] = {}
        for n, op in enumerate(code):
            if op.kind == "wait":
                filled = {}
            elif op.kind in COPIES:
                out[w, n] = filled.get(op.slot, 0)
                filled[op.slot] = out[w, n] + op.value
    return out


def _fetches(p: Recorded) -> list[tuple[int, int]]:
    """The operations that copy with cp.async: each has a buffer of its own."""
    return [(w, n) for w, n, op in p.ops() if op.kind == "async_arrive"]


def _initialise(f: _File, p: Recorded, source: Source) -> None:
    f.open("if (threadIdx.x == 0)")
    for b in range(len(p.init[0])):
        counts = [counts[b] for counts in p.init]
        n = str(counts[0]) if len(set(counts)) == 1 else f"rank == 0 ? {counts[0]} : {counts[1]}"
        line = f.put(f"init(bar[{b}], {n});")
        for cta in range(p.ctas):
            source.inits[cta, b] = line
    f.put('asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");')
    f.close()


def _body(f: _File, p: Recorded, w: int, source: Source, slots: list[int], offsets: Offsets) -> None:
    """The operations of a warp. Neighbours that one lane executes share a branch; the warp converges around it, as it
    did when it was measured."""
    alone = False
    for n, op in enumerate(p.code[w]):
        one = op.kind not in ALL_LANES and op.lanes == 1
        if one and not alone:
            if n:
                f.put("__syncwarp();")
            f.open("if (lane == 0)")
        elif alone and not one:
            f.close()
            f.put("__syncwarp();")
        alone = one
        source.places[w, n] = f.put(_statement(p, op, w, n, slots, offsets))
    if alone:
        f.close()


def _statement(p: Recorded, op: Op, w: int, n: int, slots: list[int], offsets: Offsets) -> str:
    bar = f"bar[{op.barrier}]"
    count = "" if op.value == 1 else f", {op.value}"
    if op.kind == "arrive":
        return f"arrive({bar}{count});"
    if op.kind == "remote_arrive":
        return f"arrive_at_peer({bar}, {op.rank}{count});"
    if op.kind == "arrive_tx":
        return f"arrive_and_expect({bar}, {op.value});"
    if op.kind == "expect_tx":
        return f"expect({bar}, {op.value});"
    if op.kind in COPIES:
        slot = slots.index(op.slot)
        offset = f" + {offsets[w, n]}" if offsets[w, n] else ""
        if op.kind == "push":
            return f"push(stage[{slot}]{offset}, outbox, {op.value}, {bar}, {op.rank});"
        call, mask = ("load", "") if op.kind == "copy" else ("load_to_all", f", {op.rank}")
        return f"{call}(stage[{slot}]{offset}, in + {slot} * sizeof(stage[0]){offset}, {op.value}, {bar}{mask});"
    if op.kind == "drop":
        return f"arrive_and_drop({bar}{count});"
    if op.kind == "complete_tx":
        return f"complete({bar}, {op.value});"
    if op.kind == "async_arrive":
        to = f"fetched[{_fetches(p).index((w, n))}][lane]"
        return f"fetch_and_arrive<{'true' if op.value else 'false'}>({to}, in + 16 * lane, {bar});"
    if op.kind in ("meet", "signal"):
        return f"{op.kind}({op.value}, {32 * op.rank});"
    if op.kind == "cluster":
        return "cluster_sync();"
    if op.kind == "whole":
        return 'asm volatile("barrier.sync 0;" ::: "memory");'
    if op.kind == "wait":
        return f"wait({bar}, {op.value});"
    if op.kind == "test":
        return f"out[{sum(len(c) for c in p.code[:w]) + n}] = test({bar}, {op.value});"
    return f'asm volatile("barrier.sync 1, {32 * p.warps};" ::: "memory");'
