"""Element types of a GEMM on tcgen05: what each means for the instruction, shared memory and scale factors."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Kind:
    """An element type.

    ``kind``: of tcgen05.mma. ``bits``: of an element in shared memory. ``code``: of A and B in the instruction
    descriptor. ``block``: elements along K that share a scale factor, 0 without scaling. ``map_type``: name of the
    CUtensorMapDataType. ``scale``: type of the scale factors. ``vector``: the modifier that tells their number.
    """

    name: str
    kind: str
    bits: int
    code: int
    map_type: str
    block: int = 0
    scale: str = ""
    vector: str = ""

    @property
    def scaled(self) -> bool:
        return self.block > 0

    @property
    def modifiers(self) -> str:
        """What scale factors add to the instruction's kind."""
        return f".block_scale.scale_vec::{self.vector}" if self.scaled else ""


KINDS = {
    k.name: k
    for k in (
        Kind("f16", "f16", 16, 0, "FLOAT16"),
        Kind("bf16", "f16", 16, 1, "BFLOAT16"),
        Kind("tf32", "tf32", 32, 2, "FLOAT32"),
        Kind("e4m3", "f8f6f4", 8, 0, "UINT8"),
        Kind("e5m2", "f8f6f4", 8, 1, "UINT8"),
        Kind("mxf8", "mxf8f6f4", 8, 0, "UINT8", 32, "ue8m0", "1X"),
        Kind("mxf4", "mxf4", 4, 1, "16U4_ALIGN8B", 32, "ue8m0", "2X"),
        Kind("nvf4", "mxf4nvf4", 4, 1, "16U4_ALIGN8B", 16, "ue4m3", "4X"),
    )
}
ACCUMULATORS = {"f32": 1, "f16": 0}  # code in the instruction descriptor; scaled kinds have f32 only
OUTPUT_BYTES = {"f32": 4, "f16": 2, "bf16": 2}


def instruction_descriptor(kind: Kind, m: int, n: int, accumulator: str) -> int:
    """The 32-bit instruction descriptor of a K-major MMA (PTX ISA 9.7.16.4.2). M and N are those of the instruction."""
    if kind.scaled:
        ue8m0 = 1 << 23 if kind.scale == "ue8m0" else 0
        return kind.code << 7 | kind.code << 10 | (n >> 3) << 17 | ue8m0 | (m >> 7) << 27
    return ACCUMULATORS[accumulator] << 4 | kind.code << 7 | kind.code << 10 | (n >> 3) << 17 | (m >> 4) << 24


_SWIZZLE_CODES = {128: 2, 64: 4, 32: 6}


def matrix_descriptor(span: int) -> int:
    """The matrix descriptor of a K-major tile with a swizzle of ``span`` bytes, without its address (bits 0 to 13).

    The leading offset is not used by such tiles and is 1 by custom; eight rows are 8 * span bytes.
    """
    return 1 << 16 | (8 * span >> 4) << 32 | 1 << 46 | _SWIZZLE_CODES[span] << 61
