"""What a 3DS machine tells of itself while it works: one method for each place where something happens.

Give an observer to a machine with `machine.observe(one)`, or `with machine.observed(one):`. A method whose name ends in
`_starts` or `_start` is called right before the thing happens, others right after. `draws` and `fragments` hand over
work: it is done when, and only if, the observer calls `run`. So an observer can look between two draws, and a machine
whose observer never calls `run` walks its lists and draws nothing. Of several observers the first is asked, and its
`run` asks the next. An observer that raises stops the machine there.

Nothing is told of single words: a machine without an observer loses no time, one with an observer hardly any.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pocketgpu import observer
from pocketgpu.arena import PAGE_SHIFT

if TYPE_CHECKING:
    from pocketgpu.pica.front.packets import DrawPackets
    from pocketgpu.pica.n3ds import N3DS

Run: TypeAlias = Callable[[int, int], None]
"""Runs some of what an observer was handed: those from the first number on and before the second."""


class Observer(observer.Observer):
    """Who is told what an N3DS does. The methods here do nothing, but for those that let work happen.

    machine: the one that is observed, set when the observer is given to it.
    """

    machine: N3DS

    # -- what the processor does --------------------------------------------------------------------------------------
    def memory_loaded(self, address: int, size: int) -> None:
        """Bytes of a capture's load are in memory, from a physical address on."""

    def writes_start(self, addresses: NDArray[np.uint32], values: NDArray[np.uint32]) -> None:
        """Register writes, in order, by physical address; those that a GX command comes to as well."""

    def display_written(self, addresses: NDArray[np.uint32], values: NDArray[np.uint32]) -> None:
        """Registers of the display controllers or LCDs were written, one after the other."""

    def command_starts(self, words: Sequence[int]) -> None:
        """A GX command of eight words."""

    def command_ended(self, words: Sequence[int], result: int) -> None:
        """A GX command ran, or was refused. result: the code that gsp gives, 0 for success."""

    def cache_flushed(self, ranges: Sequence[tuple[int, int]]) -> None:
        """A GX command wrote ranges (virtual address, size) of the processor's cache back to memory."""

    def memory_copied(self, words: Sequence[int]) -> None:
        """A GX command RequestDMA, of eight words, copied memory."""

    # -- what the GPU does --------------------------------------------------------------------------------------------
    def unit_starts(self, unit: str, words: Mapping[str, int]) -> None:
        """PSC0, PSC1, PPF or P3D is started. words: those of its registers by name, as the client wrote them."""

    def unit_ended(self, unit: str, words: Mapping[str, int]) -> None:
        """PSC0, PSC1, PPF or P3D is done. words: as `unit_starts` had them."""

    def list_starts(self, offset: int, size: int) -> None:
        """A command list in an arena range. It lies in the work area, and `address_of` knows no address of it, if its
        words were given to `submit` or written to a register of the 3D core."""

    def list_ended(self, offset: int, size: int, jumps: int, ignored: int) -> None:
        """A list was walked to its end. jumps: to other lists; ignored: writes to numbers that are no register."""

    def draws(self, packets: DrawPackets, run: Run) -> None:
        """Draws of a list are due. `run(first, end)` makes those from `first` to before `end`, counted in `packets`;
        call it in order, for as many at a time as wanted."""
        run(0, len(packets))

    def fragments(self, first: int, end: int, run: Run) -> None:
        """Triangles of entries `first` to before `end` of the run list lie ready: `run(low, high)` makes pixels of some
        of them. See `DrawRunner.drawn` for the draw of an entry."""
        run(first, end)

    def vblank(self, frame: int) -> None:
        """A frame, of this number, is over."""


class Undrawn(Observer):
    """An observer whose machine draws nothing. Lists are walked as always, so registers and memories behind FIFO
    registers are exact; fills and transfers happen."""

    def draws(self, packets: DrawPackets, run: Run) -> None:
        """Leaves the draws out."""


def tell_written(observers: Iterable[Observer], ranges: Iterable[tuple[int, int]]) -> None:
    """Tell those observers who want to hear of pages that arena ranges (offset, size) were written."""
    wanting = [one for one in observers if one.wants_pages]
    if wanting:
        pages = [np.arange(at >> PAGE_SHIFT, (at + size - 1 >> PAGE_SHIFT) + 1) for at, size in ranges if size]
        if pages:
            written = np.unique(np.concatenate(pages))
            for one in wanting:
                one.memory_written(written)


__all__ = ["Observer", "Run", "Undrawn", "tell_written"]
