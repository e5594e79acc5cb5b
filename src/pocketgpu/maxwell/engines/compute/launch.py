"""The compute class B1C0: grids of threads, launched by queue metadata (QMDs) in memory.

A launch is SEND_PCAS_A, the QMD's address divided by 256, and then SEND_SIGNALING_PCAS_B with SCHEDULE. The grid runs
at once and to its end. Its releases follow, then the grid of the QMD that depends on it. Programs have no header. All
caches are the host's own and always coherent with memory, so methods that invalidate caches have no effect.

Source: class header clb1c0.h, and the header of QMDs. Neither defines the contents of a queue in a QMD, and no driver
of the Switch uses one: they are an event.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pocketgpu.errors import UsageError
from pocketgpu.facts.maxwell import B1C0
from pocketgpu.maxwell.engines.common import conditions, semaphores
from pocketgpu.maxwell.engines.common.base import Engine, EngineHost, Registers
from pocketgpu.maxwell.engines.common.notify import notify
from pocketgpu.maxwell.engines.common.report import ReportUnit
from pocketgpu.maxwell.engines.common.snapshots import Snapshots
from pocketgpu.maxwell.engines.common.state import State
from pocketgpu.maxwell.engines.common.windows import read
from pocketgpu.maxwell.engines.compute.queue_metadata import QMD_BYTES, VERSIONS, Launch
from pocketgpu.maxwell.engines.inline.inline_unit import InlineUnit

MAX_CHAIN = 256
"""The most grids in a chain of QMDs that depend on each other."""
STEPS_PER_TICK = 4
"""The emulated time of grids: instructions of warps in a tick of 614.4 MHz. A rough estimate: the chip can do several
times that, and does less where it waits for memory. Programs see it in time stamps only."""


_MODES = {
    "FP32_NAN_BEHAVIOR": "ignored, floats are handled as usual",
    "FP32_NARROW_INSTRUCTION": "ignored, denormals are kept",
    "DEPENDENT_QMD_FIELD_COPY": "nothing is copied",
}
"""Modes that no driver of the Switch sets, and how they are handled."""


class Compute(Engine):
    """The compute engine of one channel."""

    class_id: ClassVar[int] = B1C0.class_id

    def __init__(self, host: EngineHost, channel: int, registers: Registers) -> None:
        super().__init__(host, channel, registers)
        conditions.power_on(B1C0, registers)
        self._state = State(B1C0, registers)
        self._snapshots = Snapshots(registers)
        self.inline = InlineUnit(host, B1C0, registers)
        effects: dict[str, Callable[[int], None]] = {
            "SEND_SIGNALING_PCAS_B": self._launch,
            "SET_REPORT_SEMAPHORE_D": ReportUnit(host, B1C0, registers).run,
            "NOTIFY": partial(notify, host, self._state),
        }
        for name, effect in effects.items():
            self.effects[B1C0[name].word] = effect

    def staged_complete(self, data: NDArray[np.uint8]) -> None:
        """The inline data of the last LAUNCH_DMA has arrived."""
        self.inline.complete(data)

    def _launch(self, value: int) -> None:
        host = self.host
        if not B1C0["SEND_SIGNALING_PCAS_B"]["SCHEDULE"].raw(value) or not conditions.enabled(host, self._state):
            return
        address: int | None = self._state.bytes("SEND_PCAS_A", "QMD_ADDRESS_SHIFTED8")
        left = MAX_CHAIN
        while address is not None and left:
            left -= 1
            launch = self._take(address)
            self._run(launch)
            for which in range(2):
                if launch.field(f"SEMAPHORE_RELEASE_ENABLE{which}"):
                    self._release(launch, f"RELEASE{which}_")
            address = self._next(launch)
        if address is not None:
            host.report("hang", "compute.chain", f"more than {MAX_CHAIN} QMDs that depend on each other")

    def _take(self, address: int) -> Launch:
        """Record the launch that the QMD at an address describes."""
        host = self.host
        words = np.frombuffer(read(host, address, QMD_BYTES, "queue metadata"), "<u4").astype(np.uint32)
        launch = Launch(host.place, address, words, self._snapshots.take())
        if launch.version not in VERSIONS and launch.version != (0, 0):
            major, minor = launch.version
            host.report("warning", "compute.version", f"a QMD of version {major}.{minor}: read as 1.7")
        host.stats.launches += 1
        host.log.append(launch)
        for one in host.observers:
            one.launch_recorded(launch)
        return launch

    def _run(self, launch: Launch) -> None:
        """Run its grid."""
        host = self.host
        if launch.flag("IS_QUEUE"):
            host.report("warning", "compute.queue", "a QMD that is a queue: nothing is run")
            return
        for name, text in _MODES.items():
            if launch.flag(name):
                host.report("warning", "compute.mode", f"{name}: {text}")
        try:
            result = launch.result = host.launch(launch, self._state, partial(read, host))
        except UsageError as error:
            host.report("fault", "compute.launch", f"a grid that is left out: {error}")
            return
        host.stats.add_launch(result.steps, result.seconds)
        host.spend(result.steps // STEPS_PER_TICK)

    def _next(self, launch: Launch) -> int | None:
        """Address of the QMD that runs after this grid."""
        found = launch.dependent
        if found is None:
            return None
        kind = launch.structure["DEPENDENT_QMD_TYPE"]
        if kind.raw(launch.number) != kind.values.GRID:
            self.host.report("warning", "compute.queue", "a QMD with a queue that depends on it: nothing is run")
            return None
        return found

    def _release(self, launch: Launch, name: str) -> None:
        get = lambda part: launch.field(name + part)
        address, payload = get("ADDRESS_UPPER") << 32 | get("ADDRESS_LOWER"), get("PAYLOAD")
        if get("REDUCTION_ENABLE"):
            op = semaphores.reduction_name(launch.structure[f"{name}REDUCTION_OP"], launch.number)
            signed = semaphores.is_signed(launch.structure[f"{name}REDUCTION_FORMAT"], launch.number)
            semaphores.reduction(self.host, address, op, payload, signed, "release of a grid")
        else:
            four = get("STRUCTURE_SIZE") == launch.structure[f"{name}STRUCTURE_SIZE"].values.FOUR_WORDS
            semaphores.release(self.host, address, payload, four, "release of a grid")


__all__ = ["Compute", "Launch"]
