"""Reads C++ expressions as text: calls, asm operands, and the part of an expression that names a thing.

The machine knows addresses; people know names. What a barrier or buffer is called stands in the operand of the
instruction, or in the argument of the wrapper that holds it. These functions work on the text of one statement.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from auditor.source import Loc

_OPEN, _CLOSE = "([{", ")]}"
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_ROOT = re.compile(r"(?:this->)?[A-Za-z_]\w*")
_CALL = re.compile(r"((?:[A-Za-z_]\w*::)*~?[A-Za-z_]\w*)\s*(?:<[^<>()]*>)?\s*\(")
_CAST = re.compile(r"(?:static_cast|reinterpret_cast|const_cast)\s*<[^<>]*(?:<[^<>]*>)?[^<>]*>\s*(?=\()")
_C_CAST = re.compile(
    r"\(\s*(?:const\s+|unsigned\s+)*(?:u?int(?:\d+_t)?|unsigned|u32|u64|long|char|void|float)[\s\w*]*\)\s*(?=[\w(&*])"
)
_CONSTANT = re.compile(r"\b(?:[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*|k[A-Z]\w*)\b")
_TAG = re.compile(r"^(?:\w+::)*(?:sem_|scope_|space_|cta_group_|kind_|n32_t|bool_)\w*$")
_ADDRESS_OF = re.compile(r"(?:__cvta|smem|shared|addr|cvta|to_|cast|ptr|at$)", re.IGNORECASE)


class Call(NamedTuple):
    """A call: the object in front of the name (empty without one), the name, and the arguments."""

    receiver: str
    callee: str
    arguments: tuple[str, ...]


def text_at(sources: Mapping[str, str], loc: Loc) -> str:
    """The source text of a place, blanks made single; empty when the file or the end is not known."""
    source = sources.get(loc.file)
    if source is None or not loc.end_line:
        return ""
    lines = source.split("\n")[loc.line - 1 : loc.end_line]
    if not lines:
        return ""
    lines[-1] = lines[-1].encode()[: loc.end_column - 1].decode(errors="ignore")
    lines[0] = lines[0].encode()[loc.column - 1 :].decode(errors="ignore")
    return " ".join(" ".join(lines).split())


def split(text: str, separator: str) -> list[str]:
    """Split at a separator that stands outside brackets and string literals."""
    parts, depth, start, at = [], 0, 0, 0
    while at < len(text):
        char = text[at]
        if char == '"':
            match = _STRING.match(text, at)
            at = match.end() if match else len(text)
            continue
        if char in _OPEN:
            depth += 1
        elif char in _CLOSE:
            depth -= 1
        elif depth == 0 and text.startswith(separator, at):
            parts.append(text[start:at].strip())
            start = at + len(separator)
        at += 1
    parts.append(text[start:].strip())
    return parts


def _closing(text: str, start: int) -> int:
    """Index of the bracket that closes the one at ``start``; the end of the text without one."""
    depth, at = 0, start
    while at < len(text):
        if text[at] == '"':
            match = _STRING.match(text, at)
            at = match.end() if match else len(text)
            continue
        depth += (text[at] in _OPEN) - (text[at] in _CLOSE)
        if depth == 0:
            return at
        at += 1
    return len(text)


def call_parts(text: str) -> Call | None:
    """The outermost call of a text, such as ``sh.full[s].init(1)``."""
    depth = 0
    for at, char in enumerate(text):
        if char == "(" and depth == 0 and (match := re.search(r"((?:\w+::)*\w+)\s*(?:<[^()]*>)?\s*$", text[:at])):
            before = text[: match.start()].rstrip()
            receiver = ""
            if before.endswith((".", "->")):
                receiver = re.split(r"[=;{(]\s*(?![^\[]*\])", before.removesuffix(".").removesuffix("->"))[-1].strip()
            arguments = text[at + 1 : _closing(text, at)]
            return Call(receiver, match[1], tuple(split(arguments, ",")) if arguments.strip() else ())
        depth += (char in _OPEN) - (char in _CLOSE)
    return None


def is_asm(text: str) -> bool:
    """Whether a text is an asm statement."""
    return re.match(r"(?:asm|__asm__|__asm)\b", text) is not None


def asm_count(text: str, instruction: str) -> int:
    """How often an instruction stands in an asm statement."""
    return "".join(s[1:-1] for s in _STRING.findall(text)).count(instruction)


def asm_operand(text: str, instruction: str, position: int = 0, nth: int = 0) -> str:
    """The C++ expression behind the address operand number ``position`` of the ``nth`` such instruction of a statement.

    Empty when it is not one operand of the statement but computed inside.
    """
    start = text.find("(")
    if start < 0:
        return ""
    sections = split(text[start + 1 : _closing(text, start)], ":")  # "::" outside brackets is an empty section
    template = "".join(s[1:-1] for s in _STRING.findall(sections[0]))
    found = re.findall(re.escape(instruction) + r"[^;]*", template)
    addresses = re.findall(r"\[\s*%(\[\w+\]|\w+)", found[min(nth, len(found) - 1)]) if found else []
    operands: list[tuple[str, str]] = []
    for section in sections[1:3]:
        for item in split(section, ",") if section else []:
            match = re.match(r"(?:\[(\w+)\]\s*)?(?:\"[^\"]*\")+\s*\(", item)
            if match:
                operands.append((match[1] or "", item[match.end() : _closing(item, match.end() - 1)].strip()))
    if position >= len(addresses):
        return ""
    wanted = addresses[position]
    if wanted.isdigit():
        return operands[int(wanted)][1] if int(wanted) < len(operands) else ""
    return next((expression for name, expression in operands if f"[{name}]" == wanted), "")


def plain(expression: str) -> str:
    """An expression without casts, address-of, conversions to shared addresses and outer brackets."""
    before = ""
    text = expression.strip()
    while text != before:
        before = text
        text = _CAST.sub("", text)
        text = _C_CAST.sub("", text).strip()
        text = text.lstrip("&*").strip()
        if text.startswith("(") and _closing(text, 0) == len(text) - 1:
            text = text[1:-1].strip()
        match = _CALL.match(text)
        if match and _closing(text, match.end() - 1) == len(text) - 1 and _ADDRESS_OF.search(match[1]):
            inner = split(text[match.end() : -1], ",")
            if len(inner) == 1 and inner[0] and not _CONSTANT.fullmatch(match[1]):
                text = inner[0]
    return text


def root(expression: str) -> str:
    """The identifier with which an expression begins."""
    match = _ROOT.match(plain(expression))
    return match[0].removeprefix("this->") if match else ""


def rest(expression: str) -> str:
    """What follows the root of an expression: ``.full[i]`` of ``storage.full[i]``."""
    text = plain(expression)
    match = _ROOT.match(text)
    return text[match.end() :] if match else ""


def argument(call: Call) -> str:
    """The argument of an unknown wrapper that is most likely the address: the first that is no tag, else the object."""
    real = [a for a in call.arguments if a and not _TAG.match(a)]
    return real[0] if real and re.search(r"[A-Za-z_]", real[0]) else call.receiver


@lru_cache(maxsize=256)
def macro_body(source: str, name: str) -> str:
    """What a function-like macro stands for; empty when the source does not define it."""
    match = re.search(rf"#[ \t]*define[ \t]+{re.escape(name)}\([^)]*\)((?:[^\\\n]|\\(?:\r?\n|.))*)", source)
    return " ".join(match[1].replace("\\\n", " ").split()) if match else ""


@lru_cache(maxsize=256)
def parameters(source: str, callee: str) -> tuple[str, ...]:
    """Names of the parameters of a function or function-like macro that a source defines; empty when it does not."""
    name = re.escape(callee.split("::")[-1])
    match = re.search(rf"#[ \t]*define[ \t]+{name}\(([^)]*)\)", source) or re.search(
        rf"\b{name}\s*\(((?:[^(){{}};]|\([^()]*\))*)\)\s*(?:const\b)?\s*(?:noexcept\b)?\s*(?:->[^{{;]*)?(?::[^{{;]*)?\{{",
        source,
    )
    if match is None:
        return ()
    names = []
    listed = match[1]
    while (shorter := re.sub(r"<[^<>]*>", "", listed)) != listed:
        listed = shorter
    for item in split(listed, ","):
        item = re.sub(r"\[[^\]]*\]", "", item.split("=")[0])
        words = re.findall(r"[A-Za-z_]\w*", item)
        names.append(words[-1] if words else "")
    return tuple(names)


def element_of(expression: str, declared: str) -> str | None:
    """The array in ``array + index``, if that is the declared one; None for other expressions, and for constants."""
    terms = split(plain(expression), "+")
    array = plain(terms[0]).replace("->", ".")
    if len(terms) < 2 or array.split(".")[-1] != declared.split(".")[-1] or _CONSTANT.search(expression):
        return None
    return array


@lru_cache(maxsize=256)
def converts(source: str, callee: str) -> bool:
    """Whether a function of one parameter makes a shared address of a pointer: its body has a cvta."""
    name = re.escape(callee.split("::")[-1])
    match = re.search(rf"\b{name}\s*\([^(){{}};,]*\)\s*(?:const\b)?\s*(?:noexcept\b)?\s*\{{([^{{}}]*)\}}", source)
    return match is not None and "cvta" in match[1]


def unwrapped(source: str, expression: str) -> str:
    """An expression without conversions to shared addresses, whatever the source calls the function for it."""
    text = plain(expression)
    while (match := _CALL.match(text)) and _closing(text, match.end() - 1) == len(text) - 1:
        inner = plain(text[match.end() : -1])
        if not inner or not converts(source, match[1]):  # a method without arguments converts its object
            break
        text = inner
    return text


def base_name(expression: str) -> str:
    """The name in an expression, without indices: ``sh.full`` of ``&sh.full[s]``, ``FULL`` of ``FULL(s)``.

    Of a sum the constant counts (``OFF_FULL`` of ``base + OFF_FULL + 8 * s``), and an index that begins with a
    constant (``K_FULL`` of ``bars[K_FULL + b]``).
    """
    text = plain(expression)
    terms = [t for part in split(text, " + ") for t in split(part, "+")]
    if len(terms) > 1:
        chosen = next((t for t in terms if _CONSTANT.search(t) and "*" not in t), None)
        chosen = chosen or next((t for t in terms[1:] if "*" not in t and re.search(r"[A-Za-z_]", t)), terms[0])
        if chosen is terms[0] or _CONSTANT.search(chosen) or "(" in chosen or len(terms) == 2:
            return base_name(chosen) if re.search(r"[A-Za-z_]", chosen) else base_name(terms[0])
        return base_name(terms[0])
    match = re.match(r"(.*?)\[([^\]]*)\](.*)$", text)
    if match and not match[3] and (constant := _CONSTANT.search(match[2])) and "threadIdx" not in match[2]:
        return constant[0]
    if match:
        return base_name(match[1] + re.sub(r"\[[^\]]*\]", "", match[3]))
    match = _CALL.match(text)
    if match:
        inner = split(text[match.end() : _closing(text, match.end() - 1)], ",")
        name = match[1].split("::")[-1]
        return base_name(inner[0]) if not _CONSTANT.fullmatch(name) and re.search(r"[A-Za-z_]", inner[0]) else name
    return text.replace("->", ".").removeprefix("this.").split("::")[-1].strip()
