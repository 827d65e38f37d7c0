"""What a generated kernel says of itself in comments, against what the auditor extracts from its code.

Such kernels name each group of mbarriers with its size and init count, and the columns of tensor memory that they take.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from auditor.audit import STEP_BUDGET, Audit
from auditor.engine import guess_arch
from auditor.frontend import build_program
from auditor.frontend.parse import Options
from auditor.machine.core import Machine
from auditor.machine.host import survey
from auditor.machine.scenario import plan
from auditor.program import Kernel, Program
from auditor.reports.facts import Facts
from auditor.reports.ledger import ledger
from auditor.reports.resources import Resources

SECONDS = 120.0

_GROUP = re.compile(r"//\s*(\w+): (\d+) barriers?, init_count=(\d+)")
_TOTAL = re.compile(r"//\s*Mbarrier init \((\d+) groups?, (\d+) barriers?\)")
_COLUMNS = re.compile(r"//\s*TMEM alloc \((\d+) columns")
_PLAIN = re.compile(r"_addr\b|^smem_?|[^A-Za-z0-9_]")

Group = tuple[str, int, int]  # name, barriers, init count


@dataclass(frozen=True)
class Statement:
    """Barriers and columns of one kernel."""

    groups: tuple[Group, ...]
    barriers: int
    columns: tuple[int, ...]


@dataclass(frozen=True)
class Agreement:
    """Which parts agree; None where a file says nothing. ``named``: (groups with the same name, groups)."""

    counts: bool | None = None
    columns: bool | None = None
    named: tuple[int, int] = (0, 0)
    details: tuple[str, ...] = ()


def stated(text: str) -> Statement:
    """What the comments say."""
    groups = tuple((m[1], int(m[2]), int(m[3])) for m in _GROUP.finditer(text))
    totals = [int(m[2]) for m in _TOTAL.finditer(text)]
    barriers = sum(totals) if totals else sum(n for _, n, _ in groups)
    return Statement(groups, barriers, tuple(int(m[1]) for m in _COLUMNS.finditer(text)))


def extracted(program: Program, kernel: Kernel) -> Statement | None:
    """What a run of the smallest launch shows, in the first CTA; None when no launch can be made."""
    launches = [run for run in plan(program, kernel, None, survey(program)) if not run.extra]
    if not launches:
        return None
    run = next((launch for launch in launches if not launch.replaceable), launches[0])
    trace = Machine(program, kernel, run, budget=STEP_BUDGET, seconds=SECONDS).run()
    facts = Facts(Audit(program, kernel, run, trace, time.thread_time() + SECONDS))
    rows = ledger(facts, Resources(facts, [], []))
    groups = tuple((row.name, len(row.addresses), row.init_count) for row in rows)
    columns = tuple(int(e.data["cols"]) for e in trace.events if e.kind == "tcgen05.alloc" and e.cta == 0)
    return Statement(groups, sum(n for _, n, _ in groups), columns)


def compare(path: str) -> Agreement:
    """Compare a file's comments with its code."""
    text = Path(path).read_text(encoding="utf-8", errors="replace")
    wanted = stated(text)
    program = build_program(path, text, Options(arch=guess_arch(text)))
    found = [s for s in (extracted(program, k) for k in program.kernels if not k.empty) if s is not None]
    return agreement(wanted, found)


def agreement(wanted: Statement, found: list[Statement]) -> Agreement:
    """Compare the comments of a file with all its kernels together."""
    groups = [group for statement in found for group in statement.groups]
    columns = sorted(n for statement in found for n in statement.columns)
    have = sorted(count for _, n, count in groups for _ in range(n))
    want = sorted(count for _, n, count in wanted.groups for _ in range(n))
    names = {_plain(name): (n, count) for name, n, count in groups}
    named = [(_plain(name), n, count) for name, n, count in wanted.groups]
    same = [names.get(name) == (n, count) for name, n, count in named]
    details = [
        f"{name}: comment says {n} with count {count}, code shows {names.get(name, 'no such name')}"
        for (name, n, count), ok in zip(named, same)
        if not ok
    ]
    if want != have:
        details.append(f"{len(want)} barriers by the comments, {len(have)} by the code")
    return Agreement(
        counts=have == want if wanted.groups else None,
        columns=columns == sorted(wanted.columns) if wanted.columns else None,
        named=(sum(same), len(same)),
        details=tuple(details),
    )


def _plain(name: str) -> str:
    """A name without what generated code adds to it."""
    return _PLAIN.sub("", name)


def rates(found: Iterator[Agreement] | list[Agreement]) -> list[str]:
    """Lines that sum up agreements."""
    each = list(found)
    out = []
    for title, values in (
        ("barrier counts", [a.counts for a in each if a.counts is not None]),
        ("tensor memory columns", [a.columns for a in each if a.columns is not None]),
    ):
        out.append(f"{title}: {sum(values)} of {len(values)} files agree")
    out.append(f"barrier groups: {sum(a.named[0] for a in each)} of {sum(a.named[1] for a in each)} agree by name")
    return out
