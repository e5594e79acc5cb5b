"""Makes the pictures of the guides: `python tools/make_guide_pictures.py [NAME ...]` writes docs/images/guides/.

Most are computed: by the code of the page itself, or by what its commands call. A test compares these with what is
computed today. Those of SHOTS are the viewer and a report in Chromium; they need what `tests/browser` needs.
"""

from __future__ import annotations

import contextlib
import io
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

import numpy as np  # noqa: E402
from PIL import Image, ImageDraw  # noqa: E402

import pocketgpu  # noqa: E402
from pocketgpu import surface  # noqa: E402
from pocketgpu.facts.formats import BY_NAME  # noqa: E402
from pocketgpu.pictures import beside, to_image  # noqa: E402

GUIDES = ROOT / "docs" / "guides"
FOLDER = ROOT / "docs" / "images" / "guides"
MARK, GREY = (255, 64, 64), 0.3
"""The colour of marks, and how bright what is the same becomes where a picture shows differences."""
DATA = resources.files("pocketgpu") / "data"
SAMPLE, SWITCH = str(DATA / "sample.ctf.xz"), str(DATA / "sample_switch.mxcap.zip")


# -- computed ---------------------------------------------------------------------------------------------------------
def code_of(page: str) -> dict[str, Any]:
    """The names after the Python of a page ran, in a folder of its own; pictures that it wrote are "files"."""
    text = (GUIDES / f"{page}.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {"__name__": "__guide__"}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for source, name in ((SAMPLE, "scene.ctf.xz"), (SWITCH, "scene.mxcap.zip")):
            Path(name).write_bytes(Path(source).read_bytes())
        with contextlib.redirect_stdout(io.StringIO()):
            for block in re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
                exec(block, names)
        names["files"] = {path.name: Image.open(path).copy() for path in Path.cwd().glob("*.png")}
        made = [path for path in Path.cwd().glob("*.mxcap.zip") if path.name != "scene.mxcap.zip"]
        names["captures"] = {path.name: shown(str(path)) for path in made}
    return names


def shown(path: str, frame: int = 0, **options: Any) -> list[Image.Image]:
    """The screens of a frame."""
    (found,) = pocketgpu.open(path).render(frames=range(frame, frame + 1), **options)
    return [screen.image for screen in found.screens.values()]


def target(at: str, **options: Any) -> Image.Image:
    """The render target after an event of the sample."""
    return pocketgpu.debug(SAMPLE, **options).seek(at).target.image.convert("RGB")


def larger(image: Image.Image, times: int) -> Image.Image:
    return image.resize((image.width * times, image.height * times), Image.Resampling.NEAREST)


def differences(usual: Image.Image, other: Image.Image) -> Image.Image:
    """The usual picture, dark, with the pixels that differ in the colour of marks."""
    one, two = (np.asarray(image.convert("RGB")) for image in (usual, other))
    dark = (one.mean(axis=-1, keepdims=True) * GREY).astype(np.uint8).repeat(3, axis=-1)
    return to_image(np.where((one != two).any(axis=-1, keepdims=True), np.array(MARK, np.uint8), dark))


def first_pictures() -> Image.Image:
    return beside(shown(SAMPLE))


def triangle() -> Image.Image:
    return code_of("triangle")["files"]["triangle.png"]


def pushbuffers() -> Image.Image:
    captures = code_of("pushbuffers")["captures"]
    sizes = {"first": 1, "large": 1, "stripes": 2, "triangle": 1, "weave": 2}
    return beside([larger(captures[f"{name}.mxcap.zip"][0], times) for name, times in sizes.items()], columns=3)


def why_pixel() -> Image.Image:
    """The pixel of the guide marked in its picture, and what is around it."""
    top, x, y, around, times = shown(SAMPLE)[0], 200, 120, 15, 8
    near = larger(top.crop((x - around, y - around, x + around, y + around)), times)
    place = around * times
    ImageDraw.Draw(near).rectangle((place - 1, place - 1, place + times, place + times), outline=MARK)
    ImageDraw.Draw(top).rectangle((x - around, y - around, x + around, y + around), outline=MARK)
    return beside([top, near])


def passes() -> Image.Image:
    """A frame as it grows."""
    return beside([target(f"f0/d{draw}") for draw in (0, 3, 5, 7)], columns=2)


def textures() -> Image.Image:
    """The textures that draws of the first frame sample, each once."""
    run = pocketgpu.debug(SAMPLE)
    found: dict[bytes, Image.Image] = {}
    for draw in range(16):
        for texture in run.seek(f"f0/d{draw}").textures.values():
            found[texture.array.tobytes()] = to_image(texture.array).convert("RGB")
    return beside(list(found.values()), columns=4)


def compressed() -> Image.Image:
    """A picture, the same after ETC1, and both enlarged."""
    top = shown(SAMPLE)[0]
    pixels = np.dstack([np.asarray(top), np.full((top.height, top.width), 255, np.uint8)])
    etc1 = BY_NAME["ETC1"]
    again = surface.decode(surface.encode(pixels, etc1, "tiled"), etc1, top.width, top.height, "tiled")
    box = (160, 84, 260, 144)
    both = [top, to_image(np.ascontiguousarray(again[..., :3]))]
    return beside([larger(image.crop(box), 4) for image in both])


def choices() -> Image.Image:
    usual, nearest = (shown(SAMPLE, switches={"texture.filter": value})[0] for value in ("as-programmed", "nearest"))
    return beside([usual, nearest, differences(usual, nearest)])


def probe() -> Image.Image:
    """A scene of the probe under each value."""
    from pocketgpu.facts.choices import CHOICES
    from pocketgpu.probe import SCENES, observe

    name = "test.stencil_write"
    seen = [observe(SCENES[name].made, {name: value}) for value in CHOICES[name].values]
    return beside([to_image(np.ascontiguousarray(one.pictures["top"])) for one in seen])


def forced() -> Image.Image:
    plain = target("f0/d8")
    return beside([plain, target("f0/d8", overrides=["DEPTH_COLOR_MASK.red=no@f0/d4"])])


def homebrew() -> Image.Image:
    """What a program of each console shows: two of the tests'."""
    programs, found = ROOT / "tests" / "guests", []
    for name, screen in (("n3ds/scene.elf", "top"), ("switch/scene.nro", "screen")):
        with pocketgpu.run(programs / name) as app:
            app.frames(4)
            found.append(app.screens[screen].image)
    return beside([image.resize((400, 240), Image.Resampling.NEAREST) for image in found])


def time() -> Image.Image:
    return to_image(np.ascontiguousarray(code_of("time")["top"]))


def redacted() -> Image.Image:
    """A frame before and after `redact`."""
    from pocketgpu.cli import main

    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
        assert main(["convert", SAMPLE, "scene.pgc"]) == main(["capture", "redact", "scene.pgc", "shared.pgc"]) == 0
        return beside([shown("scene.pgc")[0], shown("shared.pgc")[0]])


def lighthouse() -> Image.Image:
    """The two targets of a frame of the Switch's sample, and its picture."""
    run = pocketgpu.debug(SWITCH)
    found = [run.seek(at).target.image.convert("RGB") for at in ("f0/d7", "f0/d14", "f0/d54")]
    return beside([image.reduce(4) for image in found])


RENDERED: dict[str, Callable[[], Image.Image]] = {
    "first-pictures": first_pictures, "triangle": triangle, "pushbuffers": pushbuffers, "why-pixel": why_pixel,
    "passes": passes, "textures": textures, "compressed": compressed, "choices": choices, "probe": probe,
    "forced": forced, "homebrew": homebrew, "time": time, "redacted": redacted, "lighthouse": lighthouse,
}  # fmt: skip
"""Pictures that are the same, pixel for pixel, whenever they are made."""


# -- taken of a page --------------------------------------------------------------------------------------------------
VIEW, TALL = {"width": 1200, "height": 700}, {"width": 1800, "height": 1200}
SHADER = "pg-shader"
QUALITY = 80
FOUND = "() => !document.querySelector('pg-events').renderRoot.querySelector('.foot').textContent.includes('looks for')"
"""Whether the findings of the capture are there."""


@contextlib.contextmanager
def viewer(capture: str, size: dict[str, int]) -> Iterator[tuple[str, Any]]:
    """The link of a running viewer, and what watches a page of that size."""
    from browser.browsing import chromium, served, watching

    with (
        served(capture) as link,
        chromium() as browser,
        watching(browser, viewport=size, color_scheme="dark") as watched,
    ):
        yield link, watched


def panel(at: str, *tabs: str, capture: str = SAMPLE, choose: str = "", only: str = "") -> Image.Image:
    """The viewer at an address, with tabs in front. choose: a button that is pressed then. only: one panel alone."""
    from browser.browsing import AT_REST

    with viewer(capture, TALL if only else VIEW) as (link, watched):
        page = watched.open(f"{link}#{at}")
        for name in tabs:
            page.get_by_role("tab", name=name, exact=True).click()
        if choose:
            page.get_by_role("radio", name=choose, exact=True).click()
        page.wait_for_timeout(1500)  # until it has begun to look for findings
        page.wait_for_function(FOUND)
        page.wait_for_function(AT_REST)
        page.wait_for_timeout(500)
        seen = page.locator(only).screenshot() if only else page.screenshot()
        return Image.open(io.BytesIO(seen)).convert("RGB")


def thread() -> Image.Image:
    """A thread of a grid that the guide about pushbuffers makes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "weave.mxcap.zip"
        path.write_bytes(code_of("pushbuffers")["capture"].tobytes())
        return panel("f0/e3/b0,0,0/t3,0,0", "Shader", capture=str(path), only=SHADER)


def answer() -> Image.Image:
    """The page that `why --html` writes."""
    from browser.browsing import chromium

    from pocketgpu.cli import main

    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()), chromium() as browser:
        path = Path(folder) / "why.html"
        assert main(["why", SAMPLE, "f0/px200,120", "--html", str(path)]) == 0
        page = browser.fresh(viewport={"width": 1000, "height": 700}).new_page()
        page.goto(path.as_uri())
        return Image.open(io.BytesIO(page.screenshot())).convert("RGB")


def report() -> Image.Image:
    """The page of a sweep."""
    from browser.browsing import chromium
    from support.pages import STAND_INS

    from pocketgpu.cli import main

    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), chromium() as browser:
        STAND_INS["our-captures"](Path("our-captures"))
        with contextlib.redirect_stdout(io.StringIO()):
            main(["sweep", "our-captures", "--do", "check", "--out", "before", "--workers", "1"])
        page = browser.fresh(viewport={"width": 1100, "height": 600}).new_page()
        page.goto((Path(folder) / "before" / "report" / "index.html").as_uri())
        page.wait_for_timeout(1000)
        return Image.open(io.BytesIO(page.screenshot())).convert("RGB")


def red() -> Image.Image:
    """The report about a picture that is not its golden."""
    from browser.browsing import chromium

    from pocketgpu.cli import main

    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), chromium() as browser:
        shutil.copy(SAMPLE, "scene.ctf.xz")
        with contextlib.redirect_stdout(io.StringIO()):
            main(["render", "scene.ctf.xz", "--out", "goldens", "--frames", "0"])
            changed = ["--frames", "0", "--set", "texture.filter=nearest"]
            main(["render", "scene.ctf.xz", "--expect", "goldens", "--report", "report", *changed])
        page = browser.fresh(viewport={"width": 1300, "height": 760}).new_page()
        page.goto((Path(folder) / "report" / "index.html").as_uri())
        page.wait_for_timeout(1000)
        return Image.open(io.BytesIO(page.screenshot())).convert("RGB")


SHOTS: dict[str, Callable[[], Image.Image]] = {
    "viewer-mesh": lambda: panel("f0/d7/t47", "Mesh"),
    "viewer-shader": lambda: panel("f0/d3/v5/s2", "Shader", only=SHADER),
    "viewer-graph": lambda: panel("f0/d8/v5/s2", "Shader", choose="Graph", only=SHADER),
    "viewer-thread": thread,
    "viewer-findings": lambda: panel("f0/d0"),
    "why-page": answer,
    "sweep-report": report,
    "red-report": red,
}


def write(names: list[str]) -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, make in {**RENDERED, **SHOTS}.items():
        if not names or name in names:
            path = FOLDER / f"{name}.webp"
            options: dict[str, Any] = {"lossless": True} if name in RENDERED else {"quality": QUALITY}
            make().save(path, method=6, **options)
            print(f"{path.relative_to(ROOT)}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    write(sys.argv[1:])
