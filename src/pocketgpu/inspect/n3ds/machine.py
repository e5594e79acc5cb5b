"""A machine that goes to any event of a run: forward by replaying a frame, back by the state that a frame began with.

Events are counted as the recorder counts them, because the same hooks tell of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pocketgpu.capture.formats.citrace import Trace
from pocketgpu.capture.formats.gxlog import GxLog
from pocketgpu.capture.formats.pgc.traces import PgcTrace
from pocketgpu.capture.replay import MIB, begin, play
from pocketgpu.pica.checkpoint import Checkpoint
from pocketgpu.pica.front.packets import DrawPackets
from pocketgpu.pica.n3ds import N3DS
from pocketgpu.pica.observer import Observer, Run

_NOWHERE = -2
"""The event of a machine that stands at no place of the run."""


class Reached(Exception):
    """The event that was asked for has happened."""


class DrawWatcher:
    """Looks at draws of a frame while they run. numbers: of the draws at hand, within the frame."""

    def draws(self, packets: DrawPackets, numbers: range, run: Run) -> None:
        """Run the draws: `run(first, end)`, counted within `packets`."""
        run(0, len(numbers))

    def fragments(self, first: int, end: int, run: Run) -> None:
        """Run the fragment side of some of them; as `Observer.fragments`."""
        run(first, end)


class Traveller(Observer):
    """The machine of an inspection, and where it is: right after event `event` of frame `frame` (-1: at its start)."""

    def __init__(
        self, trace: Trace | GxLog | PgcTrace, switches: Mapping[str, str] | None = None, evaluator: str = "llvm"
    ) -> None:
        self._trace = trace
        fcram = (256 if trace.needs_new_model else 128) * MIB
        machine = N3DS(fcram=fcram, switches=switches, evaluator=evaluator)
        machine.observe(self)
        begin(trace, machine)
        self.frame, self.event = 0, -1
        self._kept: dict[int, Checkpoint] = {0: machine.checkpoint()}
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
        self.machine.restore(self._kept[start])
        for number in range(start, frame):
            self._play(number, None, None)
            self._kept[number + 1] = self.machine.checkpoint()
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
        except BaseException:
            self.event = _NOWHERE  # somebody has broken off in the middle of something
            raise
        finally:
            self._watcher = None

    def _happened(self) -> None:
        self.event += 1
        if self.event >= self._stop:
            raise Reached

    # -- what the machine tells -------------------------------------------------------------------------------------
    def memory_loaded(self, address: int, size: int) -> None:
        self._happened()

    def display_written(self, addresses: np.ndarray, values: np.ndarray) -> None:
        self._happened()

    def unit_ended(self, unit: str, words: Mapping[str, int]) -> None:
        if unit != "P3D":
            self._happened()

    def memory_copied(self, words: Sequence[int]) -> None:
        self._happened()

    def cache_flushed(self, ranges: Sequence[tuple[int, int]]) -> None:
        self._happened()

    def list_starts(self, offset: int, size: int) -> None:
        self._happened()

    def fragments(self, first: int, end: int, run: Run) -> None:
        if self._watcher is not None:
            self._watcher.fragments(first, end, run)
        else:
            run(first, end)

    def draws(self, packets: DrawPackets, run: Run) -> None:
        count = len(packets)
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
                self.machine.see_again(packets, wanted - 1)
            raise Reached
