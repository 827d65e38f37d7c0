"""Python wheels pinned by digest: downloaded once into the user's cache, and read as archives."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ATTEMPTS = 4
SOURCES = (".cu", ".cuh", ".h", ".hpp", ".inl", ".inc")


class DownloadError(Exception):
    """A wheel cannot be had, or is not the one that was pinned."""


@dataclass(frozen=True)
class Wheel:
    """A distribution, its version and the SHA-256 digest of its wheel."""

    name: str
    version: str
    sha256: str

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


def cache_folder() -> Path:
    """Where downloads are kept: ``BW_AUDIT_CACHE``, or the user's cache folder."""
    chosen = os.environ.get("BW_AUDIT_CACHE") or os.environ.get("XDG_CACHE_HOME")
    return Path(chosen) / "bw-audit" if chosen else Path.home() / ".cache" / "bw-audit"


def fetch(wheel: Wheel, cache: Path | None = None) -> Path:
    """The wheel's file: from the cache when its digest is right, else downloaded by pip."""
    folder = (cache or cache_folder()) / "wheels"
    folder.mkdir(parents=True, exist_ok=True)
    found = _cached(wheel, folder)
    for attempt in range(ATTEMPTS):
        if found is not None:
            return found
        time.sleep(attempt * 3)
        _download(wheel, folder)
        found = _cached(wheel, folder)
    if found is None:
        raise DownloadError(f"{wheel} with digest {wheel.sha256[:16]}... could not be downloaded")
    return found


def _download(wheel: Wheel, folder: Path) -> None:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    subprocess.run([*command, "-d", str(folder), f"{wheel.name}=={wheel.version}"], check=False)


def _cached(wheel: Wheel, folder: Path) -> Path | None:
    for path in folder.glob(f"{wheel.name.replace('-', '_')}-{wheel.version}-*.whl"):
        if hashlib.sha256(path.read_bytes()).hexdigest() == wheel.sha256:
            return path
    return None


def unpack(archive: Path, target: Path) -> Iterator[tuple[str, Path]]:
    """Write the C++ sources of a wheel below ``target``; yields name and path of each."""
    with zipfile.ZipFile(archive) as wheel:
        for name in sorted(wheel.namelist()):
            if name.endswith(SOURCES):
                yield name, Path(wheel.extract(name, target))
