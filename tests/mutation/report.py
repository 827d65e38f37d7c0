"""The score as tables."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path

from auditor.registry import all_rules
from tests.mutation.equivalents import Equivalent, practices
from tests.mutation.operators import OPERATORS
from tests.mutation.score import Outcome


def percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}%" if whole else "-"


def totals(outcomes: list[Outcome]) -> str:
    """The score in one line."""
    _, count, killed, score, points, names = _cells("", outcomes)
    return (f"{count} mutants, {killed} killed ({score}); a finding points at the change in {points}, at the change or "
            f"at what it left unordered in {names}")


def by(outcomes: list[Outcome], key: Callable[[Outcome], str]) -> dict[str, list[Outcome]]:
    groups: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        groups[key(outcome)].append(outcome)
    return dict(groups)


def _cells(name: str, group: list[Outcome]) -> tuple[str, ...]:
    killed = [o for o in group if o.killed]
    return (name, str(len(group)), str(len(killed)), percent(len(killed), len(group)),
            percent(sum(o.points for o in killed), len(killed)), percent(sum(o.names for o in killed), len(killed)))


def _row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


def _codes(group: Iterable[Outcome]) -> str:
    counts = Counter(code for o in group for code in o.codes)
    return " ".join(code for code, _ in counts.most_common(6))


def document(outcomes: list[Outcome], accepted: list[Outcome], excluded: list[Equivalent], rejected: int,
             sample: int) -> str:
    """docs/mutation.md. ``accepted``: mutants that only notes tell of, which is what reference code does. ``sample``:
    one mutant in so many was judged."""
    names = {rule.code: rule.name for rule in all_rules()}
    whole, parts = [o for o in outcomes if _whole(o.path)], [o for o in outcomes if not _whole(o.path)]
    lines = [
        "# Mutation score", "",
        "How many realistic mistakes bw-audit finds. Written by `python -m tests.mutation --write`.", "",
        "Every mutant is a correct kernel with one mistake: a wait dropped, a parity inverted, the bytes of one",
        "operand forgotten. The kernels are whole ones (`fixtures/kernels`, and `fixtures/rewrites`, which do the same",
        "in other words) and the correct fixtures of the rules, small pieces of a protocol. A mutant is *killed* when",
        "an error or a warning appears that the correct kernel lacks. A finding *points* at the mistake when its place",
        "or another place that it mentions is within three lines of the change, and it *names* the mistake when one is",
        "within three lines of the change or of an operation that the change left unordered.",
        *(("", f"Judged was one mutant in {sample}, chosen by a hash of its text (`--sample {sample}`).")
          if sample > 1 else ()), "",
        "| kernels | mutants | killed | score | points | names |", "|---|---|---|---|---|---|",
        *(_row(*_cells(name, group)) for name, group in (("whole kernels", whole), ("fixtures of the rules", parts),
                                                         ("all", outcomes)) if group),
        "", "## Left out", "",
        "Operators do not propose what has no effect in the runs of the correct kernel: a `__syncwarp` between nothing",
        "and nothing, one iteration less of a loop that only one role knows. What follows was left out by an argument.",
        "",
        "| mutants | why |", "|---|---|",
        *_arguments(accepted, excluded, rejected),
        "", "## By operator", "",
        "| operator | mistake | mutants | killed | score | points | names | found as |",
        "|---|---|---|---|---|---|---|---|",
    ]
    groups = by(outcomes, lambda o: o.operator)
    for name, operator in OPERATORS.items():
        group = groups.get(name, [])
        if group:
            first, *more = _cells(name, group)
            lines.append(_row(first, operator.mistake, *more, _codes(group)))
    lines += ["", "## By rule", "", "| rule | name | mutants found | alone |", "|---|---|---|---|"]
    found = Counter(code for o in outcomes for code in o.codes)
    alone = Counter(o.codes[0] for o in outcomes if len(o.codes) == 1)
    lines += [f"| {code} | {names.get(code, '')} | {found[code]} | {alone[code]} |" for code in sorted(found)]
    lines += ["", "## By kernel", ""]
    lines += ["| kernel or fixtures | mutants | killed | score | points | names |", "|---|---|---|---|---|---|"]
    groups = by(outcomes, lambda o: _short(o.path) if _whole(o.path) else Path(o.path).parent.name)
    order = sorted(groups, key=lambda name: ("/" not in name, name))  # whole kernels first
    lines += [_row(*_cells(name, groups[name])) for name in order]
    survivors = [o for o in outcomes if not o.killed]
    if survivors:
        lines += ["", "## Survivors", "", "What was not found, by line of the correct kernel:", ""]
        lines += [f"- `{_short(o.path)}:{o.lines[0]}` {o.operator}" for o in survivors]
    return "\n".join(lines) + "\n"


def _whole(path: str) -> bool:
    return not Path(path).name.startswith("good_")


def _arguments(accepted: list[Outcome], excluded: list[Equivalent], rejected: int) -> list[str]:
    """How many mutants were left out, by argument."""
    why = {p.rule: f"{p.rule}, a note: {p.why}" for p in practices()}
    counts = Counter(why[next(code for code in o.noted if code in why)] for o in accepted)
    counts += Counter(e.why for e in excluded)
    if rejected:
        counts["nvcc rejects them"] = rejected
    return [f"| {count} | {text} |" for text, count in sorted(counts.items(), key=lambda c: (-c[1], c[0]))]


def _short(path: str) -> str:
    return "/".join(Path(path).parts[-2:])


def listing(o: Outcome) -> str:
    """One outcome with what was changed and what was said, to look at."""
    verdict = "names" if o.names else "astray" if o.killed else "SURVIVES " + " ".join(o.noted)
    return "\n".join((f"{_short(o.path)} {o.operator} {o.site} {verdict} {o.failure}",
                      *(f"    {line}" for line in o.shown.split("\n")), *(f"    > {line}" for line in o.said)))
