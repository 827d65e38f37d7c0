"""Counterfactual runs: what if one detail of the kernel were different? Used to find the cause of a failure.

A deadlock or a race shows where the protocol broke, not why. The machine can run the kernel again with one assumption
changed; the change that makes the run clean names the cause.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from auditor.quick_dataclass import dataclass
from auditor.source import Stack


@dataclass(frozen=True)
class Hypothesis:
    """``parity``: waits at that place observe consecutive phases of each barrier, the first one being ``start`` (0 for
    the consumer's side, -1 for the side that starts with free buffers). ``sides``: the same for all waits of a warp, by
    its number, wherever they are. ``counts``: init count of barriers
    initialised at that place. ``any_bytes``: barriers (by init place) whose phases ignore the tx-count. ``passed``: CTA
    barriers at these places hold nobody. ``dropped``: arrivals on mbarriers at these places do not happen."""

    parity: Mapping[Stack, int] = field(default_factory=dict)
    sides: Mapping[int, int] = field(default_factory=dict)
    counts: Mapping[Stack, int] = field(default_factory=dict)
    any_bytes: frozenset[Stack] = frozenset()
    passed: frozenset[Stack] = frozenset()
    dropped: frozenset[Stack] = frozenset()


NONE = Hypothesis()
