"""The corpora, and how their kernels are chosen: by what a file holds, never by its name."""

from __future__ import annotations

import io
import random
import subprocess
import tarfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.corpora.wheels import DownloadError, Wheel, fetch, unpack


@dataclass(frozen=True)
class Corpus:
    """Kernels from one source. ``holds``: texts that all have to occur in a file for it to be one of them.

    Without a wheel the sources come from a checkout that the user names, from its ``folder``.
    """

    name: str
    title: str
    holds: tuple[str, ...]
    wheel: Wheel | None = None
    folder: str = ""


CORPORA = {
    corpus.name: corpus
    for corpus in (
        Corpus(
            "flashinfer",
            "flashinfer-python 0.7.0: generated tcgen05 kernels",
            ("tcgen05.alloc", "__global__"),
            Wheel("flashinfer-python", "0.7.0", "11e564820cde80ec13d351b68fc44cb54a537268bca135204abafc5fadd50240"),
        ),
        Corpus(
            "learn-cuda",
            "gau-nernst/learn-cuda: matrix multiplication with tcgen05, raw PTX",
            ("tcgen05.", "__global__"),
            folder="02e_matmul_sm100",
        ),
    )
}


def kernels(corpus: Corpus, target: Path, checkout: Path | None = None) -> dict[str, Path]:
    """Unpack a corpus below ``target``; the files that hold kernels, by name."""
    if corpus.wheel is not None:
        found: Iterable[tuple[str, Path]] = unpack(fetch(corpus.wheel), target)
    elif checkout is not None:
        found = _from_checkout(checkout, corpus.folder, target)
    else:
        raise DownloadError(f"{corpus.name} needs --checkout")
    return {name: path for name, path in list(found) if _holds(path, corpus.holds)}


def _holds(path: Path, texts: tuple[str, ...]) -> bool:
    text = path.read_text(encoding="utf-8", errors="replace")
    return all(part in text for part in texts)


def _from_checkout(checkout: Path, folder: str, target: Path) -> list[tuple[str, Path]]:
    """The last commit of a repository, bare or not."""
    command = ["git", "-C", str(checkout), "archive", "--format=tar", "HEAD", "--", folder]
    archive = subprocess.run(command, check=True, capture_output=True).stdout
    out = []
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        for member in tar.getmembers():
            content = tar.extractfile(member) if member.isfile() else None
            if content is None:
                continue
            path = target / member.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.read())
            out.append((member.name, path))
    return sorted(out)


def sample(names: Iterable[str], count: int | None, seed: int) -> list[str]:
    """``count`` of the names at random, the same ones for the same seed; all of them for None."""
    ordered = sorted(names)
    if count is None or count >= len(ordered):
        return ordered
    return sorted(random.Random(seed).sample(ordered, count))
