"""Include folders: those that a build named, and those that it would have, found above the source file."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from auditor.frontend.options import Options

LEVELS = 6  # folders above the source that are looked into
SUBFOLDERS = ("", "include", "src", "csrc")

# A file of each library that has headers of ours: whoever has one of these has the rest.
_REAL_LIBRARY = ("cutlass/cutlass.h", "cute/config.hpp")
# Of its folders, those whose functions stand for instructions: what is found in them is the concern of who calls them.
_LIBRARY_LAYERS = ("cute/", "cutlass/arch/", "cutlass/pipeline/")
_FOLDER_OPTIONS = ("-isystem", "-iquote", "-idirafter")

_MISSING = re.compile(r"'(.+)' file not found")


def missing_include(message: str) -> str | None:
    """The name in clang's complaint about an include that it cannot find."""
    match = _MISSING.search(message)
    return match[1] if match else None


def has_real_library(path: str, options: Options) -> bool:
    """Whether CUTLASS itself is on the include path of a source, or in a folder that would be found for it.

    Then none of its headers may be ours, for the two sets do not fit together.
    """
    named = [Path(folder) for folder in options.includes]
    named += [Path(word) for option, word in zip(options.extra, options.extra[1:]) if option in _FOLDER_OPTIONS]
    return any((folder / name).is_file() for folder in named for name in _REAL_LIBRARY) or bool(libraries_at(path))


def libraries_at(path: str) -> tuple[str, ...]:
    """Files of CUTLASS itself that are found above a source."""
    places = (folder / name for folder in _candidates(path) for name in _REAL_LIBRARY)
    return tuple(str(place) for place in places if place.is_file())


def library_layers(included: Iterable[str]) -> tuple[str, ...]:
    """The folders of CuTe's and CUTLASS's instructions and pipelines, where the included files are some of theirs.

    What is left of the library (collectives, kernels) is code like a user's.
    """
    roots = {name[: -len(known)] for name in included for known in _REAL_LIBRARY if name.endswith(f"/{known}")}
    return tuple(root + layer for root in sorted(roots) for layer in _LIBRARY_LAYERS)


def folders_for(path: str, messages: Iterable[str]) -> tuple[str, ...]:
    """Folders, nearest first, that hold includes which clang could not find."""
    return folders_with(path, (name for name in map(missing_include, messages) if name is not None))


def folders_with(path: str, names: Iterable[str]) -> tuple[str, ...]:
    """Folders around a source that hold files which it includes by these names."""
    found: dict[str, None] = {}
    for name in sorted({name for name in names if not Path(name).is_absolute()}):
        folder = next((str(f) for f in _candidates(path) if (f / name).is_file()), None)
        if folder is not None:
            found[folder] = None
    return tuple(found)


def _candidates(path: str) -> Iterable[Path]:
    start = Path(path).absolute().parent
    for folder in (start, *list(start.parents)[:LEVELS]):
        if folder == Path(folder.anchor):
            return
        for sub in SUBFOLDERS:
            yield folder / sub if sub else folder
