"""A program of a 3DS that hands the steps of a capture to gsp, which may refuse them.

A log tells what did run. A program only submits: gsp checks its commands, applies its framebuffers at a time of its
own, and tells it by interrupts which units have finished. The program waits for a unit before it goes on.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from pocketgpu.capture.formats.n3ds_trace import GxRun, SwapRun, WriteRun
from pocketgpu.facts.external import EXTERNAL
from pocketgpu.facts.pica import PICA
from pocketgpu.pica.n3ds import N3DS

_STARTS = np.array(
    [EXTERNAL[f"{unit}_CONTROL"].address for unit in ("PSC0", "PSC1", "PPF")]
    + [PICA[f"CMDBUF_JUMP{channel}"].address for channel in range(2)],
    np.uint32,
)
"""Registers that start a unit."""
_SCREENS = ("PDC0", "PDC1")


class GspProgram:
    """The only client of a machine's gsp, with the right to use the GPU.

    interrupts: how often each unit reported its end, by name. Screens are not counted: they report each frame that
    passes, and how many pass is a matter of the program's speed.
    """

    def __init__(self, machine: N3DS) -> None:
        self.machine = machine
        self.interrupts: Counter[str] = Counter()
        self._client = machine.gsp.register_interrupt_relay_queue().client
        machine.gsp.acquire_right(self._client)
        # After gsp's own listener: the entry is in the queue, and the program wakes up.
        machine.on_interrupt(lambda name, count: self._wake())

    def _wake(self) -> None:
        raised = self.machine.gsp.shared.interrupts(self._client).drain()
        self.interrupts.update(name for name in raised if name not in _SCREENS)

    def wait(self) -> None:
        """Wait until all units are idle, except those that never end."""
        self.machine.finish()

    def submit(self, run: WriteRun | GxRun, at: str = "") -> None:
        """The next step, after the end of what runs. at: its place, for events."""
        if isinstance(run, GxRun):
            self.wait()
            self.machine.gsp.gx(run.words, client=self._client, at=at)
            self._wake()  # copies raise no interrupt of the machine
        elif isinstance(run, SwapRun):
            self.machine.gsp.shared.framebuffer(self._client, run.screen).present(run.entry)
        else:
            # What starts a unit runs to its end before the next write.
            ends = np.flatnonzero(np.isin(run.addresses, _STARTS)) + 1
            first = 0
            for end in [*ends.tolist(), len(run.addresses)]:
                if first < end:
                    self.wait()
                    self.machine.write_registers(run.addresses[first:end], run.values[first:end])
                first = end


__all__ = ["GspProgram"]
