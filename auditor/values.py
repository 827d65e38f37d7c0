"""Values of a strand: what device variables hold while the protocol is executed.

A value is one of
  * ``int`` (also for bool, enum and pointer values) or ``float``: the same in all lanes of the warp;
  * ``Vec``: one integer a lane, 32 of them (inactive lanes hold harmless garbage);
  * ``OPAQUE`` or a ``Loaded``: data that the protocol should not depend on; every operation on it is again opaque;
  * ``Ref``: a pointer to (or reference of) an object in local memory;
  * a Python ``list``: a local array or a local class object (fields in declaration order, base classes first; a base
    class that is used by itself is a ``Part``).

Integers are kept in the range of their C++ type by the generated code (see ``u8`` ... ``s64``). Pointers to shared,
global, constant and parameter memory are plain integers: 64-bit generic addresses, with one window a space.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

from auditor.shapes import Shape, Split, split

LANES = 32

# Generic address windows. The low 32 bits of a shared generic address equal its 32-bit shared address, as on hardware,
# so that a truncating cast and cvta agree. Bits 24 and up of a 32-bit shared address hold the CTA rank in the cluster.
SHARED_WINDOW = 1 << 44
PARAM_WINDOW = 2 << 44
CONST_WINDOW = 3 << 44
GLOBAL_WINDOW = 8 << 44
GLOBAL_STRIDE = 1 << 40  # distance between the allocations that pointer arguments point to
CTA_SHIFT = 24
SHARED_RESERVED = 0x400  # the 1 KiB that the system keeps at the start of a CTA's shared memory

M8, M16, M32, M64 = 0xFF, 0xFFFF, 0xFFFF_FFFF, 0xFFFF_FFFF_FFFF_FFFF


class Opaque:
    """Data whose value is not modelled. Operating on it yields opaque data again."""

    __slots__ = ()

    def used(self) -> None:
        """Called when the value is consumed by an operation (``Loaded`` records it)."""

    def __bool__(self) -> bool:
        raise TypeError("an opaque value has no truth value; generated code must call S.cond")

    def _binary(self, other: object) -> Opaque:
        # What ``used`` does, without a call: kernels do little else with their data.
        if isinstance(self, Loaded):
            self.record.consumed = True
        if isinstance(other, Loaded):
            other.record.consumed = True
        return OPAQUE

    def _unary(self) -> Opaque:
        self.used()
        return OPAQUE

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _binary
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = _binary
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = _binary
    __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = _binary
    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = _binary  # type: ignore[assignment]
    __neg__ = __invert__ = __pos__ = _unary
    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "OPAQUE"


OPAQUE = Opaque()


class Loaded(Opaque):
    """Opaque data that came from an asynchronous or in-flight load; ``record`` learns when it is consumed."""

    __slots__ = ("record",)

    def __init__(self, record: Any) -> None:
        self.record = record

    def used(self) -> None:
        self.record.consumed = True


class Vec:
    """One integer a lane. Results that are equal in all lanes collapse to ``int``.

    It is made of its 32 values, or of the value of lane 0 (``base``) and the ``Shape`` of all; the one is computed from
    the other when it is asked for. With a shape most operations cost the same as with a plain number. Only lanes that
    follow from blockIdx in different ways have no shape.
    """

    __slots__ = ("_shape", "_values", "base")

    def __init__(self, values: tuple[Any, ...] | None, base: Any = 0, shape: Shape | None = None) -> None:
        self._values = values
        self.base = base
        self._shape = shape

    @property
    def v(self) -> tuple[Any, ...]:
        """The values of the 32 lanes."""
        values = self._values
        if values is None:
            base = self.base
            assert self._shape is not None
            values = self._values = tuple([base + x for x in self._shape.offsets])
        return values

    @property
    def shape(self) -> Shape | None:
        """How the lanes differ from ``base``; None when they do in another way at the other end of the grid."""
        shape = self._shape
        if shape is None:
            assert self._values is not None
            if {int, bool}.issuperset(map(type, self._values)):
                self.base, shape = split(self._values)
            elif self._values[0].__class__ is BlockInt:
                self.base, shape = _split_noted(self._values)
            self._shape = shape
        return shape

    def lane(self, n: int) -> Any:
        """The value of lane ``n``."""
        if self._values is not None:
            return self._values[n]
        assert self._shape is not None
        return self.base + self._shape.offsets[n]

    def plain(self) -> Any:
        """The same numbers of this CTA alone, where they follow from blockIdx. A ``Vec`` then has a shape."""
        shape = self._shape or self.shape
        if shape is None:
            return collapse([int(x) for x in self.v])
        return self if self.base.__class__ is int else Vec(None, int(self.base), shape)

    @property
    def lanes_set(self) -> int:
        """Mask of the lanes whose value is not 0."""
        shape = self.shape
        if shape is not None and self.base.__class__ is int:
            return shape.lanes_not_at(-self.base)
        return sum(1 << lane for lane, x in enumerate(self.v) if x)

    @property
    def natural(self) -> bool:
        """Whether it has a shape, and no lane is negative, at the other end of the grid neither."""
        shape = self._shape or self.shape
        return shape is not None and int(self.base) + shape.low >= 0 and _counterpart(self.base) + shape.low >= 0

    def __bool__(self) -> bool:
        raise TypeError("a per-lane value has no single truth value; generated code must call S.cond")

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Vec({self.v})"

    def __add__(self, o: Any) -> Any:
        if o.__class__ is int or o.__class__ is BlockInt:
            shape = self._shape or self.shape
            if shape is not None:
                return Vec(None, self.base + o, shape)
        elif o.__class__ is Vec:
            return self._paired(Shape.plus, _add, o)
        return lanewise(_add, self, o)

    def __sub__(self, o: Any) -> Any:
        if o.__class__ is int or o.__class__ is BlockInt:
            shape = self._shape or self.shape
            if shape is not None:
                return Vec(None, self.base - o, shape)
        elif o.__class__ is Vec:
            return self._paired(Shape.minus, _sub, o)
        return lanewise(_sub, self, o)

    def __rsub__(self, o: Any) -> Any:
        shape = self._shape or self.shape
        if (o.__class__ is int or o.__class__ is BlockInt) and shape is not None:
            return Vec(None, o - self.base, shape.scaled(-1))
        return lanewise(_sub, o, self)

    def __mul__(self, o: Any) -> Any:
        shape = self._shape or self.shape
        if o.__class__ is int and shape is not None:
            return Vec(None, self.base * o, shape.multiples.get(o) or shape.scaled(o)) if o else 0
        return lanewise(_mul, self, o)

    def __and__(self, o: Any) -> Any:
        if o.__class__ is not int:
            return self._combined(_and, o)
        return self._changed(Shape.masked if o >= 0 else Shape.cleared, _and, o)

    def __or__(self, o: Any) -> Any:
        return self._changed(Shape.with_bits, _or, o) if o.__class__ is int and o >= 0 else self._combined(_or, o)

    def __xor__(self, o: Any) -> Any:
        return self._changed(Shape.flipped, _xor, o) if o.__class__ is int and o >= 0 else self._combined(_xor, o)

    def __lshift__(self, o: Any) -> Any:
        shape = self._shape or self.shape
        if o.__class__ is int and 0 <= o < 64 and shape is not None:
            return Vec(None, self.base << o, shape.scaled(1 << o))
        return lanewise(_shl, self, o)

    def __rlshift__(self, o: Any) -> Any:
        return lanewise(_shl, o, self)

    def __rshift__(self, o: Any) -> Any:
        return self._changed(Shape.shifted, _shr, o) if o.__class__ is int and 0 <= o < 64 else lanewise(_shr, self, o)

    def __rrshift__(self, o: Any) -> Any:
        return lanewise(_shr, o, self)

    def __lt__(self, o: Any) -> Any:
        less = self._compared(Shape.below, o, 0)
        return lanewise(_lt, self, o) if less is None else self.made(less)

    def __le__(self, o: Any) -> Any:
        less = self._compared(Shape.below, o, 1)
        return lanewise(_le, self, o) if less is None else self.made(less)

    def __gt__(self, o: Any) -> Any:
        less = self._compared(Shape.below, o, 1)
        return lanewise(_gt, self, o) if less is None else 1 - self.made(less)

    def __ge__(self, o: Any) -> Any:
        less = self._compared(Shape.below, o, 0)
        return lanewise(_ge, self, o) if less is None else 1 - self.made(less)

    def __eq__(self, o: object) -> Any:
        same = self._compared(Shape.equal, o, 0)
        return lanewise(_eq, self, o) if same is None else self.made(same)

    def __ne__(self, o: object) -> Any:
        return 1 - self.__eq__(o)

    def __neg__(self) -> Any:
        return self * -1

    def __invert__(self) -> Any:
        return self * -1 - 1

    __radd__ = __add__
    __rmul__ = __mul__
    __rand__ = __and__
    __ror__ = __or__
    __rxor__ = __xor__

    def _changed(self, f: Callable[[Shape, Any, int], Split], one: Callable[[Any, Any], Any], o: int) -> Any:
        """An operation with a plain number; ``one`` is the operation on the value of a lane. A number that follows from
        blockIdx is calculated with at both ends of the grid."""
        shape = self._shape or self.shape
        base = self.base
        if shape is not None:
            if base.__class__ is int:
                first, shape = f(shape, base, o)
                return first if shape is None else Vec(None, first, shape)
            (here, found), (there, same) = f(shape, int(base), o), f(shape, base.other, o)
            if found is same:
                return BlockInt(here, there) if found is None else Vec(None, BlockInt(here, there), found)
        return lanewise(one, self, o)

    def _combined(self, f: Callable[[Any, Any], Any], o: Any) -> Any:
        """A bitwise operation with the values of other lanes."""
        mine, other = self.shape, o.shape if o.__class__ is Vec else None
        if mine is None or other is None:
            return lanewise(f, self, o)
        a, b = self.base, o.base
        found = mine.combined(f, int(a), other, int(b))
        if found is None:
            return lanewise(f, self, o)
        if a.__class__ is int and b.__class__ is int:
            return self.made(found)
        there = mine.combined(f, _counterpart(a), other, _counterpart(b))
        if there is None or there[1] is not found[1]:
            return lanewise(f, self, o)
        return self.made((BlockInt(found[0], there[0]), found[1]))

    def _compared(self, f: Callable[[Shape, int], Split], o: Any, more: int) -> Split | None:
        """A comparison with ``o + more``, which notes when its result is another one at the other end of the grid. None
        when the lanes have to be looked at one by one."""
        if o.__class__ is not int and o.__class__ is not BlockInt:
            return None
        shape = self._shape or self.shape
        if shape is None:
            return None
        distance = o - self.base
        if distance.__class__ is int:
            return f(shape, distance + more)
        result = f(shape, int(distance) + more)
        if f(shape, distance.other + more) != result:
            BlockInt.compared = True
        return result

    @staticmethod
    def made(parts: Split) -> Any:
        """The value that consists of a number for lane 0 and a shape."""
        first, shape = parts
        return first if shape is None else Vec(None, first, shape)

    def _paired(self, f: Callable[[Shape, Shape], Shape | None], one: Callable[[Any, Any], Any], o: Vec) -> Any:
        """Lane by lane the sum or difference of two values; ``one`` is the operation on the values of a lane."""
        mine, other = self.shape, o.shape
        if mine is None or other is None:
            return lanewise(one, self, o)
        first, shape = one(self.base, o.base), f(mine, other)
        return first if shape is None else Vec(None, first, shape)


def _add(a: Any, b: Any) -> Any:
    return a + b


def _sub(a: Any, b: Any) -> Any:
    return a - b


def _mul(a: Any, b: Any) -> Any:
    return a * b


def _and(a: Any, b: Any) -> Any:
    return a & b


def _or(a: Any, b: Any) -> Any:
    return a | b


def _xor(a: Any, b: Any) -> Any:
    return a ^ b


def _shl(a: Any, b: Any) -> Any:
    return a << b if 0 <= b < 64 else 0


def _shr(a: Any, b: Any) -> Any:
    return a >> b if 0 <= b < 64 else 0


def _lt(a: Any, b: Any) -> int:
    return 1 if a < b else 0


def _le(a: Any, b: Any) -> int:
    return 1 if a <= b else 0


def _gt(a: Any, b: Any) -> int:
    return 1 if a > b else 0


def _ge(a: Any, b: Any) -> int:
    return 1 if a >= b else 0


def _eq(a: Any, b: Any) -> int:
    return 1 if a == b else 0


def _ne(a: Any, b: Any) -> int:
    return 1 if a != b else 0


def collapse(lanes: Iterable[Any]) -> Any:
    """A ``Vec`` of the 32 lane values, or a plain value when all are equal."""
    t = tuple(lanes)
    first = t[0]
    if first.__class__ is BlockInt:
        return _collapse_noted(t)
    return first if t.count(first) == LANES else Vec(t)


def _collapse_noted(t: tuple[Any, ...]) -> Any:
    """``collapse`` of numbers that follow from blockIdx: looking for equal lanes is not control flow of the kernel."""
    first, other = int(t[0]), _counterpart(t[0])
    return t[0] if all(int(x) == first and _counterpart(x) == other for x in t) else Vec(t)


def _split_noted(t: tuple[Any, ...]) -> tuple[Any, Shape | None]:
    """``split`` of numbers that follow from blockIdx: a shape only when the lanes differ alike at both ends."""
    first = t[0]
    base, shape = split([int(x) for x in t])
    other, same = split([int(_counterpart(x)) for x in t])
    return (BlockInt(base, other), shape) if shape is same else (first, None)


def lane_values(x: Any) -> tuple[Any, ...]:
    """The 32 lane values of an ``int``, ``float`` or ``Vec``."""
    if x.__class__ is Vec:
        return x.v
    return (int(x) if x.__class__ is bool else x,) * LANES  # lanes of a Vec are numbers


def lanewise(f: Callable[..., Any], *args: Any) -> Any:
    """Apply ``f`` lane by lane; opaque in any argument gives ``OPAQUE`` (and consumes it)."""
    columns = []
    for a in args:
        if isinstance(a, Opaque):
            for b in args:
                if isinstance(b, Opaque):
                    b.used()
            return OPAQUE
        if a.__class__ is Ref or isinstance(a, list):
            return OPAQUE
        columns.append(lane_values(a))
    if all(a.__class__ is not Vec for a in args):
        return f(*args)
    return collapse(map(f, *columns))


def settled(x: BlockInt) -> int:
    """The value of this CTA where only that can be carried on: what follows may differ between CTAs."""
    if x.other != int(x):
        BlockInt.compared = True
    return int(x)


def _counterpart(x: Any) -> Any:
    return x.other if x.__class__ is BlockInt else x


def _carried(name: str) -> Callable[[BlockInt, Any], Any]:
    plain, new = getattr(int, name), int.__new__

    def operation(self: BlockInt, operand: Any) -> Any:  # called for every lane of every address: kept short
        result = plain(self, operand)
        if result.__class__ is not int:
            return result
        try:
            other = plain(self.other, operand.other if operand.__class__ is BlockInt else operand)
        except (ArithmeticError, ValueError):  # the other CTA divides by zero or shifts by a negative count
            BlockInt.compared = True
            return result
        made = new(BlockInt, result)
        made.other = other
        return made

    return operation


def _carried_alone(name: str) -> Callable[[BlockInt], BlockInt]:
    plain = getattr(int, name)
    return lambda self: BlockInt(plain(self), plain(self.other))


def _noted(name: str) -> Callable[..., Any]:
    plain = getattr(int, name)

    def comparison(self: BlockInt, *args: Any) -> Any:
        result = plain(self, *args)
        if result != plain(self.other, *map(_counterpart, args)):
            BlockInt.compared = True
        return result

    return comparison


class BlockInt(int):
    """A number that follows from blockIdx. ``other``: the same expression in the CTA of the same rank at the other end
    of the grid.

    It notes when control flow may depend on it: when the two values give different results of a comparison or a test. A
    run in which that never happens goes the same way at both ends, so one CTA stands for all.
    """

    other: int
    compared = False

    def __new__(cls, value: int, other: int) -> BlockInt:
        self = int.__new__(cls, value)
        self.other = other
        return self

    def __float__(self) -> float:
        return float(settled(self))

    __hash__ = int.__hash__


for _name in (
    "add radd sub rsub mul rmul floordiv rfloordiv mod rmod and rand or ror xor rxor lshift rlshift rshift rrshift"
).split():
    setattr(BlockInt, f"__{_name}__", _carried(f"__{_name}__"))
for _name in "neg invert abs pos".split():
    setattr(BlockInt, f"__{_name}__", _carried_alone(f"__{_name}__"))
for _name in "lt le gt ge eq ne bool".split():
    setattr(BlockInt, f"__{_name}__", _noted(f"__{_name}__"))


class Ref:
    """A pointer to ``box[key]``, an element of a local array, class object or one-element cell.

    ``unit``: bytes of one element of the box when the pointer was cast to a type of another size, else 0.
    """

    __slots__ = ("box", "key", "unit")

    def __init__(self, box: list[Any] | Either, key: Any, unit: int = 0) -> None:
        self.box = box
        self.key = key
        self.unit = unit

    def __repr__(self) -> str:
        return f"Ref(+{self.key})"

    def __bool__(self) -> bool:
        return True

    def __eq__(self, o: object) -> Any:
        if isinstance(o, Ref):
            return 1 if o.box is self.box and o.key == self.key else 0
        return 0

    def __ne__(self, o: object) -> Any:
        return 1 - self.__eq__(o)

    __hash__ = None  # type: ignore[assignment]


class Either:
    """What pointers to different local objects point to that were chosen lane by lane: the box of such a pointer.

    An element is read from the one or the other, lane by lane; to write one writes the lanes of each.
    """

    __slots__ = ("condition", "one", "other")

    def __init__(self, condition: Vec, one: Ref, other: Ref) -> None:
        self.condition = condition
        self.one = one
        self.other = other

    def __len__(self) -> int:
        return 1 << 30  # its ends are those of what it stands for

    def __getitem__(self, key: Any) -> Any:
        one, other = _element(self.one, key), _element(self.other, key)
        if isinstance(one, list) and isinstance(other, list):
            return OPAQUE  # see ``field``
        return select(self.condition, one, other)

    def __setitem__(self, key: Any, value: Any) -> None:
        for place, condition in ((self.one, self.condition), (self.other, lnot(self.condition))):
            at = place.key + key
            if at.__class__ is not int:  # lanes that point to different elements: none of them is known any more
                for n in range(len(place.box)) if isinstance(place.box, list) else ():
                    place.box[n] = OPAQUE
            elif 0 <= at < len(place.box):
                place.box[at] = select(condition, value, place.box[at])

    def field(self, key: Any, index: int) -> Any:
        """A pointer to a field of the object that an element is."""
        one, other = _element(self.one, key), _element(self.other, key)
        if isinstance(one, list) and isinstance(other, list):
            return Ref(Either(self.condition, Ref(one, index), Ref(other, index)), 0)
        return OPAQUE


def _element(p: Ref, key: Any) -> Any:
    at = p.key + key
    return p.box[at] if at.__class__ is int and 0 <= at < len(p.box) else OPAQUE


class Part(list[Any]):
    """A base-class subobject that was handed on by itself; ``whole`` is the object that it belongs to."""

    __slots__ = ("whole",)

    def __init__(self, fields: list[Any], whole: list[Any]) -> None:
        super().__init__(fields)
        self.whole = whole


class Overlay(list[Any]):
    """A class object or array seen as one scalar: a box of one element, which stands for all of ``target``."""

    __slots__ = ("target",)

    def __init__(self, target: list[Any]) -> None:
        self.append(OPAQUE)
        self.target = target

    def __getitem__(self, key: Any) -> Any:
        """The data that was stored here whole, so that its use is told of when it is used; else new data."""
        parts = _parts(self.target)
        first = parts[0] if parts else OPAQUE
        if isinstance(first, Opaque):
            for part in parts:
                if part is not first:
                    break
            else:
                return first
        for part in parts:
            if part.__class__ is Loaded:
                part.record.consumed = True
        return OPAQUE

    def __setitem__(self, key: Any, value: Any) -> None:
        _fill(self.target, value if isinstance(value, Opaque) or (value.__class__ is int and value == 0) else OPAQUE)


def _parts(box: list[Any]) -> list[Any]:
    for item in box:
        if isinstance(item, list):
            return [part for item in box for part in (_parts(item) if isinstance(item, list) else (item,))]
    return box


def _fill(box: list[Any], value: Any) -> None:
    for key, item in enumerate(box):
        if isinstance(item, list):
            _fill(item, value)
        else:
            box[key] = value


def u8(x: Any) -> Any:
    return x & M8


def u16(x: Any) -> Any:
    return x & M16


def u32(x: Any) -> Any:
    return x & M32


def u64(x: Any) -> Any:
    return x & M64


def _signed(bits: int) -> Callable[[Any], Any]:
    half, mask = 1 << (bits - 1), (1 << bits) - 1

    def wrap(x: Any) -> Any:
        return ((x + half) & mask) - half

    return wrap


s8, s16, s32, s64 = _signed(8), _signed(16), _signed(32), _signed(64)


def _cdiv1(a: Any, b: Any) -> Any:
    if a.__class__ is BlockInt or b.__class__ is BlockInt:
        return BlockInt(_cdiv1(int(a), int(b)), _cdiv1(_counterpart(a), _counterpart(b)))
    if b == 0:
        return 0
    if isinstance(a, float) or isinstance(b, float):
        return a / b
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def _cmod1(a: Any, b: Any) -> Any:
    if a.__class__ is BlockInt or b.__class__ is BlockInt:
        return BlockInt(_cmod1(int(a), int(b)), _cmod1(_counterpart(a), _counterpart(b)))
    if b == 0:
        return 0
    r = abs(a) % abs(b)
    return -r if a < 0 else r


def cdiv(a: Any, b: Any) -> Any:
    """C++ division: truncates towards zero; division by zero gives 0."""
    if b.__class__ is int and b > 0:
        if a.__class__ is int:
            return a // b if a >= 0 else -(-a // b)
        if a.__class__ is Vec and a.natural:
            return a._changed(Shape.divided, _cdiv1, b)
    return lanewise(_cdiv1, a, b)


def cmod(a: Any, b: Any) -> Any:
    """C++ remainder, with the sign of the dividend; remainder by zero gives 0."""
    if b.__class__ is int and b > 0:
        if a.__class__ is int:
            return a % b if a >= 0 else -(-a % b)
        if a.__class__ is Vec and a.natural:
            return a._changed(Shape.remainder, _cmod1, b)
    return lanewise(_cmod1, a, b)


def shl(a: Any, b: Any) -> Any:
    """Shift left; a count outside 0..63 gives 0."""
    if b.__class__ is int and 0 <= b < 64 and (a.__class__ is int or a.__class__ is Vec):
        return a << b
    return lanewise(_shl, a, b)


def shr(a: Any, b: Any) -> Any:
    """Shift right (arithmetic for negative values); a count outside 0..63 gives 0."""
    if b.__class__ is int and 0 <= b < 64 and (a.__class__ is int or a.__class__ is Vec):
        return a >> b
    return lanewise(_shr, a, b)


def select(c: Any, a: Any, b: Any) -> Any:
    """``c ? a : b`` with both sides already evaluated; lane by lane when ``c`` differs between lanes."""
    if isinstance(c, Opaque):
        c.used()
        return OPAQUE
    if c.__class__ is not Vec:
        return a if c else b
    if a.__class__ is Ref and b.__class__ is Ref:
        return _one_of(c, a, b)
    for x in (a, b):
        if not isinstance(x, (int, float, Vec)):
            return OPAQUE
    return collapse(p if k else q for k, p, q in zip(c.v, lane_values(a), lane_values(b)))


def pointer_by_lane(lanes: Sequence[Any]) -> Any:
    """The pointer that has these values in the lanes: pointers to local objects, or opaque where a lane is inactive."""
    found: Any = OPAQUE
    for p in {id(p): p for p in lanes}.values():
        if p.__class__ is Ref:
            found = p if found is OPAQUE else select(collapse(int(x is p) for x in lanes), p, found)
        elif p is not OPAQUE:
            return OPAQUE
    return found


def _one_of(c: Vec, a: Ref, b: Ref) -> Ref:
    """A pointer to one local object in some lanes and to another one in others."""
    if a.box is b.box and a.unit == b.unit and a.key.__class__ is int and b.key.__class__ is int:
        return Ref(a.box, select(c, a.key, b.key), a.unit)
    return Ref(Either(c, a, b), 0, a.unit if a.unit == b.unit else 0)


@lru_cache(maxsize=1024)
def _flags(mask: int) -> Any:
    """1 in the lanes of a mask, 0 in the others."""
    return collapse([mask >> lane & 1 for lane in range(LANES)])


def _lanes_true(x: Any) -> int | None:
    """Mask of the lanes in which a plain number is not 0; None for other values."""
    if x.__class__ is Vec:
        shape = x.shape
        return shape.lanes_not_at(-x.base) if shape is not None and x.base.__class__ is int else None
    if x.__class__ is int:
        return M32 if x else 0
    return None


def lnot(x: Any) -> Any:
    """Logical not."""
    if isinstance(x, Opaque):
        return x._unary()
    if x.__class__ is Vec:
        yes = _lanes_true(x)
        return collapse(0 if k else 1 for k in x.v) if yes is None else _flags(M32 & ~yes)
    return 0 if x else 1


def truth(x: Any) -> Any:
    """Conversion to bool (0 or 1), lane by lane."""
    if isinstance(x, Opaque):
        return x._unary()
    if x.__class__ is Vec:
        yes = _lanes_true(x)
        return collapse(1 if k else 0 for k in x.v) if yes is None else _flags(yes)
    return 1 if x else 0


def land(a: Any, b: Any) -> Any:
    """``a && b`` with both sides already evaluated (no side effects on the right)."""
    if a.__class__ is int and not a:
        return 0
    if b.__class__ is int and not b:
        return 0
    left, right = _lanes_true(a), _lanes_true(b)
    if left is not None and right is not None:
        return _flags(left & right)
    return lanewise(lambda p, q: 1 if p and q else 0, a, b)


def lor(a: Any, b: Any) -> Any:
    """``a || b`` with both sides already evaluated (no side effects on the right)."""
    if a.__class__ is int and a:
        return 1
    if b.__class__ is int and b:
        return 1
    left, right = _lanes_true(a), _lanes_true(b)
    if left is not None and right is not None:
        return _flags(left | right)
    return lanewise(lambda p, q: 1 if p or q else 0, a, b)


def copy_value(x: Any) -> Any:
    """A C++ copy: class objects and arrays are copied, everything else is immutable."""
    return [copy_value(e) for e in x] if isinstance(x, list) else x
