"""Audits one file: reads it, sends it through the pipeline for each architecture, and turns failures into one line."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from auditor.analysis import Analysis, ArchRun, KernelPlace
from auditor.collector import collector_at_rest
from auditor.conclude import conclude
from auditor.config import STDIN, AuditOptions, InputError, is_python, is_utf_8
from auditor.findings import FileResult

if TYPE_CHECKING:
    from auditor.frontend.options import Options

T = TypeVar("T")

MAX_FILE = 32 << 20
MAX_LINE = 1 << 20
_RECURSION_LIMIT = 12_000
_STACK = 256 << 20  # address space only: pages that the audit does not touch cost nothing

DEFAULT_ARCH = "sm_100a"
_NAMED = re.compile(r"sm_1(?<=\bsm_1)\d\d[af]\b")  # begins with letters: ``re`` looks faster for those than for \b
_LATER = re.compile(r"tcgen05\.ld\.red\b")  # which sm_100 does not have


def _words(**patterns: str) -> dict[str, re.Pattern[str]]:
    """Patterns by the letters that each match holds, for which a source is searched before."""
    return {letters: re.compile(pattern) for letters, pattern in patterns.items()}


_HOPPER = _words(
    wgmma="wgmma", sm_90a=r"\bsm_90a\b", SM90=r"\bSM90", warpgroup_arrive=r"\bwarpgroup_arrive\b"
)  # fmt: skip
_BLACKWELL = _words(
    tcgen05="tcgen05", sm_1=r"\bsm_1\d\d", SM1=r"\bSM1\d\d", UMMA="UMMA", Umma="Umma", umma_=r"\bumma_"
)  # fmt: skip


def audit_file(path: str, options: AuditOptions) -> FileResult:
    """Audit one source file. Never raises for what the file holds: ``failure`` says in one line what went wrong."""
    return conclude(analyse_file(path, options), options)


def analyse_file(path: str, options: AuditOptions, text: str | None = None) -> Analysis:
    """The pipeline on one file, or on ``text`` as if it were that file. Never raises for what the file holds."""
    analysis = Analysis(path)
    began = time.monotonic()
    try:
        with collector_at_rest():
            _analyse(path, options, text, analysis)
    except InputError as error:
        analysis.failure = str(error)
    except OSError as error:
        analysis.failure = error.strerror or str(error)
    except MemoryError:
        analysis.failure = "out of memory"
    except Exception as error:  # a defect of ours must not cost the other files their findings
        if _is_nesting(error):
            analysis.failure = "nested too deeply to be audited"
        elif os.environ.get("BW_AUDIT_DEBUG"):
            raise
        else:
            analysis.failure = f"internal error: {type(error).__name__}: {_one_line(str(error))}"
    analysis.seconds = time.monotonic() - began
    return analysis


def _analyse(path: str, options: AuditOptions, text: str | None, analysis: Analysis) -> None:
    """The pipeline for each architecture, and the repairs. Raises what the file brings about."""
    if not is_utf_8(path):
        raise InputError("its name is not UTF-8")
    if text is None:
        text = read_source(path)
    analysis.sources[path] = text
    if is_python(path):
        _audit_python(path, text, options, analysis)
    else:
        for arch in options.arches or (guess_arch(text),):
            analysis.runs.append(_pipeline(path, text, arch, options, analysis))
    if any(finding.candidates for run in analysis.runs for finding in run.findings):
        from auditor.repair.verify import with_confirmed_fixes

        confirming = time.monotonic()
        with_confirmed_fixes(analysis, options, analyse_file)
        _spend(analysis, "confirming fixes", confirming)


def _is_nesting(error: Exception) -> bool:
    """Whether one of Python's limits was met: of its stack, or on the nesting of the generated code."""
    limits = ("too many statically nested blocks", "too many levels of indentation")
    return isinstance(error, RecursionError) or (isinstance(error, SyntaxError) and error.msg.startswith(limits))


def _audit_python(path: str, text: str, options: AuditOptions, analysis: Analysis) -> None:
    """The pipeline on each string with CUDA source in a Python file. One that cannot be audited is noted."""
    from auditor.python_source import joined, read_python

    source = read_python(text)
    for arch in options.arches or (guess_arch(source.text),):
        runs, skipped = [], list(source.skipped)
        for piece in source.pieces:
            try:
                runs.append((piece, _pipeline(path, piece.text, arch, options, analysis)))
            except InputError as error:
                skipped.append((piece.line, str(error)))
        if source.pieces and not runs:
            raise InputError(skipped[-1][1])
        analysis.runs.append(joined(arch, path, runs, skipped))


def reading_options(arch: str, options: AuditOptions) -> Options:
    """How the frontend is to read a source for one architecture."""
    from auditor.frontend.options import Options

    return Options(
        arch=arch,
        includes=options.includes,
        defines=options.defines,
        std=options.std,
        extra=options.extra,
        cuda_path=options.cuda_path,
        own_headers=options.cuda_path is None,
        instantiate=options.instantiate,
    )


def _pipeline(path: str, text: str, arch: str, options: AuditOptions, analysis: Analysis) -> ArchRun:
    """Frontend, machine, graph and rules for one architecture. Tells ``analysis`` what was read and the time spent."""
    began = time.monotonic()
    from auditor.audit import audit_program
    from auditor.frontend.included import included_files
    from auditor.frontend.lower.program_builder import lower_unit
    from auditor.frontend.parse import ParseFailure, parse

    reading = reading_options(arch, options)
    began = _spend(analysis, "loading", began)
    try:
        unit = parse(path, text, reading)
        analysis.headers += [name for name in included_files(unit) if name not in analysis.headers]
        began = _spend(analysis, "parsing", began)
        program = lower_unit(unit)
        broken = unit.syntax_error if "__global__" in text and all(k.empty for k in program.kernels) else ""
        del unit
    except ParseFailure as failure:
        raise InputError(str(failure).removeprefix(f"{path}: ")) from failure
    if broken:  # a kernel that the error swallowed is not one without a body
        raise InputError(broken)
    for name, source in program.sources.items():
        analysis.sources.setdefault(name, source)
    began = _spend(analysis, "translating", began)
    findings, coverage = audit_program(program, options)
    _spend(analysis, "running and judging", began)
    places = [KernelPlace(kernel.display, kernel.loc, kernel.body) for kernel in program.kernels]
    return ArchRun(arch, findings, coverage, places)


def _spend(analysis: Analysis, stage: str, began: float) -> float:
    now = time.monotonic()
    analysis.stages[stage] = analysis.stages.get(stage, 0.0) + now - began
    return now


def read_source(path: str) -> str:
    """The text of a source file, or of standard input for "-". Raises InputError or OSError."""
    raw = sys.stdin.buffer.read() if path == STDIN else _read(Path(path))
    if not raw.strip() and not is_python(path):  # an empty __init__.py is in order
        raise InputError("file is empty")
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError("file is UTF-16; save it as UTF-8")
    if b"\0" in raw:
        raise InputError("binary file, not source text")
    for number, line in enumerate(raw.split(b"\n"), 1):
        if len(line) > MAX_LINE:
            raise InputError(f"line {number} is {len(line):,} bytes long (limit {MAX_LINE:,})")
    return raw.decode("utf-8-sig", "replace")


def _read(path: Path) -> bytes:
    if path.is_dir():
        raise InputError("is a folder")
    if path.exists() and not path.is_file():
        raise InputError("not a regular file")
    if path.exists() and path.stat().st_size > MAX_FILE:
        raise InputError(f"file is {path.stat().st_size:,} bytes long (limit {MAX_FILE:,})")
    return path.read_bytes()


def guess_arch(text: str) -> str:
    """The architecture that a source was written for when the user named none: Hopper where only that fits, and a later
    Blackwell where the source, or a comment in it, speaks of no other or an instruction needs it."""
    named = set(_NAMED.findall(text))
    if _speaks_of(text, _HOPPER) and not _speaks_of(text, _BLACKWELL):
        return "sm_90a"
    return "sm_103a" if named == {"sm_103a"} or (not named and _LATER.search(text)) else DEFAULT_ARCH


def _speaks_of(text: str, words: dict[str, re.Pattern[str]]) -> bool:
    return any(letters in text and pattern.search(text) for letters, pattern in words.items())


def _one_line(text: str, limit: int = 200) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 3] + "..."


def with_deep_stack(work: Callable[[], T]) -> T:
    """Run ``work`` in a thread whose stack allows deep recursion, and return its result or raise what it raised."""
    outcome: list[T] = []
    failure: list[BaseException] = []

    def body() -> None:
        try:
            outcome.append(work())
        except BaseException as error:  # handed to the caller's thread
            failure.append(error)

    with _deep_stack():
        thread = threading.Thread(target=body, name="bw-audit", daemon=True)
        thread.start()
        thread.join()
    if failure:
        raise failure[0]
    return outcome[0]


@contextlib.contextmanager
def _deep_stack() -> Iterator[None]:
    limit, size = sys.getrecursionlimit(), threading.stack_size()
    with contextlib.suppress(ValueError, RuntimeError):  # a platform may refuse the size; then its own holds
        threading.stack_size(_STACK)
    sys.setrecursionlimit(max(limit, _RECURSION_LIMIT))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
        threading.stack_size(size)
