"""Descriptors and extents of tcgen05 and wgmma (PTX ISA 9.1, sections 9.7.15 and 9.7.16).

Units: addresses, offsets and spans are bytes; M, N and rows count elements along M or N; tensor memory is measured in
lanes and 32-bit columns. Start addresses are the low 18 bits of a shared address, as the hardware takes them, so
ranges are relative to the CTA's shared window. ``problems`` lists what PTX forbids, ``warnings`` what PTX allows but
NVIDIA's own code refuses, or where practice differs from the document.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from auditor.quick_dataclass import dataclass

__all__ = [
    "TMEM_COLUMNS",
    "TMEM_LANES",
    "InstructionDescriptor",
    "KExtent",
    "MatrixDescriptor",
    "TmemAddress",
    "WgmmaDescriptor",
    "accumulator_columns",
    "accumulator_lanes",
    "cp_bytes",
    "cp_extent",
    "k_extent",
    "operand_footprint",
    "scale_columns",
    "tmem_ld_extent",
    "tmem_split",
]

TMEM_LANES = 128
TMEM_COLUMNS = 512


def _field(value: int, low: int, high: int) -> int:
    """Bits low to high, both included."""
    return (value >> low) & ((1 << (high - low + 1)) - 1)


# Tensor memory


class TmemAddress(NamedTuple):
    """A tensor memory address (9.7.16.1.1)."""

    lane: int
    column: int


def tmem_split(address: int) -> TmemAddress:
    """Lane in bits 31:16, column in bits 15:0."""
    return TmemAddress(address >> 16 & 0xFFFF, address & 0xFFFF)


# Shape of tcgen05.ld and st: lanes that a warp touches, columns of .x1.
_LD_SHAPES = {"32x32b": (32, 1), "16x64b": (16, 2), "16x128b": (16, 4), "16x256b": (16, 8), "16x32bx2": (16, 1)}

# Shape of tcgen05.cp: (lanes written, replication included; columns; bytes of shared memory read). Source formats of 4
# and 6 bits are padded to a byte an element, so they read as many bytes.
_CP_SHAPES = {
    "128x256b": (128, 8, 4096),
    "4x256b": (4, 8, 128),
    "128x128b": (128, 4, 2048),
    "64x128b": (128, 4, 1024),
    "32x128b": (128, 4, 512),
}


def tmem_ld_extent(shape: str, num: int, pack: bool = False) -> tuple[int, int]:
    """(lanes, columns) that one warp touches with tcgen05.ld or st of ``shape`` and ``.x<num>`` (9.7.16.8).

    ``pack``: ``.pack::16b`` or ``.unpack::16b``, which spreads a register over two columns. ``16x32bx2`` touches this
    extent twice: at the address, and on the same lanes again, the immediate's number of columns further.
    """
    lanes, columns = _LD_SHAPES[shape]
    return lanes, columns * num * (2 if pack else 1)


def cp_extent(shape: str) -> tuple[int, int]:
    """(lanes, columns) that tcgen05.cp writes, with the replication of ``.warpx2`` and ``.warpx4`` (9.7.16.9.2)."""
    lanes, columns, _ = _CP_SHAPES[shape]
    return lanes, columns


def cp_bytes(shape: str) -> int:
    """Bytes of shared memory that tcgen05.cp reads."""
    return _CP_SHAPES[shape][2]


def accumulator_columns(m: int, n: int, cta_group: int = 1, ws: bool = False, sparse: bool = False) -> int:
    """Columns of D in each CTA (9.7.16.10.5). M and N are those of the instruction: of the pair with cta_group 2."""
    if ws:
        return n // {32: 4, 64: 2}.get(m, 1)
    if cta_group == 2 and m == 128 and not sparse:
        return n // 2
    return n


def accumulator_lanes(
    m: int, cta_group: int = 1, ws: bool = False, sparse: bool = False
) -> tuple[tuple[int, int], ...]:
    """Lane ranges [first, end) of D in each CTA, relative to the lane of its address."""
    half = (cta_group == 1 and m == 64) or (cta_group == 2 and m == 128 and sparse)
    if half and not ws:
        return tuple((quarter, quarter + 16) for quarter in range(0, TMEM_LANES, 32))
    return ((0, TMEM_LANES),)


def scale_columns(rows: int) -> int:
    """Columns of the scale factors of one MMA, for M or N rows: four scale bytes a row and column (9.7.16.10.7).

    They are replicated in all four lane quarters.
    """
    return -(-rows // 32)


# Extents along K


class KExtent(NamedTuple):
    """K of one MMA: elements, and bytes of a row of A (compressed when sparse) and of a row or column of B."""

    elements: int
    a_bytes: int
    b_bytes: int


_DENSE_K = {"f16": 16, "tf32": 8, "f8f6f4": 32, "i8": 32, "mxf8f6f4": 32, "mxf4": 64, "mxf4nvf4": 64}


def k_extent(kind: str, sparse: bool = False) -> KExtent:
    """K of one tcgen05.mma (9.7.16.2.1). Dense K is always 32 bytes; sparse K doubles it, for B also in bytes.

    Elements of 4 and 6 bits of f8f6f4 and mxf8f6f4 occupy a byte each in shared memory.
    """
    factor = 2 if sparse else 1
    return KExtent(_DENSE_K[kind] * factor, 32, 32 * factor)


# Shared-memory matrix descriptors


@dataclass(frozen=True, slots=True)
class MatrixDescriptor:
    """Shared-memory descriptor of tcgen05.mma and tcgen05.cp (9.7.16.4.1).

    ``swizzle`` is the raw code. ``span`` is the width in bytes of the swizzle pattern: 0 (none, or an invalid code),
    32, 64 or 128. ``atom_32b`` marks the 128-byte swizzle of 32-byte atoms.
    """

    value: int
    arch: str
    start: int
    lbo: int
    sbo: int
    base_offset: int
    swizzle: int

    @classmethod
    def decode(cls, value: int, arch: str = "sm_100a") -> MatrixDescriptor:
        """Decode the 64-bit value."""
        return cls(
            value=value,
            arch=arch,
            start=_field(value, 0, 13) << 4,
            lbo=_field(value, 16, 29) << 4,
            sbo=_field(value, 32, 45) << 4,
            base_offset=_field(value, 49, 51),
            swizzle=_field(value, 61, 63),
        )

    @property
    def span(self) -> int:
        return {1: 128, 2: 128, 4: 64, 6: 32}.get(self.swizzle, 0)

    @property
    def atom_32b(self) -> bool:
        return self.swizzle == 1

    def problems(self) -> list[str]:
        """What the value violates."""
        found = []
        fixed = _field(self.value, 46, 48)
        if fixed != 0b001:
            found.append(
                f"bits 46-48 are {fixed:#05b}, must be 0b001"
                + (" (a Hopper wgmma descriptor has 0 here)" if fixed == 0 else "")
            )
        if self.swizzle not in (0, 1, 2, 4, 6):
            found.append(f"swizzle code {self.swizzle} (bits 61-63) is not defined")
        if _field(self.value, 53, 60):
            found.append(f"bits 53-60 are {_field(self.value, 53, 60):#x}, must be 0")
        if _field(self.value, 52, 52) and not self.arch.startswith("sm_103"):
            found.append(f"bit 52 (absolute leading dimension address) does not exist on {self.arch}")
        return found


@dataclass(frozen=True, slots=True)
class WgmmaDescriptor:
    """Shared-memory descriptor of wgmma.mma_async on sm_90 (9.7.15.5.1.2.2). ``swizzle`` is the raw code."""

    value: int
    start: int
    lbo: int
    sbo: int
    base_offset: int
    swizzle: int

    @classmethod
    def decode(cls, value: int) -> WgmmaDescriptor:
        """Decode the 64-bit value."""
        return cls(
            value=value,
            start=_field(value, 0, 13) << 4,
            lbo=_field(value, 16, 29) << 4,
            sbo=_field(value, 32, 45) << 4,
            base_offset=_field(value, 49, 51),
            swizzle=_field(value, 62, 63),
        )

    @property
    def span(self) -> int:
        return (0, 128, 64, 32)[self.swizzle]

    @property
    def atom_32b(self) -> bool:
        return False

    def problems(self) -> list[str]:
        """What the value violates. Bits 46-48 are left alone: code shared with sm_100 sets bit 46."""
        if _field(self.value, 52, 61):
            return [f"bits 52-61 are {_field(self.value, 52, 61):#x}; wgmma does not define them"]
        return []


_AnyDescriptor: TypeAlias = MatrixDescriptor | WgmmaDescriptor


@lru_cache(maxsize=4096)
def operand_footprint(
    desc: _AnyDescriptor, rows: int, k_bytes: int, major: str = "K", element_bits: int = 16
) -> tuple[tuple[int, int], ...]:
    """Byte ranges [low, high) of shared memory that an MMA reads through ``desc``: sorted, disjoint.

    ``rows`` is the extent along M or N, ``k_bytes`` that along K (elements x size), ``major`` "K" or "MN". Meant never
    to exceed what correct code owns: where the layout is not certain, less is claimed. Canonical layouts of 9.7.15.5.1
    and 9.7.16.4:

    * K-major, swizzled: groups of 8 rows, SBO apart, row pitch = span. The start may lie inside the first row (a K
      step); the swizzle permutes a whole row, so whole rows are claimed. LBO is not used.
    * K-major, no swizzle: core matrices of 8 rows x 16 bytes, SBO apart along M or N and LBO apart along K.
    * MN-major, swizzled: atoms of span bytes x 8 K, LBO apart along M or N and SBO apart along K.
    * MN-major, no swizzle: core matrices of 16 bytes x 8 K, SBO apart along M or N and LBO apart along K.
    """
    span = desc.span
    if major == "K":
        groups = -(-rows // 8)
        if span:
            start = desc.start & ~(span - 1)
            return _merged((start + g * desc.sbo, 8 * span) for g in range(groups))
        columns = max(k_bytes // 16, 1)
        return _merged((desc.start + g * desc.sbo + c * desc.lbo, 128) for g in range(groups) for c in range(columns))
    mn_bytes = rows * element_bits // 8
    k_groups = max(k_bytes * 8 // element_bits // 8, 1)
    if not span:
        cores = max(mn_bytes // 16, 1)
        return _merged((desc.start + i * desc.sbo + k * desc.lbo, 128) for i in range(cores) for k in range(k_groups))
    start = desc.start & ~(span - 1)
    atoms = -(-mn_bytes // span)
    if desc.atom_32b:
        # The stride between the groups of four K is not documented well enough: only the first group is certain.
        return _merged((start + i * desc.lbo, 4 * span) for i in range(atoms))
    return _merged((start + i * desc.lbo + k * desc.sbo, 8 * span) for i in range(atoms) for k in range(k_groups))


def _merged(pieces: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """(offset, size) pieces as sorted, disjoint ranges."""
    ranges: list[tuple[int, int]] = []
    for offset, size in sorted(pieces):
        if ranges and offset <= ranges[-1][1]:
            ranges[-1] = (ranges[-1][0], max(ranges[-1][1], offset + size))
        else:
            ranges.append((offset, offset + size))
    return tuple(ranges)


# Instruction descriptor

_SCALED = ("mxf8f6f4", "mxf4", "mxf4nvf4")
_FLOAT8 = {0: "e4m3", 1: "e5m2", 3: "e2m3", 4: "e3m2", 5: "e2m1"}
_OPERAND_TYPES: dict[str, dict[int, str]] = {
    "f16": {0: "f16", 1: "bf16"},
    "tf32": {2: "tf32"},
    "f8f6f4": _FLOAT8,
    "i8": {0: "u8", 1: "s8"},
    "mxf8f6f4": _FLOAT8,
    "mxf4": {1: "e2m1"},
    "mxf4nvf4": {1: "e2m1"},
}
_RESULT_TYPES = {"f16": {0: "f16", 1: "f32"}, "tf32": {1: "f32"}, "f8f6f4": {0: "f16", 1: "f32"}, "i8": {2: "s32"}}
_RESERVED_BITS = {
    "f16": (3, 6, 23, 29),
    "tf32": (3, 6, 23, 29),
    "f8f6f4": (3, 6, 23, 29),
    "i8": (6, 23, 29),
    "mxf8f6f4": (0, 1, 3, 6, 24, 25, 26, 31),
    "mxf4": (0, 1, 3, 6, 12, 15, 16, 24, 25, 26),
    "mxf4nvf4": (0, 1, 3, 6, 12, 15, 16, 24, 25, 26),
}


@dataclass(frozen=True, slots=True)
class InstructionDescriptor:
    """Instruction descriptor of tcgen05.mma (9.7.16.4.2). With cta_group 2, M and N are those of the CTA pair.

    ``a_type``, ``b_type`` and ``d_type`` are type names, or "?" for an undefined code. ``transpose`` means MN-major.
    """

    value: int
    kind: str
    m: int
    n: int
    a_type: str
    b_type: str
    d_type: str
    transpose_a: bool
    transpose_b: bool
    negate_a: bool
    negate_b: bool
    sparse: bool
    saturate: bool
    max_shift: int
    scale_a_id: int
    scale_b_id: int
    scale_ue8m0: bool
    k96: bool

    @classmethod
    def decode(cls, value: int, kind: str) -> InstructionDescriptor:
        """Decode the 32-bit value for ``.kind::<kind>``. An unknown kind is read as "f16"."""
        if kind not in _OPERAND_TYPES:
            kind = "f16"
        scaled = kind in _SCALED
        four_bit = kind in ("mxf4", "mxf4nvf4")
        types = _OPERAND_TYPES[kind]
        return cls(
            value=value,
            kind=kind,
            m=_field(value, 27, 28) << 7 if scaled else _field(value, 24, 28) << 4,
            n=_field(value, 17, 22) << 3,
            a_type=types.get(_field(value, 7, 9), "?"),
            b_type=types.get(_field(value, 10, 11 if four_bit else 12), "?"),
            d_type="f32" if scaled else _RESULT_TYPES[kind].get(_field(value, 4, 5), "?"),
            transpose_a=not four_bit and bool(_field(value, 15, 15)),
            transpose_b=not four_bit and bool(_field(value, 16, 16)),
            negate_a=bool(_field(value, 13, 13)),
            negate_b=bool(_field(value, 14, 14)),
            sparse=bool(_field(value, 2, 2)),
            saturate=kind == "i8" and bool(_field(value, 3, 3)),
            max_shift=0 if scaled else _field(value, 30, 31),
            scale_a_id=_field(value, 29, 30) if scaled else 0,
            scale_b_id=_field(value, 4, 5) if scaled else 0,
            scale_ue8m0=scaled and bool(_field(value, 23, 23)),
            k96=four_bit and bool(_field(value, 31, 31)),
        )

    def a_rows(self, cta_group: int = 1) -> int:
        """Rows of A that each CTA holds."""
        return self.m // cta_group

    def b_rows(self, cta_group: int = 1) -> int:
        """Columns of B that each CTA holds."""
        return self.n // cta_group

    @property
    def a_major(self) -> str:
        return "MN" if self.transpose_a else "K"

    @property
    def b_major(self) -> str:
        return "MN" if self.transpose_b else "K"

    def problems(
        self, cta_group: int = 1, ws: bool = False, sparse: bool = False, arch: str = "sm_100a", scale_vec: str = ""
    ) -> list[str]:
        """What the value violates, for an instruction with these modifiers (9.7.16.2.1, 9.7.16.4.2).

        ``sparse``: the instruction has ``.sp``. ``scale_vec`` is "1X", "2X", "4X", "block16", "block32" or empty.
        """
        found = []
        bits = [b for b in _RESERVED_BITS[self.kind] if self.value >> b & 1]
        if bits:
            found.append(f"reserved bit{'s' if len(bits) > 1 else ''} {', '.join(map(str, bits))} must be 0")
        for operand, name in (("A", self.a_type), ("B", self.b_type), ("D", self.d_type)):
            if name == "?":
                found.append(f"the type code of {operand} does not belong to kind::{self.kind}")
        if self.kind == "f16" and self.d_type == "f16" and "bf16" in (self.a_type, self.b_type):
            found.append("an f16 accumulator needs f16 inputs, not bf16")
        if self.sparse != sparse:
            found.append(
                "the sparsity bit is set but the instruction has no .sp"
                if self.sparse
                else "the instruction has .sp but the sparsity bit is clear"
            )
        if self.kind == "i8" and (self.negate_a or self.negate_b):
            found.append("kind::i8 cannot negate A or B")
        if self.k96 and not arch.startswith("sm_103"):
            found.append(f"K = 96 (bit 31) does not exist on {arch}")
        found += self._shape_problems(cta_group, ws)
        found += self._scale_problems(scale_vec)
        return found

    def _shape_problems(self, cta_group: int, ws: bool) -> list[str]:
        if ws and (self.kind in _SCALED or cta_group == 2):
            return [f".ws does not exist for kind::{self.kind} with cta_group::{cta_group}"]
        ms = self._legal_m(cta_group, ws)
        ns = self._legal_n(cta_group, ws)
        where = f"kind::{self.kind} with cta_group::{cta_group}" + (" and .ws" if ws else "")
        found = []
        if self.m not in ms:
            found.append(f"M = {self.m} is not legal for {where}: {', '.join(map(str, ms))}")
        if self.n not in ns:
            listing = ", ".join(map(str, ns)) if len(ns) < 4 else f"{ns[0]} to {ns[-1]} in steps of {ns[-1] - ns[-2]}"
            found.append(f"N = {self.n} is not legal for {where}: {listing}")
        elif self.transpose_b and self.kind in ("f8f6f4", "i8", "mxf8f6f4") and self.n % (16 * cta_group):
            found.append(f"N = {self.n} must be a multiple of {16 * cta_group} when 8-bit B is N-major")
        return found

    def _legal_m(self, cta_group: int, ws: bool) -> tuple[int, ...]:
        if ws:
            return (32, 64, 128)
        if cta_group == 2:
            return (256,) if self.sparse and self.kind in ("mxf8f6f4", "mxf4") else (128, 256)
        return (128,) if self.kind in _SCALED else (64, 128)

    def _legal_n(self, cta_group: int, ws: bool) -> tuple[int, ...]:
        if ws:
            return (64, 128) if self.sparse else (64, 128, 256)
        if self.kind == "i8":
            return tuple(range(32, 257, 32)) if cta_group == 2 else (8, 16, 24, *range(32, 257, 16))
        step = 8 * cta_group
        return tuple(range(step, 257, step))

    def _scale_problems(self, scale_vec: str) -> list[str]:
        if self.kind not in _SCALED:
            return []
        found = []
        if not self.scale_ue8m0 and self.kind != "mxf4nvf4":
            found.append(f"kind::{self.kind} needs ue8m0 scales (bit 23)")
        four = scale_vec in ("4X", "block16")
        if self.kind == "mxf4nvf4" and not self.scale_ue8m0 and scale_vec and not four:
            found.append("ue4m3 scales need scale_vec::4X")
        if self.kind != "mxf8f6f4":
            legal = self._legal_scale_ids(four)
            for name, ident in (("A", self.scale_a_id), ("B", self.scale_b_id)):
                if ident not in legal:
                    found.append(f"scale factor id {ident} of {name} must be {' or '.join(map(str, legal))}")
        return found

    def _legal_scale_ids(self, four: bool) -> tuple[int, ...]:
        """Bytes of a tensor-memory word at which the scale factors of 4-bit kinds may begin (9.7.16.10.7).

        ``four``: blocks of 16 elements. K = 96 takes six factors of those, or three of blocks of 32: these do not fill
        words, so that the next MMA begins within one.
        """
        if self.k96:
            return (0, 2) if four else (0, 1, 2, 3)
        return (0,) if four else (0, 2)

    def warnings(
        self,
        cta_group: int = 1,
        a_in_tmem: bool = False,
        a_desc: MatrixDescriptor | None = None,
        b_desc: MatrixDescriptor | None = None,
    ) -> list[str]:
        """Shapes and layouts that PTX's tables allow, or speak of less clearly, but CUTLASS refuses."""
        found = []
        if a_in_tmem:
            step = 32 if cta_group == 2 else 16 if self.m == 128 else 8
            if self.n % step:
                found.append(f"N = {self.n} is not a multiple of {step}, with A in tensor memory")
            if self.transpose_a:
                found.append("A in tensor memory cannot be M-major")
        if cta_group == 2 and self.kind == "f8f6f4" and self.sparse and self.n % 32:
            found.append(f"N = {self.n} is not a multiple of 32, for sparse f8f6f4 with cta_group::2")
        if cta_group == 2 and self.kind == "mxf8f6f4" and self.m == 128:
            found.append("M = 128 for mxf8f6f4 with cta_group::2")
        for name, transposed, desc in (("A", self.transpose_a, a_desc), ("B", self.transpose_b, b_desc)):
            if desc is None:
                continue
            if self.kind == "tf32" and transposed and not desc.atom_32b:
                found.append(f"MN-major tf32 {name} needs the 128-byte swizzle with 32-byte atoms")
            if desc.atom_32b and not (self.kind == "tf32" and transposed):
                found.append(f"the 128-byte swizzle with 32-byte atoms of {name} is meant for MN-major tf32")
        return found
