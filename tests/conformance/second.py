"""Makes the second set of programs, and labels what a GPU did with them.

    python -m tests.conformance.second make FOLDER             programs.json and, in batches, programs-N.txt
    python -m tests.conformance.second label FOLDER            results-N.txt -> second.jsonl.gz

In between, ``device/measure.sh FOLDER`` runs the batches on a Hopper GPU. The operations are those that the first set
lacks: multicast copies, copies between the CTAs of a cluster, arrive_drop, complete_tx, arrivals of cp.async, named
barriers and cluster barriers. Programs that could trap by the machine's own rules are left out, since a trap ends a
whole batch.
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

from tests.conformance.explore import Explorer
from tests.conformance.recorded import TRAP, Outcome, Recorded, parse

SEED = 7
BATCH = 500
STATES = 8_000
KINDS = ("arrive", "arrive_tx", "expect_tx", "copy", "remote_arrive", "wait", "test", "drop", "complete_tx",
         "multicast", "push", "async_arrive", "meet", "signal", "cluster", "whole")
NOWHERE = Outcome((-1,))  # never reached: looking for it visits every state


class Draft:
    """A program being made."""

    def __init__(self, shape: str, bug: str, init: list[list[int]], warps: int) -> None:
        self.shape, self.bug, self.init, self.warps = shape, bug, init, warps
        self.code: list[list[list[list[Any]]]] = [[[] for _ in range(warps)] for _ in init]
        self.copies = 0

    def put(self, cta: int, warp: int, *op: Any) -> None:
        self.code[cta][warp].append(list(op))

    def slot(self) -> int:
        self.copies += 1
        return self.copies % 14

    def record(self, name: str) -> dict[str, Any]:
        return {"id": name, "shape": self.shape, "bug": self.bug, "ctas": len(self.init), "warps": self.warps,
                "init": self.init, "code": self.code}


def multicast(r: random.Random) -> Draft:
    """CTA 0 loads for both; each CTA expects its bytes, waits, and releases the stage of the one that loads."""
    rounds, size = r.randint(1, 3), 16 * r.randint(1, 8)
    bug = r.choice(["none", "none", "mask", "bytes", "no_expect", "lost", "parity"])
    hit, side = r.randrange(rounds), r.randrange(2)
    d = Draft("multicast", bug, [[1, 2], [1, 2]], 2)
    for i in range(rounds):
        d.put(0, 0, "wait", 1, (i & 1) ^ 1)
        for c in range(2):
            if not (bug == "no_expect" and c == side and i == hit):
                more = 16 * (bug == "bytes" and c == side and i == hit)
                d.put(c, 0 if c == 0 else 1, "arrive_tx", 0, size + more)
        d.put(0, 0, "multicast", 0, size, d.slot(), 1 + side if bug == "mask" and i == hit else 3)
        for c in range(2):
            d.put(c, 1, "wait", 0, (i & 1) ^ (bug == "parity" and c == side and i == hit))
            if not (bug == "lost" and c == side and i == hit):
                d.put(c, 1, *(("arrive", 1, 1, 1) if c == 0 else ("remote_arrive", 1, 1)))
    return d


def push(r: random.Random) -> Draft:
    """CTAs send one another bytes, which the receiver expects before it waits."""
    rounds, size = r.randint(1, 4), 16 * r.randint(1, 8)
    bug = r.choice(["none", "none", "bytes", "late", "no_expect", "lost", "twice"])
    hit, side = r.randrange(rounds), r.randrange(2)
    d = Draft("push", bug, [[1], [1]], 1)
    for i in range(rounds):
        for c in range(2):
            here = c == side and i == hit
            expect: tuple[Any, ...] = ("arrive_tx", 0, size + 16 * (bug == "bytes" and here))
            if bug == "no_expect" and here:
                expect = ("arrive", 0, 1, 1)
            if not (bug == "late" and here):
                d.put(c, 0, *expect)
            for _ in range(2 if bug == "twice" and here else 0 if bug == "lost" and here else 1):
                d.put(c, 0, "push", 0, size, d.slot())
            if bug == "late" and here:
                d.put(c, 0, *expect)
            d.put(c, 0, "wait", 0, i & 1)
    return d


def dropout(r: random.Random) -> Draft:
    """Warps meet at an mbarrier; some leave it for good with arrive_drop."""
    warps, rounds = r.randint(2, 4), r.randint(2, 4)
    bug = r.choice(["none", "none", "plain", "stays", "twice", "early"])
    leaves = [r.randint(0, rounds) for _ in range(warps - 1)] + [rounds]
    who = r.randrange(warps - 1)
    d = Draft("dropout", bug, [[warps]], warps)
    for w in range(warps):
        for i in range(rounds):
            if i > leaves[w] and not (bug == "stays" and w == who):
                break
            drops = i == leaves[w]
            d.put(0, w, *(("arrive", 0, 1, 1) if not drops or (bug == "plain" and w == who) else ("drop", 0, 1)))
            if bug == "twice" and drops and w == who:
                d.put(0, w, "drop", 0, 1)
            if not drops or r.random() < 0.5:
                d.put(0, w, "wait", 0, i & 1)
            if r.random() < 0.2:
                d.put(0, w, "test", 0, r.randrange(2))
    return d


def cp_async(r: random.Random) -> Draft:
    """A warp fills a stage with cp.async and lets the barrier know; another one waits and releases it."""
    rounds, lanes = r.randint(1, 4), r.choice([1, 1, 1, 32])
    bug = r.choice(["none", "none", "inc", "count", "lost", "parity"])
    hit = r.randrange(rounds)
    d = Draft("cp_async", bug, [[lanes + (bug == "count"), 1]], 2)
    for i in range(rounds):
        d.put(0, 0, "wait", 1, (i & 1) ^ 1)
        d.put(0, 0, "async_arrive", 0, lanes, int(not (bug == "inc" and i == hit)))
        d.put(0, 1, "wait", 0, (i & 1) ^ (bug == "parity" and i == hit))
        if not (bug == "lost" and i == hit):
            d.put(0, 1, "arrive", 1, 1, 1)
    return d


def mixture(r: random.Random) -> Draft:
    """Random operations of all kinds that no other warp has to join."""
    warps, nb = r.choice([1, 1, 2]), r.choice([1, 1, 2])
    d = Draft("mixture", "none", [[r.choice([1, 1, 2, 3]) for _ in range(nb)] for _ in range(2)], warps)
    for c in range(2):
        for w in range(warps):
            turn = [0] * nb
            for _ in range(r.randint(2, 6)):
                b, x, size = r.randrange(nb), r.random(), 16 * r.randint(1, 4)
                if x < 0.14:
                    d.put(c, w, "arrive", b, 1, 1)
                elif x < 0.24:
                    d.put(c, w, "drop", b, 1)
                elif x < 0.34:
                    d.put(c, w, "arrive_tx", b, size)
                    d.put(c, w, r.choice(["copy", "push"]), b, size, d.slot())
                elif x < 0.42:
                    d.put(c, w, "multicast", b, size, d.slot(), r.randint(1, 3))
                elif x < 0.50:
                    d.put(c, w, "expect_tx", b, size)
                elif x < 0.58:
                    d.put(c, w, "complete_tx", b, size)
                elif x < 0.66:
                    d.put(c, w, "async_arrive", b, 1, r.choice([1, 1, 0]))
                elif x < 0.76:
                    d.put(c, w, "remote_arrive", b, 1)
                elif x < 0.82:
                    d.put(c, w, "test", b, r.randrange(2))
                else:
                    d.put(c, w, "wait", b, turn[b] & 1)
                    turn[b] += 1
    return d


def named(r: random.Random) -> Draft:
    """Handshakes at named barriers decide what a test sees: an arrival on one side, the test on the other."""
    warps = r.randint(2, 4)
    d = Draft("named", "none", [[1] * warps], warps)
    for turn in range(r.randint(2, 5)):
        number = 2 * turn + 1  # numbers of its own: crews may be rounds apart
        crew = r.sample(range(warps), r.randint(2, warps))
        first, *others = crew
        d.put(0, first, "arrive", first, 1, 1)
        ahead = r.random() < 0.5  # who arrived does not have to wait for those who look
        for w in crew:
            d.put(0, w, "signal" if w == first and ahead else "meet", number, len(crew))
        for w in others:
            d.put(0, w, "test", first, r.randrange(2))
        for w in crew:
            d.put(0, w, "meet", number + 1, len(crew))
    return d


def cluster(r: random.Random) -> Draft:
    """Cluster barriers decide what a test of a remote arrival sees."""
    warps = r.randint(1, 3)
    d = Draft("cluster", "none", [[1] * warps, [1] * warps], warps)
    for _ in range(r.randint(1, 4)):
        for c in range(2):
            for w in range(warps):
                if r.random() < 0.6:
                    d.put(c, w, "remote_arrive", w, 1)
        for step in range(2):
            for c in range(2):
                for w in range(warps):
                    if step:
                        d.put(c, w, "test", r.randrange(warps), r.randrange(2))
                    d.put(c, w, "cluster")
    return d


SHAPES: list[tuple[Callable[[random.Random], Draft], int]] = [
    (multicast, 450), (push, 450), (dropout, 400), (cp_async, 300), (mixture, 700), (named, 250), (cluster, 250)]


def _safe(p: Recorded) -> bool:
    """Whether no interleaving traps. Programs of barriers that the search does not know cannot, by their making."""
    if p.shape in ("named", "cluster"):
        return True
    found, complete = Explorer(p).search({TRAP, NOWHERE}, STATES)
    return complete and TRAP not in found


def make(folder: Path) -> None:
    """Write the programs, and the input of the interpreter in batches."""
    r = random.Random(SEED)
    seen: set[str] = set()
    made: list[dict[str, Any]] = []
    for shape, count in SHAPES:
        left, tries = count, 0
        while left and tries < 40 * count:
            tries += 1
            raw = shape(r).record(f"s{len(made):05d}")
            key = json.dumps([raw["init"], raw["code"]])
            if key in seen or not any(code for cta in raw["code"] for code in cta):
                continue
            seen.add(key)
            if _safe(parse({**raw, "label": "", "outcomes": []})):
                made.append(raw)
                left -= 1
    write_batches(folder, made)
    print(len(made), Counter(raw["shape"] for raw in made))


def write_batches(folder: Path, made: list[dict[str, Any]]) -> None:
    """The programs, and the input of an interpreter: programs.json and programs-N.txt."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "programs.json").write_text(json.dumps(made))
    for n in range(0, len(made), BATCH):
        lines = [str(len(made[n:n + BATCH])), *map(_as_text, made[n:n + BATCH])]
        (folder / f"programs-{n // BATCH}.txt").write_text("\n".join(lines) + "\n")


def _as_text(raw: dict[str, Any]) -> str:
    """A program as the interpreter reads it."""
    words = [raw["ctas"], raw["warps"], len(raw["init"][0]), *(n for counts in raw["init"] for n in counts)]
    for c, cta in enumerate(raw["code"]):
        for code in cta:
            words.append(len(code))
            for kind, *rest in code:
                words.append(KINDS.index(kind))
                words += _operands(kind, rest, c)
    return " ".join(map(str, words))


def _operands(kind: str, rest: list[int], cta: int) -> list[int]:
    """Barrier and two more numbers."""
    if kind in ("meet", "signal"):
        return [0, *rest]
    if kind == "multicast":
        return [rest[0], rest[1], rest[2] | rest[3] << 8]
    if kind == "remote_arrive":
        return [*rest, 1 - cta]
    return [*rest, 0, 0, 0][:3]


def label(folder: Path) -> None:
    """Join the programs with what was measured."""
    save(measured(folder), folder / "second.jsonl.gz")


def measured(folder: Path) -> list[dict[str, Any]]:
    """The programs of a folder with their outcomes, the frequent ones first, and their labels."""
    made: list[dict[str, Any]] = json.loads((folder / "programs.json").read_text())
    for n in range(0, len(made), BATCH):
        for line in (folder / f"results-{n // BATCH}.txt").read_text().splitlines():
            index, times, *numbers = map(int, line.split())
            raw = made[n + index]
            raw.setdefault("outcomes", []).append(_ending(raw, times, numbers))
    found = [raw for raw in made if "outcomes" in raw]
    for raw in found:
        stops = {json.dumps(o["stop"]) for o in raw["outcomes"]}
        hangs = any(s is not None for cta in raw["outcomes"][0]["stop"] for s in cta)
        raw["label"] = "schedule-dependent" if len(stops) > 1 else "hangs" if hangs else "ends"
        raw["runs"] = sum(o["runs"] for o in raw["outcomes"])
        raw["outcomes"].sort(key=lambda o: -o["runs"])
    return found


def save(found: list[dict[str, Any]], path: Path) -> None:
    """Write programs as compressed lines, the same for the same programs."""
    text = "".join(json.dumps(raw, separators=(",", ":")) + "\n" for raw in found)
    path.write_bytes(gzip.compress(text.encode(), mtime=0))
    print(len(found), Counter(raw["label"] for raw in found))


def _ending(raw: dict[str, Any], times: int, numbers: list[int]) -> dict[str, Any]:
    """One line of results as an outcome."""
    values = iter(numbers)
    stop, tests = [], []
    for cta in raw["code"]:
        here: list[int | None] = []
        seen = []
        for code in cta:
            at, bits = next(values), next(values)
            here.append(None if at == len(code) else at)
            seen.append([bits >> k & 1 for k in range(sum(op[0] == "test" for op in code[:at]))])
        stop.append(here)
        tests.append(seen)
    phase = [[next(values) for _ in counts] for counts in raw["init"]]
    return {"runs": times, "stop": stop, "tests": tests, "phase": phase}


if __name__ == "__main__":
    {"make": make, "label": label}[sys.argv[1]](Path(sys.argv[2]))
