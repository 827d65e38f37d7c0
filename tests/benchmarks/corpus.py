"""All kernels of the flashinfer corpus in one command, beside nvcc, and once more from the cache."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.corpora.corpus import CORPORA, kernels

PROCESSES = 2


def corpus(environment: dict[str, str]) -> None:
    """Print what the audit takes on two cores, cold and with its cache, and what nvcc takes for the same files."""
    with tempfile.TemporaryDirectory(prefix="bw-audit-corpus-") as folder:
        root = Path(folder)
        files = sorted(kernels(CORPORA["flashinfer"], root / "sources").values())
        own = {**environment, "BW_AUDIT_CACHE": str(root / "cache")}
        audit = [sys.executable, "-m", "auditor", "-q", "--exit-zero", "-j", str(PROCESSES), *map(str, files)]
        print(f"{len(files)} kernels of {CORPORA['flashinfer'].title}, in one command on {PROCESSES} cores:")
        print(f"  audit           {_wall(audit, own):7.1f} s")
        print(f"  audit, again    {_wall(audit, own):7.1f} s")
        nvcc = shutil.which("nvcc")
        if nvcc:
            print(f"  nvcc -ptx       {sum(_wall(_compile(nvcc, path), environment) for path in files):7.1f} s, "
                  "one file after the other")  # fmt: skip


def _compile(nvcc: str, path: Path) -> list[str]:
    """To PTX for one architecture; sources name headers from the folders above them."""
    target = "103a" if "sm103a" in str(path) or "sm_103a" in str(path) else "100a"
    csrc = next(folder for folder in path.parents if folder.name == "csrc")
    above = [folder for folder in path.parents if folder.is_relative_to(csrc)]
    includes = [part for folder in (*above, csrc.parent / "include") for part in ("-I", str(folder))]
    code = f"-gencode=arch=compute_{target},code=compute_{target}"
    return [nvcc, "-std=c++17", "-w", code, "-ptx", "-o", "/dev/null", *includes, str(path)]


def _wall(command: list[str], environment: dict[str, str]) -> float:
    began = time.monotonic()
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"exit code {done.returncode}: {command[0]} ... {command[-1]}\n{done.stderr[-500:]}")
    return time.monotonic() - began
