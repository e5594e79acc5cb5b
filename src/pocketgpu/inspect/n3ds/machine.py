"""A machine that goes to any event of a run: forward by replaying a frame, back by the state that a frame began with.

Events are counted as the recorder counts them, because the same hooks tell of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import numpy as np

from pocketgpu.capture.formats.citrace import Trace
from pocketgpu.capture.formats.gxlog import GxLog
from pocketgpu.capture.formats.pgc.traces import PgcTrace
from pocketgpu.capture.replay import MIB, begin, play
from pocketgpu.pica import checkpoint
from pocketgpu.pica.core.layout import BANKS
from pocketgpu.pica.observe import ObservedN3DS
from pocketgpu.pica.watch import DrawPackets

Run = Callable[[int, int], None]


class Reached(Exception):
    """The event that was asked for has happened."""


class DrawWatcher(Protocol):
    """Looks at draws of a frame while they run. numbers: of the draws at hand, within the frame."""

    def draws(self, packets: DrawPackets, numbers: range, run: Run) -> None:
        """Run the draws: `run(first, end)`, counted within `packets`."""


class Traveller:
    """The machine of an inspection, and where it is: right after event `event` of frame `frame` (-1: at its start)."""

    def __init__(
        self, trace: Trace | GxLog | PgcTrace, switches: Mapping[str, str] | None = None, evaluator: str = "llvm"
    ) -> None:
        self._trace = trace
        fcram = (256 if trace.needs_new_model else 128) * MIB
        self.machine = ObservedN3DS(self, fcram=fcram, switches=switches, evaluator=evaluator)
        begin(trace, self.machine)
        self.frame, self.event = 0, -1
        self._kept: dict[int, checkpoint.Checkpoint] = {0: checkpoint.save(self.machine)}
        self._stop = -1
        self._draw = 0
        self._watcher: DrawWatcher | None = None

    # -- going somewhere ------------------------------------------------------------------------------------------
    def go(self, frame: int, event: int | None, watcher: DrawWatcher | None = None) -> None:
        """Go right behind an event of a frame; None: to the frame's end, with its VBlank.

        watcher: is handed the frame's draws on the way. Without one nothing happens if the machine is there already.
        """
        if watcher is None and (frame, event) == (self.frame, self.event):
            return
        start = max(number for number in self._kept if number <= frame)
        checkpoint.restore(self.machine, self._kept[start])
        for number in range(start, frame):
            self._play(number, None, None)
            self._kept[number + 1] = checkpoint.save(self.machine)
        self._play(frame, event, watcher)

    def _play(self, frame: int, event: int | None, watcher: DrawWatcher | None) -> None:
        self.frame, self.event, self._draw = frame, -1, 0
        self._stop, self._watcher = (1 << 60 if event is None else event), watcher
        if self._stop < 0:
            return
        self.machine.stats.reset()
        try:
            play(self.machine, self._trace.runs(frame), frame)
            self.event = None  # type: ignore[assignment]
        except Reached:
            pass
        finally:
            self._watcher = None

    def _happened(self) -> None:
        self.event += 1
        if self.event >= self._stop:
            raise Reached

    # -- what the machine tells -------------------------------------------------------------------------------------
    def loaded(self, address: int, size: int) -> None:
        self._happened()

    def display_written(self, addresses: np.ndarray, values: np.ndarray) -> None:
        self._happened()

    def filled(self, unit: str, words: Mapping[str, int]) -> None:
        self._happened()

    def transferred(self, words: Mapping[str, int]) -> None:
        self._happened()

    def commanded(self, words: Sequence[int]) -> None:
        """Not an event: what a command does is one."""

    def copied(self, command: Sequence[int]) -> None:
        self._happened()

    def flushed(self, ranges: Sequence[tuple[int, int]]) -> None:
        self._happened()

    def list_starts(self, offset: int, size: int) -> None:
        self._happened()

    def list_ends(self, jumps: int) -> None:
        """Not an event: what is left of a list behind its last draw has no effect of its own."""

    def draws(self, packets: DrawPackets, count: int, run: Run) -> None:
        wanted = min(count, self._stop - self.event)
        if wanted > 0:
            if self._watcher is not None:
                self._watcher.draws(packets, range(self._draw, self._draw + wanted), run)
            else:
                run(0, wanted)
        self._draw += count
        self.event += wanted
        if wanted < count or self.event >= self._stop:
            if wanted > 0:
                self._bring_back(packets, wanted - 1)
            raise Reached

    def _bring_back(self, packets: DrawPackets, draw: int) -> None:
        """Registers and banks as they were when a draw was recorded: the list was read further before it ran."""
        core = self.machine._core
        core.registers[:] = packets.registers[draw]
        for bank in BANKS:
            version = int(packets.versions(bank.name)[draw])
            if version and bank.name != "gs_uniform_marks":
                core.bank(bank.name)[:] = np.frombuffer(packets.contents(version, bank.words), np.uint32)
