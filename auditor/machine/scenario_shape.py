"""The shape of a launch: grid, block, cluster and dynamic shared memory, from the host or chosen."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from auditor.machine.host_api import SHARED_LIMIT
from auditor.program import Kernel

Shape = tuple[int, int, int]

DEFAULT_THREADS = 128
MAX_THREADS = 1024
_THREADS = re.compile(
    r"(?:#\s*define|constexpr\b[^;=\n]*|const\b[^;=\n]*|enum\b[^;=\n]*)\s"
    r"(\w*(?:threads|block_?size|block_?dim|blockdim_x|cta_?size)\w*)\s*[={(]*\s*(\d+)\s*(?:\*\s*(\d+))?\s*[)};,\n]",
    re.IGNORECASE,
)


def known_shape(shape: Any) -> Shape | None:
    """A shape whose members are all known and positive."""
    if shape is None or not all(isinstance(n, int) and n > 0 for n in shape):
        return None
    x, y, z = (int(n) for n in shape)
    return x, y, z


def guess_block(kernel: Kernel, sources: Mapping[str, str]) -> Shape:
    """Threads of a CTA when no launch tells: the launch bounds, a constant that says so, or 128."""
    if kernel.max_threads:
        return kernel.max_threads, 1, 1
    found = {}
    for name, first, factor in _THREADS.findall(sources.get(kernel.loc.file, "")):
        count = int(first) * int(factor or 1)
        if 32 <= count <= MAX_THREADS and count % 32 == 0:
            found[name] = count
    return (next(iter(found.values())) if len(found) == 1 else DEFAULT_THREADS), 1, 1


def guess_grid(cluster: Shape, ctas: int = 0) -> Shape:
    """Two clusters: the last may return early, a persistent one sees several tiles. Or as many as ``ctas`` make."""
    return max(ctas // volume(cluster), 2) * cluster[0], cluster[1], cluster[2]


def shared_room(kernel: Kernel) -> int:
    """Dynamic shared memory when the launch does not tell: all that a block can have beside its static variables."""
    if not any(var.dynamic for var in kernel.shared):
        return 0
    static = sum(-(-var.size // 16) * 16 for var in kernel.shared if not var.dynamic)
    return max(SHARED_LIMIT - static, 0)


def last_cluster(grid: Shape, cluster: Shape) -> Shape:
    """blockIdx of the first CTA of the grid's last cluster."""
    x, y, z = (max(g // max(c, 1) - 1, 0) * c for g, c in zip(grid, cluster))
    return x, y, z


def volume(shape: Shape) -> int:
    """Number of elements of a shape."""
    return math.prod(shape)


def text(shape: Shape) -> str:
    """A shape for people: "4", "4 x 2" or "4 x 2 x 3"."""
    used = list(shape)
    while len(used) > 1 and used[-1] == 1:
        used.pop()
    return " x ".join(str(n) for n in used)
