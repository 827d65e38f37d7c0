"""Device code that the preprocessor or the parser left out: it must be said, not passed over."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable

from auditor.frontend.clang_api import skipped_ranges
from auditor.frontend.headers_store import is_shim
from auditor.frontend.unit import ParsedUnit
from auditor.program import Note
from auditor.source import Loc

_DEVICE_CODE = re.compile(rb"\b(asm|__asm__)\b|\b__global__\b|<<<")
_NEAR = 3  # lines between a function and the other one that would have been taken in its place
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


def rejected_notes(unit: ParsedUnit, reached: Iterable[Loc], noted: Iterable[Note]) -> list[Note]:
    """A note for each error of clang in functions that the kernels reach: it leaves such a statement out of the tree.

    ``reached``: the extents of the functions; ``noted``: what was said of their lines already.
    """
    extents: dict[str, list[Loc]] = defaultdict(list)
    for extent in reached:
        extents[extent.file].append(extent)
    told = {(note.loc.file, note.loc.line) for note in noted}
    notes = []
    for error in unit.errors:
        place = error.loc.file, error.loc.line
        if place not in told and any(e.line <= error.loc.line <= e.end_line for e in extents[error.loc.file]):
            told.add(place)
            notes.append(Note("unanalysed", f"clang does not take this, and leaves it out: {error.message}", error.loc))
    return notes
