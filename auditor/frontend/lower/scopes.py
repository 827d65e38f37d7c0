"""Scopes: what runs when control leaves a block, a loop or the function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field

from auditor.frontend.lower.core import is_simple
from auditor.frontend.lower.declarations import Declarations
from auditor.frontend.lower.forms import Val, settled
from auditor.frontend.lower.nodes import (
    BREAK,
    COMPOUND,
    CONTINUE,
    RETURN,
    Node,
)  # fmt: skip
from auditor.quick_dataclass import dataclass


@dataclass
class Frame:
    """An enclosing construct: what to run on leaving it, and how ``break`` and ``continue`` leave it."""

    kind: str  # "block", "loop", "switch" or "function"
    cleanups: list[Callable[[], None]] = field(default_factory=list)
    on_continue: Callable[[], None] | None = None
    flag: str = ""  # of a switch: set when a ``continue`` inside it concerns the loop outside


class Scopes(Declarations):
    """Blocks and the statements that leave them."""

    frames: list[Frame]

    def _compound_statement(self, node: Node) -> None:
        frame = Frame("block")
        self.frames.append(frame)
        for kid in node.kids:
            self.statement(kid)
        self.frames.pop()
        if node.kids and node.kids[-1].kind not in (RETURN, BREAK, CONTINUE):
            self._clean(frame)

    def _clean(self, frame: Frame) -> None:
        for cleanup in reversed(frame.cleanups):
            cleanup()

    def body(self, node: Node) -> None:
        """A statement as the suite of a control structure."""
        with self.out.block():
            if node.kind == COMPOUND:
                self._compound_statement(node)
            else:
                frame = Frame("block")
                self.frames.append(frame)
                self.statement(node)
                self.frames.pop()
                self._clean(frame)

    def _leave(self, how: str) -> None:
        """``break`` or ``continue``."""
        for frame in reversed(self.frames):
            self._clean(frame)
            if frame.kind == "switch":
                if how == "break":
                    self.line("break")
                    return
                frame.flag = frame.flag or self.temp()
                self.line(f"{frame.flag} = True")
                self.line("break")
                return
            if frame.kind == "loop":
                if how == "continue" and frame.on_continue is not None:
                    frame.on_continue()
                    return
                self.line(how)
                return
        self.line("pass")

    def _return(self, node: Node) -> None:
        values = node.expressions
        code = ""
        if values:
            code = self.return_value(values[0])
            pending = any(frame.cleanups for frame in self.frames)
            if code and pending and not is_simple(code):
                name = self.temp()
                self.line(f"{name} = {code}", node)
                code = name
        for frame in reversed(self.frames):
            self._clean(frame)
        self.line(f"return {code}" if code else "return None", node)

    def condition(self, node: Node) -> Val:
        return settled(self.rvalue(node))
