"""The tables of a report: barriers, rings, shared memory, tensor maps and tensor memory."""

from __future__ import annotations

import re
from itertools import groupby, pairwise

from auditor.reports.blocks import Block, Paragraph, Section, Table, TmemFigure, letter
from auditor.reports.model import Arrival, BarrierRow, KernelReport, Ring, TensorMemory, Waiter

ROUNDS = 6  # of the table of first rounds


def lines(numbers: tuple[int, ...]) -> str:
    """Line numbers in a cell, neighbours as ranges."""
    runs = [[n for _, n in run] for _, run in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0])]
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def _at(numbers: tuple[int, ...]) -> str:
    return ("line " if len(numbers) == 1 else "lines ") + lines(numbers)


def _name(b: BarrierRow) -> str:
    return f"{b.name}[{b.stages}]" if b.stages > 1 else b.name


def _arrival(a: Arrival) -> str:
    count = f"{a.count} x " if a.count != 1 else ""
    return f"{count}{a.how} by {a.threads} ({_at(a.lines)})"


def _waiter(w: Waiter) -> str:
    start = "from parity " + str(w.parities[0]) if w.parities else "by state"
    return f"{w.threads}, {start} ({_at(w.lines)})"


def barriers(k: KernelReport) -> Section:
    """The ledger: who and what, where and how much, and the first parities."""
    if not k.barriers:
        return Section("Barrier ledger", 3, (Paragraph("No mbarrier is used."),))
    who = tuple(
        (
            _name(b),
            str(b.init_count),
            "; ".join(map(_arrival, b.arrivals)) or "nobody",
            "; ".join(map(_waiter, b.waiters)) or "nobody",
            _makes(b.resources) or b.note or "-",
        )
        for b in k.barriers
    )
    several = any(b.ctas != "its CTA" for b in k.barriers)
    state = tuple(
        (
            _name(b),
            _places(b.addresses),
            b.scope,
            *((b.ctas,) if several else ()),
            str(b.init_line),
            f"{b.expected_bytes:,}",
            f"{b.delivered_bytes:,}",
            str(b.phases[0]) if b.phases[0] == b.phases[1] else f"{b.phases[0]} to {b.phases[1]}",
            _sides(b),
        )
        for b in k.barriers
    )
    used = ("Used",) if several else ()
    head = ("Barrier", "Address", "Scope", *used, "Init line", "Expected", "Delivered", "Phases", "First wait")
    return Section(
        "Barrier ledger",
        3,
        (
            Table(
                "Barriers: who arrives, who waits, and what a phase hands over",
                ("Barrier", "Count", "Arrivals in a phase", "Waiters", "Makes"),
                who,
                frozenset((1,)),
            ),
            Table(
                "Barriers: where they are, bytes of a phase, phases of the run, whether a first wait passes at once",
                head,
                state,
                frozenset(range(len(head) - 5, len(head) - 1)),
            ),
            _rounds(k.barriers),
        ),
    )


def _makes(resources: tuple[str, ...]) -> str:
    """What a phase hands over; numbered things of one kind together: "scores S 0, 1 readable"."""
    kinds: dict[tuple[str, str], list[str]] = {}
    for text in resources:
        thing, _, what = text.rpartition(" ")
        match = re.fullmatch(r"(.*) (\d+)", thing)
        kinds.setdefault((match[1] if match else thing, what), []).extend([match[2]] if match else [])
    return "; ".join(" ".join(filter(None, (thing, ", ".join(n), what))) for (thing, what), n in kinds.items())


def _places(addresses: tuple[int, ...]) -> str:
    """Addresses; those of a ring with one distance as the first, the last and the distance."""
    steps = {b - a for a, b in pairwise(addresses)}
    if len(addresses) > 2 and len(steps) == 1:
        return f"{addresses[0]} to {addresses[-1]} by {steps.pop()}"
    return ", ".join(map(str, addresses))


def _sides(b: BarrierRow) -> str:
    """Initial phase on the waiting side; arrivals begin in phase 0."""
    waits = {("passes: free" if w.starts_free else "blocks: taken") for w in b.waiters}
    return " or ".join(sorted(waits)) or "no waits"


def _rounds(barriers: tuple[BarrierRow, ...]) -> Table:
    rows = []
    for b in barriers:
        for w in b.waiters:
            cells = [str(p) for p in w.parities[:ROUNDS]]
            if cells and w.starts_free:
                cells[0] += " (free)"
            rows.append((f"{b.name}[0]" if b.stages > 1 else b.name, w.threads, *cells, *[""] * (ROUNDS - len(cells))))
    head = ("Barrier", "Waiter", *(f"Round {n}" for n in range(ROUNDS)))
    return Table("Parity of each wait in the first rounds of the first stage", head, tuple(rows))


def rings(rings: tuple[Ring, ...]) -> tuple[Table, Table]:
    """The rings, one row each: what they are, and how they begin and end."""
    what = tuple(
        (r.name, str(r.depth), f"{r.stage_size:,} {r.unit}", r.ready, r.free, r.issuer, r.consumers) for r in rings
    )
    ends = tuple(
        (
            r.name,
            r.fill_parity,
            r.use_parity,
            str(min(r.prologue, r.rounds)),
            str(max(r.rounds - r.prologue, 0)),
            r.drain,
        )
        for r in rings
    )
    return (
        Table(
            "Rings: stages and protocol",
            ("Ring", "Depth", "Stage", "Ready", "Free", "Issuer", "Consumers"),
            what,
            frozenset((1, 2)),
        ),
        Table(
            "Rings: parity of the first waits; fills of the run before the issuer had to wait, and after; the end",
            ("Ring", "First to fill", "First to use", "Prologue", "Steady", "Drain"),
            ends,
            frozenset((3, 4)),
        ),
    )


def operands(rings: tuple[Ring, ...]) -> Table:
    """The buffers of the rings."""
    rows = tuple(
        (r.name, o.name, f"{o.bytes:,} {r.unit}", f"{o.offset:,}", f"{o.stride:,}" if o.stride else "-")
        for r in rings
        for o in r.operands
    )
    return Table(
        "Buffers of the rings", ("Ring", "Buffer", "Size of a stage", "First at", "Stride"), rows, frozenset((2, 3, 4))
    )


def memory(k: KernelReport) -> Table:
    """Shared memory against its limit."""
    s = k.shared
    rows = [
        ("static shared memory", f"{s.static:,} bytes"),
        ("dynamic shared memory", f"{s.dynamic:,} bytes" + (" (chosen)" if s.dynamic_chosen else "")),
        ("reserved by the system", f"{s.reserved:,} bytes"),
        ("total of a CTA", f"{s.total:,} bytes"),
        ("limit of a CTA", f"{s.limit:,} bytes; {s.limit - s.static - s.dynamic:,} left"),
    ]
    rows += [(f"CTAs an SM by {name}", str(n)) for name, n in s.bounds]
    return Table("Shared memory and CTAs an SM", ("Item", "Value"), (*rows, ("CTAs an SM", str(s.ctas_per_sm))))


def maps(k: KernelReport) -> Section:
    """Two tables for each tensor map."""
    blocks: list[Block] = []
    for m in k.maps:
        blocks.append(Table(f"Tensor map {m.name}: what the host encodes", ("Item", "Value"), m.encoded))
        rows = tuple((c.item, c.host, c.kernel, c.verdict) for c in m.checks)
        blocks.append(Table(f"Tensor map {m.name}: host against kernel", ("Item", "Host", "Kernel", "Verdict"), rows))
    return Section("Tensor maps", 3, tuple(blocks))


def tmem(t: TensorMemory) -> Section:
    """The map of tensor memory with its tables."""
    summary = (
        f"{t.rounded} columns allocated, {t.touched} touched, {t.waste} never used; at most {t.peak} live at once "
        "in model time."
    )
    allocations = tuple(
        (str(a.asked), str(a.rounded), str(a.needed), str(a.base), f"cta_group::{a.group}", a.threads, str(a.line))
        for a in t.allocations
    )
    regions = tuple(
        (
            letter(n),
            r.name,
            _lanes(r.lanes),
            r.object,
            r.writer,
            r.reader,
            r.completion,
            f"{r.first}-{r.last}",
            str(r.uses),
        )
        for n, r in enumerate(t.regions)
    )
    worst = max(t.reuses, key=lambda r: r.hops, default=None)
    reuses = tuple(
        (r.columns, r.before, r.after, r.guard + (" (riskiest)" if r is worst else ""), str(r.count)) for r in t.reuses
    )
    backs = tuple((r.region, r.shape, str(r.loads), str(r.words), str(r.waits), r.threads) for r in t.read_backs)
    blocks: list[Block] = [
        Paragraph(summary),
        TmemFigure(t),
        Table(
            "Allocations: columns asked for, given, and needed by what is touched",
            ("Asked", "Given", "Needed", "Base", "Group", "By", "Line"),
            allocations,
            frozenset((0, 1, 2, 3, 6)),
        ),
        Table(
            "Regions of tensor memory; live: model time of first write to last read",
            ("Mark", "Columns", "Lanes", "Object", "Writer", "Reader", "Complete by", "Live", "Uses"),
            regions,
            frozenset((8,)),
        ),
    ]
    if reuses:
        blocks.append(
            Table(
                "Reuse of columns and what guards it",
                ("Columns", "Before", "After", "Guard", "Times"),
                reuses,
                frozenset((4,)),
            )
        )
    if backs:
        blocks.append(
            Table(
                "Reading back: what one warp spends on the whole object",
                ("Object", "Shape", "Loads", "Registers a thread", "Waits", "By"),
                backs,
                frozenset((2, 3, 4)),
            )
        )
    return Section("Tensor memory", 3, tuple(blocks))


def _lanes(lanes: tuple[tuple[int, int], ...]) -> str:
    return ", ".join(f"{lo}-{hi - 1}" for lo, hi in lanes)
