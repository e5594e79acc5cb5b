"""What the debugger counts, as figures of Plotly, the same for both consoles.

    run = pocketgpu.debug("scene.pgc")
    plots.costs(run, 0)                  # what each draw of frame 0 costs
    plots.frames(run)                    # what each frame costs, by render target
    plots.overdraw(run, "f0/d17")        # how many fragments each pixel got, over the picture
    plots.textures(run, 0)               # a sheet of the textures that frame 0 uses
    plots.timeline(run, 0)               # which unit does what, in order
    plots.funnel(run, "f0/d17")          # what became of a draw
    plots.times(sweep)                   # how long the frames of captures take

Each needs the extra: pip install 'pocketgpu[notebook]'. `tables` has the same numbers.
"""

from __future__ import annotations

import importlib
from base64 import b64encode
from collections.abc import Iterable
from itertools import groupby
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.displayed import MOST_LETTERS, plain
from pocketgpu.errors import UsageError
from pocketgpu.inspect.model.costs import COLUMNS
from pocketgpu.inspect.model.overdraw import Over
from pocketgpu.notebook import tables
from pocketgpu.notebook.texture_uses import Sheet, uses_of
from pocketgpu.pictures import thinned, to_png
from pocketgpu.wording import counted

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

    from pocketgpu.inspect.model.address import Address
    from pocketgpu.inspect.model.inspection import Inspection
    from pocketgpu.inspect.model.pictures import MomentPicture
    from pocketgpu.sweeps.sweep import Sweep

MOST_BARS: Final = 5000
"""Bars of a figure; so many still move smoothly."""
MOST_TARGETS: Final = 10
"""Render targets with a colour of their own: as many as Plotly has colours."""
MOST_LINES: Final = 20
"""Captures with a line of their own."""
MOST_CELLS: Final = 400
"""Cells of a heat map from left to right, or from top to bottom."""
_OTHERS: Final = "other targets"
_ROW: Final = 150
"""Height of a row of bars."""
_LINE: Final = 56
"""Letters in a line of a title: so many fit on a small screen."""
_TITLE: Final = 17
"""Height of such a line."""
_FADE: Final = 0.8
"""How bright the picture below a heat map is."""
_HEAT: Final = ("#0d0887", "#6a00a8", "#b12a90", "#e16462", "#fca636", "#f0f921")
"""Few fragments to many: Plotly's scale "Plasma"."""
_COVER: Final = 0.65
"""Opacity of a heat map."""
_MOST_STEPS: Final = 12
"""Counts up to this have a colour each."""
_PASSED, _LOST = "#2a9d8f", "#e76f51"
Cells = NDArray[np.uint8]


def costs(run: Inspection, frame: int = 0) -> Figure:
    """What each draw of a frame costs: a row of bars for vertices, for primitives and for fragments. Colours are render
    targets.

    :raises UsageError: there is no such frame, or Plotly is not installed.
    """
    table = tables.costs(run, frame)
    figure = _plotly("subplots").make_subplots(rows=len(COLUMNS), shared_xaxes=True, vertical_spacing=0.04)
    names = _legend(row.target for row in table)
    for number, name in enumerate(dict.fromkeys(names.values())):
        rows = [row for row in table[:MOST_BARS] if names[row.target] == name]
        about = [[row.address, _safe(row.title)] for row in rows]
        for at, column in enumerate(COLUMNS):
            figure.add_bar(
                x=[row.draw for row in rows], y=[getattr(row, column) for row in rows], customdata=about, name=name,
                legendgroup=name, showlegend=not at, marker_color=_colour(number), row=at + 1, col=1,
                hovertemplate=f"%{{customdata[0]}}: %{{y:,}} {column}<br>%{{customdata[1]}}<extra></extra>",
            )  # fmt: skip
            figure.update_yaxes(title_text=column, row=at + 1, col=1)
    figure.update_xaxes(title_text="draw", row=len(COLUMNS), col=1)
    more = f"only the first {MOST_BARS} draws" if len(table) > MOST_BARS else ""
    return _laid_out(figure, table.title, tables.sentences(more, table.left), _ROW * len(COLUMNS))


def frames(run: Inspection, wanted: Iterable[int] | None = None, of: str = "fragments") -> Figure:
    """What frames cost: a bar for each, stacked by render target. Each is replayed once for this.

    wanted: their numbers; without them the first `tables.MOST_FRAMES`. of: "vertices", "primitives" or "fragments".

    :raises UsageError: there is no such frame, `of` is something else, or Plotly is not installed.
    """
    if of not in COLUMNS:
        raise UsageError(f"no costs are called {of!r}", hint=f"There are: {', '.join(COLUMNS)}.")
    go = _plotly("graph_objects")
    numbers, left = tables.chosen(run, wanted)
    sums: dict[str, dict[int, int]] = {}
    for frame in numbers:
        for row in tables.costs(run, frame):
            of_target = sums.setdefault(row.target, {})
            of_target[frame] = of_target.get(frame, 0) + int(getattr(row, of))
    names = _legend(sums)
    stacks: dict[str, dict[int, int]] = {}
    for target, of_frames in sums.items():
        stack = stacks.setdefault(names[target], dict.fromkeys(numbers, 0))
        for frame, number in of_frames.items():
            stack[frame] += number
    figure = go.Figure()
    for number, (name, stack) in enumerate(stacks.items()):
        figure.add_bar(
            x=[*stack], y=[*stack.values()], name=name, marker_color=_colour(number),
            hovertemplate=f"f%{{x}}: %{{y:,}} {of}<extra></extra>",
        )  # fmt: skip
    figure.update_layout(barmode="stack", xaxis_title="frame", yaxis_title=of)
    return _laid_out(figure, f"{of} of {counted(len(numbers), 'frame')}", left, 2 * _ROW)


def overdraw(run: Inspection, place: Address | str = "f0", over: Over = "frame") -> Figure:
    """How many fragments each pixel of a draw's target got, before any test, as a heat map over its picture. Large
    targets have a cell for several pixels, which shows the most of them. See `Inspection.overdraw`.

    :raises UsageError: there is no such place, nothing was drawn before it, or Plotly is not installed.
    """
    go = _plotly("graph_objects")
    found = run.overdraw(place, over)
    height, width = found.counts.shape
    cells, side = _cells(found.counts)
    most = max(int(cells.max(initial=0)), 1)
    figure = go.Figure(go.Heatmap(
        z=cells, x0=(side - 1) / 2, dx=side, y0=(side - 1) / 2, dy=side, zmin=0, zmax=most + 0.5,
        colorscale=_heat(most), opacity=_COVER,
        colorbar={"title": {"text": "fragments", "side": "right"}, "thickness": 12, **_ticks(most)},
        hovertemplate="%{x:.0f}, %{y:.0f}: %{z} fragments<extra></extra>",
    ))  # fmt: skip
    picture = _picture_of(run, found.address, (height, width))
    if picture is not None:
        figure.add_layout_image(
            source=_faded(picture, side), xref="x", yref="y", x=-0.5, y=-0.5, sizex=width, sizey=height,
            sizing="stretch", layer="below",
        )  # fmt: skip
    figure.update_xaxes(range=(-0.5, width - 0.5), constrain="domain", showgrid=False, zeroline=False)
    figure.update_yaxes(range=(height - 0.5, -0.5), scaleanchor="x", constrain="domain", showgrid=False, zeroline=False)
    notes = [f"the most of each {side}x{side} pixels" if side > 1 else ""]
    notes += [tables.most_text(most), tables.left_text(found.left)]
    return _laid_out(figure, f"{found}  {found.address}", tables.sentences(*notes), 3 * _ROW)


def textures(run: Inspection, frame: int = 0) -> Sheet:
    """A sheet of the textures that draws of a frame use, with size, format, memory and the first draw that uses it.
    `image` is the same as one Pillow image. It needs no Plotly.

    :raises UsageError: there is no such frame.
    """
    return uses_of(run, frame, pictures=True)


def timeline(run: Inspection, frame: int = 0) -> Figure:
    """Which unit does what in a frame: a row for each unit, a bar for consecutive events of it. Recordings hold no
    times, so the place of an event is its number.

    :raises UsageError: there is no such frame, or Plotly is not installed.
    """
    go = _plotly("graph_objects")
    table = tables.events(run, frame)
    runs = [list(some) for _, some in groupby(enumerate(table), lambda one: one[1].unit)]
    figure = go.Figure()
    for number, unit in enumerate(dict.fromkeys(row.unit for row in table)):
        bars = [one for one in runs[:MOST_BARS] if one[0][1].unit == unit]
        about = [[one[0][1].address, counted(len(one), "event"), _safe(one[0][1].title)] for one in bars]
        figure.add_bar(
            orientation="h", base=[one[0][0] for one in bars], x=[len(one) for one in bars], y=[unit] * len(bars),
            customdata=about, name=unit, marker_color=_colour(number), showlegend=False,
            hovertemplate="from %{customdata[0]}: %{customdata[1]}<br>%{customdata[2]}<extra></extra>",
        )  # fmt: skip
    figure.update_layout(barmode="overlay", xaxis_title="event", bargap=0.2)
    figure.update_yaxes(autorange="reversed")
    units = len({row.unit for row in table})
    left = f"only the first {MOST_BARS} of {len(runs)} bars" if len(runs) > MOST_BARS else ""
    return _laid_out(figure, table.title, left, _ROW + 30 * units)


def funnel(run: Inspection, place: Address | str) -> Figure:
    """What became of a draw, or of one of its triangles: for each stage the share that passed, with the numbers, and
    what stopped most of the others. See `Inspection.why`.

    :raises UsageError: there is no such draw, or Plotly is not installed.
    """
    go = _plotly("graph_objects")
    table = tables.funnel(run, place)
    shares = [min(row.passed / row.came, 1.0) if row.came else 0.0 for row in table]
    texts = [
        f"{row.passed:,} of {row.came:,}" if row.of == row.stage else f"{row.passed:,} from {row.came:,} {row.of}"
        for row in table
    ]
    stages = [row.stage for row in table]
    figure = go.Figure()
    figure.add_bar(
        orientation="h", x=shares, y=stages, text=texts, textposition="auto", name="passed", marker_color=_PASSED,
        hovertemplate="%{y}: %{text}<extra></extra>",
    )  # fmt: skip
    figure.add_bar(
        orientation="h", x=[row.stopped / row.came if row.came else 0 for row in table], y=stages,
        customdata=[[_safe(tables.sentences(row.stopped_by, row.register))] for row in table], name="stopped",
        marker_color=_LOST, hovertemplate="%{y}: %{customdata[0]}<extra></extra>",
    )  # fmt: skip
    figure.update_layout(barmode="stack")
    figure.update_xaxes(tickformat=".0%", range=(0, 1))
    figure.update_yaxes(autorange="reversed")
    return _laid_out(figure, table.title, table.left, _ROW + 30 * len(table))


def times(sweep: Sweep) -> Figure:
    """How long each frame of the captures of a sweep takes, in milliseconds: of those with the slowest frames. A sweep
    that does "bench" has the best time of several passes.

    :raises UsageError: Plotly is not installed.
    """
    go = _plotly("graph_objects")
    measured = [one for one in sweep.store.times.values() if one.frames]
    slowest = sorted(measured, key=lambda one: -max(one.frames))[:MOST_LINES]
    figure = go.Figure()
    for number, one in enumerate(slowest):
        figure.add_scatter(
            y=list(one.frames), mode="lines+markers", name=_safe(one.capture), line_color=_colour(number),
            hovertemplate="f%{x}: %{y:.3g} ms<extra></extra>",
        )  # fmt: skip
    figure.update_layout(xaxis_title="frame", yaxis_title="ms", showlegend=True)
    left = f"the slowest {MOST_LINES} of {counted(len(measured), 'capture')}" if len(measured) > MOST_LINES else ""
    return _laid_out(figure, f"milliseconds of the frames of {counted(len(slowest), 'capture')}", left, 2 * _ROW)


# -- parts ------------------------------------------------------------------------------------------------------------
def _plotly(name: str) -> Any:
    """A module of Plotly.

    :raises UsageError: it is not installed.
    """
    try:
        return importlib.import_module(f"plotly.{name}")
    except ImportError:
        raise UsageError("plotly is not installed", hint="Install it: pip install 'pocketgpu[notebook]'") from None


def _laid_out(figure: Any, title: str, left: str, height: int) -> Any:
    """The figure with a title, what was left out below it, and its legend below the axes, where it leaves the figure
    its width on a small screen."""
    lines = [_safe(line) for line in wrap(title, _LINE)] + [f"<i>{_safe(line)}</i>" for line in wrap(left, _LINE)]
    above = _TITLE * (len(lines) + 1)
    figure.update_layout(
        title={"text": "<br>".join(lines), "x": 0, "xref": "container", "y": 1, "yref": "container", "yanchor": "top",
               "pad": {"l": 10, "t": 10}, "font_size": 13},
        height=height + above, margin={"l": 10, "r": 10, "t": above, "b": 10},
        legend={"orientation": "h", "y": 0, "yref": "container", "yanchor": "bottom"},
    )  # fmt: skip
    figure.update_yaxes(automargin=True)
    figure.update_xaxes(automargin=True)
    return figure


def _safe(text: str) -> str:
    """A text of a capture for a figure, which would take tags in it as such."""
    from html import escape

    line = plain(text)
    return escape(line if len(line) <= MOST_LETTERS else line[: MOST_LETTERS - 3] + "...", quote=False)


def _legend(targets: Iterable[str]) -> dict[str, str]:
    """What the legend calls each target: its first part, or `_OTHERS` where there are too many."""
    distinct = list(dict.fromkeys(targets))
    names = {target: _safe(target.partition(",")[0]) or "no target" for target in distinct}
    kept = list(dict.fromkeys(names.values()))
    if len(kept) > MOST_TARGETS:
        kept = kept[: MOST_TARGETS - 1]
    return {target: name if name in kept else _OTHERS for target, name in names.items()}


def _colour(number: int) -> str:
    """A colour of Plotly's own series."""
    colours = _plotly("colors").qualitative.Plotly
    return str(colours[number % len(colours)])


def _cells(counts: NDArray[np.uint32]) -> tuple[Cells, int]:
    """The most of each square of pixels, so that no side has more than `MOST_CELLS`; and the side of a square."""
    side = -(-max(counts.shape) // MOST_CELLS)
    height, width = counts.shape
    padded = np.pad(np.minimum(counts, tables.MOST_COUNT).astype(np.uint8), ((0, -height % side), (0, -width % side)))
    down, across = (size // side for size in padded.shape)
    return padded.reshape(down, side, across, side).max(axis=(1, 3)), side


def _heat(most: int) -> list[tuple[float, str]]:
    """A scale of colours for 0, which is clear, to the most: a step for each count, where these are few."""
    first = 0.5 / (most + 0.5)
    clear = [(0.0, "rgba(0,0,0,0)"), (first, "rgba(0,0,0,0)")]
    if most > _MOST_STEPS:
        return [*clear, *((first + (1 - first) * n / (len(_HEAT) - 1), colour) for n, colour in enumerate(_HEAT))]
    sample = _plotly("colors").sample_colorscale
    colours = sample(list(_HEAT), [n / max(most - 1, 1) for n in range(most)])
    steps = [(first + (1 - first) * n / most, first + (1 - first) * (n + 1) / most) for n in range(most)]
    return [*clear, *((place, colour) for colour, step in zip(colours, steps, strict=True) for place in step)]


def _ticks(most: int) -> dict[str, Any]:
    """Where a scale of colours has numbers."""
    return {"tickvals": list(range(most + 1))} if most <= _MOST_STEPS else {"tickformat": "d"}


def _picture_of(run: Inspection, place: Address, size: tuple[int, int]) -> MomentPicture | None:
    """The colours of a draw's target."""
    pictures = run.seek(place).pictures.values()
    return next((one for one in pictures if one.kind == "colour" and (one.height, one.width) == size), None)


def _faded(picture: MomentPicture, side: int) -> str:
    """A picture in dark grey, as the address of an image: one pixel for each cell."""
    some = thinned(picture.pixels, side)[..., :3]
    grey = (some.mean(axis=2) * _FADE).astype(np.uint8)
    png = to_png(np.ascontiguousarray(np.repeat(grey[..., None], 3, axis=2)))
    return f"data:image/png;base64,{b64encode(png).decode()}"


__all__ = ["Sheet", "costs", "frames", "funnel", "overdraw", "textures", "timeline", "times"]


def __dir__() -> list[str]:
    return [*__all__]
