"""Writes the parts of the documentation that are made from the code. Run as ``python docs/generate.py``."""

from __future__ import annotations

import json
from pathlib import Path

import click

from auditor.cli_commands import audit
from auditor.config_keys import json_schema
from auditor.output.tool import NAME, SUMMARY, VERSION
from auditor.plans import plan_json

DOCS = Path(__file__).parent
_INTRODUCTION = f"""\
.TH BW-AUDIT 1 "" "{NAME} {VERSION}" "User commands"
.SH NAME
{NAME} \\- {SUMMARY[0].lower()}{SUMMARY[1:]}
.SH SYNOPSIS
.nf
\\fB{NAME}\\fR [\\fIOPTIONS\\fR] \\fIFILE_OR_DIR\\fR...
\\fB{NAME} rules\\fR [\\fB\\-\\-format\\fR text|json]
\\fB{NAME} explain\\fR \\fICODE\\fR
\\fB{NAME} report\\fR [\\fIOPTIONS\\fR] \\fIFILE\\fR...
\\fB{NAME} plan\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR]
\\fB{NAME} lsp\\fR
.fi
.SH DESCRIPTION
"""
_END = """\
.SH EXIT STATUS
.TP
.B 0
Nothing at or above \\fB\\-\\-fail\\-on\\fR was found.
.TP
.B 1
Something was found.
.TP
.B 2
Wrong usage, or nothing could be audited.
.TP
.B 130
Interrupted; what was known is printed.
.SH ENVIRONMENT
.TP
.B BW_AUDIT_CACHE
Folder of the cache; "off" for none.
.TP
.B BW_AUDIT_JOBS
Processes that audit at the same time.
.TP
.B BW_AUDIT_DEBUG
Raise internal errors with their traceback.
.TP
.B NO_COLOR
No colours, unless \\fB\\-\\-color always\\fR is given.
.SH FILES
.TP
.I bw\\-audit.toml, .bw\\-audit.toml, pyproject.toml
Configuration; the nearest one above a source counts.
"""


def generated() -> dict[str, str]:
    """The generated files, by path relative to this folder."""
    return {
        "config.schema.json": json.dumps(json_schema(), indent=2) + "\n",
        "plan.schema.json": json.dumps(plan_json.schema(), indent=2) + "\n",
        "man/bw-audit.1": man_page(),
    }


def man_page() -> str:
    """The manual page, in roff, from the options of the command."""
    lines = [_INTRODUCTION + _roff(" ".join((audit.help or "").split())), ".SH OPTIONS"]
    for option in audit.params:
        if isinstance(option, click.Option):
            value = "" if option.is_flag else f" \\fI{_roff(_value(option))}\\fR"
            names = ", ".join(f"\\fB{_roff(name)}\\fR" for name in option.opts)
            lines += [".TP", names + value, _roff((option.help or "Show this version and exit.").rstrip())]
    return "\n".join(lines) + "\n" + _END


def _value(option: click.Option) -> str:
    choices = option.type.choices if isinstance(option.type, click.Choice) else ()
    return option.metavar or "|".join(map(str, choices))


def _roff(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("-", "\\-")
    return "\\&" + escaped if escaped.startswith((".", "'")) else escaped


def main() -> None:
    for name, text in generated().items():
        path = DOCS / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
