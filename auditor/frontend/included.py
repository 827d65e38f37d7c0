"""Which files of the disk a translation unit was made from."""

from __future__ import annotations

from auditor.frontend.headers_store import is_shim
from auditor.frontend.unit import ParsedUnit


def included_files(unit: ParsedUnit) -> list[str]:
    """Files that the source includes, directly or not, each once. Built-in headers are no files."""
    names = dict.fromkeys(str(item.include.name) for item in unit.tu.get_includes())
    return [name for name in names if not is_shim(name) and name != unit.path]
