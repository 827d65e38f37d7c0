"""What predicated code calls: see ``predicate``. Nothing here knows clang."""

from __future__ import annotations

from typing import Any

from auditor.values import OPAQUE, Opaque, Ref, Vec, collapse, lane_values, select

__all__ = ["kept", "merge_into", "merged"]


def kept(box: Any) -> Any:
    """The elements of an array before a branch."""
    return [kept(x) if isinstance(x, list) else x for x in box] if isinstance(box, list) else box


def merged(condition: Vec, new: Any, old: Any) -> Any:
    """The value of a variable after a branch that the lanes of ``condition`` took.

    What is not known stays so; to write over it under a predicate is no use of it.
    """
    if new is old:
        return old
    if isinstance(new, (int, float, Vec)) and isinstance(old, (int, float, Vec)):
        return collapse(a if k else b for k, a, b in zip(condition.v, lane_values(new), lane_values(old)))
    if new.__class__ is Ref and old.__class__ is Ref:
        return select(condition, new, old)
    if isinstance(new, list) and isinstance(old, list):
        return [merged(condition, a, b) for a, b in zip(new, old)]
    if isinstance(new, Opaque):
        new.used()
    return old if isinstance(old, Opaque) else OPAQUE


def merge_into(box: Any, condition: Vec, old: Any) -> None:
    """The same for all elements of an array, in place."""
    if isinstance(box, list) and isinstance(old, list):
        for n, (new, before) in enumerate(zip(box, old)):
            box[n] = merged(condition, new, before)
