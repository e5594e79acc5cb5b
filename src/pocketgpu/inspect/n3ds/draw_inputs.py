"""What a draw of a 3DS reads from memory: its index and vertex buffers, its textures, and its targets.

    draw = DrawRegisters(words, kind, zero, "f0/d3", vertices=36)
    for one in inputs(machine, draw, row):
        print(one.what, one.range)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pocketgpu.facts.formats import DEPTH_FORMATS
from pocketgpu.facts.pica import ATTRIBUTES, PICA
from pocketgpu.facts.pica_enums import BLEND_EQUATION, BLEND_FACTOR, INDEX_TYPE, LOGIC_OP
from pocketgpu.facts.vertices import component_field, skipped_bytes
from pocketgpu.inspect.model.event import Range
from pocketgpu.inspect.n3ds.inventory.draw_state import MOST_STATES, STATE_IDS, STATE_MASKS, DrawState
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pica.core.layout import KIND_ELEMENTS
from pocketgpu.pica.core.registers import StaticRegisters, field
from pocketgpu.pica.front.draw_target import DrawTarget, make_target
from pocketgpu.pica.front.packets import DrawPackets
from pocketgpu.pica.n3ds import N3DS

_MOST_INDICES: Final = 1 << 20
"""Most indices that are looked at; the vertices of longer draws are not told."""
_CHANNELS: Final = ("red", "green", "blue", "alpha")
_LOGIC_WITHOUT_DESTINATION = LOGIC_OP.numbers("CLEAR", "COPY", "SET", "COPY_INVERTED")
_FACTORS_OF_DESTINATION = BLEND_FACTOR.numbers(
    "DESTINATION_COLOR",
    "ONE_MINUS_DESTINATION_COLOR",
    "DESTINATION_ALPHA",
    "ONE_MINUS_DESTINATION_ALPHA",
    "SOURCE_ALPHA_SATURATED",
)
_MIN_MAX = BLEND_EQUATION.numbers("MINIMUM", "MAXIMUM")

INPUT_REGISTERS: Final = (
    "ATTRIBBUFFERS_LOC", *(f"ATTRIBBUFFER{n}_OFFSET" for n in range(ATTRIBUTES)), "INDEXBUFFER_CONFIG", "NUMVERTICES",
    "VERTEX_OFFSET", *(f"TEXUNIT{unit}_ADDR" for unit in range(3)), *(f"TEXUNIT0_ADDR{n}" for n in range(2, 7)),
    "STENCIL_TEST",
)  # fmt: skip
"""Registers that `inputs` reads besides those of draw states."""


def columns(names: Iterable[str]) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """Ids and masks of the registers of draw states and of these, in order: what draws are told apart by."""
    masks = dict(zip(STATE_IDS.tolist(), STATE_MASKS.tolist(), strict=True))
    masks |= {PICA[name].offset: 0xFFFFFFFF for name in names}
    ids = np.array(sorted(masks), np.int64)
    return ids, np.array([masks[int(n)] for n in ids], np.uint32)


_IDS, _MASKS = columns(INPUT_REGISTERS)


class Input(NamedTuple):
    """Memory that a draw reads. kind: "indices", "vertices", "texture", "color" or "depth". what: as text, such as
    "texture unit 0". register: the one with the address."""

    kind: str
    what: str
    range: Range
    register: str


@dataclass
class DrawRegisters(DrawState):
    """A draw state whose `words` are all registers by id, so that any field can be read."""

    def __call__(self, name: str) -> int:
        part = field(name)
        return part.field.raw(self.words[part.register.offset])

    @property
    def triggered(self) -> bool:
        """Whether DRAWARRAYS or DRAWELEMENTS started it."""
        return not self.immediate

    def vertices_of(self, sent: int) -> int:
        """How many vertices or indices it has. sent: attributes that were sent for immediate vertices."""
        return sent // (self("VSH_NUM_ATTR.count") + 1) if self.immediate else self("NUMVERTICES.count")

    @property
    def tests_depth(self) -> bool:
        return bool(self("DEPTH_COLOR_MASK.depth_test"))

    @property
    def tests_stencil(self) -> bool:
        return bool(self("STENCIL_TEST.enable"))

    @property
    def writes_color(self) -> bool:
        return any(self(f"DEPTH_COLOR_MASK.{name}") for name in _CHANNELS) and bool(self("COLORBUFFER_WRITE.mask"))

    @property
    def reads_color(self) -> bool:
        """Whether the colours that are written depend on those in the buffer."""
        if not self.writes_color or self("COLOR_OPERATION.fragment_mode"):
            return False
        if not all(self(f"DEPTH_COLOR_MASK.{name}") for name in _CHANNELS):
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
    def writes_stencil(self) -> bool:
        """By the default of the choice `test.stencil_write`: either bit allows it."""
        return self.tests_stencil and bool(self("DEPTHBUFFER_WRITE.stencil") or self("DEPTHBUFFER_WRITE.depth"))

    @property
    def uses_depth(self) -> bool:
        return self.tests_depth or self.tests_stencil or self.writes_depth

    def vertex_size(self, loader: int) -> int:
        """Bytes of a vertex that a loader reads, with the gaps that align its components; 0 if it is not in use."""
        at = 0
        for i in range(min(ATTRIBUTES, self(f"ATTRIBBUFFER{loader}_CONFIG2.count"))):
            code = self(component_field(loader, i))
            size, count = self.element(code) if code < ATTRIBUTES else (4, skipped_bytes(code) // 4)
            at = -(-at // size) * size + size * count
        return at


def inputs(machine: N3DS, draw: DrawRegisters, target: DrawTarget | str, row: NDArray[np.uint32]) -> Iterator[Input]:
    """All memory that a draw reads or may read, as memory is now. row: its 0x300 registers."""
    if not isinstance(target, str):
        yield from _of_targets(machine, draw, target)
    yield from _textures(machine, draw, row)
    if draw.triggered and draw.vertices:
        yield from _vertices(machine, draw)


class DrawInputs:
    """What the draws of lists read. Draws with the same registers are looked at once, unless memory has their
    indices."""

    def __init__(self, machine: N3DS) -> None:
        self._machine = machine
        self._known: dict[bytes, tuple[Range, ...]] = {}

    def of(self, packets: DrawPackets) -> list[tuple[Range, ...]]:
        """For each of some draws that have not run yet, what it reads, each stretch once."""
        rows = np.empty((len(packets), len(_IDS) + 2), np.uint32)
        rows[:, :-2] = packets.registers[:, _IDS] & _MASKS
        rows[:, -2], rows[:, -1] = packets.kinds, packets.immediate
        found = []
        for n, row in enumerate(rows):
            key = row.tobytes()
            ranges = self._known.get(key)
            if ranges is None:
                ranges = self._read(packets, n)
                if packets.kinds[n] != KIND_ELEMENTS and len(self._known) < MOST_STATES:
                    self._known[key] = ranges
            found.append(ranges)
        return found

    def _read(self, packets: DrawPackets, n: int) -> tuple[Range, ...]:
        row = packets.registers[n]
        draw = DrawRegisters(dict(enumerate(row.tolist())), int(packets.kinds[n]), frozenset(), "")
        draw.vertices = draw.vertices_of(int(packets.immediate[n]))
        target = make_target(self._machine.memory, StaticRegisters(draw.words))
        return tuple(dict.fromkeys(one.range for one in inputs(self._machine, draw, target, row)))


def physical(machine: N3DS, where: tuple[int, int]) -> Range | None:
    """A stretch of the arena (offset, bytes) as physical memory; None if it is none."""
    address = machine.memory.address_of(where[0]) if where[1] else None
    return None if address is None else Range(address, where[1])


def _of_targets(machine: N3DS, draw: DrawRegisters, target: DrawTarget) -> Iterator[Input]:
    color, depth = physical(machine, target.color), physical(machine, target.depth)
    if color is not None and draw.reads_color and draw("COLORBUFFER_READ.mask"):
        yield Input("color", "colour buffer", color, "COLORBUFFER_LOC")
    if depth is None or draw("DEPTHBUFFER_FORMAT.format") not in DEPTH_FORMATS:
        return
    may_read = draw("DEPTHBUFFER_READ.depth") or draw("DEPTHBUFFER_READ.stencil")
    if may_read and (draw.tests_depth or draw.tests_stencil):
        yield Input("depth", "depth buffer", depth, "DEPTHBUFFER_LOC")


def _textures(machine: N3DS, draw: DrawRegisters, row: NDArray[np.uint32]) -> Iterator[Input]:
    for unit in draw.texture_units:
        source = machine.textures.describe(row, unit)
        for where in source.ranges if source is not None else ():
            found = physical(machine, where)
            if found is not None:
                yield Input("texture", f"texture unit {unit}", found, f"TEXUNIT{unit}_ADDR")


def _vertices(machine: N3DS, draw: DrawRegisters) -> Iterator[Input]:
    base, count = draw.bytes("ATTRIBBUFFERS_LOC.base"), draw.vertices
    low, high = draw("VERTEX_OFFSET.first"), draw("VERTEX_OFFSET.first") + count - 1
    if draw.indexed:
        size = 2 if draw("INDEXBUFFER_CONFIG.type") == INDEX_TYPE.U16 else 1
        where = Range(base + draw("INDEXBUFFER_CONFIG.offset"), count * size)
        yield Input("indices", "indices", where, "INDEXBUFFER_CONFIG")
        offset = machine.memory.offset_of(where.address, where.size)
        # With primitives of variable size their sizes stand between the indices.
        if offset is None or count > _MOST_INDICES or draw("GEOSTAGE_CONFIG.variable"):
            return
        indices = machine.memory.arena[offset : offset + where.size]
        indices = indices if size == 1 else indices[: where.size & ~1].copy().view("<u2")
        low, high = int(indices.min()), int(indices.max())
    for n in range(ATTRIBUTES):
        stride, size = draw(f"ATTRIBBUFFER{n}_CONFIG2.stride"), draw.vertex_size(n)
        if size:
            start = base + draw(f"ATTRIBBUFFER{n}_OFFSET.offset") + low * stride
            where = Range(start & 0xFFFFFFFF, (high - low) * stride + size)
            yield Input("vertices", f"vertex buffer {n}", where, f"ATTRIBBUFFER{n}_OFFSET")


__all__ = ["INPUT_REGISTERS", "DrawInputs", "DrawRegisters", "Input", "columns", "inputs", "physical"]
