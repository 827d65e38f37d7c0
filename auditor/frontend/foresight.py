"""What a first parse would only tell by its errors, read from the text before it: parses cost more than anything else.

Sources that need nothing but a compiler define ``uint64_t`` and ``CUtensorMap`` themselves, where our headers give way,
and include headers from folders that a build would name. What the text seems to say may stand in a comment, or in a
part that the preprocessor leaves out: so the unit is asked whether it holds. If not, the source is parsed as if nothing
had been foreseen.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from auditor.frontend.clang_api import CursorKind, cindex
from auditor.frontend.headers_store import OWN_TENSOR_MAP, WIDE_LONG_LONG, shim_names
from auditor.frontend.include_search import folders_with
from auditor.frontend.included import included_files
from auditor.frontend.unit import ParsedUnit, read_or_nothing
from auditor.quick_dataclass import dataclass

_INCLUDE = re.compile(r"#[ \t]*include[ \t]*[<\"]([^>\"\n]+)[>\"]")
# Begins of a definition that makes our headers give way; the group is the name that it defines.
_DEFINITIONS = (
    (WIDE_LONG_LONG, re.compile(r"typedef\s+unsigned\s+long\s+long\s+(uint64_t)\s*;")),
    (WIDE_LONG_LONG, re.compile(r"typedef\s+(?:signed\s+)?long\s+long\s+(int64_t)\s*;")),
    (OWN_TENSOR_MAP, re.compile(r"}\s*(CUtensorMap)\s*;")),
)
_CONDITIONAL = re.compile(r"^[ \t]*#[ \t]*(if|else|elif|endif)(n?)", re.MULTILINE)


@dataclass(frozen=True)
class Definition:
    """A type that a file of the user seems to define. ``offset``: of its name, in bytes."""

    macro: str
    file: str
    name: str
    offset: int


@dataclass(frozen=True)
class Foresight:
    """``found``: files of the user in folders above the source that it seems to include. ``folders``: those folders."""

    definitions: tuple[Definition, ...] = ()
    folders: tuple[str, ...] = ()
    found: tuple[str, ...] = ()

    @property
    def macros(self) -> list[str]:
        """Preprocessor options that make our headers give way."""
        return list(dict.fromkeys(item.macro for item in self.definitions))

    def holds(self, unit: ParsedUnit) -> bool:
        """Whether the unit, which was parsed as if all of it were so, confirms it."""
        included = set(included_files(unit)) if self.found else set()
        if not all(name in included for name in self.found):
            return False
        return all(_defines(unit.tu, item) for item in self.definitions)


def foresee(path: str, text: str, includes: tuple[str, ...]) -> Foresight:
    """What the text of a source says before it is parsed."""
    searched = (Path(path).parent, *map(Path, includes))
    ours = shim_names()
    names = [
        name
        for name in dict.fromkeys(_INCLUDE.findall(text))
        if name not in ours and not any((folder / name).is_file() for folder in searched)
    ]
    folders = folders_with(path, names)
    found = [str(Path(folder) / name) for name in names for folder in folders[:1] if (Path(folder) / name).is_file()]
    if len(folders) > 1:  # in which order they are searched, the errors say
        folders, found = (), []
    definitions = _definitions(path, text)
    for name in found:
        definitions += _definitions(name, read_or_nothing(name))
    # the first of each kind is what would make clang complain
    first = {(item.macro, item.name): item for item in reversed(definitions)}
    return Foresight(tuple(first.values()), folders, tuple(found))


def _definitions(file: str, text: str) -> list[Definition]:
    return [
        Definition(macro, file, match[1], len(text[: match.start(1)].encode()))
        for macro, pattern in _DEFINITIONS
        for match in pattern.finditer(text)
        if not _depends(text, match.start())
    ]


def _depends(text: str, place: int) -> bool:
    """Whether it depends on the preprocessor if a place is compiled, apart from guards such as ``#ifndef``."""
    open_ifs: list[bool] = []
    for word, negated in _CONDITIONAL.findall(text, 0, place):
        if word == "endif":
            del open_ifs[-1:]
        elif word == "if":
            open_ifs.append(not negated)
        elif open_ifs:
            open_ifs[-1] = True
    return any(open_ifs)


def _defines(tu: Any, item: Definition) -> bool:
    """Whether the type is defined there, outside of all namespaces and classes."""
    place = cindex.SourceLocation.from_offset(tu, tu.get_file(item.file), item.offset)
    cursor = cindex.Cursor.from_location(tu, place)
    return bool(
        cursor.kind == CursorKind.TYPEDEF_DECL
        and cursor.spelling == item.name
        and cursor.semantic_parent.kind == CursorKind.TRANSLATION_UNIT
    )
