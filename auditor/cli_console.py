"""Lines on standard error and reports on standard output, whatever the locale says."""

from __future__ import annotations

import shutil
import sys

from auditor.output.tool import NAME


def say(line: str) -> None:
    """One line to standard error; a stream that cannot show a character shows a stand-in."""
    encoding = sys.stderr.encoding or "utf-8"
    print(f"{NAME}: {line}".encode(encoding, "replace").decode(encoding), file=sys.stderr)


def write_out(text: str) -> None:
    """To standard output, as UTF-8 whatever the locale says."""
    sys.stdout.flush()
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:
        sys.stdout.write(text)
    else:
        buffer.write(text.encode("utf-8", "replace"))
    sys.stdout.flush()


def columns() -> int | None:
    """Columns of the terminal that standard output is; None when it is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None
