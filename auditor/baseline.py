"""Baselines: findings that are known, and not reported again.

An entry is the rule, the path relative to the baseline, and a hash of the line's text without its blanks. So findings
stay known when code above them changes or is indented anew, and become new when their own line is changed. Equal lines
are counted: a third copy of a known mistake is new.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from auditor.findings import FileResult, Finding
from auditor.output.sources import Sources
from auditor.output.tool import NAME, VERSION

FORMAT = 1
KNOWN = "in the baseline"
MAX_FILE = 64 << 20
_SHOWN = 100  # characters of a line that are kept for readers


class BaselineError(Exception):
    """A baseline that cannot be read. The message is one line and names the file."""


@dataclass(frozen=True, order=True)
class Entry:
    """One kind of finding at one line text."""

    path: str
    code: str
    line_hash: str


def read_baseline(file: Path) -> Counter[Entry]:
    """The entries of a baseline, with how often each is known. Raises BaselineError."""
    try:
        if file.stat().st_size > MAX_FILE:
            raise BaselineError(f"{file}: too large for a baseline")
        document = json.loads(file.read_bytes())
        if document["format"] != FORMAT:
            raise BaselineError(f"{file}: format {document['format']!r} is not known to this version")
        entries: Counter[Entry] = Counter()
        for item in document["findings"]:
            entries[Entry(str(item["path"]), str(item["code"]), str(item["hash"]))] += int(item["count"])
    except OSError as error:
        raise BaselineError(f"{file}: {error.strerror or error}") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise BaselineError(f"{file}: not a baseline of {NAME}") from None
    return entries


class Comparison:
    """Findings of a run against a baseline."""

    def __init__(self, file: Path, known: Counter[Entry]) -> None:
        self._folder = file.absolute().parent
        self._left = Counter(known)
        self._known = known
        self._audited: set[str] = set()

    def new_only(self, result: FileResult) -> FileResult:
        """The result without its known findings; they are counted as hidden."""
        if result.failure:
            return result
        sources = Sources([result])
        self._audited.add(_path(result.path, self._folder))
        new = []
        for finding in result.findings:
            entry = entry_of(finding, sources, self._folder)
            if self._left[entry] > 0:
                self._left[entry] -= 1
            else:
                new.append(finding)
        count = len(result.findings) - len(new)
        if not count:
            return result
        return replace(result, findings=new, hidden={**result.hidden, KNOWN: count})

    def gone(self) -> Counter[Entry]:
        """Entries that no longer occur: in files that were audited, or that no longer exist."""
        return Counter(
            {
                entry: count
                for entry, count in self._left.items()
                if count > 0 and (entry.path in self._audited or not (self._folder / entry.path).exists())
            }
        )

    def pruned(self) -> Counter[Entry]:
        """The baseline without the entries that are gone."""
        return self._known - self.gone()


def entries_of(results: Iterable[FileResult], file: Path) -> tuple[Counter[Entry], dict[str, str]]:
    """Entries for all findings, and the line text of each hash."""
    folder = file.absolute().parent
    entries: Counter[Entry] = Counter()
    texts: dict[str, str] = {}
    for result in results:
        sources = Sources([result])
        for finding in result.findings:
            entry = entry_of(finding, sources, folder)
            entries[entry] += 1
            texts[entry.line_hash] = sources.line(finding.loc.file, finding.loc.line).strip()[:_SHOWN]
    return entries, texts


def entry_of(finding: Finding, sources: Sources, folder: Path) -> Entry:
    """The entry that stands for a finding in a baseline that lies in ``folder``."""
    line = "".join(sources.line(finding.loc.file, finding.loc.line).split())
    digest = hashlib.sha256(line.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return Entry(_path(finding.loc.file, folder), finding.code, digest)


def write_baseline(entries: Counter[Entry], texts: dict[str, str]) -> str:
    """A baseline as text, in an order that keeps version control's differences small."""
    findings: Sequence[dict[str, object]] = [
        {
            "path": entry.path,
            "code": entry.code,
            "hash": entry.line_hash,
            "count": count,
            "line": texts.get(entry.line_hash, ""),
        }
        for entry, count in sorted(entries.items())
        if count > 0
    ]
    document = {"format": FORMAT, "tool": f"{NAME} {VERSION}", "findings": findings}
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def line_texts(file: Path) -> dict[str, str]:
    """The line texts that a baseline keeps for readers, by hash."""
    return {str(item["hash"]): str(item.get("line", "")) for item in json.loads(file.read_bytes())["findings"]}


def _path(file: str, folder: Path) -> str:
    try:
        return Path(os.path.relpath(Path(file).absolute(), folder)).as_posix()
    except ValueError:  # another drive
        return Path(file).absolute().as_posix()
