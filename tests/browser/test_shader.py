"""The panel that steps through a shader, with made-up answers about a long trace."""

from __future__ import annotations

import time
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from browser import browsing
from browser.browsing import Watched
from browser.fake_server import Fake
from browser.fake_shader import INSTRUCTIONS, MARKUP, NANS, STEPS

pytestmark = pytest.mark.skipif(bool(browsing.missing()), reason=browsing.missing())
MOST_ROWS = 200


def shader(watched: Watched, fake: Fake, address: str) -> Any:
    """The page at an address with the panel in front."""
    page = watched.open(f"{fake.url}#{address}")
    page.get_by_role("tab", name="Shader").click()
    return page


def at_step(page: Any, step: int) -> None:
    """Wait until the panel shows a step."""
    page.wait_for_function(
        """step => { const panel = document.querySelector("pg-shader");
                     return panel.tracing?.step === step && panel.tracing.answer?.step === step; }""",
        arg=step,
    )


def wait_at(page: Any, address: str) -> None:
    page.wait_for_function("wanted => decodeURIComponent(location.hash.slice(1)) === wanted", arg=address)


def current(page: Any, text: str) -> None:
    """Wait until a row is marked as the next one."""
    page.locator("pg-shader .row[aria-current=step]", has_text=text).wait_for()


def listing(page: Any) -> Any:
    return page.locator("pg-shader .rows-of")


def test_a_draw_offers_its_programs(watched: Watched, fake: Fake) -> None:
    page = shader(watched, fake, "f0/d1")
    field = page.get_by_label("vertex program: vertex, 0 to 23")
    assert page.get_by_label("pixel program: pixel, 0 to 39, 0 to 23").input_value() == "0,0"
    field.fill("x")
    field.press("Enter")
    assert field.get_attribute("aria-invalid") == "true"
    field.fill("7")
    field.press("Enter")
    wait_at(page, "f0/d1/v7")
    at_step(page, 0)
    current(page, "INSTRUCTION 0")
    page.go_back()
    page.locator("pg-shader .note", has_text="Choose above").wait_for()


def test_a_pixel_of_a_picture_leads_to_the_draw(watched: Watched, fake: Fake) -> None:
    page = shader(watched, fake, "f0/top/px3,4")
    page.locator("pg-shader a", has_text="f0/d2/px5,6").click()
    wait_at(page, "f0/d2/px5,6")
    at_step(page, 0)
    assert page.get_by_label("pixel program: pixel, 0 to 39, 0 to 23").input_value() == "5,6"
    # What ran for the pixel's primitive stays there while its vertices are stepped through.
    runs = page.locator("pg-shader a[href^='#f0/d2/v']")
    assert runs.all_inner_texts() == ["f0/d2/v3", "f0/d2/v4", "f0/d2/v5"]
    for n in (1, 2):
        runs.nth(n).click()
        run = f"f0/d2/v{n + 3}"
        wait_at(page, run)
        page.wait_for_function("run => document.querySelector('pg-shader').tracing?.trace.address === run", arg=run)
        page.locator("pg-shader a[aria-current=true]", has_text=run).wait_for()
        assert runs.count() == 3


def test_why_leads_to_the_program(watched: Watched, fake: Fake) -> None:
    page = watched.open(fake.url + "#f0/d2/px5,6")
    page.locator("pg-why .programs a", has_text="f0/d2/px5,6").click()
    at_step(page, 0)
    page.locator("pg-shader .row", has_text="INSTRUCTION 0").first.wait_for()


def test_steps_by_keys_and_buttons_and_the_address_names_them(watched: Watched, fake: Fake) -> None:
    page = shader(watched, fake, "f0/d1/v7")
    at_step(page, 0)
    listing(page).focus()
    for key, step in (("n", 1), ("ArrowRight", 2), ("F10", 3), ("p", 2), ("ArrowLeft", 1), ("End", STEPS), ("Home", 0)):
        page.keyboard.press(key)
        at_step(page, step)
    wait_at(page, "f0/d1/v7/s0")
    entries = page.evaluate("history.length")
    page.get_by_role("button", name="Step (n, →)").click()
    at_step(page, 1)
    page.get_by_label("Number of the step").fill("4321")
    page.keyboard.press("Enter")
    at_step(page, 4321)
    wait_at(page, "f0/d1/v7/s4321")
    assert page.evaluate("history.length") == entries
    current(page, f"INSTRUCTION {4321 % INSTRUCTIONS}")
    page.reload()
    page.get_by_role("tab", name="Shader").click()
    at_step(page, 4321)
    page.get_by_role("button", name="The end (End)").click()
    page.locator("pg-shader .facts", has_text="The end").wait_for()
    assert page.locator("pg-shader .row.current").count() == 0


def test_breakpoints_and_the_picked_instruction(watched: Watched, fake: Fake) -> None:
    page = shader(watched, fake, "f0/d1/v7/s5")
    at_step(page, 5)
    listing(page).focus()
    page.keyboard.press("N")  # without breakpoints: to where this instruction runs again
    at_step(page, 5 + INSTRUCTIONS)
    page.keyboard.press("P")
    at_step(page, 5)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("b")
    page.get_by_label("Breakpoint at 0x0038").and_(page.locator("[aria-pressed=true]")).wait_for()
    page.keyboard.press("F8")
    at_step(page, 7)
    page.keyboard.press("F8")
    at_step(page, 7 + INSTRUCTIONS)
    page.get_by_label("Breakpoint at 0x0040").click()
    page.get_by_role("button", name="On to a breakpoint, or to where the picked instruction runs (N)").click()
    at_step(page, 8 + INSTRUCTIONS)
    page.get_by_role("button", name="Back to a breakpoint, or to where the picked instruction ran (P)").click()
    at_step(page, 7 + INSTRUCTIONS)
    page.evaluate("location.hash = 'f0/d1/v8'")
    at_step(page, 0)
    # Another vertex of the same draw. Its rows come after its step.
    stops = page.locator("pg-shader .stop.on")
    stops.nth(1).wait_for()
    assert stops.count() == 2
    page.get_by_title("Remove all breakpoints").click()
    page.locator("pg-shader .stop.on").first.wait_for(state="detached")


def test_where_nans_appear(watched: Watched, fake: Fake) -> None:
    page = shader(watched, fake, "f0/d1/v7")
    at_step(page, 0)
    page.get_by_role("button", name="On to where a NaN appears").click()
    at_step(page, NANS[0])
    page.locator("pg-shader .facts .bad", has_text="R1 became nan").wait_for()
    listing(page).focus()
    page.keyboard.press("x")
    at_step(page, NANS[1])
    page.keyboard.press("x")  # there is no other one
    page.keyboard.press("X")
    at_step(page, NANS[0])
    page.locator("pg-shader .row.current .born").click()
    at_step(page, NANS[0])
    assert page.locator("pg-shader .born").count() == 1  # of the rows that are in the document


def test_values_lead_to_the_step_that_wrote_them(watched: Watched, fake: Fake) -> None:
    page = shader(watched, fake, "f0/d1/v7/s9")
    at_step(page, 9)
    page.locator("pg-shader .facts .new", has_text="9").wait_for()
    registers = page.locator("pg-shader .values")
    assert "r0" in registers.inner_text() and "R2" not in registers.inner_text()
    page.get_by_label("all", exact=True).check()
    registers.get_by_text("0x3f800000").wait_for()
    page.get_by_label("Values as").select_option("float")
    assert registers.locator("[role=listitem]", has_text="R2").inner_text().split() == ["R2", "1"]
    page.get_by_label("Filter registers by name").fill("r0")
    page.wait_for_function(
        """() => document.querySelector("pg-shader").renderRoot
                 .querySelectorAll(".values tr, [role=listitem]").length === 1"""
    )
    registers.locator("button.value").click()
    at_step(page, 3)
    page.locator("pg-shader .facts .origin").click()
    at_step(page, 2)


def test_a_long_trace_is_asked_for_in_windows(watched: Watched, fake: Fake) -> None:
    page = shader(watched, fake, "f0/d1/v7/s70000")
    at_step(page, 70_000)
    page.get_by_role("radio", name="Steps").click()
    current(page, "R1 70000")
    listing(page).focus()
    began = time.monotonic()
    for _ in range(60):
        page.keyboard.press("n")
    at_step(page, 70_060)
    assert time.monotonic() - began < 20
    current(page, "R1 70060")
    page.evaluate("document.querySelector('pg-shader').renderRoot.querySelector('.rows-of').scrollTop = 0")
    page.locator("pg-shader .row", has_text="R1 0 ").first.wait_for()
    assert page.locator("pg-shader .row").count() <= MOST_ROWS
    page.locator("pg-shader .row", has_text="R1 3 ").first.click()
    at_step(page, 3)
    asked = [parse_qs(urlsplit(path).query) for path in fake.asked if "/api/trace_steps" in path]
    assert {int(one["count"][0]) for one in asked} <= {250} and len(asked) < 12


def test_the_slider_goes_anywhere(watched: Watched, fake: Fake) -> None:
    page = shader(watched, fake, "f0/d1/v7")
    at_step(page, 0)
    slider = page.get_by_role("slider", name="Step")
    slider.focus()
    page.keyboard.press("PageUp")
    page.wait_for_function("() => document.querySelector('pg-shader').tracing.answer.step > 1000")
    assert f"of {STEPS}" in slider.get_attribute("aria-valuetext")


def test_the_graph_leads_to_the_listing(watched: Watched, fake: Fake) -> None:
    page = shader(watched, fake, "f0/d1/v7/s5")
    at_step(page, 5)
    page.get_by_role("radio", name="Graph").click()
    graph = page.locator("pg-shader-graph")
    graph.locator(".here", has_text="0x0000 – 0x0318").wait_for()
    assert graph.locator(".block").count() == 3
    assert graph.locator(".edge.taken").count() == 3 and graph.locator(".edge").count() == 4
    said = graph.locator(".bar").inner_text()
    assert "401 blocks" in said and "the first 3 are drawn" in said
    page.keyboard.press("Tab")
    graph.locator(".block", has_text="0x0320").focus()
    page.keyboard.press("Enter")
    page.locator("pg-shader .row.picked", has_text="INSTRUCTION 100").wait_for()


def test_texts_stay_texts(watched: Watched, fake: Fake) -> None:
    page = shader(watched, fake, "f0/d1/v7")
    at_step(page, 0)
    page.locator("pg-shader .row", has_text=MARKUP).first.wait_for()
    page.locator("pg-shader .source", has_text="a.glsl:1").wait_for()
    for view in ("Steps", "Graph"):
        page.get_by_role("radio", name=view).click()
        page.wait_for_timeout(200)
    assert page.locator("pg-shader img").count() == 0 and page.title() != "broken"


def test_a_frame_has_nothing_to_step_through(watched: Watched, fake: Fake) -> None:
    page = shader(watched, fake, "f0")
    page.locator("pg-shader .note", has_text="Select a draw").wait_for()


@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_it_can_be_used_when_narrow(browser: Any, fake: Fake, scheme: str) -> None:
    watched = Watched(browser, viewport={"width": 800, "height": 700}, color_scheme=scheme)
    page = shader(watched, fake, "f0/d1/v7/s9")
    at_step(page, 9)
    for part in (".rows-of", ".values", ".facts"):
        assert page.locator(f"pg-shader {part}").bounding_box()["height"] > 20
    box, panel = (page.locator(one).bounding_box() for one in ("pg-shader .steps", "pg-shader"))
    assert box["x"] + box["width"] <= panel["x"] + panel["width"] + 1
    watched.close()
    assert watched.errors == []
