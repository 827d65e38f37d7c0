"""Compiler flags on our command line.

Users paste what they give to nvcc. ``split`` takes nvcc's (and the host compiler's) flags out of the arguments,
translates those that change what the source means, and drops the rest.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import field

from auditor.quick_dataclass import dataclass

# Flags that take a value, as the next word or after "=". The name is without its dashes.
_WITH_VALUE = frozenset(
    """
    Xcompiler compiler-options Xptxas ptxas-options Xlinker linker-options Xnvlink nvlink-options Xarchive
    archive-options Xcudafe ccbin compiler-bindir maxrregcount threads t split-compile x cudart diag-suppress
    diag-error diag-warn optimize MF MT MQ odir output-directory objdir-as-tempdir keep-dir library library-path L l
    machine m relocatable-device-code rdc ftz prec-div prec-sqrt fmad default-stream dependency-output
    libdevice-directory ldir target-directory tdir brief-diagnostics opt-info jump-table-density
    """.split()
)
# Long flags without a value. Short ones need no list: everything with one dash that is not ours is a compiler's.
_WITHOUT_VALUE = frozenset(
    """
    expt-relaxed-constexpr expt-extended-lambda extended-lambda use_fast_math generate-line-info device-debug debug
    ptx cubin fatbin compile device-c device-w dc dw shared keep verbose dryrun resource-usage restrict
    extra-device-vectorization no-exceptions forward-unknown-to-host-compiler forward-unknown-opts
    forward-unknown-to-host-linker allow-unsupported-compiler no-host-device-initializer-list
    no-host-device-move-forward display-error-number no-display-error-number source-in-ptx disable-warnings
    device-int128 extensible-whole-program profile static-global-template-stub dlink-time-opt gen-opt-lto save-temps
    time lib cuda preprocess m64
    """.split()
)
_OUR_SHORT = ("-o", "-q", "-j", "-I", "-D", "-h", "-V")
_SOURCES = (".cu", ".cuh")
_ARCH = re.compile(r"(?:sm|compute|lto)_(\d+[af]?)")


@dataclass
class CompilerFlags:
    """What a compiler command line says about the meaning of the source."""

    arches: list[str] = field(default_factory=list)
    includes: list[str] = field(default_factory=list)
    defines: list[str] = field(default_factory=list)
    extra: list[str] = field(default_factory=list)
    std: str | None = None


def split(words: Sequence[str]) -> tuple[list[str], CompilerFlags]:
    """Our own arguments, and what the compiler flags among ``words`` say.

    After ``--`` every word belongs to a compile command: flags are read or dropped, and source files are audited.
    """
    return _Splitter(words).run()


class _Splitter:
    def __init__(self, words: Sequence[str]) -> None:
        self._words = list(words)
        self._at = 0
        self._ours: list[str] = []
        self._flags = CompilerFlags()

    def run(self) -> tuple[list[str], CompilerFlags]:
        command = False  # whether we are after "--"
        files = set()
        while self._at < len(self._words):
            word = self._next()
            if word == "--" and not command:
                command = True
            elif word == "-" or not word.startswith("-"):
                if not command:
                    self._ours.append(word)
                    files.add(word)
                elif word.endswith(_SOURCES) and word not in files:
                    self._ours.append(word)
            elif not self._meaning(word, command) and not self._dropped(word, command):
                self._ours.append(word)
        return self._ours, self._flags

    def _next(self) -> str:
        self._at += 1
        return self._words[self._at - 1]

    def _value(self, attached: str) -> str:
        """A flag's value: what is attached to it, or the next word."""
        if attached:
            return attached.removeprefix("=")
        return self._next() if self._at < len(self._words) else ""

    def _meaning(self, word: str, command: bool) -> bool:
        """Translate a flag that changes what the source means. False when it is not one."""
        flags = self._flags
        if match := re.fullmatch(r"--?(?:gpu-code|code|generate-code|gencode)(=.*)?", word):
            flags.arches += _arches(self._value(match[1] or ""))
        elif match := re.fullmatch(r"-arch(=.*)?|--gpu-architecture(=.*)?", word):
            flags.arches += _arches(self._value(match[1] or match[2] or ""))
        elif match := re.fullmatch(r"-std(=.*)?", word):
            flags.std = self._value(match[1] or "")
        elif match := re.fullmatch(r"(?:--?pre-include|--?include|-(isystem|iquote|idirafter|imacros))(=.*)?", word):
            name = match[1] or "include"
            flags.extra += [f"-{name}", self._value(match[2] or "")]
        elif match := re.fullmatch(r"-U(.*)|--undefine-macro(=.*)?", word):
            flags.extra.append(f"-U{self._value(match[1] or match[2] or '')}")
        elif match := re.fullmatch(r"--include-path(=.*)?", word):
            flags.includes += self._value(match[1] or "").split(",")
        elif match := re.fullmatch(r"--define-macro(=.*)?", word):
            flags.defines.append(self._value(match[1] or ""))
        elif command and (match := re.fullmatch(r"-I(.*)", word)):
            flags.includes.append(self._value(match[1]))
        elif command and (match := re.fullmatch(r"-D(.*)", word)):
            flags.defines.append(self._value(match[1]))
        elif command and (match := re.fullmatch(r"--std(=.*)?", word)):
            flags.std = self._value(match[1] or "")
        else:
            return False
        return True

    def _dropped(self, word: str, command: bool) -> bool:
        """Drop a flag that means nothing to an audit, with its value. False when it may be one of ours."""
        name, equals, _ = word.lstrip("-").partition("=")
        ours = not command and word.startswith(_OUR_SHORT) and not word.startswith("--")
        if ours or (not command and word.startswith("--") and name not in _WITH_VALUE | _WITHOUT_VALUE):
            return False
        if not equals and (name in _WITH_VALUE or (command and word in ("-o", "--output-file"))):
            self._value("")
        return True


def _arches(text: str) -> list[str]:
    """Real architectures that a value names, as sm_*; the virtual ones count when there are no others."""
    real = re.findall(r"\bsm_(\d+[af]?)", text)
    return [f"sm_{number}" for number in real or _ARCH.findall(text)]
