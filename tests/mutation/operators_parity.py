"""Operators on parities and stage indices."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.mutation.mutants import Change, Edit, flat, operator
from tests.mutation.needed import permutes
from tests.mutation.sites import Good, Site
from tests.mutation.tokens import Span
from tests.mutation.tree import Node

_STEP = re.compile(r"\+\+|\+ 1 ==|\+= 1")
_FLIP = re.compile(r"^[\w.>\[\]() -]+?\^=")
_BIT = re.compile(r"\^=.*(?:\b1u?\b|==|true)")


def _parity(site: Site) -> Span | None:
    operand = site.roles.get("parity")
    return operand.span if operand is not None else None


@operator("parity-inverted", "a wait starts with the parity of the other side")
def parity_inverted(good: Good) -> Iterator[Change]:
    for site in good.of("wait"):
        span = _parity(site)
        if span is None or not site.span.holds(span):
            continue
        if not _flips_inside(good, site):
            yield Change((Edit(span, f"({good.text(span)}) ^ 1"),), site)
            continue
        start = _first_value(good, site, span)
        if start is not None:
            yield Change((Edit(start, good.text(start).translate(str.maketrans("01", "10"))),), site)


def _flips_inside(good: Good, site: Site) -> bool:
    """Whether a wait takes its parity by reference and flips it."""
    return any(_FLIP.match(good.text(n.span)) for n in _callee(good, site))


def _first_value(good: Good, site: Site, span: Span) -> Span | None:
    """What the variable of a parity is initialised with in the function of the wait."""
    name = re.match(r"\w+", good.text(span))
    function = site.node.function
    found = re.search(rf"\b{name[0]}(?:\[\d+\])? = (\{{[01, ]+\}}|[01]\b)", good.text(function.span)) if name else None
    return Span(function.start + found.start(1), function.start + found.end(1)) if found else None


@operator("parity-constant", "the parity never changes")
def parity_constant(good: Good) -> Iterator[Change]:
    for site in good.of("wait"):
        span = _parity(site)
        if span is None or len(set(site.parities)) < 2:
            continue
        if not _flips_inside(good, site):
            yield Change((Edit(span, str(site.parities[0])),), site)


def _callee(good: Good, site: Site) -> list[Node]:
    """The statements of the wrapper that a site calls."""
    if len(site.frames) < 2:
        return []
    node = good.source.node_at(site.frames[1].start)
    return node.function.children if node is not None else []


@operator("parity-of-iteration", "the parity changes with every iteration, not with every lap")
def parity_of_iteration(good: Good) -> Iterator[Change]:
    for site in good.of("wait"):
        span = _parity(site)
        lap = re.search(r"\s*/\s*[\w:]+", good.text(span)) if span is not None else None
        if span is not None and lap is not None:
            yield Change((Edit(Span(span.start + lap.start(), span.start + lap.end()), ""),), site)


@operator("parity-a-stage-early", "the parity changes one stage before the index wraps")
def parity_early(good: Good) -> Iterator[Change]:
    for site in good.of("wait"):
        span = _parity(site)
        lap = re.search(r"(\w+)\s*/\s*[\w:]+", good.text(span)) if span is not None else None
        if span is not None and lap is not None:
            counter = Span(span.start + lap.start(1), span.start + lap.end(1))
            yield Change((Edit(counter, f"({lap[1]} + 1)"),), site)


def _device_statements(good: Good) -> Iterator[Node]:
    for function in good.source.functions:
        head = good.source.text[function.start: function.children[0].start if function.children else function.end]
        if "__device__" in head or "__global__" in head:
            yield from _descend(function)


def _descend(node: Node) -> Iterator[Node]:
    for child in node.children:
        yield child
        yield from _descend(child)


def _flips(good: Good) -> Iterator[Node]:
    for node in _device_statements(good):
        if node.kind == "simple" and _FLIP.match(good.text(node.span)) and _BIT.search(good.text(node.span)):
            yield node


@operator("flip-dropped", "the parity is not flipped")
def flip_dropped(good: Good) -> Iterator[Change]:
    for node in _flips(good):
        yield Change((Edit(node.span, ";"),))


@operator("flip-each-iteration", "the parity is flipped with every step of the ring")
def flip_each_iteration(good: Good) -> Iterator[Change]:
    for node in _flips(good):
        text = good.text(node.span)
        wrap = re.search(r"\^=\s*(.*==.*?)\s*;", text)
        if wrap is not None:
            yield Change((Edit(Span(node.start + wrap.start(1), node.start + wrap.end(1)), "1"),))
            continue
        around = next((a for a in node.ancestors()[:2] if a.kind == "if"), None)
        if around is not None and around.header is not None and _STEP.search(good.text(around.header)):
            yield Change((Edit(node.span, ";"), Edit(Span(around.end, around.end), " " + flat(good, node.span))))


@operator("flip-a-stage-early", "the parity is flipped one step before the index wraps")
def flip_early(good: Good) -> Iterator[Change]:
    for node in _flips(good):
        around = next((a for a in node.ancestors()[:2] if a.kind == "if"), None)
        if around is None or around.header is None:
            continue
        wrap = re.fullmatch(r"\+\+(\w+)\s*==\s*([\w:]+)", good.text(around.header))
        if wrap is not None:
            early = f"if ({wrap[1]} + 2 == {wrap[2]}) {{ {flat(good, node.span)} }} "
            yield Change((Edit(node.span, ";"), Edit(Span(around.start, around.start), early)))


# ---- stage indices --------------------------------------------------------------------------------------------------

_INDEX = (r"\[([^\[\]]*[A-Za-z_][^\[\]]*)\](?!.*\[)", r"\b8 \* \(?([A-Za-z_][\w.]*)\)?", r"\b[A-Z_]+\((\w+)\)",
          r"\b([a-z]\w*\.slot|[a-z]\w*\.stage|stage|slot|buffer)\b")


def _stage_index(good: Good, span: Span) -> Span | None:
    """The expression that selects the stage in the expression of a barrier or buffer."""
    text = good.text(span)
    for pattern in _INDEX:
        found = re.search(pattern, text, re.DOTALL)
        if found is not None:
            start, end = found.span(1)
            plus = text.rfind("+ ", start, end)
            return Span(span.start + (plus + 2 if plus >= 0 else start), span.start + end)
    return None


def _object(good: Good, site: Site, role: str) -> Span | None:
    """The expression of a barrier or buffer at a site: an argument, or the object of a member call."""
    operand = site.roles.get(role)
    if operand is not None and site.span.holds(operand.span) and not operand.literal:
        return operand.span
    called = re.match(r"[^()]*(?:\([^()]*\)[^()]*)*[.>](?=\w+\(\w*)", good.text(site.span))
    return Span(site.span.start, site.span.start + called.end()) if called and role == "bar" else None


def _off_by_one(good: Good, site: Site, role: str, stages: int) -> Iterator[Change]:
    span = _object(good, site, role)
    index = _stage_index(good, span) if span is not None else None
    if index is not None:
        yield Change((Edit(index, f"({good.text(index)} + 1) % {stages}"),), site)


def _stages(site: Site) -> int:
    """How many barriers of one run a site uses."""
    runs = {run for run, _ in site.bars}
    return max((sum(1 for r, _ in site.bars if r == run) for run in runs), default=0)


@operator("stage-off-by-one", "the barrier of the next stage is used")
def stage_off_by_one(good: Good) -> Iterator[Change]:
    for site in good.of("wait", "arrive", "commit", "expect"):
        stages = _stages(site)
        if stages > 1 and not permutes(good, site):
            yield from _off_by_one(good, site, "bar", stages)


def _copy_stages(good: Good, site: Site) -> int:
    """Stages of the ring that a copy fills: as many as the expectation next to it has barriers."""
    return max((_stages(s) for s in good.of("expect") if s.node.function is site.node.function), default=0)


@operator("copy-barrier-off-by-one", "a copy signals the barrier of the next stage")
def copy_barrier(good: Good) -> Iterator[Change]:
    for site in good.of("copy"):
        stages = _copy_stages(good, site)
        if stages > 1:
            yield from _off_by_one(good, site, "bar", stages)


@operator("copy-buffer-off-by-one", "a copy fills the buffer of the next stage")
def copy_buffer(good: Good) -> Iterator[Change]:
    for site in good.of("copy"):
        stages = _copy_stages(good, site)
        if stages > 1:
            yield from _off_by_one(good, site, "dst", stages)


_DEPTH = re.compile(r"(?:%\s*|\+\+[\w.]+\s*==\s*|\+ 1 ==\s*)"
                    r"((?:\w+::)*(?:[A-Z_]{3,}|k[A-Z]\w*|stages|\w*Stages))\b(?!\s*[(*])")


def _resized(good: Good, by: str) -> Iterator[Change]:
    if all(_stages(site) < 2 for site in good.sites):
        return  # no ring
    for node in _device_statements(good):
        for span in (node.header,) if node.header is not None else (node.span,) if node.kind == "simple" else ():
            if any(c.kind == "lambda" for c in node.children):
                continue
            for found in _DEPTH.finditer(good.text(span)):
                place = Span(span.start + found.start(1), span.start + found.end(1))
                yield Change((Edit(place, f"({found[1]} {by} 1)"),))


@operator("ring-deeper", "one role believes the ring to be deeper than the buffers")
def ring_deeper(good: Good) -> Iterator[Change]:
    yield from _resized(good, "+")


@operator("ring-shallower", "one role believes the ring to be shallower")
def ring_shallower(good: Good) -> Iterator[Change]:
    yield from _resized(good, "-")
