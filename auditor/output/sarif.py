"""Results as SARIF 2.1.0, in the form that GitHub code scanning reads.

sarif_om is imported here and in sarif_rules and nowhere else: it is slow to import and only this format needs it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attr
import sarif_om as om

from auditor.findings import FileResult, Finding, Fix, Related
from auditor.output.columns import utf16_column
from auditor.output.fingerprint import line_hashes
from auditor.output.paths import folder_uri, quote_path, relative_path, repository_root
from auditor.output.sarif_rules import descriptor, text
from auditor.output.sources import Sources
from auditor.output.tool import NAME, SUMMARY, VERSION
from auditor.source import Loc

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
ROOT = "%SRCROOT%"


def write_sarif(results: Sequence[FileResult]) -> str:
    """One SARIF log with one run that holds every file's results."""
    log = om.SarifLog(runs=[_Run(results).build()], version="2.1.0", schema_uri=SCHEMA)
    return json.dumps(to_json(log), indent=2, ensure_ascii=False) + "\n"


def to_json(value: Any) -> Any:
    """A sarif_om object as plain data, by the property names in its attrs metadata.

    Values that equal the model's default are left out, except ``level``: its default is "warning" in the model, but
    readers that see no level take the rule's.
    """
    if isinstance(value, dict):
        return {key: to_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [to_json(item) for item in value]
    if not attr.has(type(value)):
        return value
    out = {}
    for field in attr.fields(type(value)):
        item = getattr(value, field.name)
        name = field.metadata["schema_property_name"]
        if item is None or (name != "level" and item == _default(field)):
            continue
        out[name] = to_json(item)
    return out


def _default(field: Any) -> Any:
    factory = getattr(field.default, "factory", None)
    return factory() if factory else field.default


class _Run:
    """Builds the run: keeps what several results share."""

    def __init__(self, results: Sequence[FileResult]) -> None:
        self._results = results
        self._root: Path = repository_root(results)
        self._sources = Sources(results)
        self._hashes: dict[str, list[str]] = {}
        codes = sorted({finding.code for result in results for finding in result.findings})
        self._rule_index = {code: index for index, code in enumerate(codes)}

    def build(self) -> Any:
        findings = [finding for result in self._results for finding in result.findings]
        levels = {finding.code: finding.level.value for finding in findings}
        driver = om.ToolComponent(
            name=NAME,
            version=VERSION,
            semantic_version=VERSION,
            short_description=text(SUMMARY),
            full_description=text(SUMMARY + "."),
            rules=[descriptor(code, levels[code]) for code in self._rule_index],
        )
        return om.Run(
            tool=om.Tool(driver=driver),
            automation_details=om.RunAutomationDetails(id=f"{NAME}/"),
            column_kind="utf16CodeUnits",
            original_uri_base_ids={ROOT: om.ArtifactLocation(uri=folder_uri(self._root))},
            artifacts=[
                om.Artifact(location=self._artifact(result.path), roles=["analysisTarget"], source_language="cplusplus")
                for result in self._results
            ],
            invocations=[self._invocation()],
            results=[self._result(finding) for finding in findings],
        )

    def _invocation(self) -> Any:
        notifications = [
            self._notification("error", result.failure, Loc(result.path, 0))
            for result in self._results
            if result.failure
        ]
        for result in self._results:
            for kind, message, loc in result.coverage.notes:
                place = loc if loc.line else Loc(result.path, 0)
                notifications.append(self._notification("note", f"{kind}: {message}", place))
        return om.Invocation(
            execution_successful=not any(result.failure for result in self._results),
            tool_execution_notifications=notifications or None,
        )

    def _notification(self, level: str, message: str, loc: Loc) -> Any:
        return om.Notification(
            message=_message(message), level=level, locations=[om.Location(physical_location=self._physical(loc))]
        )

    def _result(self, finding: Finding) -> Any:
        related = [place for place in finding.related if place.loc.line]
        flow = [step for step in finding.flow if step.loc.line]
        return om.Result(
            rule_id=finding.code,
            rule_index=self._rule_index[finding.code],
            level=finding.level.value,
            message=_message(_result_text(finding, related)),
            locations=[
                om.Location(
                    physical_location=self._physical(finding.loc),
                    logical_locations=[om.LogicalLocation(name=finding.kernel, kind="function")]
                    if finding.kernel
                    else None,
                )
            ],
            related_locations=[self._place(place, number) for number, place in enumerate(related, 1)] or None,
            code_flows=[om.CodeFlow(thread_flows=[om.ThreadFlow(locations=self._steps(flow))])] if flow else None,
            partial_fingerprints=self._fingerprints(finding.loc),
            fixes=[self._fix(finding.fix)] if finding.fix else None,
            properties=_properties(finding),
        )

    def _fix(self, fix: Fix) -> Any:
        file = fix.edits[0].loc.file
        replacements = [
            om.Replacement(
                deleted_region=self._region(edit.loc), inserted_content=om.ArtifactContent(text=edit.text)
            )
            for edit in fix.edits
        ]
        return om.Fix(
            artifact_changes=[om.ArtifactChange(self._artifact(file), replacements)],
            description=_message(fix.description),
        )

    def _steps(self, flow: Sequence[Related]) -> list[Any]:
        return [
            om.ThreadFlowLocation(location=self._place(step), execution_order=number)
            for number, step in enumerate(flow, 1)
        ]

    def _place(self, place: Related, number: int | None = None) -> Any:
        location = om.Location(physical_location=self._physical(place.loc), message=_message(place.message))
        if number is not None:
            location.id = number
        return location

    def _physical(self, loc: Loc) -> Any:
        return om.PhysicalLocation(
            artifact_location=self._artifact(loc.file), region=self._region(loc) if loc.line else None
        )

    def _region(self, loc: Loc) -> Any:
        span = self._sources.span(loc)
        start = utf16_column(self._sources.line(span.file, span.line), span.column)
        end = utf16_column(self._sources.line(span.file, span.end_line), span.end_column)
        if span.end_line == span.line:
            end = max(end, start)
        return om.Region(start_line=span.line, start_column=start, end_line=span.end_line, end_column=end)

    def _artifact(self, file: str) -> Any:
        inside = relative_path(file, self._root)
        if inside is not None:
            return om.ArtifactLocation(uri=quote_path(inside), uri_base_id=ROOT)
        return om.ArtifactLocation(uri=Path(file).resolve().as_uri())

    def _fingerprints(self, loc: Loc) -> dict[str, str] | None:
        if loc.file not in self._hashes:
            source = self._sources.text(loc.file)
            self._hashes[loc.file] = line_hashes(source) if source else []
        hashes = self._hashes[loc.file]
        return {"primaryLocationLineHash": hashes[loc.line - 1]} if 1 <= loc.line <= len(hashes) else None


def _result_text(finding: Finding, related: Sequence[Related]) -> str:
    """The message, with a link to each related location: GitHub shows only those that the message links."""
    parts = [_escape(_sentence(finding.message))]
    if related:
        listed = "; ".join(f"[{_escape(_label(place.message))}]({n})" for n, place in enumerate(related, 1))
        parts.append(f"See: {listed}.")
    if finding.inputs:
        parts.append(_escape(f"Happens with {', '.join(f'{name} = {value}' for name, value in finding.inputs)}."))
    if finding.hint:
        parts.append(_escape(_sentence(f"Fix: {finding.hint}")))
    return " ".join(parts)


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else text + "."


def _label(text: str) -> str:
    return text.rstrip(".")


def _escape(text: str) -> str:
    """Text in which nothing is taken for a link."""
    return re.sub(r"([\\\[\]])", r"\\\1", text)


def _properties(finding: Finding) -> dict[str, Any] | None:
    bag: dict[str, Any] = {}
    if finding.kernel:
        bag["kernel"] = finding.kernel
    if finding.inputs:
        bag["inputs"] = dict(finding.inputs)
    if finding.context:
        bag["context"] = dict(finding.context)
    return bag or None


def _message(text: str) -> Any:
    return om.Message(text=text)
