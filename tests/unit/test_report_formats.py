"""The four formats of a report: golden outputs, the published schema, and what a page owes its readers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from auditor.cli import main
from auditor.output.tool import VERSION
from auditor.reports import render_html, render_json, render_markdown, render_text
from tests.unit.report_kernels import KERNELS, ROOT, file_report
from tests.unit.report_sample import REPORTS

Golden = Callable[[str, str], None]


@pytest.mark.parametrize(
    ("name", "render"),
    [("report_kernel.txt", render_text.render), ("report_kernel.md", render_markdown.render),
     ("report_kernel.json", render_json.render), ("report_kernel.html", render_html.render)],
)  # fmt: skip
def test_golden(name: str, render: Callable[..., str], golden: Golden) -> None:
    golden(name, render(REPORTS).replace(VERSION, "VERSION"))


@pytest.mark.parametrize("stem", KERNELS)
def test_text_keeps_to_its_width(stem: str) -> None:
    text = render_text.render([file_report(stem)])
    assert max(len(line) for line in text.splitlines()) <= 150
    order = [
        text.index(title) for title in ("CONCLUSION", "EVIDENCE", "TABLES", "VALIDATION PLAN", "RISKS AND FALLBACK")
    ]
    assert order == sorted(order)


@pytest.mark.parametrize("stem", KERNELS)
def test_markdown_tables_have_as_many_cells_as_columns(stem: str) -> None:
    width = 0
    for line in render_markdown.render([file_report(stem)]).splitlines():
        cells = len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else 0
        assert not width or not cells or cells == width, line
        width = cells


# ---- JSON ---------------------------------------------------------------------------------------------------------


def violations(value: Any, schema: dict[str, Any], root: dict[str, Any], at: str = "$") -> list[str]:
    """Where a value breaks a schema, for the keywords that our schema uses."""
    if "$ref" in schema:
        return violations(value, root["$defs"][schema["$ref"].rsplit("/", 1)[1]], root, at)
    if "anyOf" in schema:
        return [] if any(not violations(value, s, root, at) for s in schema["anyOf"]) else [f"{at}: none fits"]
    if "const" in schema:
        return [] if value == schema["const"] else [f"{at}: not {schema['const']}"]
    kinds = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool, "null": type(None)}
    if not isinstance(value, kinds[schema["type"]]):
        return [f"{at}: not {schema['type']}"]
    found: list[str] = []
    if isinstance(value, dict):
        found += [f"{at}: no {name}" for name in schema["required"] if name not in value]
        found += [f"{at}: {name} is not in the schema" for name in value if name not in schema["properties"]]
        for name, item in value.items():
            found += violations(item, schema["properties"].get(name, {"const": item}), root, f"{at}.{name}")
    if isinstance(value, list):
        items = schema.get("prefixItems") or [schema["items"]] * len(value)
        found += [f"{at}: length"] if len(items) != len(value) else []
        for n, (item, each) in enumerate(zip(value, items)):
            found += violations(item, each, root, f"{at}[{n}]")
    return found


def test_published_schema_is_current() -> None:
    published = json.loads((ROOT / "docs/report.schema.json").read_text(encoding="utf-8"))
    assert published == render_json.schema()


@pytest.mark.parametrize("stem", KERNELS)
def test_json_keeps_to_the_schema(stem: str) -> None:
    schema = render_json.schema()
    document = json.loads(render_json.render([file_report(stem)]))
    assert violations(document, schema, schema) == []


def test_validator_of_this_test_sees_violations() -> None:
    schema = render_json.schema()
    document = json.loads(render_json.render(REPORTS))
    document["files"][0]["kernels"][0]["line"] = "ten"
    del document["files"][0]["kernels"][0]["barriers"][0]["initCount"]
    assert len(violations(document, schema, schema)) == 2


# ---- HTML ---------------------------------------------------------------------------------------------------------


class Page(HTMLParser):
    """Collects what the tests ask about."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.headings: list[int] = []
        self.attributes: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.inside: list[tuple[str, str]] = []  # (element, the first element inside it)
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.attributes.append((tag, given))
        if given.get("id"):
            self.ids.append(str(given["id"]))
        if re.fullmatch(r"h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if self.open and self.open[-1] in ("table", "svg"):
            self.inside.append((self.open[-1], tag))
        if tag not in ("meta", "br", "rect", "line"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self.open:
            while self.open.pop() != tag:
                pass


@pytest.fixture(scope="module")
def page() -> Page:
    reports = [file_report(stem) for stem in ("attention_like", "block_scaled", "hopper_tma_wgmma")]
    return Page(render_html.render(reports))


def test_page_is_self_contained() -> None:
    text = render_html.render([file_report(stem) for stem in KERNELS])
    assert not re.search(r"(?:src|href)\s*=\s*\"(?!#)", text)
    assert not re.search(r"https?://|@import|url\((?!#)|<script", text)
    assert 'lang="en"' in text and "prefers-color-scheme: dark" in text and "@media print" in text


def test_ids_are_unique_and_references_resolve(page: Page) -> None:
    assert len(page.ids) == len(set(page.ids))
    for _, given in page.attributes:
        wanted = str(given.get("aria-labelledby") or "").split()
        href = given.get("href")
        wanted += [href[1:]] if href else []
        assert set(wanted) <= set(page.ids)


def test_headings_never_skip_a_level(page: Page) -> None:
    assert page.headings[0] == 1
    assert all(b <= a + 1 for a, b in zip(page.headings, page.headings[1:]))


def test_tables_have_captions_and_scopes_and_figures_have_words(page: Page) -> None:
    tables = sum(tag == "table" for tag, _ in page.attributes)
    assert tables and page.inside.count(("table", "caption")) == tables
    assert all(given.get("scope") in ("col", "row") for tag, given in page.attributes if tag == "th")
    drawn = sum(tag == "svg" for tag, _ in page.attributes)
    titles = sum(tag == "title" and "id" in given for tag, given in page.attributes)
    assert drawn and titles == page.inside.count(("svg", "desc")) == drawn


def test_what_scrolls_can_be_reached_with_the_keyboard(page: Page) -> None:
    scrolling = [given for tag, given in page.attributes if given.get("class") == "scroll" or tag == "figure"]
    assert scrolling and all(given.get("tabindex") == "0" and given.get("role") for given in scrolling)


def test_text_of_the_source_is_escaped() -> None:
    html, markdown = render_html.render(REPORTS), render_markdown.render(REPORTS)
    assert "ring&lt;128, &#x27;a|b&#x27;&gt;" in html and "<warp 1>" not in html
    assert "\\<warp 1\\>" in markdown and "a\\|b" in markdown


# ---- command line -------------------------------------------------------------------------------------------------


def test_command_writes_a_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernel = str(ROOT / "fixtures/kernels/single_tile.cu")
    out = tmp_path / "report.html"
    assert main(["report", kernel, "--format", "html", "-o", str(out)]) == 0
    assert out.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert main(["report", kernel, "--kernel", "single_tile", "--set", "k_blocks=2"]) == 0
    assert "OFF_FULL" in capsys.readouterr().out


def test_command_says_what_it_cannot_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernel = str(ROOT / "fixtures/kernels/single_tile.cu")
    assert main(["report", kernel, "--kernel", "other"]) == 2
    assert "kernels of this file: single_tile" in capsys.readouterr().err
    assert main(["report", str(tmp_path / "missing.cu")]) == 2
    assert main(["report"]) == 2


def test_command_reads_the_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.cu").write_text("__global__ void k(int n, int* out) { out[threadIdx.x] = n; }\n")
    (tmp_path / "bw-audit.toml").write_text('arch = ["sm_90a"]\n[set]\nn = 7\n')

    def facts(*words: str) -> tuple[str, bool]:
        assert main(["report", "k.cu", "--format", "json", *words]) == 0
        (kernel,) = json.loads(capsys.readouterr().out)["files"][0]["kernels"]
        return kernel["arch"], any((fact["name"], fact["value"]) == ("n", "7 (given)") for fact in kernel["facts"])

    assert facts() == ("sm_90a", True)
    assert facts("--isolated") == ("sm_100a", False)
    assert facts("--arch", "sm_103a") == ("sm_103a", True)
    (tmp_path / "bw-audit.toml").write_text("blok = 128\n")
    assert main(["report", "k.cu"]) == 2
    assert "blok" in capsys.readouterr().err
    assert main(["report", "k.cu", "--isolated", "--config", "bw-audit.toml"]) == 2
