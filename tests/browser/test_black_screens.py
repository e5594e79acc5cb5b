"""Exercises: a black screen of each console, and the mistake is found by clicks alone, at most four of them.

A user gets a link to a frame (`#f3`), sees black, and clicks on what is to be seen: a pixel of the picture, a link in
an answer, a tab, a finding. The page then names the cause: the register, its value, or what nobody wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from browser import browsing
from browser.browsing import SAMPLES, click_pixel, served, watching
from support import black_screens

pytestmark = pytest.mark.skipif(bool(browsing.missing()), reason=browsing.missing())
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
MOST_CLICKS = 4
SHOWN = 15_000
"""Milliseconds until what is to be clicked is there."""
TRIES = 100
PIXELS = {"3DS": (200, 120), "Switch": (16, 16)}
"""A pixel that the draw should cover."""
IDLE = """frame => {
    const [why, picture, events] = ["pg-why", "pg-picture", "pg-events"].map(name => document.querySelector(name));
    const pictures = picture ? [picture.latest, picture.picture] : [];  // another panel may be before it
    return location.hash.startsWith("#" + frame) && why.answer && location.hash.slice(1) === why.answer.address
        && [why.latest, ...pictures].every(one => one.state === "idle") && (!picture || picture.present)
        && !events.renderRoot.querySelector(".foot").textContent.includes("looks for");
}"""
"""Whether everything about the selection is on the page."""
BLACK = """() => {
    const canvas = document.querySelector("pg-picture").view.renderRoot.querySelector(".source");
    const {width, height} = canvas;
    const {data} = canvas.getContext("2d").getImageData(0, 0, width, height);
    return data.length > 0 && data.every((byte, index) => index % 4 === 3 || byte === 0);
}"""
"""Whether the picture is black."""
Step = Callable[["User", str], None]


class User:
    """Clicks, and counts the clicks."""

    def __init__(self, page: Any, frame: str, pixel: tuple[int, int]) -> None:
        self.page, self.frame, self._pixel = page, frame, pixel
        self.clicks = 0

    def _clicked(self) -> None:
        self.clicks += 1
        assert self.clicks <= MOST_CLICKS, "too many clicks"
        self.page.wait_for_function(IDLE, arg=self.frame)

    def pixel(self) -> None:
        """Click a pixel of the picture."""
        click_pixel(self.page, *self._pixel)
        self.page.wait_for_function("() => location.hash.includes('/px')")
        self._clicked()

    def click(self, panel: str, selector: str, text: str) -> None:
        """Click what a panel shows: `selector` with the text."""
        place = self.page.locator(f"pg-{panel} {selector}", has_text=text).first
        place.click(timeout=SHOWN)
        self._clicked()

    def tab(self, name: str) -> None:
        """Bring a panel to the front."""
        self.page.get_by_role("tab", name=name, exact=True).click()
        self._clicked()

    def missing(self, panel: str, words: tuple[str, ...]) -> str:
        """What a panel says, if it does not say all of the words within some seconds; else ""."""
        self.page.locator(f"pg-{panel}").wait_for(state="visible")
        for _ in range(TRIES):
            found = str(self.page.evaluate(browsing.TEXT, f"pg-{panel}"))
            if all(one in found for one in words):
                return ""
            self.page.wait_for_timeout(100)
        return found


def pixel(user: User, frame: str) -> None:
    user.pixel()


def draw(user: User, frame: str) -> None:
    """The link to the draw in the answer about a pixel."""
    user.click("why", "a", f"{frame}/d0")


def finding(user: User, frame: str) -> None:
    """The link to the draw in what was found in the frame, below the events."""
    user.click("events", ".findings a", f"{frame}/d0")


def reference(name: str) -> Step:
    """A link to a register or a texel beside a line of the answer."""
    return lambda user, frame: user.click("why", ".ref", name)


def tab(name: str) -> Step:
    return lambda user, frame: user.tab(name)


# What is broken (in support/black_screens.py): the clicks, the panel that names the cause, and its words.
EXERCISES: dict[str, dict[str, tuple[tuple[Step, ...], str, tuple[str, ...]]]] = {
    "3DS": {
        "depth is cleared to the near end": (
            (pixel,), "why", ("depth test: 8388607 greater 16777215 is false (DEPTH_COLOR_MASK.depth_function)",)
        ),
        "the wrong side is culled": (
            (pixel, draw, reference("FACECULLING_CONFIG")), "words", ("FACECULLING_CONFIG", "front (counter-clockwise)")
        ),
        "blending keeps the target": ((pixel,), "why", ("blending is add of zero and one (BLEND_FUNC)",)),
        "the texture is somewhere else": (
            (pixel, draw), "events", ("1024 of 1024 bytes at 0x23000000 were never written (TEXUNIT0_ADDR)",)
        ),
        "the screen shows another buffer": (
            (pixel,), "why", ("transfers of the frame go to 0x180bb800", "(PDC0_ADDRESS_A0 0x2"),
        ),
        "uniforms were never written": (
            (finding,), "events", ("reads uniforms c40 to c43 at instruction 0x000", "nothing ever wrote there"),
        ),
        "a combiner's constant has no colour": (
            (pixel, reference("TEXENV0_COLOR")), "words", ("TEXENV0_COLOR", "TEXENV0_COLOR"),
        ),
        "positions are beyond the far plane": (
            (pixel,), "why", ("lies beyond the far plane: z is 0.5, w is 1",),
        ),
    },
    "Switch": {
        "the alpha test compares with too much": (
            (pixel, reference("SET_ALPHA_REF")), "words", ("3f666666", "SET_ALPHA_REF"),
        ),
        "the wrong side is culled": (
            (pixel, draw, reference("OGL_SET_CULL_FACE")), "words", ("OGL_SET_CULL_FACE", "FRONT"),
        ),
        "blending keeps the target": (
            (pixel,), "why", ("SET_BLEND_COLOR_SOURCE_COEFF OGL_ZERO, SET_BLEND_COLOR_DEST_COEFF OGL_ONE",),
        ),
        "nobody wrote the texture": ((pixel, draw), "events", ("1024 of 1024 bytes at 0x", "were never written")),
        "another surface is shown": (
            (pixel,), "why", ("no draw goes there: draws of the frame go to 0x", "(SET_COLOR_TARGET_A), and the "),
        ),
        "a constant buffer is not bound": (
            (finding,), "events", ("the vertex program reads constant buffer 3, and nothing is bound there",),
        ),
        "positions are beyond the far plane": (
            (pixel, draw, tab("Mesh")), "mesh", ("outside 1", "-0.8 -0.8 2 1"),
        ),
        "raster is off": ((pixel,), "why", ("raster is off [SET_RASTER_ENABLE]",)),
    },
}  # fmt: skip


@pytest.fixture(scope="module", params=list(SAMPLES))
def opened(
    browser: Any, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Any]]:
    """A console, and the page about its black screens."""
    path = black_screens.save(request.param, tmp_path_factory.mktemp("black"))
    with served(path) as link, watching(browser) as watched:
        yield request.param, watched.open(link)


def test_each_mistake_is_found_by_clicks(opened: tuple[str, Any]) -> None:
    console, page = opened
    scenes = black_screens.N3DS if console == "3DS" else black_screens.SWITCH
    assert list(scenes) == list(EXERCISES[console])
    for number, name in enumerate(scenes):
        steps, panel, words = EXERCISES[console][name]
        frame = f"f{number}"
        for front in ("Picture", "State"):
            page.get_by_role("tab", name=front, exact=True).click()
        page.evaluate("address => location.hash = address", frame)
        page.wait_for_function(IDLE, arg=frame)
        user = User(page, frame, PIXELS[console])
        assert page.evaluate(BLACK), f"{name}: the screen is not black"
        for step in steps:
            step(user, frame)
        missing = user.missing(panel, words)
        assert not missing, f"{console}, {name}: {panel} says {missing}"
        assert 0 < user.clicks <= MOST_CLICKS
