"""Counts of both comparisons, as text and as the tables of docs/conformance.md."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from tests.conformance.audited import Audited
from tests.conformance.audited_groups import AuditedGroup
from tests.conformance.check import Verdict
from tests.conformance.groups_check import GroupVerdict

PAGE = Path(__file__).parents[2] / "docs" / "conformance.md"
PROVED = PAGE.with_name("proved.md")
LABELS = ("ends", "hangs", "schedule-dependent", "traps")


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(head) + " |", "| " + " | ".join("---" for _ in head) + " |"]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def direct_table(verdicts: list[Verdict]) -> str:
    """Agreement of the machine by label."""
    rows = []
    for label in LABELS:
        group = [v for v in verdicts if v.label == label]
        if group:
            rows.append((label, len(group), sum(v.agrees for v in group), sum(v.lazy_seen for v in group),
                         sum(not v.lazy_seen and v.eager_seen for v in group), sum(v.searched for v in group)))
    total = ("all", *(sum(int(str(row[n])) for row in rows) for n in range(1, 6)))
    return table(("measured", "programs", "all outcomes reached", "audit's schedule ends as measured",
                  "only the eager schedule does", "outcomes found by search"), [*rows, total])


def shape_table(verdicts: list[Verdict]) -> str:
    """Agreement of the machine by shape."""
    shapes: dict[str, list[Verdict]] = defaultdict(list)
    for v in verdicts:
        shapes[v.shape].append(v)
    return table(("shape", "programs", "all outcomes reached"),
                 [(shape, len(group), sum(v.agrees for v in group)) for shape, group in sorted(shapes.items())])


def rare_table(verdicts: list[Verdict]) -> str:
    """Programs of one label whose outcome under the audit's schedule hardware never showed."""
    rows = [(v.id, v.shape, v.bug, v.label, _ending(v)) for v in verdicts if v.rare and v.label in ("ends", "hangs")]
    return table(("program", "shape", "change", "measured", "the audit's schedule"), rows)


def _ending(v: Verdict) -> str:
    if v.lazy.trap:
        return "traps"
    return "ends" if all(s is None for s in v.lazy.stop) else "hangs"


def group_table(verdicts: list[GroupVerdict]) -> str:
    """Values that programs about groups looked at: where the machine allows one, hardware has to show that one."""
    rows = []
    for shape in sorted({v.shape for v in verdicts}):
        group = [v for v in verdicts if v.shape == shape]
        looks, left_open = sum(v.looks for v in group), sum(v.open for v in group)
        rows.append((shape, len(group), sum(v.agrees for v in group), looks - left_open, left_open,
                     sum(v.shown for v in group)))
    return table(("shape", "programs", "agree", "values that the machine fixes", "values that it leaves open",
                  "of those, seen to differ"), rows)


def summary(verdicts: list[Verdict], values: list[GroupVerdict]) -> str:
    """The counts of the comparison in two sentences."""
    programs, agree = len(verdicts) + len(values), sum(v.agrees for v in verdicts) + sum(v.agrees for v in values)
    ways = sum(v.outcomes for v in verdicts)
    fixed = sum(v.looks - v.open for v in values)
    return (f"{agree:,} of {programs:,} programs that an H200 ran agree. The machine reaches the {ways:,} ways in "
            f"which\n{len(verdicts):,} of them ended, and rules out none of the values that the other "
            f"{len(values):,} saw;\nfor {fixed:,} of these it allows one value only.")


def source_table(results: list[Audited]) -> str:
    """What the auditor said, by label."""
    rows = []
    for label in LABELS:
        group = [r for r in results if r.label == label]
        known = [r for r in group if r.cause is not None]
        if group:
            causes = f"{sum(bool(r.cause) for r in known)} of {len(known)}" if known else ""
            may = sum(r.may is True for r in group) if label == "ends" else ""
            rows.append((label, len(group), sum(r.told for r in group), causes, may))
    return table(("measured", "programs", "findings agree", "cause is the changed operation",
                  "of the others, those that a search makes fail"), rows)


def group_source_table(results: list[AuditedGroup]) -> str:
    """What the auditor said of the programs about groups."""
    rows = []
    for shape in sorted({r.shape for r in results}):
        racing = [r for r in results if r.shape == shape and r.races]
        others = [r for r in results if r.shape == shape and not r.races]
        codes = Counter(code for r in racing for code in r.codes)
        names = ", ".join(f"{code} {n}" for code, n in codes.most_common())
        rows.append((shape, len(racing), sum(r.told for r in racing), names, len(others),
                     sum(r.told for r in others)))
    return table(("shape", "a value is open", "found", "codes", "none is", "no finding"), rows)


def source_summary(results: list[Audited]) -> str:
    """The counts of the second comparison in two sentences."""
    hangs, dependent = ([r for r in results if r.label == label] for label in ("hangs", "schedule-dependent"))
    known = [r for r in hangs if r.cause is not None]
    return (f"Written as CUDA source, {sum(r.told for r in hangs):,} of {len(hangs):,} programs that hang have a "
            f"finding that says so,\nat the changed operation in {sum(bool(r.cause) for r in known):,} of the "
            f"{len(known):,} whose change is known, and {sum(r.told for r in dependent):,} of {len(dependent):,} that\n"
            "hang in some runs only.")


def cause_table(results: list[Audited]) -> str:
    """How often the cause of a hang was found, by change."""
    groups: dict[tuple[str, str], list[Audited]] = defaultdict(list)
    for r in results:
        if r.cause is not None:
            groups[r.shape, r.bug].append(r)
    return table(("shape", "change", "hanging programs", "cause found", "codes"),
                 [(*key, len(group), sum(bool(r.cause) for r in group), _codes(group))
                  for key, group in sorted(groups.items())])


def _codes(group: list[Audited]) -> str:
    count = Counter(code for r in group for code in r.codes)
    return ", ".join(f"{code} {n}" for code, n in count.most_common())


def code_table(results: list[Audited], label: str) -> str:
    """The codes that programs of one label got."""
    count = Counter(r.codes for r in results if r.label == label)
    return table(("findings", "programs"), [(", ".join(codes) or "none", n) for codes, n in count.most_common()])


def update(sections: dict[str, Callable[[], str]], page: Path = PAGE) -> None:
    """Replace the generated sections of a page: what stands between the two comments of a name."""
    text = page.read_text(encoding="utf-8")
    for name, make in sections.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        head, rest = text.split(begin, 1)
        text = f"{head}{begin}{make()}\n{end}{rest.split(end, 1)[1]}"
    page.write_text(text, encoding="utf-8")
