"""Happens-before graph of a trace: order, conflicting accesses, and exports of both."""

from auditor.graph.clocks import Clock
from auditor.graph.conflicts import Conflict
from auditor.graph.order import HappensBefore
from auditor.graph.overruns import Overrun

__all__ = ["Clock", "Conflict", "HappensBefore", "Overrun"]
