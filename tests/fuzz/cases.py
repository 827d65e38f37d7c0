"""One case: files in an empty folder and a command line, all from one number."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

from tests.fuzz.mutate import NASTY, PLAIN, PTX, SOURCE, damage
from tests.fuzz.programs import INSTRUCTIONS, PROLOGUE, program

FIXTURES = Path(__file__).parents[2] / "fixtures"
KINDS = ("source",) * 10 + ("ptx", "grown") * 4 + ("splice", "flags") * 2 + ("config", "python", "known", "bytes")
CONFIG = """\
select = ["BW1", "BW2"]
ignore = ["BW210"]
arch = ["sm_100a"]
include = ["include"]
define = ["A=1"]
block = [128, 1, 1]
smem = 1024
fail-on = "error"
exclude = ["third_party/**"]
[set]
n = 3
[levels]
BW210 = "note"
[per-file-ignores]
"a*.cu" = ["BW606"]
[[kernel]]
name = "ring"
block = 128
[kernel.set]
k_blocks = 4
"""
_FLAGS = (
    "--select", "--ignore", "--fail-on", "--exit-zero", "--strict", "--fix", "--diff", "--add-ignores", "--baseline",
    "--write-baseline", "--prune-baseline", "--diff-base", "--config", "--isolated", "--show-settings", "--arch",
    "-I", "-D", "--std", "--cuda-path", "--set", "--block", "--grid", "--cluster", "--smem", "--instantiate",
    "--format", "-o", "--sarif-file", "--color", "--statistics", "--timing", "-q", "--", "-gencode", "-arch=sm_90a",
    "-std=c++17", "-Xcompiler", "-include", "@args", "--unknown", "-",
)  # fmt: skip
_VALUES = (
    "", "a.cu", "b.cu", ".", "missing", "missing/deep", "sub", "BW1", "BW308", "BWX", "never", "sm_100a", "sm_90a",
    "sm_1", "128", "1,1,1", "0", "-1", "1024x1024x64", "9999999999999999999999", "n=1", "n=", "=", "n=1e400", "text",
    "json", "sarif:out.sarif", "sarif:sub", "junit:/dev/full", "json:missing/out.json", "HEAD", "--", "k<1>", "k<",
    "c++99", "é", "\U0001d7d9", "a\tb", "bw-audit.toml", "base.txt", "reason", "A=1", "A(x)=x", "include",
)  # fmt: skip
_COMMANDS = ("rules", "explain", "report", "plan")


@dataclass(frozen=True)
class Case:
    """What one run gets: files by name, the words of the command line and standard input."""

    number: int
    kind: str
    files: dict[str, bytes]
    words: tuple[str, ...]
    stdin: bytes = b""


@cache
def fixtures() -> tuple[Path, ...]:
    """The kernels that are damaged."""
    return tuple(sorted(FIXTURES.rglob("*.cu")))


def make(number: int) -> Case:
    """The case with this number; always the same while the fixtures are."""
    random = Random(number)
    kind = random.choice(KINDS)
    text = random.choice(fixtures()).read_text(encoding="utf-8")
    words = ["a.cu", "--budget", "1", *_some_options(random)]
    files: dict[str, bytes] = {}
    if kind == "source":
        files["a.cu"] = _encoded(damage(random, text, SOURCE))
    elif kind == "grown":
        text = f"#include <cstdint>\n{PROLOGUE}{INSTRUCTIONS}{program(number)}"
        files["a.cu"] = _encoded(damage(random, text, SOURCE))
    elif kind == "ptx":
        files["a.cu"] = _encoded(damage(random, text, PTX, most=12))
    elif kind == "splice":
        other = random.choice(fixtures()).read_text(encoding="utf-8").split("\n")
        rows = text.split("\n")
        at = random.randrange(len(rows))
        files["a.cu"] = _encoded("\n".join(rows[:at] + other[random.randrange(len(other)) :]))
    elif kind == "flags":
        files = {"a.cu": _encoded(text), "b.cu": b"", "sub/c.cu": _encoded(text), "bw-audit.toml": b"", "args": b"-q\n"}
        words = [random.choice(_FLAGS if random.random() < 0.5 else _VALUES) for _ in range(random.randint(1, 8))]
        words = [random.choice(_COMMANDS), *words] if random.random() < 0.25 else [*words, "--budget", "1"]
    elif kind == "config":
        files = {"a.cu": _encoded(text), "bw-audit.toml": _encoded(damage(random, CONFIG, PLAIN))}
    elif kind == "python":
        quotes = random.choice(('r"""', '"""', "'''", 'f"""', '"'))
        source = f"import torch\nSRC = {quotes}{text}{quotes.lstrip('rf')}\nm = load_inline('m', [SRC])\n"
        files["a.py"] = _encoded(damage(random, source, PLAIN))
        words[0] = "a.py"
    elif kind == "known":
        files = {
            "a.cu": _encoded(text),
            "base.txt": _encoded(damage(random, f"BW308  a.cu  {number:x}  text\n", PLAIN)),
        }
        words += ["--baseline", "base.txt", *random.choice(([], ["--prune-baseline"]))]
    else:
        raw = bytearray(text.encode())
        for _ in range(random.randint(1, 40)):
            raw[random.randrange(len(raw))] = random.randrange(256)
        files["a.cu"] = bytes(raw)
    return Case(number, kind, files, tuple(words), files.get("a.cu", b""))


def _some_options(random: Random) -> list[str]:
    """Options that are valid, so that what stands behind them is reached."""
    chosen = [["--format", random.choice(("text", "concise", "json", "sarif", "github", "junit"))]]
    chosen += [["--diff"]] if random.random() < 0.1 else [["--fix"]] if random.random() < 0.1 else []
    chosen += [["--strict"]] if random.random() < 0.2 else []
    chosen += [["--arch", random.choice(("sm_90a", "sm_100a", "sm_120a"))]] if random.random() < 0.3 else []
    chosen += [["--set", f"n={random.choice(NASTY[:6])}"]] if random.random() < 0.1 else []
    chosen += [["--block", str(random.choice((1, 32, 33, 128, 1024)))]] if random.random() < 0.2 else []
    chosen += [["--cluster", random.choice(("2", "4", "16"))]] if random.random() < 0.1 else []
    return [word for words in chosen for word in words]


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
