"""The page in a browser, with the real server and the samples of both consoles."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import browsing
from browser.browsing import DIFFERS, SAMPLES, Served, Watched, answer, click_pixel, watching

pytestmark = pytest.mark.skipif(bool(browsing.missing()), reason=browsing.missing())
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
SIZE = "(({width, height}) => [width, height])(document.querySelector('pg-picture').view.renderRoot.firstElementChild)"


@pytest.fixture(scope="module", params=list(SAMPLES))
def opened(
    browser: Any, samples: Callable[[str], Served], request: pytest.FixtureRequest
) -> Iterator[tuple[str, Any, Watched]]:
    """Console, page, and what watches it."""
    with watching(browser) as watched:
        page = samples(request.param).open(watched, "f0/d5")
        page.locator("pg-events .row.chosen").wait_for()
        yield request.param, page, watched


def select(page: Any, address: str) -> None:
    """Select an address and wait for its picture and its answer."""
    page.evaluate("address => location.hash = address", address)
    page.wait_for_function(
        """address => {
            const [why, picture] = ["pg-why", "pg-picture"].map(name => document.querySelector(name));
            return why.answer?.address === address && [why.latest, picture.latest, picture.picture].every(
                one => one.state === "idle") && address.startsWith(picture.place) && picture.present;
        }""",
        arg=address,
    )


def test_the_head_and_the_tree_tell_of_the_capture(opened: tuple[str, Any, Watched]) -> None:
    console, page, _ = opened
    select(page, "f0/d5")
    capture = answer(page, "capture")
    page.locator("header", has_text=f"{console} · {capture['frames']} frames").wait_for()
    rows = answer(page, "events", frame=0)["rows"]
    title = next(row[4] for row in rows if row[1] == 5)
    assert title in page.locator("pg-events .row.chosen").inner_text()


@pytest.mark.parametrize("address", ["f0/d5", "f0"])
def test_every_picture_in_the_canvas_is_the_servers(opened: tuple[str, Any, Watched], address: str) -> None:
    _, page, _ = opened
    select(page, address)
    pictures = answer(page, "pictures", at=address)["pictures"]
    assert pictures
    for one in pictures:
        page.get_by_role("radio", name=one["name"], exact=True).click()
        page.wait_for_function(
            "name => { const p = document.querySelector('pg-picture'); "
            "return p.present?.info.name === name && p.picture.state === 'idle'; }",
            arg=one["name"],
        )
        page.wait_for_timeout(100)
        assert page.evaluate(SIZE) == [one["width"], one["height"]]
        assert page.evaluate(DIFFERS, {"at": address, "of": one["name"]}) == 0


def test_a_click_on_a_pixel_says_why(opened: tuple[str, Any, Watched]) -> None:
    _, page, _ = opened
    select(page, "f0/d5")
    page.get_by_role("radio", name="target", exact=True).click()
    page.wait_for_function("() => document.querySelector('pg-picture').present.info.name === 'target'")
    page.wait_for_timeout(200)
    page.locator("pg-canvas").focus()
    page.keyboard.press("0")
    x, y = page.evaluate("(({imageWidth, imageHeight}) => [imageWidth >> 1, imageHeight >> 1])"
                         "(document.querySelector('pg-picture').view.viewport)")  # fmt: skip
    click_pixel(page, x, y)
    page.wait_for_function("() => location.hash.includes('/px')")
    address = page.evaluate("location.hash.slice(1)")
    # Below zoom 1 the click is at one of several pixels.
    clicked = page.evaluate("history.state.clicked")
    assert answer(page, "pixel", at="f0/d5", of="target", x=clicked["x"], y=clicked["y"])["address"] == address
    wanted = answer(page, "why", at=address)
    page.locator("pg-why .because", has_text=wanted["because"].split("  ")[0]).wait_for()
    shown = page.locator("pg-why .conclusion li").all_inner_texts()
    assert [line.split() for line in shown] == [line.split() for line in wanted["conclusion"]]


def test_a_pasted_pixel_is_marked(opened: tuple[str, Any, Watched]) -> None:
    """Without what a click leaves in the history: the page finds the pixel in the picture of the target."""
    _, page, _ = opened
    select(page, "f0/d5/px30,20")
    page.wait_for_function("() => document.querySelector('pg-picture').view.mark !== null")
    x, y = page.evaluate("document.querySelector('pg-picture').view.mark")
    assert answer(page, "pixel", at="f0/d5", of="target", x=x, y=y)["address"] == "f0/d5/px30,20"


def test_state_and_words_are_the_servers(opened: tuple[str, Any, Watched]) -> None:
    _, page, _ = opened
    select(page, "f0/d5")
    state = answer(page, "state", at="f0/d5", since="previous")
    page.locator("pg-state .dim", has_text=f"{len(state['changes'])} changed").wait_for()
    assert page.locator("pg-state th").all_inner_texts() == [one["name"] for one in state["summary"]]
    page.get_by_role("tab", name="Words").click()
    words = [line for line in answer(page, "words", at="f0/d5")["lines"] if "word" in line]
    page.get_by_label("this event only").check()
    total = answer(page, "stream_open")["rows"]
    page.locator("pg-words .count", has_text=f"{len(words)} of {total:,} rows").wait_for()
    first = page.locator("pg-words .row", has_text=words[0]["address"])
    assert words[0]["register"]["name"] in first.inner_text()
    page.get_by_label("this event only").uncheck()
    page.get_by_role("tab", name="State").click()


def test_the_difference_counts_what_the_bytes_say(opened: tuple[str, Any, Watched]) -> None:
    _, page, _ = opened
    select(page, "f0/d5")
    page.get_by_role("radio", name="target", exact=True).click()
    page.get_by_role("radio", name="difference").click()
    before, after = (answer(page, "picture", at=at, of="target") for at in ("f0/d4", "f0/d5"))
    count = sum(before[at : at + 4] != after[at : at + 4] for at in range(0, len(after), 4))
    page.locator("pg-picture .changed", has_text=f"{count:,} pixels differ").wait_for()
    assert answer(page, "picture", at="f0/d5", of="target", before="1") == before
    # The first event of a pass has a target that was not bound before it.
    select(page, "f0/p1")
    first, last = (answer(page, "picture", at="f0/p1", of="target", **more) for more in ({"before": "1"}, {}))
    count = sum(first[at : at + 4] != last[at : at + 4] for at in range(0, len(last), 4))
    page.locator("pg-picture .changed", has_text=f"{count:,} pixels differ").wait_for()
    page.get_by_role("radio", name="after").click()


def test_a_broken_address_shows_the_servers_error(opened: tuple[str, Any, Watched]) -> None:
    _, page, _ = opened
    page.evaluate("location.hash = 'f0/d999'")
    page.locator("pg-why .problem", has_text="frame 0 has no draw 999").wait_for()
    page.locator("pg-picture .problem", has_text="f0/d0 to ").wait_for()
    select(page, "f0/d5")
    assert page.locator(".problem").count() == 0


def test_a_saved_page_opens_without_a_server(opened: tuple[str, Any, Watched], tmp_path: Path) -> None:
    _, page, watched = opened
    select(page, "f0/d5/px30,20")
    page.wait_for_function("() => document.querySelector('pg-picture').view.mark !== null")
    with page.expect_download() as downloaded:
        page.get_by_role("button", name="Save", exact=True).click()
    path = tmp_path / downloaded.value.suggested_filename
    downloaded.value.save_as(path)
    assert path.suffix == ".html" and "f0-d5-px30-20" in path.name
    saved = watched.context.new_page()
    problems: list[str] = []
    saved.on("console", lambda message: problems.append(message.text))
    saved.goto(path.as_uri())
    assert saved.title().endswith("f0/d5/px30,20")
    assert saved.evaluate("[...document.images].every((image) => image.complete && image.naturalWidth > 0)")
    wanted = answer(page, "why", at="f0/d5/px30,20")
    assert saved.get_by_text(wanted["conclusion"][0].split("  ")[0]).first.is_visible()
    saved.screenshot(path=tmp_path / "saved.png")
    assert problems == []
    saved.close()


def test_two_tabs_and_a_reload(opened: tuple[str, Any, Watched]) -> None:
    """Both tabs ask at the same time, each gets its own answers, and a reload shows what was there."""
    _, page, watched = opened
    second = watched.context.new_page()
    second.goto(page.url.partition("#")[0] + "#f1/d3")
    for number in (4, 6, 5):
        for one, address in ((page, f"f0/d{number}"), (second, f"f1/d{number}")):
            one.evaluate("address => location.hash = address", address)
    select(second, "f1/d5")
    select(page, "f0/d5")
    for one, address in ((page, "f0/d5"), (second, "f1/d5")):
        wanted = answer(one, "why", at=address)
        assert one.locator("pg-why .because").inner_text().split() == wanted["because"].split()
    select(page, "f0/d5/px30,20")
    shown = page.evaluate(browsing.TEXT, "pg-why")
    page.reload()
    page.locator("pg-events .row.chosen").wait_for()
    select(page, "f0/d5/px30,20")
    assert page.evaluate(browsing.TEXT, "pg-why") == shown
    assert page.evaluate(DIFFERS, {"at": "f0/d5", "of": page.evaluate(
        "document.querySelector('pg-picture').present.info.name")}) == 0  # fmt: skip
    second.close()


def test_from_an_event_to_a_reason_by_keyboard_alone(opened: tuple[str, Any, Watched]) -> None:
    _, page, _ = opened
    select(page, "f0/d5")
    page.keyboard.press("F1")
    events = "document.querySelector('pg-events')"
    page.wait_for_function(f"() => {events}.renderRoot.activeElement?.getAttribute('role') === 'tree'")
    page.keyboard.press("j")
    page.wait_for_function("() => location.hash !== '#f0/d5'")
    page.keyboard.press("k")
    page.wait_for_function("() => location.hash === '#f0/d5'")
    page.keyboard.press("F2")
    page.wait_for_function("() => document.querySelector('pg-picture').renderRoot.activeElement?.matches('pg-canvas')")
    page.keyboard.press("0")
    for key in ("ArrowRight", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    page.wait_for_function("() => location.hash.includes('/px')")
    address = page.evaluate("location.hash.slice(1)")
    select(page, address)
    page.keyboard.press("F3")
    page.wait_for_function("() => document.querySelector('pg-why').renderRoot.activeElement?.ariaLabel === 'Why'")
    assert page.locator("pg-why .because").inner_text().split() == answer(page, "why", at=address)["because"].split()
    page.keyboard.press("g")
    page.keyboard.type("f0/d4")
    page.keyboard.press("Enter")
    page.wait_for_function("() => location.hash === '#f0/d4'")
    page.go_back()
    page.wait_for_function("address => location.hash.slice(1) === address", arg=address)
