"""Suppressions: comments by which a user accepts findings, each with a reason.

``// bw-audit: ignore[BW202] reason`` covers its line; alone on a line it covers the next line of code, and a kernel
when that line begins the kernel's definition. ``// bw-audit: ignore-file[BW202] reason`` covers the file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field

from auditor.analysis import KernelPlace
from auditor.comments import Comment, Layout
from auditor.findings import Finding, Level
from auditor.quick_dataclass import dataclass
from auditor.source import Loc

CODE = "BW004"
MARK = "bw-audit:"
_DIRECTIVE = re.compile(r"(?:^|//|/\*)[ \t!*]*bw-audit:[ \t]*(?P<rest>.*)")
_FORM = re.compile(r"(?P<word>ignore(?:-file)?)[ \t]*\[(?P<codes>[^\]]*)\](?P<reason>.*)")
_RULE_CODE = re.compile(r"BW\d{3}")
_NO_DECLARATION = re.compile(r"[;{}]|^[ \t]*\#", re.M)  # what does not stand between a declaration's start and its name


@dataclass
class Suppression:
    """One comment. ``target`` is the line that it covers, 0 for the whole file; ``used`` are the codes that it hid."""

    codes: tuple[str, ...]
    reason: str
    loc: Loc
    target: int
    layout: Layout
    used: set[str] = field(default_factory=set)

    def covers(self, finding: Finding, kernels: Sequence[KernelPlace]) -> bool:
        """Whether it accepts a finding of its file."""
        if finding.code not in self.codes:
            return False
        if not self.target:
            return True
        if finding.loc.line <= self.target <= max(finding.loc.end_line, finding.loc.line):
            return True
        return any(kernel.display == finding.kernel and self._opens(kernel.loc) for kernel in kernels)

    def _opens(self, kernel: Loc) -> bool:
        """Whether the declaration of that kernel begins on the target line."""
        if kernel.file != self.loc.file or not self.target <= kernel.line:
            return False
        name_line = self.layout.code(kernel.line, kernel.line).encode("utf-8", "replace")
        lead = self.layout.code(self.target, kernel.line - 1) + "\n"
        lead += name_line[: kernel.column - 1].decode("utf-8", "replace")
        return not _NO_DECLARATION.search(lead)


@dataclass(frozen=True)
class Malformed:
    """A comment that looks like a suppression and is none."""

    why: str
    loc: Loc


def read_suppressions(file: str, text: str, known: Callable[[str], bool]) -> tuple[list[Suppression], list[Malformed]]:
    """The suppressions of one source text. ``known`` tells whether a rule code exists."""
    if MARK not in text:
        return [], []
    layout = Layout(text)
    found: list[Suppression] = []
    wrong: list[Malformed] = []
    for comment in layout.comments:
        for line, words in _directives(comment):
            loc = Loc(file, line, comment.column) if line == comment.line else Loc(file, line)
            outcome = _read(words, comment, loc, layout, known)
            if isinstance(outcome, str):
                wrong.append(Malformed(outcome, loc))
            else:
                found.append(outcome)
    return found, wrong


def _directives(comment: Comment) -> Iterable[tuple[int, str]]:
    """(line, text behind the mark) of each directive of a comment, which may have several lines."""
    for number, text in enumerate(re.split(r"\r\n|\n|\r", comment.text)):
        if match := _DIRECTIVE.search(text):
            yield comment.line + number, match["rest"]


def _read(words: str, comment: Comment, loc: Loc, layout: Layout, known: Callable[[str], bool]) -> Suppression | str:
    """A suppression, or what is wrong with it."""
    form = _FORM.match(words)
    if form is None:
        return "it has the form 'bw-audit: ignore[BW202] reason' or 'bw-audit: ignore-file[BW202] reason'"
    codes = tuple(dict.fromkeys(code.strip() for code in form["codes"].split(",")))
    for code in codes:
        if not _RULE_CODE.fullmatch(code) or not known(code):
            return f"{code!r} is not the code of a rule" if code else "it names no rule"
    reason = form["reason"].strip(" \t:-")
    if not reason:
        return "it gives no reason; say behind the bracket why the finding is accepted"
    if form["word"] == "ignore":
        return Suppression(codes, reason, loc, _target(comment, layout), layout)
    if any(layout.has_code(line) for line in range(1, comment.end_line + 1)):
        return "ignore-file stands behind the first line of code; it belongs at the top of the file"
    return Suppression(codes, reason, loc, 0, layout)


def _target(comment: Comment, layout: Layout) -> int:
    """The line that a comment speaks about: its own, or the next one with code when it stands alone."""
    if not comment.alone:
        return comment.line
    covered = {line for other in layout.comments for line in range(other.line, other.end_line + 1)}
    line = comment.end_line + 1
    while line in covered and not layout.has_code(line):
        line += 1
    return line


class Suppressions:
    """The suppressions of the files that findings of one analysis lie in."""

    def __init__(self, path: str, text: Callable[[str], str], known: Callable[[str], bool]) -> None:
        self._path = path
        self._text = text
        self._known = known
        self._files: dict[str, tuple[list[Suppression], list[Malformed]]] = {}

    def accepts(self, finding: Finding, kernels: Sequence[KernelPlace]) -> bool:
        """Whether a comment accepts this finding; every such comment counts as used."""
        accepted = False
        for suppression in self._of(finding.loc.file)[0]:
            if suppression.covers(finding, kernels):
                suppression.used.add(finding.code)
                accepted = True
        return accepted

    def complaints(self, selected: Callable[[str], bool], complete: bool) -> list[Finding]:
        """Findings about the comments of the audited file itself.

        A comment is called unused only when every rule that it names was ``selected`` and the audit was ``complete``:
        else the finding that it accepts may merely not have been looked for.
        """
        found, wrong = self._of(self._path)
        out = [Finding(CODE, Level.WARNING, f"suppression without effect: {item.why}", item.loc) for item in wrong]
        for item in found if complete else ():
            unused = [code for code in item.codes if code not in item.used and selected(code)]
            if unused:
                message = f"unused suppression: nothing to ignore here for {', '.join(unused)}"
                out.append(Finding(CODE, Level.WARNING, message, item.loc, hint="remove it, or the code from its list"))
        return out

    def _of(self, file: str) -> tuple[list[Suppression], list[Malformed]]:
        if file not in self._files:
            self._files[file] = read_suppressions(file, self._text(file), self._known)
        return self._files[file]
