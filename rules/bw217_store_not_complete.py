"""BW217: the result of a bulk store is announced when only its source has been read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.rule import Rule
from auditor.rulekit import context, line, who
from auditor.trace import Event

STORES = ("bulk.store", "tma.store", "bulk.reduce", "tma.reduce")
WIDE = ("gpu", "sys", "gl")
FLAG_BYTES = 8


class StoreNotComplete(Rule):
    code = "BW217"
    name = "store-not-complete"
    level = Level.ERROR
    confidence = "medium"
    entries = ("TS-04",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        if not audit.has("bulk.wait") or not audit.has(*STORES):
            return
        for wait, store, signal in _announced(audit):
            story = audit.story
            if wait is None:
                state = "may still be in flight: no wait of this thread covers its group"
                between = [(signal.where, f"{story.thread(signal)} raises the flag without having waited")]
                related = []
            else:
                state = (f"has only read its source: the wait at {line(audit, wait.where)} is wait_group.read, and the "
                         "data may not be in global memory yet")
                between = [(wait.where, f"{story.thread(wait)} waits until its source has been read"),
                           (signal.where, f"{story.thread(signal)} raises the flag; the writes may still be on their "
                                          "way")]
                related = [(wait.where, ".read: the source is free again, no more")]
            yield audit.finding(
                type(self), signal.where,
                f"{who(audit, signal)} announces a result to other blocks, but the {story.what(store)} at "
                f"{line(audit, store.where)} {state}",
                related=[(store.where, f"{story.who(store)} writes the result"), *related],
                flow=[(store.where, f"{story.who(store)} starts"), *between],
                hint="use cp.async.bulk.wait_group (without .read) before the flag is raised",
                context=context(audit, signal),
            )


@dataclass
class _Thread:
    """What one thread, or group of lanes, has in flight: committed groups, oldest first."""

    warp: int
    lanes: int
    groups: list[list[int]] = field(default_factory=list)
    read: dict[int, Event] = field(default_factory=dict)  # store -> the .read wait that covers it
    done_since: bool = False  # a store has completed since the last announcement
    fence: Event | None = None


def _announced(audit: Audit) -> Iterator[tuple[Event | None, Event, Event]]:
    """(wait, store, signal): a flag raised by a thread that waited with .read only for its stores, or not at all.

    Where ordinary stores to global memory lie between the bulk store and the flag, the flag may be about those: silent.
    """
    threads: dict[tuple[int, int], _Thread] = {}
    last_plain = -1
    for e in audit.trace.events:
        if e.warp < 0:
            continue
        if e.kind == "bulk.commit":
            _thread(threads, e).groups.append(list(e.data["ops"]))
        elif e.kind == "bulk.wait":
            _waited(_thread(threads, e), e)
        elif e.kind == "fence" and e.data["sem"] != "acquire" and e.data["scope"] in WIDE:
            _thread(threads, e).fence = e
        elif e.kind in ("st", "atom") and any(a.space == "global" and a.write for a in e.accesses):
            t = _thread(threads, e)
            if _signals(e, t):
                pending = [n for n in t.read if n > last_plain]
                pending = pending or [n for group in t.groups for n in group if n > last_plain]
                if pending and not t.done_since:
                    yield t.read.get(pending[0]), audit.event(pending[0]), e
                t.done_since, t.fence = False, None
            elif e.kind == "st":
                last_plain = e.id


def _thread(threads: dict[tuple[int, int], _Thread], e: Event) -> _Thread:
    """The thread of an event; lanes that left a larger group keep what it had in flight."""
    key = (e.warp, e.lanes)
    found = threads.get(key)
    if found is None:
        found = threads[key] = _Thread(e.warp, e.lanes)
        for other in threads.values():
            if other is not found and other.warp == e.warp and other.lanes & e.lanes:
                found.groups, found.read, found.fence = list(other.groups), dict(other.read), other.fence
    return found


def _waited(t: _Thread, wait: Event) -> None:
    keep = wait.data["n"]
    covered = [n for group in t.groups[: len(t.groups) - keep if keep else None] for n in group]
    if wait.data["read"]:
        for n in covered:
            t.read.setdefault(n, wait)
    else:
        for n in covered:
            t.read.pop(n, None)
        t.done_since |= bool(covered)
        t.groups = t.groups[len(t.groups) - keep:] if keep else []


def _signals(e: Event, t: _Thread) -> bool:
    """Whether a global write is a flag: a small one by one thread, behind a release of a wide scope."""
    small = e.lanes & (e.lanes - 1) == 0 and all(a.hi - a.lo <= FLAG_BYTES for a in e.accesses)
    return small and (t.fence is not None or (e.kind == "atom" and e.data.get("sem") in ("release", "acq_rel")))
