"""Variables that the first attempt at a function takes for changing, before it has met their assignments.

An attempt that takes a variable for a constant and finds it assigned later is for nothing. So the first one takes none
for a constant that any statement assigns, and gives a cell to each scalar whose address any statement takes. That may
be wrong: the only such statement may stand in a branch that is never taken as long as the variable is what it was, and
has code of its own for that. Hence each one that is met counts only with those assumptions confirmed on which it
depended whether it is met at all. Where an assumption remains unconfirmed, the attempts begin anew with what is
certain.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from auditor.frontend.lower.forms import Val
from auditor.frontend.lower.nodes import (
    ADDRESS,
    BINARY,
    DECL_REF,
    POST_DEC,
    POST_INC,
    PRE_DEC,
    PRE_INC,
    UNARY,
    Ast,
    Node,
)
from auditor.quick_dataclass import dataclass

_STEPS = frozenset((POST_INC, POST_DEC, PRE_INC, PRE_DEC))
_NO_CONDITION = nullcontext()


@dataclass(frozen=True)
class Suspects:
    """The declarations, by key, of variables that some statement of a function assigns, or takes the address of."""

    assigned: frozenset[int] = frozenset()
    addressed: frozenset[int] = frozenset()


NONE = Suspects()


def suspects(ast: Ast, tree: Node) -> Suspects:
    assigned, addressed = set(), set()
    for operation, operand in tree.tree.operands:
        if operation.kind == BINARY and (ast.binary(operation) != "=" or operand is not operation.kids[0]):
            continue
        operator = ast.unary(operation) if operation.kind == UNARY else None
        target = ast.reference(operand)
        if target is not None and operator == ADDRESS:
            addressed.add(ast.decl_key(target))
        elif target is not None and (operator is None or operator in _STEPS):
            assigned.add(ast.decl_key(target))
    return Suspects(frozenset(assigned), frozenset(addressed))


class Forecast:
    """What one attempt assumes. ``assumed``: the values that variables begin with, which it does not count on; of those
    with a cell by their keys with a minus."""

    def __init__(self, ast: Ast, of: Suspects = NONE) -> None:
        self.ast = ast
        self.assumed: dict[int, Val] = {}
        self._suspects = of
        self._cells: dict[str, int] = {}  # by their names in the code
        self._begins: dict[int, Node] = {}
        self._grounds: dict[int, frozenset[int]] = {}
        self._met: list[tuple[int, frozenset[int]]] = []
        self._conditions: frozenset[int] = frozenset()  # assumed variables that decide whether a statement is met

    def declared(self, key: int, init: Node, value: Val | None = None) -> bool:
        """Note how a variable begins. Whether its value is not to be counted on, although it is known."""
        if self._suspects is NONE:
            return False
        self._begins[key] = init
        if value is None or key not in self._suspects.assigned:
            return False
        if not value.plain and value.lo is None and value.hi is None:
            return False
        self.assumed[key] = value
        return True

    def cell(self, key: int, name: str, value: Val) -> bool:
        """Whether a scalar is to live in a cell, because its address is taken."""
        if key not in self._suspects.addressed:
            return False
        self._cells[name] = key
        self.assumed[-key] = value
        return True

    def under(self, *conditions: Node) -> AbstractContextManager[None]:
        """What is lowered meanwhile is met only because nothing was known of these expressions."""
        return self._under(conditions) if self.assumed else _NO_CONDITION

    @contextmanager
    def _under(self, conditions: tuple[Node, ...]) -> Iterator[None]:
        outer = self._conditions
        self._conditions = outer.union(*[self._decided_by(node) for node in conditions])
        yield
        self._conditions = outer

    def assigned(self, key: int) -> None:
        if key in self.assumed:
            self._met.append((key, self._conditions))

    def addressed(self, cell: str) -> None:
        if cell in self._cells:
            self._met.append((-self._cells[cell], self._conditions))

    def confirmed(self) -> set[int]:
        """The assumptions that are certain to hold, by the keys of ``assumed``."""
        certain: set[int] = set()
        left = self._met
        while True:
            certain |= {key for key, conditions in left if conditions <= certain}
            following = [(key, conditions) for key, conditions in left if key not in certain]
            if len(following) == len(left):
                return certain
            left = following

    def _decided_by(self, node: Node) -> frozenset[int]:
        """The assumed variables on which the value of an expression depends, as far as it may be constant."""
        found: set[int] = set()
        for item in node.walk():
            target = self.ast.reference(item) if item.kind == DECL_REF else None
            if target is not None:
                key = self.ast.decl_key(target)
                if key in self.assumed or -key in self.assumed:
                    found.add(key if key in self.assumed else -key)
                elif key in self._begins:
                    found |= self._ground(key)
        return frozenset(found)

    def _ground(self, key: int) -> frozenset[int]:
        known = self._grounds.get(key)
        if known is None:
            self._grounds[key] = frozenset()  # of a variable that begins with itself
            known = self._grounds[key] = self._decided_by(self._begins[key])
        return known


