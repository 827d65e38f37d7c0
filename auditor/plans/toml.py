"""Plans in TOML files: a table ``[gemm]`` or ``[attention]`` with the options of the command line as keys."""

from __future__ import annotations

import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

from auditor.plans.attention_spec import AttentionSpec
from auditor.plans.spec import GemmSpec, PlanError, parse_tile

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def read_plan(path: str) -> GemmSpec | AttentionSpec:
    """The request in a TOML file: its table [gemm] or [attention]. Raises PlanError or OSError."""
    try:
        document = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise PlanError(f"{path}: {error}") from error
    tables = [(name, table) for name in ("gemm", "attention") if isinstance(table := document.get(name), dict)]
    if len(tables) != 1:
        raise PlanError(f"{path}: both [gemm] and [attention]" if tables else f"{path}: no table [gemm] or [attention]")
    name, table = tables[0]
    given = dict(table)
    sizes = ("m", "n", "k") if name == "gemm" else ("m", "n", "d")
    if (tile := given.pop("tile", None)) is not None:
        given.update(zip(sizes, parse_tile(str(tile))))
    if given.get("stages") == "auto":
        given["stages"] = None
    kind: type[GemmSpec] | type[AttentionSpec] = GemmSpec if name == "gemm" else AttentionSpec
    _check(path, {f.name: f.default for f in fields(kind)}, given)
    return kind(**given)


def _check(path: str, known: dict[str, Any], given: dict[str, Any]) -> None:
    """Only known keys, with values of the right type."""
    for name, value in given.items():
        if name not in known:
            raise PlanError(
                f"{path}: no key {name!r}; there are tile, {', '.join(k for k in known if len(k) > 1 or k == 'p')}"
            )
        wanted = str if isinstance(known[name], str) else int
        if value is not None and (not isinstance(value, wanted) or isinstance(value, bool)):
            raise PlanError(f"{path}: {name} is {value!r}, not of type {wanted.__name__}")
