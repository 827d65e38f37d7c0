"""Instruction handlers. Importing this package registers them with ``auditor.machine.execute``."""

from auditor.machine.ops import atomic, bulk, data, mbar, sync, tensor, wgmma

__all__ = ["atomic", "bulk", "data", "mbar", "sync", "tensor", "wgmma"]
