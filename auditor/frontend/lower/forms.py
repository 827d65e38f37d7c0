"""Values and lvalues while code is generated: Python expressions with what is statically known of them."""

from __future__ import annotations

from dataclasses import replace

from auditor.frontend.lower.types import BOOL, UNKNOWN_TYPE, CType
from auditor.quick_dataclass import dataclass

ADDRESS = "address"  # a pointer that is certainly no Ref: integer, Vec or opaque


@dataclass(slots=True)
class Val:
    """An rvalue. ``code`` has no side effects.

    ``raw``: an unsigned value not yet reduced to its width (arithmetic modulo 2^n may delay that). ``lo``/``hi``: a
    range that it certainly lies in. ``plain``: certainly a Python int (neither per-lane nor opaque). ``borrowed``: a
    list that belongs to another object, to be copied before it is kept. ``points_to``: of a pointer, the scalar in a
    local array or object whose address was taken for it.
    """

    code: str
    type: CType
    const: int | float | None = None
    raw: bool = False
    lo: int | None = None
    hi: int | None = None
    plain: bool = False
    space: str = ""
    borrowed: bool = False
    points_to: Lvalue | None = None

    def retyped(self, ctype: CType) -> Val:
        return Val(
            self.code, ctype, self.const, self.raw, self.lo, self.hi, self.plain, self.space, self.borrowed,
            self.points_to,
        )  # fmt: skip


@dataclass(slots=True)
class Lvalue:
    """An object. kind:

    * "py": ``code`` is a Python target; ``box`` and ``key`` name the list slot it is, when it is one;
    * "dyn": slot ``key`` of list ``box``, where the key may be out of range, per-lane or opaque;
    * "mem": ``code`` is a pointer value (``space`` as in ``Val``); of arrays the decayed pointer when ``decayed``;
    * "seen": the local object ``code`` seen as a scalar of another type;
    * "bits": ``width`` bits from bit ``key`` of the packed integer ``parent``;
    * "none": nothing known.
    """

    kind: str
    type: CType
    code: str = ""
    box: str = ""
    key: str = ""
    space: str = ""
    decayed: bool = False
    parent: Lvalue | None = None
    width: int = 0
    decl: int = 0  # the scalar local that becomes a cell if its address is needed
    lo: int | None = None
    hi: int | None = None
    plain: bool = False
    value_space: str = ""  # space of the pointer that a local variable holds
    after: int = 0  # how many elements of its array certainly follow


def literal(value: int | float, ctype: CType) -> Val:
    if isinstance(value, float):
        return Val(_float_text(value), ctype, value)
    text = str(value) if -4096 <= value <= 65536 else (hex(value) if value >= 0 else f"(-{hex(-value)})")
    if value < 0 and text[0] != "(":
        text = f"({text})"
    return Val(text, ctype, value, lo=value, hi=value, plain=True, space=ADDRESS if ctype.kind == "pointer" else "")


def _float_text(value: float) -> str:
    if value != value or value in (float("inf"), float("-inf")):
        return f"float('{value}')"
    return repr(value)


def opaque(ctype: CType = UNKNOWN_TYPE) -> Val:
    return Val("OPAQUE", ctype, space=ADDRESS if ctype.kind == "pointer" else "")


def limits(ctype: CType) -> tuple[int, int]:
    """The values that an integer type can hold."""
    if ctype.kind == "bool":
        return 0, 1
    if ctype.signed:
        return -(1 << (ctype.bits - 1)), (1 << (ctype.bits - 1)) - 1
    return 0, (1 << ctype.bits) - 1


def wrap_constant(value: int, ctype: CType) -> int:
    """``value`` as the integer type holds it."""
    if ctype.kind == "bool":
        return 1 if value else 0
    value &= (1 << ctype.bits) - 1
    return value - (1 << ctype.bits) if ctype.signed and value >> (ctype.bits - 1) else value


def mask_text(bits: int) -> str:
    return hex((1 << bits) - 1)


def fits(value: Val, ctype: CType) -> bool:
    low, high = limits(ctype)
    return value.lo is not None and value.hi is not None and low <= value.lo and value.hi <= high


def settled(value: Val) -> Val:
    """``value`` reduced to the width of its type."""
    if not value.raw:
        return value
    if fits(value, value.type):
        return replace(value, raw=False)
    return Val(f"({value.code} & {mask_text(value.type.bits)})", value.type, plain=value.plain)


def convert(value: Val, to: CType) -> Val:
    """The C++ conversion of a scalar to another scalar type."""
    source = value.type
    if source is to or to.kind in ("void", "other", "function"):
        return value
    if to.kind == "bool":
        return _to_bool(value, to)
    if to.integral:
        if source.integral:
            return _integer(value, to)
        if source.kind == "float":
            if isinstance(value.const, float) and abs(value.const) < 2**63:
                return literal(wrap_constant(int(value.const), to), to)
            return _narrow(Val(f"to_int({value.code})", to), to)
        if source.kind in ("pointer", "ref"):
            code = value.code if value.space == ADDRESS else f"address({value.code})"
            return Val(f"({code} & {mask_text(to.bits)})", to) if to.bits < 64 else Val(code, to)
        if source.packed:
            return _narrow(Val(value.code, to), to)
        return Val(value.code, to)
    if to.kind == "float":
        if source.integral:
            value = settled(value)
            if isinstance(value.const, int):
                return literal(float(value.const), to)
            return Val(f"to_float({value.code})", to)
        if source.kind == "float":
            return value.retyped(to)
        return opaque(to)
    if to.kind == "pointer":
        if source.integral:
            value = settled(value)
            return Val(value.code, to, value.const, space=ADDRESS)
        return value.retyped(to)
    return value.retyped(to)


def _to_bool(value: Val, to: CType) -> Val:
    if value.type.kind == "bool":
        return value.retyped(to)
    value = settled(value)
    if value.const is not None:
        return literal(1 if value.const else 0, to)
    if value.type.kind == "function":
        return literal(1, to)
    return Val(f"({value.code} != 0)", to, lo=0, hi=1, plain=value.plain)


def _integer(value: Val, to: CType) -> Val:
    source = value.type
    if isinstance(value.const, int):
        return literal(wrap_constant(value.const, to), to)
    if source.kind == "bool":
        # comparisons give Python bools; asm operands and memory want integers
        return Val(f"({value.code} | 0)", to, lo=0, hi=1, plain=value.plain)
    if value.raw and to.bits > source.bits:
        value = settled(value)
    if value.raw:
        if not to.signed:
            return value.retyped(to)
        return _narrow(value, to)
    if fits(value, to) or (source.kind == "enum" and source.bits <= to.bits):
        return value.retyped(to)
    if source.signed == to.signed and source.bits <= to.bits:
        return value.retyped(to)
    if not source.signed and source.bits < to.bits:
        return value.retyped(to)
    return _narrow(value, to)


def _narrow(value: Val, to: CType) -> Val:
    """Any Python integer reduced to ``to``; delayed for unsigned types."""
    if not to.signed:
        return Val(value.code, to, raw=True, lo=value.lo, hi=value.hi, plain=value.plain)
    if fits(value, to):
        return Val(value.code, to, lo=value.lo, hi=value.hi, plain=value.plain)
    if to.bits in (8, 16, 32, 64):
        return Val(f"i{to.bits}({value.code})", to, plain=value.plain)
    return Val(value.code, to, plain=value.plain)


def boolean(code: str, plain: bool = False) -> Val:
    return Val(code, BOOL, lo=0, hi=1, plain=plain)
