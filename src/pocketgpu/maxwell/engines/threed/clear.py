"""CLEAR_SURFACE: sets colour, depth and stencil of one layer to a value, directly in guest memory.

The method names the slot of the colour target, SET_CT_SELECT has no effect, and the channel bits are the only colour
mask. The rectangle is the surface clip, cut by what SET_CLEAR_SURFACE_CONTROL enables: the clear rectangle, scissor 0,
viewport clip 0. It is in pixels; all samples of a multisampled pixel are cleared.
Source: class header for fields and bits; simulators agree on the slot and the masks. Whether clears work with the
rasteriser disabled is a choice (clear.raster_disabled).
"""

from __future__ import annotations

from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from pocketgpu.errors import UsageError
from pocketgpu.facts.maxwell import B197
from pocketgpu.facts.maxwell.formats import COLOR_TARGET, DEPTH, PixelLayout
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.engines.common import conditions
from pocketgpu.maxwell.engines.common.action_log import Clear
from pocketgpu.maxwell.engines.common.base import EngineHost, Registers
from pocketgpu.maxwell.engines.common.fills import PERIOD, Fill
from pocketgpu.maxwell.engines.common.slices import Plane
from pocketgpu.maxwell.engines.common.state import State
from pocketgpu.maxwell.engines.common.windows import Scratch
from pocketgpu.maxwell.formats import arrays
from pocketgpu.maxwell.formats.channels import CHANNELS, Channels, written_bits
from pocketgpu.maxwell.formats.samples import samples_of

_CONTROL = ("USE_CLEAR_RECT", "USE_SCISSOR0", "USE_VIEWPORT_CLIP0")
_MAX_PLANS = 1024
_MAX_PATTERNS = 256
COLOR_FORMATS = B197.values("SET_COLOR_TARGET_FORMAT")
LAYOUTS = B197.values("SET_COLOR_TARGET_MEMORY.LAYOUT")
THIRD_DIMENSIONS = B197.values("SET_COLOR_TARGET_MEMORY.THIRD_DIMENSION_CONTROL")


@lru_cache(_MAX_PATTERNS)
def colour_pattern(layout: PixelLayout, words: tuple[int, ...], names: str, srgb: bool) -> tuple[bytes, bytes]:
    """PERIOD bytes of pixels, and a mask of the bits that change.

    :param words: red to alpha: f32, or integers for integer formats. names: of the channels to clear ("RGBA").
    :param srgb: whether components are converted to sRGB.
    """
    colour = np.array(words, np.uint32).view(arrays.dtype_of(Channels.of(layout))).reshape(1, 1, 4)
    return _repeat(arrays.encode(colour, layout, srgb=srgb).tobytes(), written_bits(layout, names))


@lru_cache(_MAX_PATTERNS)
def depth_pattern(
    layout: PixelLayout, depth: int | None, stencil: int | None, stencil_mask: int
) -> tuple[bytes, bytes]:
    """The same for depth (a word that is an f32) and stencil; None leaves a part unchanged."""
    masks = {"Z": 0 if depth is None else -1, "S": 0 if stencil is None else stencil_mask}
    bits = sum((masks.get(c.name, 0) & ((1 << c.width) - 1)) << c.lo for c in layout.components)
    number = np.array([[depth or 0]], np.uint32).view(np.float32)
    pixel = arrays.encode_depth(number, np.array([[stencil or 0]]), layout)
    return _repeat(pixel.tobytes(), bits)


def _repeat(pixel: bytes, bits: int) -> tuple[bytes, bytes]:
    """PERIOD bytes of pixels, limited to the bits that change, and the mask of these bits."""
    count = PERIOD // len(pixel)
    value = int.from_bytes(pixel, "little") & bits
    return value.to_bytes(len(pixel), "little") * count, bits.to_bytes(len(pixel), "little") * count


@dataclass(frozen=True)
class _ClearPlan:
    """What one CLEAR_SURFACE does with the current registers. events: (id, message) of faults that it reports each
    time."""

    parts: tuple[tuple[str, Fill], ...] = ()
    record: Clear | None = None
    events: tuple[tuple[str, str], ...] = ()


def _words() -> list[int]:
    """The registers that a clear depends on."""
    names = [
        "SET_SURFACE_CLIP_HORIZONTAL", "SET_SURFACE_CLIP_VERTICAL", "SET_CLEAR_SURFACE_CONTROL",
        "SET_CLEAR_RECT_HORIZONTAL", "SET_CLEAR_RECT_VERTICAL", "SET_SCISSOR_ENABLE", "SET_SCISSOR_HORIZONTAL",
        "SET_SCISSOR_VERTICAL", "SET_VIEWPORT_CLIP_HORIZONTAL", "SET_VIEWPORT_CLIP_VERTICAL", "SET_ANTI_ALIAS",
        "SET_SRGB_WRITE", "SET_Z_CLEAR_VALUE", "SET_STENCIL_CLEAR_VALUE", "SET_STENCIL_MASK", "SET_ZT_A", "SET_ZT_B",
        "SET_ZT_FORMAT", "SET_ZT_BLOCK_SIZE", "SET_ZT_ARRAY_PITCH", "SET_ZT_SIZE_A", "SET_ZT_SIZE_B", "SET_ZT_SIZE_C",
        "SET_ZT_LAYER", "SET_ZT_SELECT", "SET_RASTER_ENABLE",
    ]  # fmt: skip
    return [*(B197[name].word for name in names), *B197["SET_COLOR_CLEAR_VALUE"].words()]


_TARGET = (
    "SET_COLOR_TARGET_A", "SET_COLOR_TARGET_B", "SET_COLOR_TARGET_WIDTH", "SET_COLOR_TARGET_HEIGHT",
    "SET_COLOR_TARGET_FORMAT", "SET_COLOR_TARGET_MEMORY", "SET_COLOR_TARGET_THIRD_DIMENSION",
    "SET_COLOR_TARGET_ARRAY_PITCH", "SET_COLOR_TARGET_LAYER",
)  # fmt: skip


@cache
def _places() -> tuple[NDArray[np.int64], tuple[NDArray[np.int64], ...]]:
    """Numbers of the registers that clears depend on: without colour, and of each colour target."""
    words = _words()
    slots = [[B197[name].word + slot * B197[name].stride for name in _TARGET] for slot in range(8)]
    return np.array(words), tuple(np.array([*words, *more]) for more in slots)


class ClearUnit:
    """Runs clears. Their plans are made once for the registers that they depend on."""

    def __init__(self, host: EngineHost, registers: Registers) -> None:
        self._host = host
        self._state = State(B197, registers)
        self._bits = {field.name: field for field in B197["CLEAR_SURFACE"].fields}
        self._slot = self._bits["MRT_SELECT"]
        self._words, self._slots = _places()
        self._plans: dict[bytes, _ClearPlan] = {}

    def run(self, value: int) -> None:
        """CLEAR_SURFACE was written."""
        host = self._host
        if not conditions.enabled(host, self._state):
            return
        slot = self._slot.raw(value)
        words = self._slots[slot] if slot < 8 else self._words
        key = value.to_bytes(4, "little") + self._state.registers[words].tobytes()
        plan = self._plans.get(key)
        if plan is None:
            if len(self._plans) >= _MAX_PLANS:
                self._plans.clear()
            try:
                plan = self._plan(value)
            except UsageError as error:
                plan = _ClearPlan(events=(("engine.range", f"CLEAR_SURFACE: {error}"),))
            self._plans[key] = plan
        for id, message in plan.events:
            host.report("fault", id, message)
        host.stats.clears += 1
        for what, fill in plan.parts:
            self._fill(what, fill)
        if plan.record is not None:
            host.log.append(Clear(**{**plan.record.__dict__, "place": host.place}))

    def _fill(self, what: str, fill: Fill) -> None:
        scratch = Scratch(self._host)
        masks = scratch.put(fill.masks)
        window = scratch.open(fill.plane.va + fill.low, fill.high - fill.low, what)
        if masks is None or window is None:
            return
        at, host = window.offset, self._host
        host.workers.run(lambda part, parts: fill.run(host.engine, at, masks, part, parts), "clear", fill.amount)
        scratch.close(window)

    def _plan(self, value: int) -> _ClearPlan:
        state, bits = self._state, self._bits
        bit = lambda name: bits[name].raw(value)
        if not state.field("SET_RASTER_ENABLE") and self._host.choices["clear.raster_disabled"] == "nothing":
            return _ClearPlan()
        left, top, right, bottom = rectangle = self._rectangle()
        slot, layer = bit("MRT_SELECT"), bit("RT_ARRAY_INDEX")
        channels = "".join(c for c in CHANNELS if bit(f"{c}_ENABLE"))
        parts: list[tuple[str, Fill]] = []
        events: list[tuple[str, str]] = []
        done, name, address = "", "", 0
        grid = samples_of(state)
        box = (left * grid[0], top * grid[1], right * grid[0], bottom * grid[1])
        empty = left >= right or top >= bottom
        if channels and slot > 7:
            events.append(("clear.target", f"CLEAR_SURFACE names colour target {slot}: there are eight"))
        elif channels:
            found = self._colour(slot, layer, channels, box, events)
            if found is not None:
                done, name, address = channels.lower(), found[0], state.address("SET_COLOR_TARGET_A", slot)
                if found[1] is not None and not empty:
                    parts.append(("clear of colour", found[1]))
        if bit("Z_ENABLE") or bit("STENCIL_ENABLE"):
            zeta = self._depth(layer, bool(bit("Z_ENABLE")), bool(bit("STENCIL_ENABLE")), box, events)
            if zeta is not None:
                done += zeta[2]
                name, address = (name, address) if name else (zeta[0], state.address("SET_ZT_A"))
                if zeta[1] is not None and not empty:
                    parts.append(("clear of depth", zeta[1]))
        red, green, blue, alpha = (state.word("SET_COLOR_CLEAR_VALUE", i) for i in range(4))
        record = Clear(
            "", slot if channels else None, done, rectangle, layer, name, address,
            (red, green, blue, alpha), state.float("SET_Z_CLEAR_VALUE"), state.field("SET_STENCIL_CLEAR_VALUE"),
        )  # fmt: skip
        return _ClearPlan(tuple(parts), record, tuple(events))

    def _rectangle(self) -> tuple[int, int, int, int]:
        """(left, top, right, bottom) in pixels, the last two exclusive."""
        field = self._state.field
        x, y = field("SET_SURFACE_CLIP_HORIZONTAL", "X"), field("SET_SURFACE_CLIP_VERTICAL", "Y")
        boxes = [
            (x, y, x + field("SET_SURFACE_CLIP_HORIZONTAL", "WIDTH"), y + field("SET_SURFACE_CLIP_VERTICAL", "HEIGHT"))
        ]
        clear_rect, scissor, viewport = (field("SET_CLEAR_SURFACE_CONTROL", name) for name in _CONTROL)
        if clear_rect:
            h, v = "SET_CLEAR_RECT_HORIZONTAL", "SET_CLEAR_RECT_VERTICAL"
            boxes.append((field(h, "XMIN"), field(v, "YMIN"), field(h, "XMAX"), field(v, "YMAX")))
        if scissor and field("SET_SCISSOR_ENABLE"):
            h, v = "SET_SCISSOR_HORIZONTAL", "SET_SCISSOR_VERTICAL"
            boxes.append((field(h, "XMIN"), field(v, "YMIN"), field(h, "XMAX"), field(v, "YMAX")))
        if viewport:
            h, v = "SET_VIEWPORT_CLIP_HORIZONTAL", "SET_VIEWPORT_CLIP_VERTICAL"
            x, y = field(h, "X0"), field(v, "Y0")
            boxes.append((x, y, x + field(h, "WIDTH"), y + field(v, "HEIGHT")))
        left, top = (max(box[i] for box in boxes) for i in (0, 1))
        right, bottom = (min(box[i] for box in boxes) for i in (2, 3))
        return left, top, max(left, right), max(top, bottom)

    def _colour(
        self, slot: int, layer: int, channels: str, box: tuple[int, int, int, int], events: list[tuple[str, str]]
    ) -> tuple[str, Fill | None] | None:
        state = self._state
        code = state.field("SET_COLOR_TARGET_FORMAT", "V", slot)
        if code == COLOR_FORMATS.DISABLED:
            return None
        layout = COLOR_TARGET.get(code)
        if layout is None or not layout.bytes:
            events.append(("clear.format", f"colour target {slot} has the unknown format {code:#x}: not cleared"))
            return None
        words = tuple(state.word("SET_COLOR_CLEAR_VALUE", i) for i in range(4))
        pattern, bits = colour_pattern(layout, words, channels, bool(state.field("SET_SRGB_WRITE", "ENABLE")))
        memory = lambda field: state.field("SET_COLOR_TARGET_MEMORY", field, slot)
        va = state.address("SET_COLOR_TARGET_A", slot)
        width, height = (state.field(f"SET_COLOR_TARGET_{n}", "V", slot) for n in ("WIDTH", "HEIGHT"))
        layer += state.field("SET_COLOR_TARGET_LAYER", "OFFSET", slot)
        distance = state.bytes("SET_COLOR_TARGET_ARRAY_PITCH", index=slot)
        if memory("LAYOUT") == LAYOUTS.PITCH:
            start = va + layer * distance
            plane = Plane.linear(start & -128, width)
            columns = width // layout.bytes
        else:
            deep = memory("THIRD_DIMENSION_CONTROL") == THIRD_DIMENSIONS.THIRD_DIMENSION_DEFINES_DEPTH_SIZE
            start = va if deep else va + layer * distance
            plane = Plane.blocks(
                start & -512, width * layout.bytes, height,
                memory("BLOCK_HEIGHT"), memory("BLOCK_DEPTH"), layer if deep else 0,
            )  # fmt: skip
            columns = width
        return layout.name, _fill(plane, box, columns, height, layout.bytes, pattern, bits)

    def _depth(
        self, layer: int, depth: bool, stencil: bool, box: tuple[int, int, int, int], events: list[tuple[str, str]]
    ) -> tuple[str, Fill | None, str] | None:
        state = self._state
        if not state.field("SET_ZT_SELECT", "TARGET_COUNT"):
            return None
        code = state.field("SET_ZT_FORMAT")
        layout = DEPTH.get(code)
        if layout is None or not layout.bytes:
            events.append(("clear.format", f"the depth target has the unknown format {code:#x}: not cleared"))
            return None
        mask = 0xFF
        if state.field("SET_CLEAR_SURFACE_CONTROL", "RESPECT_STENCIL_MASK"):
            mask = state.field("SET_STENCIL_MASK")
        pattern, bits = depth_pattern(
            layout,
            state.word("SET_Z_CLEAR_VALUE") if depth else None,
            state.field("SET_STENCIL_CLEAR_VALUE") if stencil else None,
            mask,
        )
        layer += state.field("SET_ZT_LAYER", "OFFSET")
        va = state.address("SET_ZT_A") + layer * state.bytes("SET_ZT_ARRAY_PITCH")
        width, height = state.field("SET_ZT_SIZE_A", "WIDTH"), state.field("SET_ZT_SIZE_B", "HEIGHT")
        block = lambda field: state.field("SET_ZT_BLOCK_SIZE", field)
        plane = Plane.blocks(va & -512, width * layout.bytes, height, block("HEIGHT"), block("DEPTH"))
        parts = {c.name for c in layout.components}
        done = "z" * (depth and "Z" in parts) + "s" * (stencil and "S" in parts)
        return layout.name, _fill(plane, box, width, height, layout.bytes, pattern, bits), done


def _fill(
    plane: Plane, box: tuple[int, int, int, int], columns: int, lines: int, size: int, pattern: bytes, bits: bytes
) -> Fill | None:
    """The fill of a box of samples, cut to the target; None if nothing is left or no bit changes."""
    left, top, right, bottom = box[0], box[1], min(box[2], columns), min(box[3], lines)
    if left >= right or top >= bottom or not any(bits):
        return None
    return Fill(plane, left * size, right * size, top, bottom, pattern, bits)
