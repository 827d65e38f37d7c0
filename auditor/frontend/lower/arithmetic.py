"""C++ operators on scalar values as Python expressions."""

from __future__ import annotations

from auditor.frontend.lower.core import Core, is_integer, is_simple
from auditor.frontend.lower.forms import Val, boolean, literal, mask_text, opaque, settled, wrap_constant
from auditor.frontend.lower.types import BOOL, CType

_RING = {"+", "-", "*", "&", "|", "^"}  # results modulo 2^n need only operands modulo 2^n
_COMPARE = {"<", ">", "<=", ">=", "==", "!="}
INVERSE = {"<": ">=", ">": "<=", "<=": ">", ">=": "<", "==": "!=", "!=": "=="}


class Arithmetic(Core):
    """Operators whose operands are already evaluated and converted to the common type."""

    def compare(self, op: str, a: Val, b: Val) -> Val:
        a, b = settled(a), settled(b)
        if isinstance(a.const, (int, float)) and isinstance(b.const, (int, float)):
            return literal(int(_compare_constants(op, a.const, b.const)), BOOL)
        decided = _decided(op, a, b)
        if decided is not None:
            return literal(int(decided), BOOL)
        x, y = a.code, b.code
        if a.type.kind == "pointer" and op not in ("==", "!=") and not (a.space and b.space):
            x, y = f"address({x})", f"address({y})"
        return boolean(f"({x} {op} {y})", a.plain and b.plain)

    def binary(self, op: str, a: Val, b: Val, ctype: CType) -> Val:
        """``a op b`` of arithmetic operands, as ``ctype``."""
        if op in _COMPARE:
            return self.compare(op, a, b)
        if ctype.kind == "float" or a.type.kind == "float":
            return self._floating(op, a, b, ctype)
        if isinstance(a.const, int) and isinstance(b.const, int):
            folded = _fold(op, a.const, b.const)
            if folded is not None:
                return literal(wrap_constant(folded, ctype) if ctype.integral else folded, ctype)
        if op in _RING:
            return self._ring(op, a, b, ctype)
        if op in ("<<", ">>"):
            return self._shift(op, a, b, ctype)
        if op in ("/", "%"):
            return self._divide(op, settled(a), settled(b), ctype)
        return opaque(ctype)

    def _ring(self, op: str, a: Val, b: Val, ctype: CType) -> Val:
        lo, hi = _range(op, a, b)
        plain = a.plain and b.plain
        identity = _identity(op, a, b)
        if identity is not None:
            return identity.retyped(ctype)
        code = f"({a.code} {op} {b.code})"
        if ctype.signed or not ctype.integral:
            return Val(code, ctype, lo=lo, hi=hi, plain=plain)
        if op in ("&", "|", "^"):
            raw = a.raw or b.raw
            if op == "&" and ((not a.raw and a.lo is not None) or (not b.raw and b.lo is not None)):
                raw = False
            return Val(code, ctype, raw=raw, lo=None if raw else lo, hi=None if raw else hi, plain=plain)
        if lo is not None and hi is not None and lo >= 0 and hi < 1 << ctype.bits and not (a.raw or b.raw):
            return Val(code, ctype, lo=lo, hi=hi, plain=plain)
        return Val(code, ctype, raw=True, plain=plain)

    def _shift(self, op: str, a: Val, b: Val, ctype: CType) -> Val:
        b = settled(b)
        plain = a.plain and b.plain
        counted = b.lo is not None and b.hi is not None and b.lo >= 0 and b.hi < 64
        if op == ">>":
            a = settled(a)
            lo = hi = None
            if isinstance(b.const, int) and counted:
                if a.lo is not None and a.hi is not None:
                    lo, hi = a.lo >> b.const, a.hi >> b.const
                elif not ctype.signed:
                    lo, hi = 0, ((1 << ctype.bits) - 1) >> b.const
            code = f"({a.code} >> {b.code})" if counted else f"shr({a.code}, {b.code})"
            return Val(code, ctype, lo=lo, hi=hi, plain=plain)
        lo = hi = None
        if counted and a.lo is not None and a.hi is not None and b.hi is not None and a.lo >= 0 and not a.raw:
            lo, hi = 0, a.hi << b.hi
        code = f"({a.code} << {b.code})" if counted else f"shl({a.code}, {b.code})"
        if ctype.signed:
            if hi is not None and hi < 1 << (ctype.bits - 1):
                return Val(code, ctype, lo=lo, hi=hi, plain=plain)
            return Val(f"i{ctype.bits}({code})", ctype, plain=plain)
        fits = hi is not None and hi < 1 << ctype.bits
        return Val(code, ctype, raw=not fits, lo=lo if fits else None, hi=hi if fits else None, plain=plain)

    def _divide(self, op: str, a: Val, b: Val, ctype: CType) -> Val:
        function = "cdiv" if op == "/" else "cmod"
        positive = not a.type.signed or (a.lo is not None and a.lo >= 0)
        lo = hi = None
        if isinstance(b.const, int) and b.const > 0 and positive:
            top = a.hi if a.hi is not None else (1 << a.type.bits) - 1
            lo, hi = (0, top // b.const) if op == "/" else (0, min(top, b.const - 1))
            power = b.const & (b.const - 1) == 0
            if power:
                code = f"({a.code} >> {b.const.bit_length() - 1})" if op == "/" else f"({a.code} & {b.const - 1})"
                return Val(code, ctype, lo=lo, hi=hi, plain=a.plain)
            if a.plain:
                return Val(f"({a.code} {'//' if op == '/' else '%'} {b.const})", ctype, lo=lo, hi=hi, plain=True)
        operator = "//" if op == "/" else "%"
        if isinstance(b.const, int) and b.const > 0:
            name, walrus = self._named(a)
            guard = "" if positive else f" and {name} >= 0"
            code = f"({name} {operator} {b.code} if {walrus}.__class__ is int{guard} else {function}({name}, {b.code}))"
            return Val(code, ctype, lo=lo, hi=hi)
        a, b = self.simple(a), self.simple(b)
        guard = "" if positive and not b.type.signed else f" and {a.code} >= 0 and {b.code} > 0"
        if not guard:
            guard = f" and {b.code}"
        test = f"{is_integer(a.code)} and {is_integer(b.code)}{guard}"
        if isinstance(a.const, int):
            test = f"{is_integer(b.code)} and {b.code} > 0" if a.const >= 0 else "False"
        return Val(f"({a.code} {operator} {b.code} if {test} else {function}({a.code}, {b.code}))", ctype)

    def _named(self, value: Val) -> tuple[str, str]:
        """A name for a value and the expression that binds it at first use."""
        if is_simple(value.code) and value.const is None:
            return value.code, value.code
        name = self.temp()
        return name, f"({name} := {value.code})"

    def _floating(self, op: str, a: Val, b: Val, ctype: CType) -> Val:
        if op == "/" and not (isinstance(b.const, float) and b.const):
            return Val(f"cdiv({a.code}, {b.code})", ctype)
        if op not in ("+", "-", "*", "/"):
            return opaque(ctype)
        if isinstance(a.const, float) and isinstance(b.const, float) and op != "/":
            value = {"+": a.const + b.const, "-": a.const - b.const, "*": a.const * b.const}[op]
            return literal(value, ctype)
        if op == "/" and isinstance(b.const, float):
            return Val(f"({a.code} * {1.0 / b.const!r})", ctype)  # opaque data has no distinction either
        return Val(f"({a.code} {op} {b.code})", ctype)

    def negate(self, a: Val, ctype: CType) -> Val:
        if a.const is not None and not isinstance(a.const, float):
            return literal(wrap_constant(-a.const, ctype), ctype)
        if isinstance(a.const, float):
            return literal(-a.const, ctype)
        if ctype.kind == "float" or ctype.signed:
            lo = -a.hi if a.hi is not None else None
            return Val(f"(-{a.code})", ctype, lo=lo, hi=-a.lo if a.lo is not None else None, plain=a.plain)
        return Val(f"(-{a.code})", ctype, raw=True, plain=a.plain)

    def invert(self, a: Val, ctype: CType) -> Val:
        if isinstance(a.const, int):
            return literal(wrap_constant(~a.const, ctype), ctype)
        if ctype.signed:
            return Val(f"(~{a.code})", ctype, plain=a.plain)
        return Val(f"({a.code} ^ {mask_text(ctype.bits)})", ctype, raw=a.raw, plain=a.plain)

    def logical_not(self, a: Val) -> Val:
        a = settled(a)
        if a.const is not None:
            return literal(0 if a.const else 1, BOOL)
        if a.plain:
            return boolean(f"(not {a.code})", True)
        name, walrus = self._named(a)
        return boolean(f"(not {name} if {walrus}.__class__ is bool else lnot({name}))")

    def logical(self, op: str, a: Val, b: Val) -> Val:
        """``a && b`` or ``a || b`` when evaluating ``b`` has no effects."""
        a, b = settled(a), settled(b)
        if a.const is not None:
            short = bool(a.const) == (op == "||")
            return literal(int(op == "||"), BOOL) if short else b
        if b.const is not None and bool(b.const) != (op == "||"):
            return a
        if a.plain:
            code = f"({b.code} if {a.code} else 0)" if op == "&&" else f"(1 if {a.code} else {b.code})"
            return boolean(code, b.plain)
        if len(b.code) > 200:
            b = self.simple(b)
        name, walrus = self._named(a)
        first, second, function = ("True", "False", "land") if op == "&&" else ("False", "True", "lor")
        return boolean(
            f"({b.code} if {walrus} is {first} else {name} if {name} is {second} else {function}({name}, {b.code}))"
        )

    def chosen(self, condition: Val, a: Val, b: Val, ctype: CType) -> Val:
        """``condition ? a : b`` without side effects."""
        condition, a, b = settled(condition), settled(a), settled(b)
        lo = min(a.lo, b.lo) if a.lo is not None and b.lo is not None else None
        hi = max(a.hi, b.hi) if a.hi is not None and b.hi is not None else None
        plain = condition.plain and a.plain and b.plain
        space = a.space if a.space == b.space else ""
        if condition.plain:
            return Val(f"({a.code} if {condition.code} else {b.code})", ctype, lo=lo, hi=hi, plain=plain, space=space)
        name, walrus = self._named(condition)
        mixed = f"select({name}, {a.code}, {b.code})"
        code = f"({a.code} if {walrus} is True else {b.code} if {name} is False else {mixed})"
        return Val(code, ctype, lo=lo, hi=hi, space=space)


def _compare_constants(op: str, a: int | float, b: int | float) -> bool:
    return {"<": a < b, ">": a > b, "<=": a <= b, ">=": a >= b, "==": a == b, "!=": a != b}[op]


def _decided(op: str, a: Val, b: Val) -> bool | None:
    """What the ranges say of a comparison."""
    if a.lo is None or a.hi is None or b.lo is None or b.hi is None or not (a.type.integral and b.type.integral):
        return None
    if op in (">", ">="):
        return _decided("<" if op == ">" else "<=", b, a)
    if op == "<":
        return True if a.hi < b.lo else False if a.lo >= b.hi else None
    if op == "<=":
        return True if a.hi <= b.lo else False if a.lo > b.hi else None
    apart = a.hi < b.lo or b.hi < a.lo
    return (op == "!=") if apart else None


def _fold(op: str, a: int, b: int) -> int | None:
    if op in ("/", "%"):
        if b == 0:
            return None
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return quotient if op == "/" else a - quotient * b
    if op in ("<<", ">>"):
        if not 0 <= b < 128:
            return None
        return a << b if op == "<<" else a >> b
    return {"+": a + b, "-": a - b, "*": a * b, "&": a & b, "|": a | b, "^": a ^ b}.get(op)


def _identity(op: str, a: Val, b: Val) -> Val | None:
    """``a + 0`` and the like."""
    if b.const == 0 and op in ("+", "-", "|", "^"):
        return a
    if a.const == 0 and op in ("+", "|", "^"):
        return b
    if op == "*" and b.const == 1:
        return a
    if op == "*" and a.const == 1:
        return b
    return None


def _range(op: str, a: Val, b: Val) -> tuple[int | None, int | None]:
    if op == "&":
        tops = [v.hi for v in (a, b) if v.lo is not None and v.lo >= 0 and v.hi is not None and not v.raw]
        return (0, min(tops)) if tops else (None, None)
    if a.lo is None or a.hi is None or b.lo is None or b.hi is None or a.raw or b.raw:
        return None, None
    if op == "+":
        return a.lo + b.lo, a.hi + b.hi
    if op == "-":
        return a.lo - b.hi, a.hi - b.lo
    if op == "*":
        products = (a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi)
        return min(products), max(products)
    if op in ("|", "^") and a.lo >= 0 and b.lo >= 0:
        return 0, (1 << max(a.hi.bit_length(), b.hi.bit_length())) - 1
    return None, None
