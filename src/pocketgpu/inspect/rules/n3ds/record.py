"""What the run of a 3DS capture leaves for rules: draws by state, programs, units at work, what was read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pocketgpu.events import Event as Told
from pocketgpu.facts.external import EXTERNAL
from pocketgpu.facts.pica import OUTPUT_MAPS
from pocketgpu.facts.pica_enums import BLEND_EQUATION, BLEND_FACTOR, LOGIC_OP
from pocketgpu.inspect.model.event import Range
from pocketgpu.inspect.model.rules import Found
from pocketgpu.inspect.n3ds.draw_state import BRIGHT, LIGHT_COLORS, DrawState
from pocketgpu.pica.core.registers import field as register_field

if TYPE_CHECKING:
    from pocketgpu.inspect.n3ds.programs import Program
    from pocketgpu.pica.front.draw_target import DrawTarget


@dataclass(frozen=True, slots=True)
class Read:
    """Memory that something reads. what: in words, such as "texture unit 0"; kind: "list", "vertices", "indices",
    "texture", "transfer", "copy", "display", "color", "depth". missing: bytes that nothing had written. stale: bytes
    that the processor wrote and did not write back from its cache, as far as the log shows. name: the register or the
    register field that says where."""

    kind: str
    what: str
    range: Range
    at: str
    missing: int = 0
    stale: int = 0
    name: str = ""


@dataclass
class DrawRecord(DrawState):
    """All draws that have their registers in common, but for those that only hold data.

    empty: how many of them gave no triangle to draw. target: what they draw to, or why there is none; writes: what of
    that they may write. reads: memory. programs: what shader units run.
    """

    empty: int = 0
    target: DrawTarget | str = ""
    writes: dict[str, Range] = field(default_factory=dict)
    reads: list[Read] = field(default_factory=list)
    programs: dict[str, Program] = field(default_factory=dict)

    def __call__(self, name: str) -> int:
        part = register_field(name)
        return part.field.raw(self.words[part.register.offset])

    def value(self, name: str) -> float:
        """A field as its table reads it: floats as floats."""
        part = register_field(name)
        return float(part.field.decode(self.words[part.register.offset]))

    def found(self, message: str) -> Found:
        """A finding about these draws."""
        return Found(message, self.first, self.draws)

    @property
    def tests_depth(self) -> bool:
        return bool(self("DEPTH_COLOR_MASK.depth_test"))

    @property
    def tests_stencil(self) -> bool:
        return bool(self("STENCIL_TEST.enable"))

    @property
    def writes_color(self) -> bool:
        masks = any(self(f"DEPTH_COLOR_MASK.{name}") for name in ("red", "green", "blue", "alpha"))
        return masks and bool(self("COLORBUFFER_WRITE.mask"))

    @property
    def reads_color(self) -> bool:
        """Whether what is in the colour buffer matters for what is written there."""
        if not self.writes_color or self("COLOR_OPERATION.fragment_mode"):
            return False
        if not all(self(f"DEPTH_COLOR_MASK.{name}") for name in ("red", "green", "blue", "alpha")):
            return True
        if not self("COLOR_OPERATION.blend_enable"):
            return self("LOGIC_OP.op") not in _LOGIC_WITHOUT_DESTINATION
        return any(
            self(f"BLEND_FUNC.dst_{part}") != BLEND_FACTOR.ZERO
            or self(f"BLEND_FUNC.src_{part}") in _FACTORS_OF_DESTINATION
            or self(f"BLEND_FUNC.equation_{part}") in _MIN_MAX
            for part in ("rgb", "alpha")
        )  # fmt: skip

    @property
    def uses_depth(self) -> bool:
        return self.tests_depth or self.tests_stencil or self.writes_depth

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

    @property
    def triggered(self) -> bool:
        """Whether DRAWARRAYS or DRAWELEMENTS set it off."""
        return not self.immediate


_LOGIC_WITHOUT_DESTINATION = LOGIC_OP.numbers("CLEAR", "COPY", "SET", "COPY_INVERTED")
_FACTORS_OF_DESTINATION = BLEND_FACTOR.numbers(
    "DESTINATION_COLOR",
    "ONE_MINUS_DESTINATION_COLOR",
    "DESTINATION_ALPHA",
    "ONE_MINUS_DESTINATION_ALPHA",
    "SOURCE_ALPHA_SATURATED",
)
_MIN_MAX = BLEND_EQUATION.numbers("MINIMUM", "MAXIMUM")


@dataclass
class UnitRecord:
    """A fill ("PSC0", "PSC1") or a transfer ("PPF") that ran. words: of its registers by name. source, target: what it
    reads and writes, None where nothing moves."""

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
    """Bits of a word that a register does not keep: what was written, what it made of it."""

    register: str
    written: int
    kept: int
    at: str


@dataclass(frozen=True, slots=True)
class ShownScreen:
    """What a screen shows at a frame's end. format: code of the display side."""

    screen: str
    address: int
    stride: int
    format: int
    at: str


@dataclass
class N3dsRecord:
    """The run of a capture. told: what the machine told, with places. whys: asks the debugger why a whole draw came to
    nothing; flushes: how many ranges of the processor's cache were written back by GX commands."""

    draws: list[DrawRecord] = field(default_factory=list)
    programs: list[Program] = field(default_factory=list)
    units: list[UnitRecord] = field(default_factory=list)
    reads: list[Read] = field(default_factory=list)
    lost: list[Lost] = field(default_factory=list)
    shown: list[ShownScreen] = field(default_factory=list)
    told: list[Told] = field(default_factory=list)
    order: list[tuple[str, int, str]] = field(default_factory=list)
    """Draws in rows that have the geometry stage on or off: (frame, 1 or 0, first draw)."""
    ignored: list[tuple[str, int]] = field(default_factory=list)
    """Lists with writes to ids that have no register: (list, how many)."""
    whys: Any = None
    flushes: int = 0

    def tells(self, *ids: str) -> Iterator[Found]:
        """What the machine told under these ids, as findings."""
        for event in self.told:
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
        """What draws read, and all else."""
        for draw in self.draws:
            yield from draw.reads
        yield from self.reads


__all__ = ["DrawRecord", "Lost", "N3dsRecord", "Read", "ShownScreen", "Told", "UnitRecord"]
