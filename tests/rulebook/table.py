"""The table of requirements, from the metadata of the rules and two small files."""

from __future__ import annotations

import re
from pathlib import Path

from auditor import registry
from auditor.rule import Rule

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "rulebook-coverage.md"
FAMILIES = {
    "MB": "mbarrier",
    "TL": "Bulk and tensor loads",
    "TS": "Bulk and tensor stores",
    "TC": "tcgen05 and tensor memory",
    "OT": "Threads, clusters, launches",
    "EX": "Practice",
}
# Why a requirement may have no rule; ``reasons.txt`` names one of these and says more.
KINDS = {
    "ptxas": "ptxas rejects it always",
    "run time": "known at run time only",
    "part G": "accepted practice: reporting it would be a false alarm",
}
INTRO = """\
# Requirements and rules

What PTX and CUDA require of asynchronous kernels, and which rule reports what breaks it. Written by
`python -m tests.rulebook` from the metadata of the rules. A requirement without a rule has one of three reasons: ptxas
rejects it always, also where the operand is no literal; it is known at run time only; or reference code does it, so
that reporting it would be a false alarm.
"""


def read(name: str) -> dict[str, str]:
    """Identifier -> text of a file of this folder. Raises ValueError for an identifier that occurs twice."""
    out: dict[str, str] = {}
    for line in (HERE / name).read_text(encoding="utf-8").splitlines():
        entry, text = line.split(" ", 1)
        if entry in out:
            raise ValueError(f"{name}: {entry} occurs twice")
        out[entry] = text
    return out


def rules_by_entry() -> dict[str, list[Rule]]:
    """Entry -> the rules whose metadata names it, in the order of codes."""
    out: dict[str, list[Rule]] = {}
    for rule in registry.all_rules():
        for entry in rule.entries:
            out.setdefault(entry, []).append(rule)
    return out


def problems() -> list[str]:
    """What keeps the table from being complete and true."""
    entries, reasons, rules = read("entries.txt"), read("reasons.txt"), rules_by_entry()
    out = [f"{e}: neither a rule nor a reason" for e in entries if e not in rules and e not in reasons]
    out += [f"{e}: has a rule, and a reason why it has none" for e in reasons if e in rules]
    out += [f"{e}: named by {rules[e][0].code}, but not listed" for e in rules if e not in entries]
    out += [f"{e}: has a reason, but is not listed" for e in reasons if e not in entries]
    out += [f"{e}: the reason is none of {', '.join(KINDS)}" for e, text in reasons.items() if _kind(text) not in KINDS]
    known = registry.stems()
    out += [f"{e}: names {code}, which does not exist"
            for e, text in reasons.items() for code in re.findall(r"BW\d{3}", text) if code not in known]
    return out


def _kind(reason: str) -> str:
    return reason.split(":", 1)[0]


def _reason(reason: str) -> str:
    """A reason as the table shows it."""
    kind, text = reason.split(":", 1)
    return f"not reported: {KINDS[kind]} ({text.strip()})"


def table() -> str:
    """The page."""
    entries, reasons, rules = read("entries.txt"), read("reasons.txt"), rules_by_entry()
    parts = [INTRO]
    for prefix, title in FAMILIES.items():
        lines = [f"## {title}", "", "| entry | requirement | reported by |", "|---|---|---|"]
        for entry, text in entries.items():
            if entry.startswith(prefix):
                found = [f"{r.code} {r.name} ({r.level.value})" for r in rules.get(entry, ())]
                by = "<br>".join(found) or _reason(reasons[entry])
                lines.append(f"| {entry} | {text} | {by} |")
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)
