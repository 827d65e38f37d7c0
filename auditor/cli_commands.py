"""The commands of ``bw-audit`` and their options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from auditor.cli_flags import CompilerFlags, split
from auditor.cli_run import EXIT_FAILED, FAIL_LEVELS, FORMATS, Report, run_audit
from auditor.cli_types import architecture, codes, dimension, setting
from auditor.config import DEFAULT_BUDGET, AuditOptions
from auditor.output.tool import NAME, VERSION

_EPILOG = """\b
Commands:
  bw-audit rules            List the rules.
  bw-audit explain BW201    Explain one rule.
  bw-audit report FILE      Barriers, rings, tensor maps, tensor memory and timeline of the kernels in FILE.

Compiler flags of nvcc may be given as they are, or as a whole compile command after "--".

\b
Exit code: 0 when nothing at or above --fail-on was found, 1 when something was,
2 for wrong usage or when nothing could be audited.
"""


def run(words: Sequence[str]) -> int:
    """Run the command that ``words`` (without the program's name) ask for; returns the exit code."""
    if words and words[0] in ("rules", "explain"):
        command, arguments = {"rules": rules, "explain": explain}[words[0]], list(words[1:])
        name, obj = f"{NAME} {words[0]}", None
    elif words and words[0] == "report":
        from auditor.cli_report import report

        arguments, flags = split(words[1:])
        command, name, obj = report, f"{NAME} report", flags
    else:
        arguments, flags = split(words)
        command, name, obj = audit, NAME, flags
    try:
        code = command.main(args=arguments, prog_name=name, standalone_mode=False, obj=obj)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:
        error.show()
        return EXIT_FAILED
    except click.Abort:
        raise KeyboardInterrupt from None
    return code if isinstance(code, int) else 0


@click.command(epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.argument("paths", nargs=-1, required=True, metavar="FILE_OR_DIR...")
@click.option(
    "--format", "format_", type=click.Choice(FORMATS), default="text", show_default=True, help="Report format."
)
@click.option("-o", "--output", metavar="FILE", help="Write the report to FILE instead of standard output.")
@click.option("--sarif-file", metavar="FILE", help="Write SARIF to FILE as well.")
@click.option("--select", type=codes, multiple=True, metavar="CODE,...", help="Report only these rules.")
@click.option(
    "--ignore", type=codes, multiple=True, metavar="CODE,...", help="Leave these rules out; the longer prefix wins."
)
@click.option(
    "--fail-on",
    type=click.Choice(FAIL_LEVELS),
    default="warning",
    show_default=True,
    help="Least level for which the exit code is 1.",
)
@click.option("--exit-zero", is_flag=True, help="Exit with 0 whatever was found.")
@click.option("--strict", is_flag=True, help="Report notes too.")
@click.option(
    "--arch",
    type=architecture,
    multiple=True,
    metavar="ARCH",
    help="Architecture, such as sm_90a or sm_100a; repeatable.",
)
@click.option("-I", "includes", multiple=True, metavar="DIR", help="Add a folder of headers.")
@click.option("-D", "defines", multiple=True, metavar="NAME[=VALUE]", help="Define a macro.")
@click.option("--std", metavar="STANDARD", help="C++ standard, such as c++17 (default: c++20).")
@click.option("--cuda-path", metavar="DIR", help="Use the headers of this CUDA toolkit instead of the built-in ones.")
@click.option(
    "--set", "values", type=setting, multiple=True, metavar="NAME=VALUE", help="Value of a scalar kernel argument."
)
@click.option("--block", type=dimension, metavar="X[,Y[,Z]]", help="Threads of a block.")
@click.option("--grid", type=dimension, metavar="X[,Y[,Z]]", help="Blocks of the grid.")
@click.option("--cluster", type=dimension, metavar="X[,Y[,Z]]", help="Blocks of a cluster.")
@click.option("--smem", type=click.IntRange(min=0), metavar="BYTES", help="Dynamic shared memory of a block.")
@click.option("--instantiate", multiple=True, metavar="'NAME<ARGS>'", help="Audit this instance of a kernel template.")
@click.option(
    "--budget",
    type=click.FloatRange(min=0, min_open=True),
    default=DEFAULT_BUDGET,
    show_default=True,
    metavar="SECONDS",
    help="Time that one kernel may take.",
)
@click.option(
    "--color",
    type=click.Choice(("auto", "always", "never")),
    default="auto",
    show_default=True,
    help="Colour the text.",
)
@click.option("-q", "--quiet", is_flag=True, help="No progress on standard error.")
@click.version_option(VERSION, "-V", "--version", prog_name=NAME, message="%(prog)s %(version)s")
@click.pass_obj
def audit(flags: CompilerFlags, /, paths: tuple[str, ...], **given: Any) -> int:
    """Audit CUDA kernels for errors in their asynchronous protocol, without a GPU.

    A folder is searched for .cu and .cuh files; "-" is standard input.
    """
    options = audit_options(flags, given)
    report = Report(
        format=given["format_"],
        output=given["output"],
        sarif_file=given["sarif_file"],
        fail_on="never" if given["exit_zero"] else given["fail_on"],
        color=given["color"],
        quiet=given["quiet"],
    )
    return run_audit(paths, options, report)


def audit_options(flags: CompilerFlags, given: Mapping[str, Any]) -> AuditOptions:
    """What options of the command line, by name, and compiler flags ask for."""
    return AuditOptions(
        arches=_distinct(given["arch"] or [arch for arch in flags.arches if _is_supported(arch)]),
        includes=(*given["includes"], *flags.includes),
        defines=(*given["defines"], *flags.defines),
        std=given["std"] or flags.std or AuditOptions.std,
        extra=tuple(flags.extra),
        cuda_path=given["cuda_path"],
        instantiate=given["instantiate"],
        values=given["values"],
        block=given["block"],
        grid=given["grid"],
        cluster=given["cluster"],
        smem=given["smem"],
        budget=given["budget"],
        select=tuple(prefix for group in given["select"] for prefix in group),
        ignore=tuple(prefix for group in given["ignore"] for prefix in group),
        strict=given["strict"],
    )


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--format", "format_", type=click.Choice(("text", "json")), default="text", show_default=True)
def rules(format_: str) -> None:
    """List the rules: code, level, confidence and name."""
    from auditor import registry

    if format_ == "json":
        import json

        listed = [
            {
                "code": rule.code,
                "name": rule.name,
                "level": rule.level.value,
                "confidence": rule.confidence,
                "entries": list(rule.entries),
            }
            for rule in registry.all_rules()
        ]
        click.echo(json.dumps(listed, indent=2))
        return
    for rule in registry.all_rules():
        click.echo(f"{rule.code}  {rule.level.value:<7}  {rule.confidence:<6}  {rule.name}")


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("code", metavar="CODE")
def explain(code: str) -> None:
    """Explain one rule: what it does, why it matters, an example, the fix and its limits."""
    from auditor import registry

    code = code.upper()
    if code not in registry.stems():
        raise click.BadParameter(f"no rule has the code {code!r}; see 'bw-audit rules'", param_hint="CODE")
    rule = registry.get(code)
    click.echo(f"{rule.code} {rule.name}: {rule.level.value}, {rule.confidence} confidence\n")
    click.echo(registry.documentation(code).rstrip())


def _distinct(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))


def _is_supported(arch: str) -> bool:
    """Whether an architecture from compiler flags has the operations that we audit: Hopper or later."""
    return int(arch.removeprefix("sm_").rstrip("af")) >= 90
