"""Shared memory of a CTA against the limits, and how many CTAs an SM can hold."""

from __future__ import annotations

from auditor.audit import Audit
from auditor.reports.model import SharedMemory
from auditor.values import SHARED_RESERVED

LIMIT = 227 * 1024  # bytes that one CTA may ask for (sm_90, sm_100)
PER_SM = 228 * 1024
THREADS_PER_SM = 2048
CTAS_PER_SM = 32
REGISTERS_PER_SM = 65536


def shared_memory(audit: Audit, tmem_columns: int) -> SharedMemory:
    """The budget of one CTA. ``tmem_columns``: allocated by one CTA, 0 without tensor memory."""
    kernel, launch = audit.kernel, audit.launch
    static = 0
    for var in kernel.shared:
        if not var.dynamic:
            static = -(-static // max(var.align, 1)) * max(var.align, 1) + var.size
    total = static + launch.shared_bytes + SHARED_RESERVED
    bounds = [
        ("shared memory", PER_SM // total),
        ("threads", THREADS_PER_SM // max(-(-launch.threads // 32) * 32, 1)),
        ("hardware slots", CTAS_PER_SM),
    ]
    if tmem_columns:
        bounds.append(("tensor memory columns", 512 // tmem_columns))
    if kernel.max_registers:
        bounds.append(("registers", REGISTERS_PER_SM // (kernel.max_registers * max(launch.threads, 1))))
    return SharedMemory(static, launch.shared_bytes, SHARED_RESERVED, LIMIT, "shared" in launch.chosen, tuple(bounds))
