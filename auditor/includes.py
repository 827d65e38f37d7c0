"""Files whose absence matters: where an include was looked for before it was found, or in vain."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from auditor.frontend.include_search import LEVELS, SUBFOLDERS

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include(?:_next)?[ \t]*(["<])([^">\r\n]+)[">]', re.M)


def looked_for(path: str, texts: Iterable[tuple[str, str]], folders: Sequence[str]) -> list[str]:
    """Paths at which a new file could change what the includes of ``texts`` (file, text) mean.

    ``folders`` are those of ``-I``; ``path`` is the audited source, above which the frontend looks for missing headers.
    """
    out: dict[str, None] = {}
    for file, text in texts:
        for candidates in _candidates(path, file, text, folders):
            for candidate in candidates:
                if candidate.is_file():
                    break
                out[str(candidate)] = None
    return list(out)


def found_by(path: str, text: str, folders: Sequence[str]) -> tuple[str | None, ...]:
    """The files that the includes of a source mean, None for each that is not found."""
    return tuple(
        next((str(candidate.absolute()) for candidate in candidates if candidate.is_file()), None)
        for candidates in _candidates(path, path, text, folders)
    )


def _candidates(path: str, file: str, text: str, folders: Sequence[str]) -> Iterator[list[Path]]:
    """For each include of a file, where it is looked for."""
    above = list(_above(path))
    for quote, name in _INCLUDE.findall(text):
        first = [str(Path(file).parent)] if quote == '"' else []
        yield [Path(folder, name) for folder in (*first, *folders, *above)]


def _above(path: str) -> Iterator[str]:
    start = Path(path).absolute().parent
    for folder in (start, *list(start.parents)[:LEVELS]):
        if folder != Path(folder.anchor):
            yield from (str(folder / sub) for sub in SUBFOLDERS)
