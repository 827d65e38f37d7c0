"""Operators on numbers: bytes, counts, columns, lanes, groups, masks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from tests.mutation.mutants import Change, Edit, operator
from tests.mutation.needed import used_elsewhere, whole_ring_inside
from tests.mutation.ptx_text import Operand
from tests.mutation.sites import Good, Site
from tests.mutation.tokens import Span, lex_piece
from tests.mutation.tree import Node


def _edit(good: Good, operand: Operand, template: str, literal: Callable[[int], int]) -> Edit:
    """Replace an operand: ``template`` says how an expression changes, ``literal`` how a number in the asm does."""
    text = good.text(operand.span)
    return Edit(operand.span, str(literal(int(text))) if operand.literal else template.format(text))


def _vary(
    good: Good, kinds: tuple[str, ...], role: str, template: str, literal: Callable[[int], int]
) -> Iterator[Change]:
    for site in good.of(*kinds):
        operand = site.roles.get(role)
        if operand is not None and (site.kind != "init" or used_elsewhere(good, site)):
            yield Change((_edit(good, operand, template, literal),), site)


def _terms(good: Good, span: Span) -> list[Span]:
    """The summands of an expression."""
    out: list[Span] = []
    depth = 0
    start = span.start
    for token in lex_piece(good.source.text, span):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(token.text, 0)
        if token.text == "+" and depth == 0:
            out.append(Span(start, token.start))
            start = token.end
    return [*out, Span(start, span.end)]


@operator("bytes-of-one-operand", "the bytes of one operand are not expected")
def bytes_of_one_operand(good: Good) -> Iterator[Change]:
    for site in good.of("expect"):
        operand = site.roles.get("bytes")
        if operand is None:
            continue
        terms = _terms(good, operand.span)
        if len(terms) > 1:
            for left_out in terms:
                rest = " + ".join(good.text(t).strip() for t in terms if t != left_out)
                yield Change((Edit(operand.span, rest),), site)
        else:
            yield Change((Edit(operand.span, f"({good.text(operand.span)}) / 2"),), site)


@operator("bytes-too-many", "more bytes are expected than arrive")
def bytes_too_many(good: Good) -> Iterator[Change]:
    yield from _vary(good, ("expect",), "bytes", "({}) + 64", lambda n: n + 64)


@operator("copy-size-short", "a bulk copy is 16 bytes short")
def copy_size(good: Good) -> Iterator[Change]:
    yield from _vary(good, ("copy",), "size", "({}) - 16", lambda n: n - 16)


@operator("copy-size-unaligned", "a bulk copy's size is no multiple of 16")
def copy_size_unaligned(good: Good) -> Iterator[Change]:
    yield from _vary(good, ("copy", "store"), "size", "({}) - 8", lambda n: n - 8)


@operator("init-count-more", "an init count is one too high")
def init_count_more(good: Good) -> Iterator[Change]:
    yield from _vary(good, ("init",), "count", "({}) + 1", lambda n: n + 1)


@operator("init-count-less", "an init count is one too low")
def init_count_less(good: Good) -> Iterator[Change]:
    yield from _vary(good, ("init",), "count", "({}) - 1", lambda n: n - 1)


@operator("named-barrier-more", "a named barrier counts a warp too many")
def named_barrier_more(good: Good) -> Iterator[Change]:
    yield from _vary(good, ("named-barrier",), "threads", "({}) + 32", lambda n: n + 32)


@operator("named-barrier-less", "a named barrier counts a warp too few")
def named_barrier_less(good: Good) -> Iterator[Change]:
    yield from _vary(good, ("named-barrier",), "threads", "({}) - 32", lambda n: n - 32)


@operator("named-barrier-id", "a named barrier has a number that does not exist")
def named_barrier_id(good: Good) -> Iterator[Change]:
    yield from _vary(good, ("named-barrier",), "id", "({}) + 16", lambda n: n + 16)


@operator("groups-one-more", "wait_group lets one group more stay in flight")
def groups_one_more(good: Good) -> Iterator[Change]:
    for site in good.of("bulk-wait", "wgmma-wait", "cpasync-wait"):
        given = re.search(r"<(\d+)>", good.text(site.span))
        operand = site.roles.get("groups")
        if given is not None and len(site.frames) > 1:
            span = Span(site.span.start + given.start(1), site.span.start + given.end(1))
            yield Change((Edit(span, str(int(given[1]) + 1)),), site)
        elif operand is not None:
            yield Change((_edit(good, operand, "({}) + 1", lambda n: n + 1),), site)


@operator("groups-read-only", "wait_group.read where the writes must be done")
def groups_read(good: Good) -> Iterator[Change]:
    for site in good.of("bulk-wait"):
        span = site.frames[-1]
        at = good.text(span).find("cp.async.bulk.wait_group ")
        if at >= 0:
            end = span.start + at + len("cp.async.bulk.wait_group")
            yield Change((Edit(Span(end, end), ".read"),), site)


@operator("alloc-columns-halved", "half of the columns are allocated")
def alloc_halved(good: Good) -> Iterator[Change]:
    yield from _vary(good, ("alloc",), "columns", "({}) / 2", lambda n: n // 2)


@operator("alloc-columns-odd", "the number of columns is no power of two")
def alloc_odd(good: Good) -> Iterator[Change]:
    yield from _vary(good, ("alloc",), "columns", "({}) - 16", lambda n: n - 16)


@operator("dealloc-columns-halved", "half of the columns are freed")
def dealloc_halved(good: Good) -> Iterator[Change]:
    yield from _vary(good, ("dealloc",), "columns", "({}) / 2", lambda n: n // 2)


@operator("dealloc-base-shifted", "another address is freed than was allocated")
def dealloc_base(good: Good) -> Iterator[Change]:
    yield from _vary(good, ("dealloc",), "base", "({}) + 32", lambda n: n + 32)


@operator("lanes-shifted", "a warp reads or writes the lanes of its neighbour")
def lanes_shifted(good: Good) -> Iterator[Change]:
    yield from _vary(good, ("tmem-load", "tmem-store"), "tmem", "(({}) ^ (1u << 21))", lambda n: n)


@operator("columns-shifted", "columns behind the allocation are read or written")
def columns_shifted(good: Good) -> Iterator[Change]:
    for site in good.of("tmem-load", "tmem-store"):
        operand = site.roles.get("tmem")
        columns = sum({e.data["base"]: e.data["cols"] for s in good.of("alloc") for e in s.events}.values())
        if operand is not None and columns:
            yield Change((Edit(operand.span, f"({good.text(operand.span)}) + {columns}"),), site)


@operator("accumulate-always", "the first MMA of a tile adds to what is there")
def accumulate_always(good: Good) -> Iterator[Change]:
    for site in good.of("mma"):
        operand = site.roles.get("accumulate")
        if operand is not None:
            yield Change((Edit(operand.span, "1"),), site)


@operator("commit-mask-of-one", "a multicast commit reaches one CTA only")
def commit_mask(good: Good) -> Iterator[Change]:
    yield from _mask(good, "commit")


@operator("copy-mask-of-one", "a multicast copy reaches one CTA only")
def copy_mask(good: Good) -> Iterator[Change]:
    yield from _mask(good, "copy")


def _mask(good: Good, kind: str) -> Iterator[Change]:
    done: set[Span] = set()
    for site in good.of(kind):
        operand = site.roles.get("mask")
        if operand is not None and operand.span not in done:
            done.add(operand.span)
            yield Change((Edit(operand.span, re.sub(r"\b3\b", "1", good.text(operand.span))),), site)


@operator("rank-outside", "mapa names a rank that the cluster does not have")
def rank_outside(good: Good) -> Iterator[Change]:
    for found in re.finditer(r'mapa\.shared::cluster.*?"r"\((rank)\)', good.source.text, re.DOTALL):
        yield Change((Edit(Span(found.start(1), found.end(1)), "(rank) + 2"),))


@operator("registers-too-many", "setmaxnreg asks for more registers than there are")
def registers(good: Good) -> Iterator[Change]:
    for site in good.of("setmaxnreg"):
        operand = site.roles.get("registers")
        if operand is not None and ".inc" in good.text(site.frames[-1]):
            yield Change((_edit(good, operand, "({}) + 16", lambda n: n + 16),), site)


@operator("loop-longer", "one role makes one iteration more than the others")
def loop_longer(good: Good) -> Iterator[Change]:
    yield from _loops(good, "+")


@operator("loop-shorter", "one role makes one iteration less than the others")
def loop_shorter(good: Good) -> Iterator[Change]:
    yield from _loops(good, "-")


def _loops(good: Good, sign: str) -> Iterator[Change]:
    """Loops that synchronise: the innermost one around each wait."""
    done: set[int] = set()
    for site in good.of("wait"):
        for frame in (site.span, *site.callers):
            node, loop = _loop(good, frame)
            if node is None or loop is None:
                continue
            if loop.start not in done and not whole_ring_inside(good, node):
                done.add(loop.start)
                yield Change((Edit(loop, f"({good.text(loop)}) {sign} 1"),), site)
            break


def _loop(good: Good, frame: Span) -> tuple[Node | None, Span | None]:
    """The innermost counted loop of the same function around a place, and its bound."""
    node = good.source.node_at(frame.start)
    while node is not None and node.kind not in ("function", "lambda"):
        if node.kind == "for" and node.header is not None and not node.header.holds(frame):
            bound = re.search(r";[^;<]*<=?\s*([^;]+?)\s*;", good.text(node.header))
            return node, Span(node.header.start + bound.start(1), node.header.start + bound.end(1)) if bound else None
        node = node.parent
    return None, None


def barrier_argument(good: Good, site: Site) -> Span | None:
    """The argument of a site that names the barrier."""
    operand = site.roles.get("bar")
    return operand.span if operand is not None and site.span.holds(operand.span) and not operand.literal else None


@operator("commit-to-other-barrier", "a commit signals another barrier than it should")
def commit_to_other(good: Good) -> Iterator[Change]:
    commits = [s for s in good.of("commit") if barrier_argument(good, s) is not None]
    for site in commits:
        own = barrier_argument(good, site)
        visible = {id(n) for n in site.node.ancestors()}  # what the other commit names has to be declared here too
        other = next((barrier_argument(good, s) for s in commits if id(s.node.parent) in visible
                      and s.node.function is site.node.function and not s.bars & site.bars), None)
        if own is not None and other is not None:
            yield Change((Edit(own, good.text(other)),), site)
