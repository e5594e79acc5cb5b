"""The compute class B1C0: launches as records, with the queue metadata (QMD) that describes them.

A launch is SEND_PCAS_A, the QMD's address divided by 256, and then SEND_SIGNALING_PCAS_B with SCHEDULE. The grid is not
run; what follows a grid, the QMD's two releases, is done. Programs have no header.
Source: class header clb1c0.h, and the header of QMDs 0.6 and 1.7. Drivers write 1.7 or no version at all, with the same
fields at the same places.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ...facts.maxwell import B1C0
from ...facts.maxwell.headers import QMD, BitStructure, as_number
from . import conditions, semaphores
from .base import Engine, EngineHost, Registers
from .constants import Binding
from .inline import InlineUnit
from .notify import notify
from .report import ReportUnit
from .snapshots import Snapshot, Snapshots
from .state import State
from .windows import read

QMD_BYTES = 256
CONSTANT_SLOTS = 8
VERSIONS = {(0, 6): "00_06", (1, 7): "01_07"}


def version_of(number: int) -> tuple[int, int]:
    """(major, minor) of a QMD given as one number."""
    layout = QMD["01_07"]
    return layout["QMD_MAJOR_VERSION"].raw(number), layout["QMD_VERSION"].raw(number)


@dataclass(eq=False)
class Launch:
    """One launch. address: of the QMD, `qmd` its 64 words."""

    place: str
    address: int
    qmd: NDArray[np.uint32]
    snapshot: Snapshot

    @cached_property
    def number(self) -> int:
        """The QMD as one number, as its fields want it."""
        return as_number(self.qmd)

    @property
    def version(self) -> tuple[int, int]:
        """(major, minor) as the QMD says."""
        return version_of(self.number)

    @property
    def structure(self) -> BitStructure:
        """How the QMD is read."""
        return QMD[VERSIONS.get(self.version, "01_07")]

    def field(self, name: str, index: int | None = None) -> int:
        """A field of the QMD by its official name."""
        found = self.structure[name]
        return (found if index is None else found(index)).raw(self.number)

    @cached_property
    def state(self) -> State:
        """The registers of the class as they were."""
        return State(B1C0, self.snapshot.registers)

    @property
    def grid(self) -> tuple[int, int, int]:
        """Thread groups in x, y, z."""
        width, height, depth = (self.field(f"CTA_RASTER_{n}") for n in ("WIDTH", "HEIGHT", "DEPTH"))
        return width, height, depth

    @property
    def block(self) -> tuple[int, int, int]:
        """Threads of a group in x, y, z."""
        x, y, z = (self.field(f"CTA_THREAD_DIMENSION{n}") for n in range(3))
        return x, y, z

    @property
    def program(self) -> int:
        """GPU address of the first instruction."""
        return (self.state.address("SET_PROGRAM_REGION_A") + self.field("PROGRAM_OFFSET")) & 0xFF_FFFF_FFFF

    @property
    def constants(self) -> tuple[Binding | None, ...]:
        """The eight constant buffers; None where the QMD has none."""
        return tuple(
            Binding(
                self.field("CONSTANT_BUFFER_ADDR_UPPER", i) << 32 | self.field("CONSTANT_BUFFER_ADDR_LOWER", i),
                self.field("CONSTANT_BUFFER_SIZE", i),
            )
            if self.field("CONSTANT_BUFFER_VALID", i)
            else None
            for i in range(CONSTANT_SLOTS)
        )

    @property
    def shared_bytes(self) -> int:
        """Shared memory of a group."""
        return self.field("SHARED_MEMORY_SIZE")

    @property
    def register_count(self) -> int:
        """Registers of a thread."""
        return self.field("REGISTER_COUNT")


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
        """Inline data for the last LAUNCH_DMA has come."""
        self.inline.complete(data)

    def _launch(self, value: int) -> None:
        host = self.host
        if not B1C0["SEND_SIGNALING_PCAS_B"]["SCHEDULE"].raw(value) or not conditions.enabled(host, self._state):
            return
        address = self._state.word("SEND_PCAS_A") << 8
        words = np.frombuffer(read(host, address, QMD_BYTES, "queue metadata"), "<u4").astype(np.uint32)
        launch = Launch(host.place, address, words, self._snapshots.take())
        if launch.version not in VERSIONS and launch.version != (0, 0):
            major, minor = launch.version
            host.report("warning", "compute.version", f"a QMD of version {major}.{minor}: read as 1.7")
        host.stats.launches += 1
        host.log.append(launch)
        for which in range(2):
            if launch.field(f"SEMAPHORE_RELEASE_ENABLE{which}"):
                self._release(launch, f"RELEASE{which}_")

    def _release(self, launch: Launch, name: str) -> None:
        get = lambda part: launch.field(name + part)
        address, payload = get("ADDRESS_UPPER") << 32 | get("ADDRESS_LOWER"), get("PAYLOAD")
        if get("REDUCTION_ENABLE"):
            op = semaphores.reduction_name(launch.structure[f"{name}REDUCTION_OP"], launch.number)
            signed = get("REDUCTION_FORMAT") == 1
            semaphores.reduction(self.host, address, op, payload, signed, "release of a grid")
        else:
            semaphores.release(self.host, address, payload, not get("STRUCTURE_SIZE"), "release of a grid")
