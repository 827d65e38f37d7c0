"""Writes a program about groups as a CUDA kernel, as a person would write it by hand."""

from __future__ import annotations

from tests.conformance.groups import LOOKS, SLOTS, GroupProgram, Step

BYTES = 4096  # of a slot: 128 a lane
_HEAD = """\
#include <cuda_runtime.h>

__device__ inline unsigned smem(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }
"""
_PARTS = {
    "write": """\
__device__ inline void write(int4* slot, int value)
{
    for (int i = threadIdx.x % 32; i < 256; i += 32) slot[i] = make_int4(value, value, value, value);
}""",
    "fence": """\
__device__ inline void fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }""",
    "store": """\
__device__ inline void store(void* to, const void* slot)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 4096;"
                 :: "l"(to), "r"(smem(slot)) : "memory");
}""",
    "commit": """\
__device__ inline void commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }""",
    "wait": """\
template <int N>
__device__ inline void wait() { asm volatile("cp.async.bulk.wait_group %0;" :: "n"(N) : "memory"); }""",
    "wait_read": """\
template <int N>
__device__ inline void wait_read() { asm volatile("cp.async.bulk.wait_group.read %0;" :: "n"(N) : "memory"); }""",
    "fetch": """\
__device__ inline void fetch(int4* slot, const int4* from)
{
    for (int i = threadIdx.x % 32; i < 256; i += 32)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(smem(slot + i)), "l"(from + i) : "memory");
}""",
    "fetch_commit": """\
__device__ inline void fetch_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }""",
    "fetch_wait": """\
template <int N>
__device__ inline void fetch_wait() { asm volatile("cp.async.wait_group %0;" :: "n"(N) : "memory"); }""",
    "see": """\
__device__ inline int see(const int4* slot)
{
    int sum = 0;
    for (int i = threadIdx.x % 32; i < 256; i += 32) sum += slot[i].x;
    return sum;
}""",
    "fill": """\
__device__ inline void fill(int4* tile, int value)
{
    tile[threadIdx.x] = make_int4(value, value, value, value);
}""",
    "mma": """\
__device__ inline unsigned long long descriptor(const void* tile)
{
    return (smem(tile) >> 4 & 0x3fff) | 1024ull >> 4 << 16 | 128ull >> 4 << 32;
}

__device__ inline void mma(float (&d)[4], const void* tile, const void* ones)
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 0, 1, 1, 0, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(descriptor(tile)), "l"(descriptor(ones)));
}""",
    "mma_commit": """\
__device__ inline void mma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }""",
    "mma_wait": """\
template <int N>
__device__ inline void mma_wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" :: "n"(N) : "memory"); }""",
}
_BY_ONE = ("store", "commit", "wait", "wait_read")  # executed by lane 0


def write(p: GroupProgram) -> str:
    """The program as a kernel with one branch a warp (one for all with wgmma), and a function that launches it."""
    kinds = {step.kind for _, _, step in p.steps()}
    tiles = p.shape == "wgmma"
    threads = 128 if tiles else 32 * len(p.code)
    out = [f"// {p.id}: {p.shape}, changed: {p.bug}", _HEAD]
    out += [text + "\n" for name, text in _PARTS.items() if name in kinds or (tiles and name == "fence")]
    out += [f"__global__ void __launch_bounds__({threads}) groups(const int4* in, int4* out, int* seen)", "{",
            f"    __shared__ alignas(1024) int4 slot[{SLOTS}][{128 if tiles else BYTES // 16}];"]
    if tiles:
        out += ["    __shared__ alignas(1024) int4 ones[128];",
                *(f"    float acc{n}[4] = {{}};" for n in range(3)),
                "    fill(ones, 0x3c003c00);", "    fence();", "    __syncthreads();"]
    else:
        out += ["    const int warp = threadIdx.x / 32;", "    const int lane = threadIdx.x % 32;"]
    k = 0
    for w, code in enumerate(p.code):
        indent = "    " if tiles else "        "
        if not tiles:
            out.append(f"    if (warp == {w}) {{")
        for step in code:
            out.append(indent + _statement(step, k))
            k += step.kind in LOOKS
            if not tiles and step.kind != "sync":
                out.append(indent + "__syncwarp();")
        if not tiles:
            out.append("    }")
    out += ["}", "", "void launch(const int4* in, int4* out, int* seen)", "{",
            f"    groups<<<1, {threads}>>>(in, out, seen);", "}", ""]
    return "\n".join(out)


def _statement(step: Step, k: int) -> str:
    at, value = step.at, step.value
    calls = {
        "write": f"write(slot[{at}], {value});", "fence": "fence();",
        "store": f"store(out + {value} * 256, slot[{at}]);", "commit": "commit();", "wait": f"wait<{at}>();",
        "wait_read": f"wait_read<{at}>();", "look": f"seen[{k}] = out[{at} * 256 + lane].x;",
        "fetch": f"fetch(slot[{at}], in + {value} * 256);", "fetch_commit": "fetch_commit();",
        "fetch_wait": f"fetch_wait<{at}>();", "see": f"seen[{k}] = see(slot[{at}]);",
        "fill": f"fill(slot[{at}], {value});", "mma": f"mma(acc{value}, slot[{at}], ones);",
        "mma_commit": "mma_commit();", "mma_wait": f"mma_wait<{at}>();",
        "result": f"seen[{k}] = acc{at}[0] + acc{at}[1] + acc{at}[2] + acc{at}[3];",
        "sync": 'asm volatile("barrier.sync 0;" ::: "memory");',
    }
    return f"if (lane == 0) {calls[step.kind]}" if step.kind in _BY_ONE else calls[step.kind]
