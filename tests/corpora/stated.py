"""What a file that asks for a kernel of a library says of its architecture and launch, in comments at its top.

``// arch: sm_90a``, ``// grid: 4``, ``// block:``, ``// cluster:``, ``// smem:`` (bytes), ``// set: NAME=VALUE``. The
host code of the library, which computes all that, is not among the sources.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from auditor.config import AuditOptions, Dim3

_LINE = re.compile(r"^// (arch|block|grid|cluster|smem|set): (\S+)$", re.MULTILINE)


def stated_options(path: Path, options: AuditOptions) -> AuditOptions:
    """``options`` with what the file says. Raises ValueError for a number that is none."""
    values = dict(options.values)
    changes: dict[str, Any] = {}
    for key, text in _LINE.findall(path.read_text(encoding="utf-8", errors="replace")):
        if key == "arch":
            changes["arches"] = (text,)
        elif key == "smem":
            changes["smem"] = int(text)
        elif key == "set":
            name, _, value = text.partition("=")
            values[name] = int(value)
        else:
            changes[key] = _shape(text)
    return replace(options, values=tuple(values.items()), **changes)


def _shape(text: str) -> Dim3:
    x, y, z = (*(int(n) for n in text.split(",")), 1, 1)[:3]
    return x, y, z
