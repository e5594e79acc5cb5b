"""Checkpoints of a replay: the machine as it stands between two methods, and where in the recording that is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pocketgpu.capture.channel_replay import Replay
from pocketgpu.maxwell import checkpoint


@dataclass(frozen=True)
class Checkpoint:
    """A replay after its event number `tick`. place: where the player was. replay: of `Replay.save`."""

    tick: int
    place: tuple[Any, ...]
    machine: checkpoint.Checkpoint
    replay: object

    @classmethod
    def take(cls, replay: Replay, tick: int, place: tuple[Any, ...]) -> Checkpoint:
        """A checkpoint of a replay as it is. Nothing of the machine may be running."""
        return cls(tick, place, replay.machine.checkpoint(), replay.save())

    def restore(self, replay: Replay) -> None:
        """Bring the replay back to what it was."""
        replay.machine.restore(self.machine)
        replay.restore(self.replay)

    def pages_beside(self, other: Checkpoint) -> int:
        """How many pages this one keeps that another does not share."""
        return self.machine.pages_beside(other.machine)
