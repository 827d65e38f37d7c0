"""Misspelled instruction names in the inline asm of a source text, also in code that is never instantiated.

The assembler sees only what is compiled: a slip in a template that no one uses yet waits for its first user.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache

from auditor.ptx.mnemonics import spelling_problem, split

# "asm" or "__asm__", a word of its own; letters come first because the search for these is fast.
_ASM = re.compile(r"asm(?:(?<=\basm)|(?<=\b__asm)__)\s*(?:(?:volatile|__volatile__)\s*)?\(")
_SPACE = re.compile(r"(?:\s|//[^\n]*\n|/\*.*?\*/)*", re.S)
_LITERAL = re.compile(r'"((?:\\.|[^"\\\n])*)"|R"\((.*?)\)"', re.S)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
_STATEMENT = re.compile(r"\s*(?:\$?[A-Za-z_]\w*:(?!:)\s*)?(?:@!?%?\w+\s+)?([a-z]\w*(?:(?:\.|::)\w+)+)(?!\w*%)")


@lru_cache(maxsize=64)
def misspelled_names(text: str) -> tuple[tuple[int, str], ...]:
    """(line, message) of each instruction name in the asm statements of a C++ text that PTX does not have."""
    starts = [0, *(m.end() for m in re.finditer("\n", text))]
    out = []
    for ptx, places in _templates(text):
        for statement in re.finditer(r"[^;{}]+", _COMMENT.sub(lambda m: " " * len(m[0]), ptx)):
            name = _STATEMENT.match(statement[0])
            if name is None:
                continue
            problem = spelling_problem(*split(name[1]))
            if problem is not None:
                index = statement.start() + name.start(1)
                offset = places[bisect_right(places, (index, len(text))) - 1][1]
                out.append((bisect_right(starts, offset), problem))
    return tuple(dict.fromkeys(out))


def _templates(text: str) -> Iterator[tuple[str, list[tuple[int, int]]]]:
    """The template of each asm statement that is made of literals alone, and for each literal its index in the template
    and its offset in the text."""
    for asm in _ASM.finditer(text):
        position, ptx = asm.end(), ""
        places: list[tuple[int, int]] = []
        while True:
            space = _SPACE.match(text, position)
            position = space.end() if space else position
            literal = _LITERAL.match(text, position)
            if literal is None:
                break
            places.append((len(ptx), position))
            ptx += literal[2] if literal[2] is not None else re.sub(r"\\[nt]", "\n", literal[1])
            position = literal.end()
        if places and text[position : position + 1] in (":", ")"):
            yield ptx, places
