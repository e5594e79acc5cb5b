"""Which function of a program queued the work of an event: a second run, in which the words of the work are watched.

    app = pocketgpu.run("app.3dsx")
    print(queued_by(app, pocketgpu.debug(app.capture()), "f60/d3"))

    draw_scene+0x4c (main.c:88) < main+0x120 (main.c:140)

Of a load its bytes are watched, of other work the words that make the GPU do it; each console's inspection says where
they are.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from pocketgpu.displayed import Displayed
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.answer import Answer
from pocketgpu.inspect.model.event import Event
from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.late_dataclass import dataclass

if TYPE_CHECKING:
    from pocketgpu.guests import App
    from pocketgpu.guests.writers import Written

LOAD: Final = "load"
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


def queued_by(app: App, run: Inspection, place: Address | str, answer: Answer | None = None) -> Queued:
    """The function that queued the work of an event, with its callers.

    :param app: the program, which has run until the event or further, or a new one with the same input.
    :param run: its capture.
    :param answer: about a pixel, whose bytes the event stored.
    :raises UsageError: there is no such event, or the program may find other files in a second run.
    """
    event = run.event(place)
    return Queued(event, run.stored_by(app, event, answer))


def cause_of(answer: Answer) -> str | None:
    """The draw or event that an answer is about, or names as the cause; None if there is none."""
    found = _EVENT.findall(f"{answer.because} {answer.address}" if answer.address.pixel else str(answer.address))
    return found[0] if found else None
