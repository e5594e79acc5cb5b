"""Drivers and players of both consoles: the same tests for each."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files
from typing import Any

import numpy as np
import pytest
from support.switch_inspect import capture_of
from zoo_switch import SCENES

from pocketgpu import Capture, capture
from pocketgpu.arena import PAGE_SIZE
from pocketgpu.capture import pgc
from pocketgpu.capture.driver import Player, Position, drive
from pocketgpu.capture.driver.checkpoints import Checkpoints
from pocketgpu.capture.driver.n3ds import N3DSDriver, N3DSPlayer
from pocketgpu.capture.driver.switch import SHOW, SwitchDriver, SwitchPlayer
from pocketgpu.capture.formats.pgc.contents import FrameContents, Map, Store, Unmap
from pocketgpu.errors import UsageError

FRAMES = 3
_EXTRA_ID, _EXTRA_HANDLE, _EXTRA_ADDRESS = 10_000, 999, 0x7_0000_0000


def _of_3ds() -> Capture:
    return capture.open(str(files("pocketgpu") / "data" / "sample.ctf.xz"))


def _of_switch() -> Capture:
    """A scene several times, each time with another page of memory that the processor writes."""
    contents = pgc.contents_of(capture_of(SCENES["alpha_test"].make()).trace)
    events = contents.frames[0].events
    again = tuple(event for event in events if not isinstance(event, Map | Unmap))
    frames = [FrameContents((Map(_EXTRA_ID, _EXTRA_ADDRESS, 4096, _EXTRA_HANDLE, 0), *events))]
    for number in range(1, FRAMES + 1):
        store = Store(_EXTRA_HANDLE, 0, _EXTRA_ADDRESS, (bytes([number]) * 16,))
        frames.append(FrameContents((store, *again)))
    return Capture("", pgc.trace_of(replace(contents, frames=frames)))


@pytest.fixture(scope="module", params=[_of_3ds, _of_switch], ids=["3DS", "Switch"])
def sample(request: pytest.FixtureRequest) -> Capture:
    made: Capture = request.param()
    return made


def player_of(sample: Capture, **more: Any) -> Player[Any]:
    driver = sample.driver()
    return N3DSPlayer(driver, **more) if isinstance(driver, N3DSDriver) else SwitchPlayer(driver, **more)


def state(driver: Any) -> str:
    """A digest of all guest memory, and of what registers hold."""
    machine, found = driver.machine, hashlib.blake2b()
    if isinstance(driver, SwitchDriver):
        for mapping in machine.memory.mappings:
            found.update(machine.memory.read(mapping.address, mapping.size))
        for channel in machine.channels.values():
            found.update(channel.files.tobytes())
    else:
        pages = machine.memory.arena[: machine.memory.guest_end].reshape(-1, PAGE_SIZE)
        for number in np.flatnonzero(machine.memory.page_versions).tolist():
            if pages[number].any():
                found.update(number.to_bytes(4, "little") + pages[number].tobytes())
        for name, words in sorted(machine.save_state().items()):
            found.update(name.encode() + words.tobytes())
    return found.hexdigest()


def pictures(driver: Any, frame: int) -> dict[str, bytes]:
    return {name: screen.array.tobytes() for name, screen in driver.shown(frame).items()}


@pytest.fixture(scope="module")
def straight(sample: Capture) -> list[str]:
    """The state when a frame begins, of a replay that nobody stops."""
    driver = sample.driver()
    found = [state(driver)]
    for _ in range(FRAMES):
        driver.play_frame()
        found.append(state(driver))
    return found


# -- frames ------------------------------------------------------------------------------------------------------------
def test_frames_are_what_render_shows(sample: Capture) -> None:
    driver = sample.driver()
    assert driver.frame == 0 and driver.frame_count == sample.frame_count and driver.screens[0] in ("top", "screen")
    wanted = range(1, FRAMES)
    shown = [(f.index, f.counts, {n: s.array.tobytes() for n, s in f.screens.items()}) for f in sample.render(wanted)]
    assert [(f.index, f.counts, pictures(driver, f.index)) for f in driver.frames(wanted, pictures=False)] == shown
    assert driver.frame == FRAMES and all(set(one[2]) <= set(driver.screens) for one in shown)


def test_steps_leave_what_whole_frames_leave(sample: Capture, straight: list[str]) -> None:
    driver = sample.driver()
    for frame in range(2):
        assert len(list(driver.steps())) > 0 and driver.frame == frame + 1
        assert state(driver) == straight[frame + 1]


def test_begin_starts_again(sample: Capture, straight: list[str]) -> None:
    driver = sample.driver()
    driver.play_frame()
    driver.begin()
    assert driver.frame == 0 and state(driver) == straight[0]
    driver.play_frame()
    assert state(driver) == straight[1]


def test_a_machine_is_used_again(sample: Capture, straight: list[str]) -> None:
    machine = sample.machine()
    for _ in range(2):
        driver = drive(sample.trace, machine=machine)
        assert driver.machine is machine
        driver.play_frame()
        assert state(driver) == straight[1]


def test_the_rest_ends_after_the_last_frame(sample: Capture) -> None:
    driver = sample.driver()
    driver.play_rest()
    assert driver.frame == driver.frame_count and not list(driver.frames())


def test_checkpoints_of_drivers(sample: Capture, straight: list[str]) -> None:
    driver = sample.driver()
    driver.play_frame()
    kept = driver.checkpoint()
    driver.play_frame()
    other = driver.checkpoint()
    assert other.bytes_beside(kept) > 4096
    driver.restore(kept)
    assert driver.frame == 1 and state(driver) == straight[1]
    driver.play_frame()
    assert state(driver) == straight[2]
    with pytest.raises(UsageError):
        sample.driver().restore(kept)


# -- going somewhere ---------------------------------------------------------------------------------------------------
def test_going_there_and_back_is_playing_straight(sample: Capture, straight: list[str]) -> None:
    player = player_of(sample)
    for frame in (1, 0, 2, 1, FRAMES, 0, 1):
        player.go(Position(frame))
        assert player.position == Position(frame) and state(player.driver) == straight[frame], frame


def test_events_are_counted_alike_each_time(sample: Capture, straight: list[str]) -> None:
    """In the middle of a frame, by whatever way: and what comes after it is as ever."""
    player, other = player_of(sample), player_of(sample)
    places = [Position(1, n) for n in (1, 5, 9)] + [Position(0, 4), Position(2, 2)]
    found = {}
    for place in places:
        player.go(place)
        assert player.position == place
        found[place] = state(player.driver)
    assert len(set(found.values())) > 2
    other.go(Position(FRAMES))
    for place in reversed(places):
        other.go(place)
        assert state(other.driver) == found[place], place
        other.go(Position(place.frame + 1))
        assert state(other.driver) == straight[place.frame + 1]


@pytest.mark.parametrize("budget", [0, 1 << 20])
def test_a_small_budget_is_kept_and_changes_nothing(sample: Capture, straight: list[str], budget: int) -> None:
    player = player_of(sample, budget=budget)
    for frame in (FRAMES, 1, 2, 0, FRAMES):
        player.go(Position(frame))
        assert player.checkpoints.bytes <= budget and state(player.driver) == straight[frame]
    assert len(player.checkpoints) >= 1
    assert "place" in repr(player.checkpoints) and "over" in repr(player) and "over" in repr(player.driver)


def test_who_looks_on_sees_what_happens_from_here(sample: Capture) -> None:
    player = player_of(sample)
    seen = []

    class Looking(type(_observer(player.driver))):  # type: ignore[misc]
        def draws(self, packets: Any, run: Callable[[int, int], None]) -> None:
            seen.append(len(packets))
            run(0, len(packets))

        def draw(self, draw: Any, run: Callable[[], None]) -> None:
            seen.append(1)
            run()

    player.go(Position(1))
    player.play_to(Position(2), Looking())
    assert sum(seen) == list(sample.render(range(2)))[1].draws > 0 and player.position == Position(2)
    with pytest.raises(UsageError, match="cannot continue"):
        player.play_to(Position(1))


def test_a_looker_on_who_fails_spoils_the_replay(sample: Capture, straight: list[str]) -> None:
    class Failing(type(_observer(sample.driver()))):  # type: ignore[misc]
        def draws(self, packets: Any, run: Callable[[int, int], None]) -> None:
            raise RuntimeError("looked too closely")

        def draw(self, draw: Any, run: Callable[[], None]) -> None:
            raise RuntimeError("looked too closely")

    player = player_of(sample)
    player.go(Position(1))
    with pytest.raises(RuntimeError, match="closely"):
        player.play_to(Position(2), Failing())
    assert player.diverged
    with pytest.raises(UsageError):
        player.play_to(Position(2))
    player.go(Position(2))
    assert not player.diverged and state(player.driver) == straight[2]


def test_beyond_the_end_is_the_end(sample: Capture) -> None:
    player = player_of(sample)
    player.go(Position(sample.frame_count + 5, 3))
    assert player.position.frame == sample.frame_count and player.driver.frame == sample.frame_count


def _observer(driver: Any) -> Any:
    from pocketgpu.maxwell.host.observer import Observer as OfSwitch
    from pocketgpu.pica.core.observer import Observer as Of3DS

    return OfSwitch() if isinstance(driver, SwitchDriver) else Of3DS()


# -- one console -------------------------------------------------------------------------------------------------------
def test_ticks_of_a_switch_are_heard_once() -> None:
    opened = _of_switch()
    heard: list[Any] = []
    player = SwitchPlayer(opened.driver(), lambda what, more: heard.append(what))  # type: ignore[arg-type]
    player.finish_frame(1)
    ends = [n + 1 for n, what in enumerate(heard) if what == SHOW]
    assert len(ends) == 2 and player.tick == len(heard)
    assert player.at(ends[0]) == Position(1) and player.proper(Position(0, ends[0])) == Position(1)
    player.go(player.at(3))
    player.finish_frame(0)
    assert player.tick == 3  # it was heard before, so who asks does not move the machine
    player.go(Position(2))
    assert player.tick == len(heard) == ends[1]


# -- the budget --------------------------------------------------------------------------------------------------------
class Weight:
    """A state that costs so many bytes beside any other."""

    def __init__(self, bytes_: int) -> None:
        self.bytes = bytes_

    def bytes_beside(self, other: object) -> int:
        return self.bytes


def test_every_second_checkpoint_goes_when_the_budget_is_spent() -> None:
    kept: Checkpoints[Weight] = Checkpoints(Weight(0), budget=45, interval=1.0)
    for second in range(1, 20):
        assert kept.bytes <= 45
        if kept.due(float(second) + 0.5):
            kept.add(Position(second), second + 0.5, Weight(10))
    assert len(kept) <= 5 and kept.before(Position(0)).position == Position(0)
    assert not kept.due(19.6) and kept.due(60.0), "the interval has grown"
    positions = [kept.before(Position(n)).position.frame for n in range(20)]
    assert positions == sorted(positions) and set(positions) < set(range(20)) and len(set(positions)) == len(kept)
