"""What all parts of the lowering of one function share: names, temporaries, notes, conditions."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING

from auditor.frontend.lower.emit import Writer
from auditor.frontend.lower.forecast import NONE, Forecast, Suspects
from auditor.frontend.lower.forms import ADDRESS, Lvalue, Val, opaque, settled
from auditor.frontend.lower.nodes import Node
from auditor.frontend.lower.types import UNKNOWN_TYPE, CType
from auditor.program import Note, SharedVar
from auditor.source import Loc

if TYPE_CHECKING:
    from auditor.frontend.lower.program_builder import Build, Lowered

_SIMPLE = re.compile(r"[A-Za-z_]\w*|-?\d+|0x[0-9a-f]+")


LARGEST = 16 << 20  # bytes of a local object: the stack of the host holds half of it, that of a thread a small part


class Abandoned(Exception):  # noqa: N818 - a translation that is given up, not an error of ours
    """This function cannot be translated as a whole."""


def is_simple(code: str) -> bool:
    """Whether an expression is a name or literal, which may be repeated for free."""
    return _SIMPLE.fullmatch(code) is not None


def is_integer(code: str) -> str:
    """The test whether a simple expression is a plain integer. Python reads a literal with a dot behind it as another
    number."""
    return "True" if code.lstrip("-").isdecimal() else f"{code}.__class__ is int"


class Facts:
    """What an attempt to lower a function learned that changes the next attempt.

    ``cells``: scalars whose address is needed. ``mutable``: variables that are assigned after their declaration.
    ``valued`` and ``placed``: variables of which this attempt took for granted that they keep what is known of their
    value, and that they never hold a Ref.
    """

    def __init__(self, certain: Collection[int] = (), asm: dict[int, int] | None = None) -> None:
        """``certain``: what is known from the start, as ``Forecast`` has it."""
        self.cells = {-key for key in certain if key < 0}
        self.mutable = {key for key in certain if key > 0}
        self.weak: set[int] = set()  # pointer variables that may hold a Ref
        self.asm = asm or {}  # the number of each statement that was met, by node
        self.valued: set[int] = set()
        self.placed: set[int] = set()
        self._cells = 0

    def begin(self) -> None:
        """A new attempt, which takes nothing for granted yet."""
        self.valued.clear()
        self.placed.clear()
        self._cells = len(self.cells)

    def hold(self) -> bool:
        """Whether nothing that the attempt learned contradicts what it took for granted: another one would give the
        same code."""
        same = len(self.cells) == self._cells
        return same and self.valued.isdisjoint(self.mutable) and self.placed.isdisjoint(self.weak)


class Core:
    """State and small services. The mixins that follow add the C++."""

    def __init__(
        self, build: Build, lowered: Lowered, facts: Facts, host: bool, suspects: Suspects = NONE
    ) -> None:
        self.build = build
        self.ast = build.ast
        self.types = build.types
        self.lowered = lowered
        self.facts = facts
        self.host = host
        self.forecast = Forecast(build.ast, suspects)
        self.out = Writer()
        self.vars: dict[int, Lvalue] = {}
        self.notes: list[Note] = []
        self.shared: dict[str, SharedVar] = {}
        self.callees: set[int] = set()
        self.blocking = False
        self.dry = False  # callees are not lowered: only the facts of this attempt are wanted
        self._names: dict[str, int] = {}
        self._temps = 0

    # ---- defined by later layers

    def rvalue(self, node: Node) -> Val:
        raise NotImplementedError

    def lvalue(self, node: Node) -> Lvalue:
        raise NotImplementedError

    def effect(self, node: Node) -> None:
        raise NotImplementedError

    def call(self, node: Node, want: bool = True) -> Val:
        raise NotImplementedError

    def call_lvalue(self, node: Node) -> Lvalue | None:
        raise NotImplementedError

    def construct(self, node: Node, ctype: CType, target: Lvalue | None = None) -> Val:
        raise NotImplementedError

    def initialise(self, ctype: CType, node: Node | None, target: Lvalue | None = None) -> Val:
        raise NotImplementedError

    def default_value(self, ctype: CType, node: Node | None) -> Val:
        raise NotImplementedError

    def lambda_value(self, node: Node) -> Val:
        raise NotImplementedError

    def captured(self, key: int) -> Lvalue | None:
        raise NotImplementedError

    def this_pointer(self) -> Val:
        raise NotImplementedError

    def this_object(self) -> Lvalue:
        raise NotImplementedError

    def statement(self, node: Node) -> None:
        raise NotImplementedError

    def global_lvalue(self, node: Node, decl: Node) -> Lvalue:
        raise NotImplementedError

    def function_value(self, node: Node) -> Val:
        raise NotImplementedError

    # ---- names and lines

    def temp(self) -> str:
        self._temps += 1
        return f"t{self._temps}"

    def fresh(self, spelling: str) -> str:
        """A Python name for a C++ variable, unique in the function."""
        stem = re.sub(r"\W", "_", spelling, flags=re.ASCII) or "anonymous"
        count = self._names.get(stem, 0) + 1
        self._names[stem] = count
        return f"{stem}_{count}"

    def line(self, text: str, node: Node | None = None, callee: int = -1) -> None:
        self.out.line(text, self.ast.loc(node) if node is not None else None, callee)

    def hoist(self, code: str, ctype: CType, node: Node | None, space: str = "", callee: int = -1) -> Val:
        """Evaluate ``code`` now, on a line of its own."""
        name = self.temp()
        self.line(f"{name} = {code}", node, callee)
        return Val(name, ctype, space=space)

    def simple(self, value: Val) -> Val:
        """``value`` as something that may be mentioned twice."""
        value = settled(value)
        if is_simple(value.code):
            return value
        name = self.temp()
        self.line(f"{name} = {value.code}")
        return Val(name, value.type, value.const, False, value.lo, value.hi, value.plain, value.space)

    # ---- what cannot be translated

    def note(self, message: str, node: Node | None, kind: str = "unanalysed") -> None:
        loc = self.ast.loc(node) if node is not None else Loc("<unknown>", 0, 0)
        self.notes.append(Note(kind, message, loc))

    def unanalysed(self, what: str, node: Node, ctype: CType = UNKNOWN_TYPE) -> Val:
        self.note(what, node)
        name = self.temp()
        self.line(f"{name} = S.unanalysed({what!r}, {self.ast.loc(node).line})", node)
        if ctype.aggregate:
            return opaque_object(ctype)
        return Val(name, ctype, space=ADDRESS if ctype.kind == "pointer" else "")

    # ---- conditions

    def branch(self, value: Val) -> str:
        """A Python condition that is true when the strand takes the branch; forks through ``S.cond``."""
        value = settled(value)
        if value.const is not None:
            return "True" if value.const else "False"
        if value.plain:
            return value.code
        if is_simple(value.code):
            name = value.code
            return f"{name} is True or {name} is not False and S.cond({name})"
        name = self.temp()
        return f"({name} := {value.code}) is True or {name} is not False and S.cond({name})"


def blank(ctype: CType, scalar: str = "OPAQUE") -> str:
    """Code for a new object of the type with every scalar the same (0 is typed)."""
    if ctype.size > LARGEST:
        raise Abandoned(f"a local object of {ctype.size} bytes")
    if ctype.kind == "array":
        inner = blank(ctype.element, scalar)
        if ctype.element.aggregate:
            return f"[{inner} for _ in range({ctype.count})]"
        return f"[{inner}] * {ctype.count}"
    if ctype.kind == "record" and ctype.record is not None:
        if ctype.packed:
            return "0"  # descriptors are built field by field, often without an initialiser
        if ctype.record.tensor_map:
            return "[OPAQUE]"
        return "[" + ", ".join(blank(f.type, scalar) for f in ctype.record.fields) + "]"
    if scalar == "0" and ctype.kind == "float":
        return "0.0"
    return scalar


def opaque_object(ctype: CType) -> Val:
    return Val(blank(ctype), ctype) if ctype.aggregate else opaque(ctype)


def zero_object(ctype: CType) -> Val:
    if ctype.aggregate:
        return Val(blank(ctype, "0"), ctype)
    if ctype.kind == "float":
        return Val("0.0", ctype, 0.0)
    return Val("0", ctype, 0, lo=0, hi=0, plain=True, space=ADDRESS if ctype.kind == "pointer" else "")
