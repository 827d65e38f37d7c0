"""BW215: arguments that cuTensorMapEncodeTiled rejects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.machine.launch import SWIZZLE_SPAN, TensorMap
from auditor.rule import Rule
from auditor.rulekit import tensor_maps

U4_8B, U4_16B, U6_16B = 13, 14, 15
FLOATS = frozenset((6, 7, 8, 9, 10, 11, 12))
MAX_SHARED = 232_448  # bytes of shared memory of one block


class TensorMapEncode(Rule):
    code = "BW215"
    name = "tensor-map-encode"
    level = Level.ERROR
    confidence = "high"
    entries = ("TL-16", "TL-17", "TL-18", "TL-28")

    def check(self, audit: Audit) -> Iterator[Finding]:
        for m in tensor_maps(audit):
            found = [] if m.im2col else list(problems(m))
            if found:
                where = m.where[:1] if isinstance(m.where, tuple) and m.where else (audit.kernel.loc,)
                more = f" (and {len(found) - 1} more: {'; '.join(t for t, _ in found[1:])})" if len(found) > 1 else ""
                yield audit.finding(
                    type(self), where,
                    f"cuTensorMapEncodeTiled rejects tensor map {m.name}: {found[0][0]}{more}",
                    related=[((audit.kernel.loc,), f"kernel {audit.kernel.name} gets this map")], hint=found[0][1],
                )


def problems(m: TensorMap) -> Iterator[tuple[str, str]]:
    """What the driver does not accept, with the repair. Members that are not known are not judged."""
    if not isinstance(m.rank, int):
        return
    if not 1 <= m.rank <= 5:
        yield f"rank {m.rank} is not 1 to 5", "fold dimensions together"
        return
    padded = m.data_type in (U4_16B, U6_16B)
    interleave = _number(m.interleave)
    wide = padded or interleave == 2
    if interleave and m.rank < 3:
        yield f"an interleaved layout needs rank 3 or more, not {m.rank}", "use CU_TENSOR_MAP_INTERLEAVE_NONE"
    need = 32 if wide else 16
    address = _number(m.address)
    if address is not None and address % need:
        yield f"global address is {address % need} bytes past a multiple of {need}", f"align the tensor to {need} bytes"
    for n, size in _numbers(m.dims, m.rank):
        if not 1 <= size <= 1 << 32:
            yield f"globalDim[{n}] is {size:,}, not 1 to 2^32", "give each dimension its size in elements"
    for n, stride in _numbers(m.strides, m.rank - 1):
        if stride % need:
            yield (f"globalStrides[{n}] is {stride:,} bytes, not a multiple of {need}",
                   f"pad the rows to a multiple of {need} bytes; strides are bytes, not elements")
        elif not 0 <= stride < 1 << 40:
            yield f"globalStrides[{n}] is {stride:,} bytes, not below 2^40", "strides are bytes between neighbours"
    for n, size in _numbers(m.box, m.rank):
        if not 1 <= size <= 256:
            yield f"boxDim[{n}] is {size:,}, not 1 to 256", "load the tile in several boxes"
    for n, step in _numbers(m.element_strides, m.rank):
        if not 1 <= step <= 8:
            yield f"elementStrides[{n}] is {step}, not 1 to 8", "use 1 for dense boxes"
    yield from _inner(m, interleave)
    if padded and isinstance(_first(m.dims), int) and _first(m.dims) % 128:
        yield f"globalDim[0] is {_first(m.dims)}, not a multiple of 128 as padded types need", "pad the inner dimension"
    if m.data_type == U4_8B and isinstance(_first(m.dims), int) and _first(m.dims) % 2:
        yield f"globalDim[0] is {_first(m.dims)}, not even as 4-bit types need", "pad the inner dimension"
    if _number(m.oob_fill) and isinstance(m.data_type, int) and m.data_type not in FLOATS:
        yield "NaN fill is for floating-point types only", "use CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE"
    whole = m.box_bytes
    if whole is not None and whole > MAX_SHARED:
        yield f"a box of {whole:,} bytes is larger than shared memory", "load the tile in several boxes"


def _inner(m: TensorMap, interleave: int | None) -> Iterator[tuple[str, str]]:
    """The innermost dimension of the box."""
    first, bits, swizzle = _first(m.box), m.element_bits, _number(m.swizzle)
    if m.data_type in (U4_16B, U6_16B):
        if isinstance(first, int) and first != 128:
            yield f"boxDim[0] is {first}, padded types need 128", "use boxes of 128 elements"
        return
    if interleave == 2 and swizzle is not None and swizzle != 1:
        yield "interleave 32B needs swizzle 32B", "use CU_TENSOR_MAP_SWIZZLE_32B"
    if not isinstance(first, int) or not bits or interleave:
        return
    inner = first * bits // 8
    span = SWIZZLE_SPAN.get(swizzle, 0) if swizzle is not None else 0
    if inner % 16:
        yield (f"boxDim[0] of {first} elements is {inner} bytes, not a multiple of 16",
               "make the inner box a multiple of 16 bytes")
    elif span and inner > span:
        yield (f"boxDim[0] of {first} elements is {inner} bytes, more than the {span} bytes of its swizzle",
               f"use {span * 8 // bits} elements, and several boxes a tile")


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) else None


def _first(values: tuple[Any, ...]) -> Any:
    return values[0] if values else None


def _numbers(values: tuple[Any, ...], count: int) -> Iterator[tuple[int, int]]:
    """The first members that are known, with their index."""
    for n, value in enumerate(values[:count]):
        if isinstance(value, int):
            yield n, value
