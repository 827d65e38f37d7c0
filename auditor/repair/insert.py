"""Repairs that add a statement between two operations of one thread."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from auditor.audit import Audit
from auditor.findings import Edit, Fix
from auditor.repair.layout import Layout, Statement
from auditor.repair.spelling import statement
from auditor.source import Loc, Stack

_MOST = 3  # places that are tried


@lru_cache(maxsize=4)
def layout_of(text: str) -> Layout:
    """The layout of a source text; the findings of one file share it."""
    return Layout(text)


def source_layout(audit: Audit) -> Layout:
    """The layout of the audited file."""
    return layout_of(audit.program.sources.get(audit.program.path, ""))


def insert_between(audit: Audit, first: Stack, second: Stack, instruction: str) -> tuple[Fix, ...]:
    """Repairs that execute an instruction after ``first`` and before ``second``, the best first.

    The best place is before the outermost statement of ``second`` that begins behind ``first``: all threads that were
    at the first pass there, once, when the first is in a loop. Next comes the place directly behind ``first``.
    """
    layout = source_layout(audit)
    places = [*_before(layout, _own(audit, first), _own(audit, second)), *_behind(layout, _own(audit, first))]
    return _fixes(audit, layout, places, instruction)


def insert_before(audit: Audit, where: Stack, instruction: str) -> tuple[Fix, ...]:
    """Repairs that execute an instruction before the statement of ``where``: before the loop around it, if possible."""
    layout = source_layout(audit)
    path = _path(layout, _own(audit, where))
    loops = [place for place in path[-2:-1] if layout.is_loop(place)]
    return _fixes(audit, layout, [(place, False) for place in [*loops, *path[-1:]]], instruction)


def insert_behind_loops(audit: Audit, where: Stack, instruction: str) -> tuple[Fix, ...]:
    """Repairs that execute an instruction once, behind the loops around ``where`` but on the same branch."""
    layout = source_layout(audit)
    path = _path(layout, _own(audit, where))
    first = next((n for n, place in enumerate(path) if layout.is_loop(place)), len(path) - 1)
    return _fixes(audit, layout, [(place, True) for place in path[first : first + 1]], instruction)


def insert_at_start(audit: Audit, instruction: str) -> tuple[Fix, ...]:
    """The repair that executes an instruction first in the kernel."""
    layout, kernel = source_layout(audit), audit.kernel
    offset = layout.offset(kernel.loc) if kernel.loc.file == audit.program.path else None
    first = layout.first_statement(offset) if offset is not None else None
    return _fixes(audit, layout, [(first, False)] if first is not None else [], instruction)


def insert_behind(audit: Audit, where: Stack, instruction: str) -> tuple[Fix, ...]:
    """Repairs that execute an instruction behind the statement of ``where``, on the same path."""
    path, layout = audit.program.path, source_layout(audit)
    braced = []
    for offset in filter(None, map(layout.offset, _own(audit, where)[:1])):
        around = layout.path(offset)
        body = layout.lone_body(around[-1], offset) if around else None
        if body is not None:
            new = statement(layout, instruction, body.start)
            opened = Edit(layout.loc(path, body.start, body.start), "{ ")
            closed = Edit(layout.loc(path, body.end, body.end), f" {new} }}")
            braced.append(Fix(f"insert {instruction}", (opened, closed)))
    return (*braced, *insert_between(audit, where, (), instruction))


def _own(audit: Audit, where: Stack) -> list[Loc]:
    """The places of a call chain from the user's line outwards that lie in the audited file."""
    user = audit.user(where) if where else None
    chain = where[where.index(user) :] if user in where else ()
    return [loc for loc in chain if loc.file == audit.program.path]


def _before(layout: Layout, first: list[Loc], second: list[Loc]) -> Iterator[tuple[Statement, bool]]:
    """The outermost statement of the second that begins behind the first in the same function, then those in it."""
    for loc in first:
        offset = layout.offset(loc)
        if offset is None:
            continue
        for other in second:
            target = layout.offset(other)
            if target is None or layout.body(target) != layout.body(offset) or layout.body(offset) is None:
                continue
            for found in layout.path(target):
                if found.start > offset:
                    yield found, False
            return


def _behind(layout: Layout, first: list[Loc]) -> Iterator[tuple[Statement, bool]]:
    for loc in first:
        for place in _path(layout, [loc])[-1:]:
            yield place, True


def _path(layout: Layout, places: list[Loc]) -> list[Statement]:
    """The statements around the innermost of some places."""
    offset = layout.offset(places[0]) if places else None
    return layout.path(offset) if offset is not None else []


def _fixes(audit: Audit, layout: Layout, places: list[tuple[Statement, bool]], instruction: str) -> tuple[Fix, ...]:
    """Repairs that insert before some statements, or behind those with True."""
    path = audit.program.path
    written = dict.fromkeys(_written(layout, place, after, instruction) for place, after in places)
    return tuple(Fix(f"insert {instruction}", (Edit(layout.loc(path, at, at), text),)) for at, text in written if text)[
        :_MOST
    ]


def _written(layout: Layout, place: Statement, after: bool, instruction: str) -> tuple[int, str]:
    """Where to insert and what, with the file's own indentation; an empty text where nothing can stand."""
    new = statement(layout, instruction, place.start)
    line = layout.line_start(place.start)
    indentation = layout.text[line : place.start]
    alone = not indentation.strip()
    if not after:
        return place.start, f"{new}{layout.newline}{indentation}" if alone else f"{new} "
    end = layout.end_of_line(place.end)
    if end is None or not alone:
        return place.end, f" {new}"
    return end, f"{layout.newline}{indentation}{new}"
