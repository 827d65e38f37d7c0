"""Settings from configuration files: the nearest one above a source counts, the command line wins over it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import field, fields, replace
from pathlib import Path
from typing import Any

from auditor.compile_commands import CompileCommands
from auditor.config import AuditOptions, KernelOptions
from auditor.config_keys import KEYS, ConfigError, Invalid, read_table
from auditor.globs import matches
from auditor.quick_dataclass import dataclass

if sys.version_info >= (3, 11):
    import tomllib
else:  # pragma: no cover - depends on the Python
    import tomli as tomllib

NAMES = ("bw-audit.toml", ".bw-audit.toml", "pyproject.toml")
MAX_FILE = 1 << 20
OFF = "off"  # in place of a compile database: use none
_RENAMED = {"arch": "arches", "include": "includes", "define": "defines", "set": "values"}
_OF_THE_RUN = ("fail-on", "per-file-ignores", "exclude", "baseline", "jobs")
_LAUNCH = ("block", "grid", "cluster", "smem")


@dataclass(frozen=True)
class Settings:
    """What one configuration file says. ``source`` is None when there is none.

    ``audit`` holds fields of AuditOptions. ``fail_on``, ``baseline`` and ``jobs`` concern the whole run: they count in
    the file that is nearest to the working folder.
    """

    source: Path | None = None
    audit: Mapping[str, Any] = field(default_factory=dict)
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    exclude: tuple[str, ...] = ()
    fail_on: str | None = None
    baseline: Path | None = None
    jobs: int | None = None

    def options(self, path: str, given: Mapping[str, Any]) -> AuditOptions:
        """Options for one source. ``given`` are the fields that the command line named: they win."""
        merged = {**self.audit, **given}
        merged["includes"] = (*given.get("includes", ()), *self.audit.get("includes", ()))
        merged["defines"] = (*self.audit.get("defines", ()), *given.get("defines", ()))
        merged["values"] = tuple({**dict(self.audit.get("values", ())), **dict(given.get("values", ()))}.items())
        merged["kernels"] = tuple(_without(kernel, given) for kernel in self.audit.get("kernels", ()))
        merged["ignore"] = (*merged.get("ignore", ()), *self._ignored_in(path))
        return AuditOptions(**merged)

    def excludes(self, path: str) -> bool:
        """Whether a search of folders leaves this file out."""
        return self._matches(self.exclude, path)

    def _ignored_in(self, path: str) -> tuple[str, ...]:
        return tuple(
            code for pattern, codes in self.per_file_ignores if self._matches((pattern,), path) for code in codes
        )

    def _matches(self, patterns: tuple[str, ...], path: str) -> bool:
        if self.source is None or not patterns:
            return False
        try:
            inside = Path(path).absolute().relative_to(self.source.parent).as_posix()
        except ValueError:
            return False
        return any(matches(pattern, inside) for pattern in patterns)


def _without(kernel: KernelOptions, given: Mapping[str, Any]) -> KernelOptions:
    """A kernel's settings without those that the command line has decided for all kernels."""
    named = dict(given.get("values", ()))
    values = tuple((name, value) for name, value in kernel.values if name not in named)
    decided: dict[str, Any] = {name: None for name in _LAUNCH if name in given}
    return replace(kernel, values=values, **decided)


class Configuration:
    """Finds the settings of each source; each configuration file is read once."""

    def __init__(self, file: str | None = None, isolated: bool = False, compile_commands: str | None = None) -> None:
        self._fixed: Settings | None = Settings() if isolated else None
        ignored = compile_commands == OFF or (isolated and compile_commands is None)
        self._compiled = None if ignored else CompileCommands(compile_commands)
        if file is not None:
            self._fixed = read_settings(Path(file), named=True)
        self._by_folder: dict[Path, Settings] = {}

    def of_run(self) -> Settings:
        """The settings of the working folder. Raises ConfigError."""
        return self._of_folder(Path.cwd())

    def of_file(self, path: str) -> Settings:
        """The settings that are nearest to a source. Raises ConfigError."""
        return self._of_folder(Path(os.path.normpath(Path(path).absolute())).parent)

    def options(self, path: str, given: Mapping[str, Any]) -> AuditOptions:
        """Options of a source: the command line before the configuration before the project's compile commands.

        Raises ConfigError.
        """
        settings = self.of_file(path)
        options = settings.options(path, given)
        if self._compiled is None:
            return options
        return self._compiled.options(path, options, {*given, *settings.audit})

    def _of_folder(self, folder: Path) -> Settings:
        if self._fixed is not None:
            return self._fixed
        if folder not in self._by_folder:
            found = next(filter(None, (read_settings(folder / name) for name in NAMES)), None)
            if found is None:
                found = Settings() if folder.parent == folder else self._of_folder(folder.parent)
            self._by_folder[folder] = found
        return self._by_folder[folder]


def parse_toml(text: str) -> dict[str, Any]:
    """A TOML document as plain data."""
    return tomllib.loads(text)


def read_settings(file: Path, named: bool = False) -> Settings | None:
    """The settings of one file; None when it is missing or a pyproject.toml without a table of ours.

    Raises ConfigError for one that cannot be used, and for a missing one that the user ``named``.
    """
    try:
        if not named and not file.is_file():
            return None
        if file.stat().st_size > MAX_FILE:
            raise ConfigError(f"{file}: too large for a configuration file")
        document = parse_toml(file.read_bytes().decode("utf-8"))
    except OSError as error:
        if not named and isinstance(error, PermissionError):
            return None
        raise ConfigError(f"{file}: {error.strerror or error}") from error
    except UnicodeDecodeError:
        raise ConfigError(f"{file}: not UTF-8") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(f"{file}: not TOML: {error}") from None
    if file.name == "pyproject.toml":
        tool = document.get("tool", {})
        if not isinstance(tool, dict) or "bw-audit" not in tool:
            return Settings(source=file.absolute()) if named else None
        document = tool["bw-audit"]
        if not isinstance(document, dict):
            raise ConfigError(f"{file}: tool.bw-audit is not a table")
    try:
        return _settings(file.absolute(), read_table(document, KEYS))
    except Invalid as error:
        raise ConfigError(f"{file}: {error}") from None


def _settings(file: Path, values: dict[str, Any]) -> Settings:
    folder = file.parent
    audit = {_field(name): value for name, value in values.items() if name not in _OF_THE_RUN}
    if "includes" in audit:
        audit["includes"] = tuple(str(folder / name) for name in audit["includes"])
    if "cuda_path" in audit:
        audit["cuda_path"] = str(folder / audit["cuda_path"])
    if "kernels" in audit:
        audit["kernels"] = tuple(kernel for _, kernel in audit["kernels"])
    return Settings(
        source=file,
        audit=audit,
        per_file_ignores=values.get("per-file-ignores", ()),
        exclude=values.get("exclude", ()),
        fail_on=values.get("fail-on"),
        baseline=folder / values["baseline"] if "baseline" in values else None,
        jobs=values.get("jobs"),
    )


def _field(key: str) -> str:
    return _RENAMED.get(key, key.replace("-", "_"))


def describe(settings: Settings, options: AuditOptions) -> str:
    """The settings of one source, for a person: where they come from and every value."""
    lines = [f"settings from {settings.source or 'no configuration file'}"]
    lines += [f"  {item.name} = {getattr(options, item.name)!r}" for item in fields(options)]
    for name in ("fail_on", "baseline", "exclude", "jobs"):
        value = getattr(settings, name)
        lines.append(f"  {name} = {str(value) if isinstance(value, Path) else value!r}")
    return "\n".join(lines)
