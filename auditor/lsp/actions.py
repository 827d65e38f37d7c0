"""Edits that the language server offers."""

from __future__ import annotations

import difflib
import re

from lsprotocol import types

from auditor.add_ignores import with_ignores
from auditor.edits import apply_edits
from auditor.findings import Finding

REASON = "TODO: say why"
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")  # as the protocol counts lines, which is not Python's way


def suppress(finding: Finding, path: str, text: str, uri: str, diagnostic: types.Diagnostic) -> types.CodeAction | None:
    """An action that writes a suppression for a finding of a document; None where no comment can stand."""
    if finding.loc.file != path:
        return None
    changed, left = with_ignores(text, [finding], REASON)
    if left or changed == text:
        return None
    return types.CodeAction(
        title=f"Ignore {finding.code} here, with a reason",
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[diagnostic],
        edit=types.WorkspaceEdit(changes={uri: line_edits(text, changed)}),
    )


def repair(finding: Finding, path: str, text: str, uri: str, diagnostic: types.Diagnostic) -> types.CodeAction | None:
    """An action that applies the confirmed fix of a finding to the text that was audited."""
    if finding.fix is None or any(edit.loc.file != path for edit in finding.fix.edits):
        return None
    return types.CodeAction(
        title=f"Fix {finding.code}: {finding.fix.description}",
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[diagnostic],
        is_preferred=True,
        edit=types.WorkspaceEdit(changes={uri: line_edits(text, apply_edits(text, finding.fix.edits))}),
    )


def line_edits(before: str, after: str) -> list[types.TextEdit]:
    """Edits of whole lines that turn one text into another. Whole lines have the same positions in all units."""
    old, new = _LINE.findall(before), _LINE.findall(after)
    edits = []
    for tag, first, last, new_first, new_last in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            area = types.Range(types.Position(first, 0), types.Position(last, 0))
            edits.append(types.TextEdit(area, "".join(new[new_first:new_last])))
    return edits
