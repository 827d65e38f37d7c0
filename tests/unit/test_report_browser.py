"""The page of a report in a real browser: nothing overflows or overlaps, text can be read in both colour schemes."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from auditor.reports import render_html
from tests.unit.report_kernels import file_report

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
STEMS = ("attention_like", "block_scaled", "pair_two_cta", "hopper_tma_wgmma")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no headless browser here")

# Measures the page and leaves the result, as JSON, in the page's title.
MEASURE = """
<script>
function channel(c) { c /= 255; return c <= 0.03928 ? c / 12.92 : Math.pow((c + 0.055) / 1.055, 2.4); }
function rgb(text) { return (text.match(/[\\d.]+/g) || []).map(Number); }
function light(c) { return 0.2126 * channel(c[0]) + 0.7152 * channel(c[1]) + 0.0722 * channel(c[2]); }
function behind(e) {
  for (; e; e = e.parentElement) {
    const c = rgb(getComputedStyle(e).backgroundColor);
    if (c.length === 3 || c[3] > 0) return c;
  }
  return [255, 255, 255];
}
function contrast(a, b) {
  const x = light(a), y = light(b);
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}
const out = {overlaps: [], outside: [], faint: [], scheme: matchMedia("(prefers-color-scheme: dark)").matches,
             wide: document.documentElement.scrollWidth - document.documentElement.clientWidth, focus: []};
for (const svg of document.querySelectorAll("svg")) {
  const texts = [...svg.querySelectorAll("text")].map(t => [t.textContent, t.getBBox()]);
  const box = svg.viewBox.baseVal;
  texts.forEach(([name, b], i) => {
    if (b.x < -1 || b.y < -1 || b.x + b.width > box.width + 1 || b.y + b.height > box.height + 1)
      out.outside.push(name);
    for (const [other, c] of texts.slice(i + 1)) {
      if (b.x + 1 < c.x + c.width && c.x + 1 < b.x + b.width && b.y + 3 < c.y + c.height && c.y + 3 < b.y + b.height)
        out.overlaps.push(name + " / " + other);
    }
  });
  const regions = [...svg.querySelectorAll("rect.region")];
  for (const t of svg.querySelectorAll("text")) {
    const b = t.getBBox(), x = b.x + b.width / 2, y = b.y + b.height / 2;
    const under = regions.find(r => {
      const q = r.getBBox();
      return q.x <= x && x <= q.x + q.width && q.y <= y && y <= q.y + q.height;
    });
    const back = under ? rgb(getComputedStyle(under).fill) : behind(svg);
    if (contrast(rgb(getComputedStyle(t).fill), back) < 4.5) out.faint.push(t.textContent);
  }
}
for (const e of document.querySelectorAll("p, td, th, li, a, caption, h1, h2, h3, summary"))
  if (e.textContent.trim() && contrast(rgb(getComputedStyle(e).color), behind(e)) < 4.5) out.faint.push(e.textContent);
for (const e of document.querySelectorAll("a[href], [tabindex], summary")) out.focus.push(e.className || e.tagName);
document.title = JSON.stringify(out);
</script>
"""


def measure(tmp_path: Path, stem: str, width: int, dark: bool) -> dict[str, Any]:
    """What the browser says about a kernel's page in a window of that width in pixels."""
    page = tmp_path / "page.html"
    page.write_text(render_html.render([file_report(stem)]).replace("</body>", MEASURE + "</body>"), encoding="utf-8")
    dom = _browse(tmp_path, "--dump-dom", f"--window-size={width},900",
                  f"--blink-settings=preferredColorScheme={0 if dark else 1}", page.as_uri())  # fmt: skip
    title = re.search(r"<title>(.*?)</title>", dom, re.DOTALL)
    assert title is not None
    return dict(json.loads(html.unescape(title[1])))


def _browse(tmp_path: Path, *arguments: str) -> str:
    assert BROWSER is not None
    command = [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    done = subprocess.run([*command, *arguments], capture_output=True, timeout=120, check=True)
    return done.stdout.decode("utf-8", "replace")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("stem", STEMS)
def test_page_reads_well(tmp_path: Path, stem: str, dark: bool) -> None:
    found = measure(tmp_path, stem, 1300, dark)
    assert found["scheme"] is dark
    assert found["wide"] <= 0 and found["overlaps"] == [] and found["outside"] == [] and found["faint"] == []


def test_page_fits_a_narrow_window(tmp_path: Path) -> None:
    assert measure(tmp_path, "attention_like", 500, False)["wide"] <= 0


def test_focus_begins_with_the_skip_link(tmp_path: Path) -> None:
    focus = measure(tmp_path, "block_scaled", 1300, False)["focus"]
    assert focus[0] == "skip" and "scroll" in focus and "FIGURE" in focus and "SUMMARY" in focus


def test_page_prints(tmp_path: Path) -> None:
    page, paper = tmp_path / "page.html", tmp_path / "page.pdf"
    page.write_text(render_html.render([file_report("ring_elect")]), encoding="utf-8")
    _browse(tmp_path, f"--print-to-pdf={paper}", "--no-pdf-header-footer", page.as_uri())
    assert paper.read_bytes().startswith(b"%PDF") and paper.stat().st_size > 10_000
