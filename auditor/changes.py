"""Which lines a branch has changed, as git knows it, and which findings they concern."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from auditor.findings import FileResult, Finding
from auditor.source import Loc

UNTOUCHED = "outside the changes"
_TIMEOUT = 120  # seconds
_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@")


class ChangesError(Exception):
    """git cannot tell the changes. The message is one line."""


class Changes:
    """Changed lines by file. A file that git does not know is changed as a whole."""

    def __init__(self, lines: dict[Path, set[int]], whole: set[Path]) -> None:
        self._lines = lines
        self._whole = whole
        self._resolved: dict[str, Path] = {}

    def only_touched(self, result: FileResult) -> FileResult:
        """The result without the findings that no change concerns; they are counted as hidden."""
        kept = [finding for finding in result.findings if self.concern(finding)]
        count = len(result.findings) - len(kept)
        return replace(result, findings=kept, hidden={**result.hidden, UNTOUCHED: count}) if count else result

    def concern(self, finding: Finding) -> bool:
        """Whether a finding, a place that it refers to or a step of its flow lies on a changed line."""
        places = (finding.loc, *(place.loc for place in (*finding.related, *finding.flow)))
        return any(self._changed(loc) for loc in places)

    def _changed(self, loc: Loc) -> bool:
        if loc.file not in self._resolved:
            self._resolved[loc.file] = Path(loc.file).resolve()
        file = self._resolved[loc.file]
        if file in self._whole:
            return True
        lines = self._lines.get(file)
        return lines is not None and not lines.isdisjoint(range(loc.line, max(loc.end_line, loc.line) + 1))


def changes_since(revision: str) -> Changes:
    """What the working tree has changed since it left ``revision``. Raises ChangesError."""
    if revision.startswith("-") or not revision.strip():
        raise ChangesError(f"{revision!r} is not a revision")
    root = Path(_git("rev-parse", "--show-toplevel").rstrip("\n")).resolve()
    base = _base(revision)
    patch = _git(
        "diff",
        "--unified=0",
        "--no-color",
        "--no-ext-diff",
        "--no-textconv",
        "--no-renames",
        "--ignore-submodules",
        "--src-prefix=a/",
        "--dst-prefix=b/",
        base,
        "--",
        cwd=root,
    )
    lines: dict[Path, set[int]] = {}
    for name, changed in _hunks(patch):
        lines.setdefault((root / name).resolve(), set()).update(changed)
    others = _git("ls-files", "--others", "--exclude-standard", "-z", cwd=root).split("\0")
    return Changes(lines, {(root / name).resolve() for name in others if name})


def _base(revision: str) -> str:
    """The commit where the work began: the merge base; the revision itself when the histories share nothing."""
    commit = _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}").strip()
    try:
        return _git("merge-base", commit, "HEAD").strip()
    except ChangesError:
        return commit


def _hunks(patch: str) -> Iterator[tuple[str, Sequence[int]]]:
    """(file, changed lines) of each hunk. Where lines were only removed, their neighbours count as changed."""
    name: str | None = None
    skip = 0  # lines of a hunk's body, which may look like anything
    for line in patch.split("\n"):
        if skip and line[:1] in ("+", "-"):
            skip -= 1
        elif line.startswith("+++ "):
            name = _name(line[4:])
        elif (match := _HUNK.match(line)) and name is not None:
            first, count = int(match[1]), int(match[2] or "1")
            old = re.match(r"@@ -\d+(?:,(\d+))?", line)
            skip = count + int((old[1] if old else None) or "1")
            yield name, range(first, first + count) if count else (first, first + 1)


def _name(text: str) -> str | None:
    """A path of a patch's header, without its prefix; None for /dev/null."""
    text = text.rstrip("\t")
    if text.startswith('"') and text.endswith('"'):
        raw = text[1:-1].encode("utf-8", "surrogateescape").decode("latin-1")
        text = raw.encode("latin-1").decode("unicode_escape").encode("latin-1").decode("utf-8", "surrogateescape")
    return text[2:] if text.startswith("b/") else None


def _git(*words: str, cwd: Path | None = None) -> str:
    settings = ("-c", "core.fsmonitor=false", "-c", "core.quotePath=false")  # a repository may not choose a program
    try:
        done = subprocess.run(
            ["git", *settings, *words], cwd=cwd, capture_output=True, timeout=_TIMEOUT, stdin=subprocess.DEVNULL
        )
    except FileNotFoundError:
        raise ChangesError("git is not installed") from None
    except subprocess.TimeoutExpired:
        raise ChangesError(f"git {words[0]} took more than {_TIMEOUT} s") from None
    if done.returncode:
        why = done.stderr.decode("utf-8", "replace").strip().partition("\n")[0] or "no such revision"
        raise ChangesError(f"git {words[0]}: {why}")
    return done.stdout.decode("utf-8", "surrogateescape")
