<<<<<<< HEAD
"""Observers of a working machine: the part that both consoles share.
=======
"""Observers of a machine: the part that both consoles share.
>>>>>>> main

    with machine.observed(observer):
        ...

<<<<<<< HEAD
An observer overrides the methods of the events that it needs. `pica/core/observer.py` and `maxwell/host/observer.py`
define the events of each console's machine; events of both have the same name. A machine may have several observers:
all are notified, in the order in which they were added. A machine without observers does no work for them.
=======
An observer overrides the methods for the notifications that it wants. `pica/core/observer.py` and
`maxwell/host/observer.py` list the notifications of each console; the same thing has the same name in both. A machine
may have several observers: all are notified, in the order in which they were added. Without any, nothing is computed.
>>>>>>> main
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray


class Observer:
<<<<<<< HEAD
    """Base of observers. The methods of this class do nothing."""

    wants_draws = False
    """Whether every draw must be reported one by one. Otherwise a machine may run draws without reporting them."""
    wants_pages = False
    """Whether `memory_written` is called; to find the pages, all pages are checked for each draw."""

    def memory_written(self, pages: NDArray[np.int64]) -> None:
        """Pages of 4096 bytes of the arena, by number, that were just written without a list of their bytes."""
=======
    """Base class of observers. Its methods do nothing."""

    wants_draws = False
    """Whether it needs a notification of every single draw. If no observer does, a machine may do draws without one."""
    wants_pages = False
    """Whether it needs `memory_written`; for that, the machine compares the versions of all pages at each draw."""

    def memory_written(self, pages: NDArray[np.int64]) -> None:
        """Something has just written these pages (numbers of 4096-byte pages of the arena); the bytes are not known."""
>>>>>>> main


AnyObserver = TypeVar("AnyObserver", bound=Observer)


class Observed(Generic[AnyObserver]):
    """A machine that can have observers."""

    observers: tuple[AnyObserver, ...] = ()
<<<<<<< HEAD
    """The current observers; `observe` and `dismiss` change them."""
=======
    """The observers; `observe` and `dismiss` change them."""
>>>>>>> main

    def observe(self, observer: AnyObserver) -> None:
        """Add an observer."""
        self.observers = (*self.observers, observer)
        self._observers_changed()

    def dismiss(self, observer: AnyObserver) -> None:
<<<<<<< HEAD
        """Remove an observer; does nothing if it was not added."""
=======
        """Remove an observer; nothing happens if it is not there."""
>>>>>>> main
        self.observers = tuple(one for one in self.observers if one is not observer)
        self._observers_changed()

    @contextmanager
    def observed(self, observer: AnyObserver) -> Iterator[AnyObserver]:
<<<<<<< HEAD
        """Add an observer for the duration of a `with` block."""
=======
        """Add an observer for the duration of this context."""
>>>>>>> main
        self.observe(observer)
        try:
            yield observer
        finally:
            self.dismiss(observer)

    def _observers_changed(self) -> None:
<<<<<<< HEAD
        """Prepare the machine for changed observers."""
=======
        """Called after observers were added or removed, for what a machine has to prepare."""
>>>>>>> main


__all__ = ["Observed", "Observer"]
