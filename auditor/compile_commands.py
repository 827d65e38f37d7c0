"""How a project compiles its sources, from compile_commands.json (clang.llvm.org/docs/JSONCompilationDatabase.html).

The database is read and nothing in it is run: of a command only the flags count that change what the source means.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from auditor.cli_flags import CompilerFlags, split
from auditor.config import AuditOptions
from auditor.config_keys import ConfigError

NAME = "compile_commands.json"
BUILD_FOLDERS = ("", "build", "out", "_build", "cmake-build-debug", "cmake-build-release")
MAX_FILE = 256 << 20  # bytes
MAX_RESPONSE = 1 << 20  # bytes of a response file
MAX_DEPTH = 8  # response files that name others
_RESPONSE = ("--options-file", "-optf")
_WITH_BARRIERS = re.compile(r"sm_(?:9|1[0-9])[0-9][af]?")  # older architectures have no mbarrier to audit


class CompileCommands:
    """The database of each source: the one in the nearest folder above it, up to the root of its repository."""

    def __init__(self, file: str | None = None) -> None:
        self._fixed = Database(Path(file)) if file is not None else None
        self._by_folder: dict[Path, Database | None] = {}

    def options(self, path: str, options: AuditOptions, decided: Iterable[str]) -> AuditOptions:
        """Options of a source, completed by how it is compiled. ``decided``: fields that the user has set.

        Raises ConfigError when the database cannot be used.
        """
        source = Path(os.path.normpath(Path(path).absolute()))
        database = self._fixed or self._above(source.parent)
        flags = database.flags(source) if database is not None else None
        if flags is None:
            return options
        fixed = set(decided)
        arches = tuple(dict.fromkeys(a for a in flags.arches if _WITH_BARRIERS.fullmatch(a)))
        return replace(
            options,
            arches=options.arches if "arches" in fixed else arches,
            std=options.std if "std" in fixed or flags.std is None else flags.std,
            includes=(*options.includes, *flags.includes),
            defines=(*flags.defines, *options.defines),
            extra=(*flags.extra, *options.extra),
        )

    def _above(self, folder: Path) -> Database | None:
        if folder not in self._by_folder:
            files = (folder / build / NAME for build in BUILD_FOLDERS)
            found = next((Database(file) for file in files if _is_file(file)), None)
            if found is None and folder.parent != folder and not (folder / ".git").exists():
                found = self._above(folder.parent)
            self._by_folder[folder] = found
        return self._by_folder[folder]


class Database:
    """One compile_commands.json, read when the first source asks."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._entries: Mapping[str, tuple[Path, list[str]]] | None = None

    def flags(self, source: Path) -> CompilerFlags | None:
        """What the first command for a source says; None when there is none. Folders are absolute."""
        if self._entries is None:
            self._entries = self._read()
        entry = self._entries.get(os.path.normcase(source))
        if entry is None:
            return None
        folder, words = entry
        _, flags = split(["--", *_expanded(words, folder)])
        flags.includes = [str(folder / name) for name in flags.includes]
        paired = zip(["", *flags.extra], flags.extra)
        flags.extra = [str(folder / word) if before in _FOLDER_FLAGS else word for before, word in paired]
        return flags

    def _read(self) -> Mapping[str, tuple[Path, list[str]]]:
        try:
            if self._file.stat().st_size > MAX_FILE:
                raise ConfigError(f"{self._file}: too large for a compile database")
            document = json.loads(self._file.read_bytes().decode("utf-8"))
        except OSError as error:
            raise ConfigError(f"{self._file}: {error.strerror or error}") from error
        except (UnicodeDecodeError, ValueError, RecursionError) as error:
            raise ConfigError(f"{self._file}: not a JSON document: {error}") from None
        if not isinstance(document, list):
            raise ConfigError(f"{self._file}: not a list of compile commands")
        found: dict[str, tuple[Path, list[str]]] = {}
        for number, entry in enumerate(document):
            folder, name, words = self._entry(number, entry)
            found.setdefault(os.path.normcase(os.path.normpath(folder / name)), (folder, words))
        return found

    def _entry(self, number: int, entry: Any) -> tuple[Path, str, list[str]]:
        """Folder, source and words of an entry."""
        folder, name = (entry.get(key) if isinstance(entry, dict) else None for key in ("directory", "file"))
        if not isinstance(folder, str) or not isinstance(name, str):
            raise ConfigError(f"{self._file}: entry {number} has no directory or no file")
        words = entry.get("arguments")
        if words is None and isinstance(entry.get("command"), str):
            words = _words(entry["command"])
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise ConfigError(f"{self._file}: entry {number} has neither arguments nor a command")
        return self._file.absolute().parent / folder, name, words[1:]


_FOLDER_FLAGS = frozenset(("-isystem", "-iquote", "-idirafter"))


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:  # an open quotation mark
        return command.split()


def _expanded(words: Sequence[str], folder: Path, depth: int = 0) -> list[str]:
    """Words, and in the place of response files (``@file``, ``--options-file file``) what stands in them."""
    out: list[str] = []
    rest = iter(words)
    for word in rest:
        name = None
        if word.startswith("@"):
            name = word[1:]
        elif word in _RESPONSE:
            name = next(rest, "")
        elif word.startswith(tuple(f"{flag}=" for flag in _RESPONSE)):
            name = word.partition("=")[2]
        if name is None:
            out.append(word)
            continue
        for file in name.split(",") if not word.startswith("@") else (name,):
            if depth < MAX_DEPTH:
                out += _expanded(_response(folder / file), folder, depth + 1)
    return out


def _response(file: Path) -> list[str]:
    try:
        if file.stat().st_size > MAX_RESPONSE:
            return []
        return _words(file.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return []


def _is_file(file: Path) -> bool:
    try:
        return file.is_file()
    except OSError:
        return False
