"""CUDA source in strings of Python files."""

from __future__ import annotations

from pathlib import Path

import pytest

from auditor.cli import main
from auditor.config import AuditOptions, InputError
from auditor.engine import audit_file
from auditor.python_source import read_python

FIXTURE = Path(__file__).parents[2] / "fixtures" / "BW308" / "bad_freed_before_wait.cu"
KERNEL = "__global__ void k() { f(); }"


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BW_AUDIT_CACHE", "off")
    monkeypatch.setenv("BW_AUDIT_JOBS", "1")


def test_a_string_stands_where_it_stands_in_the_file() -> None:
    text = f"import torch\nSRC = r\"\"\"#include <x>\n{KERNEL}\n\"\"\"\nOTHER = '''\n{KERNEL}'''\n"
    first, second = read_python(text).pieces
    assert first.text == f"\n{' ' * len('SRC = r###')}#include <x>\n{KERNEL}\n"
    assert second.text == "\n" * 4 + " " * len("OTHER = ###") + "\n" + KERNEL
    assert read_python(text).text.split("\n")[2] == KERNEL
    assert read_python(text).skipped == ()


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('x = f"__global__ void {name}() {{ }}"', "an f-string"),
        ('x = "__global__ void k() " "{ }"', "strings joined at run time"),
        ('x = """__global__ void k() { }""" + TAIL', "strings joined at run time"),
        ('x = """__global__ void k%s() { }""" % name', "a string with values filled in"),
        ('x = """__global__ void NAME() { }""".replace("NAME", name)', "a string with values filled in"),
        ('x = "".join([HEAD, """__global__ void k() { }"""])', "a string with values filled in"),
        ('x = """__global__ void k%d() { }"""\ny = x % 3', "a string that is changed before it is compiled"),
        ('x = """__global__ void k() { }"""\nx += TAIL', "a string that is changed before it is compiled"),
        ('x = "__global__ void k() {\\n}"', "a string whose line ends are written as escapes"),
    ],
)
def test_what_is_only_known_at_run_time_is_told(line: str, why: str) -> None:
    source = read_python(f"# first\n{line}\n")
    assert (source.pieces, source.skipped) == ((), ((2, why),))


@pytest.mark.parametrize(
    "text",
    [
        '"""A module about __global__ void k() { }."""\n',
        'def f():\n    """Runs __global__ void k() { }."""\n',
        'if "__global__" in text: pass\n',
        "# __global__ void k() { }\n",
        "",
    ],
)
def test_what_is_no_source(text: str) -> None:
    source = read_python(text)
    assert (source.pieces, source.skipped) == ((), ())


def test_calls_that_only_trim_do_no_harm() -> None:
    assert len(read_python(f'x = compile(textwrap.dedent("""\n{KERNEL}""").strip())\n').pieces) == 1


@pytest.mark.parametrize("text", ["def __global__(:\n", "x = '__global__\n", "__global__ = 1\0\n"])
def test_not_python(text: str) -> None:
    with pytest.raises(InputError, match="not Python source"):
        read_python(text)


def wrapped(source: str, prefix: str = "r") -> str:
    return f'"""Module."""\nimport torch\n\nSRC = {prefix}"""{source}"""\n'


def test_findings_have_the_places_of_the_python_file(tmp_path: Path) -> None:
    source = FIXTURE.read_text()
    path = tmp_path / "module.py"
    path.write_text(wrapped(source))
    (finding,) = audit_file(str(path), AuditOptions(fixes=True)).findings
    (original,) = audit_file(str(FIXTURE), AuditOptions()).findings
    assert finding.message == original.message
    assert finding.loc.line == original.loc.line + 3
    assert finding.loc.column == original.loc.column
    assert [place.loc.line for place in finding.flow] == [place.loc.line + 3 for place in original.flow]
    assert finding.fix is None


def test_columns_behind_escapes(tmp_path: Path) -> None:
    source = FIXTURE.read_text().replace("\\", "\\\\").replace("    read_4(v,", "   \\x20read_4(v\\x2c")
    path = tmp_path / "module.py"
    path.write_text(wrapped(source, ""))
    (finding,) = audit_file(str(path), AuditOptions()).findings
    line = path.read_text().split("\n")[finding.loc.line - 1]
    assert line[finding.loc.column - 1 : finding.loc.end_column - 1] == "read_4(v\\x2c tmem.rows(warp))"


def test_suppression_in_the_string(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    source = FIXTURE.read_text().replace("// expect[BW308]", "// bw-audit: ignore[BW308] known")
    path.write_text("pattern = 'src/*.cu'  # an opened comment, for C++\n" + wrapped(source))
    result = audit_file(str(path), AuditOptions())
    assert (result.findings, result.hidden) == ([], {"suppressed": 1})


def test_folders_and_exit_codes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.py").write_text(wrapped(FIXTURE.read_text()))
    (tmp_path / "plain.py").write_text("print('no kernel')\n")
    (tmp_path / "__init__.py").write_text("")
    assert main([".", "--format", "concise"]) == 1
    captured = capsys.readouterr()
    assert captured.out.startswith("bad.py:55:5: error[BW308] ")
    assert "in 1 file" in captured.err
    assert main(["plain.py", "__init__.py", "-q"]) == 0  # as a hook names them


def test_one_string_that_cannot_be_audited_costs_no_other(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(wrapped(FIXTURE.read_text()) + 'BROKEN = """__global__ void broken( { ((( }"""\n')
    result = audit_file(str(path), AuditOptions())
    assert [finding.code for finding in result.findings] == ["BW308"]
    (note,) = [message for kind, message, _ in result.coverage.notes if kind == "unanalysed"]
    assert "syntax error" in note
