"""Fates of triangles, overdraw and costs: the tables on their own, and on both consoles' samples against the funnel."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import pocketgpu
from pocketgpu.errors import UsageError
from pocketgpu.inspect.model.event import Event
from pocketgpu.inspect.model.fates import VERDICTS, Fate, FateTable, together
from pocketgpu.inspect.model.funnel import Funnel
from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.inspect.model.overdraw import OVER, CoverCounts, cover_sizes
from pocketgpu.inspect.model.pictures import TargetPart
from pocketgpu.inspect.rules.marks import marks_of

DATA = Path(__file__).resolve().parents[4] / "src/pocketgpu/data"
SAMPLES = ("sample.ctf.xz", "sample_switch.mxcap.zip")


@pytest.fixture(scope="module", params=SAMPLES)
def run(request: pytest.FixtureRequest) -> Iterator[Inspection]:
    yield pocketgpu.debug(DATA / request.param)


@pytest.fixture(scope="module")
def funnels(run: Inspection) -> list[tuple[Event, Funnel]]:
    """What became of some draws of the first frame, with every fragment counted: that takes long."""
    return [(event, run.why(event.address, every=True)) for event in run.draws(0)[1:9]]


# -- tables -----------------------------------------------------------------------------------------------------------
def test_the_first_fate_counts() -> None:
    table = FateTable(4)
    table.give(np.array([True, True, False, False]), "culled", "{shows|show} a side", "CULL")
    table.give(np.array([1, 2]), "outside", "{lies|lie} left")
    found = table.result(np.array([7, 8, 9, -1]))
    assert [found[n].verdict for n in range(4)] == ["culled", "culled", "outside", "drawn"]
    assert found[0] == Fate("culled", "shows a side", "CULL") and str(found[0]) == "culled: shows a side (CULL)"
    assert found.counts() == {"drawn": 1, "culled": 2, "outside": 1}
    assert str(found) == "4 triangles: 1 drawn, 2 culled, 1 outside"


def test_lists_of_fates_are_joined() -> None:
    one, other = FateTable(2), FateTable(1)
    one.give(np.array([1]), "culled")
    none = FateTable(0).result(np.zeros(0, np.int64))
    both = together([one.result(np.array([0, 1])), none, other.result(np.array([5]))])
    assert [both[n].verdict for n in range(3)] == ["drawn", "culled", "drawn"]
    assert both.numbers.tolist() == [0, 1, 5] and len(both.kinds) == 2
    assert len(together([])) == 0


# -- cover ------------------------------------------------------------------------------------------------------------
def _random_shapes(count: int) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(5)
    corner = rng.integers(-5, 30, (count, 2))
    boxes = np.concatenate([corner, corner + rng.integers(-1, 20, (count, 2))], axis=1)
    a, b = rng.integers(-9, 9, (2, count, 3))
    return boxes, (a, b, rng.integers(-300, 900, (count, 3)))


def test_cover_is_what_a_loop_over_all_pixels_counts() -> None:
    width, height, scale, points = 24, 16, 4, ((1, 1), (3, 2))
    boxes, (a, b, c) = _random_shapes(60)
    wanted, sizes = np.zeros((height, width), np.int64), []
    for n, (left, top, right, bottom) in enumerate(boxes.tolist()):
        size = 0
        for y in range(top, bottom + 1):
            for x in range(left, right + 1):
                inside = any(
                    (a[n] * (x * scale + dx) + b[n] * (y * scale + dy) + c[n] >= 0).all() for dx, dy in points
                )
                size += inside
                if inside and 0 <= x < width and 0 <= y < height:
                    wanted[y, x] += 1
        sizes.append(size)
    counts = CoverCounts(width, height)
    counts.add(boxes, (a, b, c), points, scale)
    assert wanted.max() > 1 and np.array_equal(counts.counts, wanted) and not counts.left
    found, tested = cover_sizes(boxes, (a, b, c), points, scale)
    assert found.tolist() == sizes and tested > sum(sizes)


def test_too_many_pixels_are_left_out_and_said() -> None:
    boxes = np.array([[0, 0, 9, 9]] * 3)
    edges = (np.zeros((3, 1), np.int64),) * 3
    counts = CoverCounts(10, 10, most=250)
    counts.add(boxes, edges, ((0, 0),), 1)
    assert counts.left == 1 and counts.counts.sum() == 200
    sizes, tested = cover_sizes(boxes, edges, ((0, 0),), 1, most=250)
    assert sizes.tolist() == [100, 100, -1] and tested == 200


def test_a_box_larger_than_a_strip_is_counted_whole() -> None:
    counts = CoverCounts(3000, 700)
    counts.add(np.array([[-4, -4, 5000, 5000]]), (np.zeros((1, 1), np.int64),) * 3, ((0, 0),), 1)
    assert counts.counts.min() == counts.counts.max() == 1


# -- samples ----------------------------------------------------------------------------------------------------------
def test_fates_are_those_of_the_funnel(run: Inspection, funnels: list[tuple[Event, Funnel]]) -> None:
    judged = set()
    for event, every in funnels:
        vertices, why = run.seek(event.address).vertices, run.why(event.address)
        assert isinstance(why, Funnel)
        fates, stages = vertices.fates, {stage.name: stage for stage in why.stages}
        assert fates is not None and len(fates) == len(vertices.triangles)
        assert set(fates.counts()) <= set(VERDICTS)
        judged |= set(fates.counts())
        kept = sum(fates.counts().get(name, 0) for name in ("drawn", "clipped"))
        whole = fates.counts().get("drawn", 0)
        last = stages["triangles to draw" if "triangles to draw" in stages else "shapes"]
        assert last in every.stages, "counting every fragment changes nothing of the primitives"
        # Clipping may leave something without a shape, or make several.
        assert whole <= last.passed and (kept == last.passed or "clipped" in fates.counts())
    assert {"drawn", "clipped", "culled"} <= judged


def test_the_fate_of_a_triangle_is_what_why_says(run: Inspection) -> None:
    words = {"culled": ("culled",), "outside": ("clipped away", "clip volume"), "drawn": ("changed", "fragment")}
    seen = set()
    for event in run.draws(0)[:9]:
        fates = run.seek(event.address).vertices.fates
        assert fates is not None
        for verdict in set(fates.counts()) & set(words) - seen:
            triangle = next(n for n in range(len(fates)) if fates[n].verdict == verdict)
            because = run.why(event.address.at(primitive=int(fates.numbers[triangle]))).because
            assert any(word in because for word in words[verdict]), because
            seen.add(verdict)
    assert {"culled", "drawn"} <= seen


def test_the_window_puts_corners_where_fragments_are(run: Inspection) -> None:
    for event in run.draws(0)[:6]:
        moment = run.seek(event.address)
        vertices, fates = moment.vertices, moment.vertices.fates
        assert vertices.window is not None and fates is not None
        picture = next(one for one in moment.pictures.values() if isinstance(one, TargetPart))
        matrix = picture.from_viewport @ vertices.window
        drawn = [n for n in range(len(fates)) if fates[n].verdict == "drawn"]
        if not drawn or len(drawn) < len(fates) - fates.counts().get("culled", 0):
            continue
        corners = vertices.shaded["position"][vertices.triangles[drawn]].astype(np.float64)
        x, y = (corners @ row / corners[..., 3] for row in matrix)
        counts = run.overdraw(event.address).counts
        rows, columns = np.nonzero(counts)
        assert x.min() - 1 <= columns.min() and columns.max() <= x.max() + 1
        assert y.min() - 1 <= rows.min() and rows.max() <= y.max() + 1
        assert columns.max() - columns.min() >= x.max() - x.min() - 3
        assert rows.max() - rows.min() >= y.max() - y.min() - 3


def test_overdraw_counts_the_fragments_of_the_funnel(run: Inspection, funnels: list[tuple[Event, Funnel]]) -> None:
    for event, why in funnels:
        stages = {stage.name: stage for stage in why.stages}
        stage = stages.get("fragments") or stages.get("pixels that shapes cover")
        assert run.overdraw(event.address).fragments == (stage.came if stage else 0), str(event.address)


def test_overdraw_adds_up(run: Inspection) -> None:
    draws = run.draws(0)
    one = run.overdraw(draws[2].address)
    target = next(p for p in run.seek(draws[2].address).pictures.values() if p.kind == "colour")
    assert one.counts.shape == (target.height, target.width) and one.draws == 1
    total = sum(run.overdraw(draw.address).counts.astype(np.int64) for draw in draws[:3])
    for over in OVER[1:]:
        found = run.overdraw(draws[2].address, over)
        assert found.draws == 3 and np.array_equal(found.counts, total)
    # Places without a draw: the last one before.
    whole = run.overdraw(f"f0/p{draws[0].pass_}", "pass")
    assert run.overdraw(whole.address, "pass").fragments == whole.fragments
    assert whole.to_json()["fragments"] == int(whole.counts.sum())
    with pytest.raises(UsageError, match="nothing was drawn"):
        run.overdraw("f0/e0")


def test_costs_are_those_of_single_draws(run: Inspection) -> None:
    costs, draws = run.costs(0), run.draws(0)
    assert costs.events.tolist() == [one.number for one in draws] and not costs.left
    for n in range(0, len(draws), 3):
        assert costs.fragments[n] == run.overdraw(draws[n].address).fragments
    assert costs.vertices[0] == len(run.seek(draws[0].address).vertices)
    assert costs.to_json()["vertices"] == int(costs.vertices.sum())


def test_marks_are_findings_at_places_of_the_frame(run: Inspection) -> None:
    marks = marks_of(run, 0)
    assert marks
    for mark in marks:
        assert mark.place.frame == 0 and mark.to_json()["address"] == str(mark.place)
        if mark.place.draw is not None:
            run.event(mark.place)
    with pytest.raises(UsageError):
        marks_of(run, 99)
