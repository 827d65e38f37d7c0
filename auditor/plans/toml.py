"""Plans in TOML files: a table ``[gemm]`` with the options of the command line as keys."""

from __future__ import annotations

import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

from auditor.plans.spec import GemmSpec, PlanError, parse_tile

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def read_plan(path: str) -> GemmSpec:
    """The request in a TOML file. Raises PlanError or OSError."""
    try:
        document = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise PlanError(f"{path}: {error}") from error
    table = document.get("gemm")
    if not isinstance(table, dict):
        raise PlanError(f"{path}: no table [gemm]")
    return _spec(path, table)


def _spec(path: str, table: dict[str, Any]) -> GemmSpec:
    given = dict(table)
    tile = given.pop("tile", None)
    if tile is not None:
        given["m"], given["n"], given["k"] = parse_tile(str(tile))
    if given.get("stages") == "auto":
        given["stages"] = None
    known = {f.name: f.default for f in fields(GemmSpec)}
    for name, value in given.items():
        if name not in known:
            raise PlanError(f"{path}: no key {name!r}; there are tile, {', '.join(k for k in known if len(k) > 1)}")
        wanted = str if isinstance(known[name], str) else int
        if value is not None and (not isinstance(value, wanted) or isinstance(value, bool)):
            raise PlanError(f"{path}: {name} is {value!r}, not of type {wanted.__name__}")
    return GemmSpec(**given)
