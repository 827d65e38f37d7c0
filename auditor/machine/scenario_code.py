"""What the code of a kernel itself tells about how it must be launched."""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Iterator, Sequence
from functools import lru_cache
from textwrap import dedent

from auditor.program import Kernel, Program
from auditor.ptx.grammar import Instr

_DEFINITION = re.compile(r"^def (\w+)\(", re.MULTILINE)
_CALL = re.compile(r"\b([A-Za-z_]\w*)\(")
_ASM = re.compile(r"\bS\.(?:wait_)?asm\((\d+)")
_COMPARED = re.compile(r"\b[A-Za-z_]\w* (?:<|!=) (?=([A-Za-z_]\w*))")  # a name with another one


def reached(program: Program, entry: str) -> list[str]:
    """The generated text of a kernel and of all functions that it calls."""
    return list(_reached(program.python, entry).values())


@lru_cache(maxsize=8)
def _reached(python: str, entry: str) -> dict[str, str]:
    """The same by name, in the order of the names."""
    starts = list(_DEFINITION.finditer(python))
    bodies = {}
    for here, after in zip(starts, [*starts[1:], None]):
        bodies[here[1]] = python[here.end() : after.start() if after is not None else None]
    seen: set[str] = set()
    work = [entry]
    while work:
        name = work.pop()
        if name not in seen and name in bodies:
            seen.add(name)
            work += _CALL.findall(bodies[name])
    return {name: bodies[name] for name in sorted(seen)}


def instructions(program: Program, entry: str) -> list[Instr]:
    """The PTX instructions of all asm statements that a kernel contains, in its callees too."""
    numbers = {int(n) for body in reached(program, entry) for n in _ASM.findall(body)}
    return [i for n in sorted(numbers) for i in program.asm[n].instrs]


def strides_over_grid(program: Program, entry: str) -> bool:
    """Whether a kernel is a persistent one, that goes from tile to tile: it asks how large its grid is, or a loop
    draws the next tile from a counter of the grid."""
    return (
        any("S.gdim" in body for body in reached(program, entry))
        or any("nctaid" in i.text for i in instructions(program, entry))
        or _draws(program, entry)
    )


def _draws(program: Program, entry: str) -> bool:
    """Whether a loop adds to a counter which may be in global memory, and gets what it was."""
    adding = {n for n, asm in enumerate(program.asm) if any(_is_draw(i) for i in asm.instrs)}
    if not adding:
        return False
    functions = _functions(program.python)
    draw: dict[str, bool] = {}

    def draws(name: str) -> bool:
        if name not in draw:
            draw[name] = False  # recursion adds nothing
            draw[name] = calls(functions[name])
        return draw[name]

    def calls(lines: Sequence[str]) -> bool:
        """Whether a piece of generated code contains one of these asm statements, or calls a function that does."""
        if any(int(number) in adding for line in lines for number in _ASM.findall(line)):
            return True
        return any(draws(name) for line in lines for name in _CALL.findall(line) if name in functions)

    return any(calls(loop) for name in _reached(program.python, entry) for loop in _loops(functions[name]))


def _is_draw(i: Instr) -> bool:
    elsewhere = i.mod_in(("shared", "shared::cta", "shared::cluster"))
    return i.opcode == "atom" and i.mod_in(("add", "inc")) is not None and elsewhere is None


def wants_cluster(program: Program, entry: str) -> bool:
    """Whether a kernel addresses a peer CTA, so that it cannot be meant for clusters of one CTA."""
    return any(
        i.opcode in ("mapa", "barrier.cluster")
        or i.has("cta_group::2")
        or i.has("multicast::cluster")
        or (i.opcode == "cp.async.bulk" and i.has("shared::cluster", "shared::cta"))
        for i in instructions(program, entry)
    )


def counted_parameters(program: Program, kernel: Kernel) -> frozenset[str]:
    """Parameters that are the number of rounds of a loop that blocks: ``for (i = 0; i < n; ++i)`` around a wait.

    They count tiles or the like, even when their name is that of a size in elements.
    """
    numbers = _counted(program.python, kernel.entry)
    return frozenset(kernel.params[n].name for n in numbers if n < len(kernel.params))


@lru_cache(maxsize=16)
def _counted(python: str, entry: str) -> frozenset[int]:
    functions = _functions(python)
    return frozenset(_counting(functions, entry, {})) if entry in functions else frozenset()


@lru_cache(maxsize=4)
def _functions(python: str) -> dict[str, list[str]]:
    """The lines of each generated function. To parse the whole module would cost as much as to translate the source."""
    starts = list(_DEFINITION.finditer(python))
    ends = [*(start.start() for start in starts[1:]), len(python)]
    return {start[1]: python[start.start() : end].splitlines() for start, end in zip(starts, ends)}


def _loops(lines: Sequence[str]) -> Iterator[list[str]]:
    """The ``while`` loops among lines of generated code."""
    for start, line in enumerate(lines):
        if line.lstrip().startswith("while "):
            yield [line, *_suite(lines, start)]


def _suite(lines: Sequence[str], start: int) -> list[str]:
    """The lines below a line."""
    depth = _depth(lines[start])
    end = next((n for n in range(start + 1, len(lines)) if _depth(lines[n]) <= depth), len(lines))
    return list(lines[start + 1 : end])


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _counting(functions: dict[str, list[str]], name: str, known: dict[str, set[int]]) -> set[int]:
    """Positions of the parameters of a generated function that bound its blocking loops, or those of its callees.

    ``known`` holds the functions that were looked at; one that is still being looked at (recursion) adds nothing.
    """
    if name in known:
        return known[name]
    known[name] = set()
    lines = functions[name]
    names = lines[0].partition("(")[2].rstrip("): ").split(", ")[1:]
    found: set[int] = set()
    for loop in _loops(lines):
        found |= {names.index(p) for p in _bounds(loop, names)}
    for line in lines[1:]:
        for callee in dict.fromkeys(_CALL.findall(line)):
            inner = _counting(functions, callee, known) if callee in functions else None
            if inner:
                found |= {names.index(p) for k, p in _handed(line, callee) if k in inner and p in names}
    known[name] = found
    return found


def _handed(line: str, callee: str) -> Iterator[tuple[int, str]]:
    """The names that are arguments of calls of a function, with their positions."""
    text = line.strip().removeprefix("el" if line.lstrip().startswith("elif ") else "")
    for node in ast.walk(ast.parse(f"{text} pass" if text.endswith(":") else text)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == callee:
            yield from ((k, a.id) for k, a in enumerate(node.args[1:]) if isinstance(a, ast.Name))


def _bounds(lines: Sequence[str], names: Container[str]) -> set[str]:
    """Those of ``names`` that a variable stepped by one is compared with in the condition of a loop that blocks."""
    if not any(name in names for line in _first(lines) for name in _COMPARED.findall(line)):
        return set()
    loop = ast.parse(dedent("\n".join(lines))).body[0]
    return _bounds_of(loop, names) if isinstance(loop, ast.While) else set()


def _first(lines: Sequence[str]) -> list[str]:
    """The first statement of a loop, with what it holds."""
    depth = _depth(lines[1])
    over = (n for n in range(2, len(lines)) if _depth(lines[n]) <= depth and not _continues(lines[n]))
    end = next(over, len(lines))
    return list(lines[1:end])


def _continues(line: str) -> bool:
    return line.lstrip().startswith(("elif ", "else:"))


def _bounds_of(loop: ast.While, names: Container[str]) -> set[str]:
    compared = [
        (n.left.id, n.comparators[0].id)
        for n in ast.walk(loop.body[0])
        if isinstance(n, ast.Compare)
        and isinstance(n.ops[0], (ast.Lt, ast.NotEq))
        and isinstance(n.left, ast.Name)
        and isinstance(n.comparators[0], ast.Name)
        and n.comparators[0].id in names
    ]
    if not compared:
        return set()
    inside = list(ast.walk(loop))
    if not any(isinstance(n, (ast.YieldFrom, ast.Yield)) for n in inside):
        return set()
    counters = {counter for counter, _ in compared}
    stepped = {
        n.targets[0].id
        for n in inside
        if isinstance(n, ast.Assign)
        and isinstance(n.targets[0], ast.Name)
        and n.targets[0].id in counters
        and _is_step(n.targets[0].id, n.value)
    }
    return {bound for counter, bound in compared if counter in stepped}


def _is_step(name: str, value: ast.expr) -> bool:
    """``name + 1``, perhaps brought back into the range of its type."""
    return any(
        isinstance(n, ast.BinOp)
        and isinstance(n.op, ast.Add)
        and isinstance(n.left, ast.Name)
        and n.left.id == name
        and isinstance(n.right, ast.Constant)
        and n.right.value == 1
        for n in ast.walk(value)
    )
