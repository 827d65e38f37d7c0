"""Readers of option values: each turns one kind of text into a value, or says clearly what is wrong with it."""

from __future__ import annotations

import re
from importlib.util import find_spec

import click

from auditor.cli_outputs import FORMATS, Target
from auditor.config import Dim3


def dimension(text: str) -> Dim3:
    """A launch dimension: "128", "16,8" or "16x8x1"."""
    parts = re.split(r"[,x]", text)
    if not 1 <= len(parts) <= 3 or not all(re.fullmatch(r"\s*[1-9]\d*\s*", part) for part in parts):
        raise click.BadParameter(f"{text!r} is not one to three positive numbers such as 128 or 16,8")
    x, y, z = [int(part) for part in parts] + [1] * (3 - len(parts))
    return (x, y, z)


def setting(text: str) -> tuple[str, int | float]:
    """A scalar kernel argument: NAME=VALUE with a decimal, 0x, true, false or floating-point value."""
    match = re.fullmatch(r"\s*([A-Za-z_]\w*)\s*=\s*(\S+)\s*", text)
    if match is None:
        raise click.BadParameter(f"{text!r} is not of the form NAME=VALUE")
    number = _number(match[2])
    if number is None:
        raise click.BadParameter(f"{match[2]!r} is not a number")
    return match[1], number


def codes(text: str) -> tuple[str, ...]:
    """A comma-separated list of rule codes or their beginnings."""
    from auditor import registry

    prefixes = tuple(part.strip().upper() for part in text.split(",") if part.strip())
    for prefix in prefixes:
        if not any(code.startswith(prefix) for code in registry.stems()):
            raise click.BadParameter(f"no rule has a code that begins with {prefix!r}; see 'bw-audit rules'")
    return prefixes


def architecture(text: str) -> str:
    """A GPU architecture, as sm_*: from sm_90a, 100a or compute_103f."""
    match = re.fullmatch(r"(?:sm_|compute_)?(\d{2,3}[af]?)", text.strip().lower())
    if match is None:
        raise click.BadParameter(f"{text!r} is not an architecture such as sm_90a or sm_100a")
    return f"sm_{match[1]}"


def target(text: str) -> Target:
    """A report: FORMAT, or FORMAT:FILE."""
    name, colon, file = text.partition(":")
    if name not in FORMATS:
        raise click.BadParameter(f"{name!r} is not one of {', '.join(FORMATS)}")
    if colon and not file:
        raise click.BadParameter(f"{text!r} names no file behind the colon")
    return Target(name, None if file in ("", "-") else file)


def executor(text: str) -> str:
    """The address of a Dask scheduler, from dask:ADDRESS."""
    kind, _, address = text.partition(":")
    if kind != "dask" or not re.fullmatch(r"(?:tcp|tls|ws|wss)://[^/\s]+:\d+/?", address):
        raise click.BadParameter(f"{text!r} is not of the form dask:tcp://host:8786")
    if find_spec("distributed") is None:
        raise click.BadParameter("it needs the package distributed: pip install 'bw-audit[dask]'")
    return address


def _number(text: str) -> int | float | None:
    if text.lower() in ("true", "false"):
        return int(text.lower() == "true")
    for read in (lambda word: int(word, 0), float):
        try:
            return read(text)
        except ValueError:
            continue
    return None
