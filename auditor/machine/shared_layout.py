"""Where the shared variables of a kernel lie."""

from __future__ import annotations

from auditor.machine.launch import Launch
from auditor.program import Kernel
from auditor.values import SHARED_RESERVED

SWIZZLE_PERIOD = 1024  # bytes of the largest swizzle pattern: no instruction needs a larger alignment


def shared_layout(kernel: Kernel, launch: Launch) -> tuple[dict[str, int], int]:
    """Byte offsets of the shared variables by key, and the end of shared memory: static ones first, then dynamic."""
    offsets: dict[str, int] = {}
    offset = SHARED_RESERVED
    for var in (v for v in kernel.shared if not v.dynamic):
        offset = _align(offset, var.align)
        if 16 < var.align < SWIZZLE_PERIOD and offset % (2 * var.align) == 0:
            offset += var.align  # the declared alignment is all that is promised: do not grant more by luck
        offsets[var.key] = offset
        offset += var.size
    dynamic = [v for v in kernel.shared if v.dynamic]
    if dynamic:
        offset = _align(offset, max(16, *(v.align for v in dynamic)))
        for var in dynamic:
            offsets[var.key] = offset
    return offsets, offset + launch.shared_bytes


def _align(offset: int, alignment: int) -> int:
    return -(-offset // alignment) * alignment if alignment > 1 else offset
