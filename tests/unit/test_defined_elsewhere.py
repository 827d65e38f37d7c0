"""Device functions that another file defines: what may synchronise in them ends what can be judged."""

from __future__ import annotations

from pathlib import Path

import pytest

from auditor.config import AuditOptions
from auditor.engine import audit_file
from auditor.findings import FileResult

# The lanes of a warp read what others wrote, behind a call.
KERNEL = """
DECLARATION
__global__ void __launch_bounds__(32) k(int *out)
{
    __shared__ int row[32];
    row[threadIdx.x] = threadIdx.x;
    CALL
    out[threadIdx.x] = row[31 - threadIdx.x];
}
"""


def audited(folder: Path, declaration: str, call: str) -> FileResult:
    source = folder / "k.cu"
    source.write_text(KERNEL.replace("DECLARATION", declaration).replace("CALL", call))
    result = audit_file(str(source), AuditOptions())
    assert not result.failure
    return result


def told(result: FileResult) -> list[str]:
    return [text for kind, text, _ in result.coverage.notes if kind == "unanalysed"]


@pytest.mark.parametrize(
    ("declaration", "call"),
    [
        ("__device__ void meet();", "meet();"),
        ("__device__ int meet(int *);", "meet(row);"),
        ("__device__ int meet(int &);", "meet(row[0]);"),
        ("struct Team { __device__ void meet(); };", "Team team; team.meet();"),
        ("namespace lib { template <class T> __device__ void meet(T); }", "lib::meet(3);"),
    ],
)
def test_what_may_synchronise_ends_the_run(tmp_path: Path, declaration: str, call: str) -> None:
    result = audited(tmp_path, declaration, call)
    assert result.findings == []
    assert result.coverage.executed == 0
    assert told(result) == [
        "meet is defined in another file",
        "kernel k: meet is defined in another file, and may synchronise: nothing behind it is judged",
    ]


def test_a_number_for_numbers_does_not_end_it(tmp_path: Path) -> None:
    result = audited(tmp_path, "__device__ float scale(float, int);", "out[0] = scale(2.0f, 3);")
    assert [finding.code for finding in result.findings] == ["BW606"]
    assert result.coverage.executed == 1
    assert told(result) == ["scale is defined in another file"]


def test_what_stands_before_the_call_is_judged(tmp_path: Path) -> None:
    result = audited(tmp_path, "__device__ void meet();", "out[0] = row[31 - threadIdx.x]; meet();")
    assert [finding.code for finding in result.findings] == ["BW606"]


def test_builtins_of_the_compiler_without_a_model_end_it(tmp_path: Path) -> None:
    result = audited(tmp_path, "", "__nvvm_barrier_cta_sync_all(0);")
    assert result.findings == []
    assert "__nvvm_barrier_cta_sync_all" in told(result)[0]


def test_builtins_of_the_language_are_known(tmp_path: Path) -> None:
    call = '__syncwarp(); out[0] = __builtin_inff() > __builtin_fabsf(-2.0f) || __builtin_nanf("") > 0;'
    result = audited(tmp_path, "", call)
    assert (result.findings, told(result), result.coverage.executed) == ([], [], 1)


def test_functions_of_the_system_s_headers_are_known(tmp_path: Path) -> None:
    call = '__syncwarp(); printf("%d", row[0]); if (row[0] < 0) free(malloc(8)); out[0] = (int)sinf(2.0f);'
    result = audited(tmp_path, "#include <cstdio>\n#include <cstdlib>\n#include <cmath>", call)
    assert (result.findings, told(result), result.coverage.executed) == ([], [], 1)
