"""What nvcc compiles and clang rejects, put right in the text that clang is given."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from auditor.frontend.headers_store import is_shim
from auditor.frontend.unit import Diagnostic, ParsedUnit, offset_of

_LONE_PERCENT = re.compile(r"(?<!%)%(?=[a-z_]{2})")  # before the name of a special register
_PRAGMA_MACRO = re.compile(r"(#[ \t]*define[ \t]+\w+[ \t]+)#[ \t]*pragma[ \t]+([^\n\"\\]+?)[ \t]*$", re.MULTILINE)
_NAME_AT_END = re.compile(r" '\w+'$")
_BEFORE_NAME = ((".", "->"), re.compile(r"\w+\s*<"), "template ")
# Message of clang without the name at its end -> (what stands before its place, what there, what nvcc does not miss).
_MISSING = {
    # between two operands of an asm statement
    "expected ')'": ((")",), re.compile(r'"[^"\n]*"\s*\('), ", "),
    # before a member template of a dependent type
    "reference to non-static member function must be called": _BEFORE_NAME,
    "missing 'template' keyword prior to dependent template name": _BEFORE_NAME,
}
_TWO_OPERANDS = re.compile(r'("[=+&]*[a-zA-Z]{1,2}"\s*\((?:[^()"]|\([^()"]*\))*\))(\s*"[=+&]*[a-zA-Z]{1,2}"\s*\()')
_NO_COMMA = re.compile(r'\)\s+"[=+&]*[a-zA-Z]{1,2}"\s*\(')  # faster than the pattern that it is a part of
_SHARED = re.compile(r"(?:static[ \t]+)?__shared__(?=[^;{}]*\Z)")
_ANNOTATED = "__bw_shr__"  # as long as what it replaces
_INCLUDE = re.compile(r"#[ \t]*include[ \t]*[<\"]([^>\"\n]+)[>\"]")


def corrections(unit: ParsedUnit, read: Callable[[str], str]) -> dict[str, str]:
    """Texts of the files in which something of the kind explains an error, by path."""
    texts = _Texts(unit, read)
    errors = [error for error in unit.errors if not is_shim(error.loc.file)]
    _percent_signs(errors, texts)
    _insertions(errors, texts)
    _shared_classes(errors, texts)
    if any(error.message == "expected expression" for error in errors):
        _pragma_macros(texts, {item.include.name for item in unit.tu.get_includes()} | {unit.path})
    return texts.changed


def foreseen(path: str, text: str, folders: Iterable[str], read: Callable[[str], str]) -> dict[str, str]:
    """Texts of the files that a source may include in which something of the kind stands, by path.

    It saves a parse of large headers. What it does not see, ``corrections`` finds by the errors.
    """
    out: dict[str, str] = {}
    seen = {path}
    searched = [Path(folder) for folder in folders]
    work = [(Path(path).parent, text)]
    while work:
        beside, including = work.pop()
        for name in _INCLUDE.findall(including):
            file = next((f for f in (at / name for at in (beside, *searched)) if f.is_file()), None)
            found = str(file)
            if file is not None and found not in seen:
                seen.add(found)
                old = read(found)
                work.append((file.parent, old))
                new = _with_pragmas(old)
                new = _TWO_OPERANDS.sub(r"\1,\2", new) if "asm" in new and _NO_COMMA.search(new) else new
                if new != old:
                    out[found] = new
    return out


class _Texts:
    """The texts of a unit's files with what was changed in them."""

    def __init__(self, unit: ParsedUnit, read: Callable[[str], str]) -> None:
        self._unit = unit
        self._read = read
        self.changed: dict[str, str] = {}

    def __getitem__(self, name: str) -> str:
        if name in self.changed:
            return self.changed[name]
        if name in self._unit.corrected:
            return self._unit.corrected[name]
        return self._unit.text if name == self._unit.path else self._read(name)

    def change(self, name: str, text: str) -> None:
        self.changed[name] = text


def _percent_signs(errors: Iterable[Diagnostic], texts: _Texts) -> None:
    """A lone percent sign before the name of a register in an asm template: nvcc keeps it."""
    for error in errors:
        if "invalid % escape in inline assembly" in error.message:
            lines = texts[error.loc.file].split("\n")
            lines[error.loc.line - 1] = _LONE_PERCENT.sub("%%", lines[error.loc.line - 1])
            texts.change(error.loc.file, "\n".join(lines))


def _insertions(errors: Iterable[Diagnostic], texts: _Texts) -> None:
    """What lacks at the place of an error."""
    places: dict[str, dict[int, str]] = {}
    for error in errors:
        lacking = _MISSING.get(_NAME_AT_END.sub("", error.message))
        if lacking is not None:
            text = texts[error.loc.file]
            place = offset_of(text, error.loc)
            before, here, lacks = lacking
            if here.match(text, place) and text[:place].rstrip().endswith(before):
                places.setdefault(error.loc.file, {})[place] = lacks
    for name, inserted in places.items():
        text = texts[name]
        for place in sorted(inserted, reverse=True):
            text = text[:place] + inserted[place] + text[place:]
        texts.change(name, text)


def _shared_classes(errors: Iterable[Diagnostic], texts: _Texts) -> None:
    """A variable in shared memory whose class initialises its members: nvcc leaves that out, with a warning."""
    for error in errors:
        if error.message == "initialization is not supported for __shared__ variables":
            text = texts[error.loc.file]
            place = offset_of(text, error.loc)
            head = _SHARED.sub(lambda m: " " * (len(m[0]) - len(_ANNOTATED)) + _ANNOTATED, text[:place])
            texts.change(error.loc.file, head + text[place:])


def _pragma_macros(texts: _Texts, names: Iterable[str]) -> None:
    """A macro that stands for a ``#pragma`` line: nvcc's front end reads what the preprocessor writes."""
    for name in names:
        if is_shim(name):
            continue
        text = texts[name]
        fixed = _with_pragmas(text)
        if fixed != text:
            texts.change(name, fixed)


def _with_pragmas(text: str) -> str:
    return _PRAGMA_MACRO.sub(lambda match: f'{match[1]}_Pragma("{match[2]}")', text)
