"""The command ``bw-audit``. This module stays light: what a command needs is imported when that command runs."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Sequence

from auditor.limits import limit_memory
from auditor.output.tool import NAME, VERSION

_EXIT_INTERRUPTED = 130


def command() -> int:
    """The command as a process of its own. It ends without taking all its objects apart, which would take longer than a
    small kernel's rules."""
    limit_memory()
    status = main()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        return status  # nobody reads: the interpreter knows how to end then
    atexit._run_exitfuncs()
    os._exit(status)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code: 0 clean, 1 findings, 2 usage or nothing could be audited."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words in (["--version"], ["-V"]):
        print(f"{NAME} {VERSION}")
        return 0
    from auditor.cli_commands import complete, run

    try:
        if argv is None and (instruction := os.environ.get("_BW_AUDIT_COMPLETE")):
            return complete(instruction)
        return run(words)
    except KeyboardInterrupt:
        print(f"{NAME}: interrupted", file=sys.stderr)
        return _EXIT_INTERRUPTED
    except BrokenPipeError:  # the reader of our output has gone, as in "bw-audit ... | head"
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
