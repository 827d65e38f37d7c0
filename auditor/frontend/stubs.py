"""Declarations for names that a source uses but nothing declares, made from clang's own complaints.

A missing include costs far more than the names in it: clang drops an asm statement whole when one of its operands does
not resolve. So each name gets the widest declaration that fits how it is used, the file is parsed again, and every
stub is recorded: what the tool then says about such code rests on less.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import field

from auditor.frontend.headers_store import provider
from auditor.frontend.include_search import missing_include
from auditor.frontend.unit import Diagnostic, ParsedUnit, offset_of
from auditor.program import Note
from auditor.quick_dataclass import dataclass
from auditor.source import SHIM_ROOT, Loc

HEADER = f"{SHIM_ROOT}/bw/stubs.h"
ROUNDS = 8

_PATTERNS = (
    re.compile(r"no (?P<what>member|type|template) named '(?P<name>\w+)' in (?:namespace )?'(?P<scope>[^']+)'"),
    re.compile(r"(?P<what>no template named|unknown type name|unknown template name) '(?P<name>\w+)'"),
    re.compile(r"use of undeclared identifier '(?P<name>\w+)'"),
)
_SCOPE_NAME = re.compile(r"expected namespace name")
_KEYWORDS = (
    "auto bool char class const constexpr double explicit extern float friend half inline int long operator short "
    "static struct template typename uint32_t uint64_t unsigned using virtual void volatile"
).split()
_CONSTANT = re.compile(r"k[A-Z]\w*|[A-Z][A-Z0-9_]*")
_ASM_OPERAND = re.compile(r'"[=+]?([rlhfd])"\s*\(\s*[^"]*\Z')
_ASM_TYPES = {"r": "unsigned", "l": "unsigned long", "h": "unsigned short", "f": "float", "d": "double"}


@dataclass
class _Name:
    """A name to declare. ``kind``: namespace, struct, function, value, constant or macro."""

    name: str
    kind: str
    template: str = ""  # parameters, when it is used with template arguments
    result: str = "bw_any"
    static: bool = False
    members: dict[str, _Name] = field(default_factory=dict)


@dataclass
class Stubs:
    """What was learnt so far about undeclared names."""

    root: dict[str, _Name] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)
    files: list[str] = field(default_factory=list)  # missing includes, to be served empty
    headers: list[str] = field(default_factory=list)  # of ours, that declare names which the source uses
    fresh: set[str] = field(default_factory=set)  # those of the latest round

    def learn(self, unit: ParsedUnit, read: Callable[[str], str]) -> bool:
        """Add what the errors of a parse tell. False when they tell nothing new."""
        changed = False
        self.fresh = set()
        texts = {unit.path: unit.text}
        for error in unit.errors:
            missing = missing_include(error.message)
            if missing is not None:
                changed |= self._missing(missing, error.loc)
                continue
            if error.loc.file not in texts:
                texts[error.loc.file] = read(error.loc.file)
            changed |= self._error(error, texts[error.loc.file])
        return changed

    def text(self) -> str:
        """The header that declares everything learnt."""
        return _PREAMBLE + "".join(_declare(item, inside="namespace") for item in self.root.values())

    def _missing(self, name: str, loc: Loc) -> bool:
        if name in self.files:
            return False
        self.files.append(name)
        self.notes.append(Note("missing-include", f"{name} was not found", loc))
        return True

    def _error(self, error: Diagnostic, text: str) -> bool:
        offset = offset_of(text, error.loc)
        if _SCOPE_NAME.search(error.message):
            path = re.match(r"[\w:]+", text[offset:])
            return path is not None and self._add(path[0].split("::"), _Name("", "namespace"), error.loc)
        match = next((m for m in (p.search(error.message) for p in _PATTERNS) if m), None)
        if match is None:
            return False
        groups = match.groupdict()
        name = groups["name"]
        # A diagnostic about a.b points at b; one about a use points at the name itself.
        found = re.compile(rf"\b{name}\b").search(text, offset)
        if found is None:
            return False
        scope = re.sub(r"<.*>", "", groups.get("scope") or "").removeprefix("struct ").removeprefix("class ")
        header = provider(name, scope)
        if header is not None and (header in self.fresh or header not in self.headers):
            self.fresh.add(header)
            self.headers += [] if header in self.headers else [header]
            return True
        before, after = text[max(0, found.start() - 300) : found.start()], text[found.end() : found.end() + 400]
        item = _classify(name, groups.get("what") or "", before, after, in_scope=bool(scope))
        return self._add([*filter(None, scope.split("::")), name], item, error.loc)

    def _add(self, path: list[str], item: _Name, loc: Loc) -> bool:
        item.name = path[-1]
        scope = self.root
        for part in path[:-1]:
            parent = scope.setdefault(part, _Name(part, "namespace"))
            if parent.kind not in ("namespace", "struct"):
                return False
            scope = parent.members
        known = scope.get(item.name)
        if known is not None:
            return _widen(known, item)
        scope[item.name] = item
        what = {"constant": "a constant of unknown value (1)", "macro": "an empty macro"}.get(
            item.kind, f"a {item.kind}"
        )
        self.notes.append(Note("stub", f"{'::'.join(path)} is declared nowhere: taken as {what}", loc))
        return True


def _widen(known: _Name, item: _Name) -> bool:
    """Merge a second use of a name; True when that changes its declaration."""
    if known.kind == "namespace" and item.kind == "struct":
        known.kind, known.template = "struct", item.template
        return True
    if known.kind == "function" and item.kind == "function" and known.result == "bw_any" != item.result:
        known.result = item.result
        return True
    if known.kind == "value" and item.kind in ("constant", "struct", "function"):
        known.kind, known.template, known.result = item.kind, item.template, item.result
        return True
    return False


def _classify(name: str, what: str, before: str, after: str, *, in_scope: bool) -> _Name:
    """What a name must be, from the text around its use."""
    after = after.lstrip()
    template = ""
    if after.startswith("<") and not after.startswith("<<"):
        arguments, after = _template_arguments(after)
        template = _template_parameters(arguments)
    asm = _ASM_OPERAND.search(before)
    static = before.rstrip().endswith("::")
    if what in ("type", "unknown type name", "no template named", "template", "unknown template name"):
        following = re.match(r"(\w+)(\s*[\w*&<:]|)", after)
        if (
            not in_scope
            and not template
            and _CONSTANT.fullmatch(name)
            and following
            and (following[1] in _KEYWORDS or following[2].strip().isalnum())
        ):
            return _Name(name, "macro")
        if after.startswith("(") and what == "template":
            return _Name(name, "function", template, static=static)
        return _Name(name, "struct", template)
    if after.startswith("::"):
        return _Name(name, "struct" if template else "namespace", template)
    if after.startswith("("):
        return _Name(name, "function", template, _ASM_TYPES[asm[1]] if asm else "bw_any", static)
    if (
        after.startswith("{")
        or (template and not after.startswith((")", ",", ";")))
        or re.match(r"[A-Za-z_]\w*\s*[;=({]", after)
    ):
        return _Name(name, "struct", template)
    kind = "constant" if _CONSTANT.fullmatch(name) or static else "value"
    return _Name(name, kind, result=_ASM_TYPES[asm[1]] if asm else "int", static=static)


def _template_arguments(text: str) -> tuple[list[str], str]:
    """The arguments after a name, and what follows them."""
    depth = 0
    arguments = [""]
    for index, char in enumerate(text):
        if char in "<([{":
            depth += 1
            if depth == 1:
                continue
        elif char in ">)]}":
            depth -= 1
            if depth == 0:
                return [a.strip() for a in arguments if a.strip()], text[index + 1 :].lstrip()
        if char == "," and depth == 1:
            arguments.append("")
        elif char in ";":
            break
        else:
            arguments[-1] += char
    return [], text


def _template_parameters(arguments: list[str]) -> str:
    kinds = ["auto" if _is_value(argument) else "class" for argument in arguments]
    return ", ".join([*kinds, "class..." if not kinds or kinds[-1] == "class" else "auto..."])


def _is_value(argument: str) -> bool:
    return bool(re.match(r"[-+!~(]?\d|true\b|false\b|sizeof\b|[-+*/%]", argument)) or bool(
        _CONSTANT.fullmatch(argument)
    )


def _declare(item: _Name, inside: str) -> str:
    head = "__host__ __device__ "
    static = "static " if inside == "struct" and item.static else ""
    if item.kind == "macro":
        return f"#define {item.name} {head if re.search('DEV|HOST|INLINE|FUNC', item.name) else ''}\n"
    if item.kind == "namespace" and inside == "namespace":
        members = "".join(_declare(member, "namespace") for member in item.members.values())
        return f"namespace {item.name} {{\n{members}}}\n"
    if item.kind in ("struct", "namespace"):
        members = "".join(_declare(member, "struct") for member in item.members.values())
        template = f"template <{item.template}> " if item.template else ""
        return (
            f"{template}struct {item.name} {{\n{item.name}() = default;\n"
            f"template <class A0, class... A> {head}constexpr {item.name}(A0 &&, A &&...) {{}}\n{members}}};\n"
        )
    if item.kind == "function":
        explicit = f"{item.template}, " if item.template else ""
        if explicit.endswith("class..., "):  # a second pack would never be deduced
            explicit = explicit.removesuffix("class..., ")
        return f"template <{explicit}class... A> {static}{head}{item.result} {item.name}(A &&...);\n"
    if item.kind == "constant":
        return f"{'static ' if inside == 'struct' else ''}constexpr {item.result} {item.name} = 1;\n"
    return f"{item.result} {item.name};\n" if inside == "struct" else f"extern __device__ {item.result} {item.name};\n"


def _preamble() -> Iterator[str]:
    yield "#pragma once\nstruct bw_any { template <class T> __host__ __device__ operator T() const; "
    yield "template <class T> __host__ __device__ bw_any operator[](T) const; };\n"
    for operator in ("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "==", "!=", "<", ">", "<=", ">="):
        result = "bool" if operator[-1] == "=" or operator in "<>" else "bw_any"
        yield f"template <class T> __host__ __device__ {result} operator{operator}(bw_any, T);\n"


_PREAMBLE = "".join(_preamble())
