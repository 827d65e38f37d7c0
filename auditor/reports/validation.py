"""How to test a conclusion on hardware, what could refute it, and what remains risky."""

from __future__ import annotations

import re

from auditor.audit import Audit
from auditor.reports.descriptors import UNKNOWN
from auditor.reports.judgement import Tables, count
from auditor.reports.model import Problem, Ring, Trial

_TRIPS = re.compile(
    r"(?:^|[._])(?:k_?(?:blocks?|tiles?|iters?|steps?)?|num_k\w*|n_?iters?|iters?|iterations|blocks|steps)$", re.I
)


def trials(audit: Audit, tables: Tables) -> tuple[Trial, ...]:
    """A minimal set of tests for hardware."""
    out = []
    ring = tables.main_ring
    trips, tile = _trip_input(audit, ring)
    if ring is not None and ring.depth:
        d = ring.depth
        counts = list(dict.fromkeys(n for n in (1, d - 1, d, d + 1, 2 * d + 1) if n > 0))
        values = ", ".join(str(n * tile) for n in counts)
        out.append(
            Trial(
                "trip counts around the ring depth",
                f"{trips} = {values}",
                f"{ring.depth} stages: a wrong parity or a missing release shows when the ring wraps",
            )
        )
    shape = _asymmetric(tables)
    out.append(
        Trial(
            "small shapes with three different extents",
            shape,
            "swapped operands, coordinates or strides give equal results on square inputs",
        )
    )
    out.append(
        Trial(
            "boundary tiles",
            _boundary(tables),
            "the box is delivered whole, with its fill, where it lies outside the tensor",
        )
    )
    accumulators = [r for r in tables.rings if r.space == "tensor"]
    if accumulators:
        d = accumulators[0].depth
        out.append(
            Trial(
                "tiles a CTA around the accumulators",
                f"{', '.join(map(str, sorted({1, d, d + 1, 2 * d + 1})))} tiles for one CTA",
                f"{count(d, 'accumulator')} passed between {accumulators[0].issuer} and {accumulators[0].consumers}",
            )
        )
    if audit.trace.ctas > 1:
        out.append(
            Trial(
                "clusters",
                "one cluster, and more clusters than fit the GPU at once",
                "a CTA that starts late or leaves early is only seen with several clusters",
            )
        )
    out.append(
        Trial(
            "repetition",
            "each of these 1,000 times, results compared bit by bit",
            "orders that are usually right fail rarely",
        )
    )
    return tuple(out)


def _trip_input(audit: Audit, ring: Ring | None) -> tuple[str, int]:
    """The input that sets the trip count, and how much of it one trip is."""
    rounds = ring.rounds if ring is not None else 0
    for name, text in audit.launch.inputs.items():
        number = re.match(r"\d+", text)
        if number is None or not _TRIPS.search(name) or not rounds:
            continue
        value = int(number[0])
        if rounds % value == 0:
            return name, 1
        for step in (256, 128, 64, 32, 16):
            if value % step == 0 and rounds % (value // step) == 0:
                return name, step
    return "iterations of the main loop", 1


def _asymmetric(tables: Tables) -> str:
    boxes = [f"{m.name}: {dict(m.encoded).get('box', '')}" for m in tables.maps]
    return "extents of one, two and three tiles" + (f" (boxes: {'; '.join(boxes)})" if boxes else "")


def _boundary(tables: Tables) -> str:
    if not tables.maps:
        return "every extent one element below and above a multiple of the tile"
    exact = []
    for m in tables.maps:
        values = dict(m.encoded)
        dims = re.findall(r"\d+", values.get("shape (innermost first)", ""))
        box = re.findall(r"\d+", values.get("box", ""))
        if dims and len(dims) == len(box) and all(int(d) % int(b) == 0 for d, b in zip(dims, box)):
            exact.append(m.name)
    text = "extents one 16-byte row step beyond a multiple of the box in every dimension"
    return text + (f"; the run had none in {', '.join(exact)}" if exact else "")


def falsifier(tables: Tables) -> str:
    """One experiment that would refute the conclusion."""
    ring = tables.main_ring
    free = next((b for b in tables.barriers if ring is not None and ring.free.split("[")[0] == b.name), None)
    if ring is None or free is None or not free.arrivals:
        return (
            "Put a random __nanosleep in front of every wait and every arrival, and poison the shared buffers with NaN "
            "before each copy: one result that differs from the undisturbed one refutes the conclusion."
        )
    lines = ", ".join(str(n) for n in free.arrivals[0].lines)
    return (
        f"Delay the consumers ({ring.consumers}) by a random __nanosleep before they release {free.name} "
        f"(line {lines}), and let the producer run ahead: if the conclusion holds, every result stays bit-identical. "
        f"As a control, start the wait for {free.name} one phase early: this must give wrong results, or the test "
        "could not have seen it."
    )


def risks(audit: Audit, tables: Tables, found: tuple[Problem, ...]) -> tuple[str, ...]:
    """What may go wrong although nothing was found."""
    out = []
    if tables.tmem is not None and tables.tmem.reuses:
        worst = max(tables.tmem.reuses, key=lambda r: r.hops)
        out.append(
            f"Riskiest reuse of tensor memory: columns {worst.columns}, {worst.before}, then {worst.after}; "
            f"guarded by {worst.guard}" + (", only transitively" if 1 < worst.hops < 99 else "") + "."
        )
    ring = tables.main_ring
    if ring is not None and ring.depth == 1:
        out.append("One stage only: copies and MMAs never overlap.")
    if tables.shared.ctas_per_sm == 1:
        out.append("One CTA an SM: nothing hides a stall of this CTA, and a launch with more shared memory fails.")
    if tables.shared.static + tables.shared.dynamic > tables.shared.limit:
        out.append(f"Shared memory exceeds the limit of {tables.shared.limit:,} bytes a CTA: the launch fails.")
    if tables.tmem is not None and tables.tmem.waste >= 32:
        out.append(f"{tables.tmem.waste} allocated columns of tensor memory are never touched.")
    unknown = sum(c.verdict == UNKNOWN for m in tables.maps for c in m.checks)
    if unknown:
        out.append(f"{count(unknown, 'item')} of the tensor maps could not be compared.")
    if audit.launch.origin == "chosen":
        out.append("The launch is not in this file: another block, cluster or shape may behave differently.")
    if found:
        out.insert(0, "Findings stand; the tables describe the kernel as it is, not as it should be.")
    return tuple(out)


def fallback(tables: Tables) -> tuple[str, ...]:
    """Simpler forms of the same kernel, for when a test fails and the cause is not found."""
    out = []
    ring = tables.main_ring
    if ring is not None and ring.depth > 1:
        out.append(
            "Set the ring depth to 1: the same code without overlap. If it is right then, the fault is in the ring."
        )
    if any(r.space == "tensor" and r.depth > 1 for r in tables.rings):
        out.append("Use one accumulator: the epilogue then never overlaps the next tile.")
    if any(r.ready == "generic writes, proxy fence" for r in tables.rings):
        out.append("Store results directly from registers instead of through TMA.")
    if any(b.scope == "cluster" for b in tables.barriers):
        out.append("Run without clusters or CTA pairs, where the tile allows it.")
    out.append(
        "Put __syncthreads() around each hand-over in turn: where results become right, the barrier there is at fault."
    )
    return tuple(out)
