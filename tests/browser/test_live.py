"""A program that runs in the page, in a browser with the real server: input, standing, going back, recording."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from browser import browsing
from browser.browsing import LIMIT, Served, served, watching

import pocketgpu
from pocketgpu.guests import App

pytestmark = pytest.mark.skipif(bool(browsing.missing()), reason=browsing.missing())
for _module in ("starlette", "uvicorn", "unicorn"):
    pytest.importorskip(_module)
ROOT = Path(__file__).resolve().parents[2]
GUESTS = ROOT / "tests/guests"
DRAWING = {"3DS": "n3ds/scene.elf", "Switch": "switch/framebuffer.nro"}
PANEL = "document.querySelector('pg-live')"
CANVASES = """async () => Object.fromEntries(await Promise.all(
    document.querySelector("pg-live").screens.canvases.map(async (canvas) => {
        const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        const digest = await crypto.subtle.digest("SHA-256", data.filter((_, at) => at % 4 < 3));
        const text = [...new Uint8Array(digest)].map(byte => byte.toString(16).padStart(2, "0")).join("");
        return [canvas.dataset.screen, `${canvas.width}x${canvas.height} ${text}`];
    })))"""
"""The size of each screen's canvas and a digest of its red, green and blue: as lists of numbers, pictures take the
driver of the browser seconds."""


@contextmanager
def opened(browser: Any, program: str, *options: str, **context: Any) -> Iterator[Any]:
    """The page of a program that stands before its first frame, unless the options say something else."""
    given = options or ("--paused",)
    with served(str(GUESTS / program), *given) as link, watching(browser, **context) as watched:
        watched.page.goto(link)
        watched.page.locator("pg-live .run").wait_for()
        yield watched.page


def alone(program: str, frames: int, script: str = "") -> App:
    app = pocketgpu.run(GUESTS / program)
    app.play(script)
    app.frames(frames)
    return app


def press(page: Any, button: str) -> None:
    page.locator("pg-live .bar").get_by_role("button", name=button, exact=True).click()


def wait(page: Any, condition: str, timeout: float = LIMIT) -> None:
    """Wait for something about the panel, `p`, and its last status, `s`."""
    page.wait_for_function(
        f"() => {{ const p = {PANEL}; const s = p.status; return s && ({condition}); }}", timeout=timeout
    )


def wait_text(page: Any, text: str) -> None:
    page.locator("pg-live details.text pre", has_text=text).wait_for()


def shows(page: Any, app: App) -> None:
    """The canvases have the pictures of an app."""
    wanted = {
        name: f"{one.width}x{one.height} {sha256(one.array.tobytes()).hexdigest()}" for name, one in app.screens.items()
    }
    found = page.evaluate(CANVASES)
    assert {name: found[name] for name in wanted if name in found} == {
        name: one for name, one in wanted.items() if name in app.console.screen_names
    }


def test_keys_and_pointer_arrive_frame_by_frame(browser: Any) -> None:
    program = "n3ds/input.elf"
    with opened(browser, program) as page:
        page.locator("pg-live summary", has_text="Text of the program").click()
        page.locator("pg-live .screens").focus()
        page.keyboard.down("x")
        wait(page, 'p.sent.includes("A") && !p.sending')
        page.keyboard.press(".")
        wait(page, "s.frame === 1")
        page.keyboard.down("ArrowUp")
        page.keyboard.down("w")
        wait(page, 'p.sent.includes("UP") && p.sent.includes("circle") && !p.sending')
        page.keyboard.press(".")
        wait(page, "s.frame === 2")
        for key in ("x", "w", "ArrowUp"):
            page.keyboard.up(key)
        bottom = page.locator("pg-live canvas[data-screen=bottom]")
        box, same = bottom.bounding_box(), 0
        while same < 4:  # the text below grows, and moves the screens
            page.wait_for_timeout(300)
            before, box = box, bottom.bounding_box()
            same = same + 1 if box == before else 0
        bottom.hover(position={"x": box["width"] / 4, "y": box["height"] / 2})
        page.mouse.down()
        wait(page, 'p.sent.includes("touch") && !p.sending')
        touched = page.evaluate(f"JSON.parse({PANEL}.sent).touch")
        page.keyboard.press(".")
        wait(page, "s.frame === 3")
        page.mouse.up()
        wait(page, 'p.sent === "{}" && !p.sending')
        page.keyboard.press(".")
        wait(page, "s.frame === 4")
        x, y = map(int, touched.split(","))
        assert abs(x - 80) <= 2 and abs(y - 120) <= 2
        app = alone(program, 4, f"0: A\n1: A+UP\n1: circle 0,1\n2: touch {touched}\n")
        wait_text(page, "touch")
        assert page.locator("pg-live details.text pre").inner_text().strip() == app.debug_text.strip()
        # Letters of the program are not the page's keys: s would save a page, g would select the address.
        assert page.evaluate("document.activeElement.tagName") == "PG-LIVE"


def test_keys_are_let_go_with_the_focus(browser: Any) -> None:
    with opened(browser, "switch/input.nro", "--port=0") as page:
        wait(page, 's.state === "running" && s.frame > 5')
        page.locator("pg-live summary", has_text="Text of the program").click()
        page.locator("pg-live .screens").focus()
        page.keyboard.down("x")
        wait_text(page, "buttons 1")
        page.locator("#address").focus()
        wait(page, 'p.sent === "{}"')
        wait_text(page, "buttons 0")


@pytest.mark.parametrize("console", DRAWING)
def test_stand_go_back_and_ask_why(browser: Any, console: str, tmp_path: Path) -> None:
    program = DRAWING[console]
    with opened(browser, program) as page:
        for count in range(1, 5):
            press(page, "Step")
            wait(page, f"s.frame === {count}")
        app = alone(program, 4)
        shows(page, app)
        at = f"f{app.console.recorded_frame}"
        page.wait_for_function("at => location.hash === '#' + at", arg=at)
        page.locator("pg-events .row.chosen").wait_for()
        press(page, "Back")
        wait(page, "s.frame === 3")
        earlier = alone(program, 3)
        shows(page, earlier)
        page.wait_for_function("at => location.hash === '#' + at", arg=f"f{earlier.console.recorded_frame}")
        page.get_by_role("tab", name="Picture").click()
        page.wait_for_function("() => document.querySelector('pg-picture')?.present")
        page.locator("pg-canvas").click()
        page.wait_for_function("() => location.hash.includes('/px')")
        address = page.evaluate("location.hash.slice(1)")
        base = urlsplit(page.url)
        why = page.context.request.get(f"{base.scheme}://{base.netloc}/api/why", params={"at": address}).json()
        page.locator("pg-why .because", has_text=why["because"].split("  ")[0]).wait_for()
        page.get_by_role("tab", name="Program").click()
        wait(page, "s.frame === 3")
        shows(page, earlier)
        with page.expect_download() as downloaded:
            press(page, "Save all")
        path = tmp_path / downloaded.value.suggested_filename
        downloaded.value.save_as(path)
        last = [*pocketgpu.open(path).render()][-1]
        for name, one in earlier.screens.items():
            assert last.screens[name].array.tobytes() == one.array.tobytes()


def test_a_recording_that_is_opened_late_does_not_lead_back(browser: Any) -> None:
    """The program has gone back before the page has opened the recording of the step."""
    program = DRAWING["Switch"]
    with opened(browser, program) as page:
        for count in range(1, 4):
            press(page, "Step")
            wait(page, f"s.frame === {count}")
        held: list[Any] = []
        page.route("**/api/capture*", lambda route: held.append(route))
        with page.expect_request("**/api/capture*"):
            press(page, "Step")
            wait(page, "s.frame === 4")
        press(page, "Back")
        wait(page, "s.frame === 3")
        with page.expect_response("**/api/capture*") as answered:
            held[-1].continue_()
        answered.value.finished()
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert page.evaluate("location.hash") == f"#f{alone(program, 3).console.recorded_frame}"


def test_record_from_a_frame_on(browser: Any, tmp_path: Path) -> None:
    program = DRAWING["3DS"]
    with opened(browser, program) as page:
        for count in (1, 2, 3):
            press(page, "Step")
            wait(page, f"s.frame === {count}")
        press(page, "Record from here")
        press(page, "Step")
        wait(page, "s.frame === 4")
        with page.expect_download() as downloaded:
            press(page, "Save frame 2 to now")
        path = tmp_path / downloaded.value.suggested_filename
        downloaded.value.save_as(path)
        frames = [*pocketgpu.open(path).render()]
        assert len(frames) == 2
        for frame, count in zip(frames, (3, 4), strict=True):
            for name, one in alone(program, count).screens.items():
                assert frame.screens[name].array.tobytes() == one.array.tobytes()


def test_it_runs_and_stands_by_the_space_key(browser: Any) -> None:
    with opened(browser, DRAWING["3DS"], "--port=0") as page:
        wait(page, 's.state === "running" && s.frame > 3')
        page.locator("pg-live .screens").focus()
        page.keyboard.press("Space")
        wait(page, 's.state === "standing"')
        frame = page.evaluate(f"{PANEL}.status.frame")
        shows(page, alone(DRAWING["3DS"], frame))
        page.wait_for_function("at => location.hash === '#' + at", arg=f"f{frame - 1}")
        page.locator("header", has_text=f"{frame} frames").wait_for()
        page.keyboard.press(" ")
        wait(page, f's.state === "running" && s.frame > {frame}')
        press(page, "Restart")
        wait(page, 's.state === "standing" && s.frame === 0')


def test_a_fault_shows_where_it_was(browser: Any) -> None:
    with opened(browser, "n3ds/faults.elf") as page:
        press(page, "Run")
        page.locator("pg-live .note.bad", has_text="faults.c:10").wait_for()
        assert page.locator("pg-live .bar").get_by_role("button", name="Run", exact=True).is_disabled()


def test_two_pages_look_at_one_program(browser: Any) -> None:
    with opened(browser, DRAWING["3DS"]) as page:
        other = page.context.new_page()
        other.goto(page.url)
        other.locator("pg-live .run").wait_for()
        press(page, "Step")
        for one in (page, other):
            wait(one, "s.frame === 1")
            shows(one, alone(DRAWING["3DS"], 1))
            one.wait_for_function("() => location.hash === '#f0'")
        other.close()


def test_a_capture_has_no_program(browser: Any, samples: Callable[[str], Served]) -> None:
    with watching(browser) as watched:
        page = samples("3DS").open(watched, "f0")
        page.locator("pg-events .row").first.wait_for()
        assert page.locator("pg-live").count() == 0 and page.get_by_role("tab", name="Program").count() == 0


def test_saving_tells_how_far_it_is_and_can_be_given_up(browser: Any) -> None:
    with opened(browser, "n3ds/scene.elf") as page:
        page.evaluate("fetch('/api/live/step?frames=600')")
        wait(page, "s.frame === 600")
        press(page, "Save all")
        page.locator("pg-live .saving", has_text=" of 600").wait_for()
        part = page.evaluate("document.querySelector('pg-live').renderRoot.querySelector('progress').position")
        assert 0 < part < 1
        page.locator("pg-live .saving").get_by_role("button", name="Cancel").click()
        page.locator("pg-live .saving").wait_for(state="detached")
        wait(page, 's.frame === 600 && s.state === "standing"')
        assert page.locator("pg-live .problem").count() == 0
        press(page, "Step")
        wait(page, "s.frame === 601")
