"""Instruction handlers. Importing this package registers them with ``auditor.machine.execute``."""

from auditor.machine.ops import bulk, data, mbar, sync, tensor, wgmma

__all__ = ["bulk", "data", "mbar", "sync", "tensor", "wgmma"]
