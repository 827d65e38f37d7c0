"""What the user asked for, as one immutable value that every layer may read."""

from __future__ import annotations

from dataclasses import replace

from auditor.quick_dataclass import dataclass

Dim3 = tuple[int, int, int]

STDIN = "-"
"""The path that stands for standard input."""

DEFAULT_BUDGET = 20.0
"""Seconds that one kernel may take, over all its scenarios, before its audit is reported as incomplete."""


class InputError(Exception):
    """A file that cannot be audited. The message is one line, for the user, without the file's name."""


def is_python(path: str) -> bool:
    """Whether a file is one of Python, with CUDA source in strings, by its name."""
    return path.endswith(".py")


def is_utf_8(path: str) -> bool:
    """Whether a name can be told in outputs: Python reads bytes of others as lone surrogates."""
    return not any("\ud800" <= char <= "\udfff" for char in path)


@dataclass(frozen=True)
class KernelOptions:
    """What the configuration says of the kernels of one name. None and absent values leave the general ones."""

    name: str
    values: tuple[tuple[str, int | float], ...] = ()
    block: Dim3 | None = None
    grid: Dim3 | None = None
    cluster: Dim3 | None = None
    smem: int | None = None


@dataclass(frozen=True)
class AuditOptions:
    """Options of one audit.

    ``arches`` is empty when the user named none: the architecture then follows from the source. Paths are as the
    user wrote them. ``values`` are scalar kernel arguments by name; ``block``, ``grid``, ``cluster`` and ``smem``
    (bytes of dynamic shared memory) replace what the host code says, ``kernels`` all of these for single kernels.
    ``budget`` is seconds a kernel. ``levels`` replace a rule's own level. ``fixes`` asks for repairs, which cost an
    audit each. ``only`` names the kernels that are run, as findings do; all are when it is empty.
    """

    arches: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    std: str = "c++20"
    extra: tuple[str, ...] = ()
    cuda_path: str | None = None
    instantiate: tuple[str, ...] = ()
    values: tuple[tuple[str, int | float], ...] = ()
    block: Dim3 | None = None
    grid: Dim3 | None = None
    cluster: Dim3 | None = None
    smem: int | None = None
    budget: float = DEFAULT_BUDGET
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    strict: bool = False
    kernels: tuple[KernelOptions, ...] = ()
    levels: tuple[tuple[str, str], ...] = ()
    fixes: bool = False
    only: tuple[str, ...] = ()

    def for_kernel(self, name: str, display: str) -> AuditOptions:
        """The options for one kernel, known by its name ("ring") or as findings call it ("ring<128>")."""
        options = self
        for kernel in self.kernels:
            if kernel.name in (name, display):
                values = (*((n, v) for n, v in options.values if n not in dict(kernel.values)), *kernel.values)
                options = replace(
                    options,
                    values=values,
                    block=kernel.block or options.block,
                    grid=kernel.grid or options.grid,
                    cluster=kernel.cluster or options.cluster,
                    smem=options.smem if kernel.smem is None else kernel.smem,
                )
        return options

    def selects(self, code: str) -> bool:
        """Whether findings of this code are wanted. The longest matching prefix decides; a tie ignores."""
        wanted = max((len(prefix) for prefix in self.select if code.startswith(prefix)), default=-1)
        unwanted = max((len(prefix) for prefix in self.ignore if code.startswith(prefix)), default=-1)
        if unwanted >= 0 and unwanted >= wanted:
            return False
        return wanted >= 0 or not self.select
