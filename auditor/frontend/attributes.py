"""Launch attributes of a kernel: ``__launch_bounds__``, ``__cluster_dims__``, ``__maxnreg__``, ``__grid_constant__``.

Our headers spell them as annotations, which keep their arguments as expressions.
"""

from __future__ import annotations

from typing import Any

from auditor.frontend.clang_api import CursorKind, children, evaluate
from auditor.quick_dataclass import dataclass


@dataclass(frozen=True)
class LaunchAttributes:
    """0 or None where the kernel does not say."""

    max_threads: int = 0
    min_blocks: int = 0
    cluster_dims: tuple[int, int, int] | None = None
    max_registers: int = 0


def launch_attributes(kernel: Any) -> LaunchAttributes:
    """The attributes of a kernel; those of an instantiation have its template arguments put in."""
    bounds = _arguments(kernel, "bw.launch_bounds")
    registers = _arguments(kernel, "bw.maxnreg")
    dims = [value or 1 for value in _arguments(kernel, "bw.cluster_dims")]
    cluster = None
    if dims:
        x, y, z = (*dims, 1, 1)[:3]
        cluster = (x, y, z)
    return LaunchAttributes(
        max_threads=(bounds[0] or 0) if bounds else 0,
        min_blocks=(bounds[1] or 0) if len(bounds) > 1 else 0,
        cluster_dims=cluster,
        max_registers=(registers[0] or 0) if registers else 0,
    )


def is_kernel(cursor: Any) -> bool:
    """Whether a function or function template is ``__global__``."""
    return has_attribute(cursor, CursorKind.CUDAGLOBAL_ATTR)


def has_attribute(cursor: Any, kind: Any) -> bool:
    """Whether a declaration carries an attribute of that cursor kind."""
    return any(child._kind_id == kind.value for child in children(cursor))


def is_grid_constant(parameter: Any) -> bool:
    """Whether a kernel parameter is ``__grid_constant__``."""
    return any(
        child.kind == CursorKind.ANNOTATE_ATTR and child.spelling == "bw.grid_constant" for child in children(parameter)
    )


def _arguments(cursor: Any, name: str) -> list[int | None]:
    for child in children(cursor):
        if child.kind == CursorKind.ANNOTATE_ATTR and child.spelling == name:
            return [evaluate(argument) for argument in children(child)]
    return []
