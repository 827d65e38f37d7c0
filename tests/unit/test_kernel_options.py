"""Settings of single kernels, suppressions and levels, through the whole pipeline on a real kernel."""

from __future__ import annotations

from pathlib import Path

from auditor.config import AuditOptions, KernelOptions
from auditor.engine import audit_file

ROOT = Path(__file__).parents[2]
BAD = ROOT / "fixtures" / "BW202" / "bad_barrier_before_the_read.cu"


def inputs(options: AuditOptions) -> dict[str, str]:
    (found,) = audit_file(str(BAD), options).findings
    return dict(found.inputs)


def test_launch_and_values_of_one_kernel() -> None:
    assert inputs(AuditOptions())["tiles"].split()[0] == "5"  # as the file launches it
    ours = AuditOptions(kernels=(KernelOptions("offset", values=(("tiles", 3),), block=(128, 1, 1)),))
    assert (inputs(ours)["tiles"].split()[0], inputs(ours)["block"].split()[0]) == ("3", "128")
    other = AuditOptions(kernels=(KernelOptions("another", values=(("tiles", 3),)),))
    assert inputs(other)["tiles"].split()[0] == "5"


def test_suppressions_of_a_line_and_of_a_kernel(tmp_path: Path) -> None:
    text = BAD.read_text()
    for name, changed in {
        "line.cu": text.replace("// expect[BW202]", "// bw-audit: ignore[BW202] known"),
        "kernel.cu": text.replace("__global__", "// bw-audit: ignore[BW202] known\n__global__"),
        "file.cu": "// bw-audit: ignore-file[BW202] known\n" + text,
    }.items():
        (tmp_path / name).write_text(changed)
        result = audit_file(str(tmp_path / name), AuditOptions())
        assert (result.findings, result.hidden) == ([], {"suppressed": 1}), name
