"""The record of a channel log's replay that rules read: reads, draws, launches, and events of the machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field

from pocketgpu.events import Event as MachineEvent
from pocketgpu.inspect.model.event import Range
from pocketgpu.inspect.model.funnel import Funnel
from pocketgpu.inspect.model.inventory import Doubt
from pocketgpu.inspect.model.rules import Found
from pocketgpu.late_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class SwitchRead:
    """GPU memory that something reads. kind: "vertices", "indices", "constants", "texture", "copy", "shown".
    missing: how many bytes are in pages that nothing had written."""

    kind: str
    what: str
    range: Range
    at: str
    missing: int


@dataclass(frozen=True, slots=True)
class SwitchDraw:
    """A draw. stages: names of the programs that are on. targets: (name, range) of its targets; textures: ranges of
    texels that its programs sampled. unbound: (stage, slot) of constant buffers that programs read although nothing is
    bound there. faults: (id of a rule, text) of what its registers and inputs show. shapes: how many it had;
    passed: how many samples passed the tests; -1 if that was not counted."""

    at: str
    stages: tuple[str, ...]
    targets: tuple[tuple[str, Range], ...] = ()
    textures: tuple[Range, ...] = ()
    unbound: tuple[tuple[str, int], ...] = ()
    faults: tuple[tuple[str, str], ...] = ()
    shapes: int = -1
    passed: int = -1


@dataclass(frozen=True, slots=True)
class DrawnTarget:
    """A colour target: its GPU addresses, and its place in the arena, which other addresses may have as well."""

    name: str
    range: Range
    place: Range


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
    shows: bool = False
    """Whether any picture is shown."""
    places: set[Range] = field(default_factory=set)
    """Arena ranges that textures, copies, blits and pictures read."""
    drawn: dict[DrawnTarget, str] = field(default_factory=dict)
    """Colour targets, each with its first draw."""
    unset: list[tuple[str, str]] = field(default_factory=list)
    """Words of constant buffers that programs read and nobody wrote: text, and address of the draw."""
    whys: Callable[[str], Funnel] | None = None
    """Answers of the debugger about draws."""
    live: list[Found] | None = None
    """What a run of the program read of bytes that it had not written back; None for a capture alone."""

    def faults_of(self, id: str) -> Iterator[Found]:
        """The faults of draws that belong to a rule."""
        for draw in self.draws:
            for rule, text in draw.faults:
                if rule == id:
                    yield Found(text, draw.at)

    def findings_of(self, *ids: str) -> Iterator[Found]:
        """Events of the machine with these ids, as findings."""
        for event in self.machine_events:
            if event.id in ids:
                yield Found(event.message, event.at, event.count)


__all__ = ["DrawnTarget", "OrderedGrid", "SwitchDraw", "SwitchRead", "SwitchRecord"]
