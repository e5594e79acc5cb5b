"""Makes the moving picture of the viewer that the front page of the site shows, and its first picture.

    python tools/make_viewer_animation.py [--out docs/images]

Chromium opens the sample of the 3DS in `pocketgpu view`, goes through draws, clicks a pixel and changes a register.
The moving picture repeats, and begins with the clicked pixel, as an empty target says little.
It needs what the tests in `tests/browser` need: playwright, Chromium, and the built page (`make page`). Look at the
result.
"""

from __future__ import annotations

import argparse
import sys
from io import BytesIO
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from browser.browsing import AT_REST, chromium, click_pixel, missing, sample, served, watching  # noqa: E402
from PIL import Image, ImageDraw, ImageFont  # noqa: E402

VIEW = {"width": 1200, "height": 700}
SIZE = (960, 560)
"""Of the picture. Below it is a line that says what happens."""
LINE = 36
GROUND, INK, MARK = (24, 24, 27), (236, 236, 240), (255, 196, 64)
POINTER = ((0, 0), (0, 17), (4, 13), (7, 19), (10, 18), (7, 12), (12, 12))
QUALITY = 85
"""Of WebP: text stays clear, and the file below 1.2 MB."""
DRAWS = range(1, 9)
PIXEL = (208, 105)
"""On the gem in the middle of the top screen."""
CHANGE = ("depth_color_mask", "DEPTH_COLOR_MASK.red", "no", "f0/d0")
"""What to look for, the field, its new value, and from which event on."""


class Film:
    """Pictures of the page, each with a line of text and a time in milliseconds."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.frames: list[Image.Image] = []
        self.times: list[int] = []

    def shoot(self, text: str, milliseconds: int, at: tuple[float, float] | None = None) -> None:
        """Wait until the page has all answers, and take a picture. at: where the pointer is."""
        self.page.wait_for_function(AT_REST)
        self.page.wait_for_timeout(150)
        shot = Image.open(BytesIO(self.page.screenshot())).convert("RGB")
        draw = ImageDraw.Draw(shot)
        if at:
            draw.polygon([(at[0] + x, at[1] + y) for x, y in POINTER], (255, 255, 255), (0, 0, 0))
        sheet = Image.new("RGB", (SIZE[0], SIZE[1] + LINE), GROUND)
        sheet.paste(shot.resize(SIZE, Image.Resampling.LANCZOS))
        line = ImageDraw.Draw(sheet)
        line.rectangle((0, SIZE[1], 6, SIZE[1] + LINE), MARK)
        line.text((20, SIZE[1] + LINE // 2), text, INK, ImageFont.load_default(17), anchor="lm")
        self.frames.append(sheet)
        self.times.append(milliseconds)

    def begin_with(self, number: int) -> None:
        """Move what is before a picture to the end. The film repeats, and the first picture should show most of it."""
        self.frames = self.frames[number:] + self.frames[:number]
        self.times = self.times[number:] + self.times[:number]

    def click(self, target: Any, text: str, milliseconds: int) -> None:
        """Show the pointer on an element, and click it."""
        box = target.bounding_box()
        self.shoot(text, milliseconds, (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2))
        target.click()


def play(film: Film) -> None:
    """What somebody does who sees the viewer for the first time."""
    page = film.page
    page.locator(".dv-tab", has_text="State").wait_for()
    film.shoot("pocketgpu view sample.ctf.xz: a recording of a 3DS in the browser", 2000)
    for draw in DRAWS:
        page.keyboard.press("j")
        film.shoot(f"The target after draw {draw} of the first frame", 350)
    film.times[-1] = 1200
    click_pixel(page, *PIXEL)
    place = page.evaluate("([x, y]) => document.querySelector('pg-picture').view.pointOf(x, y)", list(PIXEL))
    box = page.locator("pg-canvas").first.bounding_box()
    pointer = (box["x"] + place[0], box["y"] + place[1])
    film.shoot("A click on a pixel says why it has this colour: which draw, which triangle, every value", 4000, pointer)
    film.click(page.locator(".dv-tab", has_text="What if"), "And what if a register had another value?", 1500)
    panel = page.locator("pg-whatif")
    find, field, value, event = CHANGE
    panel.get_by_role("radio", name="Registers").click()
    panel.get_by_label("Find registers").fill(find)
    panel.get_by_label("From which event on").fill(event)
    panel.get_by_label("From which event on").press("Enter")
    panel.get_by_label(f"New value of {field}").select_option(value)
    told = f"{field} becomes {value!r} from the first draw on: no red is written"
    film.click(panel.get_by_role("button", name="Show as B"), told, 2500)
    page.locator("pg-compare .names").wait_for()
    page.locator("pg-compare").get_by_role("radio", name="swipe").click()
    page.wait_for_timeout(1500)
    for _ in range(2):
        page.locator("pg-compare").get_by_text("+", exact=True).click()
    film.shoot("Both are played, and shown over each other: the recording, and the recording with the change", 4000)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "images", help="the folder for both files")
    out = parser.parse_args().out
    if lacking := missing():
        sys.exit(lacking)
    with (
        served(sample("3DS")) as link,
        chromium() as browser,
        watching(browser, viewport=VIEW, color_scheme="dark") as watched,
    ):
        film = Film(watched.open(f"{link}#f0/d0"))
        play(film)
    film.begin_with(len(DRAWS) + 1)
    first, *rest = film.frames
    path = out / "viewer.webp"
    options = {"duration": film.times, "loop": 0, "quality": QUALITY, "method": 6, "minimize_size": True}
    first.save(path, save_all=True, append_images=rest, **options)
    first.save(out / "viewer-still.webp", quality=QUALITY, method=6)
    print(f"{path}: {len(film.frames)} pictures, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
