"""What a phase of a barrier hands over: memory that becomes readable, or free to be written again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from auditor.reports.buffers import Buffer
from auditor.reports.facts import Facts
from auditor.reports.groups import Group
from auditor.reports.tmem_objects import MMA, TmemObject
from auditor.trace import Access, Event

Held = tuple[Access, bool]  # an access, and whether an MMA adds to its accumulator with it
READABLE, FREE = "readable", "free"


class Resources:
    """Compares what is done before the arrivals of a barrier with what is done after the waits on it."""

    def __init__(self, facts: Facts, buffers: list[Buffer], objects: list[TmemObject]) -> None:
        self._facts = facts
        self._buffers = buffers
        self._homes = {id(t.access): o.name for o in objects for t in o.touches}
        self._known: dict[int, list[tuple[str, str]]] = {}
        self._near: dict[int, list[tuple[str, str]]] = {}
        self._issued: dict[int, list[Event]] = {}
        for op in facts.ops:
            self._issued.setdefault(int(op.data.get("issuer", -1)), []).append(op)
        self._position = {e.id: n for events in facts.strands.values() for n, e in enumerate(events)}

    def of(self, group: Group) -> list[tuple[str, str]]:
        """(what, "readable" or "free") of a group of barriers, each once.

        What lies close to the arrivals and waits counts first. Farther away, a thing that another barrier hands over
        from close by is left to that one.
        """
        if id(group) not in self._known:
            self._known[id(group)] = self._find(group)
        return self._known[id(group)]

    def _find(self, group: Group) -> list[tuple[str, str]]:
        close = self._close(group)
        found = dict.fromkeys(close)
        others = [other for other in self._facts.groups if other is not group]
        elsewhere = {item for other in others for item in _without_noise(self._close(other))}
        for bar in group.bars:
            befores, afters = self._befores(bar), self._afters(bar)
            for before, after in ((0, 1), (1, 0), (1, 1)):
                got = [i for i in self._common(befores[before], afters[after]) if i not in elsewhere and i not in found]
                if got:
                    found.update(dict.fromkeys(got))
                    break
        return _without_noise(list(found))

    def _close(self, group: Group) -> list[tuple[str, str]]:
        key = id(group)
        if key not in self._near:
            self._near[key] = list(
                dict.fromkeys(
                    item for bar in group.bars for item in self._common(self._befores(bar)[0], self._afters(bar)[0])
                )
            )
        return self._near[key]

    def _common(self, before: list[Held], after: list[Held]) -> Iterator[tuple[str, str]]:
        for old, first in before:
            for new, second in after:
                if (
                    old.space == new.space
                    and old.cta == new.cta
                    and old.lo < new.hi
                    and new.lo < old.hi
                    and (old.write or new.write)
                    and not (first and second)
                ):
                    for name in self._names(old, new):
                        yield name, FREE if new.write else READABLE

    def _names(self, old: Access, new: Access) -> Iterator[str]:
        if old.space == "tmem":  # what was written and can be read, or was read and can be written over
            home = self._homes.get(id(old))
            if home is not None:
                yield home
            return
        lo, hi = max(old.lo, new.lo), min(old.hi, new.hi)
        named = [b.name for b in self._buffers if b.touches(lo, hi)]
        yield from named or ["shared memory of the threads"]

    def _befores(self, bar: int) -> tuple[list[Held], list[Held]]:
        """Accesses before the arrivals: since the thread's last arrival anywhere, and since its last one here."""
        facts = self._facts
        tight = [a for op in facts.copies[bar] for a in _data(op)]
        wide = list(tight)
        for e in facts.arrivals[bar]:
            if e.kind == "commit":
                ops = [facts.trace.events[o] for o in facts.commit_ops[e.id]]
                tight += [a for op in ops for a in _data(op)]
                wide += [a for op in ops for a in _data(op)]
            elif not e.data.get("tx"):
                own = facts.strands[e.strand]
                here = self._position[e.id]
                tight += self._until(reversed(own[:here]), lambda o: o.kind == "mbar.arrive", some=True)
                wide += self._until(reversed(own[:here]), lambda o: o.kind == "mbar.arrive" and o.data["bar"] == bar)
        return _distinct(tight), _distinct(wide)

    def _afters(self, bar: int) -> tuple[list[Held], list[Held]]:
        """Accesses after the waits: until the thread's next wait anywhere, and until its next one here."""
        tight: list[Held] = []
        wide: list[Held] = []
        for e in self._facts.waits[bar]:
            own = self._facts.strands[e.strand]
            here = self._position[e.id] + 1
            tight += self._until(own[here:], lambda o: o.kind == "mbar.wait")
            wide += self._until(own[here:], lambda o: o.kind == "mbar.wait" and o.data["bar"] == bar)
        return _distinct(tight), _distinct(wide)

    def _until(self, events: Iterable[Event], stop: Callable[[Event], bool], some: bool = False) -> list[Held]:
        """Accesses of events and of what they issue, up to the first for which ``stop`` holds.

        ``some``: the first after some access; two arrivals in a row are both for what was done before them.
        """
        found: list[Held] = []
        for e in events:
            if stop(e) and (found or not some):
                break
            found += _data(e)
            for op in self._issued.get(e.id, ()):
                found += _data(op)
        return found


def _data(e: Event) -> list[Held]:
    mma = e.data.get("instr") in MMA
    return [(a, mma and a.write) for a in e.accesses if a.what == "data" and a.space != "global"]


def _distinct(accesses: list[Held]) -> list[Held]:
    return list({(a.space, a.write, a.cta, a.lo, a.hi, adds): (a, adds) for a, adds in accesses}.values())


def _without_noise(found: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Named things only, when there are some; what becomes readable need not be called free as well."""
    named = [f for f in found if not f[0].startswith("shared memory")] or found
    readable = {name for name, what in named if what == READABLE}
    return [(name, what) for name, what in named if what == READABLE or name not in readable]
