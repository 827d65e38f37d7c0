"""Makes the third set of programs, with CTA barriers that hang, and labels what a GPU did with them.

    python -m tests.conformance.third make FOLDER              programs.json and, in batches, programs-N.txt
    python -m tests.conformance.third label FOLDER             results-N.txt -> third.jsonl.gz

In between, ``device/measure.sh FOLDER RUNS stuck`` runs the batches on a Hopper GPU.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from tests.conformance.explore import Explorer
from tests.conformance.recorded import TRAP, parse
from tests.conformance.second import NOWHERE, STATES, Draft, measured, save, write_batches

SEED = 11
COUNTS = {"named_stuck": 420, "cta_barrier": 330}
OWN = 15  # a barrier that only a mistake leads to


def named_stuck(r: random.Random) -> Draft:
    """Crews of warps meet at named barriers and tell by mbarriers how far they are; then one thing is changed."""
    warps, turns = r.randint(2, 4), r.randint(2, 4)
    bug = r.choice(["none", "absent", "absent", "more", "again", "other", "swapped", "signal", "crossed", "none"])
    hit, one_number = r.randrange(turns), r.random() < 0.35
    size = r.randint(2, warps)
    d = Draft("named_stuck", bug, [[1] * warps], warps)
    for turn in range(turns):
        number = 1 if one_number else turn + 1
        crew = r.sample(range(warps), size if one_number else r.randint(2, warps))
        first, victim = crew[0], r.choice(crew)
        count = len(crew) + (bug == "more" and (turn == hit or one_number))
        if bug == "crossed" and turn == hit:  # it waits for what the first does after they have met
            d.put(0, victim if victim != first else crew[1], "wait", first, 0)
        elif r.random() < 0.6:
            d.put(0, first, "arrive", first, 1, 1)
        ahead = r.random() < 0.4
        for w in crew:
            mine = bug if w == victim and turn == hit else ""
            if mine == "absent":
                continue
            kind = "signal" if mine == "signal" or (w == first and ahead) else "meet"
            d.put(0, w, kind, OWN if mine == "other" else number, count)
            if mine == "again":
                d.put(0, w, "meet", number, count)
        if bug == "crossed" and turn == hit:
            d.put(0, first, "arrive", first, 1, 1)
        for w in crew[1:]:
            if r.random() < 0.7:
                d.put(0, w, "test", first, r.randrange(2))
    if bug == "swapped":
        _swap(d.code[0][r.randrange(warps)], r)
    return d


def _swap(code: list[list[Any]], r: random.Random) -> None:
    """A warp comes to two of its barriers in the other order."""
    places = [n for n, op in enumerate(code) if op[0] == "meet"]
    if len(places) > 1:
        k = r.randrange(len(places) - 1)
        a, b = places[k], places[k + 1]
        code[a], code[b] = code[b], code[a]


def cta_barrier(r: random.Random) -> Draft:
    """All warps of a CTA meet at its barrier; some end early, some are kept by an mbarrier."""
    warps, turns = r.randint(2, 4), r.randint(1, 4)
    bug = r.choice(["none", "ends_early", "ends_early", "kept", "kept", "one_more", "late"])
    hit, victim = r.randrange(turns), r.randrange(warps)
    other = (victim + 1) % warps
    d = Draft("cta_barrier", bug, [[1] * warps], warps)
    for turn in range(turns):
        for w in range(warps):
            if bug == "ends_early" and w == victim and turn >= hit:
                continue
            if r.random() < 0.5:
                d.put(0, w, "arrive", w, 1, 1)
            if r.random() < 0.4:
                d.put(0, w, "test", r.randrange(warps), r.randrange(2))
            if bug == "kept" and w == victim and turn == hit:
                d.put(0, w, "wait", w, r.randrange(2))
            d.put(0, w, "whole")
            if bug == "one_more" and w == victim and turn == hit:
                d.put(0, w, "whole")
            if bug == "late" and w == other and turn == hit:  # what the victim waits for comes behind the barrier
                d.put(0, w, "arrive", victim, 1, 1)
            if r.random() < 0.4:
                d.put(0, w, "test", r.randrange(warps), r.randrange(2))
        if bug == "late" and turn == hit:
            d.code[0][victim].insert(-1, ["wait", victim, 0])
    return d


MAKERS = {"named_stuck": named_stuck, "cta_barrier": cta_barrier}


def make(folder: Path) -> None:
    """Write the programs, and the input of the interpreter in batches."""
    r = random.Random(SEED)
    seen: set[str] = set()
    made: list[dict[str, Any]] = []
    for shape, count in COUNTS.items():
        left = count
        while left:
            raw = MAKERS[shape](r).record(f"n{len(made):05d}")
            key = json.dumps([raw["init"], raw["code"]])
            if key in seen or not all(raw["code"][0]):
                continue
            seen.add(key)
            found, complete = Explorer(parse({**raw, "label": "", "outcomes": []})).search({TRAP, NOWHERE}, STATES)
            if complete and TRAP not in found:
                made.append(raw)
                left -= 1
    write_batches(folder, made)
    print(len(made), Counter((raw["shape"], raw["bug"]) for raw in made))


if __name__ == "__main__":
    target = Path(sys.argv[2])
    if sys.argv[1] == "make":
        make(target)
    else:
        save(measured(target), target / "third.jsonl.gz")
