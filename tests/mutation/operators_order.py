"""Operators that do the right things in the wrong order."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.mutation.mutants import Change, Edit, move_before, move_behind, operator, statement
from tests.mutation.sites import ACCESSES, Good, Site
from tests.mutation.tokens import Span
from tests.mutation.tree import Node

_BARRIERS = ("cta-barrier", "cluster-barrier", "named-barrier")


def _kinds(good: Good, node: Node) -> set[str]:
    return {s.kind for s in good.inside(node)}


def _next(good: Good, node: Node, wanted: frozenset[str] | set[str]) -> Node | None:
    """The next statement of the block that executes one of these."""
    later = node.siblings[node.siblings.index(node) + 1:]
    return next((n for n in later if _kinds(good, n) & wanted), None)


def _last(good: Good, node: Node, wanted: frozenset[str] | set[str]) -> Node | None:
    earlier = node.siblings[: node.siblings.index(node)]
    return next((n for n in reversed(earlier) if _kinds(good, n) & wanted), None)


def _behind(good: Good, kinds: tuple[str, ...], wanted: frozenset[str] | set[str]) -> Iterator[Change]:
    done: set[int] = set()
    for site in good.of(*kinds):
        node = statement(good, site)
        target = _next(good, node, wanted)
        if target is not None and node.start not in done:
            done.add(node.start)
            yield Change(move_behind(good, node, target), site)


def _before(good: Good, kinds: tuple[str, ...], wanted: frozenset[str] | set[str]) -> Iterator[Change]:
    done: set[int] = set()
    for site in good.of(*kinds):
        node = statement(good, site)
        target = _last(good, node, wanted)
        if target is not None and node.start not in done:
            done.add(node.start)
            yield Change(move_before(good, node, target), site)


@operator("wait-after-use", "the wait stands behind the use of what it guards")
def wait_after_use(good: Good) -> Iterator[Change]:
    yield from _behind(good, ("wait",), ACCESSES)


@operator("release-before-read", "a buffer is released before its reads are done")
def release_before_read(good: Good) -> Iterator[Change]:
    yield from _before(good, ("arrive", "commit"), ACCESSES)


@operator("fence-after-release", "the proxy fence stands behind the arrival or store that it should precede")
def fence_after_release(good: Good) -> Iterator[Change]:
    yield from _behind(good, ("proxy-fence",), {"arrive", "store", "mma", "wgmma"})


@operator("wait-ld-after-release", "tcgen05.wait::ld stands behind the release")
def wait_ld_after_release(good: Good) -> Iterator[Change]:
    yield from _behind(good, ("wait-ld", "wait-st"), {"arrive", "cta-barrier", "cluster-barrier"})


@operator("dealloc-early", "tensor memory is freed before the barrier that ends its use")
def dealloc_early(good: Good) -> Iterator[Change]:
    yield from _before(good, ("dealloc",), {"cta-barrier", "cluster-barrier"})


@operator("relinquish-before-alloc", "the right to allocate is given up before the allocation")
def relinquish_early(good: Good) -> Iterator[Change]:
    yield from _before(good, ("relinquish",), {"alloc"})


@operator("bulk-commit-early", "the bulk group is committed before its stores")
def bulk_commit_early(good: Good) -> Iterator[Change]:
    yield from _before(good, ("bulk-commit",), {"store"})


@operator("init-after-barrier", "barriers are initialised behind the barrier that publishes them")
def init_late(good: Good) -> Iterator[Change]:
    done: set[int] = set()
    for site in good.of("init"):
        node: Node | None = site.node
        while node is not None and node.kind not in ("function", "lambda"):
            target = _next(good, node, {"cta-barrier", "cluster-barrier"})
            if target is not None:
                if node.start not in done:
                    done.add(node.start)
                    yield Change(move_behind(good, node, target), site)
                break
            node = node.parent


def _asm_texts(good: Good, kind: str) -> Iterator[tuple[Site, Span]]:
    """The asm statements, or macro bodies, behind the sites of a kind; each once."""
    done: set[Span] = set()
    for site in good.of(kind):
        span = site.frames[-1]
        macro = good.source.macros.get(re.split(r"\W", good.text(span), maxsplit=1)[0])
        if macro is not None:
            span = macro.body
        if span not in done:
            done.add(span)
            yield site, span


def _rewrite(good: Good, kind: str, pattern: str, text: str) -> Iterator[Change]:
    for site, span in _asm_texts(good, kind):
        found = re.search(pattern, good.text(span))
        if found is not None:
            yield Change((Edit(Span(span.start + found.start(), span.start + found.end()), found.expand(text)),), site)


_EXPECT = r"mbarrier\.arrive\.expect_tx\.[\w.:]*b64 _, (\[%\d\]), (%\d);"
_ONLY_EXPECT = r"mbarrier.expect_tx.relaxed.cta.shared::cta.b64 \1, \2;"


@operator("arrive-then-expect", "the arrival comes before its expect_tx")
def arrive_then_expect(good: Good) -> Iterator[Change]:
    yield from _rewrite(good, "expect", _EXPECT, r"mbarrier.arrive.shared::cta.b64 _, \1; " + _ONLY_EXPECT)


@operator("expect-without-arrive", "expect_tx where arrive.expect_tx is meant")
def expect_without_arrive(good: Good) -> Iterator[Change]:
    yield from _rewrite(good, "expect", _EXPECT, _ONLY_EXPECT)


@operator("arrive-for-commit", "a plain arrival where tcgen05.commit is meant")
def arrive_for_commit(good: Good) -> Iterator[Change]:
    commit = r"tcgen05\.commit[\w.:]*cluster\.b64 (\[%\d\]);"
    yield from _rewrite(good, "commit", commit, r"mbarrier.arrive.shared::cta.b64 _, \1;")


@operator("try-wait-once", "try_wait is not repeated")
def try_wait_once(good: Good) -> Iterator[Change]:
    done: set[int] = set()
    for site in good.of("wait"):
        for frame in reversed(site.frames):
            edit = _once(good, frame)
            if edit is not None:
                if edit.span.start not in done:
                    done.add(edit.span.start)
                    yield Change((edit,), site)
                break


def _once(good: Good, frame: Span) -> Edit | None:
    """Take the loop around a poll away: one in the asm, a while, a do, or an endless for."""
    text = good.text(frame)
    macro = good.source.macros.get(re.split(r"\W", text, maxsplit=1)[0])
    if macro is not None:
        frame, text = macro.body, good.text(macro.body)
    label = re.search(r"(\w+(?:_%=)?):(?!:)[^;]*mbarrier\.t", text)
    if label is not None:
        back = re.search(r"(?:@!?\w+ )?bra " + re.escape(label[1]) + ";", text)
        return Edit(Span(frame.start + back.start(), frame.start + back.end()), "") if back else None
    node = good.source.node_at(frame.start)
    while node is not None and node.kind not in ("function", "lambda"):
        if node.kind == "while" and node.header is not None:
            return Edit(node.span, f"(void)({good.text(node.header)});")
        if node.kind == "do" and node.header is not None:
            return Edit(node.header, "false")
        if node.kind == "for":
            leave = re.search(r"if \((\w+)\) (?:return|break);", good.text(node.span))
            return Edit(Span(node.start + leave.start(1), node.start + leave.end(1)), "true") if leave else None
        node = node.parent
    return None
