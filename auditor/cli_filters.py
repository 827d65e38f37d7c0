"""What a run leaves out: findings of a baseline, and findings that no change concerns."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from auditor.baseline import (
    BaselineError,
    Comparison,
    entries_of,
    line_texts,
    read_baseline,
    write_baseline,
)
from auditor.changes import ChangesError, changes_since
from auditor.cli_console import say
from auditor.findings import FileResult
from auditor.output.summary import plural


def write_new_baseline(results: Sequence[FileResult], file: Path) -> None:
    """Make every finding of this run known. Raises OSError."""
    from auditor.add_ignores import replace_file

    entries, texts = entries_of(results, file)
    replace_file(file, write_baseline(entries, texts))
    say(f"{file}: {plural(sum(entries.values()), 'finding')} written")


def compare_with_baseline(results: Sequence[FileResult], file: Path, prune: bool) -> list[FileResult]:
    """The results without known findings; tells of entries that are gone, or takes them out of the file."""
    from auditor.add_ignores import replace_file

    try:
        comparison = Comparison(file, read_baseline(file))
    except BaselineError as error:
        raise click.ClickException(str(error)) from None
    new = [comparison.new_only(result) for result in results]
    gone = sum(comparison.gone().values())
    if gone and prune:
        replace_file(file, write_baseline(comparison.pruned(), line_texts(file)))
        say(f"{file}: removed {plural(gone, 'finding')} not seen any more")
    elif gone:
        say(f"{file}: {plural(gone, 'finding')} not seen any more; --prune-baseline removes them")
    return new


def only_changed(results: Sequence[FileResult], revision: str) -> list[FileResult]:
    """The results without findings that no change since ``revision`` concerns."""
    try:
        changes = changes_since(revision)
    except ChangesError as error:
        raise click.ClickException(str(error)) from None
    return [changes.only_touched(result) for result in results]
