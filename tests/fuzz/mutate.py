"""Ways to damage a text. All randomness comes from the generator that is passed in."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random

_TOKEN = re.compile(r"\"(?:\\.|[^\"\\\n])*\"|[A-Za-z_]\w*|\d[\w.']*|\s+|::|->|<<|>>|[^\w\s]")
_WORDS = re.compile(r"[\w:.%]+|\s+|[^\w\s]")
_ASM = re.compile(r"(?<=asm volatile\()\"(?:\\.|[^\"\\])*\"")
NASTY = (
    "0", "-1", "1", "31", "32", "33", "255", "256", "0xffffffff", "1ull << 63", "18446744073709551616", "1e308", "nan",
    "{", "}", "(", ")", "[", "]", "<", ">", ";", ",", "::", "...", "#", "\\", '"', "'", "/*", "*/", "//", "\r", "\t",
    "%0", "%99", "%%", "%", "@p", "@!p", ".reg .b32 t;", "template <int N>", "__global__", 'asm volatile("");',
    "while (true) {}", "for (;;) __syncthreads();", "goto x;", "return", "this", "auto", "decltype(", "a = a / 0;",
    "new int[1 << 30]", "int v[0];", "int v[1 << 28];", '#include "/etc/passwd"', '#include "self.cu"', "constexpr",
    "// bw-audit: ignore[BW101] x", "/* bw-audit: ignore[", "\ufeff", "\U0001d7d9", "\u202e", "\x00", "\x7f",
)  # fmt: skip

Mutation = Callable[[Random, str], str]


def damage(random: Random, text: str, mutations: Sequence[Mutation], most: int = 6) -> str:
    """The text after one to ``most`` mutations, few more often than many."""
    for _ in range(min(1 + int(random.expovariate(0.7)), most)):
        text = random.choice(mutations)(random, text)
    return text


def tokens(random: Random, text: str) -> str:
    """Drop, double, swap or replace some tokens."""
    parts = _TOKEN.findall(text)
    return "".join(_shuffled(random, parts))


def words_of_ptx(random: Random, text: str) -> str:
    """Damage one asm template: its words, or a part of another template behind it."""
    found = list(_ASM.finditer(text))
    if not found:
        return text
    chosen = random.choice(found)
    body = chosen[0][1:-1]
    if random.random() < 0.2:
        other = random.choice(found)[0][1:-1]
        body = body[: random.randrange(len(body) + 1)] + other[random.randrange(len(other) + 1) :]
    else:
        body = "".join(_shuffled(random, _WORDS.findall(body)))
    body = re.sub(r'(?<!\\)"', r"\"", body.replace("\n", " "))
    return f'{text[: chosen.start()]}"{body}"{text[chosen.end() :]}'


def _shuffled(random: Random, parts: list[str]) -> list[str]:
    if not parts:
        return [random.choice(NASTY)]
    for _ in range(random.randint(1, 3)):
        at, other = random.randrange(len(parts)), random.randrange(len(parts))
        kind = random.randrange(5)
        if kind == 0:
            parts[at] = ""
        elif kind == 1:
            parts[at] *= 2
        elif kind == 2:
            parts[at], parts[other] = parts[other], parts[at]
        elif kind == 3:
            parts[at] = parts[other]
        else:
            parts[at] = random.choice(NASTY)
    return parts


def lines(random: Random, text: str) -> str:
    """Drop, double or move some lines, or cut the text off."""
    rows = text.split("\n")
    first = random.randrange(len(rows))
    last = min(first + int(random.expovariate(0.3)) + 1, len(rows))
    kind = random.randrange(4)
    if kind == 0:
        del rows[first:last]
    elif kind == 1:
        rows[first:first] = rows[first:last]
    elif kind == 2:
        block = rows[first:last]
        del rows[first:last]
        at = random.randrange(len(rows) + 1)
        rows[at:at] = block
    else:
        return text[: random.randrange(len(text) + 1)]
    return "\n".join(rows)


def characters(random: Random, text: str) -> str:
    """Replace, insert or drop single characters."""
    chars = list(text)
    for _ in range(random.randint(1, 8)):
        at = random.randrange(len(chars) + 1)
        new = chr(random.choice((random.randrange(128), random.randrange(0x250), 0x202E, 0x1D7D9)))
        chars[at : at + random.randrange(3)] = new if random.random() < 0.7 else ""
    return "".join(chars)


def numbers(random: Random, text: str) -> str:
    """Replace a number by another one, possibly an absurd one."""
    found = list(re.finditer(r"\b\d+\b", text))
    if not found:
        return text
    chosen = random.choice(found)
    new = random.choice((str(int(chosen[0][:18]) + random.choice((-1, 1))), random.choice(NASTY[:13])))
    return text[: chosen.start()] + new + text[chosen.end() :]


def depth(random: Random, text: str) -> str:
    """Nest something deeply."""
    opening, closing = random.choice((("(", ")"), ("{", "}"), ("[", "]"), ("if (n) {", "}"), ("-", ""), ("&", "")))
    times = random.choice((10, 100, 3000))
    at = random.randrange(len(text) + 1)
    return f"{text[:at]}{opening * times}0{closing * times}{text[at:]}"


SOURCE: tuple[Mutation, ...] = (
    tokens,
    tokens,
    tokens,
    words_of_ptx,
    words_of_ptx,
    lines,
    characters,
    numbers,
    numbers,
    depth,
)
PTX: tuple[Mutation, ...] = (words_of_ptx,)
PLAIN: tuple[Mutation, ...] = (tokens, lines, characters, numbers)
