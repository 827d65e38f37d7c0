// The operations of the programs about groups, as their generated kernels call them. A block is one run of a program.
// Each kernel gets ranges (lowest and highest value of each look, by run), destinations in global memory and sources.
#pragma once
#include <algorithm>
#include <climits>
#include <vector>

#include "program.cuh"

constexpr int Bytes = 8192, Stores = 6, Dim = 64, Repeat = 8;  // of a slot; destinations; columns and repeats of an MMA

struct Range { int lo, hi; };

struct Run {
    Range* looks;
    char* dest;
    const char* in;
    unsigned s, slow;
    int lane, warp;

    __device__ Run(Range* looks, int count, char* dest, const char* in)
        : looks(looks + blockIdx.x * count), dest(dest + blockIdx.x * Stores * Bytes), in(in),
          s((blockIdx.x * 2654435761u) ^ (threadIdx.x / 32 * 31 + 7)), slow(blockIdx.x / 6 % 4 == threadIdx.x / 32),
          lane(threadIdx.x % 32), warp(threadIdx.x / 32)
    {
        dawdle(blockIdx.x, s, slow, true);
    }

    __device__ void pause()
    {
        __syncwarp();
        dawdle(blockIdx.x, s, slow, false);
    }

    __device__ void note(int k, int lo, int hi)
    {
        atomicMin(&looks[k].lo, lo);
        atomicMax(&looks[k].hi, hi);
    }

    __device__ void write(char* slot, unsigned v)
    {
        for (int i = lane; i < Bytes / 16; i += 32)
            asm volatile("st.shared.v4.b32 [%0], {%1, %1, %1, %1};" :: "r"(address(slot + 16 * i)), "r"(v) : "memory");
    }

    __device__ void fence() { asm volatile("fence.proxy.async;" ::: "memory"); }

    __device__ void store(int to, const char* slot)
    {
        if (lane == 0)
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                         :: "l"(dest + to * Bytes), "r"(address(slot)), "r"(Bytes) : "memory");
    }

    __device__ void commit() { if (lane == 0) asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

    template <int N> __device__ void wait()
    {
        if (lane == 0) asm volatile("cp.async.bulk.wait_group %0;" :: "n"(N) : "memory");
    }

    template <int N> __device__ void wait_read()
    {
        if (lane == 0) asm volatile("cp.async.bulk.wait_group.read %0;" :: "n"(N) : "memory");
    }

    __device__ void fetch(char* slot, int v)
    {
        for (int i = lane; i < Bytes / 16; i += 32)
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                         :: "r"(address(slot + 16 * i)), "l"(in + v * Bytes + 16 * i) : "memory");
    }

    __device__ void fetch_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

    template <int N> __device__ void fetch_wait() { asm volatile("cp.async.wait_group %0;" :: "n"(N) : "memory"); }

    __device__ void look(int k, int from)
    {
        int lo = INT_MAX, hi = INT_MIN;
        for (int i = lane; i < Bytes / 16; i += 32) {
            int a, b, c, d;
            asm volatile("ld.volatile.global.v4.b32 {%0, %1, %2, %3}, [%4];"
                         : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(dest + from * Bytes + 16 * i) : "memory");
            lo = min(lo, min(min(a, b), min(c, d)));
            hi = max(hi, max(max(a, b), max(c, d)));
        }
        note(k, lo, hi);
    }

    __device__ void see(int k, const char* slot)
    {
        int lo = INT_MAX, hi = INT_MIN;
        for (int i = lane; i < Bytes / 16; i += 32) {
            int a, b, c, d;
            asm volatile("ld.volatile.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                         : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(address(slot + 16 * i)) : "memory");
            lo = min(lo, min(min(a, b), min(c, d)));
            hi = max(hi, max(max(a, b), max(c, d)));
        }
        note(k, lo, hi);
    }

    // A tile of 64 x 16 halves, all 2 to the power v, written by the warpgroup.
    __device__ void fill(char* tile, int v)
    {
        const unsigned two = (15u + v) << 10 | (15u + v) << 26;
        asm volatile("st.shared.v4.b32 [%0], {%1, %1, %1, %1};"
                     :: "r"(address(tile + 16 * threadIdx.x)), "r"(two) : "memory");
    }
};

// K-major without swizzle: core matrices of 8 rows lie 128 bytes apart, the two of a row 1,024 bytes.
__device__ inline unsigned long long descriptor(const char* tile)
{
    return (address(tile) >> 4 & 0x3fff) | 1024ull >> 4 << 16 | 128ull >> 4 << 32;
}

#define R8(a, i) "+f"(a[i]), "+f"(a[i + 1]), "+f"(a[i + 2]), "+f"(a[i + 3]), "+f"(a[i + 4]), "+f"(a[i + 5]), \
                 "+f"(a[i + 6]), "+f"(a[i + 7])

__device__ inline void mma(float (&a)[32], const char* tile, const char* ones)
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int i = 0; i < Repeat; i++)
        asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %34, 0;\n\t"
                     "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
                     "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, "
                     "%21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, p, 1, 1, 0, 0;\n\t}"
                     : R8(a, 0), R8(a, 8), R8(a, 16), R8(a, 24)
                     : "l"(descriptor(tile)), "l"(descriptor(ones)), "r"(i) : "memory");
}

__device__ inline void mma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

template <int N> __device__ inline void mma_wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" :: "n"(N) : "memory"); }

__device__ inline void result(Run& run, int k, float (&a)[32])
{
    int lo = INT_MAX, hi = INT_MIN;
#pragma unroll
    for (int i = 0; i < 32; i++) {
        lo = min(lo, static_cast<int>(a[i]));
        hi = max(hi, static_cast<int>(a[i]));
    }
    run.note(k, lo, hi);
}

// What the destinations hold in the end.
__global__ void finals(Range* looks, int count, int first, char* dest)
{
    for (int d = 0; first + d < count; d++) {
        int lo = INT_MAX, hi = INT_MIN;
        const int* from = reinterpret_cast<const int*>(dest + (blockIdx.x * Stores + d) * Bytes);
        for (int i = threadIdx.x; i < Bytes / 4; i += blockDim.x) {
            lo = min(lo, from[i]);
            hi = max(hi, from[i]);
        }
        atomicMin(&looks[blockIdx.x * count + first + d].lo, lo);
        atomicMax(&looks[blockIdx.x * count + first + d].hi, hi);
    }
}

// looks: values that the program itself sees; stores: destinations whose last value is looked at; unit: of an MMA's result
struct Entry {
    const char* id;
    void (*kernel)(Range*, int, char*, const char*);
    int threads, looks, stores, unit;
};

// Runs every program and prints for each distinct set of values: its name, how often, and the values, -1: not all equal.
static void measure(const std::vector<Entry>& entries, int runs)
{
    Range* looks;
    char *dest, *in;
    const int most = 32;
    check(cudaMalloc(&looks, runs * most * sizeof(Range)));
    check(cudaMalloc(&dest, size_t(runs) * Stores * Bytes));
    check(cudaMalloc(&in, 64 * Bytes));
    std::vector<int> values(64 * Bytes / 4);
    for (size_t i = 0; i < values.size(); i++) values[i] = i / (Bytes / 4);
    check(cudaMemcpy(in, values.data(), 64 * Bytes, cudaMemcpyHostToDevice));
    std::vector<Range> now(runs * most);
    for (const Entry& e : entries) {
        const int count = e.looks + e.stores;
        std::fill(now.begin(), now.end(), Range{INT_MAX, INT_MIN});
        check(cudaMemcpy(looks, now.data(), runs * count * sizeof(Range), cudaMemcpyHostToDevice));
        check(cudaMemset(dest, 0, size_t(runs) * Stores * Bytes));
        e.kernel<<<runs, e.threads>>>(looks, count, dest, in);
        finals<<<runs, 128>>>(looks, count, e.looks, dest);
        check(cudaDeviceSynchronize());
        check(cudaMemcpy(now.data(), looks, runs * count * sizeof(Range), cudaMemcpyDeviceToHost));
        std::map<std::vector<int>, int> seen;
        for (int run = 0; run < runs; run++) {
            std::vector<int> key;
            for (int k = 0; k < count; k++) {
                const Range r = now[run * count + k];
                key.push_back(r.lo != r.hi || r.lo % e.unit ? -1 : r.lo / e.unit);
            }
            seen[key]++;
        }
        for (const auto& [key, times] : seen) {
            printf("%s %d", e.id, times);
            for (int v : key) printf(" %d", v);
            printf("\n");
        }
    }
}
