"""Checkpoints: the state of a GM20B between two methods, which can be restored later.

Memory keeps its pages (unchanged ones are shared between checkpoints), each channel a block of bytes of the work area
with all of its parser's state. Parts with state in Python save and restore it (`save`, `restore`); everything else is a
cache that compares memory or registers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pocketgpu.arena import Snapshot
from pocketgpu.late_dataclass import dataclass

if TYPE_CHECKING:
    from pocketgpu.maxwell.host.channel import Channel, ChannelState


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A machine's state; get one with `GM20B.checkpoint`.

    memory: its bytes and mappings. channels: the existing ones, in order, with their states. syncpoints: of
    `Syncpoints.save`. interrupts: those that were not taken yet. submissions: their number. spent: ticks besides those
    of channels.
    """

    memory: Snapshot
    channels: tuple[tuple[Channel, ChannelState], ...]
    syncpoints: object
    interrupts: Mapping[str, int]
    submissions: int
    spent: int

    def bytes_beside(self, other: Checkpoint) -> int:
        """Bytes of this checkpoint that are not shared with another."""
        return self.memory.bytes_beside(other.memory) + sum(state.block.nbytes for _, state in self.channels)

    def same(self, other: Checkpoint) -> bool:
        """Whether another state of the same memory is the same, so that whatever comes next does the same."""
        return (
            (self.syncpoints, self.interrupts, self.submissions, self.spent, self.memory.state)
            == (other.syncpoints, other.interrupts, other.submissions, other.spent, other.memory.state)
            and len(self.channels) == len(other.channels)
            and all(
                (one.id, one.index) == (two.id, two.index) and state.same(kept)
                for (one, state), (two, kept) in zip(self.channels, other.channels, strict=True)
            )
            and self.memory.pages == other.memory.pages
        )

    def __repr__(self) -> str:
        return f"Checkpoint({len(self.memory.pages)} pages, {len(self.channels)} channels)"


__all__ = ["Checkpoint"]
