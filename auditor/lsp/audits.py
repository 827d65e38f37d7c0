"""Audits of open documents: each in a process of its own, so that a crash costs a message and not the server."""

from __future__ import annotations

from contextlib import closing

from auditor.conclude import conclude
from auditor.config_keys import ConfigError
from auditor.findings import FileResult
from auditor.parallel import Unit, audit_in_parallel
from auditor.settings import Configuration


def audit_text(path: str, text: str, fixes: bool = False) -> FileResult:
    """Audit ``text`` as if it were the file ``path``, with the settings that are nearest to it now.

    ``fixes`` asks for confirmed repairs of the findings, which takes longer.
    """
    try:
        options = Configuration().options(path, {"fixes": fixes})
    except ConfigError as error:
        return FileResult(path, failure=str(error))
    with closing(audit_in_parallel([Unit(path, options, text)], 1, None)) as analyses:
        _, analysis = next(analyses)
    return conclude(analysis, options)
