"""Tells an editor about work that takes long: that it has begun, that it goes on, and that it has ended.

Messages come from a thread of their own, as the machine's thread has no time meanwhile.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Final

from pocketgpu.editor.dap.protocol.messages import Json

DELAY: Final = 0.5
"""Seconds of work that an editor hears nothing of."""
EVERY: Final = 1.0
"""Seconds between two messages."""


class Progress:
    """Progress of one session.

    :param say: sends an event, from any thread.
    """

    def __init__(self, say: Callable[[str, Json], None]) -> None:
        self._say = say
        self._count = 0
        self.current = ""
        """The id of what goes on."""

    @contextmanager
    def shown(self, title: str, request: int) -> Iterator[None]:
        """Show what is done within this context, once it takes long. request: the number of the one that asked."""
        if self.current:  # it is a part of something that is shown
            yield
            return
        self._count += 1
        self.current = f"work {self._count}"
        done = threading.Event()
        telling = threading.Thread(target=self._tell, args=(self.current, title, request, done), daemon=True)
        telling.start()
        try:
            yield
        finally:
            done.set()
            telling.join()
            self.current = ""

    def _tell(self, name: str, title: str, request: int, done: threading.Event) -> None:
        began = monotonic()
        if done.wait(DELAY):
            return
        about = {"requestId": request} if request else {}
        self._say("progressStart", {"progressId": name, "title": title, "cancellable": True, **about})
        while not done.wait(EVERY):
            self._say("progressUpdate", {"progressId": name, "message": f"{monotonic() - began:.0f} s"})
        self._say("progressEnd", {"progressId": name})


__all__ = ["DELAY", "EVERY", "Progress"]
