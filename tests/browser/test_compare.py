"""Two captures side by side, and what-if, in a browser: with made-up answers, and with the real server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest
from browser import browsing
from browser.browsing import DATA, Watched, listed, opaque, served, watching
from browser.fake_server import MARKUP, WIDTH, Fake, picture
from browser.fake_sides import Desk, install, picture_of_b

from pocketgpu.inspect.diff.comparison import Comparison
from pocketgpu.inspect.inspection import debug

pytestmark = pytest.mark.skipif(bool(browsing.missing()), reason=browsing.missing())
ALL = """[...document.querySelector("pg-compare").renderRoot.querySelector("pg-compare-pictures")
    .renderRoot.querySelectorAll("pg-canvas")]"""
"""The canvases of both pictures."""
VIEWS = f"""() => {ALL}.map(view => {{
    const canvas = view.renderRoot.querySelector(".source");
    return Array.from(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data);
}})"""
"""What the canvases of both pictures hold."""
VIEWPORTS = f"() => {ALL}.map(({{viewport}}) => [viewport.zoom, viewport.left, viewport.top])"


def tab(page: Any, name: str) -> None:
    page.locator(".dv-tab", has_text=name).click()


def beside(watched: Watched, fake: Fake, address: str = "f0/d0") -> Any:
    """The page with a second side, and its panel in front."""
    install(fake, Desk("b.ctf.xz"))
    page = watched.open(fake.url + f"#{address}")
    tab(page, "Compare")
    page.locator("pg-compare .events .row").first.wait_for()
    return page


def row(page: Any, title: str) -> Any:
    return page.locator("pg-compare .events .row", has_text=title)


def wait_at(page: Any, address: str) -> None:
    page.wait_for_function("wanted => decodeURIComponent(location.hash.slice(1)) === wanted", arg=address)


def views_are(page: Any, *wanted: bytes) -> None:
    page.wait_for_function(f"wanted => String(({VIEWS})()) === wanted", arg=listed(opaque(b"".join(wanted))))


# -- made-up answers ---------------------------------------------------------------------------------------------------
def test_without_a_second_side_there_is_no_panel(watched: Watched, fake: Fake) -> None:
    page = watched.open(fake.url + "#f0/d0")
    page.locator(".dv-tab", has_text="What if").wait_for()
    assert page.locator(".dv-tab", has_text="Compare").count() == 0


def test_events_are_aligned_and_selected_in_both(watched: Watched, fake: Fake) -> None:
    page = beside(watched, fake)
    page.locator("pg-compare .names", has_text="b.ctf.xz").wait_for()
    page.locator("pg-compare .count", has_text="4 of 6 events differ").wait_for()
    assert MARKUP in page.locator("pg-compare .events .row").first.inner_text()
    row(page, "draw 2: triangles").click()
    wait_at(page, "f0/d2")
    views_are(page, picture({"at": "f0/d2"}), picture_of_b(picture({"at": "f0/d1"})))
    page.locator("pg-compare .places", has_text="A f0/d2  B f0/d1").wait_for()
    page.locator("pg-events .row.chosen", has_text="draw 2").wait_for()
    row(page, "draw 1: triangles").first.click()
    page.locator("pg-compare-pictures .status", has_text="only A has this picture").wait_for()
    row(page, "draw 2: lines").click()  # only in B: the selection in A stays
    page.locator("pg-compare-pictures .status", has_text="only B has this picture").wait_for()
    wait_at(page, "f0/d1")


def test_keys_go_from_difference_to_difference(watched: Watched, fake: Fake) -> None:
    page = beside(watched, fake)
    page.locator("pg-compare .events").focus()
    for key, address in (("d", "f0/d1"), ("d", "f0/d2"), ("ArrowUp", "f0/d1"), ("Home", "f0/e0"), ("End", "f0/d3")):
        page.keyboard.press(key)
        wait_at(page, address)
    page.keyboard.press("D")
    page.locator("pg-compare .events .row.chosen", has_text="draw 2: lines").wait_for()
    page.get_by_label("differing only").check()
    rows = "document.querySelector('pg-compare').renderRoot.querySelectorAll('.events .row')"
    page.wait_for_function(f"() => {rows}.length === 4")
    page.get_by_role("button", name="next frame").click()
    wait_at(page, "f1")
    page.locator("pg-compare .count", has_text="0 of 3,000 events differ").wait_for()
    assert page.locator("pg-compare .events .row").count() < 200


def test_pictures_share_zoom_and_place(watched: Watched, fake: Fake) -> None:
    page = beside(watched, fake, "f0/d3")
    views_are(page, picture({"at": "f0/d3"}), picture_of_b(picture({"at": "f0/d3"})))
    page.locator("pg-compare-pictures .status", has_text=f"{WIDTH * 2} pixels differ").wait_for()
    second = page.locator("pg-compare-pictures pg-canvas").nth(1)
    second.focus()
    for key in ("+", "+", "ArrowRight"):
        page.keyboard.press(key)
    first, other = page.evaluate(VIEWPORTS)
    assert first == other and first[0] > 1
    page.get_by_role("radio", name="difference").last.click()
    page.wait_for_function(f"() => ({VIEWS})().length === 1 && ({VIEWS})()[0][0] === 255 && ({VIEWS})()[0][1] === 64")
    page.get_by_role("radio", name="swipe").click()
    slider = page.get_by_label("Column where B begins")
    slider.focus()
    page.keyboard.press("Home")
    views_are(page, picture_of_b(picture({"at": "f0/d3"})))
    page.keyboard.press("End")
    views_are(page, picture({"at": "f0/d3"}))


def test_a_pixel_asks_why_in_both(watched: Watched, fake: Fake) -> None:
    page = beside(watched, fake, "f0/d2")
    page.locator("pg-compare").get_by_role("radio", name="Why").click()
    page.get_by_label("Why in A").locator(".because", has_text="a says: because of f0/d2").wait_for()
    second = page.locator("pg-compare-pictures pg-canvas").nth(1)
    views_are(page, picture({"at": "f0/d2"}), picture_of_b(picture({"at": "f0/d1"})))
    left, top = page.evaluate(f"() => {ALL}[1].pointOf(3, 4)")
    second.click(position={"x": left, "y": top})
    wait_at(page, "f0/d2/px3,19")
    page.get_by_label("Why in A").locator(".because", has_text="about f0/d2/px3,19").wait_for()
    page.get_by_label("Why in B").locator(".because", has_text="b says:").wait_for()
    page.get_by_label("Why in B").locator(".because", has_text="about f0/d1/px3,19").wait_for()
    assert page.get_by_label("Why in B").locator("a").count() == 0
    assert page.get_by_label("Why in A").locator("a").count() > 0


def test_levels_lead_to_their_places(watched: Watched, fake: Fake) -> None:
    page = beside(watched, fake)
    levels = page.locator("pg-compare table")
    levels.locator("tr", has_text="register").locator("a", has_text="f0/d2").click()
    wait_at(page, "f0/d2")
    assert MARKUP in levels.inner_text()
    levels.locator("tr", has_text="pixel").locator("text=not looked for").wait_for()
    page.get_by_role("button", name="Look for vertices and pixels").click()
    levels.locator("a", has_text="f0/d2/px1,2").click()
    wait_at(page, "f0/d2/px1,2")
    page.locator("pg-compare li a", has_text="B f0/d2").click()
    page.locator("pg-compare .events .row.chosen", has_text="draw 2: lines").wait_for()
    page.locator("pg-compare").get_by_role("radio", name="Registers").click()
    page.locator("pg-compare .note", has_text="Only one side has this event").wait_for()
    row(page, "draw 2: triangles").click()
    page.locator("pg-compare .registers .row", has_text="BLEND_COLOR").wait_for()


@pytest.mark.parametrize("width", [800, 1300])
def test_what_if_makes_a_second_side(browser: Any, fake: Fake, width: int) -> None:
    watched = Watched(browser, viewport={"width": width, "height": 800})
    desk = Desk()
    install(fake, desk)
    page = watched.open(fake.url + "#f0/d2")
    tab(page, "What if")
    panel = page.locator("pg-whatif")
    panel.get_by_label("fog.range", exact=True).select_option("narrow")
    panel.get_by_role("radio", name="Registers").click()
    panel.get_by_label("Find registers").fill("blend_color")
    panel.get_by_label("New value of BLEND_COLOR.mode").select_option("on")
    panel.get_by_label("From which event on").fill("f0/d1")
    value = panel.get_by_label("New value of BLEND_COLOR.r")
    value.fill("255")
    value.press("Enter")
    panel.get_by_role("button", name="Show as B").click()
    page.locator("pg-compare .names", has_text="BLEND_COLOR.r=255@f0/d1").wait_for()
    assert desk.title == "a.ctf.xz fog.range=narrow BLEND_COLOR.mode=on@f0/d2 BLEND_COLOR.r=255@f0/d1"
    page.reload()  # the server keeps B, the page what it is
    page.locator("pg-events .row").first.wait_for()
    tab(page, "What if")
    panel.locator("text=B shows this").wait_for()
    panel.get_by_role("button", name="Take back fog.range=narrow").click()
    desk.refused = "there is no register"
    panel.get_by_role("button", name="Show as B").click()
    panel.get_by_role("alert").locator("text=there is no register").wait_for()
    desk.refused = ""
    panel.get_by_role("button", name="Clear").click()
    page.locator(".dv-tab", has_text="Compare").wait_for(state="detached")
    assert desk.title == ""
    watched.close()
    assert watched.errors == []


def test_registers_with_effects_say_so(watched: Watched, fake: Fake) -> None:
    install(fake, Desk())
    page = watched.open(fake.url + "#f0/d2")
    tab(page, "What if")
    panel = page.locator("pg-whatif")
    panel.get_by_role("radio", name="Registers").click()
    panel.get_by_label("Find registers").fill("now")
    panel.locator("text=Cannot be forced: a write has an effect.").wait_for()


# -- the real server ---------------------------------------------------------------------------------------------------
Answer = Callable[..., Any]
FORCED = {
    "sample.ctf.xz": "DEPTH_COLOR_MASK.red=no@f0/d4",
    "sample_switch.mxcap.zip": "SET_CT_WRITE(0).R_ENABLE=FALSE@f0/d4",
}


@pytest.mark.parametrize("sample", list(FORCED))
def test_the_samples_beside_a_changed_run(browser: Any, sample: str) -> None:
    pytest.importorskip("starlette")
    pytest.importorskip("uvicorn")
    path, force = DATA / sample, FORCED[sample]
    plain, forced = debug(path), debug(path, overrides=[force])
    frame = Comparison(plain, forced).frame(0)
    differing = sum(one.verdict != "equal" for one in frame.rows)
    with served(str(path), "--force", force) as link, watching(browser) as watched:
        page = watched.open(link + "#f0/d4")
        tab(page, "Compare")
        page.locator("pg-compare .count", has_text=f"f0: {differing} of {len(frame.rows)} events differ").wait_for()
        page.locator("pg-compare .events .row.chosen", has_text="draw" if "ctf" in sample else "f0/d4").wait_for()
        wanted = [one.seek("f0/d4").pictures["target"].pixels.tobytes() for one in (plain, forced)]
        views_are(page, *wanted)
        register = frame.first("register")
        assert register is not None
        page.locator("pg-compare table tr", has_text="register").locator(f"text={register.text}").wait_for()
        page.locator("pg-compare").get_by_role("radio", name="Registers").click()
        page.locator("pg-compare .registers .row", has_text=force.partition(".")[0]).wait_for()
        host = urlsplit(page.url)
        answer = page.context.request.get(f"{host.scheme}://{host.netloc}/api/sides").json()
        assert answer["sides"][1]["title"] == f"{sample} {force}"
