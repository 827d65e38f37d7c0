"""Describes events and barriers in the field's words, for messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from auditor.trace import ALL_LANES, Access, Event

if TYPE_CHECKING:
    from auditor.audit import Audit

INSTR_NAMES = {
    "tma.load": "TMA load",
    "bulk.load": "bulk copy",
    "bulk.dsmem": "bulk copy to a peer CTA",
    "tma.store": "TMA store",
    "tma.reduce": "TMA reduction",
    "bulk.store": "bulk store",
    "bulk.reduce": "bulk reduction",
    "mma": "tcgen05.mma",
    "mma.ws": "tcgen05.mma.ws",
    "wgmma": "wgmma",
    "tcgen05.cp": "tcgen05.cp",
    "tcgen05.shift": "tcgen05.shift",
    "cp.async": "cp.async",
    "try_cancel": "cluster launch query",
    "st.async": "st.async",
}
_KIND = {
    "ld": "load",
    "st": "store",
    "atom": "atomic",
    "mbar.init": "mbarrier init",
    "mbar.inval": "mbarrier inval",
    "mbar.arrive": "arrive",
    "mbar.expect_tx": "expect_tx",
    "mbar.wait": "wait",
    "tcgen05.ld": "tcgen05.ld",
    "tcgen05.st": "tcgen05.st",
    "tcgen05.alloc": "tcgen05.alloc",
    "tcgen05.dealloc": "tcgen05.dealloc",
    "commit": "tcgen05.commit",
    "bar.sync": "barrier",
    "bar.arrive": "barrier arrive",
    "exit": "end of the kernel",
}


class Story:
    """Names for what happened in one run."""

    def __init__(self, audit: Audit) -> None:
        self.audit = audit

    def thread(self, event: Event) -> str:
        """Who executed an event: "warp 4", "warp 4 lane 0", with the CTA when there are several."""
        trace = self.audit.trace
        if event.warp < 0:
            issuer = event.data.get("issuer")
            return self.thread(trace.events[issuer]) if issuer is not None else "hardware"
        warp = event.warp % trace.warps_per_cta
        text = f"warp {warp}"
        if event.lanes & ALL_LANES != ALL_LANES:
            lanes = [n for n in range(32) if event.lanes >> n & 1]
            text += f" lane {lanes[0]}" if len(lanes) == 1 else f" ({len(lanes)} lanes)"
        if trace.ctas > 1:
            text += f" of CTA {event.cta}"
        return text

    def what(self, event: Event) -> str:
        """The operation's name."""
        if event.kind in ("async", "issue"):
            instr = str(event.data.get("instr"))
            return INSTR_NAMES.get(instr, instr)
        return _KIND.get(event.kind, event.kind)

    def who(self, event: Event) -> str:
        return f"{self.what(event)} by {self.thread(event)}"

    def barrier(self, index: int | None) -> str:
        """A barrier's name as the source has it."""
        if index is None or not 0 <= index < len(self.audit.trace.barriers):
            return "the mbarrier"
        record = self.audit.trace.barriers[index]
        return f"mbarrier {record.name}" + (f" of CTA {record.cta}" if self.audit.trace.ctas > 1 else "")

    def place(self, access: Access) -> str:
        """The memory that an access touches: variable and bytes, or tensor-memory columns."""
        if access.space == "tmem":
            lanes = "" if access.lane_hi - access.lane_lo >= 128 else f", lanes {access.lane_lo}-{access.lane_hi - 1}"
            return f"TMEM columns {access.lo}-{access.hi - 1}{lanes}"
        if access.space == "global":
            return f"{access.hi - access.lo} bytes of global memory"
        kernel, launch = self.audit.kernel, self.audit.launch
        name, base = "shared memory", 0
        from auditor.machine.shared_layout import shared_layout

        offsets, _ = shared_layout(kernel, launch)
        best = -1
        for var in kernel.shared:
            start = offsets.get(var.key, -1)
            if best < start <= access.lo and (var.dynamic or access.lo < start + max(var.size, 1)):
                best, name, base = start, var.name, start
        return f"{name}[{access.lo - base}..{access.hi - base}) bytes"

    def iteration(self, event: Event) -> int:
        """How many times the same thread came by the same place before (0: the first time)."""
        issuer = event.data.get("issuer") if event.warp < 0 else None
        e = self.audit.trace.events[issuer] if issuer is not None else event
        return sum(
            1
            for o in self.audit.trace.events[: e.id]
            if o.warp == e.warp and o.kind == e.kind and o.where == e.where and o.lanes & e.lanes
        )
