"""Arguments of a kernel: values from the host where it knows them, chosen ones elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any

from auditor.machine.host_facts import Assumed
from auditor.machine.launch import TensorMap
from auditor.machine.scenario_values import by_name, is_address, reduced
from auditor.program import Kernel, Layout, Param, ScalarType
from auditor.quick_dataclass import dataclass
from auditor.values import GLOBAL_STRIDE, GLOBAL_WINDOW, OPAQUE

FIRST_ALLOCATION = 500  # chosen pointers do not collide with the allocations of host code
_MAX_ITEMS = 64  # elements of an array member that get values


@dataclass
class Arguments:
    """Fills in one set of arguments. ``inputs`` and ``chosen`` tell what was used.

    ``shrink`` makes large values of the host small; ``changed`` tells that it did. ``counted`` are parameters that
    bound loops of waits one by one, whatever their names suggest.
    """

    kernel: Kernel
    variant: int
    values: Mapping[str, int]
    shrink: bool = False
    counted: frozenset[str] = frozenset()
    inputs: dict[str, str] = field(default_factory=dict)
    chosen: list[str] = field(default_factory=list)
    changed: bool = False
    _allocations: int = 0
    _siblings: frozenset[str] = frozenset()

    def fill(self, given: list[Any] | None) -> list[Any]:
        """One value a parameter, starting from what the host gave (None: no launch)."""
        self._siblings = frozenset(p.name for p in self.kernel.params if p.kind == "int")
        out = []
        for n, param in enumerate(self.kernel.params):
            value = given[n] if given is not None and n < len(given) else OPAQUE
            out.append(self._param(param, value))
        return out

    def _param(self, param: Param, value: Any) -> Any:
        if param.kind == "object":
            if param.is_tensor_map and param.layout is None:
                return self._tensor_map(param.name, value)
            return self._object(param.name, param.layout, value)
        bits = max(param.size, 1) * 8
        scalar = ScalarType(param.kind, bits, param.signed)
        return self._scalar(param.name, scalar, param.type_name.removeprefix("const ") == "bool", value)

    def _object(self, path: str, layout: Layout | None, value: Any) -> Any:
        if layout is None:
            return value
        if layout.scalar is not None:
            return self._scalar(path, layout.scalar, layout.name.removeprefix("const ") == "bool", value)
        if layout.name.removeprefix("const ").split("::")[-1] in ("CUtensorMap", "CUtensorMap_st"):
            return self._tensor_map(path, value)
        items = value if isinstance(value, list) else None
        if layout.element is not None:
            count = min(layout.count, _MAX_ITEMS)
            return [self._object(f"{path}[{i}]", layout.element, _item(items, i)) for i in range(count)]
        out = []
        for i, (name, offset, sub) in enumerate(layout.fields):
            if isinstance(value, int) and sub.size:  # a union or bit-field class: one integer
                part: Any = value >> 8 * offset & ((1 << 8 * sub.size) - 1)
            else:
                part = _item(items, i)
            out.append(self._object(f"{path}.{name}" if name else path, sub, part))
        return out or value

    def _tensor_map(self, path: str, value: Any) -> Any:
        while isinstance(value, list) and len(value) == 1:
            value = value[0]
        if not isinstance(value, TensorMap):
            self.chosen.append(path)
            return [OPAQUE]
        return [replace(value, name=path)]  # what the kernel calls it says more than a local variable of the host

    def _scalar(self, path: str, scalar: ScalarType, boolean: bool, value: Any) -> Any:
        if scalar.kind == "pointer":
            wanted = self.values.get(path)
            if wanted is not None:
                return wanted
            return value if isinstance(value, int) and (value == 0 or value >= GLOBAL_WINDOW) else self._allocate()
        if scalar.kind == "float":
            return value if isinstance(value, float) else 1.0
        if path in self.values:
            value = self.values[path]
            self.inputs[path] = f"{value} (given)"
            return value
        if isinstance(value, int) and not (isinstance(value, Assumed) and path in self.counted):
            return self._known(path, int(value))
        name = path.rsplit(".", 1)[-1].split("[")[0]
        if scalar.bits == 64 and is_address(name):
            return self._allocate()
        if boolean:
            value = 0 if self.variant == 1 else 1
        else:
            value = by_name(name, self.variant, self._siblings - {name}, counted=path in self.counted)
            value = min(value, (1 << (scalar.bits - scalar.signed)) - 1)
        self.inputs[path] = f"{value} (chosen)"
        self.chosen.append(path)
        return value

    def _known(self, path: str, value: int) -> int:
        if self.shrink:
            small = reduced(path.rsplit(".", 1)[-1], value)
            if small != value:
                self.changed = True
                self.inputs[path] = f"{small} (reduced from {value})"
                return small
        self.inputs[path] = str(value)
        return value

    def _allocate(self) -> int:
        self._allocations += 1
        return GLOBAL_WINDOW + (FIRST_ALLOCATION + self._allocations) * GLOBAL_STRIDE


def _item(items: list[Any] | None, n: int) -> Any:
    return items[n] if items is not None and n < len(items) else OPAQUE
