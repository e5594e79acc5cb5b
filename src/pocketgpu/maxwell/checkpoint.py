"""Checkpoints: a GM20B as it stands between two methods, to be brought back later.

Memory keeps its pages (those that did not change are shared between checkpoints), each channel a block of bytes of the
work area, in which the parser keeps all that it knows. What parts keep in Python each says itself (`save`, `restore`);
what they do not name there is a cache that looks at memory or registers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pocketgpu.arena import Snapshot

if TYPE_CHECKING:
    from pocketgpu.maxwell.host.channel import Channel, ChannelState


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A machine's state; get one with `GM20B.checkpoint`.

    memory: its bytes and mappings. channels: those that there were, in order, with what each held. syncpoints: of
    `Syncpoints.save`. interrupts: those that nobody has taken yet. submissions: how many there were. spent: ticks that
    passed beside those of channels.
    """

    memory: Snapshot
    channels: tuple[tuple[Channel, ChannelState], ...]
    syncpoints: object
    interrupts: Mapping[str, int]
    submissions: int
    spent: int

    def bytes_beside(self, other: Checkpoint) -> int:
        """How many bytes it keeps that another does not share."""
        return self.memory.bytes_beside(other.memory) + sum(state.block.nbytes for _, state in self.channels)

    def __repr__(self) -> str:
        return f"Checkpoint({len(self.memory.pages)} pages, {len(self.channels)} channels)"


__all__ = ["Checkpoint"]
