"""BW201: the data of a copy is used with no wait that covers it."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.causes import Case
from auditor.findings import Finding, Level
from auditor.meaning import Meaning
from auditor.rule import Rule
from auditor.rulekit import context, initialised, line, newest, story_of, strand_event, threads, waits_on, who
from auditor.trace import Event


class ReadBeforeCopyLanded(Rule):
    code = "BW201"
    name = "read-before-copy-landed"
    level = Level.ERROR
    confidence = "high"
    entries = ("TL-24", "TS-06")

    def check(self, audit: Audit) -> Iterator[Finding]:
        for case in audit.diagnosis.cases(Meaning.READ_EARLY):
            assert case.conflict is not None
            copy = case.conflict.first
            if copy.data.get("bar") is None and copy.data["instr"] != "cp.async":
                continue  # its barrier is not one: that is reported
            yield self._finding(audit, case)

    def _finding(self, audit: Audit, case: Case) -> Finding:
        assert case.conflict is not None
        copy, read = case.conflict.first, case.conflict.second
        story = audit.story
        bar = copy.data.get("bar")
        if isinstance(bar, int):
            waited = story.barrier(bar)
            missing, hint = _by_barrier(audit, bar, read)
        else:
            waited = f"a group of {story.thread(copy)}"
            missing, hint = _by_group(audit, copy, read)
        related = [(copy.where, f"{who(audit, copy)} is in flight to the same bytes")]
        related += initialised(audit, bar if isinstance(bar, int) else None)
        return audit.finding(
            type(self), case.where,
            f"{who(audit, read)} reads {story.place(case.conflict.second_access)} before the {story.what(copy)} has "
            f"landed: {missing}",
            related=related,
            flow=story_of(audit, case.conflict, f"{story.who(copy)} starts, to complete on {waited}",
                          f"{story.who(read)} uses the data; nothing that it waited for covers the copy"),
            hint=hint, context=context(audit, read, bar if isinstance(bar, int) else None),
        )


def _by_barrier(audit: Audit, bar: int, read: Event) -> tuple[str, str]:
    """What is missing between a copy that completes on a barrier and a read, and the repair."""
    story, name = audit.story, audit.story.barrier(bar)
    own = strand_event(audit, read)
    reader = story.thread(read)
    waits = waits_on(audit, bar)
    mine = [e for e in waits if e.warp == own.warp and e.lanes & own.lanes]
    before = [e for e in mine if e.id < own.id]
    if before:
        return (f"the last wait of {reader} on {name}, at {line(audit, before[-1].where)}, was for phase "
                f"{before[-1].data['phase']}, an earlier one",
                f"wait for the phase of {name} that this copy completes before the first use of its data")
    if mine:
        return (f"{reader} waits on {name} only afterwards, at {line(audit, mine[0].where)}",
                f"move the wait on {name} before the first use of the data")
    if waits:
        others = threads(audit, waits)
        return (f"{others} waited on {name}, but {reader} neither waited on it nor was ordered after that wait",
                f"let {reader} wait on {name} too, or put a barrier between the wait and this use")
    return f"nothing waits on {name}", f"wait on {name} before the first use of the data"


def _by_group(audit: Audit, copy: Event, read: Event) -> tuple[str, str]:
    """The same for cp.async, whose groups belong to the issuing thread."""
    own, issue = strand_event(audit, read), strand_event(audit, copy)
    waits = [e for e in audit.trace.events[issue.id: own.id]
             if e.kind == "cpasync.wait" and e.warp == issue.warp and e.lanes & issue.lanes]
    if not waits:
        return (f"{audit.story.thread(copy)}, which issued it, has not waited for its group",
                "run cp.async.wait_group (or wait_all), and a barrier when other threads read the data")
    if all(copy.id not in e.data["ops"] for e in waits):
        left = newest(waits[-1].data["n"])
        return (f"the wait at {line(audit, waits[-1].where)} leaves {left} in flight, this copy included",
                "wait with a smaller count: cp.async.wait_group N leaves the N newest groups in flight")
    return (f"only {audit.story.thread(copy)} waited for its group, and nothing orders {audit.story.thread(read)} "
            "after that wait",
            "put a barrier (__syncwarp or __syncthreads) between the wait and the reads of other threads")
