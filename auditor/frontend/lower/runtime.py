"""Helpers that generated code calls beside ``auditor.values``. Nothing here knows clang."""

from __future__ import annotations

import struct
from collections.abc import Callable
from types import GeneratorType as Generator
from typing import Any

from auditor.frontend.lower.rows import rows_at
from auditor.values import (
    LANES,
    OPAQUE,
    BlockInt,
    Opaque,
    Overlay,
    Part,
    Ref,
    Vec,
    collapse,
    lane_values,
    lanewise,
    pointer_by_lane,
    settled,
)

__all__ = [
    "Generator",
    "address",
    "bit_cast",
    "bit_reverse",
    "consume",
    "count_leading_zeros",
    "element",
    "find_first_set",
    "i8",
    "i16",
    "i32",
    "i64",
    "object_at",
    "overwrite",
    "part",
    "part_at",
    "population_count",
    "recast",
    "scalar_of",
    "scalar_pointer",
    "set_element",
    "to_float",
    "to_int",
    "view",
    "whole",
]


def consume(*values: Any) -> Any:
    """Opaque data computed from ``values``: marks those that record their use."""
    for value in values:
        if isinstance(value, Opaque):
            value.used()
        elif isinstance(value, list):
            consume(*value)
    return OPAQUE


def _to_signed(bits: int) -> Callable[[Any], Any]:
    half, mask = 1 << (bits - 1), (1 << bits) - 1

    def convert(x: Any) -> Any:
        # a conversion is no instruction: loaded data is not consumed by it
        return x if isinstance(x, Opaque) else ((x + half) & mask) - half

    return convert


i8, i16, i32, i64 = _to_signed(8), _to_signed(16), _to_signed(32), _to_signed(64)


def to_float(x: Any) -> Any:
    """Integer to floating point; per-lane values become opaque data."""
    if isinstance(x, (int, float)):
        return float(x)
    return consume(x)


def to_int(x: Any) -> Any:
    """Floating point to integer, truncating."""
    if x.__class__ is float:
        return int(x) if abs(x) < 2.0**63 else 0
    return consume(x)


def address(p: Any) -> Any:
    """A pointer as an integer. The address of a local object is not modelled."""
    return OPAQUE if p.__class__ is Ref or isinstance(p, list) else p


def element(box: Any, index: Any) -> Any:
    """``box[index]`` of a local array, for any kind of index."""
    if index.__class__ is int or index.__class__ is bool:
        return box[index] if 0 <= index < len(box) else OPAQUE
    if index.__class__ is Vec and isinstance(box, list):
        rows = rows_at(box, index)
        if rows is not None:
            return rows
        size = len(box)
        lanes = []
        for lane, i in enumerate(index.v):
            x = box[i] if 0 <= i < size else 0
            if x.__class__ is Vec:
                x = x.v[lane]
            elif x.__class__ is Ref:
                return pointer_by_lane([box[i] if 0 <= i < size else OPAQUE for i in index.v])
            elif not isinstance(x, (int, float)):
                return consume(*box)
            lanes.append(x)
        return collapse(lanes)
    if index.__class__ is BlockInt:
        return element(box, settled(index))
    consume(index)
    if box and isinstance(box[0], list):
        return box[0]
    return consume(*box)


def set_element(box: Any, index: Any, value: Any) -> None:
    """``box[index] = value`` of a local array, for any kind of index."""
    if index.__class__ is int or index.__class__ is bool:
        if 0 <= index < len(box):
            box[index] = value
        return
    if index.__class__ is Vec and isinstance(value, (int, float, Vec)):
        lanes = lane_values(value)
        for slot in {i for i in index.v if 0 <= i < len(box)}:
            old = box[slot]
            if not isinstance(old, (int, float, Vec)):
                box[slot] = OPAQUE
                continue
            was = lane_values(old)
            box[slot] = collapse(lanes[k] if index.v[k] == slot else was[k] for k in range(LANES))
        return
    if index.__class__ is BlockInt:
        set_element(box, settled(index), value)
        return
    consume(index)
    for slot in range(len(box)):
        if not isinstance(box[slot], list):
            box[slot] = OPAQUE


def object_at(p: Any) -> Any:
    """The list that a pointer to a local array or class object points to, or None for a memory address."""
    if p.__class__ is Ref:
        try:
            target = p.box[p.key]
        except (IndexError, TypeError):
            return None
        return target if isinstance(target, list) else None
    return None


def part(box: Any, index: int) -> None:
    """The base-class subobject ``box[index]`` is about to be used by itself: it remembers what it belongs to."""
    if isinstance(box, list) and isinstance(box[index], list):
        base = box[index]
        if base.__class__ is Part:
            base.whole = box
        else:
            box[index] = Part(base, box)


def part_at(p: Any) -> Any:
    """A pointer to a base-class subobject that is about to be used by itself."""
    if p.__class__ is Ref and p.key.__class__ is int:
        part(p.box, p.key)
    return p


def whole(p: Any, depth: int, offset: int) -> Any:
    """A pointer to a base-class subobject, cast to a pointer to the class ``depth`` levels further derived.

    ``offset``: bytes from the start of the object to the subobject, for objects in memory.
    """
    if p.__class__ is not Ref:
        return p - offset
    target = object_at(p)
    for _ in range(depth):
        if target.__class__ is not Part:
            return consume(p)
        target = target.whole
    return Ref([target], 0)


def scalar_pointer(p: Any) -> Any:
    """A pointer to a class object or array, cast to a pointer to a scalar.

    An object with one scalar in it is that scalar. Of others the scalar is data, which lies over all of the object.
    """
    while p.__class__ is Ref:
        target = object_at(p)
        if target is None:
            return p
        if len(target) != 1:
            return Ref(Overlay(target), 0)
        p = Ref(target, 0)
    return p


def scalar_of(x: Any) -> Any:
    """What is read through ``scalar_pointer`` of a local object: its only scalar, or data that lies over all of it."""
    while isinstance(x, list):
        if len(x) != 1:
            return Overlay(x)[0]
        x = x[0]
    return x


def recast(p: Any, unit: int) -> Any:
    """A pointer to scalars of ``unit`` bytes, cast to a pointer to a type of another size."""
    return Ref(p.box, p.key, unit) if p.__class__ is Ref and not p.unit else p


def view(x: Any) -> Any:
    """A local class object or array read as a scalar of another type: data."""
    return consume(x) if isinstance(x, list) else x


def overwrite(x: Any, value: Any) -> None:
    """A local class object or array written as a scalar of another type: its parts become data."""
    data = value if isinstance(value, Opaque) else OPAQUE
    for n, part_of_it in enumerate(x if isinstance(x, list) else ()):
        if isinstance(part_of_it, list):
            overwrite(part_of_it, data)
        else:
            x[n] = data


def bit_cast(x: Any, bits: int, to_floating: bool) -> Any:
    """The same bits as another kind of number; opaque data passes through and is not consumed."""
    if isinstance(x, Opaque):
        return x
    form = {16: ("<e", "<H"), 32: ("<f", "<I"), 64: ("<d", "<Q")}.get(bits)
    if form is None or not isinstance(x, (int, float)):
        return OPAQUE
    floating, integer = form
    try:
        if to_floating:
            return struct.unpack(floating, struct.pack(integer, int(x) & ((1 << bits) - 1)))[0]
        return struct.unpack(integer, struct.pack(floating, x))[0]
    except (OverflowError, struct.error):
        return OPAQUE


def population_count(x: Any) -> Any:
    return lanewise(lambda v: bin(v).count("1"), x)


def count_leading_zeros(x: Any, bits: int) -> Any:
    return lanewise(lambda v: bits - (v & ((1 << bits) - 1)).bit_length(), x)


def find_first_set(x: Any) -> Any:
    return lanewise(lambda v: (v & -v).bit_length(), x)


def bit_reverse(x: Any, bits: int) -> Any:
    return lanewise(lambda v: int(bin(v & ((1 << bits) - 1))[2:].zfill(bits)[::-1], 2), x)
