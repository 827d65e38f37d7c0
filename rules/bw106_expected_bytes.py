"""BW106: the bytes expected in a phase differ from the bytes that its copies deliver."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.causes import Case, Diagnosis
from auditor.findings import Finding, Fix, Level
from auditor.repair.operands import constant_texts, replace_constant
from auditor.rule import Rule
from auditor.rulekit import context, initialised, plural
from auditor.trace import Event


class ExpectedBytes(Rule):
    code = "BW106"
    name = "expected-bytes"
    level = Level.ERROR
    confidence = "high"
    entries = ("MB-14", "TL-19", "TL-18")

    def check(self, audit: Audit) -> Iterator[Finding]:
        for case in audit.diagnosis.cases(Diagnosis.BYTES):
            yield self._finding(audit, case)

    def _finding(self, audit: Audit, case: Case) -> Finding:
        bar, want, got = case.barrier, case.data["expected"], case.data["delivered"]
        copies = [audit.event(n) for n in case.data["copies"]]
        expects = [audit.event(n) for n in case.data["expects"]]
        story, name = audit.story, audit.story.barrier(bar)
        read = case.data.get("read")
        sizes = dict(zip(case.data["copies"], read or map(_bytes, copies)))
        parts = _parts(list(sizes.values())) if read != [] else ""
        does = "deliver" if read is None else "bring data of which are read:" if read else "have room for at most"
        message = (f"{name} expects {plural(want, 'byte')} in phase {case.data['phase']}, but its copies {does} "
                   f"{got:,}"
                   + (f" ({parts})" if parts else ""))
        if want > got:
            message += f": {plural(want - got, 'byte')} never come, and its waiters hang"
        else:
            message += f": the phase can end before the last {plural(got - want, 'byte')} have landed"
        hint = f"expect {plural(got, 'byte')}, the sum of the copies" if got else "issue the copies that are expected"
        if read == []:
            hint = "expect the bytes of the boxes of these copies"
        if any(e.data["instr"] == "tma.load" for e in copies):
            hint += "; a tensor copy delivers its whole box, also the part outside the tensor"
        related = [(e.where, f"{story.who(e)} delivers {plural(sizes[e.id], 'byte')}") for e in copies[:6]]
        related += [(e.where, f"{story.thread(e)} expects {plural(e.data['tx'], 'byte')} here") for e in expects[1:4]]
        acting = expects[0] if expects else copies[0]
        return audit.finding(
            type(self), case.where, message, related=related + initialised(audit, bar), hint=hint,
            flow=[(e.where, f"{story.thread(e)} expects {plural(e.data['tx'], 'byte')} in phase {case.data['phase']}")
                  for e in expects[:2]]
            + [(e.where, f"{story.what(e)} brings {plural(sizes[e.id], 'byte')}") for e in copies[:4]],
            context=context(audit, acting, bar),
            repair=lambda: _repairs(audit, expects, copies, got - want) if read is None else (),
        )


def _repairs(audit: Audit, expects: list[Event], copies: list[Event], more: int) -> tuple[Fix, ...]:
    """Expect ``more`` bytes, written as the copies write their sizes.

    Not when fewer should be expected: a copy that was forgotten looks like that too.
    """
    if more <= 0 or len(expects) != 1:
        return ()
    sizes: dict[str, int] = {}
    for e in copies:
        texts = constant_texts(audit, e.where, _bytes(e))
        if not texts:
            sizes.clear()
            break
        sizes[texts[0]] = sizes.get(texts[0], 0) + 1
    spelling = " + ".join(f"{n} * {_grouped(text)}" if n > 1 else text for text, n in sizes.items())
    tx = expects[0].data["tx"]
    return replace_constant(audit, expects[0].where, tx, tx + more, [spelling])


def _grouped(text: str) -> str:
    return text if text.isidentifier() or text.isdigit() else f"({text})"


def _bytes(copy: Event) -> int:
    return int(copy.data["bytes"] or copy.data.get("assumed_bytes") or 0) * int(copy.data.get("copies", 1))


def _parts(delivered: list[int]) -> str:
    """ "2 x 4,096 + 512", when there are several copies."""
    sizes: dict[int, int] = {}
    for size in delivered:
        sizes[size] = sizes.get(size, 0) + 1
    if sum(sizes.values()) < 2:
        return ""
    return " + ".join(f"{n} x {size:,}" if n > 1 else f"{size:,}" for size, n in sizes.items())
