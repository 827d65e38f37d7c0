"""Branches that only compute with local values become predicated code.

A branch whose condition differs between lanes splits a strand for good, and every piece then executes what follows by
itself. Where a branch does nothing but compute, all lanes can walk through it together, and the lanes that would not
have taken it get their old values back. This works on the generated text, when it is known which functions do no more
than compute either.

Branches that do a little more than that are looked at by ``narrow``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from auditor.frontend.lower.emit import CONDITION, Function, Line, callees_first, suite_end
from auditor.frontend.lower.mentions import Mentions
from auditor.frontend.lower.narrow import is_brief, narrow_branch, narrow_loop
from auditor.frontend.lower.quiet import Quiet
from auditor.ptx.alu import PURE
from auditor.ptx.grammar import AsmBlock, Instr


def predicate(functions: Sequence[Function], asm: Sequence[AsmBlock]) -> None:
    """Rewrite the branches of all functions where that is possible."""
    quiet = Quiet([_only(block, _computes) for block in asm])
    brief = Quiet([_only(block, is_brief) for block in asm], memory=True)
    for function in callees_first(functions):  # a recursive one is not known to be quiet when it is reached again
        _rewrite(function, quiet, brief)
        for kind in (quiet, brief) if not function.blocking else ():
            if kind.function(function.lines):
                kind.functions.add(function.number)


def _only(block: AsmBlock, what: Callable[[Instr], bool]) -> bool:
    """Whether an asm statement does nothing else."""
    return not block.errors and all(what(i) for i in block.instrs)


def _computes(i: Instr) -> bool:
    return i.opcode in PURE


def _rewrite(function: Function, quiet: Quiet, brief: Quiet) -> None:
    """Innermost branches first: they are further down or deeper, so the text is walked from its end."""
    lines = function.lines
    mentions = Mentions(lines)
    for start in range(len(lines) - 1, -1, -1):
        test = CONDITION.fullmatch(lines[start].text)
        if test is not None and not _branch(lines, start, test, quiet, mentions):
            narrow_branch(lines, start, test, brief, mentions)
        elif lines[start].text == "while True:":
            narrow_loop(lines, start, brief, mentions)


def _branch(lines: list[Line], start: int, test: re.Match[str], quiet: Quiet, mentions: Mentions) -> bool:
    """Let all lanes walk through a branch that only computes. Whether it is one."""
    head = lines[start]
    middle = suite_end(lines, start)
    if middle < len(lines) and lines[middle].text.startswith("elif "):  # the cases of a switch
        return False
    has_else = middle < len(lines) and lines[middle].indent == head.indent and lines[middle].text == "else:"
    end = suite_end(lines, middle) if has_else else middle
    suites = [lines[start + 1 : middle]] + ([lines[middle + 1 : end]] if has_else else [])
    changes = [quiet.changes(suite) for suite in suites]
    if any(c is None for c in changes):
        return False
    given: set[str] = set()
    tag = f"{start}_{head.loc.line if head.loc else 0}"
    condition, mixed, taken = f"lanes_{tag}", f"mixed_{tag}", f"taken_{tag}"
    asked = f"{condition} is True or {condition} is not False and S.cond({condition})"
    new: list[Line] = []

    def line(depth: int, text: str) -> None:
        new.append(Line(head.indent + depth, text, head.loc))

    new.append(Line(head.indent, f"{condition} = {test['code'] or test['name']}", head.loc, head.callee))
    line(0, f"{mixed} = {condition}.__class__ is Vec and S.mixed({condition})")
    line(0, f"{taken} = {mixed} or {asked}")
    for n, (suite, change) in enumerate(zip(suites, changes)):
        assert change is not None
        merges = []
        keeps = []
        for k, name in enumerate(change.names):
            if name in given or mentions.before(start, name):
                keeps.append(f"old_{tag}_{k} = {name}")
                merges.append(f"{name} = merged({condition}, {name}, old_{tag}_{k})")
        for k, name in enumerate(change.arrays):
            if name in given or mentions.before(start, name):
                keeps.append(f"kept_{tag}_{k} = kept({name})")
                merges.append(f"merge_into({name}, {condition}, kept_{tag}_{k})")
        given |= change.names.keys()  # a value that both suites give, as that of a conditional expression
        if n == 1 and merges:
            keeps.insert(0, f"{condition} = lnot({condition})")
        for guarded in (keeps, None, merges):
            if guarded is None:
                line(0, f"if {taken}:" if n == 0 else f"if {mixed} or not {taken}:")
                new.extend(suite)
            elif guarded:
                line(0, f"if {mixed}:")
                for text in guarded:
                    line(1, text)
    lines[start:end] = new
    return True
