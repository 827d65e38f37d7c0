"""Mutants and the registry of operators."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from tests.mutation.sites import ACCESSES, Good, Site
from tests.mutation.tokens import Span
from tests.mutation.tree import Node


@dataclass(frozen=True)
class Edit:
    """A piece of the text and what replaces it."""

    span: Span
    text: str


@dataclass(frozen=True)
class Change:
    """What an operator proposes: edits, and the site, or the kinds of sites, that they are about."""

    edits: tuple[Edit, ...]
    site: Site | None = None
    about: tuple[str, ...] = ()


@dataclass(frozen=True)
class Operator:
    """One realistic mistake. ``mistake`` says in a few words what the programmer did."""

    name: str
    mistake: str
    changes: Callable[[Good], Iterable[Change]]


@dataclass(frozen=True)
class Mutant:
    """A good kernel with one mistake. ``lines`` are those that changed; ``concerned`` those of the operations that the
    mistake leaves unordered."""

    path: str
    operator: str
    text: str
    lines: tuple[int, ...]
    concerned: tuple[int, ...]
    site: str  # hash of the place and of what was done there
    shown: str  # the changed lines, before and after

    def drawn(self, one_in: int) -> bool:
        """Whether this mutant is in the sample of one in so many: always the same ones, spread over all kernels."""
        return int(hashlib.sha256(self.text.encode()).hexdigest(), 16) % one_in == 0


OPERATORS: dict[str, Operator] = {}
_TMEM = ("alloc", "dealloc", "relinquish")  # sites that concern one another
Changes = Callable[[Good], Iterable[Change]]


def operator(name: str, mistake: str) -> Callable[[Changes], Changes]:
    """Register a function that proposes changes of a good kernel."""

    def register(changes: Changes) -> Changes:
        assert name not in OPERATORS
        OPERATORS[name] = Operator(name, mistake, changes)
        return changes

    return register


def mutants(good: Good, names: Iterable[str]) -> Iterator[Mutant]:
    """The mutants of a good kernel, each text once."""
    seen = {good.source.text}
    for name in names:
        for change in OPERATORS[name].changes(good):
            mutant = _mutant(good, name, change)
            if mutant.text not in seen:
                seen.add(mutant.text)
                yield mutant


def _mutant(good: Good, name: str, change: Change) -> Mutant:
    source = good.source
    text = source.text
    lines: set[int] = set()
    for edit in sorted(change.edits, key=lambda e: (e.span.start, e.span.end), reverse=True):
        old = source.cut(edit.span)
        new = edit.text + "\n" * max(0, old.count("\n") - edit.text.count("\n"))
        text = text[: edit.span.start] + new + text[edit.span.end:]
        last = max(edit.span.end - 1, edit.span.start)
        lines |= {source.line(edit.span.start), source.line(last)}
    before, after = source.text.split("\n"), text.split("\n")
    # Lines keep their numbers: every edit leaves as many as it found.
    shown = "\n".join(f"{n}: {before[n - 1].strip()}  ->  {after[n - 1].strip()}" for n in sorted(lines))
    key = hashlib.sha256("\0".join((name, *(f"{before[n - 1].strip()}\0{after[n - 1].strip()}" for n in sorted(lines)),
                                    str(_ordinal(before, min(lines))))).encode()).hexdigest()[:12]
    return Mutant(source.path, name, text, tuple(sorted(lines)), _concerned(good, change), key, shown)


def _ordinal(lines: list[str], number: int) -> int:
    """How many lines before this one say the same."""
    return sum(1 for line in lines[: number - 1] if line.strip() == lines[number - 1].strip())


def _concerned(good: Good, change: Change) -> tuple[int, ...]:
    """Lines of the operations that the changed one orders: those on its barriers, and its neighbours in the function.

    Where no operation but a value was changed, those that use the value.
    """
    site = change.site
    line = good.source.line
    if site is None:
        uses = {line(s.span.start) for s in _users(good, change)}
        if "launch" in change.about:
            uses |= {line(m.start()) for m in re.finditer(r"<<<|\bcudaLaunchKernelEx\b", good.source.text)}
        return tuple(sorted(uses | _expansions(good, change.edits[0].span)))
    related = [s for s in good.sites if s.bars & site.bars or (s.kind in _TMEM and site.kind in _TMEM)]
    for span in (site.span, *site.callers):
        node = good.source.node_at(span.start)
        around = [s for s in good.sites if node is not None and s.node.function is node.function]
        place = sum(1 for s in around if s.span.start < span.start)
        related += around[max(place - 3, 0): place + 4]
    callers = {line(c.start) for c in site.callers}
    return tuple(sorted({line(s.span.start) for s in related} | callers))


def _expansions(good: Good, span: Span) -> set[int]:
    """The lines that use the macro in whose body a place stands."""
    names = {m.name for m in good.source.macros.values() if m.body.holds(span)}
    return {good.source.line(t.start) for t in good.source.tokens if t.text in names}


def _users(good: Good, change: Change) -> list[Site]:
    """The sites that a changed value is about: of the given kinds, or those of the function and of its callers."""
    if change.about:
        return list(good.of(*change.about))
    node = good.source.node_at(change.edits[0].span.start)
    if node is None:
        return []
    function = node.function
    own = [s for s in good.sites if s.node.function is function]
    call = function.name + "("
    callers = [s for s in good.sites if function.name and call in good.text(s.node.function.span)]
    return own or callers or [s for s in good.sites if s.kind == "wait" or s.kind in ACCESSES]


# ---- edits that several operators need ------------------------------------------------------------------------------


def flat(good: Good, span: Span) -> str:
    """A piece of the text on one line, without comments."""
    return " ".join(t.text for t in good.source.between(span))


def statement(good: Good, site: Site) -> Node:
    """The whole statement of a site, with the conditions and polling loops that hold nothing else."""
    node = site.node
    while node.parent is not None and node.parent.kind in ("if", "block", "while", "do") and len(node.siblings) == 1:
        if good.inside(node.parent) != good.inside(node):
            break
        node = node.parent
    return node


def is_statement(good: Good, site: Site) -> bool:
    """Whether a site is a whole statement, and not part of an expression."""
    return good.text(site.node.span).rstrip("; ") == good.text(site.span)


def blank(good: Good, site: Site) -> tuple[Edit, ...]:
    """Take the operation of a site away."""
    node = site.node
    around = node.parent
    for loop in (node, around, around.parent if around is not None else None):
        if loop is not None and loop.kind in ("while", "do") and site.kind == "wait" and good.inside(loop) == [site]:
            return (Edit(loop.span, ";"),)
    polled = site.kind == "wait" and not is_statement(good, site)
    return (Edit(site.span, "true" if polled else "(void)0"),)


def move_behind(good: Good, node: Node, target: Node) -> tuple[Edit, ...]:
    """Move a statement behind another one of the same block."""
    return (Edit(node.span, ";"), Edit(Span(target.end, target.end), " " + flat(good, node.span)))


def move_before(good: Good, node: Node, target: Node) -> tuple[Edit, ...]:
    """Move a statement before another one of the same block."""
    return (Edit(node.span, ";"), Edit(Span(target.start, target.start), flat(good, node.span) + " "))
