"""What mkdocs does besides copying pages: it makes the rules' pages from the rules, and leads links to them."""

from __future__ import annotations

import re
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from auditor import registry
from auditor.rule import Rule

AREAS = {
    "0": "The tool about itself",
    "1": "mbarriers",
    "2": "Bulk and tensor copies",
    "3": "Tensor memory and tcgen05",
    "4": "Clusters",
    "5": "Layout and resources",
    "6": "Threads and warps",
}
_TITLES = {"bad": "wrong", "good": "right"}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page for each rule, and one that lists them all."""
    rules = registry.all_rules()
    for rule in rules:
        path = f"rules/{registry.stems()[rule.code]}.md"
        files.append(File.generated(config, path, content=rule_page(rule, registry.documentation(rule.code))))
    files.append(File.generated(config, "rules/index.md", content=index_page(rules)))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """In the repository pages link to the rules where they are, beside this folder; on the site they are inside."""
    return re.sub(r"\]\(\.\./rules/", "](rules/", markdown)


def rule_page(rule: Rule, document: str) -> str:
    """A rule's documentation with its metadata under the title."""
    title, _, body = document.partition("\n")
    facts = f"**{rule.level.value}**, {rule.confidence} confidence"
    if rule.entries:
        facts += f", checks {', '.join(rule.entries)}"
    body = re.sub(r"^```cuda (bad|good)$", lambda match: f'```cuda title="{_TITLES[match[1]]}"', body, flags=re.M)
    return f"{title}\n\n{facts}\n{body}"


def index_page(rules: tuple[Rule, ...]) -> str:
    """All rules by area."""
    lines = ["# Rules", "", "`bw-audit explain BW202` prints a rule's page on the terminal."]
    area = ""
    for rule in rules:
        if rule.code[2] != area:
            area = rule.code[2]
            lines += ["", f"## {AREAS[area]}", "", "| code | name | level | what it reports |", "|---|---|---|---|"]
        stem = registry.stems()[rule.code]
        what = registry.section(rule.code, "What it does").split("\n\n")[0].replace("\n", " ").replace("|", "\\|")
        sentence = re.match(r".*?[.!?](?=\s|$)", what)
        shown = sentence[0] if sentence else what
        lines.append(f"| [{rule.code}]({stem}.md) | {rule.name} | {rule.level.value} | {shown} |")
    return "\n".join(lines) + "\n"
