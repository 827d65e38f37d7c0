"""The rules and their registry: metadata, documentation and names agree; nothing is imported early."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from auditor import registry
from auditor.findings import Finding, Level
from auditor.rule import Rule

if TYPE_CHECKING:
    from auditor.audit import Audit

ROOT = Path(__file__).parents[2]
HEADINGS = ["What it does", "Why it matters", "Example", "Fix", "Limits", "References"]


def codes() -> list[str]:
    return list(registry.stems())


@pytest.mark.parametrize("code", codes())
def test_rule_agrees_with_its_file_names(code: str) -> None:
    rule = registry.get(code)
    stem = registry.stems()[code]
    assert rule.code == code
    assert stem == f"bw{code[2:]}_{rule.name.replace('-', '_')}"
    assert (ROOT / "rules" / f"{stem}.md").is_file()


@pytest.mark.parametrize("code", codes())
def test_metadata_read_from_the_source_is_that_of_the_class(code: str) -> None:
    rule, info = registry.get(code), registry.info(code)
    assert (info.code, info.name, info.level) == (rule.code, rule.name, rule.level)
    assert (info.confidence, info.entries) == (rule.confidence, rule.entries)


@pytest.mark.parametrize("code", codes())
def test_documentation_has_the_fixed_headings(code: str) -> None:
    rule = registry.get(code)
    document = registry.documentation(code)
    assert document.startswith(f"# {code} {rule.name}\n")
    assert re.findall(r"^## (.*)$", document, re.M) == HEADINGS
    empty = [heading for heading in HEADINGS if not registry.section(code, heading)]
    assert not empty
    unmentioned = [entry for entry in rule.entries if entry not in registry.section(code, "References")]
    assert not unmentioned


@pytest.mark.parametrize("code", [c for c in codes() if not c.startswith("BW0")])
def test_documentation_says_whether_the_consequence_was_measured(code: str) -> None:
    assert re.search(r"\b(?:[Mm]easured|[Dd]ocumented)\b", registry.section(code, "Why it matters"))


@pytest.mark.parametrize("code", [c for c in codes() if not c.startswith("BW0")])
def test_documentation_has_a_wrong_and_a_right_example(code: str) -> None:
    kinds = re.findall(r"^```cuda (bad|good)$", registry.section(code, "Example"), re.M)
    assert {"bad", "good"} == set(kinds)


def test_names_are_unique_and_every_file_is_a_rule() -> None:
    names = [rule.name for rule in registry.all_rules()]
    assert len(names) == len(set(names))
    modules = {path.stem for path in (ROOT / "rules").glob("*.py")} - {"__init__"}
    assert modules == set(registry.stems().values())
    assert modules == {path.stem for path in (ROOT / "rules").glob("*.md")}


def test_packages_are_the_folders_with_python_files() -> None:
    match = re.search(r"^packages = \[(.*?)^\]", (ROOT / "pyproject.toml").read_text(), re.M | re.S)
    assert match
    listed = set(re.findall(r'"([^"]+)"', match[1]))
    folders = {path.parent.relative_to(ROOT) for path in (ROOT / "auditor").rglob("*.py")}
    assert listed == {".".join(folder.parts) for folder in folders} | {"auditor.rules"}


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["rules"], ["explain", "BW202"]])
def test_start_up_imports_no_heavy_module(words: list[str]) -> None:
    code = (
        f"import sys, auditor.cli, auditor.cli_commands; auditor.cli_commands.run({words});"
        "heavy = ('clang', 'networkx', 'sarif_om', 'auditor.rules.bw', 'auditor.engine', 'auditor.frontend');"
        "sys.exit(','.join(name for name in sys.modules if name.startswith(heavy)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")


def test_stand_in_registry(stand_in_rules: Path) -> None:
    assert registry.stems() == {"BW202": "bw202_stage_refilled_while_read"}
    assert [rule.name for rule in registry.all_rules()] == ["stage-refilled-while-read"]
    assert registry.section("BW202", "Fix").startswith("Wait for the")
    assert registry.section("BW202", "No such heading") == ""
    with pytest.raises(KeyError):
        registry.get("BW203")
    with pytest.raises(KeyError):
        registry.documentation("BW203")


def test_two_files_with_one_code_are_an_error(stand_in_rules: Path) -> None:
    (stand_in_rules / "bw202_again.py").write_text("")
    with pytest.raises(ImportError, match="two rules have the code BW202"):
        registry.stems()


def test_file_whose_rule_has_another_code_is_an_error(stand_in_rules: Path) -> None:
    source = (stand_in_rules / "bw202_stage_refilled_while_read.py").read_text()
    (stand_in_rules / "bw203_other.py").write_text(source)
    with pytest.raises(ImportError, match=r"bw203_other\.py must define exactly one rule"):
        registry.get("BW203")


METADATA: dict[str, Any] = {
    "code": "BW101",
    "name": "deadlock",
    "level": Level.ERROR,
    "confidence": "high",
    "entries": ("MB-11",),
}


def check(self: Rule, audit: Audit) -> Iterator[Finding]:
    return iter(())


@pytest.mark.parametrize("missing", METADATA)
def test_missing_metadata_fails_at_class_creation(missing: str) -> None:
    members = {key: value for key, value in METADATA.items() if key != missing} | {"check": check}
    with pytest.raises(TypeError, match=f"lacks {missing}"):
        type("Incomplete", (Rule,), members)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("code", "101"),
        ("name", "Dead lock"),
        ("level", "error"),
        ("confidence", "certain"),
        ("entries", ["MB-11"]),
        ("entries", ("MB11",)),
    ],
)
def test_wrong_metadata_fails_at_class_creation(key: str, value: object) -> None:
    with pytest.raises(TypeError, match=key[:5].rstrip("s")):
        type("Wrong", (Rule,), METADATA | {key: value, "check": check})


def test_abstract_base_needs_no_metadata_but_cannot_be_made() -> None:
    class Base(Rule, abstract=True):
        pass

    with pytest.raises(TypeError, match="abstract"):
        Base()  # type: ignore[abstract]
    made = type("Concrete", (Base,), METADATA | {"check": check})()
    assert made.code == "BW101"
