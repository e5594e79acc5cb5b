"""Base class of observers that look at single draws, by their numbers in the frame."""

from __future__ import annotations

from pocketgpu.pica.core.observer import Observer, Run
from pocketgpu.pica.front.packets import DrawPackets


class DrawWatcher(Observer):
    """Looks at draws of a frame while they run. It counts draws: give it to a machine at the beginning of the frame."""

    _draws_so_far = 0

    def draws(self, packets: DrawPackets, run: Run) -> None:
        numbers = range(self._draws_so_far, self._draws_so_far + len(packets))
        self._draws_so_far = numbers.stop
        self.look(packets, numbers, run)

    def look(self, packets: DrawPackets, numbers: range, run: Run) -> None:
        """Run the draws by `run(first, end)`, counted within `packets`. numbers: their numbers within the frame."""
        run(0, len(numbers))


__all__ = ["DrawWatcher"]
