"""BW501: more shared memory than a block can have."""

from __future__ import annotations

import re
from collections.abc import Iterator

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.machine.shared_layout import shared_layout
from auditor.rule import Rule
from auditor.rulekit import Places, plural
from auditor.values import SHARED_RESERVED

# Bytes a block can have, by compute capability (CUDA C++ Programming Guide, "Compute Capabilities").
LIMITS = {80: 166_912, 86: 101_376, 87: 166_912, 89: 101_376, 90: 232_448, 100: 232_448, 101: 232_448, 103: 232_448,
          110: 232_448, 120: 101_376, 121: 101_376}


def limit(arch: str) -> int:
    """Bytes of shared memory that a block can have on an architecture such as "sm_100a"."""
    number = re.search(r"\d+", arch)
    return LIMITS.get(int(number[0]), 232_448) if number else 232_448


class SharedMemoryLimit(Rule):
    code = "BW501"
    name = "shared-memory-limit"
    level = Level.ERROR
    confidence = "high"
    entries = ("OT-10",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        launch = audit.launch
        known = "shared" not in launch.chosen
        dynamic = launch.shared_bytes if known else 0
        most = limit(audit.program.arch)
        total = shared_layout(audit.kernel, launch)[1] - SHARED_RESERVED - (0 if known else launch.shared_bytes)
        if total <= most:
            return
        static = total - dynamic
        variables = sorted((v for v in audit.kernel.shared if not v.dynamic), key=lambda v: -v.size)
        related: Places = [((v.loc,), f"{v.name}: {plural(v.size, 'byte')}") for v in variables[:2]]
        parts = f"{static:,} static and {dynamic:,} dynamic" if static and dynamic else f"{total:,}"
        yield audit.finding(
            type(self), launch.where if dynamic and launch.where else (audit.kernel.loc,),
            f"a block of {audit.kernel.display} needs {parts} bytes of shared memory, {plural(total - most, 'byte')} "
            "more than "
            f"the {most:,} that a block can have on {audit.program.arch}: the launch fails",
            related=related,
            hint="use fewer stages or smaller tiles, or let the epilogue reuse the memory of the stages",
        )
