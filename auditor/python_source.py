"""CUDA source in strings of Python files, as extensions compiled at run time have it.

Each string that holds a kernel is a source of its own. It is audited as a text whose lines have the numbers that they
have in the Python file, so that every message names the right ones. Strings that are put together at run time are
named as not analysed.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from auditor.analysis import ArchRun, KernelPlace
from auditor.config import InputError
from auditor.findings import Coverage, Finding, Related
from auditor.source import Loc

MARK = "__global__"
NOTE = "unanalysed"
_KERNEL = re.compile(r"\b__global__\b[^;{}]*\([^{}]*\{", re.S)
_LITERAL = re.compile(r"(?P<prefix>[rRuU]?)(?P<quotes>\"\"\"|'''|\"|')")
_ESCAPE = re.compile(r"\\(?:\r\n|[0-7]{1,3}|x[\da-fA-F]{2}|N\{[^}]*\}|u[\da-fA-F]{4}|U[\da-fA-F]{8}|.)", re.S)
_BUILDERS = ("format", "format_map", "join", "replace", "substitute", "safe_substitute", "render", "Template")


@dataclass(frozen=True)
class Piece:
    """One string with CUDA source. ``text`` has it on the lines of the Python file, with empty lines before.

    ``columns`` gives, for lines on which escapes shift the text, the byte column in the Python file of each byte column
    of the text.
    """

    text: str
    line: int
    columns: dict[int, list[int]] = field(default_factory=dict)


@dataclass(frozen=True)
class PythonSource:
    """The CUDA of a Python file: ``skipped`` are strings with a kernel that cannot be read, and why."""

    pieces: tuple[Piece, ...]
    skipped: tuple[tuple[int, str], ...] = ()

    @property
    def text(self) -> str:
        """All pieces in one text: what stands in no piece is left blank."""
        lines: list[str] = []
        for piece in self.pieces:
            own = piece.text.split("\n")
            lines += [""] * (len(own) - len(lines))
            for number, line in enumerate(own):
                lines[number] = lines[number] or line
        return "\n".join(lines)


def read_python(text: str) -> PythonSource:
    """The CUDA source in a Python file's strings. Raises InputError when the file is not Python."""
    if MARK not in text:
        return PythonSource(())
    text = re.sub(r"\r\n?", "\n", text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes that Python does not know: no concern of ours
            tree = ast.parse(text)
    except (SyntaxError, ValueError) as error:
        line = f"line {error.lineno}: " if isinstance(error, SyntaxError) and error.lineno else ""
        raise InputError(f"not Python source: {line}{getattr(error, 'msg', error)}") from None
    except (RecursionError, MemoryError):
        raise InputError("nested too deeply to be read as Python") from None
    lines = text.split("\n")
    pieces: list[Piece] = []
    skipped: list[tuple[int, str]] = []
    for node, why in _strings(tree):
        found = why or _piece(node, lines)
        if isinstance(found, Piece):
            pieces.append(found)
        else:
            skipped.append((node.lineno, found))
    return PythonSource(tuple(pieces), tuple(skipped))


def _strings(tree: ast.AST) -> Iterator[tuple[ast.expr, str]]:
    """(string with a kernel, why it cannot be read or nothing). Docstrings are no source."""
    built = _names_built_upon(tree)
    stack: list[tuple[ast.AST, str]] = [(tree, "")]
    while stack:
        node, why = stack.pop()
        if isinstance(node, ast.JoinedStr):
            if _KERNEL.search("".join(v.value for v in node.values if isinstance(v, ast.Constant))):  # type: ignore[misc]
                yield node, "an f-string"
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _KERNEL.search(node.value):
            yield node, why
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id in built for t in node.targets):
            why = why or "a string that is changed before it is compiled"
        stack += [(child, why or _builds(node)) for child in _without_docstring(node)][::-1]


def _without_docstring(node: ast.AST) -> list[ast.AST]:
    children = list(ast.iter_child_nodes(node))
    return [c for c in children if not (isinstance(c, ast.Expr) and isinstance(c.value, ast.Constant))]


def _builds(node: ast.AST) -> str:
    """How an expression makes one string of several, or nothing."""
    if isinstance(node, ast.BinOp):
        return "a string with values filled in" if isinstance(node.op, ast.Mod) else "strings joined at run time"
    if isinstance(node, ast.Call):
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        if name in _BUILDERS:
            return "a string with values filled in"
    return ""


def _names_built_upon(tree: ast.AST) -> set[str]:
    """Variables whose text values are filled into."""
    out: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Name):
            out.add(node.left.id)
        elif isinstance(node, ast.Call):
            function = node.func
            if (
                isinstance(function, ast.Attribute)
                and function.attr in _BUILDERS
                and isinstance(function.value, ast.Name)
            ):
                out.add(function.value.id)
            elif isinstance(function, (ast.Name, ast.Attribute)) and getattr(function, "id", "") == "Template":
                out |= {arg.id for arg in node.args if isinstance(arg, ast.Name)}
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            out.add(node.target.id)
    return out


def _piece(node: ast.expr, lines: list[str]) -> Piece | str:
    """A string literal as a source, or why it cannot be one."""
    assert isinstance(node, ast.Constant)
    end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
    first = lines[node.lineno - 1].encode()[: node.col_offset].decode("utf-8", "replace")
    last = lines[end_line - 1].encode()[:end_column].decode("utf-8", "replace")
    source = "\n".join([*lines[node.lineno - 1 : end_line - 1], last])[len(first) :]
    start = _LITERAL.match(source)
    if start is None or not source.endswith(start["quotes"]):
        return "strings joined at run time"
    body = source[start.end() : len(source) - len(start["quotes"])]
    decoded = _decoded(body, raw=start["prefix"] in ("r", "R"))
    if "".join(part for part, _ in decoded).replace("\\\n", "") != str(node.value).replace("\\\n", ""):
        return "strings joined at run time"  # several literals one behind the other
    if any("\n" in part and "\n" not in written for part, written in decoded):
        return "a string whose line ends are written as escapes"
    return _laid_out(decoded, node.lineno, first + source[: start.end()])


def _decoded(body: str, raw: bool) -> list[tuple[str, str]]:
    """(characters, how they are written) of a literal's body. Escaped line ends stay: C++ joins lines likewise."""
    if raw:
        return [(body, body)]
    out: list[tuple[str, str]] = []
    at = 0
    for match in _ESCAPE.finditer(body):
        out += [(body[at : match.start()], body[at : match.start()]), (_escape(match[0]), match[0])]
        at = match.end()
    return [(part, written) for part, written in [*out, (body[at:], body[at:])] if written]


def _escape(written: str) -> str:
    if written == "\\\n":
        return written
    if written == '\\"':
        return '"'
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return str(ast.literal_eval(f'"{written}"'))
    except (SyntaxError, ValueError):
        return written


def _laid_out(decoded: list[tuple[str, str]], line: int, before: str) -> Piece:
    """The text on its lines, and the columns that escapes have shifted."""
    parts = ["\n" * (line - 1), " " * len(before.encode())]
    columns: dict[int, list[int]] = {}
    column, now, shifted = len(before.encode()) + 1, list(range(1, len(before.encode()) + 1)), False
    for part, written in decoded:
        parts.append(part)
        if part != written:
            now += [column] * len(part.encode("utf-8", "replace"))
            column += len(written.encode("utf-8", "replace"))
            shifted = True
            continue
        for number, text in enumerate(part.split("\n")):
            if number:
                if shifted:
                    columns[line] = [*now, column]
                line, column, now, shifted = line + 1, 1, [], False
            size = len(text.encode("utf-8", "replace"))
            now += range(column, column + size)
            column += size
    if shifted:
        columns[line] = [*now, column]
    return Piece("".join(parts), line=parts[0].count("\n") + 1, columns=columns)


# ---- what an audit of the pieces says, in terms of the Python file --------------------------------------------------


def joined(arch: str, path: str, runs: list[tuple[Piece, ArchRun]], skipped: list[tuple[int, str]]) -> ArchRun:
    """The runs of a file's pieces for one architecture as one, at the places of the Python file."""
    notes = [(NOTE, f"CUDA source in Python: {why}", Loc(path, line)) for line, why in skipped]
    out = ArchRun(arch, [], Coverage(notes=notes))
    for piece, run in runs:
        place = _Places(path, piece)
        out.findings += [place.finding(finding) for finding in run.findings]
        out.coverage.kernels += run.coverage.kernels
        out.coverage.executed += run.coverage.executed
        out.coverage.notes += [(kind, message, place.loc(loc)) for kind, message, loc in run.coverage.notes]
        out.kernels += [KernelPlace(kernel.display, place.loc(kernel.loc)) for kernel in run.kernels]
    return out


class _Places:
    """Moves places of a piece to the columns of the Python file. Fixes of the piece are none of the file's."""

    def __init__(self, path: str, piece: Piece) -> None:
        self._path = path
        self._columns = piece.columns

    def loc(self, loc: Loc) -> Loc:
        if loc.file != self._path or not self._columns:
            return loc
        end = self._column(loc.end_line, loc.end_column)
        return replace(loc, column=self._column(loc.line, loc.column), end_column=end)

    def _column(self, line: int, column: int) -> int:
        columns = self._columns.get(line)
        return columns[min(column, len(columns)) - 1] if columns and column else column

    def finding(self, finding: Finding) -> Finding:
        return replace(
            finding,
            loc=self.loc(finding.loc),
            related=tuple(Related(self.loc(place.loc), place.message) for place in finding.related),
            flow=tuple(Related(self.loc(place.loc), place.message) for place in finding.flow),
            candidates=(),
        )
