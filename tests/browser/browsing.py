"""A browser for tests of the page: Chromium of the system, driven by playwright. Without them tests are skipped.

Debian's `chromium-headless-shell` is the same browser without the windows around a page, and takes a third less of the
processor. It is taken where it is installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "src/pocketgpu/view/page"
DATA = ROOT / "src/pocketgpu/data"
SAMPLES = {"3DS": "sample.ctf.xz", "Switch": "sample_switch.mxcap.zip"}
ARGUMENTS = (
    "--headless", "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-quic",
    "--no-first-run", "--disable-sync", "--disable-gpu-compositing",
    "--disable-background-networking", "--disable-component-update",
)  # fmt: skip
LIMIT = 180_000
"""Milliseconds that anything may take: machines of tests are slow at times."""
LOOKS: dict[str, Any] = {"viewport": {"width": 1300, "height": 800}, "color_scheme": "light"}
"""What a page looks like, unless a test says something else."""


def without_browser() -> str:
    """Why there is no browser here; empty if there is one."""
    if find_spec("playwright") is None:
        return "playwright is not installed"
    return "there is no Chromium" if _chromium() is None else ""


def missing() -> str:
    """Why the page can't be tested here; empty if it can."""
    if lacking := without_browser():
        return lacking
    if not (PAGE / "index.html").is_file():
        return "the page is not built: make page"
    return ""


USUAL = ("chromium", "chromium-browser", "chromium-headless-shell")
"""Programs to look for, those that users have first."""
QUICK = USUAL[::-1]
"""The same for tests, the one without windows first."""


def _chromium(names: Iterable[str] = QUICK) -> str | None:
    return next(filter(None, map(shutil.which, names)), None)


class Browser:
    """Chromium, and a page of it that tests use one after the other: a new one costs a process of its own, which takes
    four times as long as to load a page again."""

    def __init__(self, chromium: Any) -> None:
        self._chromium = chromium
        self._free: list[Page] = []

    def page(self, **options: Any) -> Page:
        """A page as new. options: of the browser's context; a page that is there can change those of LOOKS only."""
        if options.keys() <= LOOKS.keys():
            page = self._free.pop() if self._free else Page(self._chromium.new_context(), kept=True)
            page.look(**{**LOOKS, **options})
            return page
        return Page(self._chromium.new_context(**{**LOOKS, **options}), kept=False)

    def fresh(self, **options: Any) -> Any:
        """A context that has loaded nothing yet, for who measures how long that takes. Who asks closes it."""
        return self._chromium.new_context(**{**LOOKS, **options})

    def give(self, page: Page) -> None:
        """A test needs this page no more."""
        if page.kept and page.clean():
            self._free.append(page)
        else:
            page.context.close()


class Page:
    """A page in a context of its own. kept: whether another test may have it; not after what can't be undone."""

    def __init__(self, context: Any, kept: bool) -> None:
        self.context, self.kept = context, kept
        self.page = context.new_page()
        self.page.set_default_timeout(LIMIT)
        self._tools = context.new_cdp_session(self.page)

    def look(self, viewport: dict[str, int], color_scheme: str) -> None:
        self.page.set_viewport_size(viewport)
        self.page.emulate_media(color_scheme=color_scheme)

    def clean(self) -> bool:
        """Leave the page as a new one would be; False if it can't be done, such as when its server has ended.

        It goes to a picture of the same server: pages of other origins have other processes.
        """
        from playwright.sync_api import Error

        base = urlsplit(self.page.url)
        try:
            for other in self.context.pages:
                if other != self.page:
                    other.close()
            self.page.unroute_all()
            if base.netloc:
                self.page.mouse.move(0, 0)
                self.page.goto(f"{base.scheme}://{base.netloc}/icon.svg", timeout=LIMIT / 4)
                self.page.evaluate("localStorage.clear(); sessionStorage.clear()")
            self.context.clear_cookies()
            self._tools.send("Page.resetNavigationHistory")
        except Error:
            return False
        return True


@contextmanager
def chromium(names: Iterable[str] = QUICK) -> Iterator[Browser]:
    """A browser that shows no windows: the first of these programs that is installed."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=_chromium(names), args=list(ARGUMENTS))
        try:
            yield Browser(browser)
        finally:
            browser.close()


class Watched:
    """A page that is watched for errors: of scripts, and of what its security policy forbids."""

    def __init__(self, browser: Browser, **options: Any) -> None:
        self._browser = browser
        self._lent = browser.page(**options)
        self.context, self.page = self._lent.context, self._lent.page
        self.errors: list[str] = []
        self._listeners = {"pageerror": lambda error: self.errors.append(str(error)), "console": self._heard}
        for event, listener in self._listeners.items():
            self.page.on(event, listener)

    def _heard(self, message: Any) -> None:
        # A browser writes of every answer with status 400 or 409; tests ask for some.
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.errors.append(message.text)

    def before_load(self, script: str) -> None:
        """Run a script before those of each page. Use it instead of `page.add_init_script`, which can't be undone."""
        self.spoil()
        self.page.add_init_script(script)

    def spoil(self) -> None:
        """No other test gets this page."""
        self._lent.kept = False

    def open(self, url: str) -> Any:
        """Open an address and wait until the events are there."""
        self.page.goto(url)
        self.page.locator("pg-events .row").first.wait_for()
        return self.page

    def close(self) -> None:
        """Hear what was said until now, and give the page back."""
        self.page.evaluate("0")
        for event, listener in self._listeners.items():
            self.page.remove_listener(event, listener)
        self._browser.give(self._lent)


@contextmanager
def watching(browser: Browser, **options: Any) -> Iterator[Watched]:
    """A page in which nothing may break. options: of the browser's context."""
    watched = Watched(browser, **options)
    try:
        yield watched
    except BaseException:
        watched.spoil()
        raise
    finally:
        watched.close()
    assert watched.errors == [], watched.errors


@contextmanager
def served(*arguments: str) -> Iterator[str]:
    """The link of a running `pocketgpu view`. arguments: what it is about, and options."""
    command = [sys.executable, "-m", "pocketgpu", "view", *arguments, "--no-browser"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            words = (word for line in process.stdout for word in line.split())
            yield next(word for word in words if word.startswith("http"))
        finally:
            process.kill()


class Served:
    """A running `pocketgpu view` that several pages look at, one after the other. Its link lets in the first one, whose
    cookie the others get."""

    def __init__(self, link: str) -> None:
        self._link = link
        self._cookies: list[Any] = []

    def open(self, watched: Watched, address: str) -> Any:
        """Open an address in a page, and wait until the events are there."""
        watched.context.add_cookies(self._cookies)
        page = watched.open(f"{self._link}#{address}")
        base = urlsplit(page.url)
        self._link, self._cookies = f"{base.scheme}://{base.netloc}/", watched.context.cookies()
        return page


def sample(console: str) -> str:
    """The path of a console's sample."""
    return str(DATA / SAMPLES[console])


def answer(page: Any, path: str, **values: Any) -> Any:
    """What the server answers; the browser has the cookie."""
    base = urlsplit(page.url)
    response = page.context.request.get(f"{base.scheme}://{base.netloc}/api/{path}", params=values)
    assert response.status == 200, response.text()
    return response.body() if path == "picture" else response.json()


SOURCE = """() => {
    const canvas = document.querySelector("pg-picture").view.renderRoot.querySelector(".source");
    const {width, height} = canvas;
    return {width, height, bytes: Array.from(canvas.getContext("2d").getImageData(0, 0, width, height).data)};
}"""
"""What the canvas of the picture holds."""
DIFFERS = """async ({at, of}) => {
    const canvas = document.querySelector("pg-picture").view.renderRoot.querySelector(".source");
    const {width, height} = canvas;
    const shown = canvas.getContext("2d").getImageData(0, 0, width, height).data;
    const answer = await fetch("/api/picture?" + new URLSearchParams({at, of}));
    const bytes = new Uint8Array(await answer.arrayBuffer());
    if (bytes.length !== shown.length) return -1;
    return shown.reduce((sum, byte, index) => sum + (byte !== (index % 4 === 3 ? 255 : bytes[index])), 0);
}"""
"""In how many bytes the canvas differs from a picture of the server; -1: in size."""


DIFFERS_INSIDE = """async ({path, values, panel, part}) => {
    const view = document.querySelector(panel)?.renderRoot.querySelector(part)?.view;
    const canvas = view?.renderRoot.querySelector(".source");
    if (!canvas?.width) return -1;
    const shown = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    const answer = await fetch(path + "?" + new URLSearchParams(values));
    const bytes = new Uint8Array(await answer.arrayBuffer());
    if (bytes.length !== shown.length) return -1;
    return shown.reduce((sum, byte, index) => sum + (byte !== (index % 4 === 3 ? 255 : bytes[index])), 0);
}"""
"""In how many bytes a canvas in a part of a panel differs from a picture of the server; -1: in size."""
TEXT = """panel => {
    const texts = [];
    const visit = (node) => {
        if (node.nodeType === Node.TEXT_NODE) texts.push(node.textContent);
        else if (node.nodeType !== Node.ELEMENT_NODE || (node.checkVisibility() && node.tagName !== "STYLE"))
            (node.shadowRoot ?? node).childNodes.forEach(visit);
    };
    visit(document.querySelector(panel));
    return texts.join(" ").replace(/\\s+/g, " ");
}"""
"""What can be read in a panel, with all elements inside, and one space between words."""

AT_REST = """() => [...document.querySelectorAll("[role=tabpanel]")].every(panel => !panel.checkVisibility()
    || [panel.latest, panel.picture].every(one => !one?.state || one.state === "idle"))"""
"""Whether no panel that is to be seen waits for an answer."""


def opaque(data: bytes) -> list[int]:
    """Bytes of a picture as the canvas shows them: without alpha."""
    return [255 if at % 4 == 3 else byte for at, byte in enumerate(data)]


def listed(numbers: Iterable[int]) -> str:
    """Numbers as a page's `String` writes them. A picture goes to a page and back as one text: as a list it takes the
    driver of the browser seconds."""
    return ",".join(map(str, numbers))


def click_pixel(page: Any, x: int, y: int) -> None:
    """Click the middle of a pixel of the picture."""
    left, top = page.evaluate("([x, y]) => document.querySelector('pg-picture').view.pointOf(x, y)", [x, y])
    page.locator("pg-canvas").click(position={"x": left, "y": top})
