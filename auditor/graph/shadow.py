"""Shadow memory: which earlier accesses a new access must be compared with.

One ``Space`` holds the records of one address space of one CTA in pages. A record leaves a page when a later write that
is ordered after it covers all of it there: whatever conflicts with it later also conflicts with that write. A strand's
record is replaced by the same access at a later time, so a page holds at most one record for each set of lanes, kind
and range. Asynchronous operations cannot replace one another so (a later completion does not imply an earlier one);
they are kept in issue order, where only the unfinished end has to be looked at.
"""

from __future__ import annotations

from collections.abc import Iterable

from auditor.graph.clocks import Clock
from auditor.graph.coalesce import coalesced
from auditor.graph.columns import Columns
from auditor.graph.judge import Judge, changes_proxy
from auditor.graph.lanes import same_bytes
from auditor.graph.records import Record
from auditor.graph.vectors import Gaps
from auditor.trace import Access, Event

# log2 of the smallest page: shared memory 1 KiB, TMEM 32 columns, global memory 4 KiB.
_PAGE_BITS = {"shared": 10, "tmem": 5, "global": 12}
_PAGES_AN_ACCESS = 3  # pages grow until accesses touch no more than this many on average


class Page:
    """The records of one page: strand accesses by key, asynchronous accesses by key in issue order."""

    __slots__ = ("async_reads", "async_writes", "end", "reads", "start", "writers", "writes")

    def __init__(self, start: int, end: int) -> None:
        self.start = start
        self.end = end
        self.reads: dict[int, Record] = {}
        self.writes: dict[int, Record] = {}
        self.async_reads: dict[int, list[Record]] = {}
        self.async_writes: dict[int, list[Record]] = {}
        self.writers: dict[tuple[int, int], list[int]] = {}  # of a range: keys of writes, until there are others

    def writes_of(self, new: Record) -> list[Record]:
        """The writes by strands that overlap an access to an mbarrier. There are many objects in a page, each used all
        the time, and their writes seldom change."""
        keys = self.writers.get((new.lo, new.hi))
        if keys is None:
            keys = [key for key, old in self.writes.items() if old.overlaps(new)]
            self.writers[new.lo, new.hi] = keys
        writes = self.writes
        return [writes[key] for key in keys]

    def forget(self, keys: list[int]) -> None:
        """Drops writes by strands."""
        for key in keys:
            del self.writes[key]
        if keys:
            self.writers.clear()

    def add(self, record: Record, key: int) -> None:
        """Files a record that has been compared with the page's other records."""
        write = record.access.write
        if record.column >= 0:
            (self.async_writes if write else self.async_reads).setdefault(key, []).append(record)
            return
        table = self.writes if write else self.reads
        old = table.get(key)
        # A TMEM access that no wait ended is never done; a later one that ends does not make it so.
        if old is None or old.time <= record.time:
            table[key] = record
            if write and old is None:
                self.writers.clear()

    def covered(self, old: Record, new: Record) -> bool:
        """Whether the new access touches all that the old one does in this page."""
        if not new.solid:
            return old.lo == new.lo and same_bytes(old.access, new.access)
        return (
            new.lo <= max(old.lo, self.start)
            and new.hi >= min(old.hi, self.end)
            and new.lane_lo <= old.lane_lo
            and new.lane_hi >= old.lane_hi
        )


class Space:
    """Pages of one address space (of one CTA). ``sizes``: the extents of all its accesses."""

    def __init__(self, space: str, sizes: list[int]) -> None:
        self._shift = _PAGE_BITS[space]
        while sum(((size - 1) >> self._shift) + 1 for size in sizes) > _PAGES_AN_ACCESS * len(sizes):
            self._shift += 1
        self._pages: dict[int, Page] = {}

    def pages(self, access: Access) -> list[Page]:
        """Every page that the access touches."""
        found = []
        for number in range(access.lo >> self._shift, ((access.hi - 1) >> self._shift) + 1):
            page = self._pages.get(number)
            if page is None:
                page = self._pages[number] = Page(number << self._shift, (number + 1) << self._shift)
            found.append(page)
        return found


def _space_key(access: Access) -> tuple[str, int]:
    """Name of the address space that an access belongs to. Global memory is one for all CTAs."""
    return access.space, 0 if access.space == "global" else access.cta


def _written_spaces(events: Iterable[Event]) -> dict[tuple[str, int], Space]:
    """Empty shadow memory for every address space that the trace writes; the others cannot have conflicts."""
    sizes: dict[tuple[str, int], list[int]] = {}
    written = set()
    for event in events:
        for access in event.accesses:
            if access.hi > access.lo:
                key = _space_key(access)
                sizes.setdefault(key, []).append(access.hi - access.lo)
                if access.write:
                    written.add(key)
    return {key: Space(key[0], sizes[key]) for key in written}


class Shadow:
    """Shadow memory of a trace. ``step`` takes the events in order, with their clocks.

    ``checks`` counts the records looked at, as a measure of the work done.
    """

    def __init__(self, events: dict[int, Event], columns: Columns, judge: Judge) -> None:
        self.checks = 0
        self._columns = columns
        self._judge = judge
        self._spaces = _written_spaces(events.values())
        self._keys: dict[object, int] = {}
        self._stamp = 0

    def step(self, event: Event, clock: Clock) -> None:
        """Compares the event's accesses with all earlier ones, then files them."""
        filed = []
        for access in coalesced(event):
            space = self._spaces.get(_space_key(access))
            if space is None or access.hi <= access.lo:
                continue
            record = Record(event, access, self._columns)
            pages = space.pages(access)
            self._stamp += 1
            for page in pages:
                self._compare(record, page, clock)
            filed.append((record, pages))
        for record, pages in filed:
            key = self._keys.setdefault(record.key(), len(self._keys))
            for page in pages:
                page.add(record, key)

    def _compare(self, new: Record, page: Page, clock: Clock) -> None:
        """Compares with the records of a page, and drops those for which the new access stands from now on."""
        # An atomic does not conflict with what an older plain write would, nor an mbarrier's object with all of it.
        drops = new.access.write and new.plain
        if new.access.write:
            page.forget(self._among(page.writes, new, page, clock, drops))
            for key in self._among(page.reads, new, page, clock, drops):
                del page.reads[key]
        elif new.access.what == "mbarrier":
            writes = page.writes_of(new)
            self.checks += len(writes)
            for old in writes:
                self._settled(old, new, clock)
        else:
            self._among(page.writes, new, page, clock, drops)
        for lists in (page.async_writes, page.async_reads) if new.access.write else (page.async_writes,):
            if lists:
                gone = [
                    key for key, olds in lists.items()
                    if olds[-1].overlaps(new) and self._all_settled(olds, new, clock) and drops
                    and page.covered(olds[-1], new)
                ]  # fmt: skip
                for key in gone:
                    del lists[key]

    def _among(self, table: dict[int, Record], new: Record, page: Page, clock: Clock, drops: bool) -> list[int]:
        """Compares with the records of a table; the keys of those that ``drops`` allows to be dropped."""
        if not table:
            return []
        self.checks += len(table)
        lo, hi, stamp, settled = new.lo, new.hi, self._stamp, self._judge.settled
        gone = []
        # Most records are of other bytes, or are compared in another page: to look at that here saves calls.
        for key, old in [(key, old) for key, old in table.items() if old.lo < hi and old.hi > lo]:
            if old.overlaps(new):
                if old.stamp != stamp:
                    old.stamp = stamp
                    old.settled = settled(old, new, clock)
                if drops and old.settled and page.covered(old, new):
                    gone.append(key)
        return gone

    def _settled(self, old: Record, new: Record, clock: Clock) -> bool:
        if old.stamp != self._stamp:
            old.stamp = self._stamp
            old.settled = self._judge.settled(old, new, clock)
        return old.settled

    def _all_settled(self, olds: list[Record], new: Record, clock: Clock) -> bool:
        """Compares with operations alike, the latest first, up to one that is open or after which all are complete."""
        for old in reversed(olds):
            self.checks += 1
            if not self._settled(old, new, clock):
                return False
            entry = (clock.fenced(old.access.space) if changes_proxy(old, new) else clock.order)[old.column]
            if old.index < (entry.first if isinstance(entry, Gaps) else entry):
                return True
        return True
