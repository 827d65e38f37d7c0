"""The commands of ``bw-audit`` and their options."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from auditor import cli_options
from auditor.cli_complete import complete_codes
from auditor.cli_flags import CompilerFlags, split
from auditor.cli_options import given_fields
from auditor.cli_outputs import WITH_FIXES, choose_targets
from auditor.cli_run import EXIT_FAILED, Request, run_audit
from auditor.config import STDIN
from auditor.output.tool import NAME, VERSION

_EPILOG = """\b
Commands:
  bw-audit rules            List the rules.
  bw-audit explain BW201    Explain one rule.
  bw-audit lsp              Serve an editor.
  bw-audit report FILE      Barriers, rings, tensor maps, tensor memory and timeline of the kernels in FILE.
  bw-audit plan gemm        Stages, barriers, columns and descriptors of a kernel before there is code.

Compiler flags of nvcc may be given as they are, or as a whole compile command after "--".

\b
Exit code: 0 when nothing at or above --fail-on was found, 1 when something was,
2 for wrong usage or when nothing could be audited.
"""

# Options that reach the run as they are.
_PLAIN = (
    "color",
    "quiet",
    "config",
    "isolated",
    "compile_commands",
    "show_settings",
    "add_ignores",
    "fix",
    "diff",
    "statistics",
    "timing",
    "baseline",
    "write_baseline",
    "prune_baseline",
    "diff_base",
    "jobs",
    "executor",
    "cache_dir",
    "no_cache",
)


def run(words: Sequence[str]) -> int:
    """Run the command that ``words`` (without the program's name) ask for; returns the exit code."""
    command: click.Command = audit
    name, arguments, flags = NAME, list(words), None
    if words and words[0] in _COMMANDS:
        command, name, arguments = _COMMANDS[words[0]](), f"{NAME} {words[0]}", list(words[1:])
    if command is audit or words[0] in _WITH_COMPILER_FLAGS:
        arguments, flags = split(arguments)
    try:
        code = command.main(args=arguments, prog_name=name, standalone_mode=False, obj=flags)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:
        error.show()
        return EXIT_FAILED
    except click.Abort:
        raise KeyboardInterrupt from None
    return code if isinstance(code, int) else 0


def complete(instruction: str) -> int:
    """Answer a shell that completes a command line; returns the exit code."""
    from auditor import cli_complete

    return cli_complete.complete(instruction, _COMMANDS, audit)


@click.command(epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.argument("paths", nargs=-1, required=True, type=click.Path(allow_dash=True), metavar="FILE_OR_DIR...")
@cli_options.reports
@cli_options.selection
@cli_options.known
@cli_options.configuration
@cli_options.reading
@cli_options.execution
@cli_options.effort
@click.version_option(VERSION, "-V", "--version", prog_name=NAME, message="%(prog)s %(version)s")
@click.pass_obj
def audit(flags: CompilerFlags, /, paths: tuple[str, ...], **given: Any) -> int:
    """Audit CUDA kernels for errors in their asynchronous protocol, without a GPU.

    A folder is searched for .cu and .cuh files, and for .py files with kernels in strings; "-" is standard input.
    """
    targets = choose_targets(given["formats"], given["output"], given["sarif_file"])
    fields = given_fields(flags, given)
    if given["fix"] or given["diff"] or any(target.format in WITH_FIXES for target in targets):
        fields["fixes"] = True
    if given["fix"] and STDIN in paths:
        raise click.UsageError("--fix cannot change standard input; --diff shows the changes")
    request = Request(
        paths=paths,
        given=fields,
        targets=targets,
        fail_on="never" if given["exit_zero"] else given["fail_on"],
        **{name: given[name] for name in _PLAIN},
    )
    return run_audit(request)


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
            for rule in map(registry.info, registry.stems())
        ]
        click.echo(json.dumps(listed, indent=2))
        return
    for rule in map(registry.info, registry.stems()):
        click.echo(f"{rule.code}  {rule.level.value:<7}  {rule.confidence:<6}  {rule.name}")


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("code", metavar="CODE", shell_complete=complete_codes)
def explain(code: str) -> None:
    """Explain one rule: what it does, why it matters, an example, the fix and its limits."""
    from auditor import registry

    code = code.upper()
    if code not in registry.stems():
        raise click.BadParameter(f"no rule has the code {code!r}; see 'bw-audit rules'", param_hint="CODE")
    rule = registry.info(code)
    click.echo(f"{rule.code} {rule.name}: {rule.level.value}, {rule.confidence} confidence\n")
    click.echo(registry.documentation(code).rstrip())


def _load_report() -> click.Command:
    from auditor.cli_report import report

    return report


def _load_plan() -> click.Command:
    from auditor.cli_plan import plan

    return plan


def _load_lsp() -> click.Command:
    from auditor.cli_lsp import lsp

    return lsp


_COMMANDS: dict[str, Callable[[], click.Command]] = {
    "rules": lambda: rules,
    "explain": lambda: explain,
    "report": _load_report,
    "plan": _load_plan,
    "lsp": _load_lsp,
}
_WITH_COMPILER_FLAGS = ("report",)
