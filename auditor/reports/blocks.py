"""What a report's document consists of: paragraphs, lists, tables, figures and sections. Every format renders these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from auditor.reports.model import TensorMemory, Timeline


@dataclass(frozen=True)
class Paragraph:
    """Text. ``tone``: "", "good" or "bad"."""

    text: str
    tone: str = ""


@dataclass(frozen=True)
class Bullets:
    items: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """``numbers``: columns that hold numbers and are set to the right."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: frozenset[int] = frozenset()


@dataclass(frozen=True)
class TmemFigure:
    tmem: TensorMemory


@dataclass(frozen=True)
class TimelineFigure:
    timeline: Timeline


Block: TypeAlias = Paragraph | Bullets | Table | TmemFigure | TimelineFigure


@dataclass(frozen=True)
class Section:
    """``level`` 2 is a part of the report, 3 a table's own heading within "Tables"."""

    title: str
    level: int
    blocks: tuple[Block, ...]


def letter(n: int) -> str:
    """The mark of region number n in the drawn map: A to Z, then a to z, then 0 to 9."""
    return "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"[n % 62]
