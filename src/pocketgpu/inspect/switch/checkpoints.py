"""Checkpoints: a machine as it stands between two methods, to be brought back later.

Memory keeps its pages (those that did not change are shared between checkpoints). The parser keeps all that it knows in
the work area, so that a block of bytes for each channel holds it, in the middle of a packet as well. What engines keep
in Python is named below, class by class; what is not named there is a cache that looks at memory or registers itself.
"""

from __future__ import annotations

from collections import deque
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.arena import Snapshot
from pocketgpu.capture.channel_replay import Replay
from pocketgpu.maxwell.channel import Channel
from pocketgpu.maxwell.engines.constants import ConstantBuffers
from pocketgpu.maxwell.engines.draws import DrawUnit
from pocketgpu.maxwell.engines.report import Counters
from pocketgpu.maxwell.engines.threed import ThreeD
from pocketgpu.maxwell.gm20b import GM20B
from pocketgpu.maxwell.layout import CHANNEL_LAYOUT, FRONT_END_FILES, STAGING_SIZE
from pocketgpu.maxwell.syncpoints import Syncpoints

KEPT: dict[type, tuple[str, ...]] = {
    Channel: ("_pieces", "reference", "waiting", "yielded", "submission", "_queue", "_fresh"),
    DrawUnit: ("_uncounted", "_inline", "_inline_method", "_skip", "_left"),
    ConstantBuffers: ("_slots", "_shown", "_all"),
    Counters: ("_values", "pointers"),
    Syncpoints: ("_values", "counted", "foreign_reached"),
    GM20B: ("interrupts", "channels", "_submissions", "_spent"),
    Replay: ("channels", "backings", "live"),
}  # fmt: skip
"""What is kept of an object of a class: values, and lists, sets and dictionaries of them."""


def _copied(value: Any) -> Any:
    """A value that later changes do not reach."""
    if isinstance(value, list):
        return [_copied(one) for one in value]
    if isinstance(value, dict):
        return {key: list(one) if isinstance(one, list) else one for key, one in value.items()}
    if isinstance(value, deque):
        return deque(replace(one) for one in value)
    return copy(value) if isinstance(value, set) else value


def _objects(replay: Replay) -> list[Any]:
    """The objects whose fields are kept, in an order that does not change."""
    machine = replay.machine
    found: list[Any] = [replay, machine, machine.syncpoints]
    for channel in machine.channels.values():
        found.append(channel)
        for engine in channel.engines.values():
            if isinstance(engine, ThreeD):
                found += [engine.draws, engine.constants, engine.counters]
    return found


@dataclass(frozen=True)
class Checkpoint:
    """A replay behind its event number `tick`. place: where the player was. blocks: bytes of channels, by index."""

    tick: int
    place: tuple[Any, ...]
    memory: Snapshot
    blocks: dict[int, NDArray[np.uint8]]
    fields: list[tuple[Any, dict[str, Any]]]

    @classmethod
    def take(cls, replay: Replay, tick: int, place: tuple[Any, ...]) -> Checkpoint:
        """A checkpoint of a replay as it is. Nothing of the machine may be running."""
        machine = replay.machine
        blocks = {}
        for channel in machine.channels.values():
            # Inline data is copied only where some is under way: it is most of a channel's room.
            staged = any(channel._get("INLINE_STAGED", n) for n in range(FRONT_END_FILES))
            size = CHANNEL_LAYOUT.size if staged else CHANNEL_LAYOUT.staging
            blocks[channel.index] = _block(machine, channel.index, size).copy()
        fields = [
            (one, {name: _copied(getattr(one, name)) for name in KEPT[type(one)] if hasattr(one, name)})
            for one in _objects(replay)
        ]
        memory = machine.memory.snapshot()
        for channel in machine.channels.values():
            channel._version = -1  # what is written from now on has stamps that the snapshot does not know
        return cls(tick, place, memory, blocks, fields)

    def restore(self, replay: Replay) -> None:
        """Bring the replay back to what it was."""
        machine = replay.machine
        machine.memory.restore(self.memory)
        for index, block in self.blocks.items():
            _block(machine, index, len(block))[:] = block
        for one, values in self.fields:
            for name, value in values.items():
                setattr(one, name, _copied(value))
        for channel in machine.channels.values():
            channel._place, channel._version = "", -1
        machine.log.clear()

    def pages_beside(self, other: Checkpoint) -> int:
        """How many pages this one keeps that another does not share."""
        return int(np.count_nonzero(self.memory.versions != other.memory.versions))


def _block(machine: GM20B, index: int, size: int) -> NDArray[np.uint8]:
    start = machine.layout.channel(index)
    return machine.memory.arena[start : start + size]


assert CHANNEL_LAYOUT.staging + FRONT_END_FILES * STAGING_SIZE == CHANNEL_LAYOUT.size
"""Inline data lies at the end of a channel's room."""
