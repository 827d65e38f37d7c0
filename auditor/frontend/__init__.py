"""Frontend: a CUDA source file becomes a program that the machine can execute. The only layer that knows clang."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from auditor.frontend.options import Options
    from auditor.program import Program


def build_program(path: str, text: str | None = None, options: Options | None = None) -> Program:
    """Parse and translate a file (or ``text`` as if it were that file).

    Raises ``ParseFailure`` when the file cannot be read; what cannot be translated is told by the program's notes.
    """
    # clang is loaded only when it is used: generated programs import helpers from this package
    from auditor.frontend.lower.program_builder import lower_unit
    from auditor.frontend.parse import parse

    return lower_unit(parse(path, text, options))
