"""Draw states: the registers that select how a draw is drawn, gathered once for all draws with the same values.

A capture has up to a thousand draws a frame, but few different states. Columns that only hold data (colours, addresses,
uniforms) are left out. Array operations count equal rows, and Python code runs only for the different ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field as with_default
from typing import Final

import numpy as np

from pocketgpu.facts.pica import ATTRIBUTES, PICA
from pocketgpu.facts.pica_enums import (
    FOG_MODE,
    FRAGMENT_MODE,
    GEOMETRY_STAGE,
    TEXENV_ALPHA_OPERAND,
    TEXENV_COMBINER,
    TEXENV_RGB_OPERAND,
    TEXENV_SCALE,
    TEXENV_SOURCE,
)
from pocketgpu.facts.vertices import ELEMENT_BYTES, component_field, format_fields, skipped_bytes
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pica.core.layout import KIND_ARRAYS, KIND_ELEMENTS, KIND_IMMEDIATE
from pocketgpu.pica.core.registers import field
from pocketgpu.pica.fragment.combiners import STAGES, USES
from pocketgpu.pica.front.packets import DrawPackets

MOST_STATES: Final = 1 << 14
"""Most different states that are kept. A real program does not have more; after that, draws are only counted."""

UNITS: Final = 3
_ALL: Final = 0xFFFFFFFF
_WHOLE: Final = (
    "FACECULLING_CONFIG", "FRAGOP_CLIP", "SH_OUTMAP_TOTAL", *(f"SH_OUTMAP_O{n}" for n in range(7)), "FLAT_SHADING",
    "PIXEL_SKIP", "EARLYDEPTH_TEST1", "SCISSORTEST_MODE", "VIEWPORT_XY", "DEPTHMAP_ENABLE", "TEXUNIT_CONFIG",
    *(f"TEXUNIT{unit}_{name}" for unit in range(UNITS) for name in ("DIM", "PARAM", "LOD", "TYPE")),
    "TEXUNIT0_SHADOW", "PROCTEX0", "PROCTEX4",
    *(f"TEXENV{stage}_{name}" for stage in range(STAGES) for name in ("SOURCE", "OPERAND", "COMBINER", "SCALE")),
    "TEXENV_UPDATE_BUFFER", "COLOR_OPERATION", "BLEND_FUNC", "LOGIC_OP", "STENCIL_OP", "DEPTH_COLOR_MASK",
    "COLORBUFFER_READ", "COLORBUFFER_WRITE", "DEPTHBUFFER_READ", "DEPTHBUFFER_WRITE", "DEPTHBUFFER_FORMAT",
    "COLORBUFFER_FORMAT", "EARLYDEPTH_TEST2", "FRAMEBUFFER_BLOCK32", "DEPTHBUFFER_LOC", "COLORBUFFER_LOC",
    "FRAMEBUFFER_DIM", "LIGHTING_NUM_LIGHTS", "LIGHTING_CONFIG0", "LIGHTING_CONFIG1", "LIGHTING_ENABLE1",
    *(f"LIGHT{n}_CONFIG" for n in range(8)), "LIGHTING_LUTINPUT_SELECT", "LIGHTING_LIGHT_PERMUTATION",
    "ATTRIBBUFFERS_FORMAT_LOW", "ATTRIBBUFFERS_FORMAT_HIGH",
    *(f"ATTRIBBUFFER{n}_{name}" for n in range(ATTRIBUTES) for name in ("CONFIG1", "CONFIG2")),
    "GEOSTAGE_CONFIG", "VSH_NUM_ATTR", "VSH_COM_MODE", "GSH_MISC0", "GSH_MISC1",
    "VSH_ATTRIBUTES_PERMUTATION_LOW", "VSH_ATTRIBUTES_PERMUTATION_HIGH",
)  # fmt: skip
_PARTS: Final = (
    "FRAGOP_ALPHA_TEST.enable", "FRAGOP_ALPHA_TEST.function", "STENCIL_TEST.enable", "STENCIL_TEST.function",
    "INDEXBUFFER_CONFIG.type", "PRIMITIVE_CONFIG.mode", "VSH_INPUTBUFFER_CONFIG.count",
)  # fmt: skip
_PER_VERTEX: Final = field("VSH_NUM_ATTR.count")
LIT_SOURCES: Final = TEXENV_SOURCE.numbers("FRAGMENT_PRIMARY", "FRAGMENT_SECONDARY")
"""Combiner sources that lighting computes."""
# A colour channel above 255 is brighter than full brightness; otherwise a light's colour is data.
BRIGHT: Final = sum(0x300 << field(f"LIGHT0_DIFFUSE.{channel}").lo for channel in "rgb")
LIGHT_COLORS: Final = tuple(
    PICA[f"LIGHT{n}_{name}"].offset for n in range(8) for name in ("SPECULAR0", "SPECULAR1", "DIFFUSE", "AMBIENT")
)
# Registers that only matter by whether they are 0, and the bit for that in the column after the words.
ZEROS: Final = ("TEXUNIT0_ADDR", "TEXUNIT1_ADDR", "TEXUNIT2_ADDR", "DRAWARRAYS", "DRAWELEMENTS")


def _columns() -> tuple[np.ndarray, np.ndarray]:
    masks = {PICA[name].offset: _ALL for name in _WHOLE}
    for name in _PARTS:
        part = field(name)
        masks[part.register.offset] = masks.get(part.register.offset, 0) | part.mask
    masks |= dict.fromkeys((PICA["LIGHTING_AMBIENT"].offset, *LIGHT_COLORS), BRIGHT)
    ids = np.array(sorted(masks), np.int64)
    return ids, np.array([masks[int(i)] for i in ids], np.uint32)


STATE_IDS, STATE_MASKS = _columns()
_KNOWN: Final = {int(i): int(mask) for i, mask in zip(STATE_IDS, STATE_MASKS, strict=True)}
_ZERO_IDS: Final = np.array([PICA[name].offset for name in ZEROS], np.int64)


@dataclass
class DrawState:
    """One state: `words` by register id, the kind of draw, how often it occurs, where first, and in which frames."""

    words: dict[int, int]
    kind: int
    zero: frozenset[str]
    first: str
    draws: int = 0
    vertices: int = 0
    frames: set[int] = with_default(default_factory=set)

    def __call__(self, name: str) -> int:
        """The raw bits of a field. Raises KeyError for a field that is not part of the state."""
        part = field(name)
        if part.mask & ~_KNOWN.get(part.register.offset, 0):
            raise KeyError(f"{name} is not part of a draw state")
        return part.field.raw(self.words[part.register.offset])

    def bytes(self, name: str) -> int:
        """A field that is an address or a size, in bytes."""
        return self(name) * field(name).scale

    def text(self, name: str) -> str:
        """The value of a field as text, without its number if it has a name."""
        part = field(name)
        raw = self(name)
        if part.field.enum is not None:
            return part.field.enum.get(raw, f"code {raw}")
        return part.field.text(raw << part.lo)

    @property
    def immediate(self) -> bool:
        return self.kind == KIND_IMMEDIATE

    @property
    def indexed(self) -> bool:
        return self.kind == KIND_ELEMENTS

    @property
    def arrays(self) -> bool:
        return self.kind == KIND_ARRAYS

    @property
    def writes_depth(self) -> bool:
        return bool(self("DEPTH_COLOR_MASK.depth_write") and self("DEPTHBUFFER_WRITE.depth"))

    def sources(self, stage: int) -> set[int]:
        """Codes of the sources that a combiner stage reads."""
        found = set()
        for part in ("rgb", "alpha"):
            count = USES.get(self(f"TEXENV{stage}_COMBINER.{part}"), 0)
            found |= {self(f"TEXENV{stage}_SOURCE.{part}{i}") for i in range(count)}
        return found

    @property
    def all_sources(self) -> set[int]:
        return set().union(*(self.sources(stage) for stage in range(STAGES)))

    def operations(self, stage: int) -> tuple[int, int]:
        """Codes of a stage's operations for colour and alpha."""
        return self(f"TEXENV{stage}_COMBINER.rgb"), self(f"TEXENV{stage}_COMBINER.alpha")

    def passes_through(self, stage: int) -> bool:
        """Whether a stage passes the previous result on unchanged."""

        def get(name: str) -> int:
            return self(f"TEXENV{stage}_{name}")

        replace = all(
            get(f"COMBINER.{part}") == TEXENV_COMBINER.REPLACE
            and get(f"SOURCE.{part}0") == TEXENV_SOURCE.PREVIOUS
            and get(f"OPERAND.{part}0") == plain
            for part, plain in (("rgb", TEXENV_RGB_OPERAND.RGB), ("alpha", TEXENV_ALPHA_OPERAND.ALPHA))
        )
        # Unknown codes scale by 1.
        return replace and all(
            get(f"SCALE.{part}") == TEXENV_SCALE.X1 or get(f"SCALE.{part}") not in TEXENV_SCALE
            for part in ("rgb", "alpha")
        )

    @property
    def texture_units(self) -> list[int]:
        """Units 0 to 2 that are on and that a combiner reads, or lighting as its bump map."""
        used = {code - TEXENV_SOURCE.TEXTURE0 for code in self.all_sources}
        if self.lit and self("LIGHTING_CONFIG0.bump_mode"):
            used.add(self("LIGHTING_CONFIG0.bump_unit"))
        return [unit for unit in range(UNITS) if unit in used and self(f"TEXUNIT_CONFIG.unit{unit}_enable")]

    @property
    def procedural(self) -> bool:
        return TEXENV_SOURCE.TEXTURE3 in self.all_sources and bool(self("TEXUNIT_CONFIG.unit3_enable"))

    @property
    def lit(self) -> bool:
        return bool(self.all_sources & LIT_SOURCES) and not self("LIGHTING_ENABLE1.disable")

    @property
    def gas(self) -> bool:
        """Whether gas is accumulated or shaded."""
        shaded = self("TEXENV_UPDATE_BUFFER.fog_mode") == FOG_MODE.GAS
        return shaded or self("COLOR_OPERATION.fragment_mode") == FRAGMENT_MODE.GAS

    @property
    def over_bright(self) -> bool:
        """Whether a light colour has a channel above full brightness."""
        return any(self.words[number] for number in (PICA["LIGHTING_AMBIENT"].offset, *LIGHT_COLORS))

    @property
    def geometry(self) -> bool:
        return self("GEOSTAGE_CONFIG.mode") == GEOMETRY_STAGE.ON

    @property
    def loaded(self) -> list[list[tuple[int, int, int]]]:
        """For each loader in use its components in order: (code, element size, elements); skips have element size 0."""
        loaders = []
        for n in range(ATTRIBUTES):
            components = []
            for i in range(min(ATTRIBUTES, self(f"ATTRIBBUFFER{n}_CONFIG2.count"))):
                code = self(component_field(n, i))
                components.append((code, *self.element(code)) if code < ATTRIBUTES else (code, 0, skipped_bytes(code)))
            if components:
                loaders.append(components)
        return loaders

    def element(self, attribute: int) -> tuple[int, int]:
        """Bytes of an element and number of elements of an attribute in memory."""
        kind, size = format_fields(attribute)
        return ELEMENT_BYTES[self(kind)], self(size) + 1


class DrawStates:
    """All different states of the packets that were added."""

    def __init__(self) -> None:
        self._known: dict[bytes, DrawState] = {}
        self.overflow = 0

    def __iter__(self) -> Iterator[DrawState]:
        return iter(self._known.values())

    def __len__(self) -> int:
        return len(self._known)

    def add(self, packets: DrawPackets, number: int = 0, frame: int = 0) -> int:
        """Add draws, the first of which is draw `number` of frame `frame`. Returns how many vertices they have."""
        registers = packets.registers
        rows = np.empty((len(registers), len(STATE_IDS) + 2), np.uint32)
        rows[:, :-2] = registers[:, STATE_IDS] & STATE_MASKS
        rows[:, -2] = packets.kinds
        rows[:, -1] = ((registers[:, _ZERO_IDS] == 0) << np.arange(len(ZEROS))).sum(axis=1)
        listed = registers[:, PICA["NUMVERTICES"].offset].astype(np.int64)
        attributes = (registers[:, _PER_VERTEX.register.offset].astype(np.int64) & _PER_VERTEX.mask) + 1
        vertices = np.where(packets.kinds == KIND_IMMEDIATE, packets.immediate // attributes, listed)
        whole = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel()
        _, first, inverse = np.unique(whole, return_index=True, return_inverse=True)
        counts = np.bincount(inverse, minlength=len(first))
        sums = np.bincount(inverse, weights=vertices, minlength=len(first))
        order = np.argsort(first, kind="stable")  # of first appearance
        for i in order.tolist():
            row = rows[first[i]]
            state = self._state(row, f"{packets.place}/d{number + int(first[i])}")
            if state is None:
                self.overflow += int(counts[i])
                continue
            state.frames.add(frame)
            state.draws += int(counts[i])
            state.vertices += int(sums[i])
        return int(vertices.sum())

    def _state(self, row: np.ndarray, place: str) -> DrawState | None:
        key = row.tobytes()
        state = self._known.get(key)
        if state is None and len(self._known) < MOST_STATES:
            words = dict(zip(STATE_IDS.tolist(), row[:-2].tolist(), strict=True))
            zero = frozenset(name for i, name in enumerate(ZEROS) if int(row[-1]) >> i & 1)
            state = self._known[key] = DrawState(words, int(row[-2]), zero, place)
        return state
