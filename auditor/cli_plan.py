"""The command ``bw-audit plan``: the contract of a kernel, before there is code."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from auditor.cli_console import write_out
from auditor.cli_run import EXIT_FAILED
from auditor.plans.spec import GemmSpec, PlanError, parse_tile

if TYPE_CHECKING:
    from auditor.plans.model import GemmPlan

EXIT_IMPOSSIBLE = 1


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
def plan() -> None:
    """Plan a kernel: stages, barriers, tensor maps, tensor memory and descriptors as numbers."""


@plan.command()
@click.option("--from", "toml", metavar="FILE", help="Read the request from a TOML file; other options are ignored.")
@click.option(
    "--tile", default="128x128x64", show_default=True, metavar="MxNxK", help="Tile; of the pair with --cta-group 2."
)
@click.option("--dtype", default="bf16", show_default=True, help="f16, bf16, tf32, e4m3, e5m2, mxf8, mxf4 or nvf4.")
@click.option("--acc", default="f32", show_default=True, help="Accumulator: f32 or f16.")
@click.option("--out-type", "out", default="f32", show_default=True, help="Result: f32, f16 or bf16.")
@click.option("--cta-group", type=int, default=1, show_default=True, help="1, or 2 for pairs of CTAs.")
@click.option("--stages", default="auto", show_default=True, metavar="N|auto", help="Depth of the operand ring.")
@click.option("--epilogue", default="direct", show_default=True, help="direct (from registers) or tma.")
@click.option("--accumulators", type=int, default=2, show_default=True, help="Accumulators in tensor memory.")
@click.option("--ctas-per-sm", type=int, default=1, show_default=True, help="CTAs that an SM has to hold.")
@click.option("--arch", default="sm_100a", show_default=True)
@click.option("--format", "format_", type=click.Choice(("text", "json")), default="text", show_default=True)
@click.option("--emit", metavar="FILE", help="Write a kernel with all of it in place.")
def gemm(
    toml: str | None,
    tile: str,
    stages: str,
    format_: str,
    emit: str | None,
    dtype: str,
    acc: str,
    out: str,
    cta_group: int,
    epilogue: str,
    accumulators: int,
    ctas_per_sm: int,
    arch: str,
) -> int:
    """A persistent GEMM D = A B^T on tcgen05, with K-major operands.

    Exit code: 0 for a possible plan, 1 for an impossible one, 2 for wrong usage.
    """
    from auditor.plans.document import as_json, sections
    from auditor.plans.gemm import plan_gemm
    from auditor.plans.nearest import nearest
    from auditor.reports.render_text import document

    try:
        m, n, k = parse_tile(tile)
        depth = _stages(stages)
        asked = GemmSpec(m, n, k, dtype, acc, out, cta_group, depth, epilogue, accumulators, arch, ctas_per_sm)
    except PlanError as error:
        raise click.UsageError(str(error)) from error
    spec = _read(toml) if toml else asked
    made = plan_gemm(spec)
    near = None if made.possible else nearest(spec)
    write_out(as_json(made, near) if format_ == "json" else document(f"plan gemm {spec.words()}", sections(made, near)))
    if not made.possible:
        return EXIT_IMPOSSIBLE
    return _emit(made, emit) if emit else 0


@plan.command()
@click.argument("toml")
@click.argument("source")
@click.option("--kernel", metavar="NAME", help="Compare this kernel.")
def diff(toml: str, source: str, kernel: str | None) -> int:
    """Where a kernel departs from its plan, a TOML file with a table [gemm].

    Exit code: 0 when they agree, 1 when they differ, 2 for wrong usage.
    """
    from auditor.cli_report import report_file
    from auditor.config import AuditOptions
    from auditor.engine import with_deep_stack
    from auditor.plans.diff import departures
    from auditor.plans.gemm import plan_gemm
    from auditor.reports.blocks import Section, Table
    from auditor.reports.descriptors import DIFFER
    from auditor.reports.render_text import document

    made = plan_gemm(_read(toml))
    report = with_deep_stack(lambda: report_file(source, AuditOptions(), kernel))
    if report.failure:
        raise click.ClickException(f"{source}: {report.failure}")
    checks = departures(made, report.kernels[0])
    rows = tuple((c.item, c.host, c.kernel, c.verdict) for c in checks)
    table = Table("Plan against kernel", ("Item", "Plan", "Kernel", "Verdict"), rows, frozenset((1, 2)))
    write_out(document(f"{toml} against {report.kernels[0].kernel}", [Section("Numbers", 2, (table,))]))
    return int(any(c.verdict == DIFFER for c in checks))


def _read(toml: str) -> GemmSpec:
    from auditor.plans.toml import read_plan

    try:
        return read_plan(toml)
    except PlanError as error:
        raise click.UsageError(str(error)) from error
    except OSError as error:
        raise click.ClickException(f"{toml}: {error.strerror}") from error


def _emit(made: GemmPlan, path: str) -> int:
    from auditor.plans.emit import emit

    try:
        Path(path).write_text(emit(made), encoding="utf-8")
    except PlanError as error:
        click.echo(f"bw-audit: {error}", err=True)
        return EXIT_FAILED
    except OSError as error:
        raise click.ClickException(f"{error.filename}: {error.strerror}") from error
    return 0


def _stages(text: str) -> int | None:
    if text == "auto":
        return None
    if not text.isdigit():
        raise PlanError(f"stages is {text!r}, not a number or auto")
    return int(text)
