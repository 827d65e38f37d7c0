"""How a file itself writes an instruction: a helper of its own or of a library that it includes, else inline asm."""

from __future__ import annotations

import re
from functools import lru_cache

from auditor.repair.layout import Layout

_HELPER = re.compile(
    r"\b([A-Za-z_]\w*)\s*\(\s*(?:void)?\s*\)\s*(?:noexcept\s*)?\{\s*(?:asm|__asm__)\s*(?:volatile|__volatile__)?\s*"
    r'\(\s*"([^"]*)"[^{}"]*(?:"memory")?\s*\)\s*;\s*\}'
)
# What cuda::ptx of libcu++ calls these instructions.
_LIBRARY = {
    "tcgen05.wait::ld.sync.aligned": "tcgen05_wait_ld()",
    "tcgen05.wait::st.sync.aligned": "tcgen05_wait_st()",
    "fence.proxy.async.shared::cta": "fence_proxy_async({ptx}space_shared)",
    "fence.proxy.async.global": "fence_proxy_async({ptx}space_global)",
    "cp.async.bulk.commit_group": "cp_async_bulk_commit_group()",
}
_ALIAS = re.compile(r"\bnamespace\s+(\w+)\s*=\s*(?:::)?cuda::ptx\s*;")
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<cuda/ptx>", re.M)


def statement(layout: Layout, instruction: str, offset: int) -> str:
    """A statement that executes an instruction without operands, as code at ``offset`` would write it."""
    if instruction.startswith("__"):
        return f"{instruction}();"
    for match in _helpers(layout):
        if (
            match[2].strip().rstrip(";") == instruction
            and match.end() <= offset
            and _is_visible(layout, match.start(), offset)
        ):
            return f"{match[1]}();"
    if instruction in _LIBRARY and _INCLUDE.search(layout.text):
        alias = _ALIAS.search(layout.code, 0, offset)
        prefix = f"{alias[1]}::" if alias else "cuda::ptx::"
        return f"{prefix}{_LIBRARY[instruction].format(ptx=prefix)};"
    return f'asm volatile("{instruction};" ::: "memory");'


@lru_cache(maxsize=4)
def _helpers(layout: Layout) -> tuple[re.Match[str], ...]:
    """The functions of a file that execute one instruction without operands."""
    return tuple(_HELPER.finditer(layout.text))


def _is_visible(layout: Layout, definition: int, offset: int) -> bool:
    """Whether a function that is defined at one offset may be called at another by its name alone."""
    inside = set(layout.around(offset))
    return all(
        brace in inside or layout.ends_with(brace, "namespace") for brace in layout.around(definition)
    )
