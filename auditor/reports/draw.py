"""The tensor-memory map and the timeline drawn with characters, for the terminal and for Markdown."""

from __future__ import annotations

from auditor.reports.blocks import letter
from auditor.reports.model import TensorMemory, Timeline

CELLS = 64
SIGNS = {"wait": ".", "issue": "i", "flight": "=", "compute": "#", "use": "u", "arrive": "^"}
MEANINGS = {
    "wait": "waits",
    "issue": "issues",
    "flight": "in flight",
    "compute": "tensor core",
    "use": "uses tensor memory",
    "arrive": "arrives or commits",
}
_STRENGTH = "^iu#=."  # what wins a cell, strongest first


def tmem_lines(t: TensorMemory, width: int = 100) -> list[str]:
    """Columns from left to right, lane quarters from top to bottom; the legend takes ``width`` characters a line."""
    end = max([a.base + a.rounded for a in t.allocations] + [r.hi for r in t.regions])
    step = max(-(-end // CELLS), 1)
    cells = -(-end // step)
    marks = [n * step for n in range(0, cells, 16)]
    ruler = "".join(f"{m:<16}" for m in marks)[:cells].ljust(cells)
    out = [f"lanes    {ruler}"]
    shared = False
    for quarter in range(0, 128, 32):
        row = []
        for cell in range(cells):
            lo, hi = cell * step, (cell + 1) * step
            held = [
                n
                for n, r in enumerate(t.regions)
                if r.lo < hi and lo < r.hi and any(a < quarter + 32 and quarter < b for a, b in r.lanes)
            ]
            allocated = any(a.base <= lo < a.base + a.rounded for a in t.allocations)
            shared |= len(held) > 1
            row.append(letter(held[quarter // 32 % len(held)]) if held else "-" if allocated else " ")
        out.append(f"{quarter:>3}-{quarter + 31:<4}|{''.join(row)}|")
    legend = [f"{letter(n)} {r.object}" for n, r in enumerate(t.regions)]
    legend.append(f"{step} column{'s' if step > 1 else ''} a character")
    if any("-" in line[8:] for line in out[1:]):
        legend.append("- allocated, not used")
    if shared:
        legend.append("letters in turn: one object after the other in the same columns")
    return [*out, *_wrapped("         ", legend, width)]


def timeline_lines(t: Timeline, width: int = 96) -> list[str]:
    """A line for each row, with its name above it."""
    scale = max(t.end, 1) / width
    out = []
    for row in t.rows:
        cells = [" "] * width
        for s in row.spans:
            sign = SIGNS[s.kind]
            first = min(int(s.start / scale), width - 1)
            for at in range(first, max(min(int(-(-s.end // scale)), width), first + 1)):
                if cells[at] == " " or _STRENGTH.index(sign) < _STRENGTH.index(cells[at]):
                    cells[at] = sign
        out += [row.name, f"  |{''.join(cells)}|"]
    used = {s.kind for row in t.rows for s in row.spans}
    legend = [f"{SIGNS[kind]} {MEANINGS[kind]}" for kind in SIGNS if kind in used]
    return [*out, *_wrapped("  ", legend, width + 4), f"  0 to {t.end} units of model time"]


def _wrapped(indent: str, words: list[str], width: int) -> list[str]:
    lines, line = [], indent
    for word in words:
        if len(line) + len(word) > width and line != indent:
            lines.append(line.rstrip())
            line = indent
        line += word + "   "
    return [*lines, line.rstrip()]
