"""The stages of a draw in the panel of the state: with made-up answers, and with the real server and the samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from browser import browsing
from browser.browsing import SAMPLES, Served, Watched, watching
from browser.fake_flow import MARKUP
from browser.fake_server import Fake

import pocketgpu

pytestmark = pytest.mark.skipif(bool(browsing.missing()), reason=browsing.missing())
PIXELS = {"3DS": "f0/d11/px160,140", "Switch": "f0/d16/px200,120"}


@pytest.fixture
def page(watched: Watched, fake: Fake) -> Any:
    page = watched.open(fake.url + "#f0/d1/px5,6")
    show(page)
    return page


def show(page: Any) -> None:
    page.locator("pg-state").get_by_role("radio", name="Flow").click()
    page.locator("pg-draw-flow .stage").first.wait_for()



def test_stages_that_do_nothing_are_left_out_at_first(page: Any) -> None:
    stages = page.locator("pg-draw-flow .stage")
    assert stages.count() == 4
    assert page.locator("pg-draw-flow .arrow").count() == 2  # texture to combiner, and combiner to blending
    page.get_by_label("all stages").check()
    page.locator("pg-draw-flow .idle", has_text="combiner 1").wait_for()
    assert stages.count() == 5


def test_an_input_leads_to_what_makes_it(page: Any) -> None:
    page.locator("pg-draw-flow").get_by_role("button", name="source").click()
    page.locator("pg-draw-flow .stage.found", has_text="combiner 0").wait_for()
    page.get_by_label("all stages").check()
    page.locator("pg-draw-flow").get_by_role("button", name="source").click()
    page.locator("pg-draw-flow .stage.found", has_text="combiner 1").wait_for()


def test_values_of_a_pixel_have_their_colours(page: Any, fake: Fake) -> None:
    values = page.locator("pg-draw-flow rect[fill='#010203']")
    assert values.count() > 4 and "1, 2, 3" in page.locator("pg-draw-flow .stage").nth(2).inner_text()
    page.evaluate("location.hash = 'f0/d1'")
    values.first.wait_for(state="detached")
    assert any("/api/flow?at=f0%2Fd1&" in path for path in fake.asked)


def test_a_program_leads_to_the_shader(page: Any) -> None:
    page.locator("pg-draw-flow a", has_text="step").click()
    page.locator("pg-shader .row", has_text="INSTRUCTION 0").first.wait_for()
    assert page.evaluate("location.hash") == "#f0/d1/v0"


def test_texts_stay_texts(page: Any) -> None:
    assert MARKUP in page.locator("pg-draw-flow").locator(".scroll").inner_text()
    assert page.locator("pg-draw-flow img").count() == 0 and page.title() != "broken"


def test_a_frame_has_no_stages_and_the_registers_come_back(page: Any) -> None:
    page.evaluate("location.hash = 'f0'")
    page.locator("pg-state .note", has_text="Select a draw").wait_for()
    page.locator("pg-state").get_by_role("radio", name="Registers").click()
    page.locator("pg-state .row", has_text="REGISTER_0").first.wait_for()


@pytest.mark.parametrize("console", list(SAMPLES))
def test_the_samples(browser: Any, samples: Callable[[str], Served], console: str) -> None:
    pytest.importorskip("starlette")
    pytest.importorskip("uvicorn")
    wanted = pocketgpu.debug(browsing.sample(console)).colour_flow(PIXELS[console])
    with watching(browser) as watched:
        page = samples(console).open(watched, PIXELS[console])
        show(page)
        page.get_by_label("all stages").check()
        page.locator("pg-draw-flow .stage").nth(len(wanted) - 1).wait_for()
        for number, stage in enumerate(wanted):
            text = page.locator("pg-draw-flow .stage").nth(number).inner_text()
            assert text.startswith(stage.name)
            for part in stage.parts:
                for one in (part.output, *(read.value for read in part.inputs)):
                    assert one is None or one.text in text
                assert part.operation in text
