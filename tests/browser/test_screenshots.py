"""How the page looks, dark and light, wide and narrow: compared with screenshots that somebody has looked at."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import browsing, screenshots
from browser.browsing import AT_REST, SAMPLES, served, watching
from PIL import Image, ImageDraw

from pocketgpu.pytest_plugin import updating

pytestmark = pytest.mark.skipif(bool(browsing.missing()), reason=browsing.missing())
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
PLACES = {"3DS": "f0/d11/px160,140", "Switch": "f1/d17"}
SIZES = {"wide": (1300, 800), "narrow": (800, 700)}
FRONTS = {
    "3DS": {"dark": ("Picture", "Why", "State"), "light": ("Resources", "Shader", "Words")},
    "Switch": {"dark": ("Frame graph", "Why", "Timeline"), "light": ("Mesh", "Notes", "What if")},
}
"""Panels that are in front, so that all are somewhere."""


@pytest.fixture(scope="module", params=list(SAMPLES))
def opened(browser: Any, request: pytest.FixtureRequest) -> Iterator[tuple[str, Any]]:
    """A console, and the page about its sample."""
    with served(browsing.sample(request.param)) as link, watching(browser) as watched:
        yield request.param, watched.open(f"{link}#{PLACES[request.param]}")


@pytest.mark.parametrize("size", list(SIZES))
def test_the_page_looks_as_it_did(opened: tuple[str, Any], size: str, pytestconfig: pytest.Config) -> None:
    console, page = opened
    width, height = SIZES[size]
    page.set_viewport_size({"width": width, "height": height})
    page.reload()  # the panels have other places in a narrow window
    page.locator("pg-events .row.chosen").wait_for()
    problems = []
    for scheme, titles in FRONTS[console].items():
        page.emulate_media(color_scheme=scheme)
        for title in titles:
            page.get_by_role("tab", name=title, exact=True).click()
        page.wait_for_function(RESTED)
        png = page.screenshot(animations="disabled", caret="hide")
        if updating(pytestconfig) and os.environ.get("SCREENSHOTS"):
            Path(os.environ["SCREENSHOTS"], f"{console}-{size}-{scheme}.png").write_bytes(png)
        problems.append(screenshots.check(f"{console.lower()}-{size}-{scheme}", png, updating(pytestconfig)))
    assert not any(problems), "\n".join(filter(None, problems))


RESTED = f"""() => ({AT_REST})() && document.querySelector(".busy").textContent.trim() === ""
    && /findings? in f/.test(document.querySelector("pg-events")?.renderRoot.querySelector(".foot").textContent
        ?? "no findings in front")
    && (words => !words || words.querySelector(".row.inside") && !words.querySelector(".note, .row.waiting"))(
        document.querySelector("pg-words")?.renderRoot)
    && (mesh => !mesh || mesh.view?.scene && !mesh.view.frame)(document.querySelector("pg-mesh"))"""
"""Whether nothing on the page will change by itself."""


# -- the comparison ----------------------------------------------------------------------------------------------------
def page_of(shift: int, panel: bool = True, dark: bool = False) -> Image.Image:
    """Something like a page: rows of text, and a panel beside them."""
    back, front = ((30, 32, 36), (220, 220, 220)) if dark else ((255, 255, 255), (40, 40, 40))
    image = Image.new("RGB", (800, 600), back)
    draw = ImageDraw.Draw(image)
    for row in range(25):
        draw.text((10 + shift, 10 + 20 * row), f"f0/d{row}  draw {row}: 36 vertices, triangles", front)
    if panel:
        draw.rectangle((500, 0, 800, 600), (90, 120, 200))
    return image


def png_of(image: Image.Image) -> bytes:
    import io

    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


@pytest.mark.parametrize(
    ("shown", "same"),
    [(page_of(1), True), (page_of(0, panel=False), False), (page_of(0, dark=True), False),
     (page_of(0).resize((780, 600)), False)],
)  # fmt: skip
def test_moved_letters_are_no_difference_and_missing_panels_are(shown: Image.Image, same: bool) -> None:
    kept, other = (screenshots.reduced(png_of(one)) for one in (page_of(0), shown))
    assert (screenshots.differing(kept, other).mean() <= screenshots.MOST) == same
