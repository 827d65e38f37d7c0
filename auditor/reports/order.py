"""The shortest chain of barriers between two events: what guards one against the other."""

from __future__ import annotations

from collections import deque
from itertools import pairwise

from auditor.reports.facts import Facts
from auditor.trace import Event

_MEETINGS = {"barrier": "CTA barrier", "cluster": "cluster barrier"}


class Order:
    """Walks the trace backwards along program order and recorded predecessors."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._previous: dict[int, int] = {}
        for events in facts.strands.values():
            for a, b in pairwise(events):
                self._previous[b.id] = a.id

    def chain(self, before: Event, after: Event) -> list[str] | None:
        """Names of the barriers on the way with the fewest of them, the first one first; None without a way."""
        events = self._facts.trace.events
        best = {after.id: 0}
        come: dict[int, int] = {}
        queue = deque([after.id])
        while queue:
            at = queue.popleft()
            if at == before.id:
                return self._names(at, come)
            step = 1 if events[at].kind in ("phase", "barrier", "cluster") else 0
            preds = [p for p, _ in events[at].preds]
            if at in self._previous:
                preds.append(self._previous[at])
            for p in preds:
                if p >= before.id and best.get(p, 1 << 30) > best[at] + step:
                    best[p] = best[at] + step
                    come[p] = at
                    if step:
                        queue.append(p)
                    else:
                        queue.appendleft(p)
        return None

    def _names(self, at: int, come: dict[int, int]) -> list[str]:
        events = self._facts.trace.events
        names = []
        while at in come:
            at = come[at]
            e = events[at]
            if e.kind == "phase":
                names.append(self._facts.group_of[e.data["bar"]].name)
            elif e.kind in _MEETINGS:
                names.append(_MEETINGS[e.kind])
        return names
