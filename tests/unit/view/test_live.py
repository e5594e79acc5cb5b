"""A program that runs for the page: the same frames as `App` alone, input, going back, recordings, and its requests."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.testclient import TestClient
from support.view_desk import client_of

import pocketgpu
from pocketgpu.capture.formats.pgc.encoder import encode
from pocketgpu.errors import UsageError
from pocketgpu.guests import App
from pocketgpu.view import live_stream
from pocketgpu.view.live import live_run as live_module
from pocketgpu.view.live.live_run import ENDED, LOOKED_AT, RUNNING, STANDING, LiveRun
from pocketgpu.view.live.shown import Shown, changed_rows, smaller, step_of
from pocketgpu.view.live_stream import LiveStreams
from pocketgpu.view.machine_thread import MachineThread
from pocketgpu.view.questions.desk import MAIN, Desk, desk_of
from pocketgpu.view.questions.live import live_desk, work
from pocketgpu.view.questions.notes_file import Notes
from pocketgpu.view.routes import Routes

pytest.importorskip("unicorn", reason="needs the extra 'guest'")
GUESTS = Path(__file__).resolve().parents[2] / "guests"
INPUT = {"n3ds": GUESTS / "n3ds/input.elf", "switch": GUESTS / "switch/input.nro"}
STICK = {"n3ds": "circle", "switch": "left_stick"}
SCRIPT = "3-4: A\n5: UP+B\n5: touch 100,120\n6-7: {} 0.5,-1\n"
HELD: dict[int, dict[str, str]] = {
    3: {"keys": "A"}, 5: {"keys": "UP+B", "touch": "100,120"}, 6: {"stick": "0.5,-1"}, 8: {},
}  # fmt: skip
DRAWING = {"n3ds": GUESTS / "n3ds/scene.elf", "switch": GUESTS / "switch/framebuffer.nro"}
CONSOLES = ("n3ds", "switch")
SCENES = {"n3ds": (GUESTS / "n3ds/scene.elf",), "switch": (GUESTS / "switch/scene.nro", "1000")}


def started(path: Path, *arguments: str) -> LiveRun:
    return LiveRun(lambda: pocketgpu.run(path, arguments=arguments))


def alone(path: Path, script: str = "", frames: int = 0, *arguments: str) -> App:
    app = pocketgpu.run(path, record=True, arguments=arguments)
    app.play(script)
    app.frames(frames)
    return app


def pixels(app: App) -> bytes:
    """What the page gets of a frame."""
    return b"".join(one.array.tobytes() for name, one in app.screens.items() if name in app.console.screen_names)


def newest(run: LiveRun) -> bytes:
    assert run.newest is not None
    return run.newest.pixels


SCOPE = {"type": "http", "method": "GET", "headers": [], "query_string": b""}


class Reading:
    """Who always wants the next frame. told: counts."""

    def __init__(self) -> None:
        self.ready, self.count = True, 0

    def told(self) -> None:
        self.count += 1


def until_it_stands(run: LiveRun, seconds: float = 60) -> None:
    last = time.monotonic() + seconds
    while (wait := run.advance()) is not None:
        assert time.monotonic() < last
        time.sleep(wait)


# -- the run ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("console", CONSOLES)
def test_held_controls_are_a_scripts(console: str) -> None:
    run = started(INPUT[console])
    for frame in range(12):
        if frame in HELD:
            run.hold({STICK[console] if name == "stick" else name: one for name, one in HELD[frame].items()})
        run.step()
    app = alone(INPUT[console], SCRIPT.format(STICK[console]), 12)
    assert run.frame == 12 and run.app.debug_text == app.debug_text
    assert app.debug_text != alone(INPUT[console], "", 12).debug_text
    assert encode(run.contents(), "stored") == encode(app.contents(), "stored")


@pytest.mark.parametrize("console", CONSOLES)
def test_frames_and_recording_are_those_of_the_app(console: str) -> None:
    run, app = started(DRAWING[console]), pocketgpu.run(DRAWING[console], record=True)
    for _ in range(4):
        run.step()
        app.frames(1)
        assert newest(run) == pixels(app) and len(newest(run)) > 1000
    assert encode(run.contents(), "stored") == encode(app.contents(), "stored")
    capture = run.capture()
    assert capture is not None and run.capture() is None
    shown = [*capture.render()][int(run.at[1:])].screens
    assert b"".join(shown[name].array.tobytes() for name in app.screens) == pixels(app)


def test_it_runs_at_the_consoles_pace_and_never_faster() -> None:
    run = started(GUESTS / "switch/input.nro")
    begun = time.perf_counter()
    run.followers.append(Reading())
    run.resume()
    while run.frame < 12:
        wait = run.advance()
        assert wait is not None
        time.sleep(wait)
    assert time.perf_counter() - begun >= 10 / 60
    assert run.status()["state"] == RUNNING and 0 < run.fps < 90
    run.stand()
    frame = run.frame
    assert run.advance() is None and run.frame == frame and run.fps == 0


def test_a_run_that_stands_in_a_frame_ends_it_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_module, "_SLICE", 0.0)
    run = started(DRAWING["n3ds"])
    run.resume()
    run.hold({"keys": "A"})
    run.advance()
    run.stand()
    assert run.state == STANDING and run.frame == 1
    app = alone(DRAWING["n3ds"], "0: A", 1)
    assert newest(run) == pixels(app) and run.app.console.kernel.steps == app.console.kernel.steps


@pytest.mark.parametrize("console", CONSOLES)
def test_going_back_shows_the_earlier_frame_and_goes_on_in_another_way(console: str) -> None:
    run = started(DRAWING[console])
    run.step(3)
    third = newest(run)
    run.step(2)
    assert run.capture() is not None
    run.back(2)
    assert (run.frame, run.state) == (3, STANDING) and newest(run) == third
    assert run.capture() is None, "the recording of before has the frame"
    assert run.at == f"f{run.app.console.recorded_frame}"
    assert len(run.contents().frames) == run.app.console.frames_begun
    run.hold({"keys": "B"})
    run.step(2)
    app = alone(DRAWING[console], "3-4: B", 5)
    assert newest(run) == pixels(app)
    assert encode(run.contents(), "stored") == encode(app.contents(), "stored")
    assert newest(run) == pixels(app), "it comes back to where it was"
    run.step()
    app.play("5: B")
    app.frames(1)
    assert encode(run.contents(), "stored") == encode(app.contents(), "stored")


def test_input_after_the_frame_that_it_went_back_to_is_forgotten() -> None:
    run = started(INPUT["n3ds"])
    run.hold({"keys": "A"})
    run.step(6)
    run.hold({})
    run.back(4)
    run.step(4)
    assert run.app.debug_text == alone(INPUT["n3ds"], "0-1: A", 6).debug_text


def test_a_slider_stays_and_a_button_is_pressed_once() -> None:
    run = started(INPUT["n3ds"])
    run.hold({"slider": "0.5"})
    run.step(3)
    assert run.app.debug_text == alone(INPUT["n3ds"], "0: slider 0.5", 3).debug_text
    run.do("close")
    run.step(3)
    assert [str(one) for one in run.app.console.player.statements if one.control == "close"] == ["3: close"]


def test_an_end_and_a_fault_are_told() -> None:
    run = started(GUESTS / "switch/framebuffer.nro")
    run.resume()
    until_it_stands(run)
    assert run.state == ENDED and run.note == "The program ended: exit"
    run.back(1)
    assert run.state == STANDING and run.note == ""
    fault = started(GUESTS / "n3ds/faults.elf")
    fault.step()
    assert fault.state == ENDED and "faults.c:10" in fault.note and fault.note == str(fault.app.end)
    for refused in (fault.resume, fault.step):
        with pytest.raises(UsageError, match="has ended"):
            refused()
    fault.restart()
    assert (fault.state, fault.frame, fault.note) == (STANDING, 0, "")


def test_a_file_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    run = started(DRAWING["n3ds"])
    run.step(4)
    monkeypatch.setattr(live_module, "MOST_RECORDED", 1)
    with pytest.raises(UsageError, match="larger than 1 byte"):
        run.contents()
    assert run.frame == 4 and newest(run) == pixels(alone(DRAWING["n3ds"], "", 4))


@pytest.mark.parametrize("console", CONSOLES)
def test_a_recording_that_begins_late_shows_the_same(console: str) -> None:
    run = started(SCENES[console][0], *SCENES[console][1:])
    run.step(70)
    capture = run.capture()
    assert capture is not None and capture.frame_count == LOOKED_AT
    assert run.status()["recorded"] == [70 - LOOKED_AT, 70] and run.at == f"f{LOOKED_AT - 1}"
    first = next(capture.render())
    app = alone(SCENES[console][0], "", 70 - LOOKED_AT + 1, *SCENES[console][1:])
    assert all(np.array_equal(one.array, app.screens[name].array) for name, one in first.screens.items())
    last = [*capture.render()][-1]
    assert run.newest is not None
    assert b"".join(last.screens[name].array.tobytes() for name in run.newest.screens) == newest(run)
    assert run.app.frame_count == 70


def test_it_goes_back_as_far_as_it_is_kept_and_says_how_far(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_module, "MOST_KEPT", 1)
    run = started(DRAWING["n3ds"])
    recent = run.app.history.recent
    assert recent is not None
    monkeypatch.setattr(recent, "due", lambda seconds: True)
    run.step(12)
    assert run.reach == run.status()["reach"] == 11 and len(recent) == 2
    run.back(1)
    with pytest.raises(UsageError, match="not kept any more"):
        run.back(1)
    run.mark(2)
    assert run.status()["marked"] == 2
    assert len(run.contents(2).frames) == 9, "from the start, if no checkpoint is left"


def test_what_is_held_for_long_is_one_statement() -> None:
    run = started(INPUT["n3ds"])
    run.hold({"keys": "A"})
    run.step(5)
    run.hold({"keys": "B"})
    run.step(3)
    run.back(2)
    run.step(2)
    said = [str(one) for one in run.app.console.player.statements]
    assert said == ["0-4: A", "5: B", "6-7: B"]
    assert run.app.debug_text == alone(INPUT["n3ds"], "0-4: A\n5-7: B", 8).debug_text


def test_pictures_that_nobody_waits_for_are_not_made() -> None:
    run, reader = started(DRAWING["n3ds"]), Reading()
    run.followers.append(reader)
    before = run.newest
    reader.ready = False
    run.resume()
    told = reader.count
    while run.frame < 3:
        run.advance()
    assert run.newest is before or reader.count == told
    reader.ready = True
    while run.frame < 5:
        run.advance()
    assert reader.count > told


@pytest.mark.parametrize(("program", "words"), [
    ("n3ds/faults.elf", "back trace"), ("switch/hello.nro", "Restart"), ("n3ds/objects.elf", "as it meant to"),
])  # fmt: skip
def test_an_end_has_advice(program: str, words: str) -> None:
    run = started(GUESTS / program)
    while run.state != ENDED:
        run.step()
    assert words in run.status()["advice"] and run.note
    assert run.capture() is not None, "what there was can be looked at"


def test_a_program_that_shows_nothing_is_told() -> None:
    run = started(GUESTS / "switch/system.nro")
    run.step(200)
    assert "shown nothing yet for 200 frames" in run.status()["advice"]


# -- messages ---------------------------------------------------------------------------------------------------------
def test_a_message_has_the_rows_that_changed() -> None:
    one = np.zeros((8, 5, 3), np.uint8)
    other = one.copy()
    other[3, 1], other[5, 4] = 1, 2
    assert changed_rows(one, None) == (0, 8) and changed_rows(one, one.copy()) == (0, 0)
    assert changed_rows(other, one) == (3, 6) and changed_rows(one[:4], one) == (0, 4)
    moment = Shown(1, {"state": RUNNING}, {"top": other}, True)
    head, sent = taken_apart(moment.message(moment.sent(1), {"top": one}))
    assert head["screens"] == [{"name": "top", "width": 5, "height": 8, "first": 3, "rows": 3}]
    assert sent == other[3:6].tobytes()


def test_a_program_that_runs_is_sent_as_small_as_it_is_shown() -> None:
    picture = np.arange(8 * 6 * 3, dtype=np.uint8).reshape(8, 6, 3)
    half = smaller(picture, 2)
    wide = picture.astype(np.uint32)
    mean = (wide[::2, ::2] + wide[1::2, ::2] + wide[::2, 1::2] + wide[1::2, 1::2]) // 4
    assert half.shape == (4, 3, 3) and np.abs(half.astype(int) - mean).max() <= 1
    assert smaller(picture, 4).shape == (2, 1, 3)
    assert Shown(1, {}, {"a": picture}, True).sent(2)["a"].shape == (4, 3, 3)
    assert Shown(1, {}, {"a": picture}, False).sent(2)["a"] is picture
    assert [step_of(asked) for asked in (-1, 0, 1, 2, 3, 4, 99)] == [1, 1, 1, 2, 2, 4, 4]


@pytest.fixture(scope="module")
def held_run() -> LiveRun:
    return started(INPUT["n3ds"])


@pytest.mark.parametrize("held", [
    {"keys": "NO"}, {"keys": "A\n9: B"}, {"touch": "400,9"}, {"touch": "1,2,3"}, {"touch": "x"}, {"touch": "nan,0"},
    {"nothing": "1"}, {"close": "1"}, {"text": '"a"'}, {"keys": "touch 1,2"}, {"keys": "A+" * 300 + "A"},
    {"keys": " "}, {"touch": "1e3,2"}, {"touch": "-1,0"},
], ids=str)  # fmt: skip
def test_input_that_no_player_gives_is_refused(held_run: LiveRun, held: dict[str, str]) -> None:
    held_run.hold({"keys": "A"})
    with pytest.raises(UsageError):
        held_run.hold(held)


@pytest.mark.parametrize(("what", "text"), [("A", None), ("text", None), ("close", "x"), ("", None), ("touch", None)])
def test_what_is_not_done_once_is_refused(held_run: LiveRun, what: str, text: str | None) -> None:
    with pytest.raises(UsageError):
        held_run.do(what, text)


# -- requests ---------------------------------------------------------------------------------------------------------
@pytest.fixture
def page(tmp_path: Path) -> Path:
    (tmp_path / "index.html").write_text("<!doctype html>the page")
    return tmp_path


def machine_with(path: Path) -> MachineThread[Desk]:
    return MachineThread[Desk](lambda: live_desk(lambda: pocketgpu.run(path), {}), work)


@pytest.fixture(params=CONSOLES)
def client(request: pytest.FixtureRequest, page: Path) -> Iterator[tuple[str, TestClient]]:
    console = request.param
    routes = Routes(machine_with(DRAWING[console]), "app", "1", page, Notes(page.parent, "c"), is_live=True)
    with TestClient(routes.app) as found:
        yield console, found


def ask(client: TestClient, path: str, **query: Any) -> Any:
    answer = client.get(f"/api/{path}", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_what_stands_is_what_all_other_requests_are_about(client: tuple[str, TestClient], tmp_path: Path) -> None:
    console, server = client
    assert ask(server, "capture")["live"] is True and ask(server, "capture")["frames"] == 0
    begun = ask(server, "live")
    assert begun["state"] == STANDING and begun["controls"]["keys"] and begun["controls"]["displays"]
    status = ask(server, "live/step", frames=4)
    app = alone(DRAWING[console], "", 4)
    assert (status["frame"], status["at"]) == (4, f"f{app.console.recorded_frame}")
    assert ask(server, "capture")["frames"] == len(app.contents().frames)
    name = status["screens"][0]["name"]
    picture = server.get("/api/picture", params={"at": status["at"], "of": name})
    rgb = b"".join(picture.content[at : at + 3] for at in range(0, len(picture.content), 4))
    assert rgb == app.screens[name].array.tobytes()
    assert "address" in ask(server, "why", at=f"{status['at']}/{name}/px8,8")
    earlier = ask(server, "live/back", frames=2)
    assert (earlier["frame"], earlier["recording"]) == (2, status["recording"])
    ended = server.get("/api/live/record", params={"from": 0})
    path = tmp_path / "whole.pgc"
    path.write_bytes(ended.content)
    assert 'filename="' in ended.headers["content-disposition"] and ".pgc" in ended.headers["content-disposition"]
    last = [*pocketgpu.open(path).render()][-1]
    assert last.screens[name].array.tobytes() == alone(DRAWING[console], "", 2).screens[name].array.tobytes()


def test_a_recording_from_a_frame_on_shows_the_same(client: tuple[str, TestClient], tmp_path: Path) -> None:
    console, server = client
    status = ask(server, "live/step", frames=4)
    last = int(status["at"][1:])
    path = tmp_path / "part.pgc"
    path.write_bytes(server.get("/api/live/record", params={"from": last - 1}).content)
    capture = pocketgpu.open(path)
    assert capture.frame_count == len(alone(DRAWING[console], "", 4).contents().frames) - last + 1
    name, app = status["screens"][0]["name"], alone(DRAWING[console], "", 4)
    shown = [*capture.render()][1].screens[name].array
    assert shown.tobytes() == app.screens[name].array.tobytes()


def test_running_between_questions(client: tuple[str, TestClient]) -> None:
    _, server = client
    assert ask(server, "live/run")["state"] == RUNNING
    last = time.monotonic() + 60
    while (status := ask(server, "live"))["frame"] < 3:
        assert time.monotonic() < last and "console" in ask(server, "capture")
    status = ask(server, "live/pause")
    assert status["state"] in (STANDING, ENDED) and status["frame"] >= 3
    time.sleep(0.1)
    assert ask(server, "live")["frame"] == status["frame"]
    assert ask(server, "capture")["frames"] >= int(status["at"][1:]) + 1
    again = ask(server, "live/restart")
    assert (again["frame"], again["state"]) == (0, STANDING) and ask(server, "capture")["frames"] == 0


@pytest.mark.parametrize("path", [
    "live/step?frames=0", "live/step?frames=601", "live/step?frames=-1", "live/step?frames=x", "live/back?frames=1",
    "live/back?frames=0", "live/input?keys=NO", "live/input?nothing=1", "live/do", "live/do?what=A",
    "live/mark?from=9", "live/record?from=1", "live/record?from=99999999999", "live/record?from=-1",
])  # fmt: skip
def test_bad_parameters_are_refused(client: tuple[str, TestClient], path: str) -> None:
    answer = client[1].get(f"/api/{path}")
    assert answer.status_code == 400 and answer.json()["error"]["message"]


def test_without_a_program_there_is_none(page: Path) -> None:
    sample = Path(pocketgpu.__file__).parent / "data" / "sample.ctf.xz"
    machine = MachineThread[Desk](lambda: desk_of((MAIN, nullcontext(pocketgpu.debug(sample)))))
    with client_of(machine, page, "sample") as server:
        assert ask(server, "capture")["live"] is False
        assert "no program" in server.get("/api/live").json()["error"]["message"]
        assert server.get("/api/live/frames").status_code == 404


# -- the stream -------------------------------------------------------------------------------------------------------
def taken_apart(message: bytes) -> tuple[dict[str, Any], bytes]:
    head, size = int.from_bytes(message[:4], "little"), int.from_bytes(message[4:8], "little")
    assert len(message) == 8 + head + size
    return json.loads(message[8 : 8 + head]), message[8 + head :]


def test_a_stream_has_the_newest_frame_and_sends_pixels_once() -> None:
    async def test() -> None:
        machine = machine_with(DRAWING["n3ds"])
        streams = LiveStreams(machine, [], runs=False)
        here = {"type": "http.request"}

        async def receive() -> dict[str, Any]:
            await asyncio.sleep(0)
            return here

        answer = await streams.answer(Request(SCOPE, receive))
        assert isinstance(answer, StreamingResponse)
        stream = answer.body_iterator
        first, _ = taken_apart(await anext(stream))  # type: ignore[arg-type]
        assert first["frame"] == 0
        # Ten frames while nobody reads: the next message is about the last.
        run = await machine.ask("", lambda desk: desk.live)
        assert run is not None
        await machine.ask("", lambda desk: run.step(10))
        head, sent = taken_apart(await anext(stream))  # type: ignore[arg-type]
        rows = [np.arange(one["first"], one["first"] + one["rows"]) for one in head["screens"]]
        wanted = zip(run.newest.screens.values(), rows, strict=True)
        assert head["frame"] == 10 and sent == b"".join(one[part].tobytes() for one, part in wanted) != b""
        await machine.ask("", lambda desk: run.do("lid"))
        await machine.ask("", lambda desk: run.resume())
        await machine.ask("", lambda desk: run.stand())
        head, sent = taken_apart(await anext(stream))  # type: ignore[arg-type]
        assert (sent == b"") == (head["frame"] == 10)
        await stream.aclose()  # type: ignore[union-attr]
        assert run.followers == []
        await asyncio.to_thread(machine.close)

    asyncio.run(test())


def test_a_program_that_nobody_looks_at_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_stream, "ALONE", 0.01)

    async def test() -> None:
        machine = machine_with(INPUT["switch"])
        streams = LiveStreams(machine, [], runs=True)

        async def receive() -> dict[str, Any]:
            await asyncio.sleep(0)
            return {"type": "http.request"}

        run = await machine.ask("", lambda desk: desk.live)
        assert run is not None and run.state == STANDING
        answer = await streams.answer(Request(SCOPE, receive))
        assert isinstance(answer, StreamingResponse)
        await anext(answer.body_iterator)  # type: ignore[arg-type]
        assert run.state == RUNNING
        await answer.body_iterator.aclose()  # type: ignore[union-attr]
        for _ in range(500):
            await asyncio.sleep(0.02)
            if run.state == STANDING:
                break
        assert run.state == STANDING
        await asyncio.to_thread(machine.close)

    asyncio.run(test())


def test_what_runs_between_questions_may_fail_without_them(caplog: pytest.LogCaptureFixture) -> None:
    def broken(run: str) -> float:
        raise RuntimeError("a mistake")

    async def test() -> None:
        machine = MachineThread[str](lambda: nullcontext("run"), broken)
        assert await machine.ask("", lambda run: run) == "run"
        assert await machine.ask("", lambda run: run) == "run"
        await asyncio.to_thread(machine.close)

    asyncio.run(test())
    assert "has failed" in caplog.text
