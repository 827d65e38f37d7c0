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
    above = list(_above(path))
    out: dict[str, None] = {}
    for file, text in texts:
        for quote, name in _INCLUDE.findall(text):
            first = [str(Path(file).parent)] if quote == '"' else []
            for folder in (*first, *folders, *above):
                candidate = Path(folder, name)
                if candidate.is_file():
                    break
                out[str(candidate)] = None
    return list(out)


def _above(path: str) -> Iterator[str]:
    start = Path(path).absolute().parent
    for folder in (start, *list(start.parents)[:LEVELS]):
        if folder != Path(folder.anchor):
            yield from (str(folder / sub) for sub in SUBFOLDERS)
