"""Which function of a program queued the work of an event: a second run, in which the words of the work are watched.

    app = pocketgpu.run("app.3dsx")
    print(queued_by(app, pocketgpu.debug(app.capture()), "f60/d3"))

    draw_scene+0x4c (main.c:88) < main+0x120 (main.c:140)

Of a draw and of a command list the words in memory are watched, of a load its bytes, of other work the queue of
commands that the program shares with the system.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pocketgpu.guests.writers import Writers, Written
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.answer import Answer
from pocketgpu.inspect.model.displayed import Displayed
from pocketgpu.inspect.model.event import Event
from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.inspect.n3ds.recorder import Recorder
from pocketgpu.pica.core.observer import Run
from pocketgpu.pica.front.packets import DrawPackets

if TYPE_CHECKING:
    from pocketgpu.guests import App

QUEUE = "gsp's shared memory"
"""The name of the area with the queue."""
LOAD = "load"
"""The kind of an event in which the processor stores bytes."""
_EVENT = re.compile(r"f\d+/[de]\d+")


@dataclass(frozen=True, slots=True, repr=False)
class Queued(Displayed):
    """Who queued the work of an event. written: the stores; None if no function of the program made them since the
    start, as in work that the system does by itself."""

    event: Event
    written: Written | None

    def __str__(self) -> str:
        if self.written is None:
            return f"{self.event.address}: no function of the program stored its words"
        return f"{'filled' if self.event.kind == LOAD else 'queued'} by {self.written}"

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        trace = () if self.written is None else self.written.trace
        return {
            "address": str(self.event.address),
            "trace": [
                {"address": f"{one.place.address:#x}", "function": one.place.name, "source": one.place.source}
                for one in trace
            ],
        }


class _Live(Recorder):
    """Notes events of a machine that draws."""

    def draws(self, packets: DrawPackets, run: Run) -> None:
        super().draws(packets, run)
        run(0, len(packets))

    @property
    def works(self) -> tuple[int, int]:
        """The current frame and how many events it has so far."""
        return len(self.frames) - 1, len(self.frames[-1].events)


def queued_by(app: App, run: Inspection, place: Address | str) -> Queued:
    """The function that queued the work of an event, with its callers.

    :param app: the program, which has run until the event or further, or a new one with the same input.
    :param run: its capture.
    :raises UsageError: there is no such event, or the program may find other files in a second run.
    """
    event = run.event(place)
    # A capture has the processor's stores as events, a run has not.
    number = sum(one.kind != LOAD for one in run.events(event.frame)[: event.number])
    words = event.words
    watched = event.writes if event.kind == LOAD else words.spans if words is not None else ()
    spans = [(one.address, one.size) for one in watched]
    again = app.fresh()
    kernel, live = again.console.kernel, _Live()
    writers = Writers(kernel, spans, () if spans else (QUEUE,))
    again.console.machine.observe(live)
    while live.works <= (event.frame, number) and kernel.step():
        pass
    writers.stop()
    return Queued(event, writers.last())


def cause_of(answer: Answer) -> str | None:
    """The draw or event that an answer is about, or names as the cause; None if there is none."""
    found = _EVENT.findall(f"{answer.because} {answer.address}" if answer.address.pixel else str(answer.address))
    return found[0] if found else None
