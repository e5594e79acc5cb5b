"""The mesh, overlays of pictures, and marks and costs of events in a browser, with made-up answers."""

from __future__ import annotations

from typing import Any

import pytest
from browser import browsing
from browser.browsing import Watched
from browser.fake_server import HEIGHT, MARKUP, WIDTH, Fake

pytestmark = pytest.mark.skipif(bool(browsing.missing()), reason=browsing.missing())
SHOWN = "() => { const mesh = document.querySelector('pg-mesh'); return mesh?.mesh && mesh.view?.scene; }"
PIXELS = """() => {
    const view = document.querySelector("pg-mesh").view;
    view.scene.render();
    const gl = view.scene.canvas.getContext("webgl2");
    const {drawingBufferWidth: width, drawingBufferHeight: height} = gl;
    const bytes = new Uint8Array(width * height * 4);
    gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, bytes);
    const found = {green: 0, blue: 0, pink: 0, other: 0};
    for (let at = 0; at < bytes.length; at += 4) {
        const [r, g, b] = bytes.subarray(at, at + 3);
        if (g > r + 30 && g > b + 15) found.green += 1;
        else if (r > 180 && g < 120 && b > 100) found.pink += 1;
        else if (b > r + 40 && b > g + 15) found.blue += 1;
        else if (r + g + b > 200) found.other += 1;
    }
    return found;
}"""
"""How many pixels of the 3D view have the colours of verdicts, and of what is selected."""
SOURCE_PIXEL = """([x, y]) => Array.from(document.querySelector("pg-picture").view.renderRoot.querySelector(".source")
    .getContext("2d").getImageData(x, y, 1, 1).data)"""


def wait_at(page: Any, address: str) -> None:
    page.wait_for_function("wanted => decodeURIComponent(location.hash.slice(1)) === wanted", arg=address)


def open_mesh(watched: Watched, fake: Fake, at: str) -> Any:
    page = watched.open(fake.url + "#" + at)
    page.locator(".tab-title", has_text="Mesh").click()
    page.wait_for_function(SHOWN)
    return page


def radio(page: Any, name: str) -> Any:
    return page.locator("pg-mesh").get_by_role("radio", name=name, exact=True)


def settled(page: Any, wanted: str) -> Any:
    """Wait until the 3D view has what is wanted, an expression of `found`; returns what it has."""
    page.wait_for_function(f"() => {{ const found = ({PIXELS})(); return {wanted}; }}")
    return page.evaluate(PIXELS)


# -- the mesh ---------------------------------------------------------------------------------------------------------
def test_three_comes_only_when_the_mesh_is_shown(watched: Watched, fake: Fake) -> None:
    fetched: list[str] = []
    watched.page.on("request", lambda request: fetched.append(request.url))
    page = watched.open(fake.url + "#f0/d1")
    page.locator("pg-why .because").wait_for()
    assert not any("/scene-" in url for url in fetched) and not any("/api/mesh" in path for path in fake.asked)
    page.locator(".tab-title", has_text="Mesh").click()
    page.wait_for_function(SHOWN)
    assert any("/scene-" in url for url in fetched)


def test_triangles_are_in_space_by_verdict(watched: Watched, fake: Fake) -> None:
    page = open_mesh(watched, fake, "f0/d1")
    both = settled(page, "found.green > 500 && found.blue > 500")
    page.locator("pg-mesh .verdict", has_text="culled").click()
    alone = settled(page, f"found.blue < {both['blue'] // 3}")  # the edge of the view is blue, too
    assert alone["green"] > 0.8 * both["green"]
    page.locator("pg-mesh .verdict", has_text="culled").click()
    settled(page, f"found.blue > {both['blue'] // 2}")
    for name in ("Input", "Clip", "Output"):
        radio(page, name).click()
        settled(page, "found.green > 100 && found.blue > 100")
    radio(page, "plain").click()
    settled(page, "found.green < 200")
    page.get_by_label("solid").uncheck()
    page.get_by_label("wire").uncheck()
    page.get_by_label("points").uncheck()
    settled(page, "found.green + found.blue < 6000")


def test_a_row_of_the_table_is_the_selection(watched: Watched, fake: Fake) -> None:
    page = open_mesh(watched, fake, "f0/d1")
    rows = page.locator("pg-mesh .scroll .row")
    assert rows.count() == 4
    assert rows.nth(2).locator("span").all_inner_texts()[:5] == ["v2", "9", "5", "5", "3"]
    rows.nth(2).click()
    wait_at(page, "f0/d1/v2")
    blue = settled(page, "found.pink > 20")["blue"]
    assert page.locator("pg-mesh .row.chosen").inner_text().startswith("v2")
    page.keyboard.press("ArrowDown")
    wait_at(page, "f0/d1/v3")
    radio(page, "triangles").click()
    rows.nth(1).click()
    wait_at(page, "f0/d1/t1")
    assert f"it turns {MARKUP} (CULL)" in rows.nth(1).inner_text()
    settled(page, f"found.blue < {blue // 2}")
    radio(page, "vertices").click()
    assert page.locator("pg-mesh .row.corner").count() == 3
    assert "5 vertices left out" in page.locator("pg-mesh .facts").inner_text()


def test_a_click_in_space_selects(watched: Watched, fake: Fake) -> None:
    page = open_mesh(watched, fake, "f0/d1")
    settled(page, "found.green > 500")
    view = page.locator("pg-mesh-view")

    def point(row: int) -> list[float]:
        found: list[float] = page.evaluate("row => document.querySelector('pg-mesh').view.scene.pointOf(row)", row)
        return found

    x, y = point(1)
    view.click(position={"x": x + 2, "y": y})
    wait_at(page, "f0/d1/v1")
    (x0, y0), (x1, y1), (x2, y2) = (point(row) for row in range(3))
    view.click(position={"x": (x0 + x1 + x2) / 3, "y": (y0 + y1 + y2) / 3})
    wait_at(page, "f0/d1/t0")
    page.locator("pg-mesh .row.chosen", has_text="t0").wait_for()
    page.go_back()
    wait_at(page, "f0/d1/v1")
    page.locator("pg-mesh .row.chosen", has_text="v1").wait_for()


def test_the_camera_turns_moves_and_zooms(watched: Watched, fake: Fake) -> None:
    page = open_mesh(watched, fake, "f0/d1")
    settled(page, "found.green > 500")
    orbit = """() => {
        const {yaw, target, distance} = document.querySelector("pg-mesh").view.scene.orbit;
        return [yaw, target[0], distance];
    }"""
    view = page.locator("pg-mesh-view")
    start = page.evaluate(orbit)
    view.focus()
    page.keyboard.press("ArrowRight")
    turned = page.evaluate(orbit)
    assert turned[0] > start[0] and turned[1:] == start[1:]
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("+")
    moved = page.evaluate(orbit)
    assert moved[1] != start[1] and moved[2] < start[2]
    page.keyboard.press("1")
    assert page.evaluate(orbit) == start
    box = view.bounding_box()
    page.mouse.move(box["x"] + 50, box["y"] + 50)
    page.mouse.down()
    page.mouse.move(box["x"] + 150, box["y"] + 50, steps=4)
    page.mouse.up()
    assert page.evaluate(orbit)[0] < start[0]
    page.mouse.wheel(0, -100)
    page.wait_for_function(f"before => ({orbit})()[2] < before", arg=start[2])
    assert page.evaluate("location.hash") == "#f0/d1", "a drag selects nothing"


def test_the_mesh_follows_the_selection(watched: Watched, fake: Fake) -> None:
    page = open_mesh(watched, fake, "f0/d1")
    page.evaluate("location.hash = 'f0'")
    page.locator("pg-mesh .note", has_text="Only draws").wait_for()
    assert page.locator("pg-mesh .row").count() == 0
    page.evaluate("location.hash = 'f0/d2/t1'")
    page.locator("pg-mesh .row.chosen", has_text="t1").wait_for()
    assert page.evaluate("document.querySelector('pg-mesh').mesh.address") == "f0/d2"
    # The primitive of a pixel is marked, and its pixel stays selected.
    page.evaluate("location.hash = 'f0/d2/v0'")
    page.locator("pg-mesh .row.chosen", has_text="v0").wait_for()
    blue = settled(page, "found.pink > 20")["blue"]
    page.evaluate("location.hash = 'f0/d2/px5,6'")
    page.locator("pg-mesh .row.chosen", has_text="t1").wait_for()
    settled(page, f"found.blue < {blue // 2}")
    wait_at(page, "f0/d2/px5,6")


def test_without_webgl_the_table_stays(browser: Any, fake: Fake) -> None:
    watched = Watched(browser)
    watched.before_load(
        "const get = HTMLCanvasElement.prototype.getContext;"
        "HTMLCanvasElement.prototype.getContext = function (kind, ...more) {"
        " return kind.startsWith('webgl') ? null : get.call(this, kind, ...more); };"
    )
    page = watched.open(fake.url + "#f0/d1")
    page.locator(".tab-title", has_text="Mesh").click()
    page.locator("pg-mesh-view .none", has_text="no 3D picture").wait_for()
    page.locator("pg-mesh .scroll .row").nth(2).click()
    wait_at(page, "f0/d1/v2")
    watched.close()


# -- overlays ---------------------------------------------------------------------------------------------------------
def test_overdraw_colours_pixels_with_a_legend(watched: Watched, fake: Fake) -> None:
    page = watched.open(fake.url + "#f0/d2")
    page.locator("pg-why .because").wait_for()
    choice = page.get_by_label("Overdraw", exact=True)
    choice.select_option("pass")
    legend = page.locator("pg-picture .legend")
    legend.wait_for()
    assert legend.inner_text().split() == ["1", "2", "3"]
    page.wait_for_function(f"() => String(({SOURCE_PIXEL})([0, 0])) === '253,231,37,255'")
    assert page.evaluate(SOURCE_PIXEL, [6, 0]) == [68, 1, 84, 255]
    grey = page.evaluate(SOURCE_PIXEL, [20, 5])
    assert grey[0] == grey[1] == grey[2]
    choice.select_option("frame")
    page.wait_for_function("() => document.querySelector('pg-picture').renderRoot.querySelector('.legend')"
                           "?.innerText.trim().endsWith('40')")  # fmt: skip
    page.locator("pg-canvas").focus()
    page.keyboard.press("ArrowRight")
    page.locator("pg-picture .status .here", has_text="0 here").wait_for()
    choice.select_option("")
    page.wait_for_function(f"() => String(({SOURCE_PIXEL})([0, 0])) !== '253,231,37,255'")
    assert page.locator("pg-picture .legend").count() == 0
    page.get_by_role("radio", name="top", exact=True).click()
    page.wait_for_function("() => document.querySelector('pg-picture').renderRoot.querySelector('select').disabled")


def test_the_wireframe_lies_over_the_target(watched: Watched, fake: Fake) -> None:
    page = watched.open(fake.url + "#f0/d2")
    page.locator("pg-why .because").wait_for()
    page.get_by_label("Wireframe").check()
    lines = "() => document.querySelector('pg-picture').view.lines"
    page.wait_for_function(f"() => ({lines})()?.ends.length === 24")
    ends = page.evaluate("() => Array.from(document.querySelector('pg-picture').view.lines.ends)")
    assert ends[:4] == [WIDTH / 4, 3 * HEIGHT / 4, 3 * WIDTH / 4, 3 * HEIGHT / 4]
    assert len({group["colour"] for group in page.evaluate(lines)["groups"]}) == 2
    assert fake.asked and sum("/api/mesh" in path for path in fake.asked) == 1
    page.evaluate("location.hash = 'f0/e0'")  # no draw
    place = "document.querySelector('pg-picture').place"
    page.wait_for_function(f"() => {place} === 'f0/e0' && ({lines})() === null")
    page.evaluate("location.hash = 'f0/d3'")
    page.wait_for_function(f"() => {place} === 'f0/d3' && ({lines})()?.ends.length === 24")
    assert page.locator("pg-picture .problem").count() == 0
    page.get_by_label("Wireframe").uncheck()
    page.wait_for_function(f"() => ({lines})() === null")


def test_depth_is_shown_between_limits(watched: Watched, fake: Fake) -> None:
    page = watched.open(fake.url + "#f0/d2")
    page.locator("pg-why .because").wait_for()
    page.get_by_role("radio", name="depth", exact=True).click()
    page.get_by_role("button", name="range", exact=True).click()
    low, high = page.get_by_label("Black from", exact=True), page.get_by_label("White to", exact=True)
    low.wait_for()
    low.fill("0.25")
    low.press("Enter")
    high.fill("0.5")
    high.press("Enter")
    y = HEIGHT // 4
    page.wait_for_function(f"y => String(({SOURCE_PIXEL})([0, y])) === '0,0,0,255'", arg=y)
    assert page.evaluate(SOURCE_PIXEL, [0, HEIGHT // 2]) == [255, 255, 255, 255]
    assert page.evaluate(SOURCE_PIXEL, [0, 0]) == [0, 0, 160, 255]
    assert page.evaluate(SOURCE_PIXEL, [0, HEIGHT - 1]) == [255, 90, 90, 255]
    slider = page.get_by_label("White to, slider")
    slider.focus()
    page.keyboard.press("End")
    page.wait_for_function(f"y => ({SOURCE_PIXEL})([0, y])[1] > 90", arg=HEIGHT - 1)
    page.locator("pg-picture .range button").click()
    page.wait_for_function(f"() => String(({SOURCE_PIXEL})([0, 0])) === '0,0,0,255'")


# -- findings and costs -----------------------------------------------------------------------------------------------
def test_findings_mark_events_and_are_listed(watched: Watched, fake: Fake) -> None:
    page = watched.open(fake.url + "#f0/d1")
    badge = page.locator("pg-events .row", has_text="draw 1").locator(".badge")
    badge.wait_for()
    assert badge.get_attribute("aria-label") == "2 findings, the worst is a warning"
    assert MARKUP in badge.get_attribute("title")
    items = page.locator("pg-events .findings li")
    assert items.count() == 2 and f"finding 1 {MARKUP}" in items.first.inner_text()
    whole = page.locator("pg-events .row.frame", has_text="frame 0").locator(".badge")
    assert whole.get_attribute("aria-label") == "4 findings, the worst is an error"
    page.keyboard.press("n")
    wait_at(page, "f0/d4")
    page.keyboard.press("Shift+N")
    wait_at(page, "f0/d1")
    page.keyboard.press("Shift+N")
    wait_at(page, "f0")
    page.locator("pg-events .findings li", has_text="finding 3").locator("a").first.click()
    wait_at(page, "f0/d4")
    page.get_by_label("findings only").check()
    rows = "document.querySelector('pg-events').renderRoot.querySelectorAll('.row.draw')"
    page.wait_for_function(f"() => {rows}.length === 2")
    assert page.locator("pg-events .row.clear").count() == 0
    assert sum("/api/findings" in path for path in fake.asked) == 1


def test_costs_are_asked_for_and_add_up(watched: Watched, fake: Fake) -> None:
    page = watched.open(fake.url + "#f0/d1")
    page.locator("pg-events .findings").wait_for()
    assert not any("/api/costs" in path for path in fake.asked)
    page.get_by_label("Cost beside the events").select_option("fragments")
    row = page.locator("pg-events .row", has_text="draw 5").locator(".cost")
    row.wait_for()
    assert row.inner_text() == "5.0k" and row.get_attribute("title") == "15 vertices, 5 primitives, 5,000 fragments"
    assert row.evaluate("one => one.style.getPropertyValue('--part')") == "100%"
    assert page.locator("pg-events .row.frame", has_text="frame 0").locator(".cost").inner_text() == "15k"
    page.get_by_label("Cost beside the events").select_option("vertices")
    page.wait_for_function("() => [...document.querySelector('pg-events').renderRoot.querySelectorAll('.cost')].at(-1)"
                           "?.innerText === '15'")  # fmt: skip


def test_a_frame_of_many_events_stays_quick_with_findings_and_costs(watched: Watched, fake: Fake) -> None:
    page = watched.open(fake.url + "#f1/d50000")
    page.locator("pg-events .findings, pg-events .foot", has_text="4 findings in f1").first.wait_for()
    page.get_by_label("Cost beside the events").select_option("primitives")
    page.locator("pg-events .row.chosen .cost", has_text="50k").wait_for()
    took = page.evaluate("""async () => {
        const box = document.querySelector("pg-events").renderRoot.querySelector(".scroll");
        const start = performance.now();
        for (let step = 0; step < 20; step += 1) {
            box.scrollTop += 400;
            await new Promise(requestAnimationFrame);
        }
        return (performance.now() - start) / 20;
    }""")
    assert took < 200 and page.locator("pg-events .row").count() < 250
