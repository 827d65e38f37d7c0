"""BW604: register redistribution that cannot work."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.rule import Rule
from auditor.rulekit import context, listing
from auditor.trace import Event

REGISTER_FILE = 65_536
GRANULE = 8
MOST = 255
LEAST = 24


class Setmaxnreg(Rule):
    code = "BW604"
    name = "setmaxnreg"
    level = Level.ERROR
    confidence = "medium"
    entries = ("OT-03", "OT-04")

    def check(self, audit: Audit) -> Iterator[Finding]:
        if not audit.has("setmaxnreg"):
            return
        events = [e for e in audit.trace.events if e.kind == "setmaxnreg" and e.cta == 0]
        if not events:
            return
        entry = self._entry(audit)
        if entry is None:
            yield audit.finding(
                type(self), events[0].where,
                f"setmaxnreg is ignored: {audit.kernel.display} does not fix its number of registers at entry",
                level=Level.NOTE, related=[((audit.kernel.loc,), "the kernel")],
                hint="give __launch_bounds__ its second argument (blocks per SM, 1 for example), or __maxnreg__; "
                     "-maxrregcount on the command line does as well",
                context=context(audit, events[0]))
            return
        yield from self._groups(audit, events)
        yield from self._values(audit, events)
        yield from self._pool(audit, events, entry)

    def _entry(self, audit: Audit) -> int | None:
        """Registers a thread has at entry, as far as the source fixes them: at most these with launch bounds."""
        kernel = audit.kernel
        if kernel.max_registers:
            return kernel.max_registers
        if kernel.max_threads and kernel.min_blocks:
            threads = -(-kernel.max_threads // 128) * 128
            return min(REGISTER_FILE // (threads * kernel.min_blocks) // GRANULE * GRANULE, MOST)
        return None

    def _groups(self, audit: Audit, events: list[Event]) -> Iterator[Finding]:
        """All warps of a warpgroup have to execute it."""
        by_warp: dict[int, list[Event]] = {}
        for e in events:
            by_warp.setdefault(e.warp, []).append(e)
        reported = set()
        for first in range(0, audit.trace.warps_per_cta, 4):
            group = range(first, min(first + 4, audit.trace.warps_per_cta))
            rounds = {w: len(by_warp.get(w, ())) for w in group}
            most = max(rounds.values())
            absent = [w for w in group if rounds[w] < most]
            if not absent or not audit.trace.complete:
                continue
            e = by_warp[next(w for w in group if rounds[w] == most)][-1]
            if e.where not in reported:
                reported.add(e.where)
                yield audit.finding(
                    type(self), e.where,
                    f"setmaxnreg.{e.data['action']} is executed by warp {e.warp}, but not by {_warps(absent)} of the "
                    "same "
                    "warpgroup: all four warps have to execute it",
                    level=Level.WARNING if e.data["action"] == "dec" else None,
                    hint="put it where the whole warpgroup passes, before its warps go their own ways",
                    context=context(audit, e))

    def _values(self, audit: Audit, events: list[Event]) -> Iterator[Finding]:
        """The warps of a warpgroup have to name the same number, each time."""
        first: dict[tuple[int, int], Event] = {}
        rounds: dict[int, int] = {}
        for e in events:
            n = rounds[e.warp] = rounds.get(e.warp, -1) + 1
            other = first.setdefault((e.warp // 4, n), e)
            if other.data["registers"] != e.data["registers"]:
                yield audit.finding(
                    type(self), e.where,
                    f"setmaxnreg.{e.data['action']} to {e.data['registers']} registers by warp {e.warp}, but to "
                    f"{other.data['registers']} by warp {other.warp} of the same warpgroup: all four warps have to "
                    "name one number",
                    related=[(other.where, f"warp {other.warp} names {other.data['registers']}")],
                    hint="execute one setmaxnreg for the whole warpgroup, before its warps go their own ways",
                    context=context(audit, e))
                return

    def _pool(self, audit: Audit, events: list[Event], entry: int | None) -> Iterator[Finding]:
        """No more registers than there are, and decreases and increases that are such."""
        now: dict[int, int] = {}
        for e in events:
            before = now.get(e.warp, entry)
            n, action = e.data["registers"], e.data["action"]
            bound = e.warp not in now and not audit.kernel.max_registers  # the compiler may have chosen fewer
            if before is not None and (n > before if action == "dec" else n < before and not bound):
                yield audit.finding(
                    type(self), e.where,
                    f"setmaxnreg.{action} to {n} registers, but the warp has {before}: " + (
                        "a decrease must not raise the number" if action == "dec" else "an increase must not lower it"),
                    level=None if e.warp in now else Level.WARNING,
                    hint="use setmaxnreg.inc for more and setmaxnreg.dec for fewer registers than the warp has",
                    context=context(audit, e))
                return
            now[e.warp] = n
        warps = audit.trace.warps_per_cta
        least = audit.kernel.max_registers or LEAST
        final = [now.get(w) or least for w in range(warps)]
        total = sum(final) * 32
        pool = min(entry * warps * 32, REGISTER_FILE) if entry is not None else REGISTER_FILE
        increases = [e for e in events if e.data["action"] == "inc"]
        if not increases:
            return
        e = increases[-1]
        keep = [w for w in range(warps) if w not in now]
        if total > pool:
            groups = listing((f"{sum(1 for n in final if n == value)} warps x "
                              f"{value}" for value in dict.fromkeys(final)), 6)
            yield audit.finding(
                type(self), e.where,
                f"setmaxnreg.inc to {e.data['registers']} registers can never be granted: {groups} make "
                f"{total:,} registers, and the CTA has {pool:,}" + (f" ({entry} a thread at "
                                                                    "entry)" if entry is not None else ""),
                related=[(d.where, f"warp {d.warp} keeps {d.data['registers']} registers")
                         for d in events if d.data["action"] == "dec"][:1],
                hint="lower the numbers until all warps together need no more than at entry: "
                     "40 + 232 + 232 for three warpgroups of 168",
                context=context(audit, e))
        elif entry is not None and sum(now.get(w) or entry for w in range(warps)) * 32 > pool:
            yield audit.finding(
                type(self), e.where,
                f"setmaxnreg.inc to {e.data['registers']} registers waits for registers that nobody gives back: "
                f"{_warps(keep)} may keep {entry} each, and the CTA has {pool:,}",
                level=Level.WARNING, related=[((audit.kernel.loc,), "the kernel, with its bounds")],
                hint="let the warpgroups that need few registers execute setmaxnreg.dec first",
                context=context(audit, e))


def _warps(numbers: list[int]) -> str:
    return f"warp{'s' if len(numbers) > 1 else ''} {listing(map(str, numbers))}"
