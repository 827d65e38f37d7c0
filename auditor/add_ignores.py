"""Writes suppression comments for findings that a user accepts."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path

from auditor.comments import Layout
from auditor.config import is_python
from auditor.findings import Finding
from auditor.suppress import CODE, read_suppressions


def with_ignores(text: str, findings: Iterable[Finding], reason: str) -> tuple[str, list[Finding]]:
    """The text with a comment for each finding, and the findings for which no comment can be placed.

    ``findings`` lie in this text. What the tool says about suppressions themselves gets none. The result is read again:
    a comment that would not be understood where it stands is not written.
    """
    by_line: dict[int, list[Finding]] = {}
    for finding in findings:
        if finding.code != CODE:
            by_line.setdefault(finding.loc.line, []).append(finding)
    layout = Layout(text)
    parts = re.split(r"(\r\n|\n|\r)", text)  # lines at even places, their ends at odd ones
    end = parts[1] if len(parts) > 1 else "\n"
    new: dict[int, str] = {}
    for line, found in by_line.items():
        codes = ", ".join(sorted({finding.code for finding in found}))
        changed = _changed(layout, line, f"bw-audit: ignore[{codes}] {reason}", end)
        if changed is not None:
            new[line] = changed
    while wrong := _not_understood(_assemble(parts, new), new, by_line):
        new = {line: changed for line, changed in new.items() if line not in wrong}
    left = [finding for line, found in by_line.items() if line not in new for finding in found]
    return _assemble(parts, new), left


def _assemble(parts: list[str], new: dict[int, str]) -> str:
    """The text with some of its lines changed."""
    return "".join(new.get(at // 2 + 1, part) if at % 2 == 0 else part for at, part in enumerate(parts))


def _not_understood(text: str, new: dict[int, str], by_line: dict[int, list[Finding]]) -> set[int]:
    """The changed lines (by their old numbers) that no suppression of ``text`` covers."""
    found, _ = read_suppressions("", text, lambda code: True)
    covered = {(item.target, code) for item in found for code in item.codes}
    wrong = set()
    inserted = 0
    for line in sorted(new):
        inserted += len(re.findall(r"\r\n|\n|\r", new[line]))
        if any((line + inserted, finding.code) not in covered for finding in by_line[line]):
            wrong.add(line)
    return wrong


def _changed(layout: Layout, line: int, directive: str, end: str) -> str | None:
    """Line ``line`` with the comment behind it or above it; None when neither place is outside strings and macros."""
    if not layout.has_code(line):
        return None
    source = layout.lines[line - 1]
    above = layout.lines[line - 2] if line > 1 else ""
    open_before = line > 1 and layout.is_open_at_end(line - 1)
    if source.rstrip().endswith("\\"):
        if layout.is_open_at_end(line) or any(c.line <= line <= c.end_line for c in layout.comments):
            return None
        return f"{source.rstrip()[:-1].rstrip()}  /* {directive} */ \\"
    commented = any(comment.end_line == line for comment in layout.comments)
    if not layout.is_open_at_end(line) and not commented:
        return f"{source.rstrip()}  // {directive}"
    if open_before or above.rstrip().endswith("\\"):
        return None
    indentation = source[: len(source) - len(source.lstrip())]
    return f"{indentation}// {directive}{end}{source}"


def add_to_files(findings: Iterable[Finding], reason: str) -> tuple[dict[str, int], list[Finding]]:
    """Write comments into the files that findings lie in.

    Returns how many findings are covered by file, and the findings that are not: no comment can stand there, or the
    file is not UTF-8 or cannot be written.
    """
    by_file: dict[str, dict[Finding, None]] = {}
    for finding in findings:
        if finding.code != CODE:
            by_file.setdefault(finding.loc.file, {})[finding] = None
    written: dict[str, int] = {}
    left: list[Finding] = []
    for file, wanted in by_file.items():
        if is_python(file):  # a comment of C++ has to stand in the string, which only the string's layout tells
            left += wanted
            continue
        try:
            text = Path(file).read_bytes().decode("utf-8")
            changed, unplaced = with_ignores(text, wanted, reason)
            if changed != text:
                replace_file(Path(file), changed)
                written[file] = len(wanted) - len(unplaced)
            left += unplaced
        except (OSError, UnicodeDecodeError):
            left += wanted
    return written, left


def replace_file(path: Path, text: str) -> None:
    """Give a file new content in one step, so that an interruption leaves the old or the new one; keeps its mode."""
    path = path.resolve()
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(text.encode("utf-8"))
        Path(name).chmod(path.stat().st_mode & 0o7777 if path.exists() else 0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
