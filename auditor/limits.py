"""What an audit may take of the machine that it runs on."""

from __future__ import annotations

import contextlib
import sys

MEMORY = 8 << 30  # bytes of address space, many times what the largest kernel needs


def limit_memory() -> None:
    """Keep this process and its children from taking all memory where damaged source sends the parser astray.

    The parser then gives that one file up. Lower limits of the system stay as they are. For a process that does nothing
    else: other programs may want more.
    """
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    if soft == resource.RLIM_INFINITY or soft > MEMORY:
        with contextlib.suppress(ValueError, OSError):  # not every system has such a limit
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, hard))
