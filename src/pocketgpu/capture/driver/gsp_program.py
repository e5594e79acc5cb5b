"""A program of a 3DS that hands the steps of a capture to gsp, which may refuse them.

A log tells what did run. A program only submits: gsp checks its commands, applies its framebuffers at a time of its
own, and tells it by interrupts which units have finished. The program waits for a unit before it goes on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from pocketgpu.capture.formats.n3ds_trace import GxRun, SwapRun, WriteRun
from pocketgpu.facts.external import EXTERNAL
from pocketgpu.facts.gsp import (
    DISPLAY_TRANSFER,
    MEMORY_FILL,
    PROCESS_LIST,
    REQUEST_DMA,
    TEXTURE_COPY,
    command_of,
)
from pocketgpu.facts.pica import PICA, START_LIST
from pocketgpu.pica.n3ds import N3DS

_STARTS: Final[dict[int, tuple[str, int]]] = {
    **{
        EXTERNAL[f"{unit}_CONTROL"].address: (unit, EXTERNAL.field(f"{unit}_CONTROL.start").mask)
        for unit in ("PSC0", "PSC1", "PPF")
    },
    **{PICA[f"CMDBUF_JUMP{channel}"].address: ("P3D", START_LIST) for channel in range(2)},
}
"""Registers that start a unit: the unit, and the bit that does."""
_START_ADDRESSES: Final = np.array(list(_STARTS), np.uint32)
_SCREENS = ("PDC0", "PDC1")
_MOST_HUNG: Final = 32
"""After so many units that hang a probe goes no further (docs/formats/probe.md)."""
_TOLD_BY_REPORT: Final = ("P3D", "DMA")
"""Units that no register tells the end of: only their report does."""
_UNITS_OF_COMMANDS: Final = {
    PROCESS_LIST.id: ("P3D",), DISPLAY_TRANSFER.id: ("PPF",), TEXTURE_COPY.id: ("PPF",), REQUEST_DMA.id: ("DMA",),
}  # fmt: skip


def _units_of(words: Sequence[int]) -> tuple[str, ...]:
    """The units that a GX command starts."""
    command = command_of(tuple(words))
    if command is None:
        return ()
    if command is MEMORY_FILL:
        parts = MEMORY_FILL.values(tuple(words), "start0", "start1")
        return tuple(unit for unit, start in zip(("PSC0", "PSC1"), parts, strict=True) if start)
    return _UNITS_OF_COMMANDS.get(command.id, ())


class GspProgram:
    """The only client of a machine's gsp, with the right to use the GPU.

    interrupts: how often each unit reported its end, by name. Screens are not counted: they report each frame that
    passes, and how many pass is a matter of the program's speed. hung: the units that were started and did not end, in
    order. refused: the result codes of commands that gsp refused, in order.
    """

    def __init__(self, machine: N3DS) -> None:
        self.machine = machine
        self.interrupts: Counter[str] = Counter()
        self.hung: list[str] = []
        self.refused: list[int] = []
        self._started: dict[str, int] = {}
        """Units whose end is waited for, with their reports before they were started."""
        self._client = machine.gsp.register_interrupt_relay_queue().client
        machine.gsp.acquire_right(self._client)
        # After gsp's own listener: the entry is in the queue, and the program wakes up.
        machine.on_interrupt(lambda name, count: self._wake())

    def _wake(self) -> None:
        raised = self.machine.gsp.shared.interrupts(self._client).drain()
        self.interrupts.update(name for name in raised if name not in _SCREENS)

    @property
    def stopped(self) -> bool:
        """Whether so many units hung that the program goes no further."""
        return len(self.hung) >= _MOST_HUNG

    def wait(self) -> None:
        """Wait until all units are idle, except those that never end."""
        self.machine.finish()
        for unit, before in self._started.items():
            ended = self.interrupts[unit] > before
            if not ended and (unit in _TOLD_BY_REPORT or self.machine.at_work(unit)):
                self.hung.append(unit)
        self._started.clear()

    @staticmethod
    def started_by(address: int, value: int) -> tuple[str, ...]:
        """The units that a register write starts: one or none."""
        unit, bit = _STARTS.get(address, ("", 0))
        return (unit,) if value & bit else ()

    def begin(self, units: Iterable[str]) -> None:
        """Units are about to be started; the next `wait` finds out whether they end."""
        self._started.update((unit, self.interrupts[unit]) for unit in units)

    def submit(self, run: WriteRun | GxRun, at: str = "") -> None:
        """The next step, after the end of what runs. at: its place, for events."""
        if isinstance(run, GxRun):
            self.wait()
            if self.stopped:
                return
            self.begin(_units_of(run.words))
            code = self.machine.gsp.gx(run.words, client=self._client, at=at)
            self._wake()  # copies raise no interrupt of the machine
            if code:
                self.refused.append(code)
                self._started.clear()
        elif isinstance(run, SwapRun):
            self.machine.gsp.shared.framebuffer(self._client, run.screen).present(run.entry)
        else:
            # What starts a unit runs to its end before the next write.
            ends = np.flatnonzero(np.isin(run.addresses, _START_ADDRESSES)) + 1
            first = 0
            for end in [*ends.tolist(), len(run.addresses)]:
                if first < end:
                    self.wait()
                    if self.stopped:
                        return
                    self.begin(self.started_by(int(run.addresses[end - 1]), int(run.values[end - 1])))
                    self.machine.write_registers(run.addresses[first:end], run.values[first:end])
                first = end


__all__ = ["GspProgram"]
