"""What a scene is: a capture in which the values of a choice can be told apart, and where to look."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Final

from pocketgpu.displayed import Displayed
from pocketgpu.late_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Watch:
    """What is looked at after the last event of a scene.

    memory: (address, bytes) ranges, physical on a 3DS, of the GPU on a Switch. registers: physical addresses of
    registers, read right after the last event, while what that started may still run; only a 3DS has registers that its
    processor can read. bits: (register, mask) where only some bits matter. interrupts: whether it matters how often the
    program was told that a unit has finished. pictures: whether the screens matter. by_eye: what differs is only on the
    glass, where no program can read it: all that is in memory is the same, and a person has to look.
    """

    memory: tuple[tuple[int, int], ...] = ()
    registers: tuple[int, ...] = ()
    interrupts: bool = False
    pictures: bool = True
    by_eye: bool = False
    bits: tuple[tuple[int, int], ...] = ()

    def bits_of(self, register: int, word: int) -> int:
        """The bits that matter of a word that was read from a register."""
        return word & dict(self.bits).get(register, word)


@dataclass(frozen=True)
class Made:
    """A capture and where to look. data: a file as `pocketgpu.open` reads it. timed: whether it only differs on a
    machine whose units take time (`timing="emulated"`); new_model: only on the newer model of the console."""

    data: bytes
    watch: Watch
    timed: bool = False
    new_model: bool = False


class Scene(Displayed):
    """The scene of a choice. doc: what it does and what each value makes of it, in one or two sentences."""

    def __init__(self, choice: str, doc: str, make: Callable[[], Made]) -> None:
        self.choice: Final = choice
        self.doc: Final = doc
        self._make = make

    @cached_property
    def made(self) -> Made:
        """The capture; made at the first use."""
        return self._make()

    def __str__(self) -> str:
        return f"{self.choice}: {self.doc}"


__all__ = ["Made", "Scene", "Watch"]
