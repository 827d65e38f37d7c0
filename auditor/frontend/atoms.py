"""Classes of CuTe that stand for one instruction on many registers, made for the shapes that a source names.

CuTe has more than a thousand of them, with up to 128 parameters each, so that a header with all of them would cost more
to parse than any kernel. What each emits is in PTX ISA, "wgmma.mma_async" and "tcgen05.ld / tcgen05.st".
"""

from __future__ import annotations

import re
from collections.abc import Iterable

WGMMA_HEADER = "bw/wgmma_atoms.h"
TMEM_HEADER = "bw/tmem_atoms.h"

_WGMMA = re.compile(
    r"\b(?:MMA|SM90)_64x(?P<n>\d{1,3})x(?P<k>8|16|32)_(?P<d>F32|F16|S32)(?P<a>F16|BF16|TF32|E4M3|E5M2|S8|U8)"
    r"(?P<b>F16|BF16|TF32|E4M3|E5M2|S8|U8)_(?P<source>SS|RS)(?P<layout>(?:_TN)?)(?P<saturate>(?:_SATURATE)?)\b"
)
_TMEM = re.compile(
    r"\bSM100_TMEM_(?P<way>LOAD|STORE)_(?P<lanes>\d+)dp(?P<bits>\d+)b(?P<times>\d+)x(?P<half>(?:_16b)?)\b"
)
# What each of the names holds: most sources have none of them, which is told much faster than by the patterns.
_WGMMA_STEM, _TMEM_STEM = "_64x", "SM100_TMEM_"


def atom_headers(text: str) -> list[tuple[str, str]]:
    """(name, text) of the headers with the classes that ``text`` names."""
    wgmma = {match[0].replace("SM90_", "MMA_"): match for match in _wgmma_names(text)}
    tmem = {match[0]: match for match in (_TMEM.finditer(text) if _TMEM_STEM in text else ())}
    return [
        (WGMMA_HEADER, "".join(_wgmma_class(name, match) for name, match in wgmma.items()) + _old_names(text)),
        (TMEM_HEADER, _tmem_classes("LOAD", tmem) + _tmem_classes("STORE", tmem)),
    ]


def _wgmma_names(text: str) -> list[re.Match[str]]:
    if _WGMMA_STEM not in text:
        return []
    return [match for match in _WGMMA.finditer(text) if int(match["n"]) in range(8, 257, 8)]


def _wgmma_class(name: str, match: re.Match[str]) -> str:
    """D and the registers of A are the first operands; then the descriptors, ScaleOut, and the immediate ones."""
    registers = int(match["n"]) // (4 if match["d"] == "F16" else 2)
    kind, constraint = ("float", "f") if match["d"] == "F32" else ("uint32_t", "r")
    d = [f"d{i}" for i in range(registers)]
    a = [f"a{i}" for i in range(4)] if match["source"] == "RS" else []
    inputs = [f'"r"({name})' for name in a] if a else ['"l"(a)']
    inputs += ['"l"(b)', '"r"((int)scale)']
    at = registers + (len(a) or 1)  # number of the operand of B
    immediates = []
    if match["d"] != "S32":
        immediates = ["sa", "sb"]
        if match["k"] == "16":
            immediates += ["tb"] if a else ["ta", "tb"]
    inputs += [f'"n"((int){name})' for name in immediates]
    a_text = f"{{{_places(registers, 4)}}}" if a else f"%{registers}"
    types = ".".join(match[group].lower() for group in "dab")
    satfinite = ".satfinite" if match["saturate"] else ""
    tail = "".join(f", %{at + 2 + i}" for i in range(len(immediates)))
    parameters = [f"const uint32_t &{name}" for name in a] or ["const uint64_t &a"]
    parameters += ["const uint64_t &b", *(f"{kind} &{name}" for name in d), "ScaleOut scale = ScaleOut::One"]
    outputs = ", ".join(f'"+{constraint}"({name})' for name in d)
    return (
        f"{_wgmma_template(match, arguments=False)}struct {name} {{\n"
        f"using DRegisters = void; using ARegisters = {'uint32_t[4]' if a else 'uint64_t[1]'};\n"
        f"using BRegisters = uint64_t[1]; using CRegisters = {kind}[{registers}];\n"
        f"static __device__ void fma({', '.join(parameters)})\n{{\n"
        f'asm volatile("{{ .reg .pred p; setp.ne.b32 p, %{at + 1}, 0; wgmma.mma_async.sync.aligned'
        f".m64n{match['n']}k{match['k']}.{types}{satfinite} "
        f'{{{_places(0, registers)}}}, {a_text}, %{at}, p{tail}; }}"\n: {outputs} : {", ".join(inputs)});\n}}\n}};\n'
        f"{_wgmma_template(match, arguments=False)}using SM90_{name.removeprefix('MMA_')} = "
        f"{name}{_wgmma_template(match, arguments=True)};\n"
    )


def _old_names(text: str) -> str:
    """Aliases in namespace cute for the names that wgmma's classes had before CUTLASS 3.6."""
    named = dict.fromkeys(match[0] for match in _wgmma_names(text) if match[0].startswith("SM90_"))
    aliases = "".join(f"using SM90::GMMA::{name};\n" for name in named)
    return f"}}\n{aliases}namespace SM90::GMMA {{\n" if aliases else ""


def _wgmma_template(match: re.Match[str], *, arguments: bool) -> str:
    """The template head of a class, or the arguments that pass its parameters on."""
    majors = ["ta", "tb"] if match["k"] == "16" else []
    scales = ["sa", "sb"] if match["d"] != "S32" else []
    if arguments:
        return f"<{', '.join(majors + scales)}>" if majors + scales else ""
    head = [f"Major {name}" for name in majors] + [f"ScaleIn {name} = ScaleIn::One" for name in scales]
    return f"template <{', '.join(head)}> " if head else ""


def _tmem_classes(way: str, named: dict[str, re.Match[str]]) -> str:
    classes = "".join(_tmem_class(name, match) for name, match in named.items() if match["way"] == way)
    return f"namespace SM100::TMEM::{way} {{\n{classes}}}\n"


def _tmem_class(name: str, match: re.Match[str]) -> str:
    """A load writes its registers; a store has the address behind them."""
    lanes, bits, times = int(match["lanes"]), int(match["bits"]), int(match["times"])
    halves = lanes == 16 and bits == 32  # a second half at a column offset of its own
    registers = times if halves else lanes * bits * times // 1024
    shape = f"{lanes}x{bits}bx2" if halves else f"{lanes}x{bits}b"
    r = [f"r{i}" for i in range(registers)]
    offset = f", {times}" if halves else ""
    if match["way"] == "LOAD":
        parameters = ["const uint32_t &at", *(f"uint32_t &{name}" for name in r)]
        pack = ".pack::16b" if match["half"] else ""
        body = (
            f'"tcgen05.ld.sync.aligned.{shape}.x{times}{pack}.b32 '
            f'{{{_places(0, registers)}}}, [%{registers}]{offset};"\n'
            f': {_operands("=r", r)} : "r"(at) : "memory"'
        )
    else:
        parameters = [*(f"const uint32_t &{name}" for name in r), "const uint32_t &at"]
        pack = ".unpack::16b" if match["half"] else ""
        body = (
            f'"tcgen05.st.sync.aligned.{shape}.x{times}{pack}.b32 [%0]{offset}, {{{_places(1, registers)}}};"\n'
            f':: "r"(at), {_operands("r", r)} : "memory"'
        )
    source, target = (1, registers) if match["way"] == "LOAD" else (registers, 1)
    return (
        f"struct {name} {{\nusing SRegisters = uint32_t[{source}]; using DRegisters = uint32_t[{target}];\n"
        f"static __device__ void copy({', '.join(parameters)})\n{{\nasm volatile({body});\n}}\n}};\n"
    )


def _places(first: int, count: int) -> str:
    return ", ".join(f"%{first + i}" for i in range(count))


def _operands(constraint: str, names: Iterable[str]) -> str:
    return ", ".join(f'"{constraint}"({name})' for name in names)
