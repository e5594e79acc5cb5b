"""Draws of a 3DS with registers of somebody's choice.

A draw is recorded with a copy of all registers. That copy is changed before the draw runs, so what the command lists
read and write stays as it was, and the observers after this one see the draw as it runs.
"""

from __future__ import annotations

from collections.abc import Sequence

from pocketgpu.forced import ForcedWord, from_here
from pocketgpu.pica.core.observer import Observer, Run
from pocketgpu.pica.front.packets import DrawPackets


class ForcedDraws(Observer):
    """Changes draws. It must be the first observer of its machine."""

    def __init__(self, words: Sequence[ForcedWord]) -> None:
        self._words = tuple(words)

    def draws(self, packets: DrawPackets, run: Run) -> None:
        frame, first = int(packets.place[1:]), self.machine.stats.draws
        held = [from_here(self._words, (frame, first + n)) for n in range(len(packets))]
        plain = next((n for n, words in enumerate(held) if words), len(packets))
        if plain:
            run(0, plain)
        # One at a time: draws that are made together were found to be alike by the registers that commands wrote.
        for n in range(plain, len(packets)):
            for word in held[n]:
                packets.force(n, word)
            run(n, n + 1)


__all__ = ["ForcedDraws"]
