"""Chosen values: what an integer argument is set to when nothing tells, by the meaning that its name suggests.

Seven variants of each: a typical problem, the smallest one (loops run about once), a long one (rings of the usual depth
wrap several times), a small one (loops run twice), few long things (when one is split up, each part has something),
one that takes deep rings of large stages round as well, and the typical one with a tile more that is not full. Sizes
but its own are multiples of the usual tile sizes; its are of 16, which rows of bulk copies and vectors have to be.
"""

from __future__ import annotations

import re
from typing import Any

TYPICAL, SINGLE, LONG, SMALL, LARGE, DEEP, RAGGED = range(7)

_VALUES = {
    "count": (4, 1, 12, 2, 1, 48, 4),
    "rows": (256, 128, 512, 128, 256, 4096, 272),
    "depth": (1024, 128, 2048, 256, 8192, 8192, 1040),
    "elements": (4096, 256, 16384, 512, 65536, 131072, 4112),
    "head": (128, 128, 128, 128, 128, 128, 128),
    "tile": (64, 64, 64, 64, 64, 64, 64),
    "pitch": (1024, 1024, 1024, 1024, 1024, 1024, 1024),
    "flag": (1, 0, 1, 1, 1, 1, 1),
    "index": (0, 0, 0, 0, 0, 0, 0),
    "other": (5, 1, 12, 2, 5, 48, 5),
}

_INDEX = set("idx index id rank offset off begin start first base layer pos position coord".split())
_PITCH = set("ld lda ldb ldc ldd ldx ldy ldq ldk ldv ldo stride strides pitch".split())
_FLAG = set("is has use do enable enabled with flag causal transpose transposed store return apply write".split())
_THINGS = set(  # what is counted in handfuls: one iteration or CTA deals with each
    "tile tiles ntiles iter iters iteration iterations block blocks step steps chunk chunks split splits round rounds "
    "rep reps repeat repeats pass passes stage stages page pages pair pairs slice slices kblocks ktiles strip strips "
    "job jobs task tasks item items panel panels wave waves lap laps".split()
)
_GROUPS = set("batch batches heads head groups group experts expert count num layers nb nh bs topk".split())
_DEPTH = set(
    "k kdim seq seqlen len length tokens token ctx context kv hidden depth channels features dim size width_k".split()
)
_ROWS = set("m n row rows col cols column columns height width out".split())
_ELEMENTS = set("numel elements elems total nelem n_elem".split())


_ADDRESS = set("addr address ptr pointer".split())


def words(name: str) -> list[str]:
    """The lower-case words of an identifier: "numKBlocks" and "num_k_blocks" give num, k, blocks."""
    found = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name.rsplit(".", 1)[-1])
    return [w.lower() for w in found]


def meaning(name: str, siblings: frozenset[str] = frozenset()) -> str:
    """What an integer of that name most likely is: a key of the value table. ``siblings``: the other parameters."""
    parts = words(name)
    have = set(parts)
    if not parts:
        return "other"
    if have & _INDEX:
        return "index"
    if have & _PITCH:
        return "pitch"
    if parts[0] in _FLAG or parts[-1] in ("flag", "enabled", "causal", "mode"):
        return "flag"
    if have & _THINGS:
        return "tile" if "size" in have else "count"
    if "head" in have and have & {"dim", "size", "d"}:
        return "head"
    if have & _ELEMENTS or (parts == ["n"] and not {"m", "k"} & {s.lower() for s in siblings}):
        return "elements"
    if have & {"seq", "seqlen", "len", "length", "tokens", "hidden", "ctx", "context"}:
        return "depth"
    if have & {"rows", "cols", "columns"}:
        return "rows"
    if have & _GROUPS or (parts[0] in ("num", "n") and len(parts) > 1):
        return "count"
    if have & _ROWS:
        return "rows"
    if have & _DEPTH:
        return "depth"
    return "other"


def is_address(name: str) -> bool:
    """Whether a 64-bit integer of that name is a pointer in disguise."""
    return bool(_ADDRESS & set(words(name)))


def by_name(
    name: str, variant: int, siblings: frozenset[str] = frozenset(), default: Any = None, *, counted: bool = False
) -> Any:
    """The chosen value of an integer of that name; ``default``, when given, for names that suggest nothing.

    ``counted``: the code waits for something that many times, so that a size in elements cannot be meant; a larger
    problem has no fewer rounds of it, or a hang in the second one would not show there.
    """
    kind = meaning(name, siblings)
    if counted and kind in ("rows", "depth", "elements"):
        kind = "count"
    if counted and kind == "count" and variant == LARGE:
        variant = TYPICAL
    if kind == "other" and default is not None:
        return default
    return _VALUES[kind][variant]


def reduced(name: str, value: int) -> int:
    """A smaller stand-in for a value that makes a run too long.

    It leaves the same remainder as the value for every tile size that divides the step, so that the last tile stays
    as full as it was.
    """
    kind = meaning(name)
    if kind in ("pitch", "index", "flag", "tile", "head"):
        return value
    limit, step = (512, 256) if kind in ("rows", "depth", "elements") else (24, 8)
    return value if value <= limit else limit - (limit - value) % step
