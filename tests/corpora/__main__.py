"""Command line of the check: audit a corpus, and compare the outcome with the committed record."""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import click

from tests.corpora import record
from tests.corpora.agreement import rates
from tests.corpora.corpus import CORPORA, kernels, options, sample
from tests.corpora.outcome import Job, Outcome, audit_all
from tests.corpora.wheels import DownloadError

SLOW = 5.0


@click.command()
@click.argument("name", type=click.Choice(sorted(CORPORA)))
@click.option("--checkout", type=click.Path(exists=True, path_type=Path), help="Repository, if it is no wheel.")
@click.option("--sample", "count", type=int, help="Only so many files, drawn at random.")
@click.option("--seed", default=0, show_default=True, help="Seed of the draw.")
@click.option("--only", multiple=True, help="Only files whose name contains this text.")
@click.option("--jobs", default=2, show_default=True, help="Processes.")
@click.option("--limit", default=1200.0, show_default=True, help="Seconds that one file may take.")
@click.option("--agreement", is_flag=True, help="Compare with the kernels' own comments, too.")
@click.option("--details", is_flag=True, help="Show findings and gaps.")
@click.option("--update", is_flag=True, help="Write the outcome to the record.")
def main(name: str, checkout: Path | None, count: int | None, seed: int, only: tuple[str, ...], jobs: int,
         limit: float, agreement: bool, details: bool, update: bool) -> None:  # fmt: skip
    """Audit the kernels of a corpus. Exit code 1: the outcome differs from the record."""
    corpus = CORPORA[name]
    with tempfile.TemporaryDirectory(prefix="bw-audit-corpus-") as folder:
        try:
            files = kernels(corpus, Path(folder), checkout)
        except DownloadError as error:
            raise click.ClickException(str(error)) from error
        chosen = [n for n in sample(files, count, seed) if not only or any(part in n for part in only)]
        outcomes: dict[str, Outcome] = {}
        job = Job(options(corpus, Path(folder)), agreement, corpus.instances is not None)
        for file, outcome in audit_all({n: files[n] for n in chosen}, job, jobs, limit):
            outcomes[file] = outcome
            click.echo(f"[{len(outcomes)}/{len(chosen)}] {file}: {outcome} ({outcome.seconds:.1f} s)", err=True)
            if details:
                _show(outcome)
    click.echo(f"{corpus.title}: {len(chosen)} of {len(files)} files")
    _summary(outcomes)
    lines = {file: str(outcome) for file, outcome in outcomes.items()}
    records = record.load()
    if update:
        kept = {} if len(chosen) == len(files) else records.get(name, {})
        record.save({**records, name: {**kept, **lines}})
        return
    changed = record.differences(records.get(name, {}), lines)
    for line in changed:
        click.echo(f"changed: {line}")
    sys.exit(1 if changed else 0)


def _show(outcome: Outcome) -> None:
    for line in (outcome.failure, *outcome.details, *(outcome.agreement.details if outcome.agreement else ())):
        if line:
            click.echo(f"    {line}")


def _summary(outcomes: Mapping[str, Outcome]) -> None:
    each = list(outcomes.values())
    if not each:
        return
    click.echo(f"audited {sum(not o.failure for o in each)}, whole {sum(o.whole for o in each)}, "
               f"executed {sum(o.executed for o in each)} of {sum(o.kernels for o in each)} kernels, "
               f"silent {sum(not o.findings and not o.failure for o in each)}")  # fmt: skip
    for title, maps in (("findings", [o.findings for o in each]), ("gaps", [o.gaps for o in each])):
        total = sum((Counter(m) for m in maps), Counter[str]())
        held = Counter(key for m in maps for key in m)
        for key in sorted(total):
            click.echo(f"  {title}: {key} {total[key]} in {held[key]} files")
    times = [o.seconds for o in each]
    click.echo(f"processor time per file: median {statistics.median(times):.1f} s, most {max(times):.1f} s; "
               f"over {SLOW:.0f} s: {sum(t > SLOW for t in times)}")  # fmt: skip
    agreements = [o.agreement for o in each if o.agreement is not None]
    for line in rates(agreements) if agreements else ():
        click.echo(line)


if __name__ == "__main__":
    main()
