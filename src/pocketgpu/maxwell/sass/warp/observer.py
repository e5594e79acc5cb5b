"""Observing specialised code, instruction by instruction, while the NumPy evaluator runs it."""

from __future__ import annotations

from typing import Protocol

from pocketgpu.lanes import Value
from pocketgpu.maxwell.sass.program.steps import Step
from pocketgpu.maxwell.sass.warp.variable_machine import VariableMachine


class Observer(Protocol):
    """Is told what warps do. It must not change anything.

    Masks are values of the NumPy evaluator: `raw` is an array of 32 lanes, or one bool for all lanes.
    """

    def begins(self, warp: VariableMachine) -> None:
        """A turn of the warp begins. `warp.look` tells what its registers hold, now and until the next turn."""

    def comes_to(self, step: Step, active: Value) -> None:
        """The warp comes to an instruction, with these active lanes.

        If the quick form of an access finds that it is not simple, the warp comes to the instruction a second time.
        """

    def holds_for(self, mask: Value) -> None:
        """The instruction holds for these lanes."""


__all__ = ["Observer"]
