"""Pushbuffers: the words that a Switch program writes for its GPU, with one method for each usual task.

    pb = PushBuffer().bind("3D")
    pb.render_target(0, target).clear((0.1, 0.2, 0.3, 1.0))
    pb.on("2D").blit(source, target)
    pb.words

Source: NVIDIA's public class headers, through facts/maxwell; Switchbrew GPU for the order of writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pocketgpu.builder.maxwell.draws import DrawPackets
from pocketgpu.builder.maxwell.grids import LOCAL_WINDOW, SHARED_WINDOW, Grid, shifted
from pocketgpu.builder.maxwell.packets import MOST_DATA
from pocketgpu.builder.maxwell.surface import Surface
from pocketgpu.errors import UsageError
from pocketgpu.events import sized
from pocketgpu.facts.maxwell import B197

Rectangle = tuple[int, int, int, int]
"""x, y, width, height in pixels."""

_CALL = B197["CALL_MME_MACRO"]
_LAYER_UNIT = B197["SET_COLOR_TARGET_ARRAY_PITCH"]["V"].scale
_FRACTION = 1 << 32


class PushBuffer(DrawPackets):
    """Words of a pushbuffer under construction; see `Packets` for single methods."""

    # -- macros -----------------------------------------------------------------------------------------------------
    def upload_macro(self, number: int, code: Sequence[int] | NDArray[np.uint32], at: int) -> Self:
        """Store the code of a macro at word `at` of the instruction memory, as macro `number`."""
        self.method("LOAD_MME_INSTRUCTION_RAM_POINTER", at)
        self.method("LOAD_MME_INSTRUCTION_RAM", *(int(word) for word in code), form="non_inc")
        return self.method("LOAD_MME_START_ADDRESS_RAM_POINTER", number).method("LOAD_MME_START_ADDRESS_RAM", at)

    def call_macro(self, number: int, *parameters: int | float, more: int = 0) -> Self:
        """Call a macro with its first parameter and those that it fetches; the next segment begins with `more` of
        them."""
        if not 0 <= number < _CALL.count:
            raise UsageError(f"macros are 0 to {_CALL.count - 1}, not {number}")
        if len(parameters) + more > MOST_DATA:
            raise UsageError(f"a macro call has at most {MOST_DATA} parameters")
        words = [value if isinstance(value, int) else _float_bits(value) for value in parameters or (0,)]
        return self.packet("one_inc", _CALL(number).word, words, more=more)

    # -- data in the pushbuffer ---------------------------------------------------------------------------------------
    def inline(self, address: int, data: bytes | NDArray[Any]) -> Self:
        """Write bytes to GPU memory from the pushbuffer itself. The 3D, compute and inline classes can do this."""
        raw = data.tobytes() if isinstance(data, np.ndarray) else bytes(data)
        if not raw:
            return self
        self.method("LINE_LENGTH_IN", len(raw), 1).address("OFFSET_OUT_UPPER", address)
        self.method("LAUNCH_DMA", DST_MEMORY_LAYOUT="PITCH", COMPLETION_TYPE="FLUSH_ONLY")
        words = np.frombuffer(raw + bytes(-len(raw) % 4), "<u4")
        return self.method("LOAD_INLINE_DATA", *words.tolist(), form="non_inc")

    def inline_rectangle(self, target: Surface, x: int, y: int, pixels: NDArray[Any]) -> Self:
        """Write rows of pixels, (height, width) elements or (height, width, bytes), into a block-linear surface."""
        rows = np.ascontiguousarray(pixels).reshape(len(pixels), -1).view(np.uint8)
        length = rows.shape[1]
        if target.pitch is not None:
            raise UsageError("a rectangle needs a block-linear surface", hint="Write the rows of others one by one.")
        padded = np.zeros((len(rows), (length + 3) & ~3), np.uint8)
        padded[:, :length] = rows
        self.method("LINE_LENGTH_IN", length, len(rows)).address("OFFSET_OUT_UPPER", target.address)
        self.method("SET_DST_BLOCK_SIZE", HEIGHT=target.block_height_log2)
        self.method("SET_DST_WIDTH", target.row, target.height, 1, 0, x * target.pixel, y)
        self.method("LAUNCH_DMA", DST_MEMORY_LAYOUT="BLOCKLINEAR", COMPLETION_TYPE="FLUSH_ONLY")
        return self.method("LOAD_INLINE_DATA", *padded.reshape(-1).view("<u4").tolist(), form="non_inc")

    # -- order ------------------------------------------------------------------------------------------------------
    def semaphore_release(self, address: int, payload: int, *, four_words: bool = False) -> Self:
        """Host: store `payload` at a GPU address; with four words also 0 and the time."""
        self.address("SEMAPHOREA", address).method("SEMAPHOREC", payload)
        return self.method("SEMAPHORED", OPERATION="RELEASE", RELEASE_SIZE="16BYTE" if four_words else "4BYTE")

    def semaphore_acquire(self, address: int, payload: int, *, compare: str = "equal") -> Self:
        """Host: wait until the word at a GPU address is "equal" to payload, has reached it ("geq"), or has a common bit
        with it ("and")."""
        operations = {"equal": "ACQUIRE", "geq": "ACQ_GEQ", "and": "ACQ_AND"}
        if compare not in operations:
            raise UsageError(f"no comparison {compare!r}", hint=f"Known are {', '.join(operations)}.")
        self.address("SEMAPHOREA", address).method("SEMAPHOREC", payload)
        return self.method("SEMAPHORED", OPERATION=operations[compare], ACQUIRE_SWITCH="ENABLED")

    def report(self, address: int, payload: int = 0, *, four_words: bool = False, **fields: Any) -> Self:
        """3D: after the earlier work, store `payload` (or the report that `fields` of SET_REPORT_SEMAPHORE_D
        select)."""
        self.address("SET_REPORT_SEMAPHORE_A", address).method("SET_REPORT_SEMAPHORE_C", payload)
        size = "FOUR_WORDS" if four_words else "ONE_WORD"
        return self.method("SET_REPORT_SEMAPHORE_D", **{"STRUCTURE_SIZE": size, **fields})

    def syncpoint_increment(self, index: int) -> Self:
        """Host: increment a syncpoint. Its number has a word of its own: the probe puts the console's own one there."""
        self.method("SYNCPOINTA", 0)
        return self.method("SYNCPOINTB", form="inc", OPERATION="INCR", SYNCPT_INDEX=index)

    def syncpoint_wait(self, index: int, threshold: int) -> Self:
        """Host: wait until a syncpoint has reached a value. Both numbers have a word of their own."""
        self.method("SYNCPOINTA", threshold, form="inc")
        return self.method("SYNCPOINTB", form="inc", OPERATION="WAIT", WAIT_SWITCH="EN", SYNCPT_INDEX=index)

    # -- 3D: targets and clears -------------------------------------------------------------------------------------
    def render_target(self, slot: int, surface: Surface) -> Self:
        """Make a surface colour target `slot`, and draw to the whole of it."""
        self.address("SET_COLOR_TARGET_A", slot, surface.address)
        pitch = surface.pitch
        self.method("SET_COLOR_TARGET_WIDTH", slot, surface.width if pitch is None else pitch, surface.height)
        self.method("SET_COLOR_TARGET_FORMAT", slot, V=surface.code)
        self.method(
            "SET_COLOR_TARGET_MEMORY",
            slot,
            BLOCK_HEIGHT=surface.block_height_log2 if pitch is None else 0,
            LAYOUT="BLOCKLINEAR" if pitch is None else "PITCH",
        )
        self.method("SET_COLOR_TARGET_THIRD_DIMENSION", slot, 1, surface.size // _LAYER_UNIT, 0)
        self.method("SET_SURFACE_CLIP_HORIZONTAL", X=0, WIDTH=surface.width)
        return self.method("SET_SURFACE_CLIP_VERTICAL", Y=0, HEIGHT=surface.height)

    def scissor(self, rectangle: Rectangle | None) -> Self:
        """Limit drawing, and clears that respect it, to a rectangle; None removes the limit."""
        if rectangle is None:
            return self.method("SET_SCISSOR_ENABLE", 0, 0)
        x, y, width, height = rectangle
        self.method("SET_SCISSOR_ENABLE", 0, 1)
        self.method("SET_SCISSOR_HORIZONTAL", 0, XMIN=x, XMAX=x + width)
        return self.method("SET_SCISSOR_VERTICAL", 0, YMIN=y, YMAX=y + height)

    def clear(self, color: Sequence[float], *, slot: int = 0, layer: int = 0, within_scissor: bool = True) -> Self:
        """Fill a colour target with red, green, blue, alpha."""
        self.method("SET_COLOR_CLEAR_VALUE", 0, *(float(value) for value in color))
        self.method("SET_CLEAR_SURFACE_CONTROL", USE_SCISSOR0=within_scissor)
        channels: dict[str, Any] = {f"{name}_ENABLE": True for name in "RGBA"}
        return self.method("CLEAR_SURFACE", MRT_SELECT=slot, RT_ARRAY_INDEX=layer, **channels)

    # -- DMA copy ---------------------------------------------------------------------------------------------------
    def copy(self, source: int, target: int, size: int) -> Self:
        """Copy bytes from one GPU address to another."""
        self.address("OFFSET_IN_UPPER", source).address("OFFSET_OUT_UPPER", target).method("LINE_LENGTH_IN", size)
        return self._launch(SRC_MEMORY_LAYOUT="PITCH", DST_MEMORY_LAYOUT="PITCH")

    def fill(self, target: int, value: int, count: int) -> Self:
        """Write a 32-bit value `count` times."""
        self.address("OFFSET_OUT_UPPER", target).method("LINE_LENGTH_IN", count).method("SET_REMAP_CONST_A", value)
        parts: dict[str, Any] = dict.fromkeys(("DST_X", "DST_Y", "DST_Z", "DST_W"), "CONST_A")
        self.method("SET_REMAP_COMPONENTS", COMPONENT_SIZE="FOUR", **parts)
        return self._launch(SRC_MEMORY_LAYOUT="PITCH", DST_MEMORY_LAYOUT="PITCH", REMAP_ENABLE=True)

    def copy_rectangle(
        self, source: Surface, target: Surface, rectangle: Rectangle | None = None, to: tuple[int, int] = (0, 0), *,
        slices: int = 1, layer: int = 0,
    ) -> Self:  # fmt: skip
        """Copy a rectangle of pixels (all of the source if None), between any two layouts. slices, layer: how many the
        source has if it is block-linear, one after the other, and which of them is copied."""
        x, y, width, height = rectangle or (0, 0, source.width, source.height)
        pixel = source.pixel
        if target.pixel != pixel:
            raise UsageError(f"{source.format} and {target.format} pixels have different sizes")
        for side, surface, at in (("IN", source, (x, y)), ("OUT", target, to)):
            address = surface.address
            if surface.pitch is not None:
                address += at[1] * surface.pitch + at[0] * pixel
                self.method(f"PITCH_{side}", surface.pitch)
            else:
                prefix = "SRC" if side == "IN" else "DST"
                self.method(
                    f"SET_{prefix}_BLOCK_SIZE", HEIGHT=surface.block_height_log2, GOB_HEIGHT="GOB_HEIGHT_FERMI_8"
                )
                depth, number = (slices, layer) if side == "IN" else (1, 0)
                self.method(f"SET_{prefix}_WIDTH", surface.row, surface.height, depth, number)
                self.method(f"SET_{prefix}_ORIGIN", X=at[0] * pixel, Y=at[1])
            self.address(f"OFFSET_{side}_UPPER", address)
        self.method("LINE_LENGTH_IN", width * pixel, height)
        return self._launch(
            SRC_MEMORY_LAYOUT="BLOCKLINEAR" if source.pitch is None else "PITCH",
            DST_MEMORY_LAYOUT="BLOCKLINEAR" if target.pitch is None else "PITCH",
            MULTI_LINE_ENABLE=True,
        )

    def _launch(self, **fields: Any) -> Self:
        return self.method("LAUNCH_DMA", DATA_TRANSFER_TYPE="NON_PIPELINED", FLUSH_ENABLE=True, **fields)

    # -- compute ----------------------------------------------------------------------------------------------------
    def launch(self, at: int, grid: Grid | None = None) -> Self:
        """Launch the grid of the QMD at a GPU address (a multiple of 256); if `grid` is given, write its QMD there
        first.

        :raises UsageError: an invalid address, or a grid that does not fit a QMD.
        """
        where = shifted(at)
        if grid is not None:
            self.address("SET_PROGRAM_REGION_A", grid.region)
            self.method("SET_SHADER_LOCAL_MEMORY_WINDOW", LOCAL_WINDOW)
            self.method("SET_SHADER_SHARED_MEMORY_WINDOW", SHARED_WINDOW)
            self.inline(at, grid.qmd())
        return self.method("SEND_PCAS_A", where).method("SEND_SIGNALING_PCAS_B", INVALIDATE=True, SCHEDULE=True)

    # -- 2D ---------------------------------------------------------------------------------------------------------
    def blit(
        self,
        source: Surface,
        target: Surface,
        source_rectangle: tuple[float, float, float, float] | None = None,
        target_rectangle: Rectangle | None = None,
        *,
        filter: str = "POINT",
        flip: bool = False,
        operation: str = "SRCCOPY",
    ) -> Self:
        """Copy a rectangle of pixels with scaling ("POINT" or "BILINEAR") and change of format; flip: upside down;
        operation: a name of SET_OPERATION's."""
        sx, sy, sw, sh = source_rectangle or (0, 0, source.width, source.height)
        x, y, width, height = target_rectangle or (0, 0, target.width, target.height)
        if width <= 0 or height <= 0:
            raise UsageError(f"a blit to {sized(width, height)} pixels draws nothing")
        for name, surface in (("SRC", source), ("DST", target)):
            self.method(f"SET_{name}_FORMAT", V=surface.code)
            self.method(f"SET_{name}_MEMORY_LAYOUT", V="BLOCKLINEAR" if surface.pitch is None else "PITCH")
            self.method(f"SET_{name}_BLOCK_SIZE", HEIGHT=surface.block_height_log2 if surface.pitch is None else 0)
            self.method(f"SET_{name}_DEPTH", 1)
            self.method(f"SET_{name}_PITCH", surface.pitch or 0, surface.width, surface.height)
            self.address(f"SET_{name}_OFFSET_UPPER", surface.address)
        self.method("SET_DST_LAYER", 0).method("SET_OPERATION", V=operation).method("SET_CLIP_ENABLE", 0)
        self.method("SET_PIXELS_FROM_MEMORY_SAMPLE_MODE", ORIGIN="CORNER", FILTER=filter)
        du, dv = round(sw * _FRACTION / width), round(sh * _FRACTION / height)
        u, v = round(sx * _FRACTION), round(sy * _FRACTION)
        if flip:
            v, dv = v + height * dv, -dv
        # With the origin at a pixel's corner the first sample is half a step inside.
        u, v = u + du // 2, v + dv // 2
        self.method("SET_PIXELS_FROM_MEMORY_DST_X0", x, y, width, height)
        pairs: Iterable[int] = (part for fixed in (du, dv, u, v) for part in (fixed & 0xFFFFFFFF, fixed >> 32))
        return self.method("SET_PIXELS_FROM_MEMORY_DU_DX_FRAC", *pairs)


def _float_bits(value: float) -> int:
    return int(np.float32(value).view(np.uint32))
