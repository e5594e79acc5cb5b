"""Observers of a machine: the part that both consoles share.

    with machine.observed(observer):
        ...

An observer overrides the methods that it wants. Most are notifications. Some (such as `draws` and `draw`) are given
work as a function `run`: an override must call it, or the work is not done. Some are called only if the observer sets
a `wants_...` attribute. `pica/core/observer.py` and `maxwell/host/observer.py` list the methods of each console; the
same thing has the same name in both. A machine may have several observers: they are called in the order in which they
were added. A machine without observers does no work for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray


class Observer:
    """Base class of observers. Its methods do nothing."""

    wants_draws = False
    """Whether it needs a notification of every single draw. If no observer does, a machine may do draws without one."""
    wants_pages = False
    """Whether it needs `memory_written`; for that, the machine compares the versions of all pages at each draw."""

    def memory_written(self, pages: NDArray[np.int64]) -> None:
        """Something has just written these pages (numbers of 4096-byte pages of the arena); the bytes are not known."""


AnyObserver = TypeVar("AnyObserver", bound=Observer)


class Observed(Generic[AnyObserver]):
    """A machine that can have observers."""

    observers: tuple[AnyObserver, ...] = ()
    """The observers; `observe` and `dismiss` change them."""

    def observe(self, observer: AnyObserver) -> None:
        """Add an observer."""
        self.observers = (*self.observers, observer)
        self._observers_changed()

    def dismiss(self, observer: AnyObserver) -> None:
        """Remove an observer; nothing happens if it is not there."""
        self.observers = tuple(one for one in self.observers if one is not observer)
        self._observers_changed()

    @contextmanager
    def observed(self, observer: AnyObserver) -> Iterator[AnyObserver]:
        """Add an observer for the duration of this context."""
        self.observe(observer)
        try:
            yield observer
        finally:
            self.dismiss(observer)

    def _observers_changed(self) -> None:
        """Called after observers were added or removed, for what a machine has to prepare."""


__all__ = ["Observed", "Observer"]
