"""Results as JUnit XML, which CI servers show as tests: one test suite a file, one failed test case a finding."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree

from auditor.findings import FileResult, Finding
from auditor.output.tool import NAME

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_junit(results: Sequence[FileResult]) -> str:
    """One document; a file without findings is one test case that passed."""
    root = ElementTree.Element("testsuites", name=NAME)
    for result in results:
        cases = [_case(finding) for finding in result.findings] or [
            ElementTree.Element("testcase", name=_clean(result.path))
        ]
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            name=_clean(result.path),
            tests=str(len(cases)),
            failures=str(len(result.findings)),
            errors=str(int(bool(result.failure))),
            time=f"{result.seconds:.3f}",
        )
        suite.extend(cases)
        if result.failure:
            ElementTree.SubElement(cases[0], "error", message=_clean(result.failure))
    for element in root.iter("testcase"):
        element.set("classname", NAME)
    for key in ("tests", "failures", "errors"):
        root.set(key, str(sum(int(suite.get(key, "0")) for suite in root)))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=False) + "\n"


def _case(finding: Finding) -> ElementTree.Element:
    case = ElementTree.Element(
        "testcase", name=_clean(f"{finding.code} line {finding.loc.line}"), file=_clean(finding.loc.file)
    )
    case.set("line", str(finding.loc.line))
    failure = ElementTree.SubElement(case, "failure", type=finding.level.value, message=_clean(finding.message))
    failure.text = _clean("\n".join(_story(finding)))
    return case


def _story(finding: Finding) -> list[str]:
    lines = [f"{finding.loc}: {finding.level.value}[{finding.code}] {finding.message}"]
    lines += [f"{place.loc}: {place.message}" for place in finding.related]
    lines += [f"{number}. {step.loc}: {step.message}" for number, step in enumerate(finding.flow, 1)]
    if finding.kernel:
        lines.append(f"in kernel {finding.kernel}")
    if finding.inputs:
        lines.append(f"with {', '.join(f'{name} = {value}' for name, value in finding.inputs)}")
    if finding.hint:
        lines.append(f"fix: {finding.hint}")
    return lines


def _clean(text: str) -> str:
    """Text without the characters that XML cannot hold."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
