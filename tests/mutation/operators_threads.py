"""Operators on who executes what."""

from __future__ import annotations

import re
from collections.abc import Iterator

from auditor.trace import ALL_LANES
from tests.mutation.mutants import Change, Edit, flat, is_statement, operator
from tests.mutation.needed import by_all, meets_first
from tests.mutation.sites import Good, Site
from tests.mutation.tokens import Span
from tests.mutation.tree import Node

_ONE = re.compile(r"elect|lane\b|tid\b|threadIdx\.x|\bt\b|leader|storer")
_SINGLE = ("copy", "expect", "mma", "commit", "store", "bulk-commit", "arrive", "init")


def _guards(good: Good, site: Site) -> Iterator[Node]:
    """The conditions under which a site is executed, innermost first, over all callers."""
    for frame in (*site.frames[:0:-1], site.span, *site.callers):
        node = good.source.node_at(frame.start)
        while node is not None and node.kind not in ("function", "lambda"):
            around = node.parent
            if around is not None and around.kind == "if" and around.children and around.children[0] is node:
                yield around
            node = around


def _conjuncts(good: Good, header: Span) -> list[Span]:
    out: list[Span] = []
    depth, start = 0, header.start
    for token in good.source.between(header):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(token.text, 0)
        if token.text == "&&" and depth == 0:
            out.append(Span(start, token.start))
            start = token.end
    return [*out, Span(start, header.end)]


def _election(good: Good, site: Site) -> Span | None:
    """The part of a condition that leaves one lane."""
    for guard in _guards(good, site):
        assert guard.header is not None
        for part in reversed(_conjuncts(good, guard.header)):
            text = good.text(part)
            if _counts(good, guard, text):
                continue
            if _ONE.search(text) and ("==" in text or "(" in text or re.fullmatch(r"\s*\w+\s*", text)):
                start = part.start + len(text) - len(text.lstrip())
                return Span(start, start + len(text.strip()))
    return None


def _counts(good: Good, guard: Node, text: str) -> bool:
    """Whether a condition is about the variable of a loop around it, and not about the thread."""
    headers = (good.text(n.header) for n in guard.ancestors() if n.kind == "for" and n.header is not None)
    counters = {c for header in headers for c in re.findall(r"^\s*(?:const )?\w+ (\w+) =", header)}
    return bool(counters & set(re.findall(r"\w+", text))) and not re.search(r"elect|threadIdx", text)


def _whole_warp(text: str) -> str:
    """A condition that holds for all lanes of the warp of which it chose one."""
    thread = re.fullmatch(r"(threadIdx\.x|tid|t)\s*==\s*(.+)", text)
    return f"{thread[1]} / 32 == ({thread[2]}) / 32" if thread else "true"


@operator("elect-removed", "every lane executes what one should")
def elect_removed(good: Good) -> Iterator[Change]:
    done: set[Span] = set()
    for site in good.of(*_SINGLE):
        part = _election(good, site) if site.one_lane else None
        if part is not None and part not in done:
            done.add(part)
            yield Change((Edit(part, _whole_warp(good.text(part))),), site)


@operator("group-wait-of-other-thread", "wait_group is executed by a thread that has no groups")
def other_thread(good: Good) -> Iterator[Change]:
    for site in good.of("bulk-wait"):
        part = _election(good, site) if site.one_lane else None
        found = re.search(r"(.*==\s*)(\d+)$", good.text(part)) if part is not None else None
        if part is not None and not _stores_too(good, site, part):
            other = f"{found[1]}{int(found[2]) + 1}" if found else f"!({good.text(part)})"
            yield Change((Edit(part, other),), site)


def _stores_too(good: Good, site: Site, part: Span) -> bool:
    """Whether the condition of a group wait is also that of the stores: then both move to the other thread."""
    guard = next(g for g in _guards(good, site) if g.header is not None and g.header.holds(part))
    return any(s.kind in ("store", "bulk-commit") for s in good.inside(guard))


@operator("wait-by-one-lane", "one lane waits, the warp reads")
def wait_by_one_lane(good: Good) -> Iterator[Change]:
    for site in good.of("wait"):
        lanes: dict[int, int] = {}
        for event in site.events:
            lanes[event.warp] = lanes.get(event.warp, 0) | event.lanes
        whole_warp = all(mask == ALL_LANES for mask in lanes.values())
        if is_statement(good, site) and whole_warp and not meets_first(good, site):
            yield Change((Edit(Span(site.span.start, site.span.start), "if (threadIdx.x % 32 == 0) "),), site)


def _twice(good: Good, kind: str) -> Iterator[Change]:
    for site in good.of(kind):
        if is_statement(good, site):
            again = flat(good, site.span)
            yield Change((Edit(site.node.span, f"{{ {again}; {again}; }}"),), site)


@operator("arrive-twice", "a thread arrives twice in a phase")
def arrive_twice(good: Good) -> Iterator[Change]:
    yield from _twice(good, "arrive")


@operator("commit-twice", "the same barrier is signalled by two commits")
def commit_twice(good: Good) -> Iterator[Change]:
    yield from _twice(good, "commit")


@operator("copy-twice", "a tile is copied twice")
def copy_twice(good: Good) -> Iterator[Change]:
    yield from _twice(good, "copy")


@operator("expect-twice", "bytes are expected twice")
def expect_twice(good: Good) -> Iterator[Change]:
    yield from _twice(good, "expect")


@operator("cta-barrier-in-role", "__syncthreads in the code of one role")
def barrier_in_role(good: Good) -> Iterator[Change]:
    done: set[tuple[str, int]] = set()
    for site in good.of("copy", "mma", "wgmma"):
        role = (site.kind, site.node.function.start)
        if role not in done and site.node.kind == "simple" and not by_all(good, site):
            done.add(role)
            edit = Edit(site.node.span, "{ __syncthreads(); " + flat(good, site.node.span) + " }")
            yield Change((edit,), site)


@operator("early-return", "the warp that frees tensor memory leaves before")
def early_return(good: Good) -> Iterator[Change]:
    for site in good.of("dealloc"):
        warp = min(e.warp for e in site.events)
        guard = next(_guards(good, site), None)
        node = guard if guard is not None else site.node
        if node.function.kind == "function" and not site.callers:
            at = Span(node.start, node.start)
            yield Change((Edit(at, f"if (threadIdx.x / 32 == {warp}) return; "),), site)
