"""The observer protocol of a 3DS machine: one method for each kind of event.

Give an observer to a machine with `machine.observe(one)`, or `with machine.observed(one):`. A method whose name ends in
`_starts` or `_start` is called right before the event, others right after. `draws` and `fragments` pass work to the
observer: it is done when, and only if, the observer calls `run`. So an observer can read state between two draws, and a
machine whose observer never calls `run` walks its lists and draws nothing. With several observers, the first one's
`run` calls the next observer. An exception in an observer stops the machine there.

Nothing is called per word: a machine without an observer loses no time, one with an observer hardly any.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pocketgpu import observer
from pocketgpu.arena import PAGE_SHIFT
from pocketgpu.distinct import distinct

if TYPE_CHECKING:
    from pocketgpu.pica.front.packets import DrawPackets
    from pocketgpu.pica.n3ds import N3DS

Run: TypeAlias = Callable[[int, int], None]
"""Runs part of the work passed to an observer: from the first number up to, not including, the second."""


class Observer(observer.Observer):
    """Base of observers of an N3DS. The methods here do nothing, except those that run work.

    machine: the observed machine, set when the observer is given to it.
    """

    machine: N3DS

    # -- what the processor does --------------------------------------------------------------------------------------
    def memory_loaded(self, address: int, size: int) -> None:
        """Bytes of a capture's memory load were written from a physical address on."""

    def writes_start(self, addresses: NDArray[np.uint32], values: NDArray[np.uint32]) -> None:
        """Register writes, in order, by physical address; also those that GX commands cause."""

    def display_written(self, addresses: NDArray[np.uint32], values: NDArray[np.uint32]) -> None:
        """Registers of the display controllers or LCDs were written, in this order."""

    def command_starts(self, words: Sequence[int]) -> None:
        """A GX command of eight words."""

    def command_ended(self, words: Sequence[int], result: int) -> None:
        """A GX command ran, or was refused. result: gsp's result code, 0 for success."""

    def cache_flushed(self, ranges: Sequence[tuple[int, int]]) -> None:
        """A GX command wrote ranges (virtual address, size) of the processor's cache back to memory."""

    def memory_copied(self, words: Sequence[int]) -> None:
        """A GX command RequestDMA, of eight words, copied memory."""

    # -- what the GPU does --------------------------------------------------------------------------------------------
    def unit_starts(self, unit: str, words: Mapping[str, int]) -> None:
        """PSC0, PSC1, PPF or P3D starts. words: its registers by name, as the client wrote them."""

    def unit_ended(self, unit: str, words: Mapping[str, int]) -> None:
        """PSC0, PSC1, PPF or P3D is done. words: as in `unit_starts`."""

    def list_starts(self, offset: int, size: int) -> None:
        """A command list in an arena range. Words given to `submit` or written to the 3D core's registers are in the
        work area, where `address_of` gives no address."""

    def list_ended(self, offset: int, size: int, jumps: int, ignored: int) -> None:
        """A list was walked to its end. jumps: to other lists; ignored: writes to ids that are not registers."""

    def draws(self, packets: DrawPackets, run: Run) -> None:
        """Draws of a list are due. `run(first, end)` runs those from `first` to before `end`, counted in `packets`;
        call it in order, for any number of draws at a time."""
        run(0, len(packets))

    def fragments(self, first: int, end: int, run: Run) -> None:
        """Triangles of entries `first` to before `end` of the run list are ready: `run(low, high)` rasterises some of
        them. See `DrawRunner.drawn` for the draw of an entry."""
        run(first, end)

    def vblank(self, frame: int) -> None:
        """The frame of this number is over."""


class Undrawn(Observer):
    """An observer whose machine draws nothing. Lists are walked as usual, so registers and memories that FIFO registers
    fill are exact; fills and transfers happen."""

    def draws(self, packets: DrawPackets, run: Run) -> None:
        """Skips the draws."""


def tell_written(observers: Iterable[Observer], ranges: Iterable[tuple[int, int]]) -> None:
    """Notify the observers with `wants_pages` that arena ranges (offset, size) were written."""
    wanting = [one for one in observers if one.wants_pages]
    if wanting:
        pages = [np.arange(at >> PAGE_SHIFT, (at + size - 1 >> PAGE_SHIFT) + 1) for at, size in ranges if size]
        if pages:
            written = distinct(np.concatenate(pages))
            for one in wanting:
                one.memory_written(written)


__all__ = ["Observer", "Run", "Undrawn", "tell_written"]
