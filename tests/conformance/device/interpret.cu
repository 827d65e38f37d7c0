// Runs small synchronisation programs and prints how each run ended. Input (text): number of programs, then for each
//   ctas warps bars, init counts by CTA, and by warp of the cluster the number of operations and four ints an operation.
// Usage: interpret FILE RUNS. Output: one line for each program and distinct ending:
//   program times  then for each warp its stop and test bits, then for each barrier the parity of its open phase
// Waits give up after a while, so a program that hangs at an mbarrier ends; one that hangs elsewhere is left to the caller.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>

enum Kind { Arrive, ArriveTx, ExpectTx, Copy, RemoteArrive, Wait, Test, Drop, CompleteTx, Multicast, Push, AsyncArrive,
            Meet, Signal, Cluster };

constexpr int MaxWarps = 4, MaxBars = 4, MaxOps = 40, Slots = 16, SlotBytes = 256;
constexpr unsigned long long Patience = 3'000'000;  // nanoseconds

struct Op { int kind, bar, a, b; };
struct Program {
    int ctas, warps, bars, meets;  // meets: cluster barriers, the same number in every warp
    int init[2][MaxBars];
    int count[2][MaxWarps];
    Op code[2][MaxWarps][MaxOps];
};
struct Ending {
    int stop[2][MaxWarps];
    unsigned tests[2][MaxWarps];
    int parity[2][MaxBars];
};

__device__ unsigned address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

__device__ unsigned long long clock_ns()
{
    unsigned long long t;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
    return t;
}

__device__ unsigned rank_in_cluster()
{
    unsigned r;
    asm volatile("mov.u32 %0, %cluster_ctarank;" : "=r"(r));
    return r;
}

__device__ void meet_cluster()
{
    asm volatile("barrier.cluster.arrive.release;\n\tbarrier.cluster.wait.acquire;" ::: "memory");
}

__device__ unsigned in_peer(unsigned local, unsigned rank)
{
    unsigned remote;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(local), "r"(rank));
    return remote;
}

__device__ bool over(unsigned bar, int parity)
{
    unsigned yes;
    asm volatile("{\n\t.reg .pred p;\n\tmbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
                 "selp.b32 %0, 1, 0, p;\n\t}" : "=r"(yes) : "r"(bar), "r"(parity) : "memory");
    return yes;
}

__device__ unsigned draw(unsigned& s)
{
    s ^= s << 13; s ^= s >> 17; s ^= s << 5;
    return s;
}

// How a run is slowed: by its number, none, a little everywhere, a lot at times, a slow warp, or late starts.
__device__ void dawdle(int run, unsigned& s, unsigned slow, bool starting)
{
    unsigned cycles = 0;
    switch (run % 6) {
    case 0: return;
    case 1: cycles = draw(s) % 300; break;
    case 2: cycles = draw(s) % 4 == 0 ? draw(s) % 4000 : 0; break;
    case 3: cycles = slow ? 2500 : 0; break;
    case 4: cycles = starting ? draw(s) % 20000 : 0; break;
    default: cycles = draw(s) % 1500; break;
    }
    long long t = clock64();
    while (clock64() - t < cycles) {}
}

__global__ void __launch_bounds__(128) interpret(const Program* programs, Ending* endings, const char* in, int run)
{
    __shared__ alignas(128) char slot[Slots][SlotBytes];
    __shared__ alignas(128) char small[MaxWarps][32][16];
    __shared__ alignas(8) unsigned long long bars[MaxBars];
    const unsigned rank = rank_in_cluster();
    const int number = blockIdx.x / 2, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const Program& p = programs[number];
    const bool present = rank < p.ctas && warp < p.warps;
    if (threadIdx.x == 0) {
        for (int b = 0; b < MaxBars; b++)
            asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(address(&bars[b])),
                         "r"(b < p.bars && rank < p.ctas ? p.init[rank][b] : 1) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    meet_cluster();
    unsigned s = (run * 2654435761u) ^ (number * 40503u + rank * 97 + warp * 31 + 7);
    const unsigned slow = (run / 6 + number) % 8 == rank * 4 + warp;
    unsigned tests = 0;
    int at = 0, tested = 0;
    const int n = present ? p.count[rank][warp] : 0;
    for (int i = 0; i < p.meets && !present; i++) meet_cluster();
    dawdle(run, s, slow, true);
    for (; at < n; at++) {
        const Op o = p.code[rank][warp][at];
        const unsigned bar = address(&bars[o.bar]);
        bool ok = true;
        __syncwarp();
        switch (o.kind) {
        case Arrive:
            if (lane < o.b)
                asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0], %1;" :: "r"(bar), "r"(o.a) : "memory");
            break;
        case ArriveTx:
            if (lane == 0)
                asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(bar), "r"(o.a) : "memory");
            break;
        case ExpectTx:
            if (lane == 0)
                asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;"
                             :: "r"(bar), "r"(o.a) : "memory");
            break;
        case CompleteTx:
            if (lane == 0)
                asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], %1;"
                             :: "r"(bar), "r"(o.a) : "memory");
            break;
        case Drop:
            if (lane == 0)
                asm volatile("mbarrier.arrive_drop.shared::cta.b64 _, [%0], %1;" :: "r"(bar), "r"(o.a) : "memory");
            break;
        case Copy:
            if (lane == 0)
                asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                             :: "r"(address(slot[o.b])), "l"(in), "r"(o.a), "r"(bar) : "memory");
            break;
        case Multicast:
            if (lane == 0)
                asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                             "[%0], [%1], %2, [%3], %4;"
                             :: "r"(address(slot[o.b & 255])), "l"(in), "r"(o.a), "r"(bar),
                                "h"(static_cast<unsigned short>(o.b >> 8)) : "memory");
            break;
        case Push:
            if (lane == 0)
                asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "
                             "[%0], [%1], %2, [%3];"
                             :: "r"(in_peer(address(slot[o.b]), rank ^ 1)), "r"(address(slot[Slots - 1])), "r"(o.a),
                                "r"(in_peer(bar, rank ^ 1)) : "memory");
            break;
        case RemoteArrive:
            if (lane == 0)
                asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0], %1;"
                             :: "r"(in_peer(bar, o.b)), "r"(o.a) : "memory");
            break;
        case AsyncArrive:
            if (lane < o.a) {
                asm volatile("cp.async.ca.shared.global [%0], [%1], 16;"
                             :: "r"(address(small[warp][lane])), "l"(in + 16 * lane) : "memory");
                if (o.b)
                    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" :: "r"(bar) : "memory");
                else
                    asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" :: "r"(bar) : "memory");
            }
            break;
        case Wait:
            if (lane == 0)
                for (unsigned long long t = clock_ns(); !(ok = over(bar, o.a)) && clock_ns() - t < Patience;) {}
            ok = __shfl_sync(~0u, ok, 0);
            break;
        case Test:
            if (lane == 0 && over(bar, o.a)) tests |= 1u << tested;
            tested++;
            break;
        case Meet:
            asm volatile("barrier.sync %0, %1;" :: "r"(o.a), "r"(32 * o.b) : "memory");
            break;
        case Signal:
            asm volatile("barrier.arrive %0, %1;" :: "r"(o.a), "r"(32 * o.b) : "memory");
            break;
        default:
            meet_cluster();
        }
        __syncwarp();
        if (!ok) break;
        dawdle(run, s, slow, false);
    }
    Ending& e = endings[number];
    if (lane == 0 && rank < 2) {
        e.stop[rank][warp] = at;
        e.tests[rank][warp] = tests;
    }
    __syncthreads();
    meet_cluster();
    for (unsigned long long t = clock_ns(); clock_ns() - t < 20000;) {}
    if (threadIdx.x < MaxBars) e.parity[rank][threadIdx.x] = over(address(&bars[threadIdx.x]), 0);
    meet_cluster();
}

static int number(FILE* f)
{
    int n;
    if (fscanf(f, "%d", &n) != 1) { fprintf(stderr, "input ends early\n"); exit(2); }
    return n;
}

static void check(cudaError_t e)
{
    if (e != cudaSuccess) { printf("error %s\n", cudaGetErrorName(e)); fflush(stdout); _Exit(3); }
}

int main(int, char** arguments)
{
    FILE* f = fopen(arguments[1], "r");
    if (!f) return 2;
    std::vector<Program> programs(number(f));
    for (Program& p : programs) {
        p = {};
        p.ctas = number(f); p.warps = number(f); p.bars = number(f);
        for (int c = 0; c < p.ctas; c++)
            for (int b = 0; b < p.bars; b++) p.init[c][b] = number(f);
        for (int c = 0; c < p.ctas; c++)
            for (int w = 0; w < p.warps; w++) {
                p.count[c][w] = number(f);
                for (int i = 0; i < p.count[c][w]; i++) {
                    Op& o = p.code[c][w][i];
                    o.kind = number(f); o.bar = number(f); o.a = number(f); o.b = number(f);
                    p.meets += o.kind == Cluster && c == 0 && w == 0;
                }
            }
    }
    const int runs = atoi(arguments[2]);
    Program* on_device;
    Ending* endings;
    char* in;
    check(cudaMalloc(&on_device, programs.size() * sizeof(Program)));
    check(cudaMalloc(&endings, programs.size() * sizeof(Ending)));
    check(cudaMalloc(&in, 4096));
    check(cudaMemset(in, 1, 4096));
    check(cudaMemcpy(on_device, programs.data(), programs.size() * sizeof(Program), cudaMemcpyHostToDevice));
    std::map<std::vector<int>, int> seen;
    std::vector<Ending> now(programs.size());
    for (int run = 0; run < runs; run++) {
        check(cudaMemset(endings, 0, programs.size() * sizeof(Ending)));
        cudaLaunchConfig_t config = {};
        config.gridDim = dim3(2 * programs.size());
        config.blockDim = dim3(128);
        cudaLaunchAttribute cluster;
        cluster.id = cudaLaunchAttributeClusterDimension;
        cluster.val.clusterDim = {2, 1, 1};
        config.attrs = &cluster;
        config.numAttrs = 1;
        check(cudaLaunchKernelEx(&config, interpret, static_cast<const Program*>(on_device), endings,
                                 static_cast<const char*>(in), run));
        check(cudaDeviceSynchronize());
        check(cudaMemcpy(now.data(), endings, now.size() * sizeof(Ending), cudaMemcpyDeviceToHost));
        for (size_t k = 0; k < programs.size(); k++) {
            const Program& p = programs[k];
            std::vector<int> key = {static_cast<int>(k)};
            for (int c = 0; c < p.ctas; c++)
                for (int w = 0; w < p.warps; w++) {
                    key.push_back(now[k].stop[c][w]);
                    key.push_back(static_cast<int>(now[k].tests[c][w]));
                }
            for (int c = 0; c < p.ctas; c++)
                for (int b = 0; b < p.bars; b++) key.push_back(now[k].parity[c][b]);
            seen[key]++;
        }
    }
    for (const auto& [key, times] : seen) {
        printf("%d %d", key[0], times);
        for (size_t i = 1; i < key.size(); i++) printf(" %d", key[i]);
        printf("\n");
    }
}
