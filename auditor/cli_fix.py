"""What ``--fix`` and ``--diff`` do: all confirmed fixes of a file together, audited again before they count."""

from __future__ import annotations

import codecs
import difflib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from auditor.add_ignores import replace_file
from auditor.config import AuditOptions
from auditor.edits import apply_edits, kept_lines
from auditor.findings import Edit, FileResult, Finding
from auditor.output.tool import NAME

_ROUNDS = 16  # one repair may make another possible, or needless
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")

Audit = Callable[[str, AuditOptions, str], FileResult]
_Shown = set[tuple[str, str, int]]  # code, file, line


@dataclass(frozen=True)
class Repaired:
    """A source before and after its fixes. ``fixed`` counts findings; ``result`` is the audit of the new text."""

    path: str
    before: str
    after: str
    fixed: int
    result: FileResult


def audit_text(path: str, options: AuditOptions, text: str) -> FileResult:
    """Audit a text as if it were the file ``path``."""
    from auditor.conclude import conclude
    from auditor.engine import analyse_file, with_deep_stack

    return conclude(with_deep_stack(lambda: analyse_file(path, options, text)), options)


def repaired(result: FileResult, options: AuditOptions, audit: Audit = audit_text) -> Repaired | None:
    """The source of a result with every fix of its findings, as far as they agree; None when there is none.

    Fixes that were confirmed one by one are confirmed again together. Where they do not agree, one is taken alone.
    """
    path, now = result.path, result
    before = text = result.sources.get(path, "")
    wanted = {(finding.code, finding.loc.line) for finding in result.findings}
    lines = {line: line for line in range(1, before.count("\n") + before.count("\r") + 2)}
    fixed = 0
    for _ in range(_ROUNDS):
        fixable = [f for f in now.findings if f.fix and (f.code, lines.get(f.loc.line, 0)) in wanted]
        for chosen in (_compatible(fixable), fixable[:1]):
            edits = _edits(chosen)
            new = apply_edits(text, edits)
            after = audit(path, options, new)
            kept = kept_lines(text, edits)
            if chosen and _is_better(now, after, chosen, kept):
                break
        else:
            break
        fixed += len(chosen)
        text, now = new, after
        lines = {line: lines[old] for line, old in kept.items() if old in lines}
    return Repaired(path, before, text, fixed, now) if fixed else None


def _compatible(findings: Sequence[Finding]) -> list[Finding]:
    """The findings whose fixes do not touch the same place, unless they are the same edits.

    Of fixes that insert the same thing at different places of one kernel, only the first is taken: it may be enough.
    """
    chosen: list[Finding] = []
    for finding in findings:
        edits = _edits([finding])
        apart = all(edit in edits or not _meet(edit, other) for edit in _edits(chosen) for other in edits)
        if apart and not any(_alike(finding, other) and _edits([other]) != edits for other in chosen):
            chosen.append(finding)
    return chosen


def _alike(a: Finding, b: Finding) -> bool:
    return a.kernel == b.kernel and a.fix is not None and b.fix is not None and a.fix.description == b.fix.description


def _edits(findings: Sequence[Finding]) -> list[Edit]:
    return list(dict.fromkeys(edit for finding in findings if finding.fix for edit in finding.fix.edits))


def _meet(a: Edit, b: Edit) -> bool:
    """Whether two edits touch one another; insertions at the same place do."""
    (a_start, a_end), (b_start, b_end) = _range(a), _range(b)
    return a_start <= b_end and b_start <= a_end


def _range(edit: Edit) -> tuple[tuple[int, int], tuple[int, int]]:
    loc = edit.loc
    return (loc.line, loc.column), (loc.end_line, loc.end_column)


def _is_better(before: FileResult, after: FileResult, chosen: Sequence[Finding], kept: dict[int, int]) -> bool:
    """Whether an audit no longer shows the chosen findings, and nothing that was not there before."""
    if after.failure:
        return False
    shown = {(f.code, f.loc.file, kept.get(f.loc.line, 0) if _own(f, after) else f.loc.line) for f in after.findings}
    return shown <= _shown(before.findings) - _shown(chosen)


def _shown(findings: Sequence[Finding]) -> _Shown:
    return {(finding.code, finding.loc.file, finding.loc.line) for finding in findings}


def _own(finding: Finding, result: FileResult) -> bool:
    return finding.loc.file == result.path


def unified_diff(change: Repaired) -> Iterator[str]:
    """The change as a unified diff that ``patch -p0`` takes."""
    before, after = _LINE.findall(change.before), _LINE.findall(change.after)
    for line in difflib.unified_diff(before, after, change.path, change.path):
        yield line
        if not line.endswith(("\n", "\r")):
            yield "\n\\ No newline at end of file\n"


def write_repaired(change: Repaired) -> str:
    """Write a repaired source; returns why it was not written, or nothing. Raises OSError."""
    file = Path(change.path)
    raw = file.read_bytes()
    mark = "\ufeff" if raw.startswith(codecs.BOM_UTF8) else ""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return "not changed, because it is not UTF-8"
    if text != change.before:
        return f"not changed, because it is not what {NAME} has audited any more"
    replace_file(file, mark + change.after)
    return ""
