"""What global memory is taken to hold where nobody has written: a choice, as the arguments are.

A run stands for all contents as long as the protocol does not depend on them. Where it hangs, the hang may be one of
tables that no host would make: the other choices tell (``auditor/causes_contents.py``).
"""

from __future__ import annotations

from collections.abc import Callable

Contents = Callable[[int], int]
"""The integer that is the n-th of its allocation, counted in its own size."""


def ascending(n: int) -> int:
    """Small, never zero, and each larger than the one before: lengths, and the bounds of neighbouring ranges."""
    return 4 * (n % 16) + 4


def long(n: int) -> int:
    """The same for lengths in elements: a tile or more. A loop may read its bound in each round, and a word that is
    read still more often is taken for a flag (``memory.WORKING_READS``)."""
    return 8 * (n % 16) + 64


def ones(n: int) -> int:
    """A flag that is set, a length of one, or the same range for everybody."""
    return 1


def starts(n: int) -> int:
    """Pairs of a row and a position in it: everybody has sixteen whole rows."""
    return 16 * (n // 2 % 16) if n % 2 == 0 else 0


OTHERS: tuple[Contents, ...] = (long, ones, starts)
