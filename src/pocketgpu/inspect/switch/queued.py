"""Which function of a program of the Switch stored the words of an event, or its bytes: see `inspect/model/queued.py`.

A pushbuffer is written before the submission that runs it. So one run goes to the submission of the event, where the
GPU's addresses of its words become places of memory, and another one goes there with these places watched. A picture
that the processor draws has no submission: there both runs go to its present.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.inspect.model.event import Event, Range
from pocketgpu.inspect.model.queued import LOAD
from pocketgpu.inspect.model.why import Why
from pocketgpu.maxwell.host.channel import Channel
from pocketgpu.maxwell.host.observer import Observer

if TYPE_CHECKING:
    from pocketgpu.capture.formats.mxcap import ChannelLog
    from pocketgpu.guests import App
    from pocketgpu.guests.switch.display.display import Present
    from pocketgpu.guests.writers import Written
    from pocketgpu.inspect.model.answer import Answer

_PLACE: Final = re.compile(r"s(\d+)/")
_SAMPLE: Final = 256
"""Bytes of a picture that are watched when no pixel was asked for: each store to them is looked at."""


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
        if not len(entries):
            return
        if self.count == self._number:
            memory = self.machine.memory
            for one in self._ranges:
                self.spans += [(at, size) for at, size in memory.spans(one.address, one.size) if at is not None]
        self.count += 1


class _Presents:
    """Counts presents, and keeps the last one. number: of the one that is wanted."""

    def __init__(self, number: int) -> None:
        self._number = number
        self.last: Present | None = None

    @property
    def reached(self) -> bool:
        """Whether the wanted one was made."""
        return self.last is not None and self.last.number >= self._number

    def presented(self, present: Present) -> None:
        """See `display.Follower`."""
        self.last = present


def stored_by(app: App, log: ChannelLog, event: Event, answer: Answer | None = None) -> Written | None:
    """The last stores of the event's words before it ran; None if no function of the program made them.

    :param answer: about a pixel of the picture, whose bytes the event stored.
    :raises UsageError: the program may find other files in a second run.
    """
    number = _submission_of(event)
    words = event.words
    ranges = event.writes if event.kind == LOAD else words.spans if words is not None else ()
    if number is None or not ranges:
        return None
    if not len(log.submissions[number].entries):
        return _drawn_by(app, log, event, answer)
    number = sum(len(one.entries) > 0 for one in log.submissions[:number])
    before = _Submissions(number, tuple(ranges))
    _run_to(app.fresh(), before)
    return _last_stores(app.fresh(), before.spans, _Submissions(number))


def _drawn_by(app: App, log: ChannelLog, event: Event, answer: Answer | None) -> Written | None:
    """Who stored a pixel of a picture that the processor draws, or the picture's first ones, before its present."""
    frame, offset, size = event.frame, 0, min(log.presents[event.frame].size, _SAMPLE)
    if isinstance(answer, Why) and answer.shown is not None and answer.shown.bytes_ is not None:
        frame, size = answer.address.frame, answer.shown.bytes_.size
        offset = answer.shown.bytes_.address - log.presents[frame].gpu_va
    shown = _Presents(frame)
    _run_to_present(app.fresh(), shown)
    if shown.last is None:
        return None
    return _last_stores(app.fresh(), [(shown.last.place + offset, size)], _Presents(event.frame))


def _last_stores(app: App, spans: list[tuple[int, int]], until: _Submissions | _Presents) -> Written | None:
    """The last stores of a program to places of memory, until something has happened."""
    from pocketgpu.guests.writers import Writers

    writers = Writers(app.console.kernel, spans)
    if isinstance(until, _Presents):
        _run_to_present(app, until)
    else:
        _run_to(app, until)
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


def _run_to_present(app: App, presents: _Presents) -> None:
    from pocketgpu.guests.switch.console import SwitchConsole

    console = app.console
    assert isinstance(console, SwitchConsole), "its recording is one of a Switch"
    console.display.followers.append(presents)
    while not presents.reached and console.kernel.step():
        pass
