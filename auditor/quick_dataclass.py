"""``dataclasses.dataclass`` for classes that every run imports.

The original compiles the source of each method of each class at every start, which together took a fifth of the audit
of a small kernel. Here only ``__init__`` is made so; what compares, hashes and shows the objects is shared. That a
frozen class is not assigned to is for the type checker to see, and costs its constructor nothing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(
        cls: type | None = None, /, *, eq: bool = True, frozen: bool = False, slots: bool = False
    ) -> type | Callable[[type], type]:
        """See ``dataclasses.dataclass`` for the options."""
        if cls is None:
            return lambda own: dataclass(own, eq=eq, frozen=frozen, slots=slots)
        own = set(cls.__dict__)
        made = dataclasses.dataclass(cls, eq=False, repr=False, slots=slots)
        fields = dataclasses.fields(made)
        methods = {"__repr__": _shown([f.name for f in fields if f.repr])}
        if eq:
            values = _values([f.name for f in fields if f.compare])
            methods["__eq__"] = _equal(values)
            methods["__hash__"] = _hashed(values) if frozen else None
        for name, method in methods.items():
            if name not in own:
                setattr(made, name, method)
        return made


def _values(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    """The function that gives these attributes of an object."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda self: tuple([getattr(self, name) for name in names])


def _equal(values: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any, object], Any]:
    def equal(self: Any, other: object) -> Any:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return equal


def _hashed(values: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any], int]:
    def hashed(self: Any) -> int:
        return hash(values(self))

    return hashed


def _shown(names: list[str]) -> Callable[[Any], str]:
    @recursive_repr()
    def shown(self: Any) -> str:
        return f"{self.__class__.__qualname__}({', '.join([f'{name}={getattr(self, name)!r}' for name in names])})"

    return shown
