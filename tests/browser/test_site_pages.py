"""Pages of the site in a browser: the check finds what readers would meet. The front page and the gallery pass it."""

from __future__ import annotations

import os
import runpy
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from browser.browsing import Browser, watching, without_browser
from support.house import ROOT

CHECK = runpy.run_path(str(ROOT / "tools" / "check_site.py"))
pytestmark = [
    pytest.mark.skipif(bool(without_browser()), reason=without_browser()),
    pytest.mark.skipif(not CHECK["AXE"].is_file(), reason="axe-core is not installed: npm ci in viewer/"),
]
HEAD = '<!doctype html><html lang="en"><head><title>A page</title></head><body><main><h1>A page</h1>'
BAD = {
    "colour": '<p style="color: #999; background: #fff">Pale text</p>',
    "picture": '<img src="data:image/png;base64,iVBORw0KGgo=">',
    "wide": '<div style="width: 3000px">Wide</div>',
    "link": '<a href="b.html"></a>',
    "host": '<p>Text</p><script>fetch("http://127.0.0.2:9/x").catch(() => 0)</script>',
}
FOUND = {
    "colour": "color-contrast",
    "picture": "image-alt",
    "wide": "pixels wide",
    "link": "link-name",
    "host": "asks http://127.0.0.2:9/x",
}
SITE = os.environ.get("POCKETGPU_SITE", "")
"""A site that is as new as the sources: one of earlier sources may have mistakes that are mended."""


def seen(site: Path, pages: list[str], looks: Any = CHECK["LOOKS"]) -> list[str]:
    """In a thread of its own: the browser of other tests belongs to this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: list(CHECK["seen"](site, pages, looks))).result()


def test_what_readers_would_meet_is_found(tmp_path: Path) -> None:
    (tmp_path / "good.html").write_text(HEAD + "<p>Text</p></main>", encoding="utf-8")
    for name, text in BAD.items():
        (tmp_path / f"{name}.html").write_text(f"{HEAD}{text}</main>", encoding="utf-8")
    found = seen(tmp_path, ["good.html", *(f"{name}.html" for name in BAD)], ((1400, "light"),))
    assert [line.partition(".html")[0] for line in found if not line.startswith("host")] == list(BAD)[:-1]
    assert any(line.startswith("host") and FOUND["host"] in line for line in found)
    for name, words in FOUND.items():
        assert any(line.startswith(name) and words in line for line in found), found


def test_wide_code_is_reached_with_the_keyboard(browser: Browser, tmp_path: Path) -> None:
    """By `site.js`: what does not scroll is no stop of the Tab key."""
    script = (ROOT / "docs" / "static" / "site.js").as_uri()
    blocks = "".join(f'<div class="highlight"><pre>{text}</pre></div>' for text in ("short", "wide " * 99))
    style = "<style>pre { overflow: auto }</style>"
    page = f'{HEAD}{style}{blocks}</main><script src="{script}"></script>'
    (tmp_path / "code.html").write_text(page, encoding="utf-8")
    with watching(browser, viewport={"width": 900, "height": 500}) as watched:
        watched.spoil()  # a file has another origin
        watched.page.goto((tmp_path / "code.html").as_uri())
        stops = "[...document.querySelectorAll('pre')].map(one => one.tabIndex)"
        assert watched.page.evaluate(stops) == [-1, 0]
        watched.page.set_viewport_size({"width": 8000, "height": 500})
        watched.page.wait_for_function(f"{stops}.every(one => one === -1)")


def test_wide_tables_of_notebooks_are_reached_with_the_keyboard(browser: Browser, tmp_path: Path) -> None:
    """They scroll by themselves, by `notebooks.css`."""
    style, script = ((ROOT / "docs" / "static" / name).as_uri() for name in ("notebooks.css", "site.js"))
    tables = "".join(f"<table><tr>{'<td>instruction</td>' * count}</tr></table>" for count in (1, 90))
    output = f'<div class="cell_output"><div class="output text_html">{tables}</div></div>'
    page = f'{HEAD}<link rel="stylesheet" href="{style}">{output}</main><script src="{script}"></script>'
    (tmp_path / "cell.html").write_text(page, encoding="utf-8")
    with watching(browser, viewport={"width": 400, "height": 500}) as watched:
        watched.spoil()  # a file has another origin
        watched.page.goto((tmp_path / "cell.html").as_uri())
        assert watched.page.evaluate("[...document.querySelectorAll('table')].map(one => one.tabIndex)") == [-1, 0]
        assert watched.page.evaluate("document.documentElement.scrollWidth") == 400


def test_moving_pictures_can_be_stopped(browser: Browser, tmp_path: Path) -> None:
    static = ROOT / "docs" / "static"
    style, script = ((static / name).as_uri() for name in ("gallery.css", "site.js"))
    head = f'<link rel="stylesheet" href="{style}"><script defer src="{script}"></script>'
    pictures = "".join(f'<img class="{name}" width="9" height="9" alt="{name}">' for name in ("moving", "still"))
    page = f'<!doctype html><title>A page</title>{head}<main>{pictures * 2}</main>'
    (tmp_path / "moving.html").write_text(page, encoding="utf-8")
    shown = "[...document.images].filter(one => one.checkVisibility()).map(one => one.className)"
    with watching(browser) as watched:
        watched.spoil()  # a file has another origin
        watched.page.goto((tmp_path / "moving.html").as_uri())
        assert watched.page.evaluate(shown) == ["moving", "moving"]
        watched.page.get_by_role("button", name="Stop").first.click()
        assert watched.page.evaluate(shown) == ["still", "still"]
        watched.page.get_by_role("button", name="Play").last.click()
        assert watched.page.evaluate(shown) == ["moving", "moving"]
        watched.page.emulate_media(reduced_motion="reduce")
        assert watched.page.evaluate(shown) == ["still", "still"]


@pytest.mark.skipif(not SITE, reason="POCKETGPU_SITE names no built site")
def test_the_front_page_and_a_scene() -> None:
    site = Path(SITE)
    scene = sorted(path.relative_to(site).as_posix() for path in site.glob("gallery/3ds/*.html"))[-1]
    assert seen(site, ["index.html", "gallery/index.html", "for/homebrew.html", scene]) == []
