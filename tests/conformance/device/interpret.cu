// Runs small synchronisation programs and prints how each run ended; see program.cuh for the input and the output.
// Usage: interpret FILE RUNS.
// Waits give up after a while, so a program that hangs at an mbarrier ends; one that hangs elsewhere is left to the caller.
#include "program.cuh"

constexpr unsigned long long Patience = 3'000'000;  // nanoseconds

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

int main(int, char** arguments)
{
    const std::vector<Program> programs = read_programs(arguments[1]);
    const int runs = atoi(arguments[2]);
    Program* on_device;
    Ending* endings;
    char* in;
    check(cudaMalloc(&on_device, programs.size() * sizeof(Program)));
    check(cudaMalloc(&endings, programs.size() * sizeof(Ending)));
    check(cudaMalloc(&in, 4096));
    check(cudaMemset(in, 1, 4096));
    check(cudaMemcpy(on_device, programs.data(), programs.size() * sizeof(Program), cudaMemcpyHostToDevice));
    Tally tally;
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
        tally.add(programs, now);
    }
    tally.print();
}
