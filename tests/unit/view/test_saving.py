"""Saving a recording of a long play: how far it is, giving it up, and where the program is then."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import pocketgpu
from pocketgpu.errors import UsageError
from pocketgpu.guests import App
from pocketgpu.view.live.live_run import STANDING, LiveRun
from pocketgpu.view.machine_thread import MachineThread
from pocketgpu.view.questions.desk import Desk
from pocketgpu.view.questions.live import live_desk, work
from pocketgpu.view.questions.notes_file import Notes
from pocketgpu.view.questions.working import Working
from pocketgpu.view.routes import Routes

pytest.importorskip("unicorn", reason="needs the extra 'guest'")
GUESTS = Path(__file__).resolve().parents[2] / "guests"
SCENES = {"n3ds": (GUESTS / "n3ds/scene.elf",), "switch": (GUESTS / "switch/scene.nro", "1000")}


def start(console: str) -> App:
    path, *arguments = SCENES[console]
    return pocketgpu.run(path, arguments=arguments)


def state(run: LiveRun) -> tuple[Any, ...]:
    app = run.app
    return run.frame, app.console.kernel.steps, {name: one.array.tobytes() for name, one in app.screens.items()}


@pytest.mark.parametrize("console", SCENES)
def test_a_recording_tells_of_its_frames_and_leaves_the_run_where_it_was(console: str) -> None:
    run = LiveRun(lambda: start(console))
    run.step(12)
    before, told = state(run), list[tuple[int, int]]()
    contents = run.contents(2, lambda done, of: told.append((done, of)))
    assert state(run) == before and len(contents.frames) >= 9
    assert [of for _, of in told] == [10] * len(told) and [done for done, _ in told] == sorted({d for d, _ in told})
    assert told[-1][0] == 10

    def stops(done: int, of: int) -> None:
        if done == 4:
            raise UsageError("enough")

    with pytest.raises(UsageError, match="enough"):
        run.contents(2, stops)
    assert state(run) == before and run.state == STANDING
    run.step(2)
    one, other = LiveRun(lambda: start(console)), state(run)
    one.step(14)
    assert state(one) == other, "it goes on as if nothing had been asked"


def test_what_is_done_is_told_now_and_then_and_can_be_given_up() -> None:
    working, told = Working(), list[tuple[int, int]]()
    working.listeners.append(lambda done, of: told.append((done, of)))
    assert working.give_up() is False
    with working.begun():
        for done in range(1000):
            working.tell(done, 1000)
        assert told[0] == (0, 1000) and len(told) < 100
        assert working.give_up() is True and "being done" in repr(working)
        with pytest.raises(UsageError, match="given up"):
            working.tell(5, 1000)
    with working.begun():
        working.tell(1, 2)
    assert told[-1] == (1, 2)


def test_a_request_gives_up_the_one_that_saves(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("the page")
    working, kept = Working(), list[Desk]()

    def idle(desk: Desk) -> float | None:
        kept[:] = [desk]
        return work(desk)

    machine = MachineThread(lambda: live_desk(lambda: start("n3ds"), {}, working), idle, working)
    routes = Routes(machine, "scene.elf", "1.0", tmp_path, Notes(tmp_path, "scene.elf"), is_live=True)
    with TestClient(routes.app) as client:
        assert client.get("/api/live/step", params={"frames": 10}).json()["frame"] == 10
        assert client.get("/api/live/give-up").json() == {"given_up": False}
        answers: list[Any] = []
        working.listeners.append(lambda done, of: answers.append(client.get("/api/live/give-up").json()))
        saving = threading.Thread(
            target=lambda: answers.append(client.get("/api/live/record", params={"from": 0}))
        )  # fmt: skip
        saving.start()
        saving.join(60)
        assert answers[0] == {"given_up": True}
        assert answers[-1].status_code == 400 and "given up" in answers[-1].json()["error"]["message"]
        after = client.get("/api/live").json()
        assert (after["frame"], after["state"]) == (10, STANDING)
        working.listeners.clear()
        again = client.get("/api/live/record", params={"from": 0})
        assert again.status_code == 200 and len(again.content) > 1000
