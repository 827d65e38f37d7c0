"""Asm statements, shared memory, places and conditions of generated device code."""

from __future__ import annotations

from auditor.values import OPAQUE, SHARED_WINDOW, Vec
from tests.unit.fake_strand import OUTPUT, FakeStrand, kernel_named, program_of, run_kernel

SHARED = SHARED_WINDOW + 0x400

WRAPPERS = """
#include <cstdint>
__device__ inline uint32_t saddr(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ inline void arrive(uint64_t *b) { asm volatile("mbarrier.arrive.shared.b64 _, [%0];" :: "r"(saddr(b))); }
__device__ inline void wait(uint64_t *bar, uint32_t parity)
{
  asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra W; }"
               :: "r"(saddr(bar)), "r"(parity));
}
"""


def calls(strand: FakeStrand, opcode: str) -> list[tuple[object, ...]]:
    return [inputs for text, inputs in strand.asm_calls if text.startswith(opcode)]


def test_addresses_in_a_shared_struct() -> None:
    strand = run_kernel(
        WRAPPERS
        + """
template <int N> struct alignas(128) Ring { float tile[N][32]; uint64_t full[N], empty[N]; uint32_t base; };
__global__ void k(int n) {
  __shared__ Ring<4> ring;
  for (int s = 0; s < 4; ++s) arrive(&ring.full[s]);
  for (int i = 0; i < n; ++i) arrive(ring.empty + i % 4);
  ring.base = 7;
  arrive((uint64_t *)&ring.tile[ring.base - 5][n]);
}
int main() { k<<<1, 1>>>(3); }
""",
        3,
    )
    low = SHARED & 0xFFFF_FFFF
    assert [a for (a,) in calls(strand, "mbarrier.arrive")] == [
        *(low + 512 + 8 * s for s in range(4)),
        *(low + 544 + 8 * s for s in range(3)),
        low + 2 * 128 + 12,
    ]
    assert strand.memory[SHARED + 576] == 7


def test_shared_variables_and_their_layout() -> None:
    program = program_of(
        WRAPPERS
        + """
struct Bars { uint64_t full[2]; uint64_t empty[2]; };
template <int N> __device__ void helper() { __shared__ alignas(16) uint64_t mine[N]; arrive(mine); }
__global__ void k() {
  extern __shared__ __align__(1024) uint8_t dyn[];
  __shared__ Bars bars;
  helper<2>(); helper<3>(); arrive(&bars.full[0]); arrive((uint64_t *)dyn);
}
int main() { k<<<1, 1>>>(); }
"""
    )
    shared = {(v.name, v.size): v for v in kernel_named(program, "k").shared}
    assert set(shared) == {("dyn", 0), ("bars", 32), ("mine", 16), ("mine", 24)}
    assert shared["dyn", 0].dynamic and shared["dyn", 0].align == 1024
    assert shared["mine", 16].key != shared["mine", 24].key and shared["mine", 16].align == 16
    layout = shared["bars", 32].layout
    assert layout is not None and layout.path(24) == ".empty[1]"


def test_asm_operands() -> None:
    strand = run_kernel(
        """
#include <cstdint>
template <int G> __device__ void set(uint32_t (&r)[2], uint32_t &x, bool flag) {
  asm volatile("foo.cta_group::%4 %0, %1, %3;" : "=r"(r[1]), "+r"(x) : "r"(r[0]), "r"(uint32_t(flag)), "n"(G * 2));
}
__global__ void k(uint64_t *out, int n) {
  uint32_t r[2] = {5, 6}; uint32_t x = 9; int y;
  set<1>(r, x, n > 2);
  asm volatile("mov.u32 %0, %1;" : "=r"(y) : "r"(0xfffffffe));
  out[0] = y + 10;
}
int main() { k<<<1, 1>>>(nullptr, 3); }
""",
        OUTPUT,
        3,
    )
    text, inputs = strand.asm_calls[0]
    assert text.startswith("foo.cta_group::2") and inputs == (5, 1, 2, 9)
    assert strand.memory[OUTPUT] == 8


def test_waiting_functions_are_generators_and_others_are_not() -> None:
    program = program_of(
        WRAPPERS
        + """
__device__ void deep(uint64_t *b, int n) { if (n) { deep(b, n - 1); wait(b, 0); } }
__global__ void waits(int n) { __shared__ uint64_t b[2]; deep(b, n); }
__global__ void arrives() { __shared__ uint64_t b[2]; arrive(b); }
int main() { waits<<<1, 1>>>(2); arrives<<<1, 1>>>(); }
"""
    )
    strand = FakeStrand(program)
    strand.run(kernel_named(program, "waits").entry, 2)
    assert len(strand.asm_calls) == 2
    assert "yield from" not in program.python.split("def ")[-1]


def test_each_operation_has_its_place() -> None:
    source = WRAPPERS + "\n".join(
        [
            "#define ARRIVE(b) arrive(b)",
            "__global__ void k(int n) {",
            "  __shared__ uint64_t b[2];",
            "  if (n > 1 &&",
            "      b[1])",
            "    ARRIVE(&b[0]);",
            "}",
            "int main() { k<<<1, 1>>>(2); }",
        ]
    )
    program = program_of(source)
    first = source.splitlines().index("#define ARRIVE(b) arrive(b)") + 1
    places: dict[str, int] = {}
    for text, loc in zip(program.python.splitlines(), program.line_locs[1:], strict=True):
        if loc is not None:
            for word in ("S.load", "_arrive(S", "if not", "if (n"):
                if word in text and loc.line > first:
                    places.setdefault(word, loc.line - first)
    assert places["S.load"] == 4
    assert places["_arrive(S"] == 5


def test_conditions_that_differ_between_lanes() -> None:
    source = """
#include <cstdint>
__global__ void k(uint64_t *out) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  out[0] = warp == 0 && lane < 4 ? 11 : 22;
  out[1] = (lane & 1 ? lane : 0) + warp;
  if (lane == 0) out[2] = 1; else out[2] = 2;
}
int main() { k<<<1, 1>>>(nullptr); }
"""
    lanes = Vec(tuple(range(32)))
    program = program_of(source)
    strand = FakeStrand(program, lanes)
    strand.run(program.kernels[0].entry, OUTPUT)
    first, second = strand.memory[OUTPUT], strand.memory[OUTPUT + 8]
    assert isinstance(first, Vec) and first.v == (11,) * 4 + (22,) * 28
    assert isinstance(second, Vec) and second.v[:4] == (0, 1, 0, 3)
    assert len(strand.conditions) == 1  # only the branch forks


def test_arrays_with_an_index_a_lane() -> None:
    strand = run_kernel(
        """
#include <cstdint>
__global__ void k(uint64_t *out) {
  int table[4] = {10, 20, 30, 40};
  int lane = threadIdx.x;
  out[0] = table[lane & 3];
  table[lane & 1] = 7;
  out[1] = table[0] + table[1];
}
int main() { k<<<1, 1>>>(nullptr); }
""",
        OUTPUT,
        tid=Vec(tuple(range(32))),
    )
    assert strand.memory[OUTPUT].v[:5] == (10, 20, 30, 40, 10)
    assert strand.memory[OUTPUT + 8].v[:2] == (27, 17)


def test_objects_in_memory() -> None:
    strand = run_kernel(
        """
#include <cstdint>
struct Item { int a; struct { unsigned char b; short c; } in; uint64_t d[2]; };
__global__ void k(Item *p, const Item by_value, int n) {
  __shared__ Item items[3];
  Item local = p[1];
  local.d[1] += by_value.in.c;
  items[n] = local;
  Item &r = items[n];
  r.in.b = 300;
  ++r.a;
  p->d[0] = r.d[1] + r.in.b;
}
int main() { Item x; k<<<1, 1>>>(nullptr, x, 1); }
""",
        OUTPUT,
        1 << 50,
        2,
    )
    assert strand.memory[SHARED + 2 * 24 + 4] == 44
    assert strand.memory[SHARED + 2 * 24] == 1
    assert strand.memory[OUTPUT + 8] == 44


def test_what_cannot_be_translated_is_said_and_does_not_stop() -> None:
    program = program_of(
        """
__device__ int mystery(int);
__global__ void k(int *out, int n) {
again:
  out[0] = mystery(n);
  if (n < 0) goto again;
}
int main() { k<<<1, 1>>>(nullptr, 1); }
"""
    )
    unanalysed = [n.message for n in program.notes if n.kind == "unanalysed"]
    assert unanalysed == ["mystery is defined in another file", "goto"]
    strand = FakeStrand(program)
    strand.run(program.kernels[0].entry, OUTPUT, 1)
    assert strand.opaque_calls == [("mystery", (1,))]
    assert strand.memory[OUTPUT] is OPAQUE


def test_device_variables_and_constants() -> None:
    program = program_of(
        """
#include <cstdint>
__device__ int counter; __constant__ int limits[4];
constexpr uint32_t table[3] = {4, 5, 6}; static constexpr int SIZE = 3;
__global__ void k(uint64_t *out, int n) { counter += n; out[0] = table[n] + limits[n] + SIZE; }
int main() { k<<<1, 1>>>(nullptr, 2); }
"""
    )
    assert program.global_vars == {"counter": ("counter", 4), "limits": ("limits", 16)}
    strand = FakeStrand(program)
    strand.run(program.kernels[0].entry, OUTPUT, 2)
    assert strand.memory[OUTPUT] == 9 and strand.memory[strand.global_addr("counter")] == 2


def test_kernel_parameters() -> None:
    program = program_of(
        """
#include <cuda.h>
struct Args { CUtensorMap maps[2]; int n; };
__global__ void __launch_bounds__(128, 2)
k(const __grid_constant__ CUtensorMap m, Args a, float *p, unsigned n, float f) {}
int main() { CUtensorMap m; Args a; k<<<1, 128>>>(m, a, nullptr, 1, 2.f); }
"""
    )
    kernel = program.kernels[0]
    kinds = [(p.name, p.kind, p.size, p.is_tensor_map, p.grid_constant) for p in kernel.params]
    assert kinds == [
        ("m", "object", 128, True, True),
        ("a", "object", 384, True, False),
        ("p", "pointer", 8, False, False),
        ("n", "int", 4, False, False),
        ("f", "float", 4, False, False),
    ]
    assert (kernel.max_threads, kernel.min_blocks, kernel.empty) == (128, 2, True)
