"""Places in source text. The only location type that crosses module borders."""

from __future__ import annotations

from dataclasses import dataclass

SHIM_ROOT = "/bwshim"  # a folder that exists only in the file system that clang is shown, for our headers


@dataclass(frozen=True, order=True)
class Loc:
    """A range in a source file.

    ``line`` and ``column`` are 1-based; columns count UTF-8 bytes, as clang does. An ``end_line`` of 0
    means that only the start is known; ``end_column`` is exclusive.
    """

    file: str
    line: int
    column: int = 1
    end_line: int = 0
    end_column: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

    def encloses(self, other: Loc) -> bool:
        """Whether another place lies within this range, and is not all of it."""
        return (
            self.file == other.file
            and self.end_line > 0
            and (self.line, self.column) <= (other.line, other.column)
            and (other.end_line or other.line, other.end_column or other.column) <= (self.end_line, self.end_column)
            and (other.line, other.column, other.end_line, other.end_column)
            != (self.line, self.column, self.end_line, self.end_column)
        )

    def __hash__(self) -> int:  # call chains are keys everywhere: two numbers tell nearly all places apart
        return self.line << 12 ^ self.column


UNKNOWN = Loc("<unknown>", 0, 0)

# A call chain: the innermost place first (an asm statement in a wrapper), then its call sites outwards to the kernel.
Stack = tuple[Loc, ...]
