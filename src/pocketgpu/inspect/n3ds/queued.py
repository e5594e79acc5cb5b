"""Which function of a program of the 3DS stored the words of an event, or its bytes: see `inspect/model/queued.py`.

Of a draw and of a command list the words in memory are watched, of a load its bytes, of other work the queue of
commands that the program shares with the system.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pocketgpu.inspect.model.event import Event
from pocketgpu.inspect.model.queued import LOAD
from pocketgpu.inspect.n3ds.recorder import Recorder
from pocketgpu.pica.core.observer import Run
from pocketgpu.pica.front.packets import DrawPackets

if TYPE_CHECKING:
    from pocketgpu.guests import App
    from pocketgpu.guests.writers import Written
    from pocketgpu.inspect.model.inspection import Inspection

QUEUE = "gsp's shared memory"
"""The name of the area with the queue."""


class _Live(Recorder):
    """Notes events of a machine that draws."""

    def draws(self, packets: DrawPackets, run: Run) -> None:
        super().draws(packets, run)
        run(0, len(packets))

    @property
    def works(self) -> tuple[int, int]:
        """The current frame and how many events it has so far."""
        return len(self.frames) - 1, len(self.frames[-1].events)


def stored_by(app: App, run: Inspection, event: Event) -> Written | None:
    """The last stores of the event's words before it ran; None if no function of the program made them.

    :raises UsageError: the program may find other files in a second run.
    """
    from pocketgpu.guests.writers import Writers

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
    return writers.last()
