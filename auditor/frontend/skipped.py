"""Device code that the preprocessor or the parser left out: it must be said, not passed over."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable

from auditor.frontend.clang_api import skipped_ranges
from auditor.frontend.headers_store import is_shim
from auditor.frontend.unit import ParsedUnit, offset_of, read_or_nothing
from auditor.program import Note
from auditor.source import Loc

_DEVICE_CODE = re.compile(rb"\b(asm|__asm__)\b|\b__global__\b|<<<")
_NEAR = 3  # lines between a function and the other one that would have been taken in its place
_LITERAL = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
_COMMENT = re.compile(rb"//[^\n]*|/\*.*?\*/", re.DOTALL)


def skipped_notes(unit: ParsedUnit, arch_name: str, read: Callable[[str], str]) -> list[Note]:
    """A note for each skipped range of a user file that holds asm, a kernel or a launch."""
    texts: dict[str, bytes] = {unit.path: unit.text.encode()}
    notes = []
    for file, start, end in skipped_ranges(unit.tu):
        if is_shim(file):
            continue
        if file not in texts:
            texts[file] = read(file).encode()
        part = _COMMENT.sub(b"", texts[file][start:end])
        found = _DEVICE_CODE.search(part)
        if found is None:
            continue
        what = {b"<<<": "a launch", b"__global__": "a kernel"}.get(found[0], "inline asm")
        first = texts[file].count(b"\n", 0, start) + 1
        last = first + texts[file].count(b"\n", start, end)
        message = f"left out by the preprocessor for {arch_name}: lines {first}-{last} hold {what}"
        notes.append(Note("skipped", message, Loc(file, first, 1, last, 1)))
    return notes


def concerning(notes: Iterable[Note], main: str, reached: Iterable[Loc]) -> list[Note]:
    """The notes without those on what was left out of headers far from all functions that the kernels reach.

    A library has code for architectures and instructions that a kernel does not ask for. ``reached``: the extents of
    the functions; what is left out next to one may have been meant to be there instead.
    """
    extents: dict[str, list[Loc]] = defaultdict(list)
    for extent in reached:
        extents[extent.file].append(extent)
    return [
        note
        for note in notes
        if note.kind != "skipped"
        or note.loc.file == main
        or any(e.line - _NEAR <= note.loc.end_line and note.loc.line <= e.end_line + _NEAR
               for e in extents[note.loc.file])
    ]  # fmt: skip


def rejected_notes(unit: ParsedUnit, blocks: Callable[[], Iterable[Loc]], noted: Iterable[Note]) -> list[Note]:
    """A note for each error of clang in functions that the kernels reach: it leaves such a statement out of the tree.

    ``blocks``: the extents of the blocks of those functions, as far as they are part of the instantiation at hand;
    ``noted``: what was said of their lines already.
    """
    errors = [error for error in unit.errors if not error.message.startswith("static assertion failed")]
    if not errors:
        return []
    by_file: dict[str, list[Loc]] = defaultdict(list)
    for block in blocks():
        by_file[block.file].append(block)
    told = {(note.loc.file, note.loc.line) for note in noted}
    notes = []
    for error in errors:
        place = error.loc.file, error.loc.line
        around = [b for b in by_file[error.loc.file] if b.line <= error.loc.line <= b.end_line]
        if place in told or not around:
            continue
        innermost = max(around, key=lambda b: (b.line, b.column, -b.end_line))
        text = _text(unit, error.loc.file)
        if _depth(text[offset_of(text, innermost) : offset_of(text, error.loc)]) > 1:
            continue  # in a block that this instantiation does not have
        told.add(place)
        notes.append(Note("unanalysed", f"clang does not take this, and leaves it out: {error.message}", error.loc))
    return notes


def _text(unit: ParsedUnit, file: str) -> str:
    """A file as clang was given it."""
    if file in unit.corrected:
        return unit.corrected[file]
    return unit.text if file == unit.path else read_or_nothing(file)


def _depth(text: str) -> int:
    """How many braces are open behind a piece of source."""
    plain = _LITERAL.sub("", text)
    return plain.count("{") - plain.count("}")
