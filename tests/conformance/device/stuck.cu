// Runs programs with CTA barriers that may hang, one CTA each; see program.cuh for the input and the output.
// Usage: stuck FILE RUNS.
// A warp more than the program has watches: after a while it notes that time is up and arrives at the named barriers in the
// place of whoever does not come, so that the stuck warps get out and the kernel ends. What a warp leaves only then, it was
// stuck at. Barriers of all threads of the CTA need no help: there the warps that are stuck at an mbarrier give up and end,
// and threads that have ended are not waited for.
#include "program.cuh"

constexpr unsigned long long Patience = 1'500'000;  // nanoseconds

__global__ void __launch_bounds__(32 * (MaxWarps + 1)) stuck(const Program* programs, Ending* endings, int run)
{
    __shared__ alignas(8) unsigned long long bars[MaxBars];
    __shared__ volatile int place[MaxWarps], over_time;
    __shared__ int gone;
    const int number = blockIdx.x, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const Program& p = programs[number];
    if (threadIdx.x == 0) {
        for (int b = 0; b < p.bars; b++)
            asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(address(&bars[b])), "r"(p.init[0][b]) : "memory");
        over_time = gone = 0;
        for (int w = 0; w < MaxWarps; w++) place[w] = -1;
    }
    __syncthreads();
    const unsigned long long start = clock_ns();
    if (warp == MaxWarps) {
        if (p.whole) return;
        while (clock_ns() - start < Patience)
            if (atomicAdd(&gone, 0) == 32 * p.warps) return;
        if (lane == 0) over_time = 1;
        __syncwarp();
        for (int w = 0; atomicAdd(&gone, 0) < 32 * p.warps; w = (w + 1) % p.warps) {
            const int at = __shfl_sync(~0u, place[w], 0);
            if (at < 0) continue;
            const Op o = p.code[0][w][at];
            asm volatile("barrier.arrive %0, %1;" :: "r"(o.a), "r"(32 * o.b) : "memory");
            for (unsigned long long t = clock_ns(); clock_ns() - t < 20000;) {}
        }
        return;
    }
    if (warp >= p.warps) return;
    unsigned s = (run * 2654435761u) ^ (number * 40503u + warp * 31 + 7);
    const unsigned slow = (run / 6 + number) % 4 == warp;
    unsigned tests = 0;
    int at = 0, tested = 0;
    const int n = p.count[0][warp];
    dawdle(run, s, slow, true);
    for (; at < n; at++) {
        const Op o = p.code[0][warp][at];
        const unsigned bar = address(&bars[o.bar]);
        bool ok = true;
        __syncwarp();
        switch (o.kind) {
        case Arrive:
            if (lane < o.b)
                asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0], %1;" :: "r"(bar), "r"(o.a) : "memory");
            break;
        case Wait:
            if (lane == 0) {
                while (!(ok = over(bar, o.a)) && !over_time && clock_ns() - start < Patience) {}
                if (!ok && p.whole) over_time = 1;
            }
            ok = __shfl_sync(~0u, ok, 0);
            break;
        case Test:
            if (lane == 0 && over(bar, o.a)) tests |= 1u << tested;
            tested++;
            break;
        case Meet:
            if (lane == 0) place[warp] = at;
            __syncwarp();
            asm volatile("barrier.sync %0, %1;" :: "r"(o.a), "r"(32 * o.b) : "memory");
            if (lane == 0) {
                place[warp] = -1;
                ok = !over_time;
            }
            ok = __shfl_sync(~0u, ok, 0);
            break;
        case Signal:
            asm volatile("barrier.arrive %0, %1;" :: "r"(o.a), "r"(32 * o.b) : "memory");
            break;
        default:
            asm volatile("barrier.sync 0;" ::: "memory");
            ok = __shfl_sync(~0u, !over_time, 0);
        }
        __syncwarp();
        if (!ok) break;
        dawdle(run, s, slow, false);
    }
    Ending& e = endings[number];
    int last = 0;
    if (lane == 0) {
        e.stop[0][warp] = at;
        e.tests[0][warp] = tests;
    }
    __syncwarp();
    last = atomicAdd(&gone, 1) == 32 * p.warps - 1;
    if (last) {
        for (int b = 0; b < p.bars; b++) e.parity[0][b] = over(address(&bars[b]), 0);
    }
}

int main(int, char** arguments)
{
    const std::vector<Program> programs = read_programs(arguments[1]);
    const int runs = atoi(arguments[2]);
    Program* on_device;
    Ending* endings;
    check(cudaMalloc(&on_device, programs.size() * sizeof(Program)));
    check(cudaMalloc(&endings, programs.size() * sizeof(Ending)));
    check(cudaMemcpy(on_device, programs.data(), programs.size() * sizeof(Program), cudaMemcpyHostToDevice));
    Tally tally;
    std::vector<Ending> now(programs.size());
    for (int run = 0; run < runs; run++) {
        check(cudaMemset(endings, 0, programs.size() * sizeof(Ending)));
        stuck<<<programs.size(), 32 * (MaxWarps + 1)>>>(on_device, endings, run);
        check(cudaDeviceSynchronize());
        check(cudaMemcpy(now.data(), endings, now.size() * sizeof(Ending), cudaMemcpyDeviceToHost));
        tally.add(programs, now);
    }
    tally.print();
}
