"""The record of a channel log's replay that rules read: reads, draws, launches, and events of the machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from pocketgpu.events import Event as MachineEvent
from pocketgpu.inspect.model.event import Range
from pocketgpu.inspect.model.inventory import Doubt
from pocketgpu.inspect.model.rules import Found


@dataclass(frozen=True, slots=True)
class SwitchRead:
    """GPU memory that something reads. kind: "vertices", "indices", "constants", "texture", "copy". missing: how many
    bytes are in pages that nothing had written."""

    kind: str
    what: str
    range: Range
    at: str
    missing: int


@dataclass(frozen=True, slots=True)
class SwitchDraw:
    """A draw. stages: names of the programs that are on. targets: (name, range) of its targets; textures: ranges of
    texels that its programs sampled. unbound: (stage, slot) of constant buffers that programs read although nothing is
    bound there."""

    at: str
    stages: tuple[str, ...]
    targets: tuple[tuple[str, Range], ...] = ()
    textures: tuple[Range, ...] = ()
    unbound: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class OrderedGrid:
    """A grid whose result depends on the order of its blocks. changed: how many bytes; first: GPU address of one."""

    at: str
    blocks: int
    program: int
    changed: int
    first: int | None


@dataclass
class SwitchRecord:
    """The replay of a log."""

    reads: list[SwitchRead] = field(default_factory=list)
    draws: list[SwitchDraw] = field(default_factory=list)
    ordered: list[OrderedGrid] = field(default_factory=list)
    doubts: list[tuple[Doubt, str]] = field(default_factory=list)
    machine_events: list[MachineEvent] = field(default_factory=list)

    def findings_of(self, *ids: str) -> Iterator[Found]:
        """Events of the machine with these ids, as findings."""
        for event in self.machine_events:
            if event.id in ids:
                yield Found(event.message, event.at, event.count)


__all__ = ["OrderedGrid", "SwitchDraw", "SwitchRead", "SwitchRecord"]
