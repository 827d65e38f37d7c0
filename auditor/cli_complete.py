"""Shell completion: options, commands, rule codes and files."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import click
from click.shell_completion import CompletionItem, get_completion_class

from auditor.output.tool import NAME

VARIABLE = "_BW_AUDIT_COMPLETE"


def complete(instruction: str, commands: Mapping[str, Callable[[], click.Command]], default: click.Command) -> int:
    """Answer a shell: ``instruction`` is "bash_source", "bash_complete" and the like. ``commands`` load subcommands."""
    shell, _, action = instruction.partition("_")
    found = get_completion_class(shell)
    if found is None or action not in ("source", "complete"):
        return 1
    completion = found(default, {}, NAME, VARIABLE)
    if action == "source":
        click.echo(completion.source())
        return 0
    words, incomplete = completion.get_completion_args()
    items = []
    if words and words[0] in commands:
        completion.cli, words = commands[words[0]](), words[1:]
    elif not words:
        items = [CompletionItem(name) for name in commands if name.startswith(incomplete)]
    items += completion.get_completions(words, incomplete)
    click.echo("\n".join(completion.format_completion(item) for item in items))
    return 0


def complete_codes(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Rule codes; in a list that is separated by commas, the last one."""
    from auditor import registry

    head, comma, last = incomplete.rpartition(",")
    codes = [code for code in registry.stems() if code.startswith(last.upper())]
    return [CompletionItem(head + comma + code, help=registry.info(code).name) for code in codes]
