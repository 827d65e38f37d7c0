"""The corpus check itself, on sources of our own."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import pytest

from auditor.config import AuditOptions
from tests.corpora import record
from tests.corpora.agreement import Agreement, Statement, agreement, rates, stated
from tests.corpora.corpus import Corpus, kernels, options, sample
from tests.corpora.outcome import Job, Outcome, audit_all
from tests.corpora.stated import stated_options
from tests.corpora.wheels import Wheel, fetch, unpack

COMMENTED = """
// Mbarrier init (2 groups, 3 barriers)
// full: 2 barriers, init_count=1
// empty: 1 barriers, init_count=128
// TMEM alloc (64 columns, 32 used)
"""
KERNEL = "__global__ void scale(float* x) { x[threadIdx.x] *= 2.0f; }\n"


def test_statements_of_comments() -> None:
    groups = (("full", 2, 1), ("empty", 1, 128))
    assert stated(COMMENTED) == Statement(groups, 3, (64,))


def test_agreement_by_count_and_by_name() -> None:
    found = Statement((("full_addr", 2, 1), ("free_addr", 1, 128)), 3, (64,))
    result = agreement(stated(COMMENTED), [found])
    assert (result.counts, result.columns, result.named) == (True, True, (1, 2))
    other = agreement(stated(COMMENTED), [Statement((("full", 2, 1),), 2, (32,))])
    assert (other.counts, other.columns, other.named) == (False, False, (1, 2))
    assert rates([result, other])[0] == "barrier counts: 1 of 2 files agree"
    assert agreement(stated(""), []) == Agreement()


def test_sample_depends_on_the_seed_only() -> None:
    names = [f"f{n}" for n in range(50)]
    assert sample(names, 5, 1) == sample(names[::-1], 5, 1) != sample(names, 5, 2)
    assert sample(names, None, 0) == sorted(names)


def test_outcomes_and_differences(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.cu", tmp_path / "bad.cu"
    good.write_text(KERNEL)
    bad.write_bytes(b"\0")
    outcomes = dict(audit_all({"good": good, "bad": bad}, Job(AuditOptions()), 2, 60.0))
    lines = {name: str(outcome) for name, outcome in outcomes.items()}
    assert lines == {"good": "1/1", "bad": "not audited"}
    assert outcomes["good"].whole
    path = tmp_path / "record.json"
    record.save({"mine": lines}, path)
    known = record.load(path)["mine"]
    assert record.differences(known, lines) == []
    assert record.differences(known, {"good": "1/1 BW101:1"}) == ["good: 1/1 -> 1/1 BW101:1"]


def test_what_a_file_states_of_its_launch(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    said = ("arch: sm_90a", "grid: 4,2", "smem: 1024", "set: n=3", "set: m=5")
    path.write_text("".join(f"// {line}\n" for line in ("One of them.", *said)) + "#include <a.h>\n")
    options = stated_options(path, AuditOptions(values=(("n", 1),)))
    assert (options.arches, options.grid, options.cluster, options.smem) == (("sm_90a",), (4, 2, 1), None, 1024)
    assert options.values == (("n", 3), ("m", 5))


def test_files_of_ours_ask_for_the_kernels_of_a_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digest = _wheel(tmp_path, {"lib/include/ops.h": "template <int N> __global__ void op(int *p) { *p = N; }\n"})
    asking = tmp_path / "asking"
    asking.mkdir()
    (asking / "op.cu").write_text("#include <ops.h>\nauto instance = &op<3>;\n")
    monkeypatch.setenv("BW_AUDIT_CACHE", str(tmp_path))
    wheel = Wheel("some-kernels", "1.0", digest)
    corpus = Corpus("c", "c", ("instance",), wheel, includes=("lib/include",), instances=asking)
    files = kernels(corpus, tmp_path / "out")
    wanted = options(corpus, tmp_path / "out")
    assert [(n, str(o)) for n, o in audit_all(files, Job(wanted, stated=True), 1, 60.0)] == [("op.cu", "1/1")]


def test_a_file_that_takes_too_long_is_a_failure(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(KERNEL)
    outcomes = dict(audit_all({"k": path}, Job(AuditOptions()), 1, 0.0))
    assert outcomes["k"] == Outcome(failure="more than 0 seconds")


def test_a_cached_wheel_is_verified_and_unpacked(tmp_path: Path) -> None:
    digest = _wheel(tmp_path, {"k/a.cu": KERNEL, "k/a.py": ""})
    found = fetch(Wheel("some-kernels", "1.0", digest), tmp_path)
    assert [name for name, _ in unpack(found, tmp_path / "out")] == ["k/a.cu"]


def _wheel(cache: Path, files: dict[str, str]) -> str:
    """Put a wheel with these files among the downloads of a cache folder that is used as it is; its digest."""
    for folder in (cache / "wheels", cache / "bw-audit" / "wheels"):
        folder.mkdir(parents=True)
        archive = folder / "some_kernels-1.0-py3-none-any.whl"
        with zipfile.ZipFile(archive, "w") as wheel:
            for name, text in files.items():
                wheel.writestr(zipfile.ZipInfo(name), text)
    return hashlib.sha256(archive.read_bytes()).hexdigest()
