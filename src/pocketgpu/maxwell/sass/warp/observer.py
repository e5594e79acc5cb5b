"""Observing specialised code, instruction by instruction, while the NumPy evaluator runs it."""

from __future__ import annotations

from typing import Protocol

from pocketgpu.lanes import Value
from pocketgpu.maxwell.sass.program.steps import Step
from pocketgpu.maxwell.sass.warp.variable_machine import VariableMachine


class Observer(Protocol):
    """Observes warps. It must not change anything.

    Masks are values of the NumPy evaluator: `raw` is an array of 32 lanes, or one bool for all lanes.
    """

    def begins(self, warp: VariableMachine) -> None:
        """A turn of the warp begins. `warp.look` reads its registers, now and until the next turn."""

    def comes_to(self, step: Step, active: Value) -> None:
        """The warp is about to execute an instruction, with these active lanes.

        If the quick form of an access finds that it is not simple, this is called a second time for the instruction.
        """

    def holds_for(self, mask: Value) -> None:
        """The instruction holds for these lanes."""


__all__ = ["Observer"]
