"""Device code that the preprocessor left out: it must be said, not passed over."""

from __future__ import annotations

import re
from collections.abc import Callable

from auditor.frontend.clang_api import skipped_ranges
from auditor.frontend.headers_store import is_shim
from auditor.frontend.unit import ParsedUnit
from auditor.program import Note
from auditor.source import Loc

_DEVICE_CODE = re.compile(rb"\b(asm|__asm__)\b|\b__global__\b|<<<")
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
