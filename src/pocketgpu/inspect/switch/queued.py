"""Which function of a program of the Switch stored the words of an event, or its bytes: see `inspect/model/queued.py`.

A pushbuffer is written before the submission that runs it. So one run goes to the submission of the event, where the
GPU's addresses of its words become places of memory, and another one goes there with these places watched.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.inspect.model.event import Event, Range
from pocketgpu.inspect.model.queued import LOAD
from pocketgpu.maxwell.host.channel import Channel
from pocketgpu.maxwell.host.observer import Observer

if TYPE_CHECKING:
    from pocketgpu.guests import App
    from pocketgpu.guests.writers import Written

_PLACE: Final = re.compile(r"s(\d+)/")


class _Submissions(Observer):
    """Counts submissions, and at one of them finds where ranges of GPU addresses are in memory."""

    def __init__(self, number: int, ranges: tuple[Range, ...] = ()) -> None:
        self.count, self._number, self._ranges = 0, number, ranges
        self.spans: list[tuple[int, int]] = []

    @property
    def reached(self) -> bool:
        """Whether the wanted one was made."""
        return self.count > self._number

    def submitted(self, channel: Channel, number: int, entries: NDArray[np.uint64]) -> None:
        if self.count == self._number:
            memory = self.machine.memory
            for one in self._ranges:
                self.spans += [(at, size) for at, size in memory.spans(one.address, one.size) if at is not None]
        self.count += 1


def stored_by(app: App, event: Event) -> Written | None:
    """The last stores of the event's words before it ran; None if no function of the program made them.

    :raises UsageError: the program may find other files in a second run.
    """
    from pocketgpu.guests.writers import Writers

    number = _submission_of(event)
    words = event.words
    ranges = event.writes if event.kind == LOAD else words.spans if words is not None else ()
    if number is None or not ranges:
        return None
    before = _Submissions(number, tuple(ranges))
    _run_to(app.fresh(), before)
    again, after = app.fresh(), _Submissions(number)
    writers = Writers(again.console.kernel, before.spans)
    _run_to(again, after)
    writers.stop()
    return writers.last()


def _submission_of(event: Event) -> int | None:
    """The number of the submission that an event belongs to; None for what the display does."""
    if "submission" in event.facts:
        return int(event.facts["submission"])
    found = _PLACE.match(str(event.facts.get("place", "")))
    return int(found[1]) if found else None


def _run_to(app: App, submissions: _Submissions) -> None:
    app.console.machine.observe(submissions)
    while not submissions.reached and app.console.kernel.step():
        pass
    app.console.machine.dismiss(submissions)
