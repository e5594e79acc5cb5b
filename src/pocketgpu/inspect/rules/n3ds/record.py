"""The record of a 3DS capture's run that rules read: draws by state, programs, fills, transfers, memory reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

from pocketgpu.events import Event as MachineEvent
from pocketgpu.facts.external import EXTERNAL
from pocketgpu.facts.pica import OUTPUT_MAPS
from pocketgpu.inspect.model.event import Range
from pocketgpu.inspect.model.rules import Found
from pocketgpu.inspect.n3ds.draw_inputs import DrawRegisters
from pocketgpu.inspect.n3ds.inventory.draw_state import BRIGHT, LIGHT_COLORS
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pica.core.registers import field as register_field

if TYPE_CHECKING:
    from pocketgpu.inspect.model.funnel import Funnel
    from pocketgpu.inspect.n3ds.programs import Program
    from pocketgpu.inspect.rules.n3ds.uniforms import UnsetUniform
    from pocketgpu.pica.front.draw_target import DrawTarget


@dataclass(frozen=True, slots=True)
class Read:
    """Memory that something reads. what: as text, such as "texture unit 0"; kind: "list", "vertices", "indices",
    "texture", "transfer", "copy", "display", "color", "depth". missing: how many bytes nothing had written. stale: how
    many bytes the processor wrote and did not write back from its cache, as far as the log shows. name: the register
    with the address, or its field."""

    kind: str
    what: str
    range: Range
    at: str
    missing: int = 0
    stale: int = 0
    name: str = ""


@dataclass
class DrawRecord(DrawRegisters):
    """All draws with the same registers, except those that only hold data.

    empty: how many of them had no triangle to draw. watched: of how many the target was compared before and after;
    changed: whether any of these changed bytes of it. target: their render target, or why there is none; writes: which
    memory of it they may write. reads: memory that they read. programs: programs of the shader units.
    """

    empty: int = 0
    watched: int = 0
    changed: bool = False
    target: DrawTarget | str = ""
    writes: dict[str, Range] = field(default_factory=dict)
    reads: list[Read] = field(default_factory=list)
    programs: dict[str, Program] = field(default_factory=dict)

    def value(self, name: str) -> float:
        """A field decoded by its table: floats as floats."""
        part = register_field(name)
        return float(part.field.decode(self.words[part.register.offset]))

    def found(self, message: str) -> Found:
        """A finding about these draws."""
        return Found(message, self.first, self.draws)

    @property
    def over_bright(self) -> bool:
        return any(self.words[number] & BRIGHT for number in LIGHT_COLORS)

    @property
    def outputs(self) -> list[int]:
        """The semantic of each component that reaches the rasteriser, four for each output in order."""
        total = min(self("SH_OUTMAP_TOTAL.count"), OUTPUT_MAPS)
        return [self(f"SH_OUTMAP_O{n}.{axis}") for n in range(total) for axis in "xyzw"]

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the target."""
        return self("FRAMEBUFFER_DIM.width"), self("FRAMEBUFFER_DIM.height") + 1


@dataclass
class UnitRecord:
    """A fill ("PSC0", "PSC1") or a transfer ("PPF") that ran. words: of its registers by name. source, target: memory
    that it reads and writes, None if nothing is moved."""

    unit: str
    at: str
    words: Mapping[str, int]
    source: Range | None = None
    target: Range | None = None

    def get(self, name: str) -> int:
        """The raw bits of a field, such as "PPF_FLAGS.scale"."""
        register, part = name.split(".")
        return EXTERNAL[register][part].raw(self.words[register])

    def bytes(self, name: str) -> int:
        """A field that is a size, in bytes."""
        register, part = name.split(".")
        return int(EXTERNAL[register][part].decode(self.words[register]))

    def address(self, register: str) -> int:
        """The physical address that a register holds."""
        value: Any = EXTERNAL[register]["address"].decode(self.words[register])
        return int(value)

    @property
    def is_copy(self) -> bool:
        return self.unit == "PPF" and bool(self.get("PPF_FLAGS.texture_copy"))

    @property
    def is_transfer(self) -> bool:
        return self.unit == "PPF" and not self.is_copy


@dataclass(frozen=True, slots=True)
class Lost:
    """A word that a register did not keep in full: the written word, and the kept word."""

    register: str
    written: int
    kept: int
    at: str


@dataclass(frozen=True, slots=True)
class ShownScreen:
    """What a screen shows at a frame's end. format: the display controller's code of it."""

    screen: str
    address: int
    stride: int
    format: int
    at: str


@dataclass
class N3dsRecord:
    """What was noted while a capture ran: the input of the rules.

    machine_events: the machine's events, each with its place. whys: a function from a draw's address to the debugger's
    answer why it drew nothing, None: not available. flushes: number of FLUSH_REGIONS commands. unset: float uniforms
    that programs read and nobody wrote. live: what a run of the program read of bytes that it had not flushed, where
    there is a program, as messages with frame and count.
    """

    draws: list[DrawRecord] = field(default_factory=list)
    programs: list[Program] = field(default_factory=list)
    units: list[UnitRecord] = field(default_factory=list)
    reads: list[Read] = field(default_factory=list)
    lost: list[Lost] = field(default_factory=list)
    shown: list[ShownScreen] = field(default_factory=list)
    machine_events: list[MachineEvent] = field(default_factory=list)
    order: list[tuple[str, int, str]] = field(default_factory=list)
    """Groups of consecutive draws with the geometry stage on or off: (frame, 1 or 0, first draw)."""
    ignored: list[tuple[str, int]] = field(default_factory=list)
    """Lists with writes to ids that have no register: (list, how many)."""
    whys: Callable[[str], Funnel] | None = None
    unset: list[UnsetUniform] = field(default_factory=list)
    flushes: int = 0
    live: list[Found] | None = None

    def findings_of(self, *ids: str) -> Iterator[Found]:
        """Events of the machine with these ids, as findings."""
        for event in self.machine_events:
            if event.id in ids:
                yield Found(event.message, event.at, event.count)

    @property
    def transfers(self) -> Iterator[UnitRecord]:
        return (unit for unit in self.units if unit.is_transfer)

    @property
    def copies(self) -> Iterator[UnitRecord]:
        return (unit for unit in self.units if unit.is_copy)

    @property
    def fills(self) -> Iterator[UnitRecord]:
        return (unit for unit in self.units if unit.unit != "PPF")

    @property
    def all_reads(self) -> Iterator[Read]:
        """All memory reads, of draws and of everything else."""
        for draw in self.draws:
            yield from draw.reads
        yield from self.reads


__all__ = ["DrawRecord", "Lost", "MachineEvent", "N3dsRecord", "Read", "ShownScreen", "UnitRecord"]
