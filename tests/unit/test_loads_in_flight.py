"""Values of loads are followed until something uses them: whether that comes before the release of what they were read
from decides between BW210, BW308 and silence."""

from __future__ import annotations

from pathlib import Path

import pytest

from auditor.config import AuditOptions
from auditor.engine import audit_file, with_deep_stack
from auditor.findings import Level
from tests.unit.machine_kernels import ARRIVE, LOAD, SYNC, Body, initialise

ALLOC = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [$0], $1;"
# By name: the template, and how many registers it loads.
LOADS = {
    "ld": (LOAD, 1),
    "ld.v2": ("ld.shared.v2.b32 {$0, $1}, [$2];", 2),
    "ld.v4": ("ld.shared.v4.b32 {$0, $1, $2, $3}, [$4];", 4),
    "ldmatrix.x1": ("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {$0}, [$1];", 1),
    "ldmatrix.x2": ("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {$0, $1}, [$2];", 2),
    "ldmatrix.x4": ("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {$0, $1, $2, $3}, [$4];", 4),
    "tcgen05.ld.x1": ("tcgen05.ld.sync.aligned.32x32b.x1.b32 {$0}, [$1];", 1),
    "tcgen05.ld.x4": ("tcgen05.ld.sync.aligned.32x32b.x4.b32 {$0, $1, $2, $3}, [$4];", 4),
    "tcgen05.ld.16x256b": ("tcgen05.ld.sync.aligned.16x256b.x1.b32 {$0, $1, $2, $3}, [$4];", 4),
}
RELEASES = {
    "mbarrier.arrive": (ARRIVE, "bars"),
    "barrier.sync": (SYNC,),
    "barrier.arrive": ("barrier.arrive 3, 64;",),
    "barrier.cluster.arrive": ("barrier.cluster.arrive.aligned;",),
    "tcgen05.commit": ("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [$0];", "bars"),
    "st.release": ("st.release.cta.shared.b32 [$0], $1;", "slot", "1"),
}
MMA = (
    "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {$0, $1, $2, $3}, {$4, $4, $4, $4}, {$4, $4}, {$4, $4, $4, $4};"
)


def use(b: Body, name: str, way: str) -> None:
    """A statement that needs the value of a register."""
    if way == "arithmetic":
        b.line(f"{name} + 1")
    elif way == "st":
        b.ptx("st.shared.b32 [$0], $1;", "tile + 8192 + tid * 4", name)
    elif way == "add":
        b.ptx("add.u32 $0, $1, 1;", name, result="sum")
    else:
        b.ptx(MMA, name, result="d0, d1, d2, d3")


def consumed(load: str, release: str, used: str, way: str = "arithmetic", which: slice = slice(None)) -> bool | None:
    """What is noted of a load if ``which`` of its registers are ``used`` "before" or "behind" the release, or never."""
    b = Body()
    initialise(b, [32])
    template, count = LOADS[load]
    address = "tile + tid * 16"
    if load.startswith("tcgen05"):
        b.ptx(ALLOC, "slot", "32")
        b.ptx(LOAD, "slot", result="address")
        address = "address"
    names = [f"v{n}" for n in range(count)]
    b.ptx(template, address, result=", ".join(names))
    place = len(b.lines)
    for name in names[which] if used == "before" else []:
        use(b, name, way)
    words, *operands = RELEASES[release]
    b.ptx(words, *operands)
    for name in names[which] if used == "behind" else []:
        use(b, name, way)
    events = [e for e in b.run(threads=32).events if e.kind in ("ld", "tcgen05.ld")]
    (state,) = {a.consumed for e in events if e.where[0].line == place for a in e.accesses}
    return state


@pytest.mark.parametrize("load", LOADS)
@pytest.mark.parametrize(("used", "state"), [("before", True), ("behind", False), ("never", None)])
def test_every_load_tells_whether_its_values_were_used(load: str, used: str, state: bool | None) -> None:
    assert consumed(load, "mbarrier.arrive", used) is state


@pytest.mark.parametrize("load", [name for name, (_, count) in LOADS.items() if count > 1])
def test_registers_of_one_instruction_come_together(load: str) -> None:
    for n in range(LOADS[load][1]):
        assert consumed(load, "mbarrier.arrive", "before", which=slice(n, n + 1)) is True
        assert consumed(load, "mbarrier.arrive", "behind", which=slice(n, n + 1)) is False


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("load", ["ld", "ldmatrix.x4", "tcgen05.ld.x4"])
def test_every_release_is_one(load: str, release: str) -> None:
    assert consumed(load, release, "before") is True
    assert consumed(load, release, "behind") is False


@pytest.mark.parametrize("way", ["arithmetic", "st", "add", "mma"])
@pytest.mark.parametrize("load", ["ld.v4", "ldmatrix.x4", "tcgen05.ld.x4"])
def test_every_use_is_one(load: str, way: str) -> None:
    assert consumed(load, "mbarrier.arrive", "before", way) is True
    assert consumed(load, "mbarrier.arrive", "behind", way) is False


KERNEL = r"""// arch: sm_90a
#include <cstdint>
__device__ __forceinline__ uint32_t smem(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void wait(uint64_t* bar, uint32_t parity)
{
    asm volatile("{ .reg .pred p;\n again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n @!p bra again; }"
                 :: "r"(smem(bar)), "r"(parity) : "memory");
}
struct Mixed { float a; short b; char d; double c; };
struct Pair { float a, b; };
struct Row { float v[4]; __device__ float sum() const { return v[0] + v[1] + v[2] + v[3]; } };
template <class T> __device__ T read(const T* p) { return *p; }
__global__ void __launch_bounds__(64) k(const float4* in, float* out, int steps)
{
    __shared__ alignas(128) float4 stage[2][32];
    __shared__ uint64_t full[2], empty[2];
    const int lane = threadIdx.x % 32;
    if (threadIdx.x == 0) {
        for (int s = 0; s < 2; ++s) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(smem(&full[s])) : "memory");
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 32;" :: "r"(smem(&empty[s])) : "memory");
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (threadIdx.x == 32) {
        for (int i = 0; i < steps; ++i) {
            wait(&empty[i & 1], (i / 2 & 1) ^ 1);
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 512;"
                 :: "r"(smem(&full[i & 1])) : "memory");
            asm volatile("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%0], [%1], 512, [%2];"
                 :: "r"(smem(stage[i & 1])), "l"(in + i * 32), "r"(smem(&full[i & 1])) : "memory");
        }
    } else if (threadIdx.x < 32) {
        float sum = 0;
        for (int i = 0; i < steps; ++i) {
            const float4* row = stage[i & 1];
            wait(&full[i & 1], i / 2 & 1);
            LOAD
            BEFORE
            asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(smem(&empty[i & 1])) : "memory");
            BEHIND
        }
        out[lane] = sum;
    }
}
void launch(const float4* in, float* out) { k<<<1, 64>>>(in, out, 6); }
"""
ASM = """
float4 f;
asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
             : "=f"(f.x), "=f"(f.y), "=f"(f.z), "=f"(f.w) : "r"(smem(&row[lane])));
"""
# What reads a stage, and what uses it.
SOURCES = {
    "scalar": ("const float f = row[lane].x;", "sum += f;"),
    "volatile": ("const float f = *(volatile const float*)&row[lane];", "sum += f;"),
    "vector": ("const float4 f = row[lane];", "sum += f.x + f.y + f.z + f.w;"),
    "three of four": ("const float4 f = row[lane];", "sum += f.x + f.y + f.z;"),
    "bits": (
        "const int4 f = reinterpret_cast<const int4*>(row)[lane];",
        "sum += __int_as_float(f.x ^ f.y ^ f.z ^ f.w);",
    ),
    "asm vector": (ASM, "sum += f.x + f.y + f.z + f.w;"),
    "one of an asm vector": (ASM, "sum += f.z;"),
    "members": ("const Mixed f = reinterpret_cast<const Mixed*>(row)[lane];", "sum += f.a + f.c;"),
    "the last member": ("const Mixed f = reinterpret_cast<const Mixed*>(row)[lane];", "sum += f.c;"),
    "method": ("const Row f = reinterpret_cast<const Row*>(row)[lane];", "sum += f.sum();"),
    "lambda": ("auto get = [&](int j) { return row[j].y; }; const float f = get(lane);", "sum += f;"),
    "template": ("const float f = read(&row[lane].z);", "sum = fmaf(f, f, sum);"),
    "registers": (
        "float f[4]; for (int j = 0; j < 4; ++j) f[j] = reinterpret_cast<const float*>(row)[lane + 32 * j];",
        "for (float v : f) sum += v;",
    ),
    "as a vector into an array": (
        "float f[4]; *reinterpret_cast<float4*>(f) = row[lane];",
        "sum += f[0] + f[1] + f[2] + f[3];",
    ),
    "shuffle": ("const float f = row[lane].x;", "sum = __shfl_xor_sync(0xffffffff, f, 1);"),
    "store": ("const float f = row[lane].x;", "out[i * 32 + lane] = f;"),
    "condition": ("const float f = row[lane].x;", "if (f > 0) sum += 1;"),
}


@pytest.mark.parametrize("name", SOURCES)
def test_sources_tell_whether_values_were_used(tmp_path: Path, name: str) -> None:
    reads, uses = SOURCES[name]
    path = tmp_path / "kernel.cu"
    levels = []
    for before, behind in ((uses, ""), ("", uses)):
        path.write_text(KERNEL.replace("LOAD", reads).replace("BEFORE", before).replace("BEHIND", behind))
        result = with_deep_stack(lambda: audit_file(str(path), AuditOptions(arches=("sm_90a",), strict=True)))
        levels += [(f.code, f.level) for f in result.findings]
    assert levels == [("BW210", Level.NOTE), ("BW210", Level.WARNING)]
