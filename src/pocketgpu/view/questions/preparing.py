"""What the machine's thread does before it is asked: what a page shows first is ready when the browser asks for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pocketgpu.errors import PocketGPUError
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.view.questions.desk import MAIN, Desk


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
        """The picture that a page shows at first: of a screen for a frame, of colours for a draw."""
        moment = run.seek(self._place)
        kinds = ("colour", "screen") if moment.address.names_event else ("screen", "colour")
        shown = {one.kind: one for one in reversed(moment.pictures.values())}
        return next((shown[kind].pixels for kind in kinds if kind in shown), None)


__all__ = ["Preparing"]
