"""Compares the machine with what hardware did: ``python -m tests.conformance``."""

from __future__ import annotations

import argparse
import sys
import time

from tests.conformance import audited_groups, groups, groups_check, report
from tests.conformance.audited import Audited, audit_all
from tests.conformance.check import Verdict, check_all
from tests.conformance.recorded import SECOND, THIRD, Recorded, load, sample


def main() -> int:
    """Run one comparison, or both; status 1 when a program disagrees."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument("part", choices=("direct", "source", "all"), help="the machine, the whole auditor, or both")
    parser.add_argument("--sample", type=int, metavar="N", help="about N programs, spread over the set")
    parser.add_argument("--ends", type=int, default=700, metavar="N",
                        help="of the programs that end, audit the source of about N (default 700)")
    parser.add_argument("--only", nargs="+", default=(), metavar="ID", help="these programs")
    parser.add_argument("--label", nargs="+", default=(), help="programs with one of these labels")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="processes (default 2)")
    parser.add_argument("--verbose", action="store_true", help="list all that disagree, with the findings")
    parser.add_argument("--write", action="store_true", help="write the counts into docs/conformance.md and proved.md")
    options = parser.parse_args()
    good = True
    if options.part in ("direct", "all"):
        good &= _direct(_chosen([*load(), *load(SECOND), *load(THIRD)], options), _groups(options), options)
    if options.part in ("source", "all"):
        programs = _some_that_end(_chosen([*load(), *load(SECOND), *load(THIRD)], options), options.ends)
        good &= _source(programs, _groups(options), options)
    return 0 if good else 1


def _chosen(programs: list[Recorded], options: argparse.Namespace) -> list[Recorded]:
    kept = [p for p in programs if (not options.only or p.id in options.only)
            and (not options.label or p.label in options.label)]
    return sample(kept, options.sample) if options.sample else kept


def _some_that_end(programs: list[Recorded], n: int) -> list[Recorded]:
    """All that do not always end, and a sample of those that do: of these there are too many."""
    return [*sample([p for p in programs if p.label == "ends"], n), *(p for p in programs if p.label != "ends")]


def _groups(options: argparse.Namespace) -> list[groups.GroupProgram]:
    """Programs about groups; they have no labels."""
    kept = [p for p in groups.load() if not options.label and (not options.only or p.id in options.only)]
    return kept[::max(len(kept) // options.sample, 1)] if options.sample else kept


def _direct(programs: list[Recorded], about_groups: list[groups.GroupProgram], options: argparse.Namespace) -> bool:
    began = time.monotonic()
    verdicts: list[Verdict] = check_all(programs, options.jobs)
    values = groups_check.check_all(about_groups, options.jobs)
    print(report.direct_table(verdicts), report.shape_table(verdicts), report.rare_table(verdicts),
          report.group_table(values), sep="\n\n")
    wrong = [v for v in verdicts if not v.agrees]
    odd = [v for v in values if not v.agrees]
    print(f"\n{len(wrong) + len(odd)} of {len(verdicts) + len(values)} programs disagree "
          f"({time.monotonic() - began:.0f} s)")
    for v in wrong if options.verbose else wrong[:10]:
        print(f"{v.id} {v.shape} {v.bug} {v.label}: {v.error or f'not reached: {v.missing}'}")
    for o in odd if options.verbose else odd[:10]:
        print(o)
    if options.write:
        report.update({
            "direct": lambda: report.direct_table(verdicts),
            "shapes": lambda: report.shape_table(verdicts),
            "rare": lambda: report.rare_table(verdicts),
            "groups": lambda: report.group_table(values),
        })
        report.update({"measured": lambda: report.summary(verdicts, values)}, report.PROVED)
    return not wrong and not odd


def _source(programs: list[Recorded], about_groups: list[groups.GroupProgram], options: argparse.Namespace) -> bool:
    began = time.monotonic()
    results: list[Audited] = audit_all(programs, options.jobs)
    of_groups = audited_groups.audit_all(about_groups, options.jobs)
    print(report.source_table(results), report.cause_table(results), report.group_source_table(of_groups), sep="\n\n")
    for label in report.LABELS:
        if any(r.label == label for r in results):
            print(f"\n{label}\n\n{report.code_table(results, label)}")
    untold = [r for r in results if not r.told and r.label != "ends"]
    missed = [r for r in results if r.cause is False]
    alarms = [r for r in results if not r.told and r.label == "ends"]
    print(f"\n{len(untold)} without a finding that tells, {len(missed)} causes missed, {len(alarms)} that end with a "
          f"finding of a hang ({time.monotonic() - began:.0f} s)")
    for r in [*untold, *missed, *alarms] if options.verbose else ():
        print(f"{r.id} {r.shape} {r.bug} {r.label}: {r.problem or r.messages}")
    odd = [r for r in of_groups if not r.told]
    for g in odd if options.verbose else odd[:10]:
        print(g)
    if options.write:
        report.update({
            "source": lambda: report.source_table(results),
            "causes": lambda: report.cause_table(results),
            "ends": lambda: report.code_table(results, "ends"),
            "dependent": lambda: report.code_table(results, "schedule-dependent"),
            "groups source": lambda: report.group_source_table(of_groups),
        })
        report.update({"audited": lambda: report.source_summary(results)}, report.PROVED)
    return not odd and not any(r.label == "hangs" for r in untold)


if __name__ == "__main__":
    sys.exit(main())
