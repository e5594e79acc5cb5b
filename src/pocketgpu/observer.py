"""Looking on at a machine while it works: what both consoles have of it.

    with machine.observed(observer):
        ...

An observer overrides the methods of what it wants to hear of. `pica/core/observer.py` and `maxwell/host/observer.py`
say what a machine of each console tells; what happens on both has one name there. A machine may have several observers:
all are told, in the order in which they came. One without any does nothing for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray


class Observer:
    """Who is told. The methods of this class do nothing."""

    wants_draws = False
    """Whether every draw shall be told of one by one. A machine may make draws by itself, untold, where nobody does."""
    wants_pages = False
    """Whether `memory_written` shall be told; finding out takes a look at all pages for each draw."""

    def memory_written(self, pages: NDArray[np.int64]) -> None:
        """Pages of 4096 bytes of the arena, by number, that something has just written whose bytes nobody lists."""


AnyObserver = TypeVar("AnyObserver", bound=Observer)


class Observed(Generic[AnyObserver]):
    """A machine that observers can look at."""

    observers: tuple[AnyObserver, ...] = ()
    """Who is told; `observe` and `dismiss` change it."""

    def observe(self, observer: AnyObserver) -> None:
        """Tell one more observer from now on."""
        self.observers = (*self.observers, observer)
        self._observers_changed()

    def dismiss(self, observer: AnyObserver) -> None:
        """Tell an observer no longer; nothing happens if it was not told."""
        self.observers = tuple(one for one in self.observers if one is not observer)
        self._observers_changed()

    @contextmanager
    def observed(self, observer: AnyObserver) -> Iterator[AnyObserver]:
        """Tell an observer as long as this lasts."""
        self.observe(observer)
        try:
            yield observer
        finally:
            self.dismiss(observer)

    def _observers_changed(self) -> None:
        """What a machine has to prepare for other observers."""


__all__ = ["Observed", "Observer"]
