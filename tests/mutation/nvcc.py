"""Asks nvcc whether a mutant compiles at all. Answers are kept, since they do not depend on the auditor."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import tempfile
from pathlib import Path

from auditor.engine import guess_arch


class Compiler:
    """nvcc, with its earlier answers."""

    def __init__(self, store: Path) -> None:
        self.store = store
        self.kept: dict[str, bool] = json.loads(store.read_text()) if store.exists() else {}
        self.program = shutil.which("nvcc")

    def accepts(self, text: str) -> bool:
        """Whether nvcc and ptxas take a source text. Raises FileNotFoundError where there is no nvcc."""
        if self.program is None:
            raise FileNotFoundError("nvcc")
        key = hashlib.sha256(text.encode()).hexdigest()
        if key not in self.kept:
            self.kept[key] = self._compile(text)
            self.store.write_text(json.dumps(self.kept))
        return self.kept[key]

    def _compile(self, text: str) -> bool:
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "mutant.cu"
            source.write_text(text)
            command = [str(self.program), "-std=c++17", f"-arch={guess_arch(text)}", "-cubin", "-o", "out", source.name]
            return subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode == 0
