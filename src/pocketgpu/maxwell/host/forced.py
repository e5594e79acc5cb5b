"""Registers of somebody's choice on a Switch: they are set right before each method of the 3D class that acts.

Between a write and the next such method nothing but a macro reads a register. So the run is that of commands in which
every write of the register has the chosen bits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from pocketgpu.forced import ForcedWord, Start, from_here

if TYPE_CHECKING:
    from pocketgpu.maxwell.engines.common.base import Effect, Registers


def forced_effects(
    effects: Mapping[int, Effect], registers: Registers, words: Sequence[ForcedWord], place: Callable[[], str]
) -> dict[int, Effect]:
    """The same effects of an engine, each with these registers. registers: the live ones. place: says where the
    channel is."""

    def run(effect: Effect, value: int) -> None:
        for one in from_here(words, _start_of(place())):
            registers[one.register] = one.of(int(registers[one.register]))
        effect(value)

    return {word: partial(run, effect) for word, effect in effects.items()}


def _start_of(place: str) -> Start:
    """Numbers of a place such as "s3/e2+17"."""
    submission, _, rest = place.removeprefix("s").partition("/e")
    entry, _, word = rest.partition("+")
    return tuple(int(part) for part in (submission, entry, word) if part.isdecimal())


__all__ = ["forced_effects"]
