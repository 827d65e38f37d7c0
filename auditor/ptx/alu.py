"""Arithmetic of PTX (sections 9.7.1 to 9.7.9) on the values of a strand.

Registers have no type: every operation reads its arguments in the type that the instruction names, and gives a result
in the range of that type. Floating-point arithmetic is not modelled; it consumes its arguments and gives ``OPAQUE``.
"""

from __future__ import annotations

import operator
import struct
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from math import ceil, floor, isnan, trunc
from typing import Any

from auditor.ptx.grammar import Instr, Pair, VectorOperand
from auditor.values import (
    CONST_WINDOW,
    GLOBAL_WINDOW,
    M32,
    OPAQUE,
    PARAM_WINDOW,
    SHARED_WINDOW,
    Opaque,
    Ref,
    Vec,
    collapse,
    lane_values,
    select,
)

__all__ = ["PURE", "evaluate", "is_data"]

_Lane = Callable[..., Any]  # an operation on the values of one lane
_Int = Callable[[Any], int]
_Mods = tuple[str, ...]

_INTEGERS = {f"{kind}{bits}": (kind == "s", bits) for kind in "bus" for bits in (8, 16, 32, 64, 128)}
_INTEGERS["pred"] = (False, 1)
_FLOATS = frozenset({"f16", "f16x2", "bf16", "bf16x2", "f32", "f32x2", "f64", "tf32"})


def evaluate(instr: Instr, args: Sequence[Any]) -> Any:
    """The result of one instruction whose opcode is in ``PURE``.

    ``args`` are the values of the source operands in order: a vector operand as a tuple of values, ``!p`` as the
    negated value. The result is a tuple when the destination is ``{lo, hi}`` or ``p|q``. Never raises: what cannot be
    computed is ``OPAQUE``.
    """
    opcode, mods = instr.opcode, instr.mods
    target = instr.operands[0] if instr.operands else None
    if not args:
        return OPAQUE
    if isinstance(target, VectorOperand):
        return _unpack(mods, args[0], len(target.items))
    if opcode == "mov":
        return _move(mods, args[0])
    if opcode in ("selp", "slct"):
        return _choose(opcode, mods, args) if len(args) == 3 else OPAQUE
    if opcode == "isspacep" and isinstance(args[0], Ref):
        return int("local" in mods)
    if opcode == "cvta" and isinstance(args[0], Ref):
        return args[0]
    result = _spread(_operation(opcode, mods), args)
    if target.__class__ is Pair:
        return result, _second(opcode, mods, args, result)
    return result


def is_data(instr: Instr) -> bool:
    """Whether the result is opaque whatever the arguments are, as that of floating-point arithmetic."""
    return _operation(instr.opcode, instr.mods) is None


def _spread(lane: _Lane | None, args: Sequence[Any]) -> Any:
    """Apply ``lane`` to plain values, or to each of the lanes."""
    per_lane = False
    known = lane is not None
    for a in args:
        if a.__class__ is Vec:
            per_lane = True
        elif isinstance(a, Opaque):
            a.used()
            known = False
        elif not isinstance(a, (int, float)):
            known = False
    if not known or lane is None:
        return OPAQUE
    try:
        return collapse(map(lane, *map(lane_values, args))) if per_lane else lane(*args)
    except (TypeError, ValueError, ArithmeticError):
        # A float in an integer operation, or a number of operands that PTX does not have.
        return OPAQUE


@cache
def _wrap(signed: bool, bits: int) -> _Int:
    """Into the range of an integer type."""
    mask = (1 << bits) - 1
    if not signed:
        return lambda x: int(x & mask)
    half = 1 << (bits - 1)
    return lambda x: int(((x + half) & mask) - half)


def _types(mods: _Mods) -> list[str]:
    return [m for m in mods if m in _INTEGERS or m in _FLOATS]


# mov and the selections also carry values that have no integer form.


def _bits(mods: _Mods) -> int:
    types = _types(mods)
    return _INTEGERS[types[-1]][1] if types and types[-1] in _INTEGERS else 32


def _in_type(mods: _Mods, value: Any) -> Any:
    """A copy in the type of the instruction; references, floats and opaque values pass unchanged and unused."""
    types = _types(mods)
    if types and types[-1] in _INTEGERS:
        wrap = _wrap(*_INTEGERS[types[-1]])
        if value.__class__ is int:
            return wrap(value)
        if value.__class__ is Vec:
            return _spread(wrap, (value,))
    return value


def _move(mods: _Mods, value: Any) -> Any:
    if value.__class__ is not tuple:
        return _in_type(mods, value)
    width = _bits(mods) // len(value)
    mask = (1 << width) - 1

    def pack(*parts: int) -> int:
        return sum((part & mask) << (width * i) for i, part in enumerate(parts))

    return _spread(pack, value)


def _unpack(mods: _Mods, value: Any, count: int) -> tuple[Any, ...]:
    if not isinstance(value, (int, Vec)):
        return (value if isinstance(value, Opaque) else OPAQUE,) * count
    width = _bits(mods) // count
    mask = (1 << width) - 1
    return tuple(_spread(lambda x, shift=width * i: (x >> shift) & mask, (value,)) for i in range(count))


def _choose(opcode: str, mods: _Mods, args: Sequence[Any]) -> Any:
    a, b, c = args
    if opcode == "slct":
        if mods[-1] != "s32":
            _spread(None, args)
            return OPAQUE
        mods = mods[:-1]
        wrap = _wrap(True, 32)
        c = _spread(lambda x: int(wrap(x) >= 0), (c,))
    return select(c, _in_type(mods, a), _in_type(mods, b))


def _second(opcode: str, mods: _Mods, args: Sequence[Any], first: Any) -> Any:
    """The value of q in ``p|q``."""
    if opcode == "setp":
        return _spread(_comparison(mods, True), args)
    if opcode == "lop3":
        combine = next((_LOGIC[m] for m in mods if m in _LOGIC), None)
        if combine is not None and len(args) == 5:
            return _spread(lambda d, q: combine(int(d != 0), q & 1), (first, args[4]))
    return OPAQUE


# Operations by opcode: each builder gives the operation on one lane, or None for opaque.


@lru_cache(maxsize=4096)
def _operation(opcode: str, mods: _Mods) -> _Lane | None:
    build = _BUILDERS.get(opcode)
    return build(mods) if build else None


def _typed(make: Callable[[_Mods, _Int, int], _Lane | None]) -> Callable[[_Mods], _Lane | None]:
    """A builder that needs the wrap and the width of the instruction's integer type."""

    def build(mods: _Mods) -> _Lane | None:
        types = _types(mods)
        if not types or types[-1] not in _INTEGERS:
            return None
        signed, bits = _INTEGERS[types[-1]]
        return make(mods, _wrap(signed, bits), bits)

    return build


def _is_signed(wrap: _Int) -> bool:
    return wrap(-1) < 0


def _saturate(x: int, signed: bool, bits: int) -> int:
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    return min(max(x, low), high)


def _plain(f: Callable[..., int]) -> Callable[[_Mods], _Lane | None]:
    """An operation whose arguments and result have one type; ``.sat`` and ``.relu`` limit the result."""

    def make(mods: _Mods, wrap: _Int, bits: int) -> _Lane:
        if "sat" in mods:
            return lambda *args: _saturate(f(*map(wrap, args)), _is_signed(wrap), bits)
        if "relu" in mods:
            return lambda *args: max(f(*map(wrap, args)), 0)
        return lambda *args: wrap(f(*map(wrap, args)))

    return _typed(make)


def _divide(a: int, b: int) -> int:
    if b == 0:  # unspecified by PTX; 0 as in C++ arithmetic of the strand
        return 0
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def _remainder(a: int, b: int) -> int:
    return a - b * _divide(a, b) if b else 0


def _multiply(add: bool) -> Callable[[_Mods], _Lane | None]:
    """mul and mad with ``.lo`` (the default), ``.hi`` or ``.wide``."""

    def make(mods: _Mods, wrap: _Int, bits: int) -> _Lane:
        wide = "wide" in mods
        result = _wrap(_is_signed(wrap), 2 * bits if wide else bits)
        shift = bits if "hi" in mods else 0
        if add:
            return lambda a, b, c: result(((wrap(a) * wrap(b)) >> shift) + c)
        return lambda a, b: result((wrap(a) * wrap(b)) >> shift)

    return _typed(make)


def _multiply24(add: bool) -> Callable[[_Mods], _Lane | None]:
    def make(mods: _Mods, wrap: _Int, bits: int) -> _Lane:
        narrow = _wrap(_is_signed(wrap), 24)
        shift = 16 if "hi" in mods else 0
        if add:
            return lambda a, b, c: wrap(((narrow(a) * narrow(b)) >> shift) + c)
        return lambda a, b: wrap((narrow(a) * narrow(b)) >> shift)

    return _typed(make)


def _shift(left: bool) -> Callable[[_Mods], _Lane | None]:
    """shl and shr: counts above the width are clamped to it (9.7.8.7, 9.7.8.8)."""

    def make(mods: _Mods, wrap: _Int, bits: int) -> _Lane:
        if left:
            return lambda a, n: wrap(a << min(n & M32, bits))
        return lambda a, n: wrap(wrap(a) >> min(n & M32, bits))

    return _typed(make)


def _funnel(mods: _Mods) -> _Lane:
    """shf: shifts the 64-bit value b:a (9.7.8.6)."""
    wrapping = "wrap" in mods

    def lane(a: int, b: int, n: int) -> int:
        n = n & 31 if wrapping else min(n & M32, 32)
        both = (b & M32) << 32 | (a & M32)
        return (both << n >> 32) & M32 if "l" in mods else (both >> n) & M32

    return lane


def _comparison(mods: _Mods, negate: bool = False) -> _Lane | None:
    """setp: the comparison, and its combination with a predicate as third argument."""
    name = next((m for m in mods if m in _COMPARE), None)
    types = _types(mods)
    if name is None or not types:
        return None
    compare = _COMPARE[name]
    combine = next((_LOGIC[m] for m in mods if m in _LOGIC), None)
    test: Callable[[Any, Any], int]
    if types[-1] in _INTEGERS:
        wrap = _wrap(*_INTEGERS[types[-1]])

        def test(a: Any, b: Any) -> int:
            return int(bool(compare(wrap(a), wrap(b))) != negate)
    else:
        unordered = name in ("equ", "neu", "ltu", "leu", "gtu", "geu", "nan")

        def test(a: Any, b: Any) -> int:
            if a.__class__ is not float or b.__class__ is not float:
                raise TypeError("the bits of a float")
            held = unordered if isnan(a) or isnan(b) else bool(compare(a, b))
            return int(held != negate)

    if combine is None:
        return test
    return lambda a, b, c: combine(test(a, b), c & 1)


def _set(mods: _Mods) -> _Lane | None:
    """set: all ones (or 1.0) for true."""
    types = _types(mods)
    test = _comparison(mods)
    if test is None or len(types) < 2:
        return None
    true: int | float = 1.0 if types[0] in _FLOATS else _wrap(*_INTEGERS[types[0]])(-1)
    false: int | float = 0.0 if types[0] in _FLOATS else 0
    return lambda *args: true if test(*args) else false


def _convert(mods: _Mods) -> _Lane | None:
    """cvt between integers, and between integers and f32 or f64 (9.7.9.22)."""
    types = _types(mods)
    if len(types) < 2:
        return None
    to, source = types[-2], types[-1]
    if to in _INTEGERS and source in _INTEGERS:
        wrap, read = _wrap(*_INTEGERS[to]), _wrap(*_INTEGERS[source])
        if "sat" in mods:
            return lambda x: _saturate(read(x), *_INTEGERS[to])
        return lambda x: wrap(read(x))
    if source in _INTEGERS and to in ("f32", "f64"):
        read, form = _wrap(*_INTEGERS[source]), "f" if to == "f32" else "d"
        return lambda x: struct.unpack(form, struct.pack(form, float(read(x))))[0]
    if to in _INTEGERS:
        rounding = next((_ROUND[m] for m in mods if m in _ROUND), None)
        if rounding is not None:
            return lambda x: _round_float(x, rounding, *_INTEGERS[to])
    return None


def _round_float(x: Any, rounding: Callable[[float], int], signed: bool, bits: int) -> int:
    if x.__class__ is not float:
        raise TypeError("the bits of a float")
    return 0 if isnan(x) else _saturate(rounding(min(max(x, -1e30), 1e30)), signed, bits)


def _to_space(mods: _Mods) -> _Lane:
    """cvta (9.7.9.21). Only shared addresses have a form other than the generic one."""
    shared = any(m.partition("::")[0] == "shared" for m in mods)
    if not shared:
        return lambda a: a
    if "to" in mods:
        return lambda a: a & M32
    return lambda a: SHARED_WINDOW | (a & M32)


def _in_space(mods: _Mods) -> _Lane:
    """isspacep (9.7.9.20). ``shared::cta`` is answered as ``shared::cluster``."""
    space = mods[0].partition("::")[0] if mods else ""
    width = 1 << 44
    low, high = {
        "shared": (SHARED_WINDOW, SHARED_WINDOW + width),
        "param": (PARAM_WINDOW, PARAM_WINDOW + width),
        "const": (CONST_WINDOW, CONST_WINDOW + width),
        "global": (GLOBAL_WINDOW, 1 << 64),
    }.get(space, (0, 0))
    return lambda a: int(low <= a < high)


def _extract(mods: _Mods, wrap: _Int, bits: int) -> _Lane:
    def lane(a: int, position: int, length: int) -> int:
        position, length = position & 0xFF, length & 0xFF
        a &= (1 << bits) - 1
        field = (a >> position) & ((1 << length) - 1)
        if _is_signed(wrap) and length and a >> min(position + length - 1, bits - 1) & 1:
            # Bits beyond the field, and beyond the top of the register, are copies of the sign.
            present = min(length, max(bits - position, 0))
            field |= ~((1 << present) - 1)
        return wrap(field)

    return lane


def _insert(mods: _Mods, wrap: _Int, bits: int) -> _Lane:
    def lane(a: int, b: int, position: int, length: int) -> int:
        position, length = position & 0xFF, length & 0xFF
        mask = ((1 << length) - 1) << position & ((1 << bits) - 1)
        return wrap((b & ~mask) | (a << position & mask))

    return lane


def _find(mods: _Mods, wrap: _Int, bits: int) -> _Lane:
    def lane(a: int) -> int:
        a = wrap(a)
        top = (~a if a < 0 else a).bit_length() - 1
        if top < 0:
            return M32
        return bits - 1 - top if "shiftamt" in mods else top

    return lane


def _population(mods: _Mods, wrap: _Int, bits: int) -> _Lane:
    return lambda a: bin(wrap(a)).count("1")


def _leading_zeros(mods: _Mods, wrap: _Int, bits: int) -> _Lane:
    return lambda a: bits - wrap(a).bit_length()


def _reverse(mods: _Mods, wrap: _Int, bits: int) -> _Lane:
    return lambda a: int(f"{wrap(a):0{bits}b}"[::-1], 2)


def _extend(mods: _Mods, wrap: _Int, bits: int) -> _Lane:
    """szext (9.7.1.20): keeps the low n bits, sign- or zero-extended."""

    def lane(a: int, n: int) -> int:
        n = n & 31 if "wrap" in mods else min(n & M32, 32)
        return _wrap(_is_signed(wrap), n)(a) if n else 0

    return lane


def _mask(mods: _Mods) -> _Lane:
    """bmsk (9.7.1.21): n ones from a bit position on."""

    def lane(a: int, n: int) -> int:
        a, n = (a & 31, n & 31) if "wrap" in mods else (min(a & M32, 32), min(n & M32, 32))
        return ((1 << n) - 1) << a & M32

    return lane


def _permute(mods: _Mods) -> _Lane:
    """prmt (9.7.9.7): bytes of b:a chosen by four selector digits, or by one of the named modes."""
    mode = next((m for m in mods if m in _PRMT_MODES), None)

    def lane(a: int, b: int, c: int) -> int:
        source = ((b & M32) << 32 | (a & M32)).to_bytes(8, "little")
        if mode is not None:
            return sum(source[k] << (8 * i) for i, k in enumerate(_PRMT_MODES[mode][c & 3]))
        result = 0
        for i in range(4):
            digit = c >> (4 * i) & 0xF
            byte = source[digit & 7]
            if digit & 8:
                byte = 0xFF if byte & 0x80 else 0
            result |= byte << (8 * i)
        return result

    return lane


_PRMT_MODES: dict[str, tuple[tuple[int, ...], ...]] = {
    "f4e": tuple(tuple(i + n for i in range(4)) for n in range(4)),
    "b4e": tuple(tuple((n - i) & 7 for i in range(4)) for n in range(4)),
    "rc8": tuple((n,) * 4 for n in range(4)),
    "ecl": tuple(tuple(max(i, n) for i in range(4)) for n in range(4)),
    "ecr": tuple(tuple(min(i, n) for i in range(4)) for n in range(4)),
    "rc16": tuple((2 * (n & 1), 2 * (n & 1) + 1) * 2 for n in range(4)),
}


def _lookup(mods: _Mods) -> _Lane:
    """lop3 (9.7.8.5): each bit of the result is the table's entry for the bits of a, b and c."""

    def lane(a: int, b: int, c: int, table: int, q: int = 0) -> int:
        result = 0
        for entry in range(8):
            if table >> entry & 1:
                result |= (a if entry & 4 else ~a) & (b if entry & 2 else ~b) & (c if entry & 1 else ~c)
        return result & M32

    return lane


_LOGIC: dict[str, Callable[[int, int], int]] = {"and": operator.and_, "or": operator.or_, "xor": operator.xor}
_ROUND: dict[str, Callable[[float], int]] = {"rni": round, "rzi": trunc, "rmi": floor, "rpi": ceil}


def _ordered(a: Any, b: Any) -> bool:
    return True


def _unordered(a: Any, b: Any) -> bool:
    return False


_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "lo": operator.lt,
    "ls": operator.le,
    "hi": operator.gt,
    "hs": operator.ge,
    "equ": operator.eq,
    "neu": operator.ne,
    "ltu": operator.lt,
    "leu": operator.le,
    "gtu": operator.gt,
    "geu": operator.ge,
    "num": _ordered,
    "nan": _unordered,
}

_BUILDERS: dict[str, Callable[[_Mods], _Lane | None]] = {
    "add": _plain(operator.add),
    "sub": _plain(operator.sub),
    "mul": _multiply(False),
    "mad": _multiply(True),
    "mul24": _multiply24(False),
    "mad24": _multiply24(True),
    "sad": _plain(lambda a, b, c: c + abs(a - b)),
    "div": _plain(_divide),
    "rem": _plain(_remainder),
    "abs": _plain(abs),
    "neg": _plain(operator.neg),
    "min": _plain(min),
    "max": _plain(max),
    "and": _plain(operator.and_),
    "or": _plain(operator.or_),
    "xor": _plain(operator.xor),
    "not": _plain(operator.invert),
    "cnot": _plain(operator.not_),
    "shl": _shift(True),
    "shr": _shift(False),
    "shf": _funnel,
    "set": _set,
    "setp": _comparison,
    "cvt": _convert,
    "cvta": _to_space,
    "isspacep": _in_space,
    "bfe": _typed(_extract),
    "bfi": _typed(_insert),
    "bfind": _typed(_find),
    "popc": _typed(_population),
    "clz": _typed(_leading_zeros),
    "brev": _typed(_reverse),
    "szext": _typed(_extend),
    "bmsk": _mask,
    "prmt": _permute,
    "lop3": _lookup,
}

# These are opaque always: floating point, the carry flag, and what no address or count is computed with.
_OPAQUE = (
    *("fma", "rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2", "tanh", "testp", "copysign"),
    *("addc", "subc", "madc", "cvt.pack", "dp4a", "dp2a", "fns"),
)
PURE: frozenset[str] = frozenset((*_BUILDERS, *_OPAQUE, "mov", "selp", "slct"))
