"""Events: what happens in the run of a capture, in order; the same for both consoles.

An event is one thing that the GPU or the processor does: the processor writes memory, a command list or submission
begins, a draw, a fill, a copy, a launch, a picture is shown. Draws are events that also have a draw number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.displayed import MOST_ROWS, Displayed, plain, table_html, title_html
from pocketgpu.inspect.model.address import Address
from pocketgpu.late_dataclass import dataclass
from pocketgpu.wording import counted

KINDS = {
    "load": "the processor writes memory",
    "registers": "the processor writes registers",
    "list": "a command list begins (3DS)",
    "submission": "a pushbuffer begins (Switch)",
    "draw": "primitives are drawn",
    "fill": "memory is filled",
    "clear": "a render target is cleared",
    "transfer": "a picture is converted from one place to another",
    "copy": "bytes are copied",
    "upload": "bytes in a pushbuffer go to memory",
    "launch": "a grid of compute threads runs",
    "flush": "the processor's cache is written back to memory",
    "report": "a value is written for the processor: a semaphore, a counter, a time",
    "show": "a picture is shown",
}


@dataclass(frozen=True, slots=True, repr=False)
class Range(Displayed):
    """Bytes of guest memory: physical on a 3DS, of the GPU's address space on a Switch."""

    address: int
    size: int

    @property
    def end(self) -> int:
        return self.address + self.size

    def overlaps(self, other: Range) -> bool:
        return self.size > 0 and other.size > 0 and self.address < other.end and other.address < self.end

    def __contains__(self, address: object) -> bool:
        return isinstance(address, int) and self.address <= address < self.end

    def to_json(self) -> dict[str, Any]:
        return {"address": f"{self.address:#x}", "size": self.size}

    def __str__(self) -> str:
        return f"{self.address:#x}+{self.size:#x}"


@dataclass(frozen=True, slots=True, repr=False)
class Words(Displayed):
    """Words of the command stream that belong to an event. spans: where they are in guest memory, in order; empty if
    they are not in guest memory. values: all words, uint32."""

    spans: tuple[Range, ...]
    values: NDArray[np.uint32]

    def __str__(self) -> str:
        return f"{counted(len(self.values), 'word')} at {', '.join(map(str, self.spans)) or 'no place in guest memory'}"


@dataclass(slots=True, repr=False)
class Event(Displayed):
    """One event of a frame.

    number: its number among the events of the frame. draw: its number among the draws of the frame, None if it is no
    draw. `pass_`: the number of its pass. title: one line for people. facts: its properties, ready for JSON. writes:
    guest memory that it writes or may write. reads: guest memory that it reads. made_by: the words of the command
    stream that caused it, or a function that returns them, or None.
    """

    frame: int
    number: int
    kind: str
    title: str
    draw: int | None = None
    pass_: int | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    writes: tuple[Range, ...] = ()
    reads: tuple[Range, ...] = ()
    made_by: Words | Callable[[], Words] | None = None

    @property
    def words(self) -> Words | None:
        """The words of the command stream that caused it; None if it has none."""
        if callable(self.made_by):
            self.made_by = self.made_by()
        return self.made_by

    @property
    def address(self) -> Address:
        """The short address: f3/d17 for a draw, else f3/e412."""
        return Address(self.frame, draw=self.draw) if self.draw is not None else self.by_number

    @property
    def by_number(self) -> Address:
        """The address by event number (f3/e412), for draws too."""
        return Address(self.frame, event=self.number)

    def to_json(self, words: bool = False) -> dict[str, Any]:
        """Plain data (pocketgpu.event/1). words: with the words that made it, if any did."""
        found: dict[str, Any] = {
            "address": str(self.address), "event": str(self.by_number), "kind": self.kind, "title": self.title,
            "pass": self.pass_, "facts": dict(self.facts), "writes": [one.to_json() for one in self.writes],
            "reads": [one.to_json() for one in self.reads],
        }  # fmt: skip
        if words and self.words is not None:
            spans = [{"address": f"{one.address:#010x}", "size": one.size} for one in self.words.spans]
            found["words"] = {"spans": spans, "values": [f"{word:#010x}" for word in self.words.values.tolist()]}
        return found

    def __str__(self) -> str:
        return f"{self.title}  {self.address}"

    def _repr_html_(self) -> str:
        from html import escape

        return f"<b>{escape(plain(self.title))}</b> <code>{self.address}</code>{table_html((), self.facts.items())}"


@dataclass(slots=True, repr=False)
class Pass(Displayed):
    """Consecutive events with the same render target. target: the render target as text; "" without draws."""

    frame: int
    number: int
    target: str
    events: list[Event] = field(default_factory=list)

    @property
    def address(self) -> Address:
        return Address(self.frame, pass_=self.number)

    @property
    def draws(self) -> list[Event]:
        return [event for event in self.events if event.draw is not None]

    def __str__(self) -> str:
        counts = f"{counted(len(self.draws), 'draw')}, {counted(len(self.events), 'event')}"
        return f"{self.target or 'no target'}: {counts}  {self.address}"

    def _repr_html_(self) -> str:
        from html import escape

        shown = self.events[:MOST_ROWS]
        rows = "".join(f"<li>{escape(plain(event.title))} <code>{event.address}</code></li>" for event in shown)
        left = len(self.events) - len(shown)
        more = title_html(f"{counted(left, 'event')} more") if left else ""
        return f"<b>{escape(self.target or 'no target')}</b> <code>{self.address}</code><ol>{rows}</ol>{more}"
