"""What a rule is: metadata and a generator of findings."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from auditor.findings import Finding, Level

if TYPE_CHECKING:
    from auditor.audit import Audit

CONFIDENCES = ("high", "medium", "low")


class Rule(ABC):
    """One kind of defect.

    A rule is stateless: it is made once and judges every audit. ``entries`` are the identifiers of the requirements
    that it checks ("MB-11"). A common base of several rules is declared with ``class Base(Rule, abstract=True)``.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    level: ClassVar[Level]
    confidence: ClassVar[str]
    entries: ClassVar[tuple[str, ...]]

    def __init_subclass__(cls, abstract: bool = False, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not abstract:
            _check_metadata(cls)

    @abstractmethod
    def check(self, audit: Audit) -> Iterator[Finding]:
        """Yield what is wrong in one executed kernel."""


def _check_metadata(cls: type[Rule]) -> None:
    """Raise TypeError when a rule class lacks metadata, or has metadata of the wrong form."""
    missing = [key for key in ("code", "name", "level", "confidence", "entries") if not hasattr(cls, key)]
    if missing:
        raise TypeError(f"rule {cls.__name__} lacks {', '.join(missing)}")
    if not re.fullmatch(r"BW\d{3}", cls.code):
        raise TypeError(f"rule {cls.__name__}: code {cls.code!r} is not of the form BW101")
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", cls.name):
        raise TypeError(f"rule {cls.__name__}: name {cls.name!r} is not lower-case words joined by hyphens")
    if not isinstance(cls.level, Level):
        raise TypeError(f"rule {cls.__name__}: level must be a Level")
    if cls.confidence not in CONFIDENCES:
        raise TypeError(f"rule {cls.__name__}: confidence must be one of {', '.join(CONFIDENCES)}")
    if not isinstance(cls.entries, tuple) or not all(re.fullmatch(r"[A-Z]{2}-\d+[a-z]?", e) for e in cls.entries):
        raise TypeError(f"rule {cls.__name__}: entries must be a tuple of identifiers such as MB-11")
