"""Where files lie, as SARIF and GitHub want to hear it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from auditor.findings import FileResult


def repository_root(results: Sequence[FileResult]) -> Path:
    """The folder that holds the first audited file's repository; the working folder when it is in none."""
    here = Path.cwd()
    for start in [Path(result.path).resolve().parent for result in results[:1]] + [here]:
        for folder in (start, *start.parents):
            if (folder / ".git").exists():
                return folder
    return here


def relative_path(file: str, root: Path) -> str | None:
    """``file`` relative to ``root``, with forward slashes; None when it lies elsewhere."""
    try:
        return Path(file).resolve().relative_to(root).as_posix()
    except ValueError:
        return None


def folder_uri(folder: Path) -> str:
    """URI of a folder, with the closing slash that SARIF asks for."""
    uri = folder.as_uri()
    return uri if uri.endswith("/") else uri + "/"


def quote_path(path: str) -> str:
    """A relative path as a URI reference."""
    return quote(path, safe="/-._~!$&'()*+,;=@", errors="surrogateescape")
