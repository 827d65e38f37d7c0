"""Classes of data made by ``quick_dataclass`` behave as those of ``dataclasses``."""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from auditor import quick_dataclass


def family(make: Callable[..., Any]) -> tuple[type, type, type, type]:
    """The same four classes, made by one decorator or the other."""

    @make(frozen=True)
    class Frozen:
        a: int
        b: str = "b"
        c: int = dataclasses.field(default=0, compare=False, repr=False)

    @make(slots=True)
    class Slotted:
        a: int
        b: list[int] = dataclasses.field(default_factory=list)

    @make(eq=False)
    class Alone:
        a: int = 1

    @make
    class Told:
        a: int = 1

        def __repr__(self) -> str:
            return "told"

    return Frozen, Slotted, Alone, Told


QUICK, PLAIN = family(quick_dataclass.dataclass), family(dataclasses.dataclass)


@pytest.mark.parametrize("number", range(4))
def test_fields_and_looks_are_the_same(number: int) -> None:
    quick, plain = QUICK[number], PLAIN[number]
    assert [f.name for f in dataclasses.fields(quick)] == [f.name for f in dataclasses.fields(plain)]
    assert repr(quick(7)) == repr(plain(7)).replace("PLAIN", "QUICK")
    assert hasattr(quick(7), "__dict__") == hasattr(plain(7), "__dict__")


def test_frozen_ones_compare_and_hash_by_their_fields() -> None:
    frozen = QUICK[0]
    assert frozen(1, "x", 2) == frozen(1, "x", 3) != frozen(1, "y", 2)
    assert hash(frozen(1, "x", 2)) == hash(frozen(1, "x", 3)) == hash((1, "x"))
    assert frozen(1) != PLAIN[0](1)
    assert dataclasses.replace(frozen(1), b="z").b == "z"


def test_others_have_no_hash() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(QUICK[1](1))
    assert QUICK[1](1, [2]) == QUICK[1](1, [2])
    assert QUICK[1](1).b is not QUICK[1](1).b


def test_without_eq_only_the_object_itself_is_equal() -> None:
    alone = QUICK[2]()
    assert alone == alone != QUICK[2]()


@quick_dataclass.dataclass(frozen=True, slots=True)
class Sent:
    """One that goes to another process."""

    a: int
    b: tuple[int, ...] = ()


def test_they_can_be_sent_to_another_process() -> None:
    assert pickle.loads(pickle.dumps(Sent(1, (2, 3)))) == Sent(1, (2, 3))
