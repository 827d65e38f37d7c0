"""The tensor-memory map and the timeline as inline SVG. Colours are CSS variables of the page, for light and dark.

Every figure has a title and a description. No colour carries meaning alone: kinds differ in height and outline too.
"""

from __future__ import annotations

from html import escape

from auditor.reports.blocks import letter
from auditor.reports.draw import MEANINGS
from auditor.reports.model import Region, TensorMemory, Timeline

WIDTH = 960
_LEFT = 58
_MAP_TOP, _MAP_HEIGHT = 26, 160
_ROW, _BAR = 40, 16
_SHAPES = {
    "wait": (6, 4),
    "issue": (0, _BAR),
    "flight": (0, _BAR),
    "compute": (0, _BAR),
    "use": (0, _BAR),
    "arrive": (-2, _BAR + 4),
}
HUES = 8  # classes r0 to r7 of regions


def tmem_svg(t: TensorMemory, name: str) -> str:
    """Columns from left to right, lanes from top to bottom. ``name`` makes the ids unique in the page."""
    end = max([a.base + a.rounded for a in t.allocations] + [r.hi for r in t.regions])
    scale = (WIDTH - _LEFT - 8) / end
    described = "; ".join(f"{r.object} in columns {r.name}" for r in t.regions)
    out = [
        _head(
            name,
            _MAP_TOP + _MAP_HEIGHT + 30,
            "Map of tensor memory",
            f"{t.rounded} columns allocated, {t.touched} touched. {described}.",
        )
    ]
    out.append(
        f'<defs><pattern id="{name}-hatch" width="8" height="8" patternUnits="userSpaceOnUse" '
        'patternTransform="rotate(45)"><line class="hatchline" x1="0" y1="0" x2="0" y2="8"/></pattern></defs>'
    )
    out += [
        f'<rect class="unused" fill="url(#{name}-hatch)" x="{_LEFT + a.base * scale:.1f}" y="{_MAP_TOP}" '
        f'width="{a.rounded * scale:.1f}" height="{_MAP_HEIGHT}"/>'
        for a in t.allocations
    ]
    for n, r in sorted(enumerate(t.regions), key=lambda pair: pair[1].lo - pair[1].hi):
        out += _region(n, r, scale, any(_inside(r, other) for other in t.regions))
    for lane in range(0, 128, 32):
        y = _MAP_TOP + lane * _MAP_HEIGHT / 128
        out.append(f'<text class="tick" x="{_LEFT - 6}" y="{y + 24:.1f}" text-anchor="end">{lane}-{lane + 31}</text>')
        if lane:
            out.append(f'<line class="grid" x1="{_LEFT}" y1="{y:.1f}" x2="{_LEFT + end * scale:.1f}" y2="{y:.1f}"/>')
    step = 32 if end <= 256 else 64
    for column in range(0, end + 1, step):
        x = _LEFT + column * scale
        anchor = "end" if column == end else "middle"
        out.append(
            f'<line class="axis" x1="{x:.1f}" y1="{_MAP_TOP - 4}" x2="{x:.1f}" y2="{_MAP_TOP}"/>'
            f'<text class="tick" x="{x:.1f}" y="{_MAP_TOP - 8}" text-anchor="{anchor}">{column}</text>'
        )
    bottom = _MAP_TOP + _MAP_HEIGHT + 20
    several = any(_inside(r, other) for r in t.regions for other in t.regions)
    nested = "; a strip in a region: its columns at other times" if several else ""
    out.append(
        f'<text class="tick" x="{_LEFT}" y="{bottom}">columns from left to right, lanes from top to bottom; '
        f"hatched: allocated, not used{nested}</text>"
    )
    return "".join([*out, "</svg>"])


def _inside(r: Region, other: Region) -> bool:
    """Whether a region takes columns of a wider one, as P does of S."""
    return r.hi - r.lo < other.hi - other.lo and r.lo < other.hi and other.lo < r.hi


def _region(n: int, r: Region, scale: float, inside: bool) -> list[str]:
    """Rectangle and names; one inside another is drawn over its lower part."""
    out = []
    x, width = _LEFT + r.lo * scale, (r.hi - r.lo) * scale
    for lo, hi in r.lanes:
        y, height = _MAP_TOP + lo * _MAP_HEIGHT / 128, (hi - lo) * _MAP_HEIGHT / 128
        if inside:
            y, height = y + 0.72 * height, 0.28 * height
        out.append(
            f'<rect class="region r{n % HUES}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}">'
            f"<title>{escape(f'{letter(n)}: {r.object}, columns {r.name}, lanes {lo}-{hi - 1}')}</title></rect>"
        )
    middle = x + width / 2
    if inside:
        label = f"{letter(n)} {r.object}"
        text = label if width > 7.2 * len(label) else letter(n)
        out.append(
            f'<text class="name" x="{middle:.1f}" y="{_MAP_TOP + 0.89 * _MAP_HEIGHT:.1f}" text-anchor="middle">'
            f"{escape(text)}</text>"
        )
        return out
    out.append(f'<text class="mark" x="{middle:.1f}" y="{_MAP_TOP + 54}" text-anchor="middle">{letter(n)}</text>')
    if width > 7.2 * len(r.object):
        out.append(
            f'<text class="name" x="{middle:.1f}" y="{_MAP_TOP + 72}" text-anchor="middle">{escape(r.object)}</text>'
        )
        out.append(f'<text class="name" x="{middle:.1f}" y="{_MAP_TOP + 88}" text-anchor="middle">{r.name}</text>')
    return out


def timeline_svg(t: Timeline, name: str) -> str:
    """A row for each thread or unit, time from left to right."""
    height = _ROW * len(t.rows) + 58
    scale = (WIDTH - 12) / max(t.end, 1)
    rows = "; ".join(row.name for row in t.rows)
    out = [
        _head(
            name,
            height,
            "Timeline of the first iterations",
            f"{t.end} units of model time. Rows: {rows}. The table below has every span.",
        )
    ]
    for n, row in enumerate(t.rows):
        top = _ROW * n + 4
        out.append(f'<text class="rowname" x="4" y="{top + 12}">{escape(row.name)}</text>')
        out.append(f'<line class="grid" x1="4" y1="{top + 27}" x2="{WIDTH - 8}" y2="{top + 27}"/>')
        for s in row.spans:
            offset, tall = _SHAPES[s.kind]
            x, width = 4 + s.start * scale, max((s.end - s.start) * scale, 1.5)
            out.append(
                f'<rect class="{s.kind}" x="{x:.1f}" y="{top + 19 + offset}" width="{width:.1f}" height="{tall}">'
                f"<title>{escape(f'{s.start}-{s.end}: {s.label}')}</title></rect>"
            )
    out += _axis(t, scale, _ROW * len(t.rows) + 10)
    return "".join([*out, "</svg>"])


def _axis(t: Timeline, scale: float, top: int) -> list[str]:
    """Ticks of model time, and the legend."""
    step = next(s for s in (10, 20, 50, 100, 200, 500, 1000, 10_000, 1 << 40) if t.end / s <= 12)
    out = [f'<line class="axis" x1="4" y1="{top}" x2="{WIDTH - 8}" y2="{top}"/>']
    for at in range(0, t.end + 1, step):
        anchor = "start" if at == 0 else "middle"
        x_at = min(4 + at * scale, WIDTH - 14)
        out.append(f'<text class="tick" x="{x_at:.1f}" y="{top + 14}" text-anchor="{anchor}">{at}</text>')
    x = 4
    used = {s.kind for row in t.rows for s in row.spans}
    for kind, meaning in MEANINGS.items():
        if kind in used:
            offset, tall = _SHAPES[kind]
            width = 5 if kind == "arrive" else 22
            out.append(
                f'<rect class="{kind}" x="{x}" y="{top + 24 + offset}" width="{width}" height="{tall}"/>'
                f'<text class="tick" x="{x + width + 5}" y="{top + 37}">{meaning}</text>'
            )
            x += width + 24 + 7 * len(meaning)
    return out


def _head(name: str, height: float, title: str, description: str) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-labelledby="{name}-t {name}-d">'
        f'<title id="{name}-t">{escape(title)}</title><desc id="{name}-d">{escape(description)}</desc>'
    )
