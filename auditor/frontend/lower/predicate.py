"""Branches that only compute with local values become predicated code.

A branch whose condition differs between lanes splits a strand for good, and every piece then executes what follows by
itself. Where a branch does nothing but compute, all lanes can walk through it together, and the lanes that would not
have taken it get their old values back. This works on the generated text, when it is known which functions do no more
than compute either.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import field

from auditor.frontend.lower import runtime
from auditor.frontend.lower.emit import CALL_MARK, Function, Line, suite_end
from auditor.ptx.alu import PURE
from auditor.ptx.grammar import AsmBlock
from auditor.quick_dataclass import dataclass

_TEST = re.compile(
    r"if (?:\((?P<temp>\w+) := (?P<code>.*)\) is True or (?P=temp)|(?P<name>\w+) is True or (?P=name))"
    r" is not False and S\.cond\((?P<asked>\w+)\):"
)
_BUSY = re.compile(r"\byield\b|\breturn\b|\bbreak\b|\bcontinue\b|\bwhile\b")  # what no predicated branch holds
_MIXED = "mixed_"
_TAKEN = "taken_"
_VALUES = "copy_value select land lor lnot truth cdiv cmod shl shr collapse lanewise Vec"
_INTEGERS = "u8 u16 u32 u64 s8 s16 s32 s64 range len abs min max"
_PURE_CALLS = frozenset((*runtime.__all__, *_VALUES.split(), *_INTEGERS.split(), "kept", "merged"))
_WRITERS = frozenset(("set_element", "merge_into"))  # their first argument is the array that changes
_READ_ONLY = frozenset(("tid", "bid", "bdim", "gdim", "__class__", "v"))


@dataclass
class _Changes:
    """Names that lines assign, and arrays whose elements they assign. ``aliases``: of the names, those that may stand
    for an array, or a part of one, that has another name too, as a reference does."""

    names: dict[str, None] = field(default_factory=dict)
    arrays: dict[str, None] = field(default_factory=dict)
    aliases: set[str] = field(default_factory=set)


def predicate(functions: Sequence[Function], asm: Sequence[AsmBlock]) -> None:
    """Rewrite the branches of all functions where that is possible."""
    quiet = _Quiet(asm)
    by_number = {f.number: f for f in functions}
    visited: set[int] = set()

    def visit(function: Function) -> None:
        """Callees first; a recursive function is not known to be quiet when it is reached again."""
        if function.number not in visited:
            visited.add(function.number)
            for callee in function.callees:
                if callee in by_number:
                    visit(by_number[callee])
            _rewrite(function, quiet)
            if not function.blocking and quiet.function(function.lines):
                quiet.functions.add(function.number)

    for function in functions:
        visit(function)


def _rewrite(function: Function, quiet: _Quiet) -> None:
    """Innermost branches first: they are further down or deeper, so the text is walked from its end."""
    lines = function.lines
    for start in range(len(lines) - 1, -1, -1):
        test = _TEST.fullmatch(lines[start].text)
        if test is not None:
            _branch(lines, start, test, quiet)


def _branch(lines: list[Line], start: int, test: re.Match[str], quiet: _Quiet) -> None:
    head = lines[start]
    middle = suite_end(lines, start)
    if middle < len(lines) and lines[middle].text.startswith("elif "):  # the cases of a switch
        return
    has_else = middle < len(lines) and lines[middle].indent == head.indent and lines[middle].text == "else:"
    end = suite_end(lines, middle) if has_else else middle
    suites = [lines[start + 1 : middle]] + ([lines[middle + 1 : end]] if has_else else [])
    changes = [quiet.changes(suite) for suite in suites]
    if any(c is None for c in changes):
        return
    known = _names(lines[:start])
    tag = f"{start}_{head.loc.line if head.loc else 0}"
    condition, mixed, taken = f"lanes_{tag}", f"{_MIXED}{tag}", f"{_TAKEN}{tag}"
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
            if name in known:
                keeps.append(f"old_{tag}_{k} = {name}")
                merges.append(f"{name} = merged({condition}, {name}, old_{tag}_{k})")
        for k, name in enumerate(change.arrays):
            if name in known:
                keeps.append(f"kept_{tag}_{k} = kept({name})")
                merges.append(f"merge_into({name}, {condition}, kept_{tag}_{k})")
        known |= change.names.keys()  # a value that both suites give, as that of a conditional expression
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


def _names(lines: Sequence[Line]) -> set[str]:
    """Names that lines mention. A variable is assigned where it is declared, and its name is used for no other."""
    return set(re.findall(r"[A-Za-z_]\w*", "\n".join(item.text for item in lines)))


class _Quiet:
    """Tells lines that only compute from those that do more. ``functions``: numbers of functions that only compute."""

    def __init__(self, asm: Sequence[AsmBlock]) -> None:
        self._asm = [not block.errors and all(i.opcode in PURE for i in block.instrs) for block in asm]
        self.functions: set[int] = set()

    def function(self, lines: Sequence[Line]) -> bool:
        """Whether a function only computes, and changes nothing of its caller's."""
        if not lines or any(_BUSY.search(item.text) for item in lines[:-1]):
            return False
        last = lines[-1]
        returns = last.indent == 1 and last.text.startswith("return ")
        if returns:
            value = _parse(last.text.removeprefix("return ").replace(CALL_MARK, ""))
            calls = last.callee >= 0 and last.callee not in self.functions
            if calls or value is None or not all(self._pure(node) for node in value):
                return False
        changes = self.changes(lines[1:-1] if returns else lines[1:])
        if changes is None:
            return False
        parameters = set(re.findall(r"\w+", lines[0].text.partition("(")[2]))
        return not parameters & changes.arrays.keys()

    def changes(self, lines: Sequence[Line]) -> _Changes | None:
        """What lines change, or None when they do more than compute with local values."""
        for item in lines:
            if _BUSY.search(item.text) or (item.callee >= 0 and item.callee not in self.functions):
                return None
        if not lines:
            return _Changes()
        base = min(item.indent for item in lines)
        text = "\n".join(" " * (item.indent - base) + item.text for item in lines).replace(CALL_MARK, "")
        statements = _parse(text)
        found = _Changes()
        if statements is None or not all(self._statement(s, found) for s in statements):
            return None
        if found.aliases & found.arrays.keys():  # whose elements change is not plain from the name
            return None
        return found

    def _statement(self, s: ast.stmt, found: _Changes) -> bool:
        if isinstance(s, ast.Pass):
            return True
        if isinstance(s, ast.Assign):
            if not _fresh(s.value):
                found.aliases.update(t.id for t in s.targets if isinstance(t, ast.Name))
            return self._pure(s.value) and all(self._target(t, found) for t in s.targets)
        if isinstance(s, ast.Expr):
            return self._effect(s.value, found)
        if isinstance(s, ast.For):
            return (
                isinstance(s.target, ast.Name)
                and self._target(s.target, found)
                and self._pure(s.iter)
                and not s.orelse
                and all(self._statement(inner, found) for inner in s.body)
            )
        if isinstance(s, ast.If):
            return self._pure(s.test) and all(self._statement(inner, found) for inner in (*s.body, *s.orelse))
        return False

    def _effect(self, value: ast.expr, found: _Changes) -> bool:
        if not isinstance(value, ast.Call):
            return self._pure(value)
        if isinstance(value.func, ast.Attribute) and ast.unparse(value.func) == "S.loop":
            return True
        if isinstance(value.func, ast.Name) and value.func.id in _WRITERS:
            box = value.args[0]
            if not isinstance(box, ast.Name):
                return False
            found.arrays[box.id] = None
            return all(self._pure(a) for a in value.args[1:])
        return self._pure(value)

    def _target(self, t: ast.expr, found: _Changes) -> bool:
        if isinstance(t, ast.Name):
            found.names[t.id] = None
            return True
        if isinstance(t, (ast.Tuple, ast.List)):
            return all(self._target(inner, found) for inner in t.elts)
        if isinstance(t, ast.Subscript) and isinstance(t.value, ast.Name):
            found.arrays[t.value.id] = None
            return self._pure(t.slice)
        return False

    def _pure(self, e: ast.AST) -> bool:
        """Whether an expression only computes. A branch that was rewritten asks ``S.cond`` for what all lanes share."""
        for node in ast.walk(e):
            if isinstance(node, (ast.Lambda, ast.Await, ast.Yield, ast.YieldFrom)):
                return False
            if isinstance(node, ast.NamedExpr) and not re.fullmatch(r"t\d+", node.target.id):
                return False
            if isinstance(node, ast.Call) and not self._call(node):
                return False
            if isinstance(node, ast.Attribute) and node.attr not in (*_READ_ONLY, "asm", "cond", "mixed"):
                return False
        return True

    def _call(self, call: ast.Call) -> bool:
        name = ast.unparse(call.func)
        if name == "S.asm":
            number = call.args[0]
            return isinstance(number, ast.Constant) and isinstance(number.value, int) and self._asm[number.value]
        if name == "S.cond":
            asked = call.args[0]
            return isinstance(asked, ast.Name) and asked.id.startswith("lanes_")
        if name == "S.mixed":
            return True
        return name in _PURE_CALLS or (re.match(r"f\d+_", name) is not None)


def _fresh(e: ast.expr) -> bool:
    """Whether a value is no array that another name, or another array, holds as well."""
    if isinstance(e, ast.BinOp):
        return _fresh(e.left) and _fresh(e.right)
    if isinstance(e, (ast.List, ast.Tuple)):
        return all(_fresh(x) for x in e.elts)
    if isinstance(e, ast.Call):
        return ast.unparse(e.func) == "copy_value"
    return _fresh(e.elt) if isinstance(e, ast.ListComp) else isinstance(e, (ast.Constant, ast.Compare))


def _parse(text: str) -> list[ast.stmt] | None:
    try:
        return ast.parse(text).body
    except SyntaxError:
        return None
