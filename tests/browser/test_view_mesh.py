"""The mesh, overlays, findings and costs in a browser, with the real server and the samples of both consoles."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from browser import browsing
from browser.browsing import SAMPLES, Served, watching

import pocketgpu
from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.inspect.rules.marks import marks_of

pytestmark = pytest.mark.skipif(bool(browsing.missing()), reason=browsing.missing())
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")


@pytest.fixture(scope="module", params=list(SAMPLES))
def opened(
    browser: Any, samples: Callable[[str], Served], request: pytest.FixtureRequest
) -> Iterator[tuple[Inspection, Any]]:
    """What Python says, and the page."""
    with watching(browser) as watched:
        page = samples(request.param).open(watched, "f0/d4")
        page.locator("pg-events .row.chosen").wait_for()
        yield pocketgpu.debug(browsing.sample(request.param)), page


def test_the_mesh_is_the_moments(opened: tuple[Inspection, Any]) -> None:
    run, page = opened
    page.locator(".tab-title", has_text="Mesh").click()
    page.evaluate("location.hash = 'f0/d4/t3'")
    page.wait_for_function("() => document.querySelector('pg-mesh').mesh?.address === 'f0/d4'")
    vertices = run.seek("f0/d4").vertices
    assert vertices.fates is not None
    shown = page.evaluate("(({vertices, triangles, fates}) => [vertices.count, triangles.count, fates])"
                          "(document.querySelector('pg-mesh').mesh)")  # fmt: skip
    assert shown[:2] == [len(vertices), len(vertices.triangles)]
    counts: dict[str, int] = {}
    for fate in shown[2]:
        counts[fate["verdict"]] = counts.get(fate["verdict"], 0) + fate["count"]
    assert counts == vertices.fates.counts()
    row = page.locator("pg-mesh .row.chosen").inner_text().split()
    corners = [f"v{corner}" for corner in vertices.triangles[3].tolist()]
    assert row[:5] == ["t3", vertices.fates[3].verdict, *corners]
    page.wait_for_function("() => document.querySelector('pg-mesh').view.scene")


def test_overdraw_is_the_inspections(opened: tuple[Inspection, Any]) -> None:
    run, page = opened
    page.locator(".tab-title", has_text="Picture").click()
    page.evaluate("location.hash = 'f0/d4'")
    page.wait_for_function("() => document.querySelector('pg-picture').present?.info.kind === 'colour'")
    for over in ("draw", "frame"):
        page.get_by_label("Overdraw", exact=True).select_option(over)
        found = "document.querySelector('pg-picture').overlays.overdraw"
        page.wait_for_function(f"over => {found}?.over === over", arg=over)
        wanted = run.overdraw("f0/d4", "frame" if over == "frame" else "draw")
        shown = page.evaluate(f"() => Array.from({found}.counts)")
        assert shown == wanted.counts.ravel().tolist()
    page.get_by_label("Overdraw", exact=True).select_option("")


def test_findings_and_costs_are_beside_the_events(opened: tuple[Inspection, Any]) -> None:
    run, page = opened
    marks = [mark for mark in marks_of(run, 0) if mark.place.draw is not None]
    place = marks[0].place
    page.evaluate("at => location.hash = at", str(place))
    page.locator("pg-events .findings li").first.wait_for()
    mine = [mark for mark in marks if mark.place == place]
    items = page.locator("pg-events .findings li")
    assert items.count() == len(mine) and mine[0].finding.message in items.first.inner_text()
    page.get_by_label("Cost beside the events").select_option("fragments")
    page.locator("pg-events .row.chosen .cost").wait_for()
    costs = run.costs(0)
    title = page.locator("pg-events .row.chosen .cost").get_attribute("title")
    assert f"{costs.fragments[place.draw or 0]:,} fragments" in title
