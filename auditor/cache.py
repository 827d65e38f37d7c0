"""Keeps analyses between runs, by what they depend on: the source, the headers read, the options and the tool itself.

An entry holds JSON and nothing that is executed. A cache that cannot be read or written is as good as none.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import fields
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from auditor.analysis import Analysis
from auditor.codec import decode, encode
from auditor.config import AuditOptions
from auditor.output.tool import NAME, VERSION

_FORMAT = "3"
_REPORTING = ("strict", "levels")  # options that no analysis depends on
_KEPT_FOR = 30 * 86400  # seconds since an entry was last used
_TRIM_EVERY = 86400


def default_folder() -> Path:
    """The cache folder of this user, by the custom of the platform."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = str(Path.home() / "Library" / "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / NAME


class Cache:
    """A folder of analyses. What one object has learnt of headers holds for one run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._hashes: dict[str, str] = {}
        self._exists: dict[str, bool] = {}

    def get(self, path: str, options: AuditOptions, text: str) -> Analysis | None:
        """The analysis of a source whose text is ``text``, when nothing that it depends on has changed."""
        entry = self._entry(path, options, text)
        try:
            data = json.loads(entry.read_bytes())
            if any(self._file_hash(name) != value for name, value in data["headers"].items()):
                return None
            if any(self._is_file(name) for name in data["absent"]):
                return None
            analysis = decode(path, data)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None
        with contextlib.suppress(OSError):
            os.utime(entry)
        analysis.sources[path] = text
        return analysis

    def put(self, options: AuditOptions, analysis: Analysis) -> None:
        """Keep an analysis, unless it failed or another run could come further in the same time."""
        if analysis.failure or _was_short_of_time(analysis):
            return
        from auditor.includes import looked_for

        text = analysis.sources[analysis.path]
        texts = [(analysis.path, text), *((name, _read(name)) for name in analysis.headers)]
        data = {
            "headers": {name: self._file_hash(name) for name in map(_absolute, analysis.headers)},
            "absent": [_absolute(name) for name in looked_for(analysis.path, texts, options.includes)],
            **encode(analysis),
        }
        entry = self._entry(analysis.path, options, text)
        with contextlib.suppress(OSError):
            entry.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=entry.parent)
            with os.fdopen(handle, "w", encoding="utf-8", errors="surrogatepass") as stream:
                json.dump(data, stream, separators=(",", ":"))
            Path(name).replace(entry)

    def trim(self, now: Callable[[], float] = time.time) -> None:
        """Remove entries that were not used for a month; looks at most once a day."""
        stamp = self.folder / "trimmed"
        with contextlib.suppress(OSError):
            if stamp.exists() and now() - stamp.stat().st_mtime < _TRIM_EVERY:
                return
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            stamp.touch()
            for entry in self.folder.glob("??/*"):
                if now() - entry.stat().st_mtime > _KEPT_FOR:
                    entry.unlink(missing_ok=True)

    def _entry(self, path: str, options: AuditOptions, text: str) -> Path:
        parts = (_FORMAT, tool_hash(), path, _absolute(path), wanted(options), text)
        digest = hashlib.sha256()
        for part in parts:
            raw = part.encode("utf-8", "surrogatepass")
            digest.update(b"%d:" % len(raw) + raw)
        name = digest.hexdigest()
        return self.folder / name[:2] / name[2:]

    def _file_hash(self, file: str) -> str:
        if file not in self._hashes:
            try:
                self._hashes[file] = hashlib.sha256(Path(file).read_bytes()).hexdigest()
            except OSError:
                self._hashes[file] = ""
        return self._hashes[file]

    def _is_file(self, file: str) -> bool:
        if file not in self._exists:
            self._exists[file] = Path(file).is_file()
        return self._exists[file]


def wanted(options: AuditOptions) -> str:
    """What an analysis depends on of the options."""
    names = (field.name for field in fields(options) if field.name not in _REPORTING)
    return repr([(name, getattr(options, name)) for name in names])


@cache
def tool_hash() -> str:
    """Changes with the version, the Python and, for a tool that is being worked on, with any of its files."""
    digest = hashlib.sha256(f"{VERSION} {sys.version}".encode())
    for package in ("auditor", "auditor.rules"):
        for folder in map(Path, import_module(package).__path__):
            for file in sorted(folder.rglob("*")):
                if file.suffix != ".pyc" and file.is_file():
                    stat = file.stat()
                    digest.update(f"{file.relative_to(folder)} {stat.st_size} {stat.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _was_short_of_time(analysis: Analysis) -> bool:
    notes: list[Any] = [note for run in analysis.runs for note in run.coverage.notes]
    return any(kind == "budget" and not message.endswith(" steps") for kind, message, _ in notes)


def _absolute(file: str) -> str:
    return str(Path(file).absolute())


def _read(file: str) -> str:
    try:
        return Path(file).read_bytes().decode("utf-8", "replace")
    except OSError:
        return ""
