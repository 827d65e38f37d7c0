// What the interpreters of small synchronisation programs share: the programs, their input and output, and delays.
// Input (text): number of programs, then for each
//   ctas warps bars, init counts by CTA, and by warp of the cluster the number of operations and four ints an operation.
// Output: one line for each program and distinct ending:
//   program times  then for each warp its stop and test bits, then for each barrier the parity of its open phase
#pragma once
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>

enum Kind { Arrive, ArriveTx, ExpectTx, Copy, RemoteArrive, Wait, Test, Drop, CompleteTx, Multicast, Push, AsyncArrive,
            Meet, Signal, Cluster, Whole };

constexpr int MaxWarps = 4, MaxBars = 4, MaxOps = 40, Slots = 16, SlotBytes = 256;

struct Op { int kind, bar, a, b; };
struct Program {
    int ctas, warps, bars;
    int meets;   // cluster barriers, the same number in every warp
    bool whole;  // has barriers of all threads of the CTA that have not ended
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

// The programs of a file.
static std::vector<Program> read_programs(const char* path)
{
    FILE* f = fopen(path, "r");
    if (!f) exit(2);
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
                    p.whole |= o.kind == Whole;
                }
            }
    }
    fclose(f);
    return programs;
}

// How often each program ended in which way.
struct Tally {
    std::map<std::vector<int>, int> seen;

    void add(const std::vector<Program>& programs, const std::vector<Ending>& now)
    {
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

    void print() const
    {
        for (const auto& [key, times] : seen) {
            printf("%d %d", key[0], times);
            for (size_t i = 1; i < key.size(); i++) printf(" %d", key[i]);
            printf("\n");
        }
    }
};
