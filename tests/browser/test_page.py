"""The page in a browser, with made-up answers."""

from __future__ import annotations

from typing import Any

import pytest
from browser import browsing
from browser.browsing import SOURCE, Watched, click_pixel, listed, opaque
from browser.fake_server import HEIGHT, MANY, MARKUP, WIDTH, Fake, picture
from browser.fake_stream import COUNT

pytestmark = pytest.mark.skipif(bool(browsing.missing()), reason=browsing.missing())
MOST_ROWS = 200


def at(page: Any) -> str:
    """The address in the location."""
    found: str = page.evaluate("decodeURIComponent(location.hash.slice(1))")
    return found


def wait_at(page: Any, address: str) -> None:
    page.wait_for_function("wanted => decodeURIComponent(location.hash.slice(1)) === wanted", arg=address)


def because(page: Any, text: str) -> None:
    page.locator("pg-why .because", has_text=text).wait_for()


def row(page: Any, title: str) -> Any:
    return page.locator("pg-events .row", has_text=title)


def chosen(page: Any, title: str) -> None:
    page.locator("pg-events .row.chosen", has_text=title).wait_for()


def picture_is(page: Any, data: bytes) -> None:
    """Wait until the canvas has exactly these bytes."""
    page.wait_for_function(f"wanted => String(({SOURCE})().bytes) === wanted", arg=listed(opaque(data)))


def test_a_link_opens_what_it_names(watched: Watched, fake: Fake) -> None:
    page = watched.open(fake.url + "#f0/d4/px5,23")
    chosen(page, "draw 4")
    because(page, "about f0/d4/px5,23")
    assert page.locator("pg-events .row[aria-selected=true]").count() == 1
    assert page.locator("#address").input_value() == "f0/d4/px5,23"
    page.locator("pg-picture .status", has_text="red 1").wait_for()


def test_without_an_address_the_first_frame_is_shown(watched: Watched, fake: Fake) -> None:
    page = watched.open(fake.url)
    wait_at(page, "f0")
    because(page, "about f0")


def test_a_click_selects_and_history_and_reload_keep_it(watched: Watched, fake: Fake) -> None:
    page = watched.open(fake.url + "#f0/d1")
    chosen(page, "draw 1")
    row(page, "draw 3").click()
    wait_at(page, "f0/d3")
    row(page, "clear 1").click()
    wait_at(page, "f0/e5")
    chosen(page, "clear 1")
    page.go_back()
    chosen(page, "draw 3")
    because(page, "about f0/d3")
    page.reload()
    chosen(page, "draw 3")
    page.go_back()
    chosen(page, "draw 1")
    page.go_forward()
    chosen(page, "draw 3")


@pytest.mark.parametrize("address", ["f0/d2", "f0"])
def test_the_canvas_has_the_bytes_of_the_answer(watched: Watched, fake: Fake, address: str) -> None:
    page = watched.open(f"{fake.url}#{address}")
    picture_is(page, picture({"at": address}))
    found = page.evaluate(SOURCE)
    assert (found["width"], found["height"]) == (WIDTH, HEIGHT)


def test_what_is_seen_are_the_same_pixels(watched: Watched, fake: Fake) -> None:
    page = watched.open(fake.url + "#f0/d2")
    picture_is(page, picture({"at": "f0/d2"}))
    page.locator("pg-canvas").focus()
    page.keyboard.press("1")
    seen = """wanted => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => {
        const view = document.querySelector("pg-picture").view, {left, top} = view.viewport;
        const canvas = view.renderRoot.querySelector(".view");
        const data = canvas.getContext("2d").getImageData(left, top, 40, 24).data;
        done(String(Array.from(data)) === String(wanted));
    })))"""
    assert page.evaluate(seen, opaque(picture({"at": "f0/d2"})))


def test_a_channel_is_shown_alone(watched: Watched, fake: Fake) -> None:
    page = watched.open(fake.url + "#f0/d2")
    data = picture({"at": "f0/d2"})
    picture_is(page, data)
    page.get_by_role("radio", name="A", exact=True).click()
    alpha = bytes(data[at // 4 * 4 + 3] for at in range(len(data)))
    picture_is(page, alpha)


def test_before_and_difference(watched: Watched, fake: Fake) -> None:
    page = watched.open(fake.url + "#f0/d2")
    picture_is(page, picture({"at": "f0/d2"}))
    page.get_by_role("radio", name="before").click()
    picture_is(page, picture({"at": "f0/d1"}))
    page.get_by_role("radio", name="difference").click()
    page.locator("pg-picture .changed", has_text="1 pixels differ").wait_for()
    found = page.evaluate(SOURCE)
    assert found["bytes"][8:12] == [255, 64, 160, 255]
    assert found["bytes"][12] == found["bytes"][13]


def test_the_first_event_has_nothing_before_it(watched: Watched, fake: Fake) -> None:
    page = watched.open(fake.url + "#f0/e0")
    page.get_by_role("radio", name="before").click()
    page.locator("pg-picture .problem", has_text="nothing comes before this").wait_for()


def test_a_click_on_a_pixel_selects_its_address(watched: Watched, fake: Fake) -> None:
    page = watched.open(fake.url + "#f0/d2")
    picture_is(page, picture({"at": "f0/d2"}))
    click_pixel(page, 7, 5)
    wait_at(page, f"f0/d2/px7,{HEIGHT - 1 - 5}")
    because(page, "about f0/d2/px7,18")
    status = page.locator("pg-picture .status")
    data = picture({"at": "f0/d2"})[(5 * WIDTH + 7) * 4 :][:4]
    status.locator(".pointer", has_text=f"#{data.hex()}").wait_for()
    page.go_back()
    wait_at(page, "f0/d2")


@pytest.mark.parametrize("density", [1, 2])
def test_zoom_and_pan_keep_pixels_and_pointer_together(browser: Any, fake: Fake, density: int) -> None:
    watched = Watched(browser, device_scale_factor=density)
    page = watched.open(fake.url + "#f0/d2")
    picture_is(page, picture({"at": "f0/d2"}))
    page.locator("pg-canvas").focus()
    page.keyboard.press("0")
    box = page.locator("pg-canvas").bounding_box()
    pixel, zoom = "() => document.querySelector('pg-picture').view.cursor", ".status .end"
    # Not on the edge between two pixels.
    box["y"] += 5
    page.mouse.move(box["x"] + box["width"] / 3, box["y"] + box["height"] / 2)
    before, zoomed = page.evaluate(pixel), page.locator(zoom).inner_text()
    page.mouse.wheel(0, -120)
    page.wait_for_function("before => document.querySelector('pg-picture').view.viewport.zoom > before",
                           arg=int(zoomed.split()[-1].rstrip("x")))  # fmt: skip
    assert page.evaluate(pixel) == before
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 3 + 60, box["y"] + box["height"] / 2 + 30, steps=4)
    page.mouse.up()
    page.mouse.move(box["x"] + box["width"] / 3 + 61, box["y"] + box["height"] / 2 + 30)
    after = page.evaluate(pixel)
    assert abs(after[0] - before[0]) <= 1 and abs(after[1] - before[1]) <= 1
    assert at(page) == "f0/d2", "a drag selects nothing"
    click_pixel(page, *before)
    wait_at(page, f"f0/d2/px{before[0]},{HEIGHT - 1 - before[1]}")
    watched.close()
    assert watched.errors == []


def test_a_key_that_is_held_down_selects_where_it_rests(watched: Watched, fake: Fake) -> None:
    page = watched.open(fake.url + "#f0/e0")
    chosen(page, "load")
    length = page.evaluate("history.length")
    page.keyboard.press("F1")
    page.locator("pg-events [role=tree]:focus").wait_for()
    for _ in range(5):
        page.keyboard.down("ArrowDown")
    page.keyboard.up("ArrowDown")
    wait_at(page, "f0/d2")
    # The first press selects at once, the others together.
    assert page.evaluate("history.length") == length + 2


def test_tabs_by_keyboard(watched: Watched, fake: Fake) -> None:
    page = watched.open(fake.url + "#f0/d1")
    page.locator("pg-state .row").first.wait_for()
    page.get_by_role("tab", name="State").focus()
    page.keyboard.press("ArrowRight")
    page.locator("pg-words .row").first.wait_for()
    assert page.get_by_role("tab", name="Words").get_attribute("aria-selected") == "true"
    assert page.get_by_role("tab", name="State").get_attribute("aria-selected") == "false"


def test_all_by_keyboard(watched: Watched, fake: Fake) -> None:
    page = watched.open(fake.url + "#f0")
    keys = page.keyboard
    keys.press("F1")
    page.locator("pg-events [role=tree]:focus").wait_for()
    keys.press("ArrowRight")
    row(page, "draw 5").wait_for()
    keys.press("ArrowDown")
    wait_at(page, "f0/e0")
    keys.press("j")
    wait_at(page, "f0/e1")
    keys.press("j")
    wait_at(page, "f0/d0")
    keys.press("k")
    wait_at(page, "f0/e1")
    keys.press("ArrowLeft")
    wait_at(page, "f0/p0")
    keys.press("ArrowLeft")
    row(page, "draw 0").wait_for(state="detached")
    keys.press("End")
    wait_at(page, "f2")
    keys.press("Home")
    wait_at(page, "f0")
    keys.press("g")
    keys.type("scene.pgc#f0/d4")
    keys.press("Enter")
    wait_at(page, "f0/d4")
    keys.press("F2")
    page.locator("pg-canvas:focus").wait_for()
    picture_is(page, picture({"at": "f0/d4"}))
    keys.press("ArrowRight")
    keys.press("Enter")
    wait_at(page, f"f0/d4/px21,{HEIGHT - 1 - 12}")
    keys.press("/")
    page.locator("pg-events .filter:focus").wait_for()
    keys.type("jk")
    assert at(page) == f"f0/d4/px21,{HEIGHT - 1 - 12}"


def test_j_goes_into_the_next_frame(watched: Watched, fake: Fake) -> None:
    page = watched.open(fake.url + "#f0/d5")
    chosen(page, "draw 5")
    page.keyboard.press("j")
    wait_at(page, "f1/d0")
    page.keyboard.press("k")
    wait_at(page, "f0/d5")


def test_links_in_the_answer_select(watched: Watched, fake: Fake) -> None:
    page = watched.open(fake.url + "#f0")
    page.locator("pg-why .because a", has_text="f0/d2").click()
    wait_at(page, "f0/d2")
    chosen(page, "draw 2")


@pytest.mark.parametrize("address", ["xyz", "f0/d99"])
def test_a_broken_address_shows_the_servers_error(watched: Watched, fake: Fake, address: str) -> None:
    page = watched.open(f"{fake.url}#{address}")
    problem = page.locator("pg-why .problem")
    problem.wait_for()
    assert "is no part of an address" in problem.inner_text() or "frame 0 has no draw 99" in problem.inner_text()
    assert "Such as f0/d1." in problem.inner_text()
    row(page, "frame 0").first.click()
    because(page, "about f0")
    problem.wait_for(state="detached")


def test_what_is_no_draw_is_described(watched: Watched, fake: Fake) -> None:
    page = watched.open(fake.url + "#f0/e1")
    because(page, f"event {MARKUP}")
    page.locator("pg-why .line", has_text="0x20000000+0x10").wait_for()
    assert page.locator("pg-why .problem").count() == 0
    page.evaluate("location.hash = '#f0/e77'")
    page.locator("pg-why .problem", has_text="has no event 77").wait_for()


def test_text_of_a_capture_is_never_markup(watched: Watched, fake: Fake) -> None:
    page = watched.open(fake.url + "#f0/d1")
    because(page, "about")
    page.locator("pg-state td", has_text=MARKUP).wait_for()
    page.get_by_role("tab", name="Words").click()
    page.locator("pg-words .row", has_text=MARKUP).first.wait_for()
    assert row(page, f"load {MARKUP}").count() == 1
    assert page.locator("img").count() == 0
    assert "broken" not in page.title().split("<")[0]


def test_filters(watched: Watched, fake: Fake) -> None:
    page = watched.open(fake.url + "#f0/d1")
    chosen(page, "draw 1")
    page.get_by_label("draws only").check()
    row(page, "clear 0").wait_for(state="detached")
    page.locator("pg-events .filter").fill("draw 4")
    page.locator("pg-events .foot", has_text="1 of 9 events").wait_for()
    page.get_by_label("Filter registers").fill("register_7 ")
    page.locator("pg-state .row", has_text="REGISTER_70").first.wait_for()
    assert page.locator("pg-state .register", has_text="REGISTER_8").count() == 0


def test_the_state_is_compared_with_what_is_chosen(watched: Watched, fake: Fake) -> None:
    page = watched.open(fake.url + "#f0/d1")
    page.locator("pg-state td", has_text="previous").wait_for()
    page.get_by_label("Compare with").select_option("reset")
    page.locator("pg-state td", has_text="reset").wait_for()
    page.get_by_label("Compare with").select_option("address")
    page.get_by_label("Address to compare with").fill("f0/d0")
    page.keyboard.press("Enter")
    page.locator("pg-state td", has_text="f0/d0").wait_for()


def test_an_overtaken_request_is_no_error_and_a_slow_one_shows_that_it_works(watched: Watched, fake: Fake) -> None:
    page = watched.open(fake.url + "#f0/d1")
    because(page, "about f0/d1")
    fake.overtaken.add("why")
    row(page, "draw 2").click()
    page.wait_for_function("() => document.querySelector('pg-why').latest.state === 'idle'")
    assert page.locator("pg-why .problem").count() == 0
    fake.slow["why"] = 1.0
    row(page, "draw 3").click()
    page.locator("pg-why .working.on").wait_for()
    row(page, "draw 4").click()
    because(page, "about f0/d4")
    page.wait_for_timeout(1200)
    because(page, "about f0/d4")
    page.locator("pg-why .working:not(.on)").wait_for(state="attached")


def test_many_events_make_few_rows_and_scroll_fast(watched: Watched, fake: Fake, record_property: Any) -> None:
    page = watched.open(f"{fake.url}#f1/d{MANY - 1}")
    chosen(page, f"draw {MANY - 1}")
    page.locator("pg-events .foot", has_text=f"{MANY} draws").wait_for()
    measure = """async () => {
        const box = document.querySelector("pg-events").shadowRoot.querySelector(".scroll");
        const host = document.querySelector("pg-events");
        let most = 0, worst = 0, sum = 0;
        const steps = 100;
        for (let step = 0; step < steps; step += 1) {
            await new Promise(requestAnimationFrame);
            const begin = performance.now();
            box.scrollTop = (step * 7919 % 99000) * 20;
            box.dispatchEvent(new Event("scroll"));
            await host.updateComplete;
            const time = performance.now() - begin;
            sum += time;
            worst = Math.max(worst, time);
            most = Math.max(most, box.querySelectorAll(".row").length);
        }
        return {most, mean: sum / steps, worst};
    }"""
    found = page.evaluate(measure)
    print(found)
    for name, value in found.items():
        record_property(name, value)
    assert 20 < found["most"] <= MOST_ROWS
    # A step that works on each of 100,000 events takes far longer.
    assert found["mean"] < 50
    assert page.locator("pg-words .row").count() + page.locator("pg-state .row").count() <= MOST_ROWS


def test_many_rows_of_state_and_words_too(watched: Watched, fake: Fake) -> None:
    page = watched.open(fake.url + "#f0/d1")
    page.locator("pg-state .row").first.wait_for()
    assert page.locator("pg-state .row").count() <= MOST_ROWS
    page.get_by_role("tab", name="Words").click()
    page.locator("pg-words .row").first.wait_for()
    assert page.locator("pg-words .row").count() <= MOST_ROWS
    page.locator("pg-words .scroll").focus()
    page.keyboard.press("End")
    page.locator("pg-words .row", has_text=f"{COUNT - 1:08x}").wait_for()


def test_the_layout_is_kept(watched: Watched, fake: Fake) -> None:
    page = watched.open(fake.url + "#f0/d1")
    page.get_by_role("tab", name="Words").click()
    page.locator("pg-words .row").first.wait_for()
    page.wait_for_function("() => JSON.stringify(localStorage).includes('words')")
    page.wait_for_timeout(300)
    page.reload()
    page.locator("pg-words .row").first.wait_for()
    page.get_by_role("button", name="Layout").click()
    page.locator("pg-state .row").first.wait_for()


def test_the_head_says_when_the_server_has_ended(watched: Watched, fake: Fake) -> None:
    page = watched.open(fake.url + "#f0")
    because(page, "about f0")
    fake.shutdown()
    fake.server_close()
    fake.ended.set()
    page.locator("header .busy", has_text="the server does not answer").wait_for()
    page.evaluate("location.hash = '#f0/d1'")
    page.locator("pg-why .problem", has_text="the server does not answer").wait_for()


@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_colours_follow_the_system_and_the_switch(browser: Any, fake: Fake, scheme: str) -> None:
    watched = Watched(browser, color_scheme=scheme)
    page = watched.open(fake.url + "#f0")
    ground = "getComputedStyle(document.body).backgroundColor"
    dark, light = "rgb(27, 30, 34)", "rgb(255, 255, 255)"
    assert page.evaluate(ground) == (dark if scheme == "dark" else light)
    other = "light" if scheme == "dark" else "dark"
    page.get_by_label("Colours").select_option(other)
    assert page.evaluate(ground) == (dark if other == "dark" else light)
    page.reload()
    assert page.evaluate(ground) == (dark if other == "dark" else light)
    watched.close()
    assert watched.errors == []


def test_a_narrow_window_has_everything(browser: Any, fake: Fake) -> None:
    watched = Watched(browser, viewport={"width": 700, "height": 800})
    page = watched.open(fake.url + "#f0/d1")
    because(page, "about")
    assert page.evaluate("document.documentElement.scrollWidth") <= 700
    for name in ("State", "Words", "Why"):
        page.get_by_role("tab", name=name).click()
        page.locator(f"pg-{name.lower()} .scroll").wait_for()
    picture_is(page, picture({"at": "f0/d1"}))
    assert page.locator("pg-canvas").bounding_box()["height"] > 100
    watched.close()
    assert watched.errors == []
