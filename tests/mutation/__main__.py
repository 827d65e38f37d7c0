"""Command line of the mutation score."""

from __future__ import annotations

from pathlib import Path

import click

from tests.mutation.equivalents import load, practices
from tests.mutation.mutants import Mutant, mutants
from tests.mutation.nvcc import Compiler
from tests.mutation.operators import OPERATORS
from tests.mutation.report import document, listing, totals
from tests.mutation.score import Cache, Outcome, findings_of_good, run
from tests.mutation.sites import explore

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "fixtures"
DOCUMENT = ROOT / "docs" / "mutation.md"


def good_kernels() -> list[Path]:
    """Every good kernel of the repository; whole kernels first."""
    whole = sorted((FIXTURES / "kernels").glob("*.cu")) + sorted((FIXTURES / "rewrites").glob("*.cu"))
    return whole + sorted(FIXTURES.glob("BW*/good_*.cu")) + sorted((FIXTURES / "field").rglob("good_*.cu"))


@click.command()
@click.option("--kernel", "kernels", multiple=True, help="Only kernels whose path contains this text.")
@click.option("--operator", "operators", multiple=True, help="Only operators whose name contains this text.")
@click.option("--whole", is_flag=True, help="Only the whole kernels, without the rules' fixtures.")
@click.option("--sample", default=1, show_default=True, help="Only one mutant in so many, chosen by its hash.")
@click.option("--jobs", default=2, show_default=True, help="Processes.")
@click.option("--check-nvcc", is_flag=True, help="Leave out mutants that nvcc rejects.")
@click.option("--cache", type=click.Path(path_type=Path), help="Folder for outcomes that are still valid.")
@click.option("--survivors", is_flag=True, help="Show the mutants that were not killed.")
@click.option("--astray", is_flag=True, help="Show the mutants that were killed elsewhere than at the change.")
@click.option("--all", "everything", is_flag=True, help="Show all mutants and what was said about them.")
@click.option("--write", is_flag=True, help="Write docs/mutation.md.")
def main(kernels: tuple[str, ...], operators: tuple[str, ...], whole: bool, sample: int, jobs: int, check_nvcc: bool,
         cache: Path | None, survivors: bool, astray: bool, everything: bool, write: bool) -> None:
    """Put mistakes into good kernels and count how many of them the auditor finds."""
    names = [n for n in OPERATORS if not operators or any(o in n for o in operators)]
    if cache is not None:
        cache.mkdir(parents=True, exist_ok=True)
    compiler = Compiler((cache or Path.cwd()) / "nvcc.json") if check_nvcc else None
    excluded = {e.key: e for e in load()}
    tasks: list[tuple[Mutant, frozenset[tuple[str, str]]]] = []
    used, rejected = [], 0
    for path in good_kernels():
        shown = str(path.relative_to(ROOT))
        if (kernels and not any(k in shown for k in kernels)) or (whole and path.name.startswith("good_")):
            continue
        text = path.read_text()
        good = explore(str(path), text)
        baseline = findings_of_good(str(path), text)
        for mutant in mutants(good, names):
            key = (path.stem, mutant.operator, mutant.site)
            if not mutant.drawn(sample):
                continue
            if key in excluded:
                used.append(excluded[key])
            elif compiler is not None and not compiler.accepts(mutant.text):
                rejected += 1
            else:
                tasks.append((mutant, baseline))
    kept = Cache(cache / "outcomes.json" if cache is not None else None)
    excuses = {p.rule for p in practices()}
    outcomes: list[Outcome] = []
    accepted: list[Outcome] = []
    for outcome in run(tasks, jobs, kept):
        practice = not outcome.killed and bool(excuses.intersection(outcome.noted))
        (accepted if practice else outcomes).append(outcome)
        missed = survivors and not outcome.killed and not practice
        if everything or missed or (astray and outcome.killed and not outcome.names):
            click.echo(listing(outcome))
    click.echo(f"{totals(outcomes)}; excluded: {len(used)} by argument, {len(accepted)} as accepted practice")
    if not kernels and not operators and not whole and sample == 1:
        for entry in (e for e in excluded.values() if e not in used):
            click.echo(f"no such mutant: {entry.kernel} {entry.operator} {entry.site}")
    if write:
        DOCUMENT.write_text(document(outcomes, accepted, used, rejected, sample))
        click.echo(f"written: {DOCUMENT.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
