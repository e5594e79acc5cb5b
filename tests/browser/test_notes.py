"""Notes and bookmarks in the page, with the real server: kept in a file, seen in two windows, text only."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import browsing
from browser.browsing import Watched, served, watching

pytestmark = pytest.mark.skipif(bool(browsing.missing()), reason=browsing.missing())
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
MARKUP = "<img src=x onerror=document.title='broken'> f1/d2"


@pytest.fixture(scope="module")
def opened(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Watched]]:
    """The folder of a capture, and two windows of one browser about it."""
    folder = tmp_path_factory.mktemp("captures")
    shutil.copy(browsing.sample("3DS"), folder / "scene.ctf.xz")
    with served(str(folder / "scene.ctf.xz")) as link, watching(browser) as watched:
        watched.open(link + "#f0/d5")
        yield folder, watched


def kept(folder: Path) -> dict[str, str]:
    path = folder / "scene.ctf.xz.notes.json"
    if not path.is_file():
        return {}
    return {one["address"]: one["text"] for one in json.loads(path.read_text())["notes"]}


def listed(page: Any) -> list[str]:
    found: list[str] = page.locator("pg-notes li > a").all_inner_texts()
    return found


def test_a_key_sets_and_takes_away_a_bookmark(opened: tuple[Path, Watched]) -> None:
    folder, watched = opened
    page = watched.page
    star = page.get_by_role("button", name="Bookmark", exact=True)
    assert kept(folder) == {} and [one.name for one in folder.iterdir()] == ["scene.ctf.xz"]
    page.locator("pg-events [role=tree]").focus()
    page.keyboard.press("m")
    page.wait_for_function("() => document.querySelector('.bookmark').getAttribute('aria-pressed') === 'true'")
    assert kept(folder) == {"f0/d5": ""}
    star.click()
    page.wait_for_function("() => document.querySelector('.bookmark').getAttribute('aria-pressed') === 'false'")
    assert kept(folder) == {}


def test_a_note_is_text_with_links(opened: tuple[Path, Watched]) -> None:
    folder, watched = opened
    page = watched.page
    page.get_by_role("tab", name="Notes").click()
    page.get_by_label("Note about the selection").fill(MARKUP)
    page.keyboard.press("Control+Enter")
    page.locator("pg-notes li p").wait_for()
    assert kept(folder) == {"f0/d5": MARKUP}
    assert page.locator("pg-notes li p").inner_text() == MARKUP and page.locator("pg-notes img").count() == 0
    page.locator("pg-notes li p a").click()
    page.wait_for_function("() => location.hash === '#f1/d2'")
    assert page.get_by_label("Note about the selection").input_value() == ""
    page.locator("pg-notes li > a").click()
    page.wait_for_function("() => location.hash === '#f0/d5'")
    field = 'document.querySelector("pg-notes").renderRoot.querySelector("textarea")'
    page.wait_for_function(f"text => {field}.value === text", arg=MARKUP)
    # Letters of a note are no keys of the page.
    page.get_by_label("Note about the selection").press("s")
    assert kept(folder) == {"f0/d5": MARKUP}


def test_two_windows_see_the_same(opened: tuple[Path, Watched]) -> None:
    folder, watched = opened
    first = watched.page
    second = watched.context.new_page()
    second.goto(first.url.partition("#")[0] + "#f0/d7")
    second.get_by_role("tab", name="Notes").click()  # the browser remembers which panels are in front
    second.locator("pg-notes li").first.wait_for()
    assert listed(second) == ["f0/d5"]
    second.get_by_role("button", name="Bookmark", exact=True).click()
    second.locator("pg-notes li").nth(1).wait_for()
    first.evaluate("dispatchEvent(new Event('focus'))")  # as when the window comes to the front
    first.locator("pg-notes li").nth(1).wait_for()
    assert listed(first) == ["f0/d5", "f0/d7"]
    # Each has its own selection, and its own answers.
    assert first.evaluate("location.hash") == "#f0/d5" and second.evaluate("location.hash") == "#f0/d7"
    for page, address in ((first, "f0/d5"), (second, "f0/d7")):
        page.wait_for_function("at => document.querySelector('pg-why').answer?.address === at", arg=address)
    second.get_by_role("button", name="Remove the note about f0/d5").click()
    second.wait_for_function("() => document.querySelector('pg-notes').renderRoot.querySelectorAll('li').length === 1")
    assert kept(folder) == {"f0/d7": ""}
    second.close()


def test_what_cannot_be_kept_is_said(opened: tuple[Path, Watched]) -> None:
    folder, watched = opened
    page = watched.page
    path = folder / "scene.ctf.xz.notes.json"
    page.evaluate("dispatchEvent(new Event('focus'))")
    page.wait_for_function("() => document.querySelector('pg-notes').renderRoot.querySelectorAll('li').length === 1")
    path.write_text("something else")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Bookmark", exact=True).click()
    page.locator("pg-notes .problem", has_text="this file holds no notes").wait_for()
    assert path.read_text() == "something else"
    os.unlink(path)
    page.evaluate("dispatchEvent(new Event('focus'))")
    page.locator("pg-notes .problem").wait_for(state="detached")
