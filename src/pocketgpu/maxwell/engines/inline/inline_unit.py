"""Inline-to-memory, for classes A140, B197 and B1C0: words of the pushbuffer that are written to memory.

Each class has its own state. The parser gathers the words of LAUNCH_DMA; when the last one has arrived they are stored
where the registers say. Every line is padded to 4 bytes in the data. Widths and origins are in bytes. No source says
whether a pitch target uses an origin (choice inline.pitch_origin).
Source: class header cla140.h; simulators agree on padding and completion.
"""

from __future__ import annotations

from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pocketgpu.errors import UsageError
from pocketgpu.facts.maxwell import A140, MethodBlock
from pocketgpu.maxwell.engines.common import conditions, semaphores
from pocketgpu.maxwell.engines.common.action_log import Upload
from pocketgpu.maxwell.engines.common.base import Engine, EngineHost, Registers
from pocketgpu.maxwell.engines.common.notify import notify
from pocketgpu.maxwell.engines.common.slices import Plane
from pocketgpu.maxwell.engines.common.state import State
from pocketgpu.maxwell.engines.common.windows import report_missed, spend
from pocketgpu.maxwell.memory.places import Places
from pocketgpu.maxwell.memory.surface_copy import SurfaceSide, from_array

_LAYOUTS, _COMPLETIONS = A140.values("LAUNCH_DMA.DST_MEMORY_LAYOUT"), A140.values("LAUNCH_DMA.COMPLETION_TYPE")
_INTERRUPTS, _SIZES = A140.values("LAUNCH_DMA.INTERRUPT_TYPE"), A140.values("LAUNCH_DMA.SEMAPHORE_STRUCT_SIZE")


class InlineUnit:
    """The upload state of one class."""

    def __init__(self, host: EngineHost, block: MethodBlock, registers: Registers) -> None:
        self._host, self._block = host, block
        self._state = State(block, registers)
        self._method = block["LAUNCH_DMA"]

    def complete(self, data: NDArray[np.uint8]) -> None:
        """All words of the last launch have arrived."""
        state = self._state
        value = state.word("LAUNCH_DMA")
        length, lines = state.word("LINE_LENGTH_IN"), state.word("LINE_COUNT")
        if length and lines:
            pitch = self._method["DST_MEMORY_LAYOUT"].raw(value) == _LAYOUTS.PITCH
            self._store(pitch, length, lines, data)
        self._finish(value)

    def _store(self, pitch: bool, length: int, lines: int, data: NDArray[np.uint8]) -> None:
        """Write the lines to memory."""
        host = self._host
        padded = (length + 3) & -4
        lines = min(lines, len(data) // padded)
        rows = np.ascontiguousarray(data[: lines * padded].reshape(lines, padded)[:, :length])
        try:
            side = self.side(pitch)
            missed = from_array(host.memory, host.engine, side, rows)
        except UsageError as error:
            host.report("fault", "engine.range", f"inline data: {error}")
            return
        if missed:
            report_missed(host, "inline data", side.address, rows.size, missed)
        spend(host, rows.size)
        layout = "block-linear" if side.layout is not None else "pitch"
        host.log.append(Upload(host.place, self._block.class_id, side.address, layout, length, lines))
        host.stats.uploads += 1
        if host.observers:
            self._notify_observers(Places.of_surface(side, length, lines), padded)

    def _notify_observers(self, target: Places, padded: int) -> None:
        """Notify observers of stored lines."""
        words = self._host.inline_words
        if words is not None:
            words = words[: len(target.rows) * padded >> 2]
        for one in self._host.observers:
            one.uploaded(target, words, padded)

    def side(self, pitch: bool) -> SurfaceSide:
        """The target of inline data according to the registers; `pitch`: plain rows.

        :raises UsageError: there is no such surface.
        """
        state = self._state
        va = state.address("OFFSET_OUT_UPPER")
        x, y = state.field("SET_DST_ORIGIN_BYTES_X"), state.field("SET_DST_ORIGIN_SAMPLES_Y")
        if pitch:
            if self._host.choices["inline.pitch_origin"] == "ignore":
                x = y = 0
            return SurfaceSide(va, x, y, pitch=state.signed("PITCH_OUT"))
        plane = Plane.blocks(
            va & -512, state.word("SET_DST_WIDTH"), state.word("SET_DST_HEIGHT"),
            state.field("SET_DST_BLOCK_SIZE", "HEIGHT"), state.field("SET_DST_BLOCK_SIZE", "DEPTH"),
        )  # fmt: skip
        return SurfaceSide(plane.va, x, y, state.word("SET_DST_LAYER"), layout=plane.layout)

    def _finish(self, value: int) -> None:
        host, state = self._host, self._state
        bit = lambda name: self._method[name].raw(value)
        if bit("COMPLETION_TYPE") == _COMPLETIONS.RELEASE_SEMAPHORE:
            at, payload = state.address("SET_I2M_SEMAPHORE_A"), state.word("SET_I2M_SEMAPHORE_C")
            if bit("REDUCTION_ENABLE"):
                op = semaphores.reduction_name(self._method["REDUCTION_OP"], value)
                signed = semaphores.is_signed(self._method["REDUCTION_FORMAT"], value)
                semaphores.reduction(host, at, op, payload, signed, "upload semaphore")
            else:
                four = bit("SEMAPHORE_STRUCT_SIZE") == _SIZES.FOUR_WORDS
                semaphores.release(host, at, payload, four, "upload semaphore")
        if bit("INTERRUPT_TYPE") != _INTERRUPTS.NONE:
            host.interrupt("notify")


class InlineToMemory(Engine):
    """Class A140: only uploads."""

    class_id: ClassVar[int] = A140.class_id

    def __init__(self, host: EngineHost, channel: int, registers: Registers) -> None:
        super().__init__(host, channel, registers)
        conditions.power_on(A140, registers)
        self.inline = InlineUnit(host, A140, registers)
        self.effects[A140["NOTIFY"].word] = partial(notify, host, State(A140, registers))

    def staged_complete(self, data: NDArray[np.uint8]) -> None:
        """The inline data of the last LAUNCH_DMA has arrived."""
        self.inline.complete(data)
