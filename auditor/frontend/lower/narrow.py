"""Branches and loops that are left to some lanes for as long as they last.

A branch that accesses memory or arrives at mbarriers, and changes no variable that lives longer, does not split a
strand: the strand is ``S.narrow`` in it, and whole again behind it. So is a loop that some lanes leave before others;
those keep their values as they do behind a predicated branch. Nothing in there waits, or leaves in another way. Which
of the lanes know of what others did is for the graph, which looks at the lanes of each event and not at strands.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from auditor.frontend.lower.emit import CONDITION, Line, suite_end
from auditor.frontend.lower.mentions import Mentions
from auditor.frontend.lower.quiet import Quiet
from auditor.ptx.alu import PURE
from auditor.ptx.grammar import Instr, Param

_LEAVES = re.compile(rf"if not \({CONDITION.pattern.removeprefix('if ').removesuffix(':')}\): break")


def is_brief(i: Instr) -> bool:
    """Whether an instruction computes, or arrives at an mbarrier and tells nobody of its phase."""
    if i.opcode == "mbarrier.arrive":
        return bool(i.operands) and not isinstance(i.operands[0], Param)
    return i.opcode == "mapa" or i.opcode in PURE


def narrow_branch(lines: list[Line], start: int, test: re.Match[str], brief: Quiet, mentions: Mentions) -> None:
    """Leave a branch to the lanes that take it, when nothing of what they do there is a variable's later value."""
    head = lines[start]
    end = suite_end(lines, start)
    if end < len(lines) and lines[end].indent == head.indent and lines[end].text.startswith(("elif ", "else:")):
        return
    changes = brief.changes(lines[start + 1 : end])
    if changes is None or any(mentions.before(start, name) for name in (*changes.names, *changes.arrays)):
        return
    tag = f"{start}_{head.loc.line if head.loc else 0}"
    condition, mixed, whole = f"lanes_{tag}", f"mixed_{tag}", f"whole_{tag}"
    texts = (
        (0, f"{mixed} = {condition}.__class__ is Vec and S.mixed({condition})"),
        (0, f"if {mixed}:"),
        (1, f"{whole} = S.narrow({condition})"),
        (0, f"if {mixed} or {condition} is True or {condition} is not False and S.cond({condition}):"),
    )
    lines[start:end] = [
        Line(head.indent, f"{condition} = {test['code'] or test['name']}", head.loc, head.callee),
        *(Line(head.indent + depth, text, head.loc) for depth, text in texts),
        *lines[start + 1 : end],
        Line(head.indent, f"if {mixed}:", head.loc),
        Line(head.indent + 1, f"S.widen({whole})", head.loc),
    ]


def narrow_loop(lines: list[Line], start: int, brief: Quiet, mentions: Mentions) -> None:
    """Leave a loop to the lanes that are still in it, when it neither waits nor ends in another way."""
    end = suite_end(lines, start)
    head = lines[start + 1]
    test = _LEAVES.fullmatch(head.text)
    if test is None:
        return
    tag = f"{start}_{head.loc.line if head.loc else 0}"
    condition, whole, among = f"lanes_{tag}", f"whole_{tag}", f"among_{tag}"
    asking = Line(head.indent, f"{condition} = {test['code'] or test['name']}", head.loc, head.callee)
    body = lines[start + 2 : end]
    changes = brief.changes([asking, *body])
    if changes is None:
        return
    keeps = [f"{among} = S.active()"]
    merges = []
    for k, name in enumerate(name for name in changes.names if mentions.before(start, name)):
        keeps.append(f"old_{tag}_{k} = {name}")
        merges.append(f"{name} = merged({among}, {name}, old_{tag}_{k})")
    for k, name in enumerate(name for name in changes.arrays if mentions.before(start, name)):
        keeps.append(f"kept_{tag}_{k} = kept({name})")
        merges.append(f"merge_into({name}, {among}, kept_{tag}_{k})")

    def suite(depth: int, first: str, texts: Sequence[str]) -> list[Line]:
        indent = lines[start].indent + depth
        return [Line(indent, first, head.loc), *(Line(indent + 1, text, head.loc) for text in texts)]

    narrowing = f"{whole} = S.narrow({condition}, {whole})"
    asked = f"{condition} is True or {condition} is not False and S.cond({condition})"
    lines[start:end] = [
        Line(lines[start].indent, f"{whole} = 0", head.loc),
        lines[start],
        asking,
        *suite(1, f"if {condition}.__class__ is Vec and S.mixed({condition}):", [narrowing]),
        *suite(1, f"elif not ({asked}):", ["break"]),
        *(suite(1, f"if {whole}:", keeps) if merges else ()),
        *body,
        *(suite(1, f"if {whole}:", merges) if merges else ()),
        *suite(0, f"if {whole}:", [f"S.widen({whole})"]),
    ]
