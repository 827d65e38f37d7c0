"""Instantiations of kernel templates that no host code in the file asks for.

libclang shows an instantiated body only behind an expression that names it. So we append lines such as
``auto bw_inst_0 = &kernel<128, 4>;`` to the source, with arguments that the user gave (an explicit instantiation, a
comment, an option), the template's defaults, or, last, a guess.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from auditor.frontend.clang_api import CursorKind, children, cindex
from auditor.frontend.discover import INJECTED, template_parameters
from auditor.quick_dataclass import dataclass

_COMMENT_REQUEST = re.compile(r"//[ \t]*bw-audit:[ \t]*instantiate[ \t]+([^\n]+)")
_EXPLICIT = re.compile(r"\btemplate\s+(?!<)[\w\s:*&()]*?\b([\w:]+)\s*(?=<)")


@dataclass(frozen=True)
class Request:
    """A wish for ``name<arguments>``."""

    name: str
    arguments: str
    origin: str  # "request", "default", "likely" or "guess"


def user_requests(text: str, options: Iterable[str]) -> list[Request]:
    """What the source's explicit instantiations and comments ask for, and the option."""
    out = []
    wanted = [m[1].strip() for m in _COMMENT_REQUEST.finditer(text)] + list(options)
    for item in wanted:
        name, _, rest = item.partition("<")
        out.append(Request(name.strip(), _balanced("<" + rest) if rest else "", "request"))
    for match in _EXPLICIT.finditer(text):
        arguments = _balanced(text[match.end() :])
        if arguments is not None:
            out.append(Request(match[1], arguments, "request"))
    return list(dict.fromkeys(r for r in out if r.arguments is not None))


def _balanced(text: str) -> str:
    """What stands between the leading ``<`` and its ``>``; parentheses and brackets hide theirs."""
    depth = nested = 0
    for index, char in enumerate(text):
        if char in "([{":
            nested += 1
        elif char in ")]}":
            nested -= 1
        elif nested == 0 and char == "<":
            depth += 1
        elif nested == 0 and char == ">":
            depth -= 1
            if depth == 0:
                return text[1:index].strip()
        elif char == ";":
            break
    return text[1:].strip()


def matches(request: Request, template: Any) -> bool:
    """Whether a request names this template; qualification is optional."""
    return request.name.rpartition("::")[2] == str(template.spelling)


def injection(index: int, template: Any, arguments: str) -> str:
    """The line that makes clang instantiate a template, in the template's own namespace."""
    line = f"auto {INJECTED}{index} = &{template.spelling}<{arguments}>;"
    parent = template.semantic_parent
    while parent is not None and parent.kind == CursorKind.NAMESPACE:
        name = "" if parent.is_anonymous() else parent.spelling
        inline = "inline " if parent.spelling and _is_inline(parent) else ""
        line = f"{inline}namespace {name} {{ {line} }}"
        parent = parent.semantic_parent
    return line


def _is_inline(namespace: Any) -> bool:
    return bool(cindex.conf.lib.clang_Cursor_isInlineNamespace(namespace))


def candidates(template: Any, text: str) -> Iterator[Request]:
    """Arguments to try, the most likely first. Ends at once for a template that cannot be guessed."""
    parameters = [p for p in template_parameters(template) if not _is_pack(p)]
    if any(p.kind == CursorKind.TEMPLATE_TEMPLATE_PARAMETER for p in parameters):
        return
    open_parameters = [p for p in parameters if not _has_default(p)]
    if not open_parameters:
        yield Request(template.spelling, "", "default")
        return
    needed = parameters[: parameters.index(open_parameters[-1]) + 1]
    numbers = [p for p in needed if _is_number(p)]
    plain = all(_by_name(p) is not None for p in numbers)
    seen = set()
    for attempt in range(len(_INTEGERS) + 1):
        arguments = ", ".join(_guess(p, attempt, text) for p in needed)
        if arguments not in seen:
            seen.add(arguments)
            yield Request(template.spelling, arguments, "guess" if numbers and (attempt or not plain) else "likely")


_INTEGERS = (128, 64, 32, 4, 2, 1)  # tried for all integers after the guess by name
_BY_NAME = (
    (r"stage|pipe|depth|buffers|slots", 4),
    (r"threads|block_?size", 128),
    (r"warp", 4),
    (r"cluster|cta|group|split|multicast", 1),
    (r"swizzle|head|hdim|dim", 128),
    (r"(tile|block|blk|b|cta|k)_?k$", 64),
    (r"(tile|block|blk|b|cta|k)_?[mn]$|(^|_)[mn]$", 128),
)


def _guess(parameter: Any, attempt: int, text: str) -> str:
    if parameter.kind == CursorKind.TEMPLATE_TYPE_PARAMETER:
        known = [t for t, word in (("__nv_bfloat16", "cuda_bf16"), ("__half", "cuda_fp16")) if word in text]
        types = [*known, "float", "unsigned"]
        return types[min(attempt // 2, len(types) - 1)]
    of_type = parameter.type.get_canonical()
    if of_type.kind == cindex.TypeKind.BOOL:
        return "true" if attempt % 2 else "false"
    if of_type.kind == cindex.TypeKind.ENUM:
        constants = [c for c in children(of_type.get_declaration()) if c.kind == CursorKind.ENUM_CONSTANT_DECL]
        value = constants[min(attempt, len(constants) - 1)].enum_value if constants else 0
        return f"({parameter.type.spelling}){value}"
    if attempt:
        return str(_INTEGERS[attempt - 1])
    return str(_by_name(parameter) or 4)


def _is_number(parameter: Any) -> bool:
    if parameter.kind == CursorKind.TEMPLATE_TYPE_PARAMETER:
        return False
    return parameter.type.get_canonical().kind not in (cindex.TypeKind.BOOL, cindex.TypeKind.ENUM)


def _by_name(parameter: Any) -> int | None:
    """What an integer of that name usually is."""
    name = parameter.spelling.lower()
    return next((value for pattern, value in _BY_NAME if re.search(pattern, name)), None)


def _is_pack(parameter: Any) -> bool:
    return any(token.spelling == "..." for token in parameter.get_tokens())


def _has_default(parameter: Any) -> bool:
    return any(token.spelling == "=" for token in parameter.get_tokens())
