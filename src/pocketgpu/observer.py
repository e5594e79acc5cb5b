"""Observers of a working machine: the part that both consoles share.

    with machine.observed(observer):
        ...

An observer overrides the methods of the events that it needs. `pica/core/observer.py` and `maxwell/host/observer.py`
define the events of each console's machine; events of both have the same name. A machine may have several observers:
all are notified, in the order in which they were added. A machine without observers does no work for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray


class Observer:
    """Base of observers. The methods of this class do nothing."""

    wants_draws = False
    """Whether every draw must be reported one by one. Otherwise a machine may run draws without reporting them."""
    wants_pages = False
    """Whether `memory_written` is called; to find the pages, all pages are checked for each draw."""

    def memory_written(self, pages: NDArray[np.int64]) -> None:
        """Pages of 4096 bytes of the arena, by number, that were just written without a list of their bytes."""


AnyObserver = TypeVar("AnyObserver", bound=Observer)


class Observed(Generic[AnyObserver]):
    """A machine that can have observers."""

    observers: tuple[AnyObserver, ...] = ()
    """The current observers; `observe` and `dismiss` change them."""

    def observe(self, observer: AnyObserver) -> None:
        """Add an observer."""
        self.observers = (*self.observers, observer)
        self._observers_changed()

    def dismiss(self, observer: AnyObserver) -> None:
        """Remove an observer; does nothing if it was not added."""
        self.observers = tuple(one for one in self.observers if one is not observer)
        self._observers_changed()

    @contextmanager
    def observed(self, observer: AnyObserver) -> Iterator[AnyObserver]:
        """Add an observer for the duration of a `with` block."""
        self.observe(observer)
        try:
            yield observer
        finally:
            self.dismiss(observer)

    def _observers_changed(self) -> None:
        """Prepare the machine for changed observers."""


__all__ = ["Observed", "Observer"]
