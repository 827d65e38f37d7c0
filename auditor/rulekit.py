"""What rules share: who, where and what of an event or incident, and the state of a barrier, in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from auditor.machine.launch import TensorMap
from auditor.quick_dataclass import dataclass
from auditor.source import Stack
from auditor.story import INSTR_NAMES
from auditor.trace import ALL_LANES, Access, Event, Incident

if TYPE_CHECKING:
    from auditor.audit import Audit
    from auditor.graph import Conflict

Places = list[tuple[Stack, str]]


# ---- words ----------------------------------------------------------------------------------------------------------


def plural(n: int, noun: str) -> str:
    """A number with its noun: "1 arrival", "3 arrivals", "4,096 bytes"."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def ordinal(n: int) -> str:
    """1 becomes "1st"."""
    ending = "th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{ending}"


def newest(n: int) -> str:
    """What a group wait with count ``n`` leaves in flight: "the newest group", "the 2 newest groups"."""
    return "the newest group" if n == 1 else f"the {n} newest groups"


def listing(items: Iterable[str], limit: int = 4) -> str:
    """ "a, b and c"; what exceeds the limit is counted."""
    unique = list(dict.fromkeys(items))
    if len(unique) > limit:
        unique = [*unique[: limit - 1], f"{len(unique) - limit + 1} more"]
    return unique[0] if len(unique) == 1 else ", ".join(unique[:-1]) + f" and {unique[-1]}" if unique else ""


def operation(instr: str) -> str:
    """An asynchronous operation by its name in events: "TMA load" for "tma.load"."""
    return INSTR_NAMES.get(instr, instr)


# ---- who and where --------------------------------------------------------------------------------------------------


def line(audit: Audit, where: Stack) -> str:
    """ "line 52", with the file when it is not the kernel's."""
    loc = audit.user(where)
    return f"line {loc.line}" if loc.file == audit.kernel.loc.file else f"{loc.file}:{loc.line}"


def thread(audit: Audit, incident: Incident) -> str:
    """Who ran into an incident: "warp 4 lane 0"."""
    if incident.warp < 0:
        return "a thread"
    stand_in = Event(-1, "incident", incident.cta, incident.warp, incident.lanes, 0, -1, incident.where)
    return audit.story.thread(stand_in)


def threads(audit: Audit, items: Iterable[Incident | Event]) -> str:
    """The threads of several events or incidents together: "warps 0 to 3", "warp 1 lane 0 and warp 4"."""
    lanes: dict[tuple[int, int], int] = {}
    for i in items:
        if i.warp >= 0:
            key = (i.cta, i.warp)
            lanes[key] = lanes.get(key, 0) | i.lanes
    groups: list[list[tuple[int, int]]] = []
    for key in sorted(lanes):
        last = groups[-1][-1] if groups else None
        if last and lanes[last] == lanes[key] == ALL_LANES and (last[0], last[1] + 1) == key:
            groups[-1].append(key)
        else:
            groups.append([key])
    out = []
    for group in groups:
        cta, warp = group[0]
        if len(group) == 1:
            out.append(audit.story.thread(Event(-1, "incident", cta, warp, lanes[group[0]], 0, -1, ())))
        else:
            first, last_warp = (w % audit.trace.warps_per_cta for w in (warp, group[-1][1]))
            between = "and" if len(group) == 2 else "to"
            out.append(f"warps {first} {between} {last_warp}" + (f" of CTA {cta}" if audit.trace.ctas > 1 else ""))
    return listing(out)


def strand_event(audit: Audit, event: Event) -> Event:
    """The event of the thread behind an event: itself, or what issued an asynchronous operation."""
    issuer = event.data.get("issuer") if event.warp < 0 else None
    return audit.event(issuer) if issuer is not None else event


def who(audit: Audit, event: Event) -> str:
    """Operation, thread and, from the second time on, the iteration: "load by warp 3 in iteration 2"."""
    n = audit.story.iteration(event)
    return audit.story.who(event) + (f" in iteration {n}" if n else "")


def context(audit: Audit, event: Event, bar: int | None = None) -> list[tuple[str, str]]:
    """Role, stage and iteration of an event, for the last lines of a finding."""
    out = [("role", audit.story.thread(event))]
    if bar is not None and 0 <= bar < len(audit.trace.barriers):
        out.append(("stage", audit.trace.barriers[bar].name))
    out.append(("iteration", str(audit.story.iteration(event))))
    return out


def incident_context(audit: Audit, incident: Incident, bar: int | None = None) -> list[tuple[str, str]]:
    """Role and stage of an incident."""
    out = [("role", thread(audit, incident))] if incident.warp >= 0 else []
    if bar is not None and 0 <= bar < len(audit.trace.barriers):
        out.append(("stage", audit.trace.barriers[bar].name))
    return out


def initialised(audit: Audit, bar: int | None) -> Places:
    """Where a barrier is initialised, as a related place."""
    if bar is None or not 0 <= bar < len(audit.trace.barriers):
        return []
    record = audit.trace.barriers[bar]
    text = f"{audit.story.barrier(bar)} is initialised here, for {plural(record.init_count, 'arrival')} a phase"
    return [(audit.event(record.init_event).where, text)]


def at_offset(audit: Audit, cta: int, offset: int) -> int | None:
    """The barrier that was initialised at a byte offset of a CTA's shared memory: the last one, or None."""
    found = None
    for index, record in enumerate(audit.trace.barriers):
        if (record.cta, record.offset) == (cta, offset):
            found = index
    return found


def shared_name(audit: Audit, offset: int, length: int = 0) -> str:
    """The variable at a byte offset of shared memory, with the bytes meant."""
    return audit.story.place(Access("shared", False, "generic", 0, offset, offset + length))


# Events of operations that are .sync.aligned: the lanes of a warp execute them together.
_TOGETHER = frozenset(
    ("elect", "wgmma.fence", "wgmma.commit", "wgmma.wait", "tcgen05.ld", "tcgen05.st", "wait.ld", "wait.st")
)


def met_between(audit: Audit, first: Event, second: Event) -> bool:
    """Whether all lanes of an event met at an ``elect.sync`` or an operation of the whole warp before another event of
    their warp. That makes no memory order by the letter, but much code takes it for one."""
    return any(e.kind in _TOGETHER and e.warp == first.warp and not first.lanes & ~e.lanes
               for e in audit.trace.events[first.id:second.id])


def aligned(instr: str) -> bool:
    """Whether an instruction that waits for lanes of its warp is ``.sync.aligned``, an operation of the whole warp."""
    return instr.startswith(("tcgen05.", "wgmma.", "setmaxnreg"))


# ---- barriers -------------------------------------------------------------------------------------------------------


@dataclass
class PhaseState:
    """The open phase of a barrier at the end of the run. Bytes are those expected and those that copies brought."""

    index: int
    arrivals: int
    needed: int
    expected: int
    delivered: int
    arrived: list[Event]

    @property
    def missing_arrivals(self) -> int:
        return max(self.needed - self.arrivals, 0)

    @property
    def missing_bytes(self) -> int:
        return self.expected - self.delivered


def arrivals_on(audit: Audit, bar: int) -> list[Event]:
    """Every arrival and commit on a barrier, in order."""
    return [e for e in audit.trace.events
            if (e.kind == "mbar.arrive" and e.data["bar"] == bar) or (e.kind == "commit" and bar in e.data["bar"])]


def waits_on(audit: Audit, bar: int) -> list[Event]:
    """Every wait on a barrier that passed, in order."""
    return [e for e in audit.trace.events if e.kind == "mbar.wait" and e.data["bar"] == bar]


def open_phase(audit: Audit, bar: int) -> PhaseState:
    """What the phase of a barrier that never completed has got."""
    trace = audit.trace
    last, index = -1, 0
    for e in trace.events:
        if e.kind == "phase" and e.data["bar"] == bar:
            last, index = e.id, e.data["index"] + 1
    arrivals = expected = delivered = 0
    arrived: list[Event] = []
    for e in trace.events:
        if e.kind == "mbar.arrive" and e.data["bar"] == bar and e.data["phase"] == index:
            arrivals += e.data["count"]
            expected += e.data.get("tx", 0)
            arrived.append(e)
        elif e.kind == "mbar.expect_tx" and e.data["bar"] == bar and e.data["phase"] == index:
            expected += e.data["tx"]
        elif e.kind == "commit" and bar in e.data["bar"] and e.data.get("done", -1) > last:
            arrivals += 1
            arrived.append(e)
        elif e.kind == "async" and e.data.get("bar") == bar and e.id > last and e.data.get("bytes"):
            delivered += e.data["bytes"] * e.data.get("copies", 1)
    return PhaseState(index, arrivals, trace.barriers[bar].init_count, expected, delivered, arrived)


def last_wait(audit: Audit, event: Event) -> Event | None:
    """The nearest mbarrier wait of an event's thread before it."""
    return next((e for e in audit.hb.acquires_before(event, 8) if e.kind == "mbar.wait"), None)


def meets(audit: Audit, event: Event) -> str:
    """The last thing that an event's thread waited for before it, in words; empty when it waited for nothing."""
    before = audit.hb.acquires_before(event, 1)
    if not before:
        return ""
    e = before[0]
    where = line(audit, e.where)
    if e.kind == "mbar.wait":
        return f"its last wait, phase {e.data['phase']} of {audit.story.barrier(e.data['bar'])} at {where}"
    names = {"bar.sync": "its last barrier", "cluster.wait": "its last cluster barrier",
             "warp.sync": "its last warp barrier", "bulk.wait": "its last bulk wait_group",
             "cpasync.wait": "its last cp.async wait_group"}
    return f"{names.get(e.kind, 'its last wait')} at {where}"


# ---- conflicts ------------------------------------------------------------------------------------------------------


def release_before(audit: Audit, reader: Event, waiter: Event) -> tuple[Event, Event | None] | None:
    """Explains a read that no release covered: the wait that let the second thread go on, and the arrival of the
    reader's thread in that phase when it came before the read. None when the second thread waited on no mbarrier."""
    wait = last_wait(audit, waiter)
    if wait is None:
        return None
    own = strand_event(audit, reader)
    for e in arrivals_on(audit, wait.data["bar"]):
        if e.warp == own.warp and e.lanes & own.lanes and e.id < own.id and e.data.get("phase") == wait.data["phase"]:
            return wait, e
    return wait, None


def cluster_met(audit: Audit, event: Event) -> bool:
    """Whether the event's thread passed a cluster barrier before: then the other CTAs had started."""
    own = strand_event(audit, event)
    return any(e.kind == "cluster.wait" and e.warp == own.warp and e.lanes & own.lanes
               for e in audit.trace.events[: own.id])


def clash(audit: Audit, conflict: Conflict) -> tuple[str, Places]:
    """What becomes of a wait that did not wait: a sentence, and the two places."""
    first, second, story = conflict.first, conflict.second, audit.story
    if conflict.second_access.write and not conflict.first_access.write:
        text = f"{who(audit, second)} then overwrites what the {story.who(first)} still reads"
    else:
        text = f"{who(audit, second)} then meets the {story.what(first)} that is still in flight"
    return text, [(first.where, f"{story.who(first)}, not over yet"),
                  (second.where, f"{story.who(second)} touches {story.place(conflict.second_access)}")]


def story_of(audit: Audit, conflict: Conflict, first: str, second: str) -> Places:
    """A conflict as a story of four steps at most: the release after the first access and the acquire before the second
    stand between them as they happened."""
    steps: list[tuple[int, Stack, str]] = [(conflict.first.id, conflict.first.where, first),
                                           (conflict.second.id, conflict.second.where, second)]
    story = audit.story
    for e in audit.hb.acquires_before(conflict.second, 1):
        if e.kind == "mbar.wait":
            text = f"{story.thread(e)} passes its wait for phase {e.data['phase']} of {story.barrier(e.data['bar'])}"
        elif e.kind in ("bar.sync", "cluster.wait"):
            text = f"{story.thread(e)} passes a {'cluster' if e.kind == 'cluster.wait' else 'CTA'} barrier"
        else:
            text = f"{story.thread(e)} passes its {e.kind}"
        steps.append((e.id, e.where, text))
    for e in audit.hb.releases_after(conflict.first, 1):
        if e.id < conflict.second.id and e.kind in ("mbar.arrive", "bar.sync", "commit"):
            bar = e.data.get("bar")
            on = f" on {story.barrier(bar)}" if isinstance(bar, int) else ""
            steps.append((e.id, e.where, f"{story.thread(e)} lets others go on: {story.what(e)}{on}"))
    return [(where, text) for _, where, text in sorted(dict.fromkeys(steps))]


def release_or(audit: Audit, first: Event, second: Event) -> Stack:
    """Where the threads of an event next let others go on, with the ``tcgen05.fence::before_thread_sync`` that belongs
    to it; where the second event is when that comes first. What the event needs to be over stands before this place."""
    own, other = strand_event(audit, first), strand_event(audit, second)
    release = next((e for e in audit.hb.releases_after(own, 1) if e.id < other.id), other)
    for e in audit.trace.events[own.id + 1 : release.id]:
        if e.kind == "tcgen05.fence" and e.data["which"] == "before" and e.warp == own.warp and e.lanes & own.lanes:
            return e.where
    return release.where


# ---- launch ---------------------------------------------------------------------------------------------------------


def tensor_maps(audit: Audit) -> Iterator[TensorMap]:
    """Tensor maps among the arguments of the launch, also those inside class objects, each once."""
    seen: set[int] = set()
    stack: list[Any] = list(audit.launch.args)
    while stack:
        value = stack.pop(0)
        if isinstance(value, TensorMap):
            if id(value) not in seen:
                seen.add(id(value))
                yield value
        elif isinstance(value, (list, tuple)):
            stack = list(value) + stack


def exchanged_between(audit: Audit, first: Event, second: Event) -> bool:
    """Whether all lanes of an event met in an exchange of their warp that another event depends on.

    ``shfl.sync`` and its kin wait for the lanes (PTX ISA 9.7.9.6) and order no memory: what the lanes have waited for
    is over, what they wrote need not be seen.
    """
    return any(
        e.kind in ("elect", "warp.sync")
        and e.warp == first.warp
        and not first.lanes & ~e.lanes
        and audit.hb.story.follow([second.id], e)
        for e in audit.trace.events[first.id : second.id]
    )
