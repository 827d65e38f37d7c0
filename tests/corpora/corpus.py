"""The corpora, and how their kernels are chosen: by what a file holds, never by its name."""

from __future__ import annotations

import io
import random
import subprocess
import tarfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from auditor.config import AuditOptions
from tests.corpora.wheels import DownloadError, Wheel, fetch, unpack


@dataclass(frozen=True)
class Corpus:
    """Kernels from one source. ``holds``: texts that all have to occur in a file for it to be one of them.

    Without a wheel the sources come from a checkout that the user names. ``folder``: only files below it. ``includes``:
    folders that its sources name headers from, ``defines`` and ``arch`` what they are compiled with. A library of
    templates has none that is a kernel yet: ``instances`` is then a folder of ours, with files asking for its kernels.
    """

    name: str
    title: str
    holds: tuple[str, ...]
    wheel: Wheel | None = None
    folder: str = ""
    includes: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    arch: str = ""
    instances: Path | None = None


_CUTLASS = "cutlass_library/source"
BUDGET = 90.0  # seconds a kernel, several times what one takes on an idle machine: a busy one changes no outcome


def _kittens(gpu: str, generation: str, arch: str) -> Corpus:
    return Corpus(
        f"thunderkittens-{gpu}",
        f"HazyResearch/ThunderKittens: educational matrix multiplications for {generation}",
        ("__global__", "kittens.cuh"),
        folder=f"kernels/gemm/educational_{gpu}",
        includes=("include", "prototype", "kernels/gemm"),
        defines=(f"KITTENS_{generation.upper()}",),
        arch=arch,
    )


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
        _kittens("b200", "Blackwell", "sm_100a"),
        _kittens("h100", "Hopper", "sm_90a"),
        Corpus(
            "deep-gemm",
            "sgl-deep-gemm 0.2.5: kernel templates on CUTLASS's headers",
            ("instance",),
            Wheel("sgl-deep-gemm", "0.2.5", "e13778e53f682b806dd2c799b5ad81701114d9346044643a8df7589a845f34e6"),
            includes=("deep_gemm/include",),
            instances=Path(__file__).parent / "deep_gemm",
        ),
        Corpus(
            "cutlass",
            "nvidia-cutlass 4.2.0.0: the Blackwell tutorials of CuTe",
            ("__global__",),
            Wheel("nvidia-cutlass", "4.2.0.0", "f9599ada45c7bcb6bf53f7d3f0a7d154183e53451c01bfa59eecd37dd4a693f6"),
            folder=f"{_CUTLASS}/examples/cute/tutorial/blackwell/",
            includes=(f"{_CUTLASS}/include", f"{_CUTLASS}/tools/util/include", f"{_CUTLASS}/examples/common"),
        ),
    )
}


def kernels(corpus: Corpus, target: Path, checkout: Path | None = None) -> dict[str, Path]:
    """Unpack a corpus below ``target``; the files that hold kernels, by name."""
    if corpus.wheel is not None:
        found: Iterable[tuple[str, Path]] = unpack(fetch(corpus.wheel), target)
    elif checkout is not None:
        found = _from_checkout(checkout, (corpus.folder, *corpus.includes), target)
    else:
        raise DownloadError(f"{corpus.name} needs --checkout")
    listed = list(found)
    if corpus.instances is not None:
        listed = [(path.name, path) for path in sorted(corpus.instances.glob("*.cu"))]
    return {name: path for name, path in listed if name.startswith(_below(corpus)) and _holds(path, corpus.holds)}


def _below(corpus: Corpus) -> str:
    return corpus.folder if corpus.instances is None else ""


def options(corpus: Corpus, target: Path) -> AuditOptions:
    """How to read the sources of a corpus that is unpacked below ``target``."""
    return AuditOptions(
        arches=(corpus.arch,) if corpus.arch else (),
        includes=tuple(str(target / folder) for folder in corpus.includes),
        defines=corpus.defines,
        budget=BUDGET,
    )


def _holds(path: Path, texts: tuple[str, ...]) -> bool:
    text = path.read_text(encoding="utf-8", errors="replace")
    return all(part in text for part in texts)


def _from_checkout(checkout: Path, folders: Sequence[str], target: Path) -> list[tuple[str, Path]]:
    """The last commit of a repository, bare or not."""
    command = ["git", "-C", str(checkout), "archive", "--format=tar", "HEAD", "--", *folders]
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
