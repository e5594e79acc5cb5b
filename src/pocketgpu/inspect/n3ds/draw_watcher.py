"""Observers of single draws, which are told the numbers that draws have in their frame."""

from __future__ import annotations

from pocketgpu.pica.core.observer import Observer, Run
from pocketgpu.pica.front.packets import DrawPackets


class DrawWatcher(Observer):
    """Looks at draws of a frame while they run. It has to be told of all of them: give it to a machine that stands at
    the beginning of the frame."""

    _told = 0

    def draws(self, packets: DrawPackets, run: Run) -> None:
        numbers = range(self._told, self._told + len(packets))
        self._told = numbers.stop
        self.look(packets, numbers, run)

    def look(self, packets: DrawPackets, numbers: range, run: Run) -> None:
        """Run the draws: `run(first, end)`, counted within `packets`. numbers: theirs, within the frame."""
        run(0, len(numbers))


__all__ = ["DrawWatcher"]
