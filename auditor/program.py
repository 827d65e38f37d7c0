"""What the frontend hands to the machine: kernels as executable protocol, with no clang object left in it.

Device and host functions are translated to Python source (one function each, see ``docs/internals.md``); the machine
executes it with a ``Strand`` (device) or a ``HostEnv`` (host) as the first argument. Asm statements are parsed once
and referred to by index.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import field
from functools import cached_property
from types import CodeType
from typing import TYPE_CHECKING, Any

from auditor.quick_dataclass import dataclass
from auditor.source import UNKNOWN, Loc
from auditor.wrappers import wrapper_places

if TYPE_CHECKING:
    from auditor.ptx.grammar import AsmBlock

ELSEWHERE = "elsewhere "  # before the name of a called function that another file defines, and that may synchronise


@dataclass(frozen=True)
class ScalarType:
    """A scalar as memory holds it. ``bits`` is 8, 16, 32, 64 or 128; ``kind`` is "int", "float" or "pointer"."""

    kind: str
    bits: int
    signed: bool = False


@dataclass(frozen=True)
class Layout:
    """Type of a memory object: a scalar, an array (``count`` elements of ``element``) or a class with ``fields``.

    ``size`` and ``align`` are bytes. ``fields`` holds (name, byte offset, layout).
    """

    name: str
    size: int
    align: int
    scalar: ScalarType | None = None
    element: Layout | None = None
    count: int = 0
    fields: tuple[tuple[str, int, Layout], ...] = ()

    def path(self, offset: int) -> str:
        """The C++ path of the sub-object at a byte offset, such as ``.full[2]``; empty at a scalar."""
        if self.element is not None and self.element.size:
            index, rest = divmod(offset, self.element.size)
            return f"[{index}]" + self.element.path(rest)
        for name, start, layout in self.fields:
            if start <= offset < start + max(layout.size, 1):
                return (f".{name}" if name else "") + layout.path(offset - start)
        return f"+{offset}" if offset else ""


@dataclass(frozen=True)
class SharedVar:
    """A ``__shared__`` variable. ``size`` is 0 bytes for ``extern __shared__``, whose size the launch gives."""

    key: str
    name: str
    size: int
    align: int
    dynamic: bool
    layout: Layout | None
    loc: Loc


@dataclass(frozen=True)
class Param:
    """A kernel parameter. Class objects (``kind == "object"``) reach the kernel as an address in parameter space.

    ``to_data``: a pointer to floating-point numbers or half words, on which no protocol depends.
    """

    name: str
    kind: str  # "int", "float", "pointer" or "object"
    type_name: str
    size: int
    signed: bool = False
    grid_constant: bool = False
    is_tensor_map: bool = False
    layout: Layout | None = None
    loc: Loc = UNKNOWN
    to_data: bool = False


@dataclass(frozen=True)
class Kernel:
    """One kernel instantiation. ``entry`` is the Python name of its translated function."""

    name: str  # "ring_gemm"
    display: str  # "ring_gemm<128, 4>"
    entry: str
    params: tuple[Param, ...]
    shared: tuple[SharedVar, ...]
    loc: Loc
    body_end: Loc = UNKNOWN
    max_threads: int = 0  # __launch_bounds__ first argument, 0 when absent
    min_blocks: int = 0  # second argument
    max_registers: int = 0  # __maxnreg__
    cluster_dims: tuple[int, int, int] | None = None
    instantiation: str = ""  # how its template arguments were chosen, when not by a launch
    empty: bool = False  # nothing to audit: no body for this architecture

    @property
    def body(self) -> Loc:
        """From its name to the end of its body."""
        return Loc(self.loc.file, self.loc.line, self.loc.column, self.body_end.line, self.body_end.column + 1)


@dataclass(frozen=True)
class Note:
    """Something the frontend could not analyse, or chose. ``kind`` groups notes in the coverage report."""

    kind: str
    message: str
    loc: Loc = UNKNOWN


@dataclass
class Program:
    """A translated source file.

    ``python`` is the generated module source; ``line_locs[n]`` is the C++ place of its line n (index 0 unused), or
    None. ``asm`` and ``asm_locs`` are indexed by the number that generated code passes to ``S.asm``, as is
    ``asm_clobbers``, which tells the statements that name "memory" as clobbered. ``host_entries`` are the Python names
    of host functions to run for launches, best first.
    """

    path: str
    arch: str
    kernels: tuple[Kernel, ...]
    python: str
    line_locs: list[Loc | None]
    asm: list[AsmBlock]
    asm_locs: list[Loc]
    host_entries: tuple[str, ...] = ()
    notes: list[Note] = field(default_factory=list)
    global_vars: dict[str, tuple[str, int]] = field(default_factory=dict)  # key -> (name, bytes)
    sources: dict[str, str] = field(default_factory=dict)  # user files read, for snippets
    asm_clobbers: list[bool] = field(default_factory=list)
    system: tuple[str, ...] = ()  # folders of headers that are not the user's
    places: Any = None  # what the machine knows of the places in the generated code, see machine.frames
    _namespace: dict[str, Any] | None = None
    _code: CodeType | None = None

    FILENAME = "<bw-audit program>"

    def is_system(self, loc: Loc) -> bool:
        """Whether a place lies in a header that is not the user's."""
        return loc.file.startswith(self.system)

    @cached_property
    def wrappers(self) -> frozenset[Loc]:
        """The places inside device functions that only wrap a few instructions."""
        return wrapper_places(self)

    def function(self, name: str) -> Callable[..., Any]:
        """The translated function of that Python name; compiles the module on first use."""
        if self._namespace is None:
            from auditor import values

            with warnings.catch_warnings():  # odd C++ makes odd Python, which is nobody's concern
                warnings.simplefilter("ignore", SyntaxWarning)
                self._code = compile(self.python, self.FILENAME, "exec")
            namespace: dict[str, Any] = {k: getattr(values, k) for k in dir(values) if not k.startswith("_")}
            exec(self._code, namespace)  # our own generated source, never the user's text
            self._namespace = namespace
        return self._namespace[name]  # type: ignore[no-any-return]
