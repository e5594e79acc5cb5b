"""What the machine's thread does before it is asked: what a page shows first is ready when the browser asks for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pocketgpu.errors import PocketGPUError
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.view.questions.desk import MAIN, Desk
from pocketgpu.view.questions.pictures import shown_first


class Preparing:
    """Work for an idle thread, a step at a time: questions that have come meanwhile are answered between the steps.

    at: the address that the page shows first; "": the first frame.
    """

    def __init__(self, at: str) -> None:
        self._place = Address.parse(at).place if at else Address(0)
        self._steps: Iterator[Callable[[Inspection], object]] | None = None

    def __call__(self, desk: Desk) -> float | None:
        """The next step. Returns 0 if there are more, None after the last one."""
        self._steps = self._steps or iter((self._open, self._go, self._look))
        step = next(self._steps, None)
        if step is None:
            return None
        try:
            step(desk.side(MAIN))
        except PocketGPUError:
            self._steps = iter(())  # who asks for the same is told
        return 0

    def _open(self, run: Inspection) -> object:
        return run.whole

    def _go(self, run: Inspection) -> object:
        return run.seek(self._place)

    def _look(self, run: Inspection) -> object:
        shown = shown_first(run.seek(self._place))
        return None if shown is None else shown.pixels


__all__ = ["Preparing"]
