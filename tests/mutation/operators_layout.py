"""Operators on layouts, descriptors and host code."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.mutation.mutants import Change, Edit, operator
from tests.mutation.needed import last_warp_has_role
from tests.mutation.sites import Good
from tests.mutation.tokens import Span

_COPIES = ("copy", "store")
_MMAS = ("mma", "wgmma", "scale-copy")


def _replace(good: Good, pattern: str, text: str, about: tuple[str, ...]) -> Iterator[Change]:
    """Each place where a pattern matches, with its group replaced."""
    for found in re.finditer(pattern, good.source.text):
        yield Change((Edit(Span(found.start(1), found.end(1)), text),), about=about)


@operator("base-less-aligned", "shared memory is aligned to 16 bytes")
def base_less_aligned(good: Good) -> Iterator[Change]:
    for change in _replace(good, r"__align__\((1024|128)\)", "16", _COPIES + _MMAS):
        line = good.source.line_text(change.edits[0].span.start)
        # Dynamic memory alone starts right behind the 1024 bytes that ptxas reserves, whatever its declaration says.
        if good.static_shared or "extern" not in line:
            yield change


@operator("copy-misaligned", "the destination of a copy is not aligned")
def copy_misaligned(good: Good) -> Iterator[Change]:
    done: set[Span] = set()
    for site in good.of("copy"):
        operand = site.inner.get("dst")
        if operand is not None and not operand.literal and operand.span not in done:
            done.add(operand.span)
            yield Change((Edit(operand.span, f"({good.text(operand.span)}) + 8"),), site)


@operator("map-swizzle", "the tensor map has another swizzle than the descriptors")
def map_swizzle(good: Good) -> Iterator[Change]:
    yield from _replace(good, r"CU_TENSOR_MAP_SWIZZLE_(128B)\b", "64B", _COPIES + _MMAS)


@operator("descriptor-swizzle", "the descriptor has another swizzle than the tensor map")
def descriptor_swizzle(good: Good) -> Iterator[Change]:
    if "CU_TENSOR_MAP_SWIZZLE_" not in good.source.text:
        return
    yield from _replace(good, r"\b(2)(?:ull|[)}])? ?<< 61", "4", _MMAS)
    yield from _replace(good, r"1ull << (62)", "63", _MMAS)
    yield from _replace(good, r"\.swizzle = (2)", "4", _MMAS)


@operator("descriptor-version", "the matrix descriptor lacks the bit that Blackwell needs")
def descriptor_version(good: Good) -> Iterator[Change]:
    yield from _replace(good, r"<< (46)\b", "45", _MMAS)
    yield from _replace(good, r"\.version = (1)", "0", _MMAS)


@operator("format-shift", "a field of the instruction descriptor is shifted wrongly")
def format_shift(good: Good) -> Iterator[Change]:
    yield from _replace(good, r"<< \(?(24)\b", "25", _MMAS)


@operator("box-doubled", "the box of a tensor map is larger than the tile")
def box_doubled(good: Good) -> Iterator[Change]:
    for found in re.finditer(r"box\w*\[\d*\] ?= ?\{[^,}]+, ([^}]+)\}", good.source.text):
        edit = Edit(Span(found.start(1), found.end(1)), f"2 * ({found[1]})")
        yield Change((edit,), about=("copy", "store", "expect"))


@operator("grid-constant-dropped", "a tensor map is passed by value without __grid_constant__")
def grid_constant(good: Good) -> Iterator[Change]:
    yield from _replace(good, r"(__grid_constant__ )CUtensorMap", "", _COPIES)


@operator("shared-attribute-dropped", "the launch asks for shared memory that it has not announced")
def shared_attribute(good: Good) -> Iterator[Change]:
    tokens = good.source.tokens
    for index, token in enumerate(tokens):
        if token.text == "cudaFuncSetAttribute" and tokens[index + 1].text == "(":
            end = tokens[good.source.lexed.partner[index + 1]].end
            yield Change((Edit(Span(token.start, end), "cudaSuccess"),), about=("launch",))


@operator("block-smaller", "the launch has a warp less than the kernel needs")
def block_smaller(good: Good) -> Iterator[Change]:
    if not last_warp_has_role(good):
        return
    yield from _block(good, r"<<<[^;]*?, ((?:\w|::)+), [^;]*?>>>")
    yield from _block(good, r"blockDim = dim3\(([^;]+)\);")


def _block(good: Good, pattern: str) -> Iterator[Change]:
    for found in re.finditer(pattern, good.source.text):
        yield Change((Edit(Span(found.start(1), found.end(1)), f"{found[1]} - 32"),), about=("launch",))
