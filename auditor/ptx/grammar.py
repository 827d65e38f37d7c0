"""PTX as data: the operands, instructions and blocks that the machine executes, and the parser of asm templates.

The input is the template of an inline asm statement in LLVM form: ``$0`` an operand, ``$$`` a dollar sign,
``${0:h}`` an operand with a print modifier, ``${:uid}`` a number that is unique to the statement; braces are literal.
Operands are numbered outputs first, then inputs; the hidden input of a "+" output has no number of its own.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache
from typing import Any, TypeAlias

from auditor.ptx import mnemonics
from auditor.ptx.mnemonics import is_known, is_special
from auditor.quick_dataclass import dataclass

__all__ = [
    "Addr",
    "AsmBlock",
    "Imm",
    "Instr",
    "Not",
    "Operand",
    "Pair",
    "Param",
    "Reg",
    "Sink",
    "Special",
    "Symbol",
    "VectorOperand",
    "is_known",
    "misspelled",
    "parse_asm",
]


@dataclass(frozen=True, slots=True)
class Reg:
    """A register that the block declares. A declaration that hides another one of that name is renamed ``name#2``."""

    name: str


@dataclass(frozen=True, slots=True)
class Imm:
    """A literal, or an asm operand whose constant value is known."""

    value: int | float


@dataclass(frozen=True, slots=True)
class Param:
    """Operand number ``index`` of the asm statement."""

    index: int


@dataclass(frozen=True, slots=True)
class Special:
    """A special register, such as ``%tid.x``."""

    name: str


@dataclass(frozen=True, slots=True)
class Symbol:
    """A label, a variable or a function, with a byte offset."""

    name: str
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Sink:
    """``_``: a result that is thrown away."""


@dataclass(frozen=True, slots=True)
class Not:
    """``!p``."""

    operand: Operand


@dataclass(frozen=True, slots=True)
class VectorOperand:
    """``{a, b}``, and the argument list of a call."""

    items: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """``p|q``: two results of one instruction."""

    first: Operand
    second: Operand


@dataclass(frozen=True, slots=True)
class Addr:
    """``[base + offset]``. In the tensor form ``[map, {x, y}]`` the vector is ``coords``; a second one is ``offsets``.

    ``base`` is None for an absolute address.
    """

    base: Operand | None
    offset: int | Operand = 0
    coords: tuple[Operand, ...] = ()
    offsets: tuple[Operand, ...] = ()


Operand: TypeAlias = Reg | Imm | Param | Special | Symbol | Sink | Not | VectorOperand | Pair | Addr


@dataclass(frozen=True, slots=True)
class Instr:
    """One instruction. ``opcode`` and ``mods`` are as ``mnemonics.split`` gives them.

    ``pred`` is (negated, predicate). ``line`` counts from 1 in the template. An instruction that could not be parsed
    has the opcode "?".
    """

    opcode: str
    mods: tuple[str, ...]
    operands: tuple[Operand, ...]
    pred: tuple[bool, Operand] | None
    text: str
    line: int

    @property
    def written(self) -> str:
        """Its beginning, as it stands in the source."""
        return " ".join(self.text.split()).replace("$", "%")[:80]

    def has(self, *mods: str) -> bool:
        """Whether all of these modifiers are present."""
        return all(map(self.mods.__contains__, mods))

    def mod_in(self, choices: Collection[str]) -> str | None:
        """The first modifier that is one of ``choices``."""
        for m in self.mods:
            if m in choices:
                return m
        return None

    def mod_prefix(self, prefix: str) -> str | None:
        """What follows ``prefix`` in the first modifier that begins with it: "1" for "cta_group::"."""
        for m in self.mods:
            if m.startswith(prefix):
                return m[len(prefix) :]
        return None


@dataclass(frozen=True, slots=True)
class AsmBlock:
    """A parsed asm statement.

    ``labels`` maps a label to the index of the instruction that follows it (``len(instrs)`` at the end). ``tied``
    holds the indices of "+" outputs. ``blocking``: some instruction may wait or needs the whole warp, or a branch
    goes backwards. ``straight``: no instruction branches or has a predicate, so that all lanes execute all of them in
    order. ``regs`` maps declared registers to their types, such as "pred" or "b32". ``plan`` is what the machine has
    worked out of the block when it was executed first.
    """

    instrs: tuple[Instr, ...]
    labels: Mapping[str, int]
    n_outputs: int
    n_inputs: int
    tied: tuple[int, ...]
    blocking: bool
    straight: bool
    errors: tuple[str, ...]
    template: str
    regs: Mapping[str, str]
    plan: Any = field(default=None, compare=False, repr=False)


BRANCHES = ("bra", "bra.uni", "ret", "exit")  # opcodes after which another instruction than the next one may follow


def misspelled(instr: Instr) -> str | None:
    """A message when a part of the instruction's name does not exist; see ``mnemonics.spelling_problem``."""
    return mnemonics.spelling_problem(instr.opcode, instr.mods)


def parse_asm(
    template: str, constraints: Sequence[str], n_outputs: int, constants: Mapping[int, int] | None = None
) -> AsmBlock:
    """Parse an asm template. Never raises on bad text: see ``AsmBlock.errors``.

    ``constraints`` are those of the outputs, then those of the inputs. ``constants`` gives the values of "n" and "i"
    operands; they replace the operand wherever it stands, also inside an instruction's name.
    """
    return _parse_cached(template, tuple(constraints), n_outputs, tuple(sorted((constants or {}).items())))


@lru_cache(maxsize=4096)
def _parse_cached(
    template: str, constraints: tuple[str, ...], n_outputs: int, constants: tuple[tuple[int, int], ...]
) -> AsmBlock:
    text = _strip_comments(_expand(template, dict(constants)))
    parser = _Parser(text)
    parser.run()
    instrs = tuple(parser.resolved())
    return AsmBlock(
        instrs=instrs,
        labels=parser.labels,
        n_outputs=n_outputs,
        n_inputs=len(constraints) - n_outputs,
        tied=tuple(i for i, c in enumerate(constraints[:n_outputs]) if c.startswith("+")),
        blocking=_blocking(instrs, parser.labels),
        straight=all(i.pred is None and i.opcode not in BRANCHES for i in instrs),
        errors=tuple(parser.errors),
        template=template,
        regs=parser.regs,
    )


def _blocking(instrs: Iterable[Instr], labels: Mapping[str, int]) -> bool:
    for index, instr in enumerate(instrs):
        if mnemonics.may_block(instr.opcode, instr.mods):
            return True
        if instr.opcode == "bra" and instr.operands:
            target = instr.operands[-1]
            if isinstance(target, Symbol) and labels.get(target.name, index + 1) <= index:
                return True
    return False


# An operand is carried through the lexer as OPEN digits CLOSE, since after ``$$`` is undone a name may begin with "$".
_OPEN, _CLOSE = "\x01", "\x02"
_DOLLAR = re.compile(r"\$(?:(\$)|(\d+)|\{(\d+)(?::\w+)?\}|\{:(\w+)\})")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)


def _expand(template: str, constants: Mapping[int, int]) -> str:
    def one(m: re.Match[str]) -> str:
        if m[1]:
            return "$"
        if m[4]:
            return "0"
        index = int(m[2] or m[3])
        return str(constants[index]) if index in constants else f"{_OPEN}{index}{_CLOSE}"

    return _DOLLAR.sub(one, template) if "$" in template else template


def _strip_comments(text: str) -> str:
    """Comments become blanks; the line count stays."""
    return _COMMENT.sub(lambda m: " " + "\n" * m[0].count("\n"), text) if "/" in text else text


def _readable(text: str) -> str:
    return text.replace(_OPEN, "$").replace(_CLOSE, "")


_TOKEN = re.compile(
    r"""\s*(?:
      ([.%]?[A-Za-z_$][\w$\x01\x02]*(?:(?:\.|::)[\w$\x01\x02]+)*)                       # 1: a name
    | (0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16}|0[xX][0-9a-fA-F]+U?|0[bB][01]+U?
       |\d+\.\d*(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+|\d+U?)                                # 2: a number
    | \x01(\d+)\x02                                                                     # 3: an operand
    | ("[^"]*")                                                                         # 4: a string
    | (<<|>>|.)                                                                         # 5: anything else
    )""",
    re.VERBOSE,
)
_NAME, _NUMBER, _PARAM, _STRING, _PUNCT, _END = 1, 2, 3, 4, 5, 6

_OPERATORS: dict[str, tuple[int, Callable[[int, int], int]]] = {
    "|": (1, lambda a, b: a | b),
    "^": (2, lambda a, b: a ^ b),
    "&": (3, lambda a, b: a & b),
    "<<": (4, lambda a, b: a << b if 0 <= b < 64 else 0),
    ">>": (4, lambda a, b: a >> b if 0 <= b < 64 else 0),
    "+": (5, lambda a, b: a + b),
    "-": (5, lambda a, b: a - b),
    "*": (6, lambda a, b: a * b),
    "/": (6, lambda a, b: a // b if b else 0),
    "%": (6, lambda a, b: a % b if b else 0),
}


def number(text: str) -> int | float:
    """The value of a PTX literal (section 4.5)."""
    kind = text[:2].lower()
    if kind == "0f":
        return float(struct.unpack(">f", bytes.fromhex(text[2:]))[0])
    if kind == "0d":
        return float(struct.unpack(">d", bytes.fromhex(text[2:]))[0])
    digits = text.rstrip("U")
    if kind in ("0x", "0b"):
        return int(digits, 0)
    if not digits.isdigit():
        return float(digits)
    octal = len(digits) > 1 and digits[0] == "0" and not set(digits) & set("89")  # 08 is none, and for ptxas to reject
    return int(digits, 8 if octal else 10)


class _PtxSyntaxError(Exception):
    """Raised and caught inside the parser."""


@dataclass(slots=True)
class _Scope:
    """Names that one ``{ }`` declares, as they are after renaming."""

    parent: _Scope | None = None
    regs: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)

    def register(self, name: str) -> str | None:
        scope: _Scope | None = self
        while scope is not None:
            if name in scope.regs:
                return scope.regs[name]
            scope = scope.parent
        return None

    def label(self, name: str) -> str | None:
        scope: _Scope | None = self
        while scope is not None:
            if name in scope.labels:
                return scope.labels[name]
            scope = scope.parent
        return None


class _Parser:
    """Recursive descent over the tokens of one template."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.kinds: list[int] = []
        self.words: list[str] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        end = len(text.rstrip())
        for m in _TOKEN.finditer(text, 0, end):
            kind = m.lastindex or _PUNCT
            self.kinds.append(kind)
            self.words.append(m[kind])
            self.starts.append(m.start(kind))
            self.ends.append(m.end())
        self.kinds.append(_END)
        self.words.append("")
        self.starts.append(end)
        self.ends.append(end)
        self.at = 0
        self.scope = _Scope()
        self.instrs: list[Instr] = []
        self.scopes: list[_Scope] = []  # of each instruction, to resolve labels
        self.labels: dict[str, int] = {}
        self.regs: dict[str, str] = {}
        self.errors: list[str] = []

    # Statements

    def run(self) -> None:
        while self.kinds[self.at] != _END:
            start = self.at
            try:
                self._statement()
            except _PtxSyntaxError as problem:
                self._recover(start, str(problem))

    def _recover(self, start: int, message: str) -> None:
        """Give up one statement: it ends at its semicolon."""
        while self.kinds[self.at] != _END and self.words[self.at] != ";":
            self.at += 1
        last = max(self.at - 1, start)
        text = _readable(self.text[self.starts[start] : self.ends[last]])
        self.errors.append(f"{message}: {' '.join(text.split())}")
        self._emit(Instr("?", (), (), None, text, self._line(start)))
        self._skip(";")

    def _statement(self) -> None:
        word = self.words[self.at]
        kind = self.kinds[self.at]
        if word == ";":
            self.at += 1
        elif word == "{":
            self.at += 1
            self.scope = _Scope(self.scope)
        elif word == "}":
            self.at += 1
            # A block that closes a scope which another asm statement opened is legal.
            self.scope = self.scope.parent or self.scope
        elif kind == _NAME and word[0] == ".":
            self._directive(word)
        elif kind == _NAME and self.words[self.at + 1] == ":":
            self.labels[self._declare_label(word)] = len(self.instrs)
            self.at += 2
        else:
            self._instruction()

    def _directive(self, word: str) -> None:
        start = self.at
        self.at += 1
        if word.startswith(".reg"):
            self._registers(word)
            return
        line = self._line(start)
        # .loc and its like end with the line, all others with a semicolon.
        by_line = word in (".loc", ".file", ".section", ".version", ".target", ".address_size")
        while self.kinds[self.at] != _END and not (by_line and self._line(self.at) != line):
            self.at += 1
            if self.words[self.at - 1] == ";":
                return

    def _registers(self, word: str) -> None:
        kind = word[len(".reg") :].lstrip(".")
        while self.kinds[self.at] == _NAME and self.words[self.at][0] == ".":
            kind = self.words[self.at].rpartition(".")[2]
            self.at += 1
        while True:
            if self.kinds[self.at] != _NAME:
                raise _PtxSyntaxError("expected a register name")
            name = self.words[self.at]
            self.at += 1
            if self._skip("<"):
                count = self._constant()
                self._expect(">")
                for i in range(min(count, 1 << 16)):
                    self._declare(f"{name}{i}", kind)
            else:
                self._declare(name, kind)
            if not self._skip(","):
                break
        self._end_statement()

    def _declare(self, name: str, kind: str) -> None:
        unique = _unused(name, self.regs)
        self.regs[unique] = kind
        self.scope.regs[name] = unique

    def _declare_label(self, name: str) -> str:
        unique = _unused(name, self.labels)
        self.scope.labels[name] = unique
        return unique

    def _instruction(self) -> None:
        start = self.at
        pred: tuple[bool, Operand] | None = None
        if self._skip("@"):
            negated = self._skip("!")
            pred = (negated, self._primary())
        if self.kinds[self.at] != _NAME:
            raise _PtxSyntaxError("expected an instruction")
        name = self.words[self.at]
        self.at += 1
        while self.kinds[self.at] == _NAME and self.words[self.at][0] == ".":
            name += self.words[self.at]
            self.at += 1
        operands: list[Operand] = []
        if self.kinds[self.at] != _END and self.words[self.at] not in (";", "}"):
            operands.append(self._operand())
            while self._skip(","):
                operands.append(self._operand())
        text = _readable(self.text[self.starts[start] : self.ends[self.at - 1]])
        self._end_statement()
        if _OPEN in name:
            name = _readable(name)
            self.errors.append(f"the value of an operand inside '{name}' is not known")
        opcode, mods = mnemonics.split(name)
        self._emit(Instr(opcode, mods, tuple(operands), pred, text, self._line(start)))

    def _emit(self, instr: Instr) -> None:
        self.instrs.append(instr)
        self.scopes.append(self.scope)

    def resolved(self) -> Iterable[Instr]:
        """The instructions with branch targets resolved to the labels of their scopes."""
        for instr, scope in zip(self.instrs, self.scopes, strict=True):
            target = instr.operands[-1] if instr.opcode == "bra" and instr.operands else None
            if isinstance(target, Symbol):
                label = scope.label(target.name)
                if label is None:
                    self.errors.append(f"label '{target.name}' is not defined")
                elif label != target.name:
                    instr = replace(instr, operands=(*instr.operands[:-1], Symbol(label)))
            yield instr

    # Operands

    def _operand(self) -> Operand:
        first = self._primary()
        if isinstance(first, Imm):
            return self._expression(first, 0)
        if self._skip("|"):
            return Pair(first, self._primary())
        if isinstance(first, Symbol) and self.words[self.at] in ("+", "-"):
            sign = -1 if self.words[self.at] == "-" else 1
            self.at += 1
            return Symbol(first.name, sign * self._constant())
        return first

    def _primary(self) -> Operand:
        kind = self.kinds[self.at]
        word = self.words[self.at]
        self.at += 1
        if kind == _PARAM:
            return Param(int(word))
        if kind == _NAME:
            return self._named(word)
        if kind == _NUMBER:
            return Imm(number(word))
        if word == "[":
            return self._address()
        if word == "{":
            return VectorOperand(self._list("}"))
        if word == "!":
            return Not(self._primary())
        if word in ("-", "~"):
            inner = self._primary()
            if isinstance(inner, Imm):
                if word == "-":
                    return Imm(-inner.value)
                if isinstance(inner.value, int):
                    return Imm(~inner.value)
        if word == "(":
            items = self._list(")")
            return items[0] if len(items) == 1 and isinstance(items[0], Imm) else VectorOperand(items)
        self.at -= 1
        raise _PtxSyntaxError(f"unexpected '{_readable(word)}'" if kind != _END else "the statement is incomplete")

    def _named(self, name: str) -> Operand:
        register = self.scope.register(name)
        if register is not None:
            return Reg(register)
        if name == "_":
            return Sink()
        if name[0] == "%":
            return Special(name) if is_special(name) else Reg(name)
        if name == "WARP_SZ":
            return Imm(32)
        vector, _, component = name.rpartition(".")
        if vector and component in ("x", "y", "z", "w", "r", "g", "b", "a"):
            register = self.scope.register(vector)
            if register is not None:
                return Reg(f"{register}.{component}")
        return Symbol(_readable(name))

    def _list(self, close: str) -> tuple[Operand, ...]:
        items: list[Operand] = []
        if self._skip(close):
            return ()
        items.append(self._operand())
        while self._skip(","):
            items.append(self._operand())
        self._expect(close)
        return tuple(items)

    def _address(self) -> Addr:
        base: Operand | None = self._primary()
        offset: int | Operand = 0
        if isinstance(base, Imm):
            folded = self._expression(base, 0)
            if isinstance(folded.value, int):
                base, offset = None, folded.value
        elif self.words[self.at] in ("+", "-"):
            negative = self.words[self.at] == "-"
            self.at += 1
            term = self._primary()
            if isinstance(term, Imm):
                folded = self._expression(term, 0)
                if not isinstance(folded.value, int):
                    raise _PtxSyntaxError("an address offset must be an integer")
                offset = -folded.value if negative else folded.value
            elif negative:
                raise _PtxSyntaxError("an address cannot subtract a register")
            else:
                offset = term
        vectors: list[tuple[Operand, ...]] = []
        while self._skip(","):
            self._expect("{")
            vectors.append(self._list("}"))
        self._expect("]")
        coords = vectors[0] if vectors else ()
        offsets = vectors[1] if len(vectors) > 1 else ()
        return Addr(base, offset, coords, offsets)

    def _expression(self, left: Imm, binding: int) -> Imm:
        """Constant expression by precedence climbing (section 4.6)."""
        while True:
            operator = _OPERATORS.get(self.words[self.at]) if self.kinds[self.at] == _PUNCT else None
            if operator is None or operator[0] <= binding:
                return left
            self.at += 1
            right = self._primary()
            if not isinstance(right, Imm):
                raise _PtxSyntaxError("expected a constant")
            right = self._expression(right, operator[0])
            if not isinstance(left.value, int) or not isinstance(right.value, int):
                raise _PtxSyntaxError("expected an integer constant")
            left = Imm(operator[1](left.value, right.value))

    def _constant(self) -> int:
        first = self._primary()
        if isinstance(first, Imm):
            value = self._expression(first, 0).value
            if isinstance(value, int):
                return value
        raise _PtxSyntaxError("expected an integer constant")

    # Tokens

    def _skip(self, word: str) -> bool:
        if self.words[self.at] == word and self.kinds[self.at] == _PUNCT:
            self.at += 1
            return True
        return False

    def _expect(self, word: str) -> None:
        if not self._skip(word):
            raise _PtxSyntaxError(f"expected '{word}'")

    def _end_statement(self) -> None:
        """A semicolon, which may be missing at the end of the text or before a closing brace."""
        if not self._skip(";") and self.kinds[self.at] != _END and self.words[self.at] != "}":
            raise _PtxSyntaxError("expected ';'")

    def _line(self, token: int) -> int:
        return self.text.count("\n", 0, self.starts[token]) + 1


def _unused(name: str, taken: Collection[str]) -> str:
    unique, n = name, 1
    while unique in taken:
        n += 1
        unique = f"{name}#{n}"
    return unique
