"""Draws that a player has heard are made by kernels at once on the way to a later event: nothing else may differ."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from pocketgpu import capture
from pocketgpu.capture.driver.checkpoints import Position
from pocketgpu.capture.driver.switch import SwitchPlayer
from pocketgpu.lanes import background
from pocketgpu.maxwell.host.observer import Observer


def scene() -> Any:
    """A 2D scene of 27 draws in few states, with words for constant buffers between them."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "benchmarks"))
    from paths_switch import build

    return build(9)


def bytes_now(player: SwitchPlayer) -> dict[int, bytes]:
    memory = player.machine.memory
    return {one.address: memory.read(one.address, one.size) for one in memory.mappings}


def registers_now(player: SwitchPlayer) -> list[bytes]:
    return [channel.files.tobytes() for channel in player.machine.channels.values()]


@pytest.fixture(scope="module")
def player(tmp_path_factory: pytest.TempPathFactory) -> SwitchPlayer:
    place = tmp_path_factory.mktemp("leaps") / "paths.mxcap.zip"
    scene().save(place)
    player = SwitchPlayer(capture.open(place).driver())  # type: ignore[arg-type]
    # Only the first checkpoint: how many more there are depends on time, and draws between them are not made again.
    player.checkpoints.due = lambda seconds: False  # type: ignore[method-assign]
    return player


def test_every_event_is_reached_with_the_same_bytes(player: SwitchPlayer) -> None:
    states = []
    while player.hear(1):  # draw by draw, in Python
        states.append((bytes_now(player), registers_now(player)))
    assert not player.machine.drawing.quick.made
    background.wait()  # quick draws are made by code of their own
    for tick in (len(states), 1, len(states) - 2, 9, 10, len(states) - 1, 4):
        player.go(player.at(tick))
        assert player.tick == tick
        assert (bytes_now(player), registers_now(player)) == states[tick - 1]
    assert player.machine.drawing.quick.made > 10
    assert not player.machine.drawing.quick.on


def test_observers_hear_of_every_draw(player: SwitchPlayer) -> None:
    class Counting(Observer):
        count = 0

        def draw(self, draw: Any, run: Any) -> None:
            self.count += 1
            run()

    player.finish_frame(0)
    player.go(Position(1))
    last = player.tick
    player.go(player.at(3))
    observer, made = Counting(), player.machine.drawing.quick.made
    player.play_to(player.at(last), observer)
    assert observer.count == 27 and player.machine.drawing.quick.made == made
