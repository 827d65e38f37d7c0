"""Parsing a CUDA source into a clang translation unit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from auditor.frontend.clang_api import cindex
from auditor.frontend.headers_store import feature_macros, shim_files
from auditor.frontend.options import Options, command_line, parse_arch
from auditor.frontend.unit import Diagnostic, ParsedUnit, ParseFailure
from auditor.program import Note
from auditor.source import UNKNOWN, Loc

__all__ = ["Diagnostic", "Options", "ParseFailure", "ParsedUnit", "parse"]

_DETAILED_RECORD = 0x01  # needed for skipped preprocessor ranges
_KEEP_GOING = 0x200  # a missing include must not stop template instantiation


def parse(path: str, text: str | None = None, options: Options | None = None) -> ParsedUnit:
    """Parse a file, or ``text`` as if it were that file. Raises nothing but ``ParseFailure``."""
    options = options or Options()
    if text is None:
        text = _read(path)
    if "\0" in text:
        raise ParseFailure(f"{path}: not a text file")
    arch = parse_arch(options.arch)
    notes = []
    if not arch.known:
        notes.append(Note("arch", f"unknown architecture {options.arch!r}: analysed as {arch.name}"))
    tu = _translate(path, text, [*command_line(options, arch), *feature_macros(text)])
    return ParsedUnit(path, text, tu, options, notes, _diagnostics(tu))


def _read(path: str) -> str:
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise ParseFailure(f"{path}: {error.strerror or error}") from error
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _translate(path: str, text: str, args: list[str]) -> Any:
    unsaved = [*shim_files(), (path, text)]
    try:
        return cindex.TranslationUnit.from_source(
            path, args=args, unsaved_files=unsaved, options=_DETAILED_RECORD | _KEEP_GOING
        )
    except cindex.TranslationUnitLoadError as error:
        raise ParseFailure(f"{path}: clang could not parse it") from error


def _diagnostics(tu: Any) -> list[Diagnostic]:
    out = []
    for item in tu.diagnostics:
        if item.severity >= 2:
            place = item.location
            loc = Loc(place.file.name, place.line, place.column) if place.file else UNKNOWN
            out.append(Diagnostic(item.severity, item.spelling, loc))
    return out
