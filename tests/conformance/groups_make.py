"""Makes the programs about groups, writes them as CUDA kernels, and joins them with what a GPU did.

    python -m tests.conformance.groups_make make FOLDER        programs.json and, in batches, groups-N.cu
    python -m tests.conformance.groups_make label FOLDER       results-N.txt -> groups.jsonl.gz

In between, ``device/measure_groups.sh FOLDER`` builds and runs the batches on a Hopper GPU. Only what is defined is
looked at: accumulators after a wait that covers them. Reads that race with a write are made on purpose: what they may
return is one value or the other.
"""

from __future__ import annotations

import gzip
import json
import random
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.conformance.groups import LOOKS, MIXED, GroupProgram, parse

SEED = 23
BATCH = 40
ACCUMULATORS = 3
UNIT = 128  # what an accumulator of ones amounts to: see Repeat in device/groups.cuh

Code = list[list[list[Any]]]


def bulk_store(r: random.Random) -> tuple[str, Code]:
    """A ring of slots is filled, stored and refilled; in the end destinations are looked at."""
    depth, rounds = r.randint(1, 3), r.randint(2, 5)
    warps = r.choice([1, 1, 2])
    bug = r.choice(["none", "none", "no_wait", "one_too_many", "other_thread", "no_fence", "no_commit", "look_early",
                    "look_after_read", "no_sync", "joined"])
    hit = r.randrange(rounds)
    code: Code = [[] for _ in range(warps)]
    filler = warps - 1
    read = "wait" if r.random() < 0.3 else "wait_read"

    def sync() -> None:
        if warps > 1 and not (bug == "no_sync" and r.random() < 0.5):
            for c in code:
                c.append(["sync"])

    for i in range(rounds):
        slot = i % depth
        if i >= depth and not (bug == "no_wait" and i >= depth + hit % 2):
            waiter = filler if bug == "other_thread" else 0
            code[waiter].append([read, depth - 1 + (bug == "one_too_many")])
        sync()
        code[filler].append(["write", slot, i + 1])
        if not (bug == "no_fence" and i == hit):
            code[filler].append(["fence"])
        sync()
        code[0].append(["store", slot, i])
        if not ((bug == "no_commit" and i == hit) or (bug == "joined" and i % 2 == 0)):
            code[0].append(["commit"])
        if bug == "look_early" and i == hit:
            code[0].append(["look", r.randint(0, i)])
        if r.random() < 0.3:
            left = r.randint(0, 2)
            code[0].append(["wait", left])
            if i - left >= 0 and r.random() < 0.8:
                code[0].append(["look", r.randint(0, i - left)])
    code[0].append(["wait_read" if bug == "look_after_read" else "wait", r.choice([0, 0, 0, 1])])
    for _ in range(2):
        code[0].append(["look", r.randrange(rounds)])
    if warps > 1 and r.random() < 0.5:
        for c in code:
            c.append(["sync"])
        code[1].append(["look", r.randrange(rounds)])
    code[0] += [["commit"], ["wait", 0]]  # nothing may be under way when the CTA ends
    return bug, code


def cp_async(r: random.Random) -> tuple[str, Code]:
    """Stages are filled with cp.async ahead of their use and looked at after a wait."""
    depth, rounds = r.randint(1, 3), r.randint(2, 6)
    warps = r.choice([1, 1, 2])
    bug = r.choice(["none", "none", "no_wait", "one_too_many", "no_commit", "other_thread", "no_sync", "refilled"])
    hit = r.randrange(rounds)
    code: Code = [[] for _ in range(warps)]
    reader = warps - 1

    def fetch(i: int) -> None:
        code[0].append(["fetch", i % depth, i + 1])
        if not (bug == "no_commit" and i == hit):
            code[0].append(["fetch_commit"])

    for i in range(depth - 1):
        fetch(i)
    for i in range(rounds):
        if i + depth - 1 < rounds + depth - 1 and not (bug == "refilled" and i == hit):
            fetch(i + depth - 1)
        left = depth - 1 + (bug == "one_too_many" and i == hit)
        if not (bug == "no_wait" and i == hit):
            code[reader if bug == "other_thread" else 0].append(["fetch_wait", left])
        if warps > 1 and not (bug == "no_sync" and i == hit):
            for c in code:
                c.append(["sync"])
        code[reader].append(["see", i % depth])
        if bug == "refilled" and i == hit:
            fetch(i + depth - 1)
        if warps > 1:
            for c in code:
                c.append(["sync"])
    code[0] += [["fetch_commit"], ["fetch_wait", 0]]
    return bug, code


def wgmma(r: random.Random) -> tuple[str, Code]:
    """Tiles are filled, multiplied and refilled while other groups of MMAs are under way."""
    depth, rounds = r.randint(1, 3), r.randint(2, 5)
    bug = r.choice(["none", "none", "no_wait", "one_too_many", "no_commit", "no_sync", "no_fence", "joined"])
    hit = r.randrange(rounds)
    code: list[list[Any]] = []
    committed: list[list[int]] = []  # accumulators of the groups that may be under way
    open_: list[int] = []
    usable: set[int] = set()

    def wait(left: int) -> None:
        code.append(["mma_wait", left])
        while len(committed) > left:
            usable.update(committed.pop(0))
        usable.difference_update(a for group in committed for a in group)
        usable.difference_update(open_)

    for i in range(rounds):
        tile, acc = i % depth, i % ACCUMULATORS
        if i >= depth and not (bug == "no_wait" and i >= depth + hit % 2):
            wait(depth - 1 + (bug == "one_too_many"))
            if r.random() < 0.4 and usable:
                code.append(["result", r.choice(sorted(usable))])
            if not (bug == "no_sync" and i % 2 == hit % 2):
                code.append(["sync"])
        code.append(["fill", tile, i])
        if not (bug == "no_fence" and i == hit):
            code.append(["fence"])
        code.append(["sync"])
        code.append(["mma", tile, acc])
        usable.discard(acc)
        open_.append(acc)
        if not ((bug == "no_commit" and i == hit) or (bug == "joined" and i % 2 == 0)):
            code.append(["mma_commit"])
            committed.append(open_[:])
            open_.clear()
    if open_:
        code.append(["mma_commit"])
    code.append(["mma_wait", 0])
    code += [["result", acc] for acc in range(min(rounds, ACCUMULATORS))]
    return bug, [code]


MAKERS: dict[str, tuple[Callable[[random.Random], tuple[str, Code]], int]] = {
    "bulk_store": (bulk_store, 420), "cp_async": (cp_async, 200), "wgmma": (wgmma, 200)}


def make(folder: Path) -> None:
    """Write the programs, and their kernels in batches."""
    r = random.Random(SEED)
    seen: set[str] = set()
    made: list[dict[str, Any]] = []
    for shape, (maker, count) in MAKERS.items():
        left = count
        while left:
            bug, code = maker(r)
            key = json.dumps(code)
            if key not in seen:
                seen.add(key)
                made.append({"id": f"g{len(made):04d}", "shape": shape, "bug": bug, "code": code})
                left -= 1
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "programs.json").write_text(json.dumps(made))
    for n in range(0, len(made), BATCH):
        (folder / f"groups-{n // BATCH}.cu").write_text(kernels([parse(raw) for raw in made[n:n + BATCH]]))
    print(len(made), Counter((raw["shape"], raw["bug"]) for raw in made))


def kernels(programs: list[GroupProgram]) -> str:
    """A CUDA file that measures the programs: a kernel for each, and the table of them."""
    out = ['#include "groups.cuh"', ""]
    table = []
    for p in programs:
        threads = 128 if p.shape == "wgmma" else 32 * len(p.code)
        unit = UNIT if p.shape == "wgmma" else 1
        out += _kernel(p, threads)
        table.append(f'    {{"{p.id}", {p.id}, {threads}, {len(p.looks)}, {p.stored}, {unit}}},')
    out += ["int main(int, char** arguments)", "{", "    measure({", *table, "    }, atoi(arguments[1]));", "}", ""]
    return "\n".join(out)


def _kernel(p: GroupProgram, threads: int) -> list[str]:
    out = [f"__global__ void __launch_bounds__({threads}) {p.id}(Range* looks, int count, char* dest, const char* in)",
           "{"]
    if p.shape == "wgmma":
        out += ["    __shared__ alignas(1024) char slot[3][2048], ones[2048];",
                *(f"    float acc{n}[32] = {{}};" for n in range(ACCUMULATORS))]
    else:
        out.append("    __shared__ alignas(128) char slot[4][Bytes];")
    out.append("    Run run(looks, count, dest, in);")
    if p.shape == "wgmma":
        out += ["    run.fill(ones, 0);", "    run.fence();", "    __syncthreads();"]
    k = 0
    for w, code in enumerate(p.code):
        if len(p.code) > 1:
            out.append(f"    if (run.warp == {w}) {{")
        for step in code:
            out.append(f"    {_statement(step.kind, step.at, step.value, k)}")
            k += step.kind in LOOKS
            if p.shape != "wgmma":
                out.append("    run.pause();")
        if len(p.code) > 1:
            out.append("    }")
    return [*out, "}", ""]


def _statement(kind: str, at: int, value: int, k: int) -> str:
    calls = {
        "write": f"run.write(slot[{at}], {value});", "fence": "run.fence();",
        "store": f"run.store({value}, slot[{at}]);",
        "commit": "run.commit();", "wait": f"run.wait<{at}>();", "wait_read": f"run.wait_read<{at}>();",
        "look": f"run.look({k}, {at});", "fetch": f"run.fetch(slot[{at}], {value});",
        "fetch_commit": "run.fetch_commit();", "fetch_wait": f"run.fetch_wait<{at}>();",
        "see": f"run.see({k}, slot[{at}]);", "fill": f"run.fill(slot[{at}], {value});",
        "mma": f"mma(acc{value}, slot[{at}], ones);", "mma_commit": "mma_commit();", "mma_wait": f"mma_wait<{at}>();",
        "result": f"result(run, {k}, acc{at});", "sync": 'asm volatile("barrier.sync 0;" ::: "memory");',
    }
    return calls[kind]


def label(folder: Path) -> None:
    """Join the programs with what was measured."""
    made = json.loads((folder / "programs.json").read_text())
    by_id = {raw["id"]: raw for raw in made}
    for path in sorted(folder.glob("results-*.txt")):
        for line in path.read_text().splitlines():
            name, times, *values = line.split()
            raw = by_id[name]
            seen = [_exponent(int(v)) if raw["shape"] == "wgmma" else int(v) for v in values]
            raw.setdefault("outcomes", []).append({"runs": int(times), "seen": seen})
    found = [raw for raw in made if "outcomes" in raw]
    for raw in found:
        raw["outcomes"].sort(key=lambda o: -o["runs"])
    text = "".join(json.dumps(raw, separators=(",", ":")) + "\n" for raw in found)
    (folder / "groups.jsonl.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    print(len(found), "of", len(made), Counter(len(raw["outcomes"]) > 1 for raw in found))


def _exponent(value: int) -> int:
    """The power of two that a tile was filled with."""
    return value.bit_length() - 1 if value > 0 and not value & value - 1 else MIXED


if __name__ == "__main__":
    {"make": make, "label": label}[sys.argv[1]](Path(sys.argv[2]))
