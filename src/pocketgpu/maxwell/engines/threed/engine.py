"""The 3D class B197 without shading: triggers, clears, queries, bindings, and draws as records.

Methods that only wait, flush or invalidate have no effect: work is done in order and there are no caches that could be
stale. They are known and stored like all others.
Source: class header clb197.h; NVIDIA's names throughout.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pocketgpu.facts.maxwell import B197
from pocketgpu.maxwell.engines.common.base import Engine, EngineHost, Registers
from pocketgpu.maxwell.engines.common.constants import GROUPS, ConstantBuffers
from pocketgpu.maxwell.engines.common.notify import notify
from pocketgpu.maxwell.engines.common.report import Counters, ReportUnit
from pocketgpu.maxwell.engines.common.state import State
from pocketgpu.maxwell.engines.inline.inline_unit import InlineUnit
from pocketgpu.maxwell.engines.threed.clear import ClearUnit
from pocketgpu.maxwell.engines.threed.draw_unit import DrawUnit
from pocketgpu.maxwell.engines.threed.power_on import power_on


class ThreeD(Engine):
    """The 3D engine of one channel."""

    class_id: ClassVar[int] = B197.class_id

    def __init__(self, host: EngineHost, channel: int, registers: Registers) -> None:
        super().__init__(host, channel, registers)
        power_on(registers)
        self.counters = Counters(registers)
        self.constants = ConstantBuffers(host, registers)
        self.clears = ClearUnit(host, registers)
        self.reports = ReportUnit(host, B197, registers, self.counters)
        self.draws = DrawUnit(host, registers, self.constants, self.counters)
        self.inline = InlineUnit(host, B197, registers)
        on = self._on
        on("NOTIFY", partial(notify, host, State(B197, registers)))
        on("INCREMENT_SYNC_POINT", self._increment)
        on("CLEAR_SURFACE", lambda value: host.writing(partial(self.clears.run, value)))
        on("SET_REPORT_SEMAPHORE_D", self.reports.run)
        on("CLEAR_REPORT_VALUE", self._clear_counter)
        on("UNBIND_ALL", self.constants.unbind_all)
        for group in range(len(GROUPS)):
            on("BIND_GROUP_CONSTANT_BUFFER", partial(self.constants.bind, group), group)
        for buffer in range(4):
            on("SET_STREAM_OUT_BUFFER_LOAD_WRITE_POINTER", partial(self._load_pointer, buffer), buffer)
        for name, effect in self.draws.effects.items():
            on(name, effect)
        on("PEER_SEMAPHORE_RELEASE", self._peer)
        # These only describe the draws between them; END draws itself if there were indices in the pushbuffer.
        self.deferred = {B197["BEGIN"].word, B197["END"].word}
        self.drawing = {B197["DRAW_VERTEX_ARRAY"].word, B197["DRAW_INDEX_BUFFER"].word}

    def _on(self, name: str, effect: Callable[[int], None], index: int = 0) -> None:
        method = B197[name]
        self.effects[method.word + index * method.stride] = effect

    def attach(self, words: memoryview, bound: NDArray[np.uint32]) -> None:
        """Keep the state of draws, and bindings of constants, in words that kernels share."""
        self.draws.attach(words)
        self.constants.attach(bound)

    def save(self) -> object:
        """The state of draws, bindings and counters in Python."""
        return self.draws.save(), self.constants.save(), self.counters.save()

    def restore(self, kept: Any) -> None:
        """Return to a state from `save`."""
        draws, constants, counters = kept
        self.draws.restore(draws)
        self.constants.restore(constants)
        self.counters.restore(counters)

    def drew(self, count: int, unfinished: bool) -> None:
        """Quick draws were made."""
        self.draws.drew(count, unfinished)

    def staged_complete(self, data: NDArray[np.uint8]) -> None:
        """The inline data of the last LAUNCH_DMA has arrived."""
        self.inline.complete(data)

    def _increment(self, value: int) -> None:
        index = B197["INCREMENT_SYNC_POINT"]["INDEX"].raw(value)
        self.host.syncpoints.increment(index)
        self.host.stats.syncpoint_increments += 1

    def _clear_counter(self, value: int) -> None:
        if not self.counters.clear(value):
            type = B197["CLEAR_REPORT_VALUE"]["TYPE"].raw(value)
            self.host.report("warning", "report.unknown", f"CLEAR_REPORT_VALUE: there is no counter {type:#x}")

    def _load_pointer(self, buffer: int, value: int) -> None:
        self.counters.pointers[buffer] = value

    def _peer(self, value: int) -> None:
        self.host.report("warning", "threed.peer", "PEER_SEMAPHORE_RELEASE: there is no peer GPU; nothing is released")
