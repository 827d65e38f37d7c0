"""How a kernel is launched: shape, arguments and tensor maps, from host code or chosen."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from auditor.machine.boxes import Boxes
from auditor.quick_dataclass import dataclass

# Element bits by CUtensorMapDataType (CUDA Driver API, cuTensorMapEncodeTiled).
ELEMENT_BITS = {
    0: 8,
    1: 16,
    2: 32,
    3: 32,
    4: 64,
    5: 64,
    6: 16,
    7: 32,
    8: 64,
    9: 16,
    10: 32,
    11: 32,
    12: 32,
    13: 4,
    14: 8,
    15: 8,
}
# Bytes of the swizzle span by CUtensorMapSwizzle; 0 is no swizzle. Codes 4 to 6 are 128B with another atom.
SWIZZLE_SPAN = {0: 0, 1: 32, 2: 64, 3: 128, 4: 128, 5: 128, 6: 128}


@dataclass(frozen=True)
class TensorMap:
    """What ``cuTensorMapEncodeTiled`` was given. Dimensions and box are elements, innermost first; strides are bytes.

    With ``im2col`` the box is channels by pixels, and element strides do not make it smaller. Members that are not
    known are ``OPAQUE``. ``checked``: the CUresult of the call was looked at.
    """

    name: str
    data_type: int
    rank: int
    address: Any
    dims: tuple[Any, ...]
    strides: tuple[Any, ...]
    box: tuple[Any, ...]
    element_strides: tuple[Any, ...]
    interleave: Any
    swizzle: Any
    where: Any = None
    checked: bool = True
    oob_fill: Any = 0
    im2col: bool = False

    @property
    def element_bits(self) -> int:
        return ELEMENT_BITS.get(self.data_type, 0) if isinstance(self.data_type, int) else 0

    @property
    def row_bytes(self) -> int | None:
        """Bytes of the innermost side of the box: the distance of its rows in shared memory."""
        bits, inner = self.element_bits, self.box[0] if self.box else None
        step = 1 if self.im2col else self.element_strides[0] if self.element_strides else None
        if not bits or not isinstance(inner, int) or not isinstance(step, int):
            return None
        return -(-inner // max(step, 1)) * bits // 8

    @property
    def box_bytes(self) -> int | None:
        """Bytes that one copy delivers: the full box, also where it lies outside the tensor (rulebook TL-19)."""
        bits = self.element_bits
        if not bits or len(self.box) < self.rank:
            return None
        steps = (1,) * self.rank if self.im2col else self.element_strides
        for n, step in zip(self.box, steps):
            if not isinstance(n, int) or not isinstance(step, int):
                return None
            bits *= -(-n // max(step, 1))
        return bits // 8


@dataclass
class Launch:
    """One launch of one kernel. ``args`` are values by parameter; class objects are lists of scalar leaves.

    ``cluster`` is in CTAs, ``shared_bytes`` the dynamic shared memory. ``origin`` says where it came from.
    ``shared_limit_set`` is the limit that cudaFuncSetAttribute gave the kernel before the launch, ``cluster_attribute``
    the cluster of the launch itself, ``nonportable`` whether clusters above 8 CTAs were allowed.

    ``chosen`` names the inputs that were not read from the source: "block", "grid", "cluster", "shared" or a
    parameter's path. ``reduced``: a smaller stand-in for another launch, to run only when that one exceeds its budget.
    ``replaceable``: a chosen problem that a smaller one stands in for when it is too long. ``extra``: a launch that
    adds to the first one and is worth its time only after a short one; it takes about so many times as long.
    ``deep``: a launch that adds to the extra one before it, when loops that wait made too few rounds there.
    ``larger``: a chosen problem of a size that every kernel is made for, run when a smaller one hangs.
    ``ragged``: one with a size that is no multiple of tiles, which counts where the kernel is seen to deal with that.
    ``alone``: a launch without the cluster that was chosen for the others, which take its place when they go wrong.
    ``fallback``: the smallest chosen problem, which need not end where another has ended. ``boxes``: what its runs find
    out.
    """

    kernel: str
    grid: tuple[int, int, int] = (1, 1, 1)
    block: tuple[int, int, int] = (128, 1, 1)
    cluster: tuple[int, int, int] = (1, 1, 1)
    shared_bytes: int = 0
    args: list[Any] = field(default_factory=list)
    origin: str = "chosen"
    shared_limit_set: int | None = None
    where: Any = None
    block_index: tuple[int, int, int] = (0, 0, 0)
    inputs: dict[str, str] = field(default_factory=dict)
    programmatic: bool = False
    cluster_attribute: tuple[int, int, int] | None = None
    nonportable: bool = False
    cooperative: bool = False
    chosen: tuple[str, ...] = ()
    reduced: bool = False
    replaceable: bool = False
    extra: int = 0
    deep: bool = False
    larger: bool = False
    ragged: bool = False
    alone: bool = False
    fallback: bool = False
    boxes: Boxes = field(default_factory=Boxes, compare=False, repr=False)

    @property
    def once_more(self) -> bool:
        """Whether this is the smallest problem with all the time there is, for when no other one ends."""
        return self.fallback and not self.replaceable

    @property
    def threads(self) -> int:
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def cluster_size(self) -> int:
        return self.cluster[0] * self.cluster[1] * self.cluster[2]
