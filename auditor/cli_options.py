"""The options of an audit, in groups, and what they say about AuditOptions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from auditor.cli_complete import complete_codes
from auditor.cli_flags import CompilerFlags
from auditor.cli_types import architecture, codes, dimension, executor, setting, target
from auditor.config import DEFAULT_BUDGET
from auditor.config_keys import FAIL_LEVELS

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def _group(*options: Decorator) -> Decorator:
    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


selection = _group(
    click.option(
        "--select",
        type=codes,
        multiple=True,
        metavar="CODE,...",
        shell_complete=complete_codes,
        help="Report only these rules.",
    ),
    click.option(
        "--ignore",
        type=codes,
        multiple=True,
        metavar="CODE,...",
        shell_complete=complete_codes,
        help="Leave these rules out; the longer prefix wins.",
    ),
    click.option(
        "--fail-on",
        type=click.Choice(FAIL_LEVELS),
        help="Least level for which the exit code is 1.  [default: warning]",
    ),
    click.option("--exit-zero", is_flag=True, help="Exit with 0 whatever was found."),
    click.option("--strict", is_flag=True, help="Report notes too."),
    click.option("--fix", is_flag=True, help="Apply fixes that an audit of the result confirms."),
    click.option("--diff", is_flag=True, help="Show those fixes as a diff and change nothing."),
    click.option(
        "--add-ignores", metavar="REASON", help="Write a suppression comment with this reason for each finding."
    ),
)

configuration = _group(
    click.option("--config", metavar="FILE", help="Use this configuration file, and no other."),
    click.option("--isolated", is_flag=True, help="Use no configuration file."),
    click.option(
        "--compile-commands",
        metavar="FILE",
        help="Use this compile_commands.json; off: none.  [default: the nearest above each source]",
    ),
    click.option("--show-settings", is_flag=True, help="Print the settings of each file and audit nothing."),
)

reading = _group(
    click.option(
        "--arch",
        type=architecture,
        multiple=True,
        metavar="ARCH",
        help="Architecture, such as sm_90a or sm_100a; repeatable.",
    ),
    click.option("-I", "includes", multiple=True, metavar="DIR", help="Add a folder of headers."),
    click.option("-D", "defines", multiple=True, metavar="NAME[=VALUE]", help="Define a macro."),
    click.option("--std", metavar="STANDARD", help="C++ standard, such as c++17 (default: c++20)."),
    click.option(
        "--cuda-path", metavar="DIR", help="Use the headers of this CUDA toolkit instead of the built-in ones."
    ),
)

execution = _group(
    click.option(
        "--set", "values", type=setting, multiple=True, metavar="NAME=VALUE", help="Value of a scalar kernel argument."
    ),
    click.option("--block", type=dimension, metavar="X[,Y[,Z]]", help="Threads of a block."),
    click.option("--grid", type=dimension, metavar="X[,Y[,Z]]", help="Blocks of the grid."),
    click.option("--cluster", type=dimension, metavar="X[,Y[,Z]]", help="Blocks of a cluster."),
    click.option("--smem", type=click.IntRange(min=0), metavar="BYTES", help="Dynamic shared memory of a block."),
    click.option(
        "--instantiate", multiple=True, metavar="'NAME<ARGS>'", help="Audit this instance of a kernel template."
    ),
    click.option(
        "--budget",
        type=click.FloatRange(min=0, min_open=True),
        metavar="SECONDS",
        help=f"Time that one kernel may take.  [default: {DEFAULT_BUDGET:g}]",
    ),
)

reports = _group(
    click.option(
        "--format",
        "formats",
        type=target,
        multiple=True,
        metavar="FORMAT[:FILE]",
        help="text (default), concise, json, sarif, github or junit; with a file, repeatable.",
    ),
    click.option("-o", "--output", metavar="FILE", help="Write the report to FILE instead of standard output."),
    click.option("--sarif-file", metavar="FILE", help="Write SARIF to FILE as well."),
    click.option(
        "--color",
        type=click.Choice(("auto", "always", "never")),
        default="auto",
        show_default=True,
        help="Colour the text.",
    ),
    click.option("--statistics", is_flag=True, help="Count the findings of each rule, on standard error."),
    click.option("--timing", is_flag=True, help="Tell where the time went, on standard error."),
    click.option("-q", "--quiet", is_flag=True, help="No progress on standard error."),
)

known = _group(
    click.option("--baseline", metavar="FILE", help="Leave out the findings that are known to this file."),
    click.option("--write-baseline", is_flag=True, help="Write all present findings to the baseline."),
    click.option("--prune-baseline", is_flag=True, help="Remove from the baseline what no longer occurs."),
    click.option("--diff-base", metavar="REV", help="Only findings that touch lines changed since this git revision."),
)

effort = _group(
    click.option(
        "-j",
        "--jobs",
        type=click.IntRange(min=0),
        envvar="BW_AUDIT_JOBS",
        metavar="N",
        help="Processes that audit at the same time (default: one a core).",
    ),
    click.option(
        "--executor",
        type=executor,
        metavar="dask:ADDRESS",
        help="Audit on the workers of this Dask scheduler, such as dask:tcp://host:8786.",
    ),
    click.option(
        "--cache-dir", envvar="BW_AUDIT_CACHE", metavar="DIR", help="Folder of the cache (default: the user's)."
    ),
    click.option("--no-cache", is_flag=True, help="Neither read nor write the cache."),
)


def given_fields(flags: CompilerFlags, given: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of AuditOptions that options of the command line (by name) and compiler flags decide."""
    fields = {
        "arches": _distinct(given["arch"] or [arch for arch in flags.arches if _is_supported(arch)]),
        "includes": (*given["includes"], *flags.includes),
        "defines": (*given["defines"], *flags.defines),
        "std": given["std"] or flags.std,
        "extra": tuple(flags.extra),
        "select": tuple(prefix for group in given["select"] for prefix in group),
        "ignore": tuple(prefix for group in given["ignore"] for prefix in group),
    }
    for name in ("cuda_path", "instantiate", "values", "block", "grid", "cluster", "smem", "budget", "strict"):
        fields[name] = given[name]
    return {name: value for name, value in fields.items() if value is not None and value is not False and value != ()}


def _distinct(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))


def _is_supported(arch: str) -> bool:
    """Whether an architecture from compiler flags has the operations that we audit: Hopper or later."""
    return int(arch.removeprefix("sm_").rstrip("af")) >= 90
