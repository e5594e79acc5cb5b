"""Figures have the numbers of the tables, whatever a capture says in its texts."""

from __future__ import annotations

import base64
import importlib
import subprocess
import sys
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import pocketgpu
from pocketgpu.errors import UsageError
from pocketgpu.inspect.inspection import Inspection
from pocketgpu.notebook import plots, tables

DATA = Path(pocketgpu.__file__).parent / "data"
SAMPLES = {"3DS": "sample.ctf.xz", "Switch": "sample_switch.mxcap.zip"}
SIZES = {"3DS": (240, 320), "Switch": (720, 1280)}
BAD = "<a href='https://example.com'>a link</a>\x1b"


@pytest.fixture(scope="module", params=list(SAMPLES))
def sample(request: pytest.FixtureRequest) -> Inspection:
    return pocketgpu.debug(DATA / SAMPLES[request.param])


def texts(value: Any) -> list[str]:
    """All texts of a figure."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [one for inner in value.values() for one in texts(inner)]
    if isinstance(value, list | tuple | np.ndarray) and not (isinstance(value, np.ndarray) and value.dtype != object):
        return [one for inner in value for one in texts(inner)]
    return []


def test_costs_have_a_row_of_bars_for_each_column(sample: Inspection) -> None:
    figure, table = plots.costs(sample, 0), tables.costs(sample, 0)
    targets = list(dict.fromkeys(row.target for row in table))
    assert len(figure.data) == 3 * len(targets) == 6
    for at, column in enumerate(("vertices", "primitives", "fragments")):
        bars = {x: y for one in figure.data[at::3] for x, y in zip(one.x, one.y, strict=True)}
        assert bars == {row.draw: getattr(row, column) for row in table}
    assert {one.legendgroup for one in figure.data} == {target.split(",")[0] for target in targets}
    assert [one.showlegend for one in figure.data[:3]] == [True, False, False]
    assert list(figure.data[0].customdata[0]) == [table[0].address, table[0].title]
    assert figure.layout.title.text.replace("<br>", " ") == table.title


def test_frames_are_stacked_by_target(sample: Inspection) -> None:
    figure = plots.frames(sample, range(2), of="primitives")
    assert figure.layout.barmode == "stack" and figure.layout.yaxis.title.text == "primitives"
    sums = np.sum([one.y for one in figure.data], axis=0).tolist()
    assert sums == [int(sample.costs(frame).primitives.sum()) for frame in range(2)]
    assert len({one.name for one in figure.data}) == len(figure.data) >= 2
    with pytest.raises(UsageError, match=r"'time'.* vertices, primitives, fragments"):
        plots.frames(sample, of="time")


def test_a_heat_map_has_the_most_of_each_cell(sample: Inspection) -> None:
    figure, found = plots.overdraw(sample, "f0"), sample.overdraw("f0", "frame")
    height, width = found.counts.shape
    assert (height, width) == SIZES[sample.capture.console]
    (heat,) = figure.data
    side = round(heat.dx)
    assert side == (4 if width == 1280 else 1) and heat.z.shape == (height // side, width // side)
    for y in range(0, height // side, 7):
        for x in range(0, width // side, 11):
            assert heat.z[y, x] == found.counts[y * side : (y + 1) * side, x * side : (x + 1) * side].max()
    assert heat.x0 == heat.y0 == (side - 1) / 2 and heat.zmax == found.counts.max() + 0.5
    assert ("most of each" in figure.layout.title.text) == (side > 1)
    assert list(figure.layout.yaxis.range) == [height - 0.5, -0.5], "the first row is at the top"
    (picture,) = figure.layout.images
    assert (picture.sizex, picture.sizey, picture.layer) == (width, height, "below")
    shown = np.asarray(Image.open(BytesIO(base64.b64decode(picture.source.partition(",")[2]))))
    colours = next(one for one in sample.seek(found.address).pictures.values() if one.kind == "colour")
    expected = colours.pixels[side // 2 :: side, side // 2 :: side, :3].mean(axis=2)
    assert np.corrcoef(shown[..., 0].ravel(), expected.ravel())[0, 1] > 0.999


def test_counts_have_a_colour_each_where_they_are_few(sample: Inspection) -> None:
    (heat,) = plots.overdraw(sample, "f0").data
    most = int(heat.z.max())
    assert list(heat.colorbar.tickvals) == list(range(most + 1))
    places = [place for place, _ in heat.colorscale]
    assert places == sorted(places) and places[0] == 0 and places[-1] == pytest.approx(1)
    assert len(heat.colorscale) == 2 + 2 * most and heat.colorscale[0][1] == heat.colorscale[1][1] == "rgba(0,0,0,0)"
    for count in range(1, most + 1):  # both ends of a step have its colour
        low, high = heat.colorscale[2 * count : 2 * count + 2]
        assert low[1] == high[1] and low[0] < count / (most + 0.5) < high[0]


def overdrawn(monkeypatch: pytest.MonkeyPatch, run: Inspection, counts: np.ndarray) -> Any:
    found = run.overdraw("f0", "draw")
    made = type(found)(found.address, "draw", 1, counts.astype(np.uint32))
    monkeypatch.setattr(type(run), "overdraw", lambda run, place, over: made)
    return plots.overdraw(run, "f0")


@pytest.mark.parametrize(
    ("shape", "cells", "side"),
    [((1, 1), (1, 1), 1), ((5, 1000), (2, 334), 3), ((801, 2), (267, 1), 3), ((4096, 4096), (373, 373), 11)],
)
def test_targets_of_any_size_fit(
    sample: Inspection, monkeypatch: pytest.MonkeyPatch, shape: tuple[int, int], cells: tuple[int, int], side: int
) -> None:
    counts = np.zeros(shape, int)
    counts[-1, -1] = 1000
    figure = overdrawn(monkeypatch, sample, counts)
    (heat,) = figure.data
    assert heat.z.shape == cells and round(heat.dx) == side and max(cells) <= plots.MOST_CELLS
    assert heat.z[-1, -1] == 255 and "255 means so many or more" in figure.layout.title.text
    assert heat.colorbar.tickvals is None and not figure.layout.images, "no picture has this size"


def test_a_target_without_fragments_is_clear(sample: Inspection, monkeypatch: pytest.MonkeyPatch) -> None:
    (heat,) = overdrawn(monkeypatch, sample, np.zeros((4, 4), int)).data
    assert (heat.z == 0).all() and heat.zmax == 1.5


def test_a_timeline_has_each_event_once(sample: Inspection) -> None:
    figure, table = plots.timeline(sample, 0), tables.events(sample, 0)
    covered = {}
    for bars in figure.data:
        for base, width, unit in zip(bars.base, bars.x, bars.y, strict=True):
            covered |= {number: unit for number in range(base, base + width)}
    assert covered == dict(enumerate(table.columns["unit"]))
    assert sum(len(bars.base) for bars in figure.data) < len(table), "neighbours of one unit share a bar"


def test_a_funnel_shows_what_passed_and_what_was_stopped(sample: Inspection) -> None:
    figure, table = plots.funnel(sample, "f0/d3"), tables.funnel(sample, "f0/d3")
    passed, stopped = figure.data
    assert list(passed.y) == [row.stage for row in table]
    for row, share, lost, text in zip(table, passed.x, stopped.x, passed.text, strict=True):
        assert share == min(row.passed / row.came, 1) and lost == row.stopped / row.came
        assert f"{row.passed:,}" in text and f"{row.came:,}" in text and (row.of in text) == (row.of != row.stage)


def test_figures_have_limits(sample: Inspection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plots, "MOST_BARS", 3)
    figure = plots.costs(sample, 0)
    assert sum(len(one.x) for one in figure.data) == 9 and "only the first 3 draws" in figure.layout.title.text
    figure = plots.timeline(sample, 0)
    assert sum(len(one.x) for one in figure.data) == 3 and "only the first 3 of" in figure.layout.title.text
    monkeypatch.setattr(plots, "MOST_TARGETS", 2)
    monkeypatch.setattr(tables, "MOST_FRAMES", 2)
    table = [tables.DrawCost(f"f0/d{n}", n, 0, f"target {n}", "", 1, 1, 10**n) for n in range(4)]
    monkeypatch.setattr(tables, "costs", lambda run, frame: tables.Table(tables.DrawCost, table, ""))
    figure = plots.frames(sample)
    stacks = {one.name: list(one.y) for one in figure.data}
    assert stacks == {"target 0": [1, 1], "other targets": [1110, 1110]}
    assert f"only the first 2 of {sample.frame_count} frames" in figure.layout.title.text.replace("<br>", " ")


def test_texts_of_a_capture_are_no_tags(sample: Inspection, monkeypatch: pytest.MonkeyPatch) -> None:
    for event in (events := sample.events(0)):
        monkeypatch.setattr(event, "title", BAD)
    monkeypatch.setattr(type(sample), "unit", lambda run, event: "unit")
    for one in sample.passes(0):
        monkeypatch.setattr(one, "target", BAD)
    for figure in (plots.costs(sample, 0), plots.frames(sample, (0,)), plots.timeline(sample, 0),
                   plots.funnel(sample, str(events[-2].address) if events[-2].draw else "f0/d3")):  # fmt: skip
        found = [one for one in texts(figure.to_dict()) if "a link" in one or "href" in one]
        assert found and all("<a" not in one and "\x1b" not in one for one in found)


def test_without_plotly_the_error_says_what_to_install(sample: Inspection, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    for draw in (plots.costs, plots.timeline, plots.overdraw, plots.frames):
        with pytest.raises(UsageError, match=r"plotly is not installed.*pocketgpu\[notebook\]"):
            draw(sample)


def test_tables_load_neither_plotly_nor_a_widget() -> None:
    code = (
        "import sys, pocketgpu.notebook.tables, pocketgpu.notebook.plots\n"
        "print(*sorted({'plotly', 'anywidget', 'pandas', 'IPython', 'starlette', 'dask'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"
