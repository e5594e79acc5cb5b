"""Reports of a display mode: its numbers, and drawings of the scan in characters and as SVG."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from html import escape
from typing import Any

from pocketgpu.facts.dialect.registers import Field
from pocketgpu.facts.external import EXTERNAL
from pocketgpu.pica.pdc import Beat, DisplayMode, Span, display_mode
from pocketgpu.wording import counted

AREAS: Mapping[str, tuple[str, str, str]] = {
    "picture": (".", "picture", "#7fb069"),
    "border": ("#", "border", "#e6aa68"),
    "back porch": ("b", "back porch", "#8ecae6"),
    "front porch": ("f", "front porch", "#bcd4e6"),
    "sync": ("=", "sync pulse", "#4a6fa5"),
}
"""Part of the scan: its character, its name in the legend, its colour."""


def modes_of(words: Mapping[int, int], choices: Mapping[str, str] | None = None) -> dict[str, DisplayMode]:
    """The modes of both screens. words: register words by physical address; missing ones have their reset value."""
    modes = {}
    for unit, screen in enumerate(("top", "bottom")):
        named = {
            register.name: words[register.address]
            for register in EXTERNAL
            if register.name.startswith(f"PDC{unit}_") and register.address in words
        }
        modes[screen] = display_mode(screen, named, choices)
    return modes


def _named(field: Field, value: int) -> str:
    return (field.enum or {}).get(value, f"code {value}")


def to_dict(mode: DisplayMode) -> dict[str, Any]:
    """Plain data for JSON. Frequencies in Hz, times in CPU cycles, spans as name, start, length."""
    data = {name: value for name, value in asdict(mode).items() if name != "choices"}
    beats = {name: None if beat is None else asdict(beat) for name, beat in _beats(mode).items()}
    derived = ("divider", "clocks", "lines", "pixel_clock", "line_rate", "refresh", "line_cycles", "frame_cycles")
    return {
        **data,
        **{name: getattr(mode, name) for name in (*derived, "gsp_mode", "stereo", "panel_lines")},
        "horizontal": [asdict(span) for span in mode.horizontal],
        "vertical": [asdict(span) for span in mode.vertical],
        "events": beats,
        "problems": [asdict(problem) for problem in mode.problems],
    }


def _beats(mode: DisplayMode) -> dict[str, Beat | None]:
    return {name: mode.beat(name) for name in ("latch", "h_irq", "v_irq")}


def _irq(low: int, high: int, fires: bool, masked: bool, what: str) -> str:
    state = "never" if not fires else "masked" if masked else "on"
    return f"{what} {low} to {high}, {state}"


def rows(mode: DisplayMode) -> Iterator[tuple[str, str]]:
    """(name, value) pairs of the main numbers."""
    form = EXTERNAL["PDC0_FORMAT"]
    (left, right), (first, end) = mode.h_picture, mode.v_picture
    yield "refresh", f"{mode.refresh:.4f} Hz"
    yield "line rate", f"{mode.line_rate:.2f} Hz"
    yield "pixel clock", f"{mode.pixel_clock / 1e6:.6f} MHz (1/{mode.divider} of the CPU's)"
    yield "total", f"{mode.clocks} clocks x {counted(mode.lines, 'line')}, {mode.frame_cycles:,} CPU cycles"
    yield "picture", f"clocks {left} to {right}, lines {first} to {end}; {right - left} x {end - first}"
    yield "start", f"clock {mode.hstart}, line {mode.vstart}"
    yield "sync", f"clocks {mode.hsync} to {mode.hbp}, lines {mode.vsync} to {mode.vbp}"
    yield "H interrupt", _irq(*mode.h_irq, mode.h_irq_fires, mode.h_irq_off, "clock")
    yield "V interrupt", _irq(*mode.v_irq, mode.v_irq_fires, mode.v_irq_off, "line")
    yield "settings taken", f"clock {mode.latch[0]}, line {mode.latch[1]}"
    yield "format", _named(form["color_format"], mode.color_format)
    doubling = ", scan doubling" if mode.scan_doubling else ""
    yield "lines from", _named(form["interlace"], mode.interlace) + doubling
    yield "stride", f"{counted(mode.stride, 'byte')}"
    yield "memory access", f"{_named(form['dma_size'], mode.dma_size)}, interval {mode.dma_interval}"
    yield "border colour", "#{:02x}{:02x}{:02x}".format(*mode.border)
    kind = {0: "flat", 1: "wide (800 lines)", 2: "stereo", None: "none that programs can set"}[mode.gsp_mode]
    if mode.screen == "top":
        yield "gsp's mode", kind
    yield "state", "on" if mode.enabled and mode.output else "on, output off" if mode.enabled else "off"


def _area(line: str, column: str) -> str:
    """The name of the area where a span of the line and a span of the frame meet."""
    for name in ("sync", "front porch", "back porch"):
        if name in (line, column):
            return name
    return "picture" if line == column == "picture" else "border"


def _cells(spans: Sequence[Span], total: int, size: int) -> list[str]:
    """The span names of `size` equal parts of a line or frame. A part with several spans gets the shortest of them, so
    that every span is named somewhere."""
    names = []
    for part in range(size):
        low, high = part * total // size, max((part + 1) * total // size, part * total // size + 1)
        inside = [span for span in spans if any(span.place(count, total) is not None for count in range(low, high))]
        names.append(min(inside, key=lambda span: span.length).name)
    return names


def drawing(mode: DisplayMode, columns: int = 72, lines: int = 22) -> list[str]:
    """The scan to scale in characters: clocks go right, lines down. ">" marks the line of the frame's interrupt, "v"
    the clock of the line's interrupt, "*" the place where new settings take effect."""
    across = _cells(mode.horizontal, mode.clocks, columns)
    down = _cells(mode.vertical, mode.lines, lines)
    cells = [[AREAS[_area(row, column)][0] for column in across] for row in down]

    def column_of(clock: int) -> int:
        return min(clock * columns // mode.clocks, columns - 1)

    def row_of(line: int) -> int:
        return min(line * lines // mode.lines, lines - 1)

    h, v = mode.latch
    if h < mode.clocks and v < mode.lines:
        cells[row_of(v)][column_of(h)] = "*"
    head = [" "] * columns
    if mode.h_irq_fires:
        head[column_of(mode.h_irq[0])] = "v"
    marked = row_of(mode.v_irq[0]) if mode.v_irq_fires else -1
    first = [y * mode.lines // lines for y in range(lines)]
    body = [f"{first[y]:>4} {'>' if y == marked else ' '}{''.join(row)}" for y, row in enumerate(cells)]
    return [f"      {''.join(head)}".rstrip(), *body] if mode.h_irq_fires else body


def legend(mode: DisplayMode) -> str:
    """What the characters of `drawing` mean."""
    parts = [f"{sign} {name}" for sign, name, _ in AREAS.values()]
    parts.append("* new settings")
    parts += ["> V interrupt"] * mode.v_irq_fires + ["v H interrupt"] * mode.h_irq_fires
    return "  ".join(parts)


def svg(modes: Mapping[str, DisplayMode], scale: float = 1.0) -> str:
    """A drawing of the screens' scans side by side; one clock and one line are a pixel at scale 1.

    Modes with 800 lines are drawn half as high, so that all have the same proportions.
    """
    margin, head = 60.0, 34.0
    parts: list[str] = []
    x = margin
    height = 0.0
    for name, mode in modes.items():
        squeeze = scale / max(1, mode.panel_lines // 400)
        parts += _svg_screen(name, mode, x, head, scale, squeeze)
        x += mode.clocks * scale + 2 * margin
        height = max(height, mode.lines * squeeze)
    for n, (_, title, color) in enumerate(AREAS.values()):
        at = margin + 120 * n
        parts.append(f'<rect x="{at:.1f}" y="{head + height + 26:.1f}" width="12" height="12" fill="{color}"/>')
        parts.append(_text(at + 18, head + height + 36, title))
    total = f'width="{x - margin + 20:.0f}" height="{head + height + 56:.0f}"'
    style = "text{font:11px sans-serif;fill:#222}.t{font-size:13px;font-weight:bold}"
    body = "\n".join(parts)
    return f'<svg xmlns="http://www.w3.org/2000/svg" {total}>\n<style>{style}</style>\n{body}\n</svg>\n'


def _text(x: float, y: float, text: str, more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}"{more}>{escape(text)}</text>'


def _pieces(span: Span, total: int) -> list[tuple[int, int]]:
    """(start, length) of a span, in two parts if it wraps around the end."""
    first = min(span.length, total - span.start)
    return [(span.start, first)] + ([(0, span.length - first)] if span.length > first else [])


def _svg_screen(name: str, mode: DisplayMode, x: float, y: float, sx: float, sy: float) -> Iterator[str]:
    yield _text(x, y - 16, f"{name}: {mode.clocks} x {mode.lines}, {mode.refresh:.2f} Hz", ' class="t"')
    for row in mode.vertical:
        for column in mode.horizontal:
            color = AREAS[_area(row.name, column.name)][2]
            for top, high in _pieces(row, mode.lines):
                for left, wide in _pieces(column, mode.clocks):
                    place = f'x="{x + left * sx:.2f}" y="{y + top * sy:.2f}"'
                    yield f'<rect {place} width="{wide * sx:.2f}" height="{high * sy:.2f}" fill="{color}"/>'
    right, bottom = x + mode.clocks * sx, y + mode.lines * sy
    line = 'stroke="#c1121f" stroke-dasharray="4 3"'
    if mode.v_irq_fires:
        at = y + mode.v_irq[0] * sy
        yield f'<line x1="{x:.2f}" y1="{at:.2f}" x2="{right:.2f}" y2="{at:.2f}" {line}/>'
        yield _text(right + 4, at + 4, f"V irq {mode.v_irq[0]}")
    if mode.h_irq_fires:
        at = x + mode.h_irq[0] * sx
        yield f'<line x1="{at:.2f}" y1="{y:.2f}" x2="{at:.2f}" y2="{bottom:.2f}" {line}/>'
        yield _text(at, bottom + 12, f"H irq {mode.h_irq[0]}")
    for at, text in _labels(mode.horizontal, sx, 26.0):
        yield _text(x + at, y - 3, text)
    for at, text in _labels(mode.vertical, sy, 11.0):
        yield _text(x - 46, y + at + 4, text)


def _labels(spans: Sequence[Span], scale: float, room: float) -> list[tuple[float, str]]:
    """(place, text) for the starts of spans; starts that are too close to each other share one label."""
    groups: list[list[int]] = []
    for start in sorted({span.start for span in spans}):
        if groups and (start - groups[-1][0]) * scale < room:
            groups[-1].append(start)
        else:
            groups.append([start])
    return [(group[0] * scale, "-".join(str(n) for n in dict.fromkeys((group[0], group[-1])))) for group in groups]
