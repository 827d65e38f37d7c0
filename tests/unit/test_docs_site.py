"""The documentation site: pages made from the rules, the tutorial's claims, a strict build."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from auditor import registry
from auditor.config import AuditOptions
from auditor.engine import audit_file

ROOT = Path(__file__).parents[2]
pytest.importorskip("mkdocs")


@pytest.fixture(scope="module")
def hooks() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_site_hooks", ROOT / "docs" / "site_hooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_rule_page_shows_metadata_and_names_its_examples(hooks: ModuleType) -> None:
    rule = registry.get("BW101")
    page = hooks.rule_page(rule, registry.documentation("BW101"))
    assert page.startswith(f"# BW101 deadlock\n\n**error**, high confidence, checks {', '.join(rule.entries)}\n")
    assert '```cuda title="wrong"\n' in page
    assert '```cuda title="right"\n' in page
    assert "```cuda bad" not in page


def test_every_rule_is_listed_under_its_area(hooks: ModuleType) -> None:
    page = hooks.index_page(registry.all_rules())
    assert re.findall(r"^\| \[(BW\d{3})\]\(bw\d{3}_\w+\.md\) \|", page, re.M) == list(registry.stems())
    assert page.count("\n## ") == len(hooks.AREAS)


def test_links_to_rules_lead_to_their_pages(hooks: ModuleType) -> None:
    markdown = "[BW004](../rules/bw004_unused_suppression.md) [x](../other.md)"
    assert hooks.on_page_markdown(markdown) == "[BW004](rules/bw004_unused_suppression.md) [x](../other.md)"


def test_the_tutorial_tells_the_truth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    tutorial = (ROOT / "docs" / "tutorial.md").read_text()
    bad = re.findall(r"fixtures/BW202/bad_\w+\.cu", tutorial)[0]
    good = re.findall(r"fixtures/BW202/good_\w+\.cu", tutorial)[0]
    (found,) = audit_file(bad, AuditOptions()).findings
    quoted = re.sub(r"\s+", " ", tutorial)
    assert f"{found.loc}: error[{found.code}] bulk copy by warp 0 lane 0 in iteration 1 refills buf" in quoted
    assert any(f"{place.loc}: load by warp 0" in quoted for place in found.related)
    assert audit_file(good, AuditOptions()).findings == []


@pytest.mark.slow
def test_the_site_builds_strictly(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    env = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(words, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "rules" / registry.stems()["BW202"] / "index.html").is_file()
