"""Sites: the statements of a good kernel that do something the hardware sees, found by running it.

A site is a call or asm statement in the source. What it is follows from the events that it caused in the run of the
good kernel, whatever it is called; wrappers of one operation belong to the site that calls them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from auditor.engine import guess_arch
from auditor.frontend import build_program
from auditor.frontend.options import Options
from auditor.machine.core import Machine
from auditor.machine.scenario import ScenarioSettings, plan
from auditor.source import Loc
from auditor.trace import Event, Trace
from tests.mutation.ptx_text import Operand, arguments, operands
from tests.mutation.tokens import Span
from tests.mutation.tree import Node, Source

_KINDS = {
    "mbar.init": "init", "mbar.wait": "wait", "mbar.poll": "wait", "mbar.expect_tx": "expect", "commit": "commit",
    "bulk.commit": "bulk-commit", "bulk.wait": "bulk-wait", "wgmma.commit": "wgmma-commit", "wgmma.wait": "wgmma-wait",
    "wgmma.fence": "wgmma-fence", "cpasync.commit": "cpasync-commit", "cpasync.wait": "cpasync-wait",
    "bar.arrive": "named-arrive", "cluster.arrive": "cluster-arrive", "cluster.wait": "cluster-wait",
    "warp.sync": "syncwarp", "fence.proxy": "proxy-fence", "fence.mbarrier_init": "init-fence",
    "tcgen05.fence": "tcgen05-fence", "tcgen05.alloc": "alloc", "tcgen05.dealloc": "dealloc",
    "tcgen05.relinquish": "relinquish", "tcgen05.ld": "tmem-load", "tcgen05.st": "tmem-store",
    "wait.ld": "wait-ld", "wait.st": "wait-st", "setmaxnreg": "setmaxnreg", "ld": "read", "st": "write",
    "atom": "write",
}
_OPERATIONS = {
    "tma.load": "copy", "bulk.load": "copy", "bulk.dsmem": "copy", "tma.store": "store", "bulk.store": "store",
    "tma.reduce": "store", "bulk.reduce": "store", "mma": "mma", "mma.ws": "mma", "tcgen05.cp": "scale-copy",
    "wgmma": "wgmma", "cp.async": "cp-async",
}
# Operations that read or write data: what synchronisation is for.
ACCESSES = frozenset(("copy", "store", "mma", "wgmma", "scale-copy", "cp-async", "tmem-load", "tmem-store", "read",
                      "write"))
# What a library call's last arguments are, where its body cannot be looked into.
_TAIL = {"init": ("bar", "count"), "expect": ("bar", "bytes"), "wait": ("bar", "parity"), "alloc": ("slot", "columns"),
         "dealloc": ("base", "columns"), "commit": ("bar",), "tmem-load": ("tmem",), "arrive": ("bar",),
         "copy": ("dst", "map", "at", "bar"), "mma": ("d", "a", "b", "format", "accumulate")}


@dataclass(eq=False)
class Site:
    """One statement of interest.

    ``frames``: spans from the site inwards to the asm statement; ``callers``: those from the site out to the kernel.
    ``roles``: operands as the site gives them; ``inner``: as the asm statement names them.
    """

    kind: str
    span: Span
    node: Node
    frames: tuple[Span, ...]
    callers: tuple[Span, ...] = ()
    events: list[Event] = field(default_factory=list)
    roles: dict[str, Operand] = field(default_factory=dict)
    inner: dict[str, Operand] = field(default_factory=dict)
    bars: set[tuple[int, int]] = field(default_factory=set)  # (launch, offset of the barrier in shared memory)

    @property
    def one_lane(self) -> bool:
        return all(e.lanes.bit_count() == 1 for e in self.events)

    @property
    def parities(self) -> list[int]:
        return [e.data["parity"] for e in self.events if e.kind == "mbar.wait" and "parity" in e.data]


@dataclass
class Good:
    """A good kernel file: its text, and the sites that its runs reached."""

    source: Source
    sites: list[Site]
    runs: list[Trace] = field(default_factory=list)
    static_shared: bool = True  # whether a kernel has shared variables besides the dynamic memory

    def inside(self, node: Node) -> list[Site]:
        """The sites that a statement executes, in its text or in functions that it calls."""
        span = node.span
        return [s for s in self.sites if span.holds(s.span) or any(span.holds(c) for c in s.callers)]

    def of(self, *kinds: str) -> Iterator[Site]:
        return (s for s in self.sites if s.kind in kinds)

    def text(self, span: Span) -> str:
        return self.source.cut(span)


def explore(path: str, text: str) -> Good:
    """Run a good kernel and find its sites."""
    program = build_program(path, text, Options(arch=guess_arch(text)))
    source = Source(path, text)
    traces: list[Trace] = []
    for kernel in program.kernels:
        planned = plan(program, kernel, ScenarioSettings())
        launches = [run for run in planned if not (run.reduced or run.deep or run.ragged or run.alone)]
        traces += [Machine(program, kernel, launch).run() for launch in launches]
    finder = _Finder(source)
    for trace in traces:
        finder.read(trace)
    static = any(not v.dynamic for kernel in program.kernels for v in kernel.shared)
    return Good(source, finder.sites(), traces, static)


class _Finder:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.found: dict[tuple[str, Span], Site] = {}
        self.chains: list[tuple[str, tuple[Span, ...], bool, Event]] = []
        self.bars: dict[int, set[tuple[int, int]]] = {}  # by the event's identity: its barriers
        self.run = -1

    def read(self, trace: Trace) -> None:
        self.run += 1
        for event in trace.events:
            kind = _kind(trace, event)
            if kind is None:
                continue
            spans = tuple(s for loc in event.where if (s := self._span(loc)) is not None)
            if spans:
                self.chains.append((kind, spans, event.where[0].file != self.source.path, event))
                operation = trace.events[event.data["op"]] if event.kind == "issue" else event
                bars = operation.data.get("bar")
                self.bars[id(event)] = {(self.run, trace.barriers[bar].offset)
                                        for bar in (bars if isinstance(bars, list) else [bars]) if isinstance(bar, int)}

    def sites(self) -> list[Site]:
        inside: dict[Node, set[Span]] = defaultdict(set)
        kinds: dict[Node, set[str]] = defaultdict(set)
        for kind, spans, _, _ in self.chains:
            for span in spans:
                node = self.source.node_at(span.start)
                if node is not None:
                    inside[node.function].add(span)
                    kinds[node.function].add(kind)
        for kind, spans, library, event in self.chains:
            depth = 0
            while depth + 1 < len(spans) and self._thin(spans[depth], inside, kinds):
                depth += 1
            self._add(kind, spans[:depth + 1], spans[depth + 1:], library, event)
            if kind in ("cluster-arrive", "cluster-wait") and depth:
                self._add("half-" + kind, spans[:1], spans[1:], library, event)
        both = {s.span for s in self.found.values() if s.kind == "cluster-arrive"} & {
            s.span for s in self.found.values() if s.kind == "cluster-wait"}
        for site in self.found.values():
            if site.span in both:
                site.kind = "cluster-barrier" if site.kind == "cluster-arrive" else ""
        return sorted((s for s in self.found.values() if s.kind), key=lambda s: s.span.start)

    def _thin(self, span: Span, inside: dict[Node, set[Span]], kinds: dict[Node, set[str]]) -> bool:
        """Whether the function around a span does nothing but that one operation."""
        node = self.source.node_at(span.start)
        if node is None:
            return False
        function = node.function
        return len(inside[function]) == 1 or kinds[function] <= {"cluster-arrive", "cluster-wait"} or (
            kinds[function] <= {"wait"})

    def _add(self, kind: str, spans: tuple[Span, ...], callers: tuple[Span, ...], library: bool, event: Event) -> None:
        span = spans[-1]
        node = self.source.node_at(span.start)
        if node is None:
            return
        site = self.found.get((kind, span))
        if site is None:
            site = self.found[kind, span] = Site(kind, span, node, spans[::-1], callers)
            site.roles, site.inner = self._roles(kind, spans, library)
        site.events.append(event)
        site.bars |= self.bars[id(event)]

    # ---- places -----------------------------------------------------------------------------------------------------

    def _span(self, loc: Loc) -> Span | None:
        """The call or statement at a place of the run, None outside of this source's functions."""
        if loc.file != self.source.path:
            return None
        start = self.source.offset(loc.line, loc.column)
        if self.source.node_at(start) is None:
            return None
        if (loc.end_line, loc.end_column) > (loc.line, loc.column):
            return Span(start, self.source.offset(loc.end_line, loc.end_column))
        index = self.source.token_at(start)  # a macro: up to the end of its arguments
        following = self.source.tokens[index + 1] if index + 1 < len(self.source.tokens) else None
        if following is not None and following.text == "(":
            return Span(start, self.source.tokens[self.source.lexed.partner[index + 1]].end)
        return Span(start, self.source.tokens[index].end)

    # ---- operands ---------------------------------------------------------------------------------------------------

    def _roles(
        self, kind: str, spans: tuple[Span, ...], library: bool
    ) -> tuple[dict[str, Operand], dict[str, Operand]]:
        """The operands of the instruction, each followed outwards as far as the site; and as the asm has them."""
        source = self.source
        innermost = spans[0]
        if library:
            given = arguments(source, innermost)
            tail = _TAIL.get(kind, ())
            roles = {role: Operand(span, False) for role, span in zip(tail, given[len(given) - len(tail):])} if (
                len(given) >= len(tail)) else {}
        else:
            roles = operands(source, self._asm(innermost))
        inner_roles = dict(roles)
        macro = source.macros.get(source.tokens[source.token_at(innermost.start)].text)
        if macro is not None and not library:
            given = arguments(source, innermost)
            roles = {role: self._outer(o, macro.parameters, given) for role, o in roles.items()}
        for inner, outer in pairwise(spans):
            node = source.node_at(inner.start)
            assert node is not None
            given = arguments(source, outer)
            roles = {role: self._outer(o, node.function.parameters, given) for role, o in roles.items()}
        return roles, inner_roles

    def _asm(self, span: Span) -> Span:
        macro = self.source.macros.get(self.source.tokens[self.source.token_at(span.start)].text)
        return macro.body if macro is not None else span

    def _outer(self, operand: Operand, parameters: tuple[str, ...], given: list[Span]) -> Operand:
        """The argument that a parameter stands for; the operand itself where it is something else."""
        text = self.source.cut(operand.span)
        for name in parameters:
            stands = text.strip("() ") == name or text.endswith((f"({name})", f"(&{name})"))
            if name and stands and not operand.literal:
                index = parameters.index(name)
                if index < len(given):
                    return Operand(given[index], False)
        return operand


def _kind(trace: Trace, event: Event) -> str | None:
    if event.warp < 0:
        return None
    if event.kind == "issue":
        return _OPERATIONS.get(str(trace.events[event.data["op"]].data["instr"]))
    if event.kind == "mbar.arrive":
        return "expect" if event.data.get("tx") else "arrive"
    if event.kind == "bar.sync":
        return "cta-barrier" if event.data["id"] == 0 else "named-barrier"
    if event.kind in ("ld", "st", "atom"):
        return _KINDS[event.kind] if any(a.space == "shared" for a in event.accesses) else None
    return _KINDS.get(event.kind)
