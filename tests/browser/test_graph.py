"""The panels of the frame graph and the timeline, with the real server and the samples of both consoles."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import browsing
from browser.browsing import SAMPLES, Served, answer, watching

import pocketgpu
from pocketgpu.inspect.frames.frame_graph import frame_graph
from pocketgpu.inspect.frames.timeline import to_perfetto, tracks

pytestmark = pytest.mark.skipif(bool(browsing.missing()), reason=browsing.missing())
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")


@pytest.fixture(scope="module", params=list(SAMPLES))
def opened(
    browser: Any, samples: Callable[[str], Served], request: pytest.FixtureRequest
) -> Iterator[tuple[Any, Any]]:
    """An inspection of a sample, and the page about it with both panels in front."""
    with watching(browser) as watched:
        page = samples(request.param).open(watched, "f1/d3")
        page.get_by_role("tab", name="Frame graph").click()
        page.get_by_role("tab", name="Timeline").click()
        page.locator("pg-graph .node").first.wait_for()
        yield pocketgpu.debug(browsing.sample(request.param)), page


def at(page: Any, address: str) -> None:
    page.wait_for_function("wanted => location.hash === '#' + wanted", arg=address)


def select(page: Any, address: str) -> None:
    """Select an address, and wait until the timeline shows its frame."""
    page.evaluate("address => location.hash = address", address)
    frame = int(address[1:].partition("/")[0])
    page.wait_for_function(
        "([frame, address]) => { const panel = document.querySelector('pg-timeline');"
        " return panel.frame === frame && panel.latest.state === 'idle' && location.hash === '#' + address; }",
        arg=[frame, address],
    )


def test_the_graph_is_the_one_that_python_makes(opened: tuple[Any, Any]) -> None:
    run, page = opened
    wanted = frame_graph(run, 1)
    assert page.locator("pg-graph .node").count() == len(wanted.nodes)
    assert page.locator("pg-graph path.edge").count() == len(wanted.edges)
    assert page.locator("pg-graph path.edge.reads").count() == sum(one.kind == "reads" for one in wanted.edges)
    names = page.locator("pg-graph .node").evaluate_all("all => all.map(one => one.getAttribute('aria-label'))")
    for node, name in zip(wanted.nodes, names, strict=True):
        assert name.startswith(f"{node.title}: {node.address} · {node.unit}")
    # The selected draw is in one of them; a click selects another.
    assert page.locator("pg-graph .node.here").count() >= 1
    other = next(number for number, node in enumerate(wanted.nodes) if node.kind not in ("pass", "load"))
    page.locator("pg-graph .node").nth(other).focus()
    page.keyboard.press("Enter")
    at(page, str(wanted.nodes[other].address))
    select(page, "f1/d3")


def test_passes_have_small_pictures_of_what_they_drew(opened: tuple[Any, Any]) -> None:
    run, page = opened
    passes = [node for node in frame_graph(run, 1).nodes if node.kind == "pass"]
    page.wait_for_function(
        "count => document.querySelector('pg-graph').renderRoot.querySelectorAll('.pass image').length === count",
        arg=len(passes),
    )
    first = page.locator("pg-graph .pass image").first
    size = first.evaluate("one => createImageBitmap(one).then(({width, height}) => [width, height])")
    found = run.seek(passes[0].last).pictures["target"]
    step = -(-max(found.width, found.height) // 256)
    assert size == [-(-(found.width - step // 2) // step), -(-(found.height - step // 2) // step)]


def test_a_click_on_the_timeline_selects_the_event(opened: tuple[Any, Any]) -> None:
    run, page = opened
    select(page, "f1/d3")
    wanted = tracks(run, 1)
    assert page.locator("pg-timeline .names div").all_inner_texts() == ["passes", *wanted]
    number = run.event("f1/d5").number
    unit = [*wanted].index(run.unit(run.event("f1/d5")))
    x = page.evaluate("n => (n + 0.5 - document.querySelector('pg-timeline').scale.first) "
                      "/ document.querySelector('pg-timeline').scale.perPixel", number)  # fmt: skip
    page.locator("pg-timeline canvas").click(position={"x": x, "y": 26 * (unit + 1) + 13})
    at(page, "f1/d5")
    page.locator("pg-timeline .said", has_text=run.event("f1/d5").title).wait_for()
    page.locator("pg-timeline canvas").click(position={"x": x, "y": 13})
    at(page, str(run.event("f1/d5").address.at(draw=None, pass_=run.event("f1/d5").pass_)))


def test_keys_go_along_a_unit_and_to_the_next(opened: tuple[Any, Any]) -> None:
    run, page = opened
    select(page, "f1/d3")
    canvas = page.locator("pg-timeline canvas")
    canvas.focus()
    unit = run.unit(run.event("f1/d3"))
    numbers = tracks(run, 1)[unit]
    after = numbers[numbers.index(run.event("f1/d3").number) + 1]
    page.keyboard.press("ArrowRight")
    at(page, str(run.events(1)[after].address))
    page.keyboard.press("ArrowLeft")
    at(page, "f1/d3")
    page.keyboard.press("ArrowUp")
    page.wait_for_function("() => location.hash !== '#f1/d3'")
    above = [*tracks(run, 1)][[*tracks(run, 1)].index(unit) - 1]
    assert run.unit(run.event(page.evaluate("location.hash.slice(1)"))) == above
    before = page.evaluate("document.querySelector('pg-timeline').scale.perPixel")
    page.keyboard.press("+")
    assert page.evaluate("document.querySelector('pg-timeline').scale.perPixel") <= before
    page.keyboard.press("0")
    assert page.evaluate("document.querySelector('pg-timeline').scale.first") == 0
    select(page, "f1/d3")


def test_the_timeline_has_the_colours_of_the_kinds(opened: tuple[Any, Any]) -> None:
    run, page = opened
    select(page, "f1")
    number = run.event("f1/d5").number
    unit = [*tracks(run, 1)].index(run.unit(run.event("f1/d5")))
    shown = page.evaluate(
        """([event, row]) => {
            const panel = document.querySelector("pg-timeline"), canvas = panel.canvas;
            const {first, perPixel} = panel.scale, ratio = devicePixelRatio;
            const [x, y] = [(event + 0.4 - first) / perPixel * ratio, (26 * (row + 1) + 13) * ratio];
            return [[...canvas.getContext("2d").getImageData(x, y, 1, 1).data], panel.colours()("--draw")];
        }""",
        [number, unit],
    )
    assert shown[1] == f"rgb({', '.join(map(str, shown[0][:3]))})" and shown[0][3] == 255
    select(page, "f1/d3")


def test_the_file_for_perfetto_is_the_frame_s(opened: tuple[Any, Any], tmp_path: Path) -> None:
    run, page = opened
    with page.expect_download() as downloaded:
        page.get_by_role("button", name="Perfetto").click()
    path = tmp_path / downloaded.value.suggested_filename
    downloaded.value.save_as(path)
    assert path.name.endswith("f1.trace.json")
    assert json.loads(path.read_text()) == json.loads(json.dumps(to_perfetto(run, [1])))
    assert answer(page, "timeline", frame=1)["tracks"][0]["unit"] in tracks(run, 1)
