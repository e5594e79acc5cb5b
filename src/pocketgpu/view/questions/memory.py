"""Requests `memory`, `memory-formats`, `memory-picture` and `contacts`: guest memory after an event, and which events
write and read it."""

from __future__ import annotations

from typing import Final

from pocketgpu.errors import UsageError
from pocketgpu.inspect.model.event import Event
from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.inspect.model.moment import Moment
from pocketgpu.inspect.model.touching import named
from pocketgpu.view.questions.asking import FORMS, Asked, Json, Question
from pocketgpu.view.questions.parameters import Parameters
from pocketgpu.view.questions.pictures import pixels_of

MOST_BYTES: Final = 1 << 16
"""Most bytes of an answer."""
MOST_ASKED: Final = 1 << 24
"""Most bytes whose writers and readers are looked for at once."""
MOST_READS: Final = 200
"""Most events that are listed as readers, and most ranges of an event that are listed."""
LATER_FRAMES: Final = 2
"""Frames after that of the event in which the next write is looked for."""
SPACE: Final = 1 << 40
"""Bytes of the larger address space, that of a Switch's GPU."""


def _range(given: Parameters, most: int) -> tuple[int, int]:
    """The address and the size that a request names."""
    address, size = given.hexadecimal("address"), given.number("size")
    if not 0 < size <= most:
        raise UsageError(f"{size:,} bytes cannot be asked for at once", location="size", hint=f"At most {most:,}.")
    if address + size > SPACE:
        raise UsageError("the range reaches past the 40-bit address space", location=f"{address:#x}")
    return address, size


def known_bytes(moment: Moment, address: int, size: int) -> tuple[bytes, Json]:
    """The bytes of a range, 0 where no memory is; and what is memory, as plain data."""
    data, parts = bytearray(size), moment.mapped(address, size)
    for one in parts:
        data[one.address - address : one.end - address] = moment.read(one.address, one.size)
    return bytes(data), {"mapped": [one.to_json() for one in parts]}


def _memory(given: Parameters) -> Question:
    at, (address, size) = given.at(), _range(given, MOST_BYTES)

    def question(run: Inspection) -> Json:
        data, known = known_bytes(run.seek(at.place), address, size)
        return {"address": f"{address:#x}", "size": size, "data": data.hex(), **known}

    return question


def _formats(given: Parameters) -> Question:
    at = given.at()

    def question(run: Inspection) -> Json:
        moment = run.seek(at.place)
        event = moment.event
        sides = {"writes": (), "reads": ()} if event is None else {"writes": event.writes, "reads": event.reads}
        touched = {
            name: [one.to_json() for one in dict.fromkeys(ranges[:MOST_READS])] for name, ranges in sides.items()
        }
        start = _start(run, at.frame, event)
        return {
            **moment.memory_formats.to_json(), "event": named(event), **touched,
            "start": None if start is None else f"{start:#x}",
        }  # fmt: skip

    return question


def _start(run: Inspection, frame: int, event: Event | None) -> int | None:
    """An address to begin with: of what the event touches, else the last event of the frame before it that touches
    anything. None if none does."""
    events = run.events(frame)
    for one in reversed(events if event is None else events[: event.number + 1]):
        for part in (*one.writes, *one.reads):
            return part.address
    return None


def _picture(given: Parameters) -> Question:
    at, address = given.at(), given.hexadecimal("address")
    format, layout, form = given.text("format"), given.text("layout"), given.choice("form", FORMS, "rgba")
    width, height = given.number("width"), given.number("height")

    return lambda run: pixels_of(run.seek(at.place).memory_picture(address, format, layout, width, height), form)


def _contacts(given: Parameters) -> Question:
    at, (address, size) = given.at(), _range(given, MOST_ASKED)
    changed = given.choice("changed", ("0", "1"), "0") == "1"

    def question(run: Inspection) -> Json:
        return run.contacts(address, size, at.place, changed, LATER_FRAMES, MOST_READS).to_json()

    return question


ASKED: Final = {
    "memory": Asked(_memory), "memory-formats": Asked(_formats), "memory-picture": Asked(_picture),
    "contacts": Asked(_contacts, slow=True),
}  # fmt: skip
