"""Whether a hang is one of the kernel, or of tables in global memory whose contents were chosen for the run."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from auditor.machine.contents import OTHERS
from auditor.machine.hypothesis import NONE
from auditor.source import Stack
from auditor.trace import Incident, Trace

if TYPE_CHECKING:
    from auditor.audit import Audit

_FAILS = frozenset(("deadlock", "over_arrival", "early_phase", "budget", "trap"))


def hangs_for_its_contents(audit: Audit, hung: list[Incident]) -> bool:
    """Whether the kernel ends with other contents, although each of the waits that hung is passed more often there.

    One that ends because there is less to do says nothing: a hang in a late round would not show.
    """
    if not audit.trace.reads_contents:
        return False
    places = {i.where for i in hung}
    before = _passed(audit.trace, places)
    for contents in OTHERS:
        other = audit.rerun(NONE, contents=contents)
        if other is None:
            return False
        if other.trace.complete and not any(i.kind in _FAILS for i in other.trace.incidents):
            after = _passed(other.trace, places)
            if all(after[where] > before[where] for where in places):
                return True
    return False


def _passed(trace: Trace, places: set[Stack]) -> Counter[Stack]:
    """How often waits were passed at these places."""
    return Counter(e.where for e in trace.events if e.where in places)
