"""Fixes: proposed by rules, confirmed by an audit, shown and applied."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from auditor.analysis import Analysis, ArchRun, KernelPlace
from auditor.cli import main
from auditor.cli_fix import repaired, unified_diff
from auditor.config import AuditOptions
from auditor.edits import apply_edits
from auditor.engine import analyse_file, audit_file
from auditor.findings import Coverage, Edit, FileResult, Finding, Fix, Level
from auditor.repair import verify
from auditor.repair.verify import MOST_AUDITS, with_confirmed_fixes
from auditor.source import Loc

FIXTURES = Path(__file__).parents[2] / "fixtures"
SYNC = 'asm volatile("fence.proxy.async.shared::cta;" ::: "memory");'


@pytest.mark.parametrize(
    ("fixture", "arch", "expected"),
    [
        ("BW106/bad_one_operand_counted.cu", "sm_90a", ["        bar_expect(bar, 2 * kBytes);  // expect[BW106]"]),
        ("BW110/bad_no_block_barrier.cu", "sm_90a", ["    __syncthreads();"]),
        ("BW113/bad_result_ignored.cu", "sm_90a", ["    while (!mbTry(&landed, 0)) {}  // expect[BW113]"]),
        (
            "BW206/bad_store_left_at_exit.cu",
            "sm_90a",
            ['        asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");'],
        ),
        (
            "BW208/bad_other_thread_commits.cu",
            "sm_90a",
            [
                "        { ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out, line, sizeof(line)); "
                "ptx::cp_async_bulk_commit_group(); }  // expect[BW208]"
            ],
        ),
        ("BW209/bad_store_without_fence.cu", "sm_90a", [f"    {SYNC}"]),
        ("BW210/bad_loads_in_flight_at_release.cu", "sm_90a", [f"            {SYNC}"]),
        ("BW214/bad_map_by_value.cu", "sm_90a", ["    const __grid_constant__ CUtensorMap map,  // expect[BW214]"]),
        (
            "BW303/bad_one_stage_freed.cu",
            "sm_100a",
            ["    if (warp == 0) tmem_dealloc(tmem, kStages * kTile); // expect[BW303]"],
        ),
        ("BW308/bad_released_before_wait.cu", "sm_100a", ["            tmem_wait_ld();"]),
        ("BW309/bad_barrier_is_no_wait.cu", "sm_100a", ["        ptx::tcgen05_wait_st();"]),
        ("BW314/bad_alloc_after_barrier.cu", "sm_100a", ["    __syncthreads();"]),
        ("BW321/bad_no_fence_behind_rescale.cu", "sm_90a", ["        wg_fence();"]),
        (
            "BW609/bad_launched_early_never_waits.cu",
            "sm_90a",
            ['    asm volatile("griddepcontrol.wait;" ::: "memory");'],
        ),
        ("BW605/bad_lane_zero_releases.cu", "sm_90a", ["            __syncwarp();"]),
        (
            "BW608/bad_named_barrier_without_clobber.cu",
            "sm_90a",
            ['        asm volatile("bar.sync %0, %1;" :: "r"(id), "r"(threads) : "memory"); // expect[BW608]'],
        ),
    ],
)
def test_fixtures_are_repaired(fixture: str, arch: str, expected: list[str]) -> None:
    path = FIXTURES / fixture
    options = AuditOptions(arches=(arch,), fixes=True)
    result = audit_file(str(path), options)
    change = repaired(result, options)
    assert change is not None
    shown = [line.rstrip("\n") for line in unified_diff(change)][2:]
    assert [line[1:] for line in shown if line.startswith("+")] == expected
    assert change.result.findings == []


def test_fewer_bytes_than_expected_may_be_a_forgotten_copy() -> None:
    path = FIXTURES / "BW106" / "bad_short_last_chunk.cu"
    (finding,) = audit_file(str(path), AuditOptions(arches=("sm_90a",), fixes=True)).findings
    assert finding.fix is None


def test_no_fix_in_a_macro_definition(tmp_path: Path) -> None:
    source = (FIXTURES / "BW608" / "bad_named_barrier_without_clobber.cu").read_text()
    statement = 'asm volatile("bar.sync %0, %1;" :: "r"(id), "r"(threads));'
    assert statement in source
    path = tmp_path / "macro.cu"
    path.write_text(f"#define MEET {statement}\n" + source.replace(statement, "MEET"))
    findings = audit_file(str(path), AuditOptions(arches=("sm_90a",), fixes=True)).findings
    assert [(finding.code, finding.fix) for finding in findings] == [("BW608", None)]


def test_nothing_is_confirmed_unless_asked_for() -> None:
    path = FIXTURES / "BW209" / "bad_store_without_fence.cu"
    (finding,) = audit_file(str(path), AuditOptions(arches=("sm_90a",))).findings
    assert (finding.fix, finding.candidates) == (None, ())


# ---- confirmation, by a stand-in audit ------------------------------------------------------------------------------

PATH = "a.cu"
TEXT = "one\ntwo\nthree\n"


def insertion(line: int, text: str) -> Fix:
    return Fix(f"insert {text}", (Edit(Loc(PATH, line, 1, line, 1), f"{text}\n"),))


def bad(line: int, *candidates: Fix, code: str = "BW308") -> Finding:
    return Finding(code, Level.ERROR, "bad", Loc(PATH, line), "kernel", candidates=candidates)


def analysis_of(*findings: Finding, notes: int = 0, executed: int = 1, failure: str = "") -> Analysis:
    coverage = Coverage(1, executed, [("opaque", f"note {n}", Loc(PATH, 1)) for n in range(notes)])
    return Analysis(PATH, [ArchRun("sm_100a", list(findings), coverage)], {PATH: TEXT}, failure=failure)


class StandIn:
    """An audit whose answer depends on the text; counts its calls."""

    def __init__(self, answer: Callable[[str], Analysis]) -> None:
        self.answer = answer
        self.texts: list[str] = []

    def __call__(self, path: str, options: AuditOptions, text: str) -> Analysis:
        assert not options.fixes
        self.texts.append(text)
        return self.answer(text)


def confirmed(before: Analysis, answer: Callable[[str], Analysis], **options: tuple[str, ...]) -> list[Fix | None]:
    with_confirmed_fixes(before, AuditOptions(fixes=True, **options), StandIn(answer))  # type: ignore[arg-type]
    assert all(finding.candidates == () for finding in before.runs[0].findings)
    return [finding.fix for finding in before.runs[0].findings]


def test_the_first_candidate_that_helps_is_taken() -> None:
    useless, good = insertion(3, "nothing"), insertion(2, "wait")

    def answer(text: str) -> Analysis:
        return analysis_of() if "wait" in text else analysis_of(bad(2))

    assert confirmed(analysis_of(bad(2, useless, good)), answer) == [good]


def test_other_findings_move_with_their_lines() -> None:
    good = insertion(2, "wait")
    before = analysis_of(bad(2, good), bad(3, code="BW101"))
    assert confirmed(before, lambda text: analysis_of(bad(4, code="BW101"))) == [good, None]
    before = analysis_of(bad(2, good), bad(3, code="BW101"))
    assert confirmed(before, lambda text: analysis_of(bad(1, code="BW101"))) == [None, None]  # that one is new


@pytest.mark.parametrize(
    "after",
    [
        analysis_of(bad(2, code="BW601")),  # in the new line
        analysis_of(bad(3, code="BW601")),
        analysis_of(notes=1),
        analysis_of(executed=0),
        analysis_of(failure="syntax error"),
        analysis_of(replace(bad(3), kernel="another")),
    ],
)
def test_a_repair_that_does_harm_is_not_offered(after: Analysis) -> None:
    assert confirmed(analysis_of(bad(2, insertion(2, "wait"))), lambda text: after) == [None]


def test_rules_that_were_not_selected_count_too() -> None:
    before = analysis_of(bad(2, insertion(2, "wait")))

    def answer(text: str) -> Analysis:
        return analysis_of(bad(1, code="BW601"), *([] if "wait" in text else [bad(2)]))

    assert confirmed(before, answer, select=("BW308",)) == [insertion(2, "wait")]  # BW601 was there before
    before = analysis_of(bad(2, insertion(2, "wait")))
    harmful = analysis_of(bad(1, code="BW601"))
    assert confirmed(before, lambda t: harmful if "wait" in t else analysis_of(bad(2)), select=("BW308",)) == [None]


BODIES = "#define N 2\nkernel() {\n  first\n#define M 3\n}\n\nother() {\n  second\n}\n"


def audited_again(line: int, executed: int = 2) -> tuple[str, ...]:
    """The kernels that are audited for a repair in this line of a source with two."""
    asked: list[tuple[str, ...]] = []
    places = [
        KernelPlace("kernel", Loc(PATH, 2), Loc(PATH, 2, 10, 5, 2)),
        KernelPlace("other", Loc(PATH, 7), Loc(PATH, 7, 9, 9, 2)),
    ]
    elsewhere = replace(bad(8, code="BW101"), kernel="other")
    found = [bad(3, insertion(line, "  wait")), elsewhere]
    before = Analysis(PATH, [ArchRun("sm_100a", found, Coverage(2, executed), places)], {PATH: BODIES})

    def analyse(path: str, options: AuditOptions, text: str) -> Analysis:
        asked.append(options.only)
        left = [] if options.only else [replace(elsewhere, loc=Loc(PATH, 9))]
        run = ArchRun("sm_100a", left, Coverage(2, len(options.only) or executed), places)
        return Analysis(PATH, [run], {PATH: text})

    with_confirmed_fixes(before, AuditOptions(fixes=True), analyse)
    assert before.runs[0].findings[0].fix is not None
    return asked[0]


def test_kernels_that_cannot_notice_a_repair_are_not_audited_again() -> None:
    assert audited_again(3) == ("kernel",)
    assert audited_again(8) == ("other",)
    assert audited_again(6) == ()  # between them
    assert audited_again(4) == ()  # a macro is for all that follows
    assert audited_again(3, executed=1) == ()  # it is not known which of them came to its end


def test_only_kernels_that_are_asked_for_are_run(tmp_path: Path) -> None:
    path = tmp_path / "two.cu"
    path.write_text("".join(f"__global__ void {name}() {{ __syncthreads(); }}\n" for name in ("first", "second")))
    coverage = analyse_file(str(path), AuditOptions(only=("second",))).runs[0].coverage
    assert (coverage.kernels, coverage.executed) == (2, 1)


def test_audits_are_limited_and_made_once() -> None:
    fixes = [insertion(2, f"try{n}") for n in range(MOST_AUDITS + 5)]
    stand_in = StandIn(lambda text: analysis_of(bad(3)))
    with_confirmed_fixes(analysis_of(bad(2, *fixes), bad(3, *fixes)), AuditOptions(fixes=True), stand_in)
    assert len(stand_in.texts) == MOST_AUDITS


def test_no_further_repair_is_tried_when_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "MOST_TIME", -1.0)
    stand_in = StandIn(lambda text: analysis_of())
    before = analysis_of(bad(2, insertion(2, "wait")))
    with_confirmed_fixes(before, AuditOptions(fixes=True), stand_in)
    assert (before.runs[0].findings[0].fix, stand_in.texts) == (None, [])


# ---- several fixes of one file --------------------------------------------------------------------------------------


def fixable(line: int, fix: Fix) -> Finding:
    return replace(bad(line), fix=fix)


def result_of(text: str, *findings: Finding) -> FileResult:
    return FileResult(PATH, list(findings), Coverage(1, 1), {PATH: text})


def test_fixes_that_do_not_agree_are_taken_one_by_one() -> None:
    first, second = insertion(1, "lock"), insertion(3, "unlock")

    def audit(path: str, options: AuditOptions, text: str) -> FileResult:
        if "unlock" in text:
            return result_of(text, bad(2, code="BW101"))
        return result_of(text, bad(text.split("\n").index("three") + 1))

    change = repaired(result_of(TEXT, fixable(1, first), fixable(3, second)), AuditOptions(), audit)
    assert change is not None
    assert (change.after, change.fixed) == ("lock\none\ntwo\nthree\n", 1)


def test_one_edit_may_fix_two_findings() -> None:
    fix = insertion(3, "wait")
    change = repaired(
        result_of(TEXT, fixable(1, fix), fixable(2, fix)), AuditOptions(), lambda path, options, text: result_of(text)
    )
    assert change is not None
    assert (change.after, change.fixed) == ("one\ntwo\nwait\nthree\n", 2)


def test_a_repair_that_another_made_needless_is_left_out() -> None:
    """Both waits are confirmed alone; with the first one, nothing is left to repair."""
    first, second = insertion(1, "wait"), replace(insertion(3, "wait"), description=insertion(1, "wait").description)
    change = repaired(
        result_of(TEXT, fixable(1, first), fixable(3, second)),
        AuditOptions(),
        lambda path, options, text: result_of(text),
    )
    assert change is not None
    assert change.after == "wait\none\ntwo\nthree\n"


def test_a_fix_may_make_another_possible_but_only_for_what_was_reported() -> None:
    first, second = insertion(1, "wait"), insertion(4, "fence")

    def audit(path: str, options: AuditOptions, text: str) -> FileResult:
        return result_of(text) if "fence" in text else result_of(text, fixable(4, second))

    change = repaired(result_of(TEXT, fixable(1, first), bad(3)), AuditOptions(), audit)
    assert change is not None
    assert (change.after, change.fixed) == ("wait\none\ntwo\nfence\nthree\n", 2)
    hidden = repaired(result_of(TEXT, fixable(1, first)), AuditOptions(), audit)
    assert hidden is None  # the second finding is not one of the report's


# ---- command line ---------------------------------------------------------------------------------------------------


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A kernel with one finding that can be fixed, in the working folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BW_AUDIT_CACHE", "off")
    monkeypatch.setenv("BW_AUDIT_JOBS", "1")
    shutil.copy(FIXTURES / "BW308" / "bad_freed_before_wait.cu", tmp_path / "kernel.cu")
    return tmp_path / "kernel.cu"


def test_diff_changes_nothing(
    kernel: Path, capsys: pytest.CaptureFixture[str], golden: Callable[[str, str], None]
) -> None:
    before = kernel.read_bytes()
    assert main(["--diff", "kernel.cu", "--format", "json:out.json"]) == 1
    golden("fix.diff", capsys.readouterr().out)
    assert kernel.read_bytes() == before
    (finding,) = json.loads(Path("out.json").read_text())["files"][0]["findings"]
    edits = [
        Edit(
            Loc("kernel.cu", *(edit["location"][key] for key in ("line", "column", "endLine", "endColumn"))),
            edit["text"],
        )
        for edit in finding["fix"]["edits"]
    ]
    assert "loads_done();\n    before_sync();\n    __syncthreads" in apply_edits(before.decode(), edits)


def test_fix_repairs_and_reports_the_rest(kernel: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernel.write_bytes(b"\xef\xbb\xbf" + kernel.read_bytes().replace(b"\n", b"\r\n"))
    assert main(["--fix", "kernel.cu"]) == 0
    captured = capsys.readouterr()
    assert captured.err == "bw-audit: kernel.cu: fixed 1 finding\n"
    assert "no findings in 1 file" in captured.out
    after = kernel.read_bytes()
    assert after.startswith(b"\xef\xbb\xbf// arch")
    assert b"    loads_done();\r\n    before_sync();\r\n" in after
    assert b"\n" not in after.replace(b"\r\n", b"")


def test_fix_leaves_what_is_not_utf_8(kernel: Path, capsys: pytest.CaptureFixture[str]) -> None:
    raw = kernel.read_bytes() + b"// Gr\xf6\xdfe\n"
    kernel.write_bytes(raw)
    assert main(["--fix", "kernel.cu"]) == 1
    assert "kernel.cu: not changed, because it is not UTF-8" in capsys.readouterr().err
    assert kernel.read_bytes() == raw


def test_a_suppressed_finding_is_not_fixed(kernel: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernel.write_text(kernel.read_text().replace("// expect[BW308]", "// bw-audit: ignore[BW308] on purpose"))
    before = kernel.read_text()
    assert main(["--fix", "kernel.cu"]) == 0
    assert kernel.read_text() == before


@pytest.mark.parametrize("words", [["--fix", "--diff"], ["--fix", "--add-ignores", "why"], ["--fix", "-"]])
def test_wrong_usage(kernel: Path, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*words, "kernel.cu"]) == 2
    assert "Error: --fix" in capsys.readouterr().err


def test_sarif_holds_the_fix(kernel: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kernel.cu", "--format", "sarif", "-q"]) == 1
    (result,) = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    (change,) = result["fixes"][0]["artifactChanges"]
    assert change["artifactLocation"]["uri"] == "kernel.cu"
    (replacement,) = change["replacements"]
    region = replacement["deletedRegion"]
    assert (region["startLine"], region["startColumn"]) == (region["endLine"], region["endColumn"])
    assert replacement["insertedContent"]["text"] == "loads_done();\n    "
