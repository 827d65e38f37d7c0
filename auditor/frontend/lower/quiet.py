"""Which generated lines only compute with local values, and what such lines change."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import field

from auditor.frontend.lower import runtime
from auditor.frontend.lower.emit import CALL_MARK, Line
from auditor.quick_dataclass import dataclass

_BUSY = re.compile(r"\byield\b|\breturn\b|\bbreak\b|\bcontinue\b|\bwhile\b")  # what no predicated branch holds
_VALUES = "copy_value select land lor lnot truth cdiv cmod shl shr collapse lanewise Vec"
_INTEGERS = "u8 u16 u32 u64 s8 s16 s32 s64 range len abs min max"
_PURE_CALLS = frozenset((*runtime.__all__, *_VALUES.split(), *_INTEGERS.split(), "kept", "merged"))
_WRITERS = frozenset(("set_element", "merge_into", "overwrite"))  # their first argument is the array that changes
_READ_ONLY = frozenset(("tid", "bid", "bdim", "gdim", "__class__", "v"))
# Calls that code makes which ``predicate`` and ``narrow`` have rewritten, and accesses.
_ON_LANES = ("S.mixed", "S.narrow", "S.widen", "S.active")
_ON_MEMORY = ("S.load", "S.store")
_METHODS = frozenset(name.removeprefix("S.") for name in ("S.asm", "S.cond", *_ON_LANES, *_ON_MEMORY))
_MACHINE = re.compile(r"\bS\.(\w+)(?:\((\d+),)?")  # what code asks of the machine, with the number of an asm statement


@dataclass
class Changes:
    """Names that lines assign, and arrays whose elements they assign. ``aliases``: of the names, those that may stand
    for an array, or a part of one, that has another name too, as a reference does."""

    names: dict[str, None] = field(default_factory=dict)
    arrays: dict[str, None] = field(default_factory=dict)
    aliases: set[str] = field(default_factory=set)


class Quiet:
    """Tells lines that only compute from those that do more. ``functions``: numbers of functions that only compute.

    ``asm``: of each asm statement, whether it counts as computing; ``memory``: whether accesses of memory do.
    """

    def __init__(self, asm: Sequence[bool], memory: bool = False) -> None:
        self._asm = asm
        self._calls = frozenset((*_ON_LANES, *(_ON_MEMORY if memory else ())))
        allowed = [name.removeprefix("S.") for name in ("S.asm", "S.cond", "S.loop", *self._calls)]
        self._allowed = frozenset((*allowed, *_READ_ONLY))
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

    def changes(self, lines: Sequence[Line]) -> Changes | None:
        """What lines change, or None when they do more than compute with local values."""
        for item in lines:
            if _BUSY.search(item.text) or (item.callee >= 0 and item.callee not in self.functions):
                return None
            if "S." in item.text and self._busy(item.text):
                return None
        if not lines:
            return Changes()
        base = min(item.indent for item in lines)
        text = "\n".join(" " * (item.indent - base) + item.text for item in lines).replace(CALL_MARK, "")
        statements = _parse(text)
        found = Changes()
        if statements is None or not all(self._statement(s, found) for s in statements):
            return None
        if found.aliases & found.arrays.keys():  # whose elements change is not plain from the name
            return None
        return found

    def _busy(self, text: str) -> bool:
        """Whether a line asks the machine for more than that. It is plain from the text, before any is parsed."""
        for match in _MACHINE.finditer(text):
            name, number = match.groups()
            if name not in self._allowed or (name == "asm" and number is not None and not self._asm[int(number)]):
                return "'" not in text[: match.start()]  # it may be part of a string otherwise
        return False

    def _statement(self, s: ast.stmt, found: Changes) -> bool:
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

    def _effect(self, value: ast.expr, found: Changes) -> bool:
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

    def _target(self, t: ast.expr, found: Changes) -> bool:
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
            if isinstance(node, ast.Attribute) and node.attr not in (*_READ_ONLY, *_METHODS):
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
        if name in self._calls:
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
