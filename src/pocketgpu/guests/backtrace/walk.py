"""A back trace, step by step, for any architecture.

    class Arm:
        def caller(self, frame): ...   # the frame of the function that called, or None

A frame has what is known of a function's registers. Addresses come from the program, so each one is checked before it
is followed, and every search is bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pocketgpu.guests.kernel.report import Found, Step
from pocketgpu.guests.symbols.places import Place
from pocketgpu.late_dataclass import dataclass

MOST_STEPS = 256


@dataclass(frozen=True, slots=True)
class Frame:
    """A function that runs or waits for its callee. pc: the instruction that runs, or that made the call. registers:
    those that are known, by number. search: where the stack goes on; guesses look from there on."""

    pc: int
    registers: Mapping[int, int]
    search: int
    found: Found


def walk(first: Frame, caller: Callable[[Frame], Frame | None], place: Callable[[int], Place]) -> tuple[Step, ...]:
    """All functions from the one that runs to the outermost that can be found."""
    steps: list[Step] = []
    frame: Frame | None = first
    sure = True
    while frame is not None and len(steps) < MOST_STEPS:
        sure = sure and frame.found.sure
        steps.append(Step(place(frame.pc), frame.found, sure))
        frame = caller(frame)
    return tuple(steps)
