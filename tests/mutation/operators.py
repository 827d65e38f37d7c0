"""All operators: importing this module fills the registry."""

from tests.mutation import (
    operators_drop,
    operators_layout,
    operators_order,
    operators_parity,
    operators_threads,
    operators_values,
)
from tests.mutation.mutants import OPERATORS

FAMILIES = (operators_drop, operators_parity, operators_values, operators_threads, operators_order, operators_layout)

__all__ = ["FAMILIES", "OPERATORS"]
