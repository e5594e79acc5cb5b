"""Tables of a run have the numbers of the debugger, on both consoles."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from PIL import Image

import pocketgpu
from pocketgpu.errors import UsageError
from pocketgpu.inspect.inspection import Inspection
from pocketgpu.inspect.model.resources import Texture, TextureFacts, TexturePart
from pocketgpu.notebook import plots, tables, texture_uses
from pocketgpu.sweeps.model.rows import Row, Times
from pocketgpu.sweeps.model.task import What
from pocketgpu.sweeps.sweep import Sweep

DATA = Path(pocketgpu.__file__).parent / "data"
SAMPLES = {"3DS": "sample.ctf.xz", "Switch": "sample_switch.mxcap.zip"}


@pytest.fixture(scope="module", params=list(SAMPLES))
def sample(request: pytest.FixtureRequest) -> Inspection:
    return pocketgpu.debug(DATA / SAMPLES[request.param])


def test_costs_are_those_of_the_draws(sample: Inspection) -> None:
    table, found, draws = tables.costs(sample, 1), sample.costs(1), sample.draws(1)
    assert len(table) == len(draws) > 10 and table.title == str(found) and table.left == ""
    for name in ("vertices", "primitives", "fragments"):
        assert table.columns[name] == getattr(found, name).tolist()
    for row, draw in zip(table, draws, strict=True):
        assert (row.address, row.draw, row.pass_, row.title) == (str(draw.address), draw.draw, draw.pass_, draw.title)
        assert draw.pass_ is not None and row.target == sample.passes(1)[draw.pass_].target != ""
    with pytest.raises(UsageError, match="no frame 99"):
        tables.costs(sample, 99)


def test_costs_of_frames_are_sums(sample: Inspection, monkeypatch: pytest.MonkeyPatch) -> None:
    table = tables.frames(sample, (1, 0))
    assert [row.frame for row in table] == [1, 0] and table.title == "2 frames" and table.left == ""
    for row in table:
        costs = tables.costs(sample, row.frame)
        assert (row.draws, row.passes) == (len(costs), len(sample.passes(row.frame)))
        for name in ("vertices", "primitives", "fragments"):
            assert getattr(row, name) == sum(costs.columns[name])
    monkeypatch.setattr(tables, "MOST_FRAMES", 2)
    table = tables.frames(sample)
    assert len(table) == 2 and table.left == f"only the first 2 of {sample.frame_count} frames"


def test_what_is_not_counted_is_said(sample: Inspection, monkeypatch: pytest.MonkeyPatch) -> None:
    found = sample.costs(0)
    monkeypatch.setattr(type(sample), "costs", lambda run, frame: type(found)(**{**vars(found), "left": 3}))
    assert tables.costs(sample, 0).left == "fragments of 3 shapes are not counted, as they are too many"
    assert "fragments of 6 shapes" in tables.frames(sample, (0, 1)).left


def test_overdraw_counts_pixels(sample: Inspection, monkeypatch: pytest.MonkeyPatch) -> None:
    found, table = sample.overdraw("f0", "frame"), tables.overdraw(sample, "f0")
    counted = Counter(found.counts.ravel().tolist())
    assert {row.fragments: row.pixels for row in table} == counted and len(table) > 2
    assert sum(row.share for row in table) == pytest.approx(1) and table.left == ""
    assert tables.overdraw(sample, "f0/d3", "draw").title == f"{sample.overdraw('f0/d3', 'draw')}  f0/d3"
    monkeypatch.setattr(tables, "MOST_COUNT", 2)
    table = tables.overdraw(sample, "f0")
    assert max(row.fragments for row in table) == 2 and table.left == "2 means so many or more"
    assert table[-1].pixels == sum(number for value, number in counted.items() if value >= 2)


def test_textures_are_those_that_draws_use(sample: Inspection) -> None:
    table = tables.textures(sample, 0)
    seen: dict[tuple[Any, ...], list[str]] = {}
    for draw in sample.draws(0):
        for texture in sample.seek(draw.address).textures.values():
            facts = texture.facts
            if facts.enabled:
                at = seen.setdefault((f"{facts.address:#x}", facts.format, facts.width, facts.height), [])
                at += [str(draw.address)] * (str(draw.address) not in at)
    assert {(row.memory, row.format, row.width, row.height): (row.draws, row.first) for row in table} == {
        key: (len(draws), draws[0]) for key, draws in seen.items()
    }  # fmt: skip
    sizes = [row.bytes or 0 for row in table]
    assert sizes == sorted(sizes, reverse=True) and table.title.endswith(f"{sum(sizes):,} bytes") and not table.left


def test_the_memory_of_a_texture_holds_its_texels(sample: Inspection) -> None:
    looked = 0
    for draw in sample.draws(0):
        for texture in sample.seek(draw.address).textures.values():
            addresses = [texture.addresses(part) for part in texture.parts]
            first = min(int(one.min()) for one in addresses)
            end = max(int(one.max()) for one in addresses) + texture.texel_bytes
            assert end - first <= texture.memory_size <= 2 * (end - first) + 4096
            looked += 1
    assert looked > 8


def test_events_are_in_order_with_their_units(sample: Inspection) -> None:
    table, events = tables.events(sample, 0), sample.events(0)
    assert table.columns["address"] == [str(one.address) for one in events]
    assert table.columns["unit"] == [sample.unit(one) for one in events] and len({*table.columns["unit"]}) > 3
    assert table.columns["writes"] == [sum(part.size for part in one.writes) for one in events]
    assert table.title == f"frame 0: {len(events)} events"


def test_a_funnel_has_the_stages_of_the_answer(sample: Inspection) -> None:
    answer, table = sample.why("f0/d3"), tables.funnel(sample, "f0/d3")
    assert [(row.stage, row.came, row.passed) for row in table] == [
        (one.name, one.came, one.passed) for one in answer.stages
    ]  # fmt: skip
    assert table.title == answer.conclusion[0]
    for row, stage in zip(table, answer.stages, strict=True):
        assert row.stopped == sum(one.count for one in stage.lost)
        assert bool(row.stopped_by) == bool(row.stopped) and row.of == (stage.source or stage.name)
    with pytest.raises(UsageError, match="no pixel and no draw"):
        tables.funnel(sample, "f0")


def test_a_funnel_names_the_register_that_stops_most() -> None:
    run = pocketgpu.debug(DATA / SAMPLES["Switch"])
    (row,) = [one for one in tables.funnel(run, "f0/d3") if "culled" in one.stopped_by]
    assert row.stopped_by.startswith("22 show") and row.register.startswith("OGL_SET_CULL_FACE")
    assert row.came - row.passed == row.stopped == 23


@dataclass
class Swept:
    """A sweep that is over, or nearly: `test_notebooks.py` has one that runs."""

    rows: list[Row]
    times: dict[str, Times]
    what = What("bench")
    store = property(lambda self: self)

    def __len__(self) -> int:
        return 4


def times(capture: str, *frames: float) -> Times:
    return Times(capture, "key", 1.5, frames, "worker", 1, True, 0.0)


def test_captures_of_a_sweep_are_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = {"draws": 7}
    rows = [
        Row("a.pgc", "1", "bench", "done", "3DS", 2, counts=counts, findings=({"rule": "x", "severity": "doubt"},)),
        Row("b.pgc", "2", "bench", "done", "Switch", 3),
        Row("c.pgc", "3", "bench", "refused", message="it is cut short"),
    ]  # fmt: skip
    measured = {"a.pgc": times("a.pgc", 1.5, 2.5), "b.pgc": times("b.pgc", 9, 8, 7), "c.pgc": times("c.pgc")}
    sweep = cast(Sweep, Swept(rows, measured))
    table = tables.captures(sweep)
    assert [tuple(vars(row).values()) for row in table] == [
        ("a.pgc", "done", "3DS", 2, 4.0, 7, 1, ""), ("b.pgc", "done", "Switch", 3, 24, None, 0, ""),
        ("c.pgc", "refused", "", 0, None, None, 0, "it is cut short"),
    ]  # fmt: skip
    assert table.title == "bench: 3 captures" and table.left == "1 capture not done yet"
    lines = {line.name: list(line.y) for line in plots.times(sweep).data}
    assert lines == {"b.pgc": [9, 8, 7], "a.pgc": [1.5, 2.5]}, "the slowest first, without what was not measured"
    monkeypatch.setattr(plots, "MOST_LINES", 1)
    figure = plots.times(sweep)
    assert len(figure.data) == 1 and "the slowest 1 of 2 captures" in figure.layout.title.text


# -- textures that no sample has ---------------------------------------------------------------------------------------
class Made(Texture):
    """A texture of one level."""

    def __init__(self, facts: TextureFacts, texels: np.ndarray, fault: bool = False) -> None:
        self._facts, self._texels, self._fault = facts, texels, fault

    facts = property(lambda self: self._facts)
    image = property(lambda self: Image.fromarray(self._texels))
    texel_bytes = 4

    def _read(self) -> np.ndarray:
        if self._fault:
            raise UsageError("its header is damaged")
        return self._texels

    @property
    def memory_size(self) -> int:
        return self._read().nbytes

    @property
    def parts(self) -> tuple[TexturePart, ...]:
        height, width = self._read().shape[:2]
        return (TexturePart("made", width, height), TexturePart("made.level1", width // 2, height // 2, 1))

    def pictures(self) -> dict[str, np.ndarray]:
        return {part.name: self.pixels(part) for part in self.parts}

    def pixels(self, part: TexturePart) -> np.ndarray:
        return self._read()[:: 1 << part.level, :: 1 << part.level]

    def addresses(self, part: TexturePart) -> np.ndarray:
        return np.zeros((part.height, part.width), np.int64)


@dataclass
class Drawn:
    """A run with textures of a test: one tuple of them for each draw."""

    bound: list[tuple[Made, ...] | None]

    def draws(self, frame: int) -> list[Any]:
        return [Event(number) for number in range(len(self.bound))]

    def seek(self, place: Any) -> Any:
        return Bound(self.bound[int(str(place).removeprefix("f0/d"))])


@dataclass
class Event:
    number: int

    @property
    def address(self) -> str:
        return f"f0/d{self.number}"


@dataclass
class Bound:
    found: tuple[Made, ...] | None

    @property
    def textures(self) -> dict[int, Made]:
        if self.found is None:
            raise UsageError("they cannot be read")
        return dict(enumerate(self.found))


def made(address: int, width: int = 8, height: int = 4, **more: Any) -> Made:
    texels = np.full((height, width, 4), 255, np.uint8)
    facts = TextureFacts("t", "unit 0", True, "2D", "RGBA8", width, height, address=address, **more)
    return Made(facts, texels)


def uses(*bound: tuple[Made, ...] | None) -> texture_uses.Sheet:
    return texture_uses.uses_of(cast(Inspection, Drawn(list(bound))), 0, pictures=True)


def test_a_texture_counts_once_for_each_draw() -> None:
    sheet = uses((made(1), made(1), made(2)), (made(1),), None, (made(1, 16),))
    assert [(one.facts.address, one.facts.width, one.draws) for one in sheet.uses] == [(1, 8, 2), (2, 8, 1), (1, 16, 1)]
    assert sheet.left == "textures of 1 draw cannot be read" and sheet.left in sheet._repr_html_()


def test_a_texture_that_cannot_be_read_has_no_picture() -> None:
    broken = Made(TextureFacts("t", "texture 7", fault="no header <b>"), np.zeros((1, 1, 4), np.uint8), fault=True)
    sheet = uses((broken, made(1)))
    assert [(one.size, one.picture is None) for one in sheet.uses] == [(None, True), (128, False)]
    html = sheet._repr_html_()
    assert "no header &lt;b&gt;" in html and html.count("<img ") == 1 and sheet.image.size == (280, 174)


def test_sheets_have_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texture_uses, "MOST_TILES", 3)
    sheet = uses(tuple(made(n, 8 + n) for n in range(5)))
    assert [one.facts.width for one in sheet.shown] == [12, 11, 10]
    assert "2 of 5 textures are left out here" in sheet._repr_html_() and sheet._repr_html_().count("<img ") == 3
    monkeypatch.setattr(texture_uses, "MOST_DRAWS", 2)
    sheet = uses(*[(made(n),) for n in range(4)])
    assert len(sheet.uses) == 2 and sheet.left == "only the first 2 of 4 draws"
    monkeypatch.setattr(texture_uses, "MOST_USES", 3)
    sheet = uses((made(1), made(2)), (made(3), made(4), made(1)))
    assert [(one.facts.address, one.draws) for one in sheet.uses] == [(1, 2), (2, 1), (3, 1)]
    assert sheet.left == "only the first 3 textures; 1 use of others"
    assert uses().image.size == (144, 174) and str(uses()) == "frame 0: 0 textures, 0 bytes"


def test_tiles_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    red = np.zeros((1000, 3, 4), np.uint8)
    red[..., 0], red[..., 3] = 255, 255
    small = texture_uses.tile(red)
    assert small.shape == (125, 1, 3) and (small == [255, 0, 0]).all()
    large = texture_uses.tile(red[:2, :2])
    assert large.shape == (128, 128, 3)
    red[..., 3] = 0
    assert {int(one) for one in np.unique(texture_uses.tile(red[:4, :3]))} == {102, 153}
    monkeypatch.setattr(texture_uses, "MOST_TEXELS", 10)
    (use,) = uses((made(1),)).uses
    assert use.picture is not None and use.picture.shape == (64, 128, 3)  # its second level, 4 x 2
    monkeypatch.setattr(texture_uses, "MOST_TEXELS", 1)
    assert uses((made(1),)).uses[0].picture is None


def test_the_sheet_of_a_sample_shows_its_texels(sample: Inspection) -> None:
    sheet = plots.textures(sample, 0)
    assert len(sheet.uses) == len(tables.textures(sample, 0)) and sheet._repr_png_().startswith(b"\x89PNG")
    for use in sheet.uses:
        texture = next(one for one in sample.seek(use.first).textures.values() if one.facts == use.facts)
        assert use.picture is not None
        assert np.array_equal(use.picture, texture_uses.tile(texture.pixels(texture.parts[0])))
        assert use.size == texture.memory_size and max(use.picture.shape) <= texture_uses.TILE
