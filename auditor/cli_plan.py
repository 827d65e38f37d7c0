"""The command ``bw-audit plan``: the contract of a kernel, before there is code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from auditor.cli_console import columns, write_out
from auditor.cli_run import EXIT_FAILED
from auditor.plans.attention_spec import AttentionSpec
from auditor.plans.spec import GemmSpec, PlanError, parse_tile

if TYPE_CHECKING:
    from auditor.plans.attention_model import AttentionPlan
    from auditor.plans.model import GemmPlan
    from auditor.reports.blocks import Section

Spec = TypeVar("Spec", GemmSpec, AttentionSpec)
EXIT_IMPOSSIBLE = 1


FORMATS = ("text", "markdown", "json")
_format = click.option("--format", "format_", type=click.Choice(FORMATS), default="text", show_default=True)
_emit_to = click.option("--emit", metavar="FILE", help="Write a kernel with all of it in place.")
_stage_count = click.option(
    "--stages", default="auto", show_default=True, metavar="N|auto", help="Depth of the operand ring."
)
_from = click.option(
    "--from", "toml", metavar="FILE", help="Read the request from a TOML file; other options are ignored."
)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
def plan() -> None:
    """Plan a kernel: stages, barriers, tensor maps, tensor memory and descriptors as numbers."""


@plan.command()
@_from
@click.option(
    "--tile", default="128x128x64", show_default=True, metavar="MxNxK", help="Tile; of the pair with --cta-group 2."
)
@click.option("--dtype", default="bf16", show_default=True, help="f16, bf16, tf32, e4m3, e5m2, mxf8, mxf4 or nvf4.")
@click.option("--acc", default="f32", show_default=True, help="Accumulator: f32 or f16.")
@click.option("--out-type", "out", default="f32", show_default=True, help="Result: f32, f16 or bf16.")
@click.option("--cta-group", type=int, default=1, show_default=True, help="1, or 2 for pairs of CTAs.")
@_stage_count
@click.option("--epilogue", default="direct", show_default=True, help="direct (from registers) or tma.")
@click.option("--accumulators", type=int, default=2, show_default=True, help="Accumulators in tensor memory.")
@click.option("--ctas-per-sm", type=int, default=1, show_default=True, help="CTAs that an SM has to hold.")
@click.option("--arch", default="sm_100a", show_default=True)
@_format
@_emit_to
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
    from auditor.plans.document import sections
    from auditor.plans.emit import emit as skeleton
    from auditor.plans.gemm import plan_gemm
    from auditor.plans.nearest import nearest

    try:
        m, n, k = parse_tile(tile)
        depth = _stages(stages)
        asked = GemmSpec(m, n, k, dtype, acc, out, cta_group, depth, epilogue, accumulators, arch, ctas_per_sm)
    except PlanError as error:
        raise click.UsageError(str(error)) from error
    spec = _read(toml, GemmSpec) if toml else asked
    made = plan_gemm(spec)
    near = None if made.possible else nearest(spec)
    _write(f"plan gemm {spec.words()}", sections(made, near), made, near, format_)
    if not made.possible:
        return EXIT_IMPOSSIBLE
    return _emit(lambda: skeleton(made), emit) if emit else 0


@plan.command()
@_from
@click.option(
    "--tile",
    default="256x128x128",
    show_default=True,
    metavar="MxNxD",
    help="Queries of a CTA (128 or 256), keys of a block, elements of a head.",
)
@click.option("--dtype", default="bf16", show_default=True, help="Q, K, V and P: bf16, f16, e4m3 or e5m2.")
@click.option("--out-type", "out", default="bf16", show_default=True, help="Result: f32, f16 or bf16.")
@click.option(
    "--p", "place", default="alias", show_default=True, help="P over S (alias), or in columns of its own (own)."
)
@_stage_count
@click.option("--arch", default="sm_100a", show_default=True)
@_format
@_emit_to
def attention(
    toml: str | None,
    tile: str,
    dtype: str,
    out: str,
    place: str,
    stages: str,
    arch: str,
    format_: str,
    emit: str | None,
) -> int:
    """O = softmax(Q K^T) V on tcgen05: S, P and O in tensor memory, a softmax warpgroup for each 128 queries.

    Exit code: 0 for a possible plan, 1 for an impossible one, 2 for wrong usage.
    """
    from auditor.plans.attention import plan_attention
    from auditor.plans.attention_document import attention_sections
    from auditor.plans.attention_emit import emit_attention
    from auditor.plans.nearest import nearest_attention

    try:
        m, n, d = parse_tile(tile)
        asked = AttentionSpec(m, n, d, dtype, out, place, _stages(stages), arch)
    except PlanError as error:
        raise click.UsageError(str(error)) from error
    spec = _read(toml, AttentionSpec) if toml else asked
    made = plan_attention(spec)
    near = None if made.possible else nearest_attention(spec)
    _write(f"plan attention {spec.words()}", attention_sections(made, near), made, near, format_)
    if not made.possible:
        return EXIT_IMPOSSIBLE
    return _emit(lambda: emit_attention(made), emit) if emit else 0


@plan.command()
@click.argument("toml")
@click.argument("source")
@click.option("--kernel", metavar="NAME", help="Compare this kernel.")
def diff(toml: str, source: str, kernel: str | None) -> int:
    """Where a kernel departs from its plan, a TOML file with a table [gemm] or [attention].

    Exit code: 0 when they agree, 1 when they differ, 2 for wrong usage.
    """
    from auditor.cli_report import report_file
    from auditor.config import AuditOptions
    from auditor.engine import with_deep_stack
    from auditor.plans.attention import plan_attention
    from auditor.plans.diff import attention_departures, departures
    from auditor.plans.gemm import plan_gemm
    from auditor.reports.blocks import Section, Table
    from auditor.reports.descriptors import DIFFER
    from auditor.reports.render_text import document

    spec = _request(toml)
    report = with_deep_stack(lambda: report_file(source, AuditOptions(), kernel))
    if report.failure:
        raise click.ClickException(f"{source}: {report.failure}")
    found = report.kernels[0]
    if isinstance(spec, GemmSpec):
        checks = departures(plan_gemm(spec), found)
    else:
        checks = attention_departures(plan_attention(spec), found)
    rows = tuple((c.item, c.host, c.kernel, c.verdict) for c in checks)
    table = Table("Plan against kernel", ("Item", "Plan", "Kernel", "Verdict"), rows, frozenset((1, 2)))
    write_out(document(f"{toml} against {found.kernel}", [Section("Numbers", 2, (table,))]))
    return int(any(c.verdict == DIFFER for c in checks))


def _request(toml: str) -> GemmSpec | AttentionSpec:
    from auditor.plans.toml import read_plan

    try:
        return read_plan(toml)
    except PlanError as error:
        raise click.UsageError(str(error)) from error
    except OSError as error:
        raise click.ClickException(f"{toml}: {error.strerror}") from error


def _read(toml: str, kind: type[Spec]) -> Spec:
    """The request in a file, which has to be of one kind."""
    spec = _request(toml)
    if not isinstance(spec, kind):
        raise click.UsageError(f"{toml}: its table belongs to another command")
    return spec


def _write(
    title: str,
    parts: list[Section],
    made: GemmPlan | AttentionPlan,
    near: GemmPlan | AttentionPlan | None,
    format_: str,
) -> None:
    """The plan in one of FORMATS. Imports only what that format needs."""
    if format_ == "json":
        from auditor.plans.plan_json import as_json

        write_out(as_json(made, near))
    elif format_ == "markdown":
        from auditor.reports.render_markdown import document as as_markdown

        write_out(as_markdown(title, parts))
    else:
        from auditor.reports.render_text import document as as_text
        from auditor.reports.render_text import page_width

        write_out(as_text(title, parts, page_width(columns())))


def _emit(skeleton: Callable[[], str], path: str) -> int:
    try:
        Path(path).write_text(skeleton(), encoding="utf-8")
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
