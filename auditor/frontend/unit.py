"""What a parse yields. Its clang objects stay inside the frontend."""

from __future__ import annotations

import re
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from auditor.frontend.headers_store import is_shim
from auditor.frontend.options import Options
from auditor.program import Note
from auditor.quick_dataclass import dataclass
from auditor.source import UNKNOWN, Loc

if TYPE_CHECKING:
    from auditor.frontend.discover import Discovery

# How clang's complaints about the grammar begin, as opposed to those about names and types.
_SYNTAX = re.compile(r"expected |extraneous |bracket nesting |unterminated |missing terminating |function definition ")


class ParseFailure(Exception):  # noqa: N818 - says what happened to the file; nothing is wrong in here
    """The file cannot be parsed at all: missing, unreadable or not text."""


@dataclass(frozen=True)
class Diagnostic:
    """A clang message. ``severity`` is clang's: 2 warning, 3 error, 4 fatal; ``notes`` are the places of its notes."""

    severity: int
    message: str
    loc: Loc
    notes: tuple[Loc, ...] = ()


@dataclass
class ParsedUnit:
    """A parsed source file.

    ``injected_lines`` follow the last line of ``text`` in the file that clang saw; ``injected_origins`` says of each
    variable that they define why its kernel instantiation was chosen. ``corrected`` holds the texts of files that clang
    was given in other words than they have on disk. ``discovery`` is kept by ``discover``.
    """

    path: str
    text: str
    tu: Any
    options: Options
    notes: list[Note] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    injected_lines: tuple[str, ...] = ()
    injected_origins: dict[str, str] = field(default_factory=dict)
    corrected: dict[str, str] = field(default_factory=dict)
    discovery: Discovery | None = None

    @property
    def errors(self) -> list[Diagnostic]:
        """The diagnostics that would stop a compiler."""
        return [item for item in self.diagnostics if item.severity >= 3]

    @property
    def syntax_error(self) -> str:
        """The first error in the grammar of the file itself, in words; empty when there is none."""
        for item in self.errors:
            if item.loc.file == self.path and _SYNTAX.match(item.message):
                return f"syntax error in line {item.loc.line}: {item.message}"
        return ""


def location(cursor: Any) -> Loc:
    """Where the user wrote it: for code from a macro, the range of the macro's use."""
    extent = cursor.extent
    return _range(extent.start, extent.end)


def _range(start: Any, end: Any) -> Loc:
    if start.file is None:
        return UNKNOWN
    if end.file is None or end.file.name != start.file.name:
        return Loc(start.file.name, start.line, start.column)
    return Loc(start.file.name, start.line, start.column, end.line, end.column)


def user_file(cursor: Any) -> str | None:
    """The name of the file in which a cursor stands when that file is the user's, else None."""
    file = cursor.location.file
    return None if file is None or is_shim(file.name) else str(file.name)


def offset_of(text: str, loc: Loc) -> int:
    """Index into the text of a place, whose column counts UTF-8 bytes."""
    start = 0
    for _ in range(loc.line - 1):
        start = text.find("\n", start) + 1
        if start == 0:
            return 0
    line = text[start : text.find("\n", start) if "\n" in text[start:] else None]
    return start + len(line.encode()[: loc.column - 1].decode(errors="replace"))


def read_source(path: str) -> str:
    """The text of a file. Bytes that are not UTF-8 are read as Latin-1."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise ParseFailure(f"{path}: {error.strerror or error}") from error
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def read_or_nothing(path: str) -> str:
    try:
        return read_source(path)
    except ParseFailure:
        return ""
