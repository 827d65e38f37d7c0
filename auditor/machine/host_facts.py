"""What host code told: launches, tensor maps, and whether results of the driver were looked at."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from auditor.machine.launch import TensorMap
from auditor.quick_dataclass import dataclass
from auditor.source import Stack


class Status(int):
    """A success code of the driver (0) that remembers whether the program looked at it.

    Every operation counts as a look: a conversion or a mask is the first half of a test.
    """

    def __init__(self, *_: object) -> None:
        self.looked = False

    def _look(self) -> int:
        self.looked = True
        return int.__int__(self)

    def __bool__(self) -> bool:
        return self._look() != 0

    def __index__(self) -> int:
        return self._look()

    def __eq__(self, other: object) -> bool:
        return self._look() == other

    def __ne__(self, other: object) -> bool:
        return self._look() != other

    def __lt__(self, other: Any) -> Any:
        return self._look() < other

    def __le__(self, other: Any) -> Any:
        return self._look() <= other

    def __gt__(self, other: Any) -> Any:
        return self._look() > other

    def __ge__(self, other: Any) -> Any:
        return self._look() >= other

    def __add__(self, other: Any) -> Any:
        return self._look() + other

    def __sub__(self, other: Any) -> Any:
        return self._look() - other

    def __and__(self, other: Any) -> Any:
        return self._look() & other

    def __or__(self, other: Any) -> Any:
        return self._look() | other

    def __xor__(self, other: Any) -> Any:
        return self._look() ^ other

    __radd__ = __add__
    __rand__ = __and__
    __ror__ = __or__
    __rxor__ = __xor__
    __hash__ = int.__hash__


class Assumed(int):
    """A number that nobody knows: chosen for a parameter of the host function that is run, by its name."""

    __slots__ = ()


@dataclass
class HostLaunch:
    """A launch as host code wrote it. Members may be ``OPAQUE``. ``kernel`` is the Python name of the kernel's entry.

    ``cluster`` is the launch attribute, None without one. ``shared_limit`` is what
    cudaFuncAttributeMaxDynamicSharedMemorySize was set to before the launch, None when it was not. ``assumed`` holds
    the parameters of the host function that had to be chosen.
    """

    kernel: str
    grid: tuple[Any, Any, Any]
    block: tuple[Any, Any, Any]
    shared_bytes: Any
    args: list[Any]
    where: Stack
    cluster: tuple[Any, Any, Any] | None = None
    shared_limit: int | None = None
    nonportable: bool = False
    programmatic: bool = False
    cooperative: bool = False
    assumed: dict[str, int] = field(default_factory=dict)


@dataclass
class HostRun:
    """What one pass over the host code collected. ``asked_sms``: it depends on the number of SMs."""

    launches: list[HostLaunch] = field(default_factory=list)
    encodes: list[TensorMap] = field(default_factory=list)
    asked_sms: bool = False
    stopped: list[str] = field(default_factory=list)

    def of(self, kernel: str) -> list[HostLaunch]:
        """The launches of one kernel, in order."""
        return [launch for launch in self.launches if launch.kernel == kernel]


@dataclass
class HostFacts:
    """The host code under the real number of SMs and, when that matters, under very few and unlimited SMs.

    A persistent kernel that is launched with a CTA for each SM sees one tile a CTA in a small problem; with few SMs it
    sees several. Unlimited SMs tell how many CTAs the problem has work for. ``varied``: with other values, by their
    variant (``scenario_values``), where parameters of host functions had to be chosen.
    """

    real: HostRun = field(default_factory=HostRun)
    few: HostRun | None = None
    unlimited: HostRun | None = None
    varied: dict[int, HostRun] = field(default_factory=dict)

    @property
    def encodes(self) -> list[TensorMap]:
        """Every tensor map that was encoded, with its place and whether the result was checked."""
        return self.real.encodes
