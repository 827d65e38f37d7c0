"""Writes the parts of the documentation that are made from the code. Run as ``python docs/generate.py``."""

from __future__ import annotations

import json
from pathlib import Path

from auditor.config_keys import json_schema

DOCS = Path(__file__).parent


def generated() -> dict[str, str]:
    """The generated files, by path relative to this folder."""
    return {"config.schema.json": json.dumps(json_schema(), indent=2) + "\n"}


def main() -> None:
    for name, text in generated().items():
        path = DOCS / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
